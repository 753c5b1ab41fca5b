"""Runs of another folder beside one's own: drawn and tabulated as published curves, with what they say themselves."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chorus.analysis.context import make_context
from chorus.analysis.exchange import load_curves
from chorus.analysis.loading import Dataset, load_runs, merge, select_runs
from chorus.analysis.shipped import Beside, find_answers
from chorus.analysis.variants import MAIN_ROLES, arm_of, is_default, section
from chorus.errors import ChorusError
from chorus.runs.logs import Run


def put_beside(dataset: Dataset, paths: Sequence[Path]) -> tuple[Dataset, Beside | None, list[str]]:
    """The dataset with curves from files and runs from folders, what the runs of the folders say, and a warning for
    each folder that lacks an environment."""
    folders = [path for path in paths if path.is_dir()]
    files = [path for path in paths if path not in folders]
    merged, answers, warnings = dataset, [], []
    for folder in folders:
        found = fitting_runs(load_runs([folder]), dataset, folder)
        if lacking := [env for env in dataset.envs if found is None or env not in found.envs]:
            warnings.append(
                f"Nothing of {folder} is shown beside your runs in {', '.join(lacking)}: it has no run there of a main "
                "algorithm with its default settings, nor of an algorithm as you have run it."
            )
        if found is not None:
            answers += list(find_answers(make_context(found)))
            merged = merge(merged, as_published(found, folder.resolve().name))
    if files:
        merged = merge(merged, load_curves(files, dataset.envs))
    if not answers:
        return merged, None, warnings
    names = ", ".join(map(str, folders))
    intro = (
        f"From the runs in {names}, not from yours. Differences in one environment are in returns, over several in "
        "scores. The figures draw both."
    )
    return merged, Beside(f"What {names} says", intro, tuple(answers)), warnings


def fitting_runs(found: Dataset, dataset: Dataset, folder: Path) -> Dataset | None:
    """Of a folder's runs those in a dataset's environments: the main algorithms of its groups, and what it has, too.

    None if there are none; it is an error if no environment is shared.
    """
    own, groups = {arm_of(run) for run in dataset.runs}, {_identity(run).get("group") for run in dataset.runs}

    def keep(run: Run) -> bool:
        identity = _identity(run)
        # The main algorithms with their default settings are shown whatever one has run.
        main = identity.get("role") in MAIN_ROLES and identity.get("group") in groups and is_default(run)
        return run.env in dataset.envs and (main or arm_of(run) in own)

    if not set(found.envs) & set(dataset.envs):
        raise ChorusError(
            f"--beside {folder} has no runs in {', '.join(dataset.envs)}, only in {', '.join(found.envs)}; leave it out"
        )
    return replace(select_runs(found, keep), unusable=()) if any(map(keep, found.runs)) else None


def as_published(found: Dataset, name: str) -> Dataset:
    """The same runs under names of their own and in the role of published curves, with which nothing is compared."""

    def renamed(run: Run) -> Run:
        identity = _identity(run)
        title = f"{identity.get('title') or run.preset}, {name}"
        meta = {**run.meta, "identity": {**identity, "title": title, "role": "published", "group": "published"}}
        return replace(run, preset=f"{run.preset}, {name}", meta=meta)

    # Selecting all of them finds the variants under their new names.
    return select_runs(replace(found, runs=tuple(map(renamed, found.runs))), lambda run: True)


def _identity(run: Run) -> dict[str, Any]:
    return section(run.meta, "identity")
