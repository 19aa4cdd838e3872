"""What users give to a loader instead of a dataset: each is refused with the call that makes a dataset of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import graphmill as gm


def neighbours(ds: Any) -> Any:
    return gm.NeighborLoader(ds, [2])


def links(ds: Any) -> Any:
    return gm.LinkNeighborLoader(ds, [2], np.zeros((2, 1), dtype=np.int64))


@pytest.mark.parametrize("make", [neighbours, links])
@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (
            Data(x=torch.zeros(2, 1)),
            r"found torch_geometric's Data: call gm.from_pyg\(data, path\)",
        ),
        (HeteroData(), r"found torch_geometric's HeteroData: call gm.from_pyg\(data, path\) once"),
        ("papers/", r"found the path 'papers/': give gm.open\('papers/'\)"),
        (Path("papers"), r"give gm.open\('papers'\)"),
        (None, r"found None: open one with gm.open\(path\)"),
        (3, "found int: open one"),
        ([[0], [1]], "found list: open one"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_dataset_is_refused_with_the_remedy(
    make: Callable[[Any], Any], wrong: Any, remedy: str
) -> None:
    with pytest.raises(TypeError, match=remedy):
        make(wrong)


def test_a_graph_is_no_dataset(papers: Path) -> None:
    with pytest.raises(TypeError, match=r"graphmill's Graph: open the dataset .* graph\.sample"):
        neighbours(gm.open(papers, memory="32MiB").graph)
