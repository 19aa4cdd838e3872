"""The systems that graphmill is measured with, by name."""

from __future__ import annotations

from benchmarks.peers.graph_builder import GraphBuilder
from benchmarks.peers.graphbolt import GraphBolt
from benchmarks.peers.graphzero import GraphZero
from benchmarks.peers.pandas import Pandas
from benchmarks.peers.peer import EdgeList, Peer
from benchmarks.peers.webgraph import WebGraph

PEERS: dict[str, type[Peer]] = {
    peer.name: peer for peer in (GraphZero, Pandas, GraphBolt, WebGraph, GraphBuilder)
}

__all__ = ["PEERS", "EdgeList", "GraphZero", "Peer"]
