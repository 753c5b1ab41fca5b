"""Arrays behind the ring."""

import numpy as np
import pytest

from chorus.errors import ChorusError
from chorus.replay.columns import Columns, ring_slices, row_bytes
from chorus.replay.ring import RingLayout


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
    span = np.array([3, 0]), np.array([7, 2])
    before = columns.digest(*span)
    columns.arrays["flags"][0, 2] = 1  # position 2 or 7: outside
    assert columns.digest(*span) == before
    columns.arrays["flags"][0, 1] = 1  # position 6: inside
    assert columns.digest(*span) != before


def test_files_are_as_long_as_their_arrays(tmp_path):
    types = {"observation": ((2,), np.dtype(np.float32)), "flags": ((), np.dtype(np.uint8))}
    Columns(types, lanes=2, rows=5, directory=tmp_path)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"observation.bin": 80, "flags.bin": 10}
    assert row_bytes(types) == 9


def test_a_row_of_atari_costs_at_most_7200_bytes():
    layout = RingLayout(1, 1_000_000, 250_000, (84, 84), np.dtype(np.uint8))
    assert row_bytes(layout.types()) <= 7_200


@pytest.mark.parametrize("mapped", [True, False])
def test_any_rows_can_be_announced_and_none_changes(tmp_path, mapped):
    """Rows of 7,056 bytes are not aligned with pages; the last run goes beyond the end of the file."""
    types = {"observation": ((84, 84), np.dtype(np.uint8))}
    columns = Columns(types, lanes=2, rows=50, directory=tmp_path if mapped else None)
    rows = columns.arrays["observation"].reshape(100, 84, 84)
    rows[:] = np.arange(100)[:, None, None]
    before = rows.copy()
    columns.announce("observation", np.array([0, 1, 47, 48, 99]), count=5)
    np.testing.assert_array_equal(rows, before)
