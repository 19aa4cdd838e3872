"""GraphBolt of DGL 2.1: text by pandas, a CSC sampling graph in memory, saved with torch."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.child import Command, Figures
from benchmarks.peers.installation import python_packages, script
from benchmarks.peers.peer import EdgeList, Peer

# This dgl was built for this torch, which wants the old numpy; it imports two more without asking for them.
PACKAGES = (
    *("dgl==2.1.0", "torch==2.2.1", "torchdata==0.7.1", "numpy<2"),
    *("pandas", "pydantic", "pyyaml"),
)
PYTHONS = ("3.11", "3.10", "3.12", "3.9", "3.8")

CODE = """
import json, sys
import numpy as np, pandas as pd, torch, dgl
import dgl.graphbolt as gb

edges = pd.read_csv(sys.argv[1], header=None, names=["src", "dst"], dtype=np.int32)
ends = tuple(torch.from_numpy(edges[name].to_numpy()) for name in ("src", "dst"))
indptr, indices, _ = dgl.graph(ends, idtype=torch.int32).adj_tensors("csc")
graph = gb.fused_csc_sampling_graph(indptr, indices)
torch.save(graph, sys.argv[2])
print(json.dumps([graph.total_num_nodes, graph.total_num_edges]))
"""


class GraphBolt(Peer):
    """DGL's sampler, whose topology lives in memory."""

    name = "graphbolt"
    work = "CSV -> CSC sampling graph, saved; all in memory"

    def install(self) -> None:
        python_packages(self.folder, PACKAGES, versions=PYTHONS)

    def build(self, edges: EdgeList, out: Path) -> Command:
        return Command(script(self.folder, CODE, edges.path, out / "graph.pt"))

    def counts(self, out: Path, figures: Figures) -> tuple[int, int]:
        assert (out / "graph.pt").is_file()
        nodes, edges = json.loads(figures.output.splitlines()[-1])
        return nodes, edges
