"""Arrays behind the ring."""

import mmap

import numpy as np
import pytest

from chorus.errors import ChorusError
from chorus.replay.columns import Columns, ring_slices, row_bytes
from chorus.replay.layout import RingLayout


@pytest.mark.parametrize(
    ("start", "end", "pieces"),
    [
        (0, 0, []),
        (7, 7, []),
        (0, 3, [(0, 3)]),
        (2, 5, [(2, 5)]),
        (3, 7, [(3, 5), (0, 2)]),
        (12, 14, [(2, 4)]),
        (0, 5, [(0, 5)]),
        (8, 13, [(3, 5), (0, 3)]),
    ],
)
def test_positions_fall_into_one_or_two_pieces_of_the_ring(start, end, pieces):
    assert [(piece.start, piece.stop) for piece in ring_slices(start, end, 5)] == pieces


def test_more_positions_than_rows_are_refused():
    with pytest.raises(ChorusError, match="do not fit"):
        list(ring_slices(0, 6, 5))


def test_a_hash_covers_exactly_the_rows_it_is_asked_for(tmp_path):
    types = {"observation": ((2,), np.dtype(np.float32)), "flags": ((), np.dtype(np.uint8))}
    columns = Columns(types, lanes=2, rows=5, directory=tmp_path)
    before = columns.digest(0, 3, 7)
    columns.arrays["flags"][0, 2] = 1  # position 2 or 7: outside
    columns.arrays["flags"][1, 3] = 1  # another lane
    assert columns.digest(0, 3, 7) == before
    columns.arrays["flags"][0, 1] = 1  # position 6: inside
    assert columns.digest(0, 3, 7) != before


def test_files_are_as_long_as_their_arrays(tmp_path):
    types = {"observation": ((2,), np.dtype(np.float32)), "flags": ((), np.dtype(np.uint8))}
    Columns(types, lanes=2, rows=5, directory=tmp_path)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"observation.bin": 80, "flags.bin": 10}
    assert row_bytes(types) == 9


def test_existing_files_are_mapped_as_they_are_and_never_made_shorter_or_longer(tmp_path):
    types = {"flags": ((), np.dtype(np.uint8))}
    columns = Columns(types, lanes=2, rows=5, directory=tmp_path)
    columns.arrays["flags"][1, 4] = 7
    columns.flush()
    assert Columns(types, lanes=2, rows=5, directory=tmp_path, existing=True).arrays["flags"][1, 4] == 7
    for rows in (4, 6):
        with pytest.raises(ChorusError, match=f"flags.bin has 10 bytes, and the replay .* has {2 * rows}"):
            Columns(types, lanes=2, rows=rows, directory=tmp_path, existing=True)
    assert (tmp_path / "flags.bin").read_bytes() == bytes([0] * 9 + [7])
    with pytest.raises(ChorusError, match="cannot be read"):
        Columns({"other": ((), np.dtype(np.uint8))}, 2, 5, tmp_path, existing=True)
    assert [path.name for path in tmp_path.iterdir()] == ["flags.bin"]


def test_the_disk_space_of_every_row_can_be_reserved(tmp_path):
    columns = Columns({"observation": ((84, 84), np.dtype(np.uint8))}, lanes=1, rows=100, directory=tmp_path)
    columns.arrays["observation"][0, 3] = 9
    columns.reserve()
    assert (tmp_path / "observation.bin").stat().st_blocks * 512 >= 100 * 84 * 84
    assert (columns.arrays["observation"][0, 3] == 9).all() and not columns.arrays["observation"][0, 4].any()


def test_a_row_of_atari_costs_at_most_7200_bytes():
    layout = RingLayout(1, 1_000_000, 250_000, (84, 84), np.dtype(np.uint8))
    assert row_bytes(layout.types()) <= 7_200


class Recorder:
    """Stands where a mapped file stands, and writes down what the system is told of it."""

    def __init__(self) -> None:
        self.pages: set[int] = set()

    def madvise(self, option: int, start: int, length: int) -> None:
        assert option == mmap.MADV_WILLNEED and start % mmap.PAGESIZE == 0
        self.pages |= set(range(start // mmap.PAGESIZE, -(-(start + length) // mmap.PAGESIZE)))


@pytest.mark.parametrize(
    ("lane", "first", "rows"),
    [
        (0, 0, [0, 1, 2, 3, 4]),
        (1, 57, [57, 58, 59, 60, 61]),  # position 57 of lane 1 has gone round once: row 50 + 7
        (0, 48, [48, 49, 0, 1, 2]),  # goes round
        (1, 95, [95, 96, 97, 98, 99]),  # the very end of the file
    ],
)
def test_exactly_the_pages_of_the_next_rows_are_prefetched(tmp_path, lane, first, rows):
    """Two lanes of 50 rows of 7,056 bytes, which are not aligned with pages."""
    columns = Columns({"observation": ((84, 84), np.dtype(np.uint8))}, lanes=2, rows=50, directory=tmp_path)
    columns._maps["observation"] = told = Recorder()
    columns.prefetch("observation", np.array([lane]), np.array([first]), count=5)
    bytes_read = np.concatenate([np.arange(row * 7_056, (row + 1) * 7_056) for row in rows])
    assert told.pages == set((bytes_read // mmap.PAGESIZE).tolist())


def test_small_rows_and_rows_in_memory_are_not_prefetched(tmp_path):
    columns = Columns({"observation": ((10, 10), np.dtype(bool))}, lanes=1, rows=50, directory=tmp_path)
    columns._maps["observation"] = told = Recorder()
    columns.prefetch("observation", np.array([0]), np.array([3]), count=5)
    assert not told.pages
    Columns({"observation": ((84, 84), np.dtype(np.uint8))}, 1, 50, None).prefetch(
        "observation", np.array([0]), np.array([3]), count=5
    )
