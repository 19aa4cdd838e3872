"""Those who read rows beside graphmill, and what shows the limits of the disk, by name."""

from __future__ import annotations

from benchmarks.readers.dd import Dd
from benchmarks.readers.fio import Fio
from benchmarks.readers.graphzero import GraphZero
from benchmarks.readers.numpy_memmap import NumpyMemmap
from benchmarks.readers.reader import Reader
from benchmarks.readers.torch import Torch

READERS: dict[str, type[Reader]] = {
    reader.name: reader for reader in (NumpyMemmap, Torch, GraphZero, Fio, Dd)
}

__all__ = ["READERS", "Fio", "GraphZero", "Reader"]
