"""Imports point one way, from `ensemble` up to `cli`."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import chorus
import chorus.config.catalogue
from chorus.config.presets import PRESETS

ROOT = Path(chorus.__file__).parent

# Each package or module may import what stands on an earlier floor, and itself.
FLOORS = [
    {"spaces", "errors", "components", "files", "plugins", "randomness", "data"},
    {"ensemble", "envs"},
    {"networks"},
    {"replay"},
    {"agents"},
    {"training"},
    {"config"},
    {"runs"},
    {"player", "extend"},
    {"api"},
    {"studies"},
    {"scheduling"},
    {"analysis"},
    {"cli"},
    {"__main__"},
]
# Reads what runs wrote, and must do so where JAX is not even installed.
APART = {"analysis"}


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; write the whole name"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return frozenset(names)


def files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def place(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def floors_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("chorus.")}


ON_A_FLOOR = [path for path in files() if place(path) not in APART]


@pytest.mark.parametrize("path", ON_A_FLOOR, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_from_lower_floors_only(path):
    own = place(path)
    known = set().union(*FLOORS)
    assert own in known, f"{own} has no floor yet: add it to this test"
    height = next(i for i, floor in enumerate(FLOORS) if own in floor)
    allowed = {own, "ChorusError"}.union(*FLOORS[:height])
    # Modules on the ground floor may use one another; packages on one floor may not.
    allowed |= FLOORS[0] if height == 0 else set()
    assert floors_imported(path) <= allowed


def test_analysis_needs_neither_jax_nor_agents():
    waiting, seen = [path for path in files() if place(path) in APART], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imported(path):
            assert name.split(".")[0] not in ("jax", "flax", "optax", "pgx"), f"{path} imports {name}"
            tables = name.startswith("chorus.ensemble.value_map")  # pure numpy, drawn in the diagrams
            needless = name.startswith(("chorus.agents", "chorus.networks", "chorus.ensemble."))
            assert tables or not needless, f"{path}: {name}"
            target = ROOT.joinpath(*name.split(".")[1:])
            candidates = [target.with_suffix(".py"), target / "__init__.py"] if name.startswith("chorus.") else []
            waiting += [candidate for candidate in candidates if candidate.is_file()]


def test_help_does_not_wait_for_jax():
    program = "import sys, chorus.cli.main; sys.exit(any(name in sys.modules for name in ('jax', 'flax', 'gymnasium')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_only_presets_and_what_reads_them_know_algorithms_by_name():
    names = set(PRESETS)
    assert len(names) >= 23
    for path in files():
        if place(path) in ("ensemble", "networks", "agents", "replay", "training"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert not names & {text for text in strings if isinstance(text, str)}, path
