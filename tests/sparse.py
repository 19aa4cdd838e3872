"""A large ``.gd`` file that takes no room: a header as DESIGN.md draws it, and rows here and there."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

PAGE = 4096
BLOCK = 1 << 20
FLOAT32 = 9


def _crc_table() -> list[int]:
    table = []
    for remainder in range(256):
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
        table.append(remainder)
    return table


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC32C, a byte at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def padded(length: int) -> int:
    """The length up to the next page."""
    return -(-length // PAGE) * PAGE


def header(rows: int, columns: int) -> bytes:
    """The header of a float32 matrix; the digest of its digest table is left 0."""
    data = rows * columns * 4
    digests = -(-data // BLOCK)
    digest_offset = PAGE + padded(data)
    page = bytearray(PAGE)
    page[:8] = bytes.fromhex("89474d440d0a1a0a")
    struct.pack_into("<HHI", page, 8, 1, 0, PAGE)
    struct.pack_into("<QII", page, 32, digest_offset + padded(digests * 8), 2, BLOCK)
    struct.pack_into("<QQQII", page, 64, rows, columns, columns * 4, FLOAT32, 2)
    struct.pack_into("<HBBIQQQ", page, 256, 32, 0, 0, FLOAT32, PAGE, data, rows * columns)
    struct.pack_into("<HBBIQQQ", page, 320, 255, 0, 0, 11, digest_offset, digests * 8, digests)
    struct.pack_into("<I", page, PAGE - 4, crc32c(bytes(page[:-4])))
    return bytes(page)


def write_sparse(path: Path, rows: int, columns: int, filled: list[int]) -> None:
    """Write the file; each row of ``filled`` counts up from its own number, the others are zero."""
    page = header(rows, columns)
    (length,) = struct.unpack_from("<Q", page, 32)
    with path.open("wb") as file:
        file.write(page)
        file.truncate(length)
        for row in filled:
            file.seek(PAGE + row * columns * 4)
            file.write(recognisable(row, columns).tobytes())


def recognisable(row: int, columns: int) -> np.ndarray:
    """The content of a filled row."""
    return np.float32(row) + np.arange(columns, dtype=np.float32) * np.float32(0.5)
