"""The notebooks of the tutorials run from top to bottom, and show what they last printed and drew."""

import json
from pathlib import Path

import pytest

from builders import load_example

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
runner = load_example("run_notebooks")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_their_output(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown" and "".join(cells[0]["source"]).startswith("# ")
    assert any(cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code")


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kinds of output stay the same; numbers may differ on another machine."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    before = kinds(notebook)
    runner.execute(notebook, path.stem)
    assert kinds(notebook) == before
    assert list((tmp_path / "runs").iterdir())


def kinds(notebook: dict) -> list[list[str]]:
    return [[output["output_type"] for output in cell.get("outputs", ())] for cell in notebook["cells"]]


def test_the_value_of_a_cells_last_line_is_shown() -> None:
    scope: dict = {}
    assert runner.run_cell("x = 2\nprint('said')\nx * 3", scope, "cell") == [
        {"output_type": "stream", "name": "stdout", "text": ["said\n"]},
        {"output_type": "display_data", "metadata": {}, "data": {"text/plain": ["6"]}},
    ]
    assert runner.run_cell("x = 4", scope, "cell") == [] and scope["x"] == 4
