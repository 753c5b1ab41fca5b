"""Diagrams show the value maps and data shares of the configurations that ran."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis import figures
from chorus.analysis.loading import load_runs
from chorus.analysis.report.diagrams import read_value_map
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


def test_an_ensemble_that_no_diagram_can_show_has_no_tables() -> None:
    assert read_value_map(config("cross"), 10**12) is None
    assert read_value_map(config("beside", first={"kind": "members"}, second={"kind": "members"}), 101) is None


def test_shares_of_data(tmp_path: Path) -> None:
    SyntheticRun(preset="bootstrapped-dqn", options={"members": 4}).write(tmp_path)
    SyntheticRun(preset="tandem").write(tmp_path)
    ensemble, tandem = load_runs([tmp_path]).variants
    assert ensemble.identity.shares == pytest.approx([0.25] * 4)
    assert tandem.identity.shares == pytest.approx([0.9, 0.1])


def test_heads_and_targets_tabulate_every_head_and_draw_the_arrows_that_fit() -> None:
    maps = {"plain": (STYLE, value_map("members", 3)), "CERL": (STYLE, value_map("cross", 3))}
    drawing = figures.heads_and_targets(maps)
    plain, cerl = drawing.figure.axes
    assert [axes.get_title("left") for axes in (plain, cerl)] == ["plain", "CERL"]
    assert len(drawing.rows) == 3 + 9
    assert drawing.rows[3 + 1] == ("CERL", 0, 1, 1, 1, 1, 0.9, 0)  # member 0's head 1: member 1's value, from (1, 1)
    assert drawing.rows[3 + 4][-1] == 1  # member 1 acts with head 1
    assert (len(plain.patches), len(cerl.patches)) == (3, 9)
    dashed = [arrow for arrow in cerl.patches if arrow.get_linestyle() not in ("solid", "-")]
    assert len(dashed) == 6 and "a dashed arrow an auxiliary loss" in drawing.caption
    large = figures.heads_and_targets({"CERL": (STYLE, value_map("cross", 10))})
    assert len(large.rows) == 100 and "the first 4 of 10" in large.caption
    alone = figures.heads_and_targets({"plain": maps["plain"]})
    assert "auxiliary" not in alone.caption  # captions promise only what is drawn


def test_who_generates_shows_the_single_agent_beside_the_ensemble() -> None:
    parts = {"single": (STYLE, np.ones(1)), "tandem": (STYLE, np.array([0.9, 0.1]))}
    drawing = figures.who_generates_who_learns(parts)
    assert drawing.rows == [("single", 0, 1.0, 1.0), ("tandem", 0, 0.9, 1.0), ("tandem", 1, 0.1, 1.0)]
    single, tandem = ({text.get_text() for text in axes.texts} for axes in drawing.figure.axes)
    assert {"100%", "generate", "replay", "learn"} <= single and {"90%", "10%"} <= tandem
    assert "A single agent generates all" in drawing.caption
    assert "single agent" not in figures.who_generates_who_learns({"tandem": parts["tandem"]}).caption


def test_data_shares_by_algorithm() -> None:
    shares = figures.data_shares_by_algorithm({"single": (STYLE, np.ones(1)), "ensemble": (STYLE, np.full(4, 0.25))})
    assert [row[2] for row in shares.rows] == [1.0, 0.25, 0.25, 0.25, 0.25]
