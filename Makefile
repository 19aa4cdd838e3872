# Every verb sets up what it needs, from a machine that has Rust, Python 3.10+, make and a C compiler.
# Python lives in .venv; stamp files inside it say what is installed, so nothing is done twice.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)

# How large `make bench` and `make bench-papers` are, and the folder of a run to go on with or to report.
bench: SIZE ?= medium
bench-papers: SIZE ?= largest-papers
RUN ?=
WHOLE_RUN = PATH="$(BIN):$$PATH" $(BIN)/python -m benchmarks.run all --size $(SIZE) $(if $(RUN),--run $(RUN))

TOOLS := $(VENV)/.tools
FRAMEWORKS := $(VENV)/.frameworks
EXTENSION := $(VENV)/.extension
CHECKED := $(VENV)/.extension-checked
FASTEST := $(VENV)/.extension-fastest

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# Only folders that hold Python: mypy refuses one that does not.
PYTHON_SOURCES := $(sort $(dir $(wildcard $(addsuffix /*.py,python/graphmill tests torture examples benchmarks))))
# The framework files are named one by one, as nothing imports them; graphbolt needs dgl, which wants a torch of its own.
PUBLIC_MODULES := graphmill $(addprefix graphmill.,$(filter-out _% graphbolt,\
	$(notdir $(basename $(wildcard python/graphmill/*.py)) $(patsubst %/__init__.py,%,$(wildcard python/graphmill/*/__init__.py)))))

# maturin installs into it, and PyO3 asks its interpreter, so that cargo always sees the same one.
export VIRTUAL_ENV := $(VENV)
unexport CONDA_PREFIX PYTHONHOME PYTHONPATH

# One step after the other: the last lines of `make test` are the counts, whatever -j says.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test test-peers torture audit lint fmt bench bench-papers report docs wheel clean
.DEFAULT_GOAL := help

help: ## show these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(EXTENSION) $(FRAMEWORKS) ## build, compile a graph larger than its memory budget, train on it from disk
	$(BIN)/python -m examples.demo

test: lint $(CHECKED) $(FRAMEWORKS) ## lint, then all Rust and all Python tests
	cargo test --workspace --all-features
	$(BIN)/python -m pytest

test-peers: $(EXTENSION) $(FRAMEWORKS) ## tests that need a second torch (dgl) or a long compile (torch-sparse)
	$(BIN)/python -m tests.peers.run

torture: $(EXTENSION) $(FRAMEWORKS) ## every promise for long; ROWS=2,4 for some; runs add up
	$(BIN)/python -m torture $(if $(ROWS),--rows $(ROWS)) $(TORTURE)

audit: ## licences, sources and known vulnerabilities of all libraries; fetches cargo-deny and the list
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny --locked check

lint: $(TOOLS) $(FRAMEWORKS) ## rustfmt, clippy, ruff and mypy, changing nothing
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(PYTHON_SOURCES)

fmt: $(TOOLS) ## format Rust and Python, mend what ruff can
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(FASTEST) $(FRAMEWORKS) ## run all benchmarks: SIZE=small takes minutes, medium (the default) hours; goes on where it stopped
	$(WHOLE_RUN)

bench-papers: $(FASTEST) $(FRAMEWORKS) ## train on the edges of papers100M, or a quarter of them where the disk is too small: SIZE=quarter-papers or papers
	$(WHOLE_RUN)

report: $(BIN)/python ## write the page and the README's table of the newest run, or of RUN=FOLDER
	$(BIN)/python -m benchmarks.report $(RUN) --readme README.md

docs: $(EXTENSION) $(FRAMEWORKS) ## write the Rust and Python API pages
	$(BIN)/python -m pip install --quiet --group docs
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude graphmill-python --no-deps --all-features
	$(BIN)/python -m pdoc --docformat google --output-directory $(TARGET)/doc/python $(PUBLIC_MODULES)
	@echo "Rust: $(TARGET)/doc/graphmill/index.html  Python: $(TARGET)/doc/python/index.html"

wheel: $(TOOLS) ## build the wheel into dist/
	$(BIN)/maturin build --release --locked --strip --out dist
	$(BIN)/python -m pip install --quiet --group wheel
	$(BIN)/abi3audit --strict dist/graphmill-*-abi3-*.whl

clean: ## remove all that was built, .venv included
	cargo clean
	rm -rf $(VENV) $(VENV)-peers dist demo-data benchmarks/data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/graphmill/_native*.so
	find $(wildcard python tests torture examples benchmarks) -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@command -v cargo >/dev/null || { echo "cargo not found: install Rust, then run make again" >&2; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: install Python 3.10 or later, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "$(PYTHON) is older than 3.10: name a newer one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)

# Dependency groups need pip 25.1.
$(TOOLS): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group build --group lint
	@touch $@

$(FRAMEWORKS): pyproject.toml $(TOOLS)
	@echo "installing torch and what the tests compare with: several gigabytes the first time"
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

# All install the same module, so making one undoes the others.
$(EXTENSION): $(RUST_SOURCES) pyproject.toml $(TOOLS)
	@rm -f $(CHECKED) $(FASTEST)
	$(BIN)/maturin develop --profile quick
	@touch $@

# For `make test`: with the checks of a debug build, and libraries that the Rust tests use as they are.
$(CHECKED): $(RUST_SOURCES) pyproject.toml $(TOOLS)
	@rm -f $(EXTENSION) $(FASTEST)
	$(BIN)/maturin develop
	@touch $@

$(FASTEST): $(RUST_SOURCES) pyproject.toml $(TOOLS)
	@rm -f $(EXTENSION) $(CHECKED)
	$(BIN)/maturin develop --release
	@touch $@
