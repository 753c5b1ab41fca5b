"""Diagrams show the value maps and data shares of the configurations that ran."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis import figures
from chorus.analysis.loading import load_runs
from chorus.analysis.report.sections import read_value_map
from chorus.ensemble.value_map import ValueMap

STYLE = figures.LineStyle(2)


def value_map(kind: str, members: int, **fields: object) -> ValueMap:
    found = read_value_map(config(kind, **fields), members)
    assert found is not None
    return found


def config(kind: str, **fields: object) -> dict:
    return {"agent": {"discount": 0.9, "value_map": {"kind": kind, **fields}}}


def test_tables_are_the_value_map_that_ran() -> None:
    cross = value_map("cross", 2)
    assert cross.policy.tolist() == [[0, 1], [0, 1]] and cross.main.tolist() == [0, 1]
    assert cross.source.tolist() == [[[0, 0], [1, 1]], [[0, 0], [1, 1]]]  # from k's own main head
    both = value_map("beside", 2, first={"kind": "cross"}, second={"kind": "horizons"})
    assert both.policy.shape == (2, 2 + 9)


@pytest.mark.parametrize(
    "broken",
    [{}, {"agent": 3}, config("unheard_of"), {"agent": {"value_map": {"kind": "cross"}, "discount": "high"}}],
)
def test_configurations_from_elsewhere_have_no_tables(broken: dict) -> None:
    assert read_value_map(broken, 2) is None


def test_shares_of_data(tmp_path: Path) -> None:
    SyntheticRun(preset="bootstrapped-dqn", options={"members": 4}).write(tmp_path)
    SyntheticRun(preset="tandem").write(tmp_path)
    ensemble, tandem = load_runs([tmp_path]).variants
    assert ensemble.identity.shares == pytest.approx([0.25] * 4)
    assert tandem.identity.shares == pytest.approx([0.9, 0.1])


def test_heads_and_targets_tabulate_every_head_and_draw_the_arrows_that_fit() -> None:
    drawing = figures.heads_and_targets(value_map("cross", 3), style=STYLE)
    assert len(drawing.rows) == 9
    assert drawing.rows[1] == (0, 1, 1, 1, 1, 0.9, 0)  # member 0's head 1: member 1's value, from head (1, 1)
    assert drawing.rows[4][-1] == 1  # member 1 acts with head 1
    assert len(drawing.figure.axes[0].patches) == 9
    large = figures.heads_and_targets(value_map("cross", 10), style=STYLE)
    assert len(large.rows) == 100 and "the first 4 of 10" in large.caption


def test_who_generates_and_data_shares_by_algorithm() -> None:
    drawing = figures.who_generates_who_learns(np.array([0.9, 0.1]), style=STYLE)
    assert drawing.rows == [(0, 0.9, 1.0), (1, 0.1, 1.0)]
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert {"90%", "10%", "generate", "replay", "learn"} <= set(texts)
    shares = figures.data_shares_by_algorithm({"single": (STYLE, np.ones(1)), "ensemble": (STYLE, np.full(4, 0.25))})
    assert [row[2] for row in shares.rows] == [1.0, 0.25, 0.25, 0.25, 0.25]
