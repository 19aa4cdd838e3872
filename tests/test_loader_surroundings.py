"""What a user sees beside the batches: figures, a bar, ranges in a profile, and one warning."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import graphmill as gm
from graphmill import _loading, pyg


def loader(papers: Path, **options: Any) -> gm.NeighborLoader:
    defaults: dict[str, Any] = {"fanouts": [5, 3], "batch_size": 64, "seeds": "train", "seed": 3}
    return gm.NeighborLoader(gm.open(papers, memory="64MiB"), **(defaults | options))


def test_stats_say_who_waited_for_whom(papers: Path) -> None:
    slow = loader(papers)
    assert slow.stats()["bound"] is None
    for _ in slow:
        time.sleep(0.02)
    stats = slow.stats()
    assert stats["batches"] == len(slow)
    assert stats["bound"] == "compute"
    assert stats["seconds_blocked"] > stats["seconds_starved"]
    eager = loader(papers, prefetch=0, backend="pread")
    for _ in eager:
        pass
    stats = eager.stats()
    assert stats["bound"] in ("sampling", "disk", "copying")
    assert stats["seconds_starved"] > 0
    assert all(stats[f"seconds_{stage}"] > 0 for stage in ("sampling", "reading", "assembling"))


def test_a_profile_shows_waiting_and_transfers(papers: Path) -> None:
    def ranges(**options: Any) -> dict[str, int]:
        with torch.profiler.profile() as profile:
            for _ in loader(papers, **options):
                pass
        counts = {event.key: event.count for event in profile.key_averages()}
        return {name: counts.get(f"graphmill.{name}", 0) for name in ("wait", "transfer")}

    count = len(loader(papers))
    assert ranges() == {"wait": count, "transfer": 0}
    assert ranges(device="cpu") == {"wait": count, "transfer": count}


def test_tensors_are_moved_to_the_device(papers: Path) -> None:
    batch = next(iter(loader(papers, device="meta")))
    assert batch.x.device.type == batch.edge_index.device.type == "meta"


def test_a_bar_counts_the_batches(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    shown = loader(papers, progress=True)
    for _ in shown:
        pass
    assert f"{len(shown)}/{len(shown)}" in capsys.readouterr().err


def test_without_tqdm_a_bar_is_refused(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        loader(papers, progress=True)


class Slow:
    """Stands for a source that could not read as it was asked to."""

    def slow_reading(self) -> str | None:
        return "rings are forbidden here"


def test_slow_reading_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_loading, "_has_warned", False)
    source: Any = Slow()
    with pytest.warns(UserWarning, match="rings are forbidden here"):
        _loading.warn_of_slow_reading(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _loading.warn_of_slow_reading(source)


def test_reading_as_asked_is_not_slow(papers: Path) -> None:
    one = loader(papers, backend="pread")
    for _ in one:
        pass
    assert one.stats()["backend"] == "pread"
    assert one._source.slow_reading() is None


@pytest.mark.skipif(torch.accelerator.is_available(), reason="needs a machine without accelerator")
@pytest.mark.parametrize("kind", ["nodes", "links", "pyg", "pyg links"])
def test_without_an_accelerator_pinning_is_one_warning(
    papers: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    ds, links = gm.open(papers, memory="64MiB"), [[0, 1], [2, 3]]

    def make() -> Any:
        if kind == "nodes":
            return gm.NeighborLoader(ds, [2], 64, "train", pin_memory=True)
        if kind == "links":
            return gm.LinkNeighborLoader(ds, [2], links, pin_memory=True)
        if kind == "pyg":
            return pyg.NeighborLoader(ds, [2], "train", pin_memory=True)
        return pyg.LinkNeighborLoader(ds, [2], torch.tensor(links), pin_memory=True)

    monkeypatch.setattr(_loading, "_has_warned_of_pinning", False)
    with pytest.warns(UserWarning, match="pin_memory=True has no effect") as told:
        one = make()
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batches in (one, make(), pickle.loads(pickle.dumps(one))):
            assert not next(iter(batches)).x.is_pinned()


def test_with_an_accelerator_batches_are_pinned(
    papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_loading, "_has_accelerator", lambda: True)
    monkeypatch.setattr(gm.Batch, "pin_memory", lambda batch: ("pinned", batch))
    assert next(iter(loader(papers, pin_memory=True)))[0] == "pinned"
    assert isinstance(next(iter(loader(papers))), gm.Batch)
