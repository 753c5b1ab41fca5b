"""The page about exploration is what its script writes from the runs that ship."""

import re
import shutil

import pytest

from builders import load_example

page = load_example("exploration_page")


@pytest.mark.slow
def test_the_page_and_its_figures_come_from_the_runs(tmp_path):
    written = tmp_path / "exploration.md"
    shutil.copy(page.PAGE, written)
    page.write(written, tmp_path)
    assert written.read_text() == page.PAGE.read_text(), "run `python examples/exploration_page.py`"
    for name in ("exploration", "exploration-visits"):
        # Not byte for byte: fonts and versions of matplotlib differ between machines.
        drawn, shipped = ((folder / f"{name}.svg").read_text() for folder in (tmp_path, page.FIGURES))
        assert re.findall(r"<!-- (.*?) -->", drawn) == re.findall(r"<!-- (.*?) -->", shipped)
