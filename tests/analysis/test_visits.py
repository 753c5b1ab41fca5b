"""Maps of visits in the report: means over seeds, blocks of large maps, and files that cannot be read."""

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.context import make_context
from chorus.analysis.figures.maps import MOST_CELLS, in_blocks
from chorus.analysis.loading import load_runs
from chorus.analysis.report.document import render_report
from chorus.analysis.report.sections import make_sections
from chorus.analysis.visits import visit_maps
from chorus.runs.logs import read_visits

ENV = "DeepSea-5-v0"


def write_visits(run: Path, visits: object) -> None:
    (run / "visits.json").write_text(json.dumps({"iteration": 12, "step": 100, "visits": visits}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two seeds of one algorithm and one of another; visits along the diagonal, and down the first column."""
    for seed, count in ((0, 10), (1, 30)):
        run = SyntheticRun(preset="bootstrapped-dqn", env=ENV, seed=seed, iteration_steps=1_000).write(tmp_path)
        write_visits(run, (count * np.eye(5, dtype=int)).tolist())
    run = SyntheticRun(preset="double-dqn", env=ENV, iteration_steps=1_000).write(tmp_path)
    first = np.zeros((5, 5), int)
    first[:, 0] = 1
    write_visits(run, first.tolist())
    return tmp_path


def test_a_map_is_the_mean_over_seeds_of_each_algorithm(folder: Path) -> None:
    drawing = visit_maps(make_context(load_runs([folder])), ENV)
    assert drawing is not None
    found = {(series, row, column): visits for series, row, column, visits in drawing.rows}
    # (10 + 30) / 2 = 20 on the diagonal; 5 + 5 cells were visited at all.
    assert len(found) == 10
    assert {found["Bootstrapped DQN", cell, cell] for cell in range(5)} == {20.0}
    assert {found["Double DQN", row, 0] for row in range(5)} == {1.0}
    assert "1 to 2 seeds" in drawing.caption and "square stands for" not in drawing.caption


@pytest.mark.slow
def test_the_report_has_a_section_with_the_map(folder: Path) -> None:
    dataset = load_runs([folder])
    (section,) = [one for one in make_sections(make_context(dataset)) if one.name == "exploration"]
    assert [(panel.name, panel.env) for panel in section.panels] == [("visits-0", ENV)]
    page, _ = render_report(dataset)
    assert f"Visits in {ENV}" in page and "never visited" in page


def test_runs_without_a_map_have_no_such_section(tmp_path: Path) -> None:
    SyntheticRun(env=ENV, iteration_steps=1_000).write(tmp_path)
    assert "exploration" not in [section.name for section in make_sections(make_context(load_runs([tmp_path])))]


def test_large_maps_are_drawn_in_blocks_that_keep_every_visit() -> None:
    """100 cells to a side in blocks of 4 are 25; 27 in blocks of 2 are 14, the last one half empty."""
    visits = np.arange(10_000.0).reshape(100, 100)
    blocks, side = in_blocks(visits)
    assert (blocks.shape, side) == ((MOST_CELLS, MOST_CELLS), 4) and blocks.sum() == visits.sum()
    assert blocks[0, 1] == visits[:4, 4:8].sum()
    assert in_blocks(np.ones((27, 27)))[0].shape == (14, 14)
    assert in_blocks(np.ones((5, 5)))[1] == 1


@pytest.mark.parametrize(
    "visits", [[], [[]], [1, 2], [[1], [1, 2]], [[-1]], [["a"]], [[None]], [[1e300]], {"a": 1}, None, [[[1]]]]
)
def test_a_damaged_map_is_no_map(tmp_path: Path, visits: object) -> None:
    write_visits(tmp_path, visits)
    assert read_visits(tmp_path) is None
    (tmp_path / "visits.json").write_text('{"visits": [[1')
    assert read_visits(tmp_path) is None
