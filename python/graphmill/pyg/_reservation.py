"""Memory that is taken from a dataset's budget for what PyG wants in memory."""

from __future__ import annotations

from contextlib import AbstractContextManager

from graphmill import Dataset, MemoryBudgetError


def reserved(
    ds: Dataset, need: int, what: str, remedy: str = "open the dataset with a larger memory"
) -> AbstractContextManager[None]:
    """Take memory from the budget, for a ``with`` block or as long as the result lives; a refusal names a remedy."""
    try:
        return ds._reserve(need, what)
    except MemoryBudgetError as error:
        raise MemoryBudgetError(
            f"{error}; {remedy}, or use graphmill.pyg.NeighborLoader, which needs none of it in memory"
        ) from None
