"""Diagrams show the tables they are given."""

from types import SimpleNamespace

import numpy as np
import pytest

from chorus.analysis import figures
from chorus.analysis.value_tables import data_shares, tables_from_config

LOOK = figures.Look(2)


def config(kind: str, members: int, **value_map: object) -> dict:
    return {"agent": {"members": members, "discount": 0.9, "value_map": {"kind": kind, **value_map}}}


def test_tables_are_the_value_map_that_ran() -> None:
    cross = tables_from_config(config("cross", 2))
    assert cross.policy.tolist() == [[0, 1], [0, 1]] and cross.main.tolist() == [0, 1]
    assert cross.source.tolist() == [[[0, 0], [1, 1]], [[0, 0], [1, 1]]]  # from k's own main head
    both = tables_from_config(config("beside", 2, first={"kind": "cross"}, second={"kind": "horizons"}))
    assert both.policy.shape == (2, 2 + 9)


@pytest.mark.parametrize(
    "broken",
    [{}, {"agent": 3}, config("unheard_of", 2), {"agent": {"value_map": {"kind": "cross"}, "discount": "high"}}],
)
def test_configurations_from_elsewhere_have_no_tables(broken: dict) -> None:
    assert tables_from_config(broken) is None


def test_shares_of_data() -> None:
    assert data_shares(config("members", 4)) == pytest.approx([0.25] * 4)
    tandem = config("members", 2) | {"acting": {"kind": "tandem", "passive_share": 0.1}}
    assert data_shares(tandem) == pytest.approx([0.9, 0.1])


def test_heads_and_targets_tabulate_every_head_and_draw_the_arrows_that_fit() -> None:
    drawing = figures.heads_and_targets(tables_from_config(config("cross", 3)), look=LOOK)
    assert len(drawing.rows) == 9
    assert drawing.rows[1] == (0, 1, 1, 1, 1, 0.9, 0)  # member 0's head 1: member 1's value, from head (1, 1)
    assert drawing.rows[4][-1] == 1  # member 1 acts with head 1
    assert len(drawing.figure.axes[0].patches) == 9
    large = figures.heads_and_targets(tables_from_config(config("cross", 10)), look=LOOK)
    assert len(large.rows) == 100 and "the first 4 of 10" in large.caption


def test_any_object_with_the_four_tables_will_do() -> None:
    tables = SimpleNamespace(
        policy=np.array([[0], [0]]),
        source=np.array([[[1, 0]], [[0, 0]]]),
        gamma=np.full((2, 1), 0.5),
        main=np.array([0, 0]),
    )
    drawing = figures.heads_and_targets(tables, look=LOOK)
    assert [row[3] for row in drawing.rows] == [1, 0]


def test_who_generates_and_one_family() -> None:
    drawing = figures.who_generates_who_learns(np.array([0.9, 0.1]), look=LOOK)
    assert drawing.rows == [(0, 0.9, 1.0), (1, 0.1, 1.0)]
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert {"90%", "10%", "generate", "replay", "learn"} <= set(texts)
    family = figures.one_family({"single": (LOOK, np.ones(1)), "ensemble": (LOOK, np.full(4, 0.25))})
    assert [row[2] for row in family.rows] == [1.0, 0.25, 0.25, 0.25, 0.25]
