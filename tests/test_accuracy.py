"""A model learns as much from our batches as from PyG's, and from those that a few obvious lines of torch make."""

from __future__ import annotations

from importlib.util import find_spec
from statistics import mean

import pytest

from benchmarks.accuracy import EPOCHS, FACEBOOK, accuracies, contestants, facebook, papers

# Ten seeds of every contestant take minutes, so they are for `make test-peers`, which has PyG's own loader; two tell
# whether something is badly wrong.
THOROUGH = find_spec("torch_sparse") is not None or find_spec("pyg_lib") is not None
SEEDS = range(10 if THOROUGH else 2)
# In points of a percent, between means over all seeds.
ALIKE = 0.5 if THOROUGH else 1.5

# A busy machine takes long.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", params=EPOCHS)
def reached(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, float]:
    """The mean accuracy of each contestant."""
    folder = tmp_path_factory.mktemp("accuracy")
    if request.param == "facebook" and not FACEBOOK.exists():
        pytest.skip(f"needs the Facebook pages, which are not in {FACEBOOK}")
    data = facebook(FACEBOOK) if request.param == "facebook" else papers(folder / "papers")
    means = {
        name: mean(accuracies(data, contestant, SEEDS, EPOCHS[request.param]))
        for name, contestant in contestants(data, folder / "contest").items()
    }
    print(request.param, means)
    return means


# Seeds are ids of the source, whatever the order of the nodes.
@pytest.mark.parametrize("ours", ["graphmill", "graphmill, hot order"])
@pytest.mark.parametrize("rival", ["plain torch", "PyG"])
def test_our_batches_teach_as_much(reached: dict[str, float], ours: str, rival: str) -> None:
    if rival not in reached:
        pytest.skip("PyG's loader needs torch-sparse, which `make test-peers` compiles")
    assert reached[ours] == pytest.approx(reached[rival], abs=ALIKE)


def test_the_graph_matters(reached: dict[str, float]) -> None:
    assert reached["MLP"] < reached["graphmill"] - 10
