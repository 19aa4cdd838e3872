"""GraphBolt of DGL 2.1: its DataLoader over a CSC sampling graph and a tensor of rows, both in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.loaders.loader import NO_GROUP, Loader
from benchmarks.peers.graphbolt import GraphBolt as Installed
from benchmarks.training_inputs import Prepared

# It names fan-outs from the outermost layer inwards, and samples a node again at each layer. Its lists are int32
# throughout, which is its fastest form here.
CODE = """
import torch, dgl.graphbolt as gb

offsets, neighbours, seeds, path, rows, batch, batches, kept, group, workers, threads = sys.argv[1:]
torch.set_num_threads(int(threads))
enter(group)
tensor = lambda path: torch.from_numpy(np.load(path)).to(torch.int32)
graph = gb.fused_csc_sampling_graph(tensor(offsets), tensor(neighbours))
store = gb.BasicFeatureStore({("node", None, "x"): gb.TorchBasedFeature(torch.from_numpy(table(path)))})
batch = int(batch)
seeds = tensor(seeds)[: int(batches) * batch]

def loader(seeds):
    pipe = gb.ItemSampler(gb.ItemSet(seeds, names="seed_nodes"), batch_size=batch)
    pipe = pipe.sample_neighbor(graph, FANOUTS[::-1])
    pipe = pipe.fetch_feature(store, node_feature_keys=["x"])
    return gb.DataLoader(pipe, num_workers=int(workers))

def nodes_of(batch):
    return len(batch.node_features["x"])

drain(loader(seeds[: 8 * batch]), nodes_of)
last, nodes, marks = drain(loader(seeds), nodes_of)
tell(nodes, marks)

hops = []
for layer in reversed(last.sampled_subgraphs):
    counts = torch.diff(layer.sampled_csc.indptr)
    source = layer.original_row_node_ids[layer.sampled_csc.indices]
    hops.append((source.numpy(), layer.original_column_node_ids.repeat_interleave(counts).numpy()))
keep(kept, last.input_nodes.numpy(), last.node_features["x"].numpy(), hops)
"""


class GraphBolt(Loader):
    """With threads inside one process, and with processes of one thread each."""

    name = "graphbolt"

    @property
    def environment(self) -> Path:
        return self.folder / Installed.name

    def install(self) -> None:
        Installed(self.environment).install()

    def resident(
        self, prepared: Prepared, batch: int, batches: int, kept: Path, group: Path = NO_GROUP
    ) -> Mapping[str, Command]:
        lists = (prepared.lists.offsets, prepared.lists.neighbours, prepared.seeds)
        arguments = (*lists, prepared.table, prepared.rows, batch, batches, kept, group)
        return {
            f"graphbolt, {CORES} threads": self.program(CODE, *arguments, 0, CORES),
            f"graphbolt, {CORES} workers": self.program(CODE, *arguments, CORES, 1),
        }
