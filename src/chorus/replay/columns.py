"""The storage under the ring: one array per column, in memory or mapped to a file.

Nothing here knows what a row means. Because columns are mapped, a checkpoint writes only new rows: they are in their
file already, and saving them is a flush.
"""

import hashlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Int

from chorus.errors import ChorusError

ColumnTypes = dict[str, tuple[tuple[int, ...], np.dtype]]


class Columns:
    """Arrays [lanes, rows, ...] by name. With a `directory` new files are made there, or `existing` ones are mapped."""

    def __init__(
        self, types: ColumnTypes, lanes: int, rows: int, directory: Path | None, *, existing: bool = False
    ) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._maps: dict[str, mmap.mmap] = {}
        self._paths: list[Path] = []
        for name, (shape, dtype) in types.items():
            full = (lanes, rows, *shape)
            if directory is None:
                self.arrays[name] = np.zeros(full, dtype)
            else:
                path, size = directory / f"{name}.bin", int(np.prod(full)) * np.dtype(dtype).itemsize
                self._maps[name] = _map_existing(path, size) if existing else _map_new(path, size)
                self.arrays[name] = np.frombuffer(self._maps[name], dtype).reshape(full)
                self._paths.append(path)

    def reserve(self) -> None:
        """Allocate the disk space of all files, because a mapped file that finds none left kills the process."""
        for path in self._paths:
            with path.open("r+b") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, path.stat().st_size)

    def flush(self) -> None:
        """Everything written so far reaches the disk."""
        for mapped in self._maps.values():
            mapped.flush()

    def prefetch(self, name: str, lane: Int[np.ndarray, " B"], first: Int[np.ndarray, " B"], count: int) -> None:
        """Ask the operating system for `count` rows from each position on, which are read next.

        For a file larger than the memory, a batch then waits for the disk once and not once per row
        (docs/performance.md). Columns whose rows are smaller than a page are small enough to stay in memory.
        """
        array, mapped = self.arrays[name], self._maps.get(name)
        size, rows = array[0, 0].nbytes, array.shape[1]
        if mapped is None or size < mmap.PAGESIZE or not hasattr(mmap, "MADV_WILLNEED"):
            return
        for own, start in zip(lane.tolist(), first.tolist(), strict=True):
            for piece in ring_slices(start, start + count, rows):
                begin = (own * rows + piece.start) * size
                page = begin - begin % mmap.PAGESIZE
                mapped.madvise(mmap.MADV_WILLNEED, page, begin - page + (piece.stop - piece.start) * size)

    def digest(self, lane: int, start: int, end: int) -> str:
        """A hash over the rows of one lane from position `start` to `end`."""
        total = hashlib.sha256()
        for array in self.arrays.values():
            for piece in ring_slices(start, end, array.shape[1]):
                total.update(np.ascontiguousarray(array[lane, piece]).view(np.uint8).data)
        return total.hexdigest()


def _map_new(path: Path, size: int) -> mmap.mmap:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with path.open("x+b") as file:
        file.truncate(size)
        return mmap.mmap(file.fileno(), size)


def _map_existing(path: Path, size: int) -> mmap.mmap:
    """The file as it is; one of another size belongs to another configuration, or is damaged."""
    try:
        found = path.stat().st_size
        if found != size:
            raise ChorusError(f"{path} has {found:,} bytes, and the replay of this configuration has {size:,}")
        with path.open("r+b") as file:
            return mmap.mmap(file.fileno(), size)
    except OSError as problem:
        raise ChorusError(f"{path} cannot be read: {problem.strerror}") from problem


def ring_slices(start: int, end: int, rows: int) -> Iterator[slice]:
    """The one or two slices of a ring that hold positions start .. end-1."""
    if end - start > rows:
        raise ChorusError(f"positions {start} to {end} do not fit a ring of {rows} rows; the replay is damaged")
    if start == end:
        return
    first, last = start % rows, (end - 1) % rows
    if first <= last:
        yield slice(first, last + 1)
    else:
        yield slice(first, rows)
        yield slice(0, last + 1)


def row_bytes(types: ColumnTypes) -> int:
    return sum(int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize for shape, dtype in types.values())
