"""Imports point one way, from `ensemble` up to `cli`."""

import ast
import re
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
    {"spaces", "errors", "components", "extras", "files", "plugins", "randomness", "data", "wrapping"},
    {"ensemble", "envs"},
    {"networks"},
    {"replay"},
    {"agents"},
    {"training"},
    {"config"},
    {"runs"},
    {"player", "extend", "arguments"},
    {"run_handle"},
    {"api"},
    {"studies"},
    {"scheduling"},
    {"analysis"},
    {"many_runs"},
    {"cli"},
    {"__main__"},
]
# Analysis reads files only and works where JAX is not installed: it may import itself and these modules.
ANALYSIS_MAY_IMPORT = {
    "chorus.components",
    "chorus.config.codec",
    "chorus.ensemble.value_map",
    "chorus.envs.atari_games",
    "chorus.errors",
    "chorus.files",
    "chorus.runs.logs",
    "chorus.runs.published",
    "chorus.runs.timings",
    "chorus.studies.panels",
}
# Modules outside analysis that must not import JAX either, directly or through others.
WITHOUT_JAX = {"chorus.envs", "chorus.runs", *ANALYSIS_MAY_IMPORT}
JAX = ("jax", "jaxlib", "flax", "optax", "pgx")


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


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_from_lower_floors_only(path):
    own = place(path)
    known = set().union(*FLOORS)
    assert own in known, f"{own} has no floor yet: add it to this test"
    height = next(i for i, floor in enumerate(FLOORS) if own in floor)
    allowed = {own, "ChorusError"}.union(*FLOORS[:height])
    # Modules on the ground floor may use one another; packages on one floor may not.
    allowed |= FLOORS[0] if height == 0 else set()
    assert floors_imported(path) <= allowed


def module_file(name: str) -> Path | None:
    """The file of a module of this package; None for anything else, such as a name imported from a module."""
    target = ROOT.joinpath(*name.split(".")[1:]) if name.startswith("chorus.") else None
    candidates = [target.with_suffix(".py"), target / "__init__.py"] if target else []
    return next((candidate for candidate in candidates if candidate.is_file()), None)


@pytest.mark.parametrize(
    "path", [path for path in files() if place(path) == "analysis"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_analysis_imports_only_what_it_may(path):
    modules = {name for name in imported(path) if module_file(name) and not name.startswith("chorus.analysis")}
    packages = {name.rpartition(".")[0] for name in ANALYSIS_MAY_IMPORT}
    assert modules - packages <= ANALYSIS_MAY_IMPORT


def test_analysis_and_what_it_imports_need_no_jax():
    waiting = [path for path in files() if place(path) == "analysis"]
    waiting += [path for name in WITHOUT_JAX if (path := module_file(name))]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imported(path):
            assert name.split(".")[0] not in JAX, f"{path} imports {name}"
            if target := module_file(name):
                waiting.append(target)


def test_help_does_not_wait_for_jax():
    program = "import sys, chorus.cli.main; sys.exit(any(name in sys.modules for name in ('jax', 'flax', 'gymnasium')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_only_presets_and_what_reads_them_know_algorithms_by_name():
    names = set(PRESETS)
    assert len(names) >= 23
    # Inside a sentence only names with a hyphen are unmistakable: `cerl` and `wide` are also words.
    hyphenated = "|".join(re.escape(name) for name in names if "-" in name)
    within = re.compile(rf"(?<![\w-])(?:{hyphenated})(?![\w-])")
    assert within.search("use sac, ensemble-sac or cerl") and not within.search("a non-ensemble-sac-like name")
    below_config = set().union(*FLOORS[: FLOORS.index({"config"})])
    for path in files():
        if place(path) in below_config:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            for text in (constant for constant in constants if isinstance(constant, str)):
                assert text not in names and not within.search(text), f"{path} names a preset: {text}"
