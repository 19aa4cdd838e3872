"""Which loaders a saved state belongs to: those with the same values of all options that determine the batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# The options of a loader that determine which seeds, nodes and edges its batches hold.
_DETERMINING = (
    *("fanouts", "shuffle", "drop_last", "replace", "weighted", "disjoint", "method", "layer_dependency"),
    *("node_time", "temporal", "time_window", "subgraph", "direction"),
)  # fmt: skip
# The options of a loader over links that do so beside them.
_DETERMINING_LINKS = {
    "binary": "neg_ratio",
    "triplet": "neg_ratio of triplets",
    "strict": "strict",
    "exclude": "exclude_seed_edges",
}
# Values that are digests, which mean nothing to a reader.
_DIGESTS = ("seeds", "time", "edge_label")


def determining_options(options: Mapping[str, Any], start: Any) -> dict[str, Any]:
    """Return the options that determine the batches, by the names that users know, as plain values."""
    values = {name: options[name] for name in _DETERMINING}
    values["fanouts"] = [int(fanout) for fanout in options["fanouts"]]
    if isinstance(start, dict):
        values |= {known: start[name] for name, known in _DETERMINING_LINKS.items()}
    # NumPy's numbers are not what JSON and torch.load take.
    return {
        name: value.item() if hasattr(value, "item") else value for name, value in values.items()
    }


def as_text(values: Mapping[str, Any]) -> str:
    """Return the values in a form that is the same in every process."""
    return json.dumps(values, sort_keys=True)


def check_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first option in which a state differs from this loader.

    Options that the state lacks are not compared: an earlier version wrote it.
    """
    for name, own in expected.items():
        if name not in found or found[name] == own:
            continue
        if name in _DIGESTS:
            raise ValueError(f"the state is of a loader with other {name}, as many as this one has")
        raise ValueError(f"the state is of a loader with {name} {found[name]}, this one has {own}")
