"""GraphBolt of DGL 2.1: its DataLoader over a CSC sampling graph in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.child import CORES, Command
from benchmarks.peers.graphbolt import GraphBolt as Installed
from benchmarks.samplers.sampler import Sampler
from benchmarks.sampling_inputs import BATCH, SamplingInputs

# It names fan-outs from the outermost layer inwards, and samples a node again at each layer. Its lists are int32
# throughout, which is its fastest form here.
CODE = """
import torch, dgl.graphbolt as gb

offsets, neighbours, seeds, kept, batch, workers, threads = sys.argv[1:]
torch.set_num_threads(int(threads))
tensor = lambda path: torch.from_numpy(np.load(path)).to(torch.int32)
graph = gb.fused_csc_sampling_graph(tensor(offsets), tensor(neighbours))
seeds = tensor(seeds)

def loader(seeds):
    pipe = gb.ItemSampler(gb.ItemSet(seeds, names="seed_nodes"), batch_size=int(batch))
    return gb.DataLoader(pipe.sample_neighbor(graph, FANOUTS[::-1]), num_workers=int(workers))

def stream(seeds):
    edges = nodes = batches = 0
    for made in loader(seeds):
        layers = made.sampled_subgraphs
        edges += sum(len(layer.sampled_csc.indices) for layer in layers)
        nodes += len(layers[0].original_row_node_ids)
        batches += 1
    return edges, nodes, batches

stream(seeds[: 8 * int(batch)])
(edges, nodes, batches), seconds = timed(lambda: stream(seeds))
tell(edges, seconds, seeds=len(seeds), batches=batches, nodes=nodes)

[first] = loader(seeds[: int(batch)])
hops = {}
for hop, layer in enumerate(reversed(first.sampled_subgraphs)):
    counts = torch.diff(layer.sampled_csc.indptr)
    hops[f"source{hop}"] = layer.original_row_node_ids[layer.sampled_csc.indices].numpy()
    hops[f"destination{hop}"] = layer.original_column_node_ids.repeat_interleave(counts).numpy()
np.savez(kept, **hops)
"""


class GraphBolt(Sampler):
    """With threads inside one process, and with processes of one thread each."""

    name = "graphbolt"

    @property
    def environment(self) -> Path:
        return self.folder / Installed.name

    def install(self) -> None:
        Installed(self.environment).install()

    def fanout(self, inputs: SamplingInputs, kept: Path) -> Mapping[str, Command]:
        lists, seeds = inputs.lists("in"), inputs.seeds()
        arguments = (lists.offsets, lists.neighbours, seeds, kept, BATCH)
        return {
            f"graphbolt, {CORES} threads": self.program(CODE, *arguments, 0, CORES),
            f"graphbolt, {CORES} workers": self.program(CODE, *arguments, CORES, 1),
        }
