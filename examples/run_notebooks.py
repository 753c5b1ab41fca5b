"""Execute the notebooks of the documentation and store what they print and draw.

python examples/run_notebooks.py docs/tutorials/*.ipynb

Cells are executed in order, in one namespace and in a temporary folder, as Jupyter would: the last expression of a cell
is shown. Jupyter itself is not needed.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

Output = dict[str, Any]


def execute(notebook: dict[str, Any], name: str) -> None:
    """Run all code cells in the current folder and replace their outputs."""
    # A notebook shows a figure where it is drawn, and the same text is drawn the same way on every machine.
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = name
    scope: dict[str, Any] = {"__name__": "__notebook__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = run_cell("".join(cell["source"]), scope, f"{name}[{count}]")


def run_cell(source: str, scope: dict[str, Any], name: str) -> list[Output]:
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, name, "exec"), scope)
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope) if isinstance(last, ast.Expr) else None
    outputs: list[Output] = []
    if said.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": said.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True), **picture(value)}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    return outputs


def picture(value: Any) -> dict[str, list[str]]:
    if not hasattr(value, "savefig"):
        return {}
    file = io.StringIO()
    value.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return {"image/svg+xml": file.getvalue().splitlines(True)}


def main(paths: list[Path]) -> None:
    here = Path.cwd()
    for path in paths:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            execute(notebook, path.stem)
            os.chdir(here)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path}: executed")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
