"""What is computed for a batch of nodes: functions, convolutions of PyG, and models of PyG layer by layer.

A convolution gets the rows of the targets and of their in-neighbours instead of the whole graph. Which call of it gives
the same rows as the whole graph does is found by trying on a small random graph, and one for which none does is
refused: it normalises by what a batch does not know, or looks further than one hop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Call = Callable[..., Any]

# Nodes and edges of the graph that convolutions are tried on; the first nodes are the targets.
_NODES, _EDGES, _TARGETS = 24, 90, 9
# Where convolutions of PyG keep what they found out about the last graph.
_CACHES = ("cached", "_cached_edge_index", "_cached_adj_t", "_cached_x")


@dataclass(frozen=True)
class DegreeRule:
    """By which degrees a ``GCNConv`` normalises: those of in-edges, with a loop at each node or without."""

    loops: bool

    def of(self, in_edges: Any, own_loops: Any) -> Any:
        """Return degrees of nodes with these numbers of in-edges and of loops among them."""
        if not self.loops:
            return in_edges
        # Every node has one, however many there were.
        return in_edges - own_loops + 1


@dataclass
class Layer:
    """One pass over all nodes."""

    call: Call
    modules: tuple[Any, ...]
    # If set, ``call`` takes the degrees of all nodes of the batch as ``degrees=``.
    rule: DegreeRule | None = None


def layers_of(layers: Any, edge_shape: tuple[int, ...] | None) -> list[Layer]:
    """Return the layers that a user gave as a list, or as a model of PyG."""
    if _is_model(layers):
        return _split(layers, edge_shape)
    if not isinstance(layers, Sequence) and not (
        hasattr(layers, "__len__") and hasattr(layers, "__iter__")
    ):
        raise TypeError(
            f"inference takes a list of layers, or a model of torch_geometric.nn.models such as GraphSAGE, found "
            f"{type(layers).__name__}; give the layers of the model, such as [model.conv1, model.conv2]"
        )
    if not len(layers):
        raise ValueError("layers is empty; give at least one")
    return [_as_layer(layer, depth) for depth, layer in enumerate(layers)]


@contextmanager
def evaluating(layers: Sequence[Layer]) -> Iterator[None]:
    """Put modules into evaluation mode without what they cached, and every part back into the state it was in."""
    before: list[tuple[Any, str, Any]] = []
    for module in (module for layer in layers for module in layer.modules):
        for part in module.modules():
            # Convolutions keep the edges of the last graph, which is not this one.
            kept = [name for name in _CACHES if hasattr(part, name)]
            before += [(part, name, getattr(part, name)) for name in (*kept, "training")]
    for part, name, _ in before:
        setattr(part, name, False if name in ("training", "cached") else None)
    try:
        yield
    finally:
        for part, name, value in reversed(before):
            setattr(part, name, value)


def _as_layer(layer: Any, depth: int) -> Layer:
    if not callable(layer):
        raise TypeError(
            f"a layer must be callable as layer(x, edge_index, num_targets), found {type(layer).__name__}"
        )
    is_module = hasattr(layer, "train") and hasattr(layer, "modules")
    modules = (layer,) if is_module else ()
    # Only who imported PyG can give a convolution.
    pyg = sys.modules.get("torch_geometric.nn.conv.message_passing")
    if pyg is None or not isinstance(layer, pyg.MessagePassing):
        return Layer(layer, modules)
    convolution = _Convolution(layer, f"layer {depth}, {type(layer).__name__},")
    return Layer(convolution, modules, convolution.rule)


class _Convolution:
    """A convolution of PyG on a batch; how to call it is found by the first rows, whose type and width it needs."""

    def __init__(self, convolution: Any, name: str, edges_as: str = "edge_attr") -> None:
        self.convolution = convolution
        self.name = name
        self.edges_as = edges_as
        self.rule: DegreeRule | None = None
        self._way: Call | None = None
        gcn = sys.modules.get("torch_geometric.nn.conv.gcn_conv")
        if gcn is not None and type(convolution) is gcn.GCNConv and convolution.normalize:
            self.rule = DegreeRule(convolution.add_self_loops)

    def __call__(
        self, x: Any, edge_index: Any, num_targets: int, *edge_rows: Any, degrees: Any = None
    ) -> Any:
        if self._way is None:
            self._way = self._find(x, edge_rows)
        return self._way(x, edge_index, num_targets, degrees, **self._named(edge_rows))

    def _named(self, edge_rows: Sequence[Any]) -> dict[str, Any]:
        return {self.edges_as: edge_rows[0]} if edge_rows else {}

    def _find(self, x: Any, edge_rows: Sequence[Any]) -> Call:
        """The first way to call it on a part of a graph that gives the rows of the whole graph."""
        import torch

        edge_index, into = _trial_edges(x.device)
        whole_x = _random_like(x, _NODES)
        whole_rows = [_random_like(rows, _EDGES) for rows in edge_rows]
        whole = self.convolution(whole_x, edge_index, **self._named(whole_rows))[:_TARGETS]
        degrees = None
        if self.rule is not None:
            loops = edge_index[1, edge_index[0] == edge_index[1]]
            counts = (torch.bincount(ends, minlength=_NODES) for ends in (edge_index[1], loops))
            degrees = self.rule.of(*counts)
        named = self._named([rows[into] for rows in whole_rows])
        ways = (self._as_pair, self._as_square) if self.rule is None else (self._normalized,)
        failures = []
        for way in ways:
            try:
                found = way(whole_x, edge_index[:, into], _TARGETS, degrees, **named)
            except Exception as error:
                # A convolution that takes no pair fails in one way or another.
                failures.append(f"{type(error).__name__}: {error}")
                continue
            if _agree(found, whole):
                return way
        reason = f" ({'; '.join(failures)})" if len(failures) == len(ways) else ""
        raise ValueError(
            f"{self.name} gives other rows for a node with its in-neighbours than in the whole graph{reason}: it "
            "normalises by something else or looks further than one hop; give a function "
            "layer(x, edge_index, num_targets) for it, or run the model on graphmill.pyg.to_pyg(ds), in memory"
        )

    def _as_pair(
        self, x: Any, edge_index: Any, num_targets: int, degrees: Any, **named: Any
    ) -> Any:
        return self.convolution((x, x[:num_targets]), edge_index, **named)

    def _as_square(
        self, x: Any, edge_index: Any, num_targets: int, degrees: Any, **named: Any
    ) -> Any:
        return self.convolution(x, edge_index, **named)[:num_targets]

    def _normalized(
        self, x: Any, edge_index: Any, num_targets: int, degrees: Any, **named: Any
    ) -> Any:
        """``GCNConv`` with the weights that it would have given to the edges in the whole graph."""
        import torch

        if named:
            raise ValueError("its normalisation by rows of edges needs those of all edges")
        assert self.rule is not None
        weights = torch.ones(edge_index.shape[1], dtype=x.dtype, device=x.device)
        if self.rule.loops:
            is_loop = edge_index[0] == edge_index[1]
            targets = torch.arange(num_targets, device=x.device)
            edge_index = torch.cat([edge_index[:, ~is_loop], targets.expand(2, -1)], dim=1)
            weights = weights.new_ones(edge_index.shape[1])
        scale = degrees.to(x.dtype).pow(-0.5)
        scale[scale == float("inf")] = 0
        weights = scale[edge_index[0]] * weights * scale[edge_index[1]]
        self.convolution.normalize = False
        try:
            return self.convolution(x, edge_index, weights)[:num_targets]
        finally:
            self.convolution.normalize = True


def _is_model(layers: Any) -> bool:
    models = sys.modules.get("torch_geometric.nn.models.basic_gnn")
    return models is not None and isinstance(layers, models.BasicGNN)


def _split(model: Any, edge_shape: tuple[int, ...] | None) -> list[Layer]:
    """The layers of a model of PyG, checked to make what the model makes of a whole graph."""
    edges_as = "edge_attr"
    if edge_shape is not None:
        takes = {"edge_attr": model.supports_edge_attr, "edge_weight": model.supports_edge_weight}
        edges_as = "edge_weight" if len(edge_shape) == 1 and takes["edge_weight"] else "edge_attr"
        if not takes[edges_as]:
            raise ValueError(
                f"{type(model).__name__} takes no {edges_as}, but edge_table gives one; leave edge_table out"
            )
    layers = []
    for depth, convolution in enumerate(model.convs):
        name = f"layer {depth} of {type(model).__name__}, {type(convolution).__name__},"
        call = _Convolution(convolution, name, edges_as)
        layers.append(Layer(_Step(model, depth, call), (model,), call.rule))
    with evaluating(layers):
        _check_split(model, layers, edge_shape, edges_as)
    return layers


class _Step:
    """One convolution of a model and what follows it.

    Where the model joins what all its layers made (``jk``), rows carry the results of the layers before.
    """

    def __init__(self, model: Any, depth: int, convolution: _Convolution) -> None:
        self.model = model
        self.depth = depth
        self.convolution = convolution

    def __call__(
        self, x: Any, edge_index: Any, num_targets: int, *edge_rows: Any, degrees: Any = None
    ) -> Any:
        import torch

        model, depth = self.model, self.depth
        joins = hasattr(model, "jk")
        width = x.shape[1] // depth if joins and depth else x.shape[1]
        out = self.convolution(x[:, -width:], edge_index, num_targets, *edge_rows, degrees=degrees)
        is_last = depth == model.num_layers - 1
        if not is_last or model.jk_mode is not None:
            if model.act is not None and model.act_first:
                out = model.act(out)
            out = model.norms[depth](out)
            if model.act is not None and not model.act_first:
                out = model.act(out)
        if joins and depth:
            out = torch.cat([x[:num_targets], out], dim=1)
        if is_last and joins:
            out = model.jk(list(out.split(out.shape[1] // model.num_layers, dim=1)))
        return model.lin(out) if is_last and hasattr(model, "lin") else out


def _check_split(
    model: Any, layers: Sequence[Layer], edge_shape: tuple[int, ...] | None, edges_as: str
) -> None:
    import torch

    parameter = next(iter(model.parameters()), torch.zeros(()))
    channels = model.in_channels if isinstance(model.in_channels, int) else model.in_channels[0]
    if channels < 0:
        raise ValueError(
            f"{type(model).__name__} does not know its in_channels yet; run it once before inference"
        )
    edge_index, _ = _trial_edges(parameter.device)
    x = _random_like(parameter.new_zeros(1, channels), _NODES)
    rows = (
        []
        if edge_shape is None
        else [_random_like(parameter.new_zeros(1, *edge_shape[1:]), _EDGES)]
    )
    with torch.inference_mode():
        whole = model(x, edge_index, **dict(zip([edges_as], rows, strict=False)))[:_TARGETS]
        found = x
        for layer in layers:
            options = {}
            if layer.rule is not None:
                is_loop = edge_index[0] == edge_index[1]
                ends = (edge_index[1], edge_index[1, is_loop])
                options["degrees"] = layer.rule.of(
                    *(torch.bincount(each, minlength=_NODES) for each in ends)
                )
            found = layer.call(found, edge_index, _NODES, *rows, **options)
        if not _agree(found[:_TARGETS], whole) or _mixes(model):
            raise ValueError(
                f"{type(model).__name__} cannot be computed layer by layer: its layers one after the other do not "
                "give what the model gives; give a list of functions layer(x, edge_index, num_targets), or run the "
                "model on graphmill.pyg.to_pyg(ds), in memory"
            )


def _mixes(model: Any) -> bool:
    """Whether a norm makes the rows of some nodes depend on others, so that batches would change them."""
    import torch

    for norm in model.norms:
        if isinstance(norm, torch.nn.Identity):
            continue
        rows = torch.randn(
            _NODES, model.hidden_channels, generator=torch.Generator().manual_seed(0)
        )
        parameter = next(iter(model.parameters()), rows)
        rows = rows.to(parameter.device, parameter.dtype)
        if not _agree(norm(rows)[:_TARGETS], norm(rows[:_TARGETS])):
            return True
    return False


def _trial_edges(device: Any) -> tuple[Any, Any]:
    """A random graph with loops and repeated edges, and those of its edges that lead to the targets."""
    import torch

    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(_NODES - 2, (2, _EDGES), generator=generator)
    edge_index[:, :3] = torch.tensor([[1, 2, 2], [1, 2, 2]])
    edge_index = edge_index.to(device)
    return edge_index, (edge_index[1] < _TARGETS).nonzero().view(-1)


def _random_like(rows: Any, count: int) -> Any:
    import torch

    generator = torch.Generator().manual_seed(1)
    made = torch.rand(count, *rows.shape[1:], generator=generator, dtype=torch.float32)
    return made.to(rows.device, rows.dtype)


def _agree(found: Any, expected: Any) -> bool:
    """Whether rows are the same but for rounding, which goes by the largest of their numbers."""
    if found.shape != expected.shape or not bool((found.isnan() == expected.isnan()).all()):
        return False
    found, expected = found.nan_to_num().double(), expected.nan_to_num().double()
    scale = float(expected.abs().max()) if expected.numel() else 0.0
    return float((found - expected).abs().max() if found.numel() else 0.0) <= 1e-3 * scale
