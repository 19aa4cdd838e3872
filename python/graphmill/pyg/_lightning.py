"""PyG's data modules for Lightning over a dataset on disk.

Everything is PyG's but the loaders and where splits come from. PyG imports Lightning itself, and says how to install
it.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch_geometric.data import lightning

import graphmill

from ._data_view import DataView, as_view
from ._link_neighbor_loader import LinkNeighborLoader
from ._neighbor_loader import NeighborLoader

# What each stage reads, in PyG's words, and the splits that stand for it.
_STAGES = {"train": ("train",), "val": ("val", "valid"), "test": ("test",), "pred": ("pred",)}
_OF_WORKERS = ("num_workers", "persistent_workers", "prefetch_factor")


class LightningNodeData(lightning.LightningNodeData):  # type: ignore[misc]
    """PyG's ``LightningNodeData`` over a dataset on disk, with our :class:`NeighborLoader`.

    Args:
        data: The dataset, from :func:`graphmill.open`.
        input_train_nodes: Seeds of training, as :class:`NeighborLoader` takes them; the split ``train`` by default, and
            likewise for the other stages: ``val`` or ``valid``, ``test``, ``pred``.
        input_train_time: Their times.
        input_val_nodes: Seeds of validation.
        input_val_time: Their times.
        input_test_nodes: Seeds of testing.
        input_test_time: Their times.
        input_pred_nodes: Seeds of prediction.
        input_pred_time: Their times.
        loader: ``"neighbor"``.
        node_sampler: Not supported: PyG's own class takes :func:`stores` and a :class:`Sampler`.
        eval_loader_kwargs: Options of :class:`NeighborLoader` that differ in evaluation.
        **kwargs: Further options of :class:`NeighborLoader`, such as ``num_neighbors`` and ``batch_size``.

    Example:
        >>> from importlib.util import find_spec
        >>> if find_spec("pytorch_lightning"):
        ...     module = pyg.LightningNodeData(ds, num_neighbors=[2], batch_size=2)
        ...     batch = next(iter(module.train_dataloader()))
    """

    def __init__(
        self,
        data: graphmill.Dataset | DataView,
        input_train_nodes: Any = None,
        input_train_time: Any = None,
        input_val_nodes: Any = None,
        input_val_time: Any = None,
        input_test_nodes: Any = None,
        input_test_time: Any = None,
        input_pred_nodes: Any = None,
        input_pred_time: Any = None,
        loader: str = "neighbor",
        node_sampler: None = None,
        eval_loader_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.data = as_view(data)
        given = {
            "train": (input_train_nodes, input_train_time),
            "val": (input_val_nodes, input_val_time),
            "test": (input_test_nodes, input_test_time),
            "pred": (input_pred_nodes, input_pred_time),
        }
        splits = self.data.dataset.splits
        inputs = {}
        for stage, (nodes, time) in given.items():
            known = [name for name in _STAGES[stage] if name in splits]
            inputs[stage] = known[0] if nodes is None and known else nodes, time
        _begin(self, inputs, loader, node_sampler, eval_loader_kwargs, kwargs)
        for stage, (nodes, time) in inputs.items():
            for name, value in (("nodes", nodes), ("time", time), ("id", None)):
                setattr(self, f"input_{stage}_{name}", value)

    def dataloader(
        self,
        input_nodes: Any,
        input_time: Any = None,
        input_id: Any = None,
        node_sampler: None = None,
        **kwargs: Any,
    ) -> NeighborLoader:
        """Make the loader of a stage.

        Example:
            >>> from importlib.util import find_spec
            >>> if find_spec("pytorch_lightning"):
            ...     module = pyg.LightningNodeData(ds, num_neighbors=[2])
            ...     loader = module.dataloader("train", **module.loader_kwargs)
        """
        return NeighborLoader(
            self.data,
            **{"input_nodes": input_nodes, "input_time": input_time, "input_id": input_id} | kwargs,
        )


class LightningLinkData(lightning.LightningLinkData):  # type: ignore[misc]
    """PyG's ``LightningLinkData`` over a dataset on disk, with our :class:`LinkNeighborLoader`.

    Args:
        data: The dataset, from :func:`graphmill.open`.
        input_train_edges: Links of training, as :class:`LinkNeighborLoader` takes them; all edges by default.
        input_train_labels: Their labels.
        input_train_time: Their times.
        input_val_edges: Links of validation; none by default, and likewise for testing and prediction.
        input_val_labels: Their labels.
        input_val_time: Their times.
        input_test_edges: Links of testing.
        input_test_labels: Their labels.
        input_test_time: Their times.
        input_pred_edges: Links of prediction.
        input_pred_labels: Their labels.
        input_pred_time: Their times.
        loader: ``"neighbor"`` or ``"link_neighbor"``.
        link_sampler: Not supported: PyG's own class takes :func:`stores` and a :class:`Sampler`.
        eval_loader_kwargs: Options of :class:`LinkNeighborLoader` that differ in evaluation.
        **kwargs: Further options of :class:`LinkNeighborLoader`, such as ``num_neighbors`` and ``neg_sampling``.

    Example:
        >>> from importlib.util import find_spec
        >>> if find_spec("pytorch_lightning"):
        ...     module = pyg.LightningLinkData(ds, num_neighbors=[2], batch_size=2)
        ...     batch = next(iter(module.train_dataloader()))
    """

    def __init__(
        self,
        data: graphmill.Dataset | DataView,
        input_train_edges: Any = None,
        input_train_labels: Any = None,
        input_train_time: Any = None,
        input_val_edges: Any = None,
        input_val_labels: Any = None,
        input_val_time: Any = None,
        input_test_edges: Any = None,
        input_test_labels: Any = None,
        input_test_time: Any = None,
        input_pred_edges: Any = None,
        input_pred_labels: Any = None,
        input_pred_time: Any = None,
        loader: str = "neighbor",
        link_sampler: None = None,
        eval_loader_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.data = as_view(data)
        inputs = {
            "train": (input_train_edges, input_train_labels, input_train_time),
            "val": (input_val_edges, input_val_labels, input_val_time),
            "test": (input_test_edges, input_test_labels, input_test_time),
            "pred": (input_pred_edges, input_pred_labels, input_pred_time),
        }
        _begin(self, inputs, loader, link_sampler, eval_loader_kwargs, kwargs)
        for stage, (edges, labels, time) in inputs.items():
            values = (("edges", edges), ("labels", labels), ("time", time), ("id", None))
            for name, value in values:
                setattr(self, f"input_{stage}_{name}", value)

    def dataloader(
        self,
        input_edges: Any,
        input_labels: Any = None,
        input_time: Any = None,
        input_id: Any = None,
        link_sampler: None = None,
        **kwargs: Any,
    ) -> LinkNeighborLoader:
        """Make the loader of a stage.

        Example:
            >>> from importlib.util import find_spec
            >>> if find_spec("pytorch_lightning"):
            ...     module = pyg.LightningLinkData(ds, num_neighbors=[2])
            ...     loader = module.dataloader(None, **module.loader_kwargs)
        """
        inputs = {
            "edge_label_index": input_edges,
            "edge_label": input_labels,
            "edge_label_time": input_time,
            "input_id": input_id,
        }
        return LinkNeighborLoader(self.data, **inputs | kwargs)


def _begin(
    module: Any,
    inputs: dict[str, tuple[Any, ...]],
    loader: str,
    sampler: Any,
    eval_loader_kwargs: dict[str, Any] | None,
    kwargs: dict[str, Any],
) -> None:
    """Set what both modules have before their inputs, as PyG's own class does."""
    if sampler is not None:
        raise TypeError(
            "a sampler is not supported: PyG's own class takes graphmill.pyg.stores(ds) and a graphmill.pyg.Sampler"
        )
    if loader not in ("neighbor", "link_neighbor"):
        raise ValueError(
            f"loader is {loader!r}, expected 'neighbor'; a whole graph in memory is PyG's own class over "
            "graphmill.pyg.to_pyg(ds)"
        )
    data = module.data
    in_vain = [name for name in _OF_WORKERS if kwargs.pop(name, None)]
    if in_vain:
        warnings.warn(
            f"{', '.join(in_vain)} had no effect: threads prepare the batches; see prefetch= and threads=",
            stacklevel=3,
        )
    kwargs.setdefault("pin_memory", torch.cuda.is_available())
    lightning.datamodule.LightningDataModule.__init__(
        module, inputs["val"][0] is not None, inputs["test"][0] is not None, **kwargs
    )
    # Lightning's class sets its own attributes anew.
    module.data, module.loader = data, loader
    module.loader_kwargs = {
        name: value for name, value in module.kwargs.items() if name not in _OF_WORKERS
    }
    module.eval_loader_kwargs = module.loader_kwargs | (eval_loader_kwargs or {})
    for name in ("sampler", "batch_sampler"):
        module.eval_loader_kwargs.pop(name, None)
    if module.loader_kwargs.get("batch_sampler") is not None:
        module.loader_kwargs.pop("batch_size", None)
