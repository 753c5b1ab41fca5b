"""The Python interface for many runs: `sweep`, `diagnose`, `report` and `claims`, as the commands of these names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chorus.analysis.diagnosis import write_diagnosis
from chorus.analysis.findings import Summary
from chorus.analysis.ledger import Entry, evaluate
from chorus.analysis.loading import has_runs, load_runs
from chorus.analysis.report import split_by_folder, write_dataset_report, write_folder_reports
from chorus.arguments import as_path, check_flags, plain, read_value, whole_number
from chorus.config.options import find_setting
from chorus.config.options import options as settings_of_runs
from chorus.config.schema import Hyperparameters, Scale
from chorus.envs.registry import describe, full_id
from chorus.errors import ChorusError, closest, did_you_mean
from chorus.plugins import load_plugins, load_recorded
from chorus.run_handle import Run
from chorus.runs.tracking import Tracking, read_tracking
from chorus.scheduling.engines import choose_engine, engine_options
from chorus.scheduling.engines import read_options as read_engine_options
from chorus.scheduling.grid import run_grid
from chorus.scheduling.jobs import Job, evaluated, jobs_for, jobs_of
from chorus.spaces import Discrete
from chorus.studies.diagnosis import SEEDS, Overrides, diagnosis
from chorus.studies.seeds import read_seeds
from chorus.studies.sweep import Sweep

Runs = str | Path | Iterable[str | Path]


def sweep(
    presets: str | Sequence[str],
    envs: str | Sequence[str],
    seeds: int | str | Sequence[int] = 1,
    *,
    scale: Scale | None = None,
    hyperparameters: Hyperparameters | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path = "runs",
    engine: str = "local",
    workers: int | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    track: bool | Mapping[str, Any] = False,
    plugins: Iterable[str] = (),
    **options: Any,
) -> list[Run]:
    """Run every combination of presets, environments, seeds and settings; returns the runs.

    Runs that have ended are skipped, and interrupted runs are resumed. `seeds` is a number of seeds, a text such as
    "0-9", or a list. `settings` maps options to a value or a list of values: `{"members": [5, 10]}`; for an option
    that is itself a list, give a list of lists. `options` are those of the engine, as on the command line. Runs that
    failed are named in the error that is raised in the end.
    """
    check_flags(quiet=quiet)
    where = _Where.of(engine, workers, options)
    tracking = read_tracking(tensorboard, track)
    load_plugins(plugins)
    grid = Sweep(
        presets=_names("presets", presets),
        envs=_names("envs", envs),
        seeds=read_seeds("seeds", plain(seeds)),
        scale=scale,
        hyperparameters=hyperparameters,
        settings=_values(settings or {}),
    )
    grid.left_out()
    jobs = jobs_for(grid.requests(), as_path("out", out))
    return _run(jobs, where, quiet, "sweep", tracking)


def diagnose(
    env: str,
    *,
    scale: Scale = "laptop",
    seeds: int | str | Sequence[int] | None = None,
    members: int | None = None,
    total_steps: float | None = None,
    max_episode_steps: int | None = None,
    out: str | Path = "runs",
    page: str | Path | None = None,
    engine: str = "local",
    workers: int | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    track: bool | Mapping[str, Any] = False,
    plugins: Iterable[str] = (),
    **options: Any,
) -> Summary:
    """Train what `chorus diagnose` trains, write its page, and return its findings and its advice.

    The page is `reports/diagnosis.html` in the folder of the runs, unless `page` names another file. `options` are
    those of the engine, as on the command line.
    """
    check_flags(quiet=quiet)
    where = _Where.of(engine, workers, options)
    tracking = read_tracking(tensorboard, track)
    load_plugins(plugins)
    if not isinstance(env, str):
        raise ChorusError(f"env is {env!r}; it must be an environment id, or module:Name of a class")
    if scale not in ("smoke", "laptop", "paper"):
        raise ChorusError(f"scale is {scale!r}; it must be one of smoke, laptop, paper")
    spec = describe(full_id(env))
    overrides = Overrides(
        members=None if members is None else whole_number("members", members, least=2),
        total_steps=None if total_steps is None else whole_number("total_steps", total_steps, least=1),
        max_episode_steps=None
        if max_episode_steps is None
        else whole_number("max_episode_steps", max_episode_steps, least=1),
    )
    chosen = read_seeds("seeds", SEEDS.at(scale) if seeds is None else plain(seeds))
    folder = as_path("out", out)
    jobs = jobs_of(diagnosis(spec, scale, chosen, overrides), scale, folder)
    _run(jobs, where, quiet, f"diagnosis of {spec.id}", tracking)
    target = folder / "reports" / "diagnosis.html" if page is None else as_path("page", page)
    actions = spec.actions.count if isinstance(spec.actions, Discrete) else None
    return write_diagnosis(evaluated(jobs), spec.id, target, actions=actions)


def report(runs: Runs, out: str | Path = "report.html", *, title: str | None = None, seed: int = 0) -> Summary:
    """Write the page of `chorus report` about runs or folders of runs; returns its findings.

    A folder with several folders of published runs has a page per folder, and `out` is an index of them.
    """
    paths = _paths(runs)
    dataset = load_runs(paths)
    recorded = (run.meta.get("plugins") for run in dataset.runs)
    load_recorded({name: None for names in recorded if isinstance(names, list) for name in names})
    root = whole_number("seed", seed, least=0)
    page = as_path("out", out)
    if folders := split_by_folder(dataset, paths):
        return write_folder_reports(dataset, folders, page, title=title, seed=root)
    return write_dataset_report(dataset, page, title=title, seed=root)


def claims(runs: Runs = "runs") -> tuple[Entry, ...]:
    """The paper's claims, and what these runs say about each."""
    paths = _paths(runs)
    return evaluate(load_runs(paths) if any(map(has_runs, paths)) else None)


@dataclass(frozen=True)
class _Where:
    """The engine that runs are to be executed on, checked before anything is planned."""

    engine: str
    workers: int | None
    options: dict[str, str | list[str]]

    @classmethod
    def of(cls, engine: Any, workers: Any, options: Mapping[str, Any]) -> "_Where":
        own = {option.key for _, option in engine_options()}
        for name in (name for name in options if name not in own):
            like = closest(name, {*own, *settings_of_runs()})
            hint = f"settings={{{like!r}: ...}}" if like not in own else like
            remedy = f"; did you mean {hint}?" if like else did_you_mean(name, own)
            raise ChorusError(f"'{name}' is no option of an engine{remedy}")
        count = None if workers is None else whole_number("workers", workers, least=1)
        texts = {name: _texts(value) for name, value in options.items() if value is not None}
        read_engine_options(engine, count, texts)
        return cls(engine, count, texts)


def _run(jobs: list[Job], where: _Where, quiet: bool, title: str, tracking: Tracking) -> list[Run]:
    tracking.check_packages()
    jobs = [replace(job, tracking=tracking) for job in jobs]
    todo = [job for job in jobs if not job.has_ended]
    if todo:
        engine = choose_engine(where.engine, todo, workers=where.workers, **where.options)
        result = run_grid(jobs, engine, quiet=quiet, title=title)
        if result.failures:
            said = "\n".join(f"{failure.job.name}: {failure.problem}" for failure in result.failures)
            raise ChorusError(
                f"{len(result.failures)} of {len(jobs)} runs failed; call it again to retry them:\n{said}"
            )
    return [Run(job.path) for job in jobs]


def _texts(value: Any) -> str | list[str]:
    """An option of an engine, as the command line would have it."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else str(value)


def _names(name: str, value: Any) -> list[str]:
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if not found or not all(isinstance(one, str) for one in found):
        raise ChorusError(f"{name} is {value!r}; it must be a name or a list of names")
    return found


def _paths(runs: Runs) -> list[Path]:
    several = runs if isinstance(runs, Iterable) and not isinstance(runs, str | Path) else [runs]
    found = [as_path("runs", one) for one in several]
    if not found:
        raise ChorusError("runs is empty; give a run, or a folder that holds runs")
    return found


def _values(settings: Any) -> dict[str, list[Any]]:
    """Every setting with its list of values."""
    if not isinstance(settings, Mapping):
        raise ChorusError(f"settings is {settings!r}; it must map options to values")
    found: dict[str, list[Any]] = {}
    for name, given in settings.items():
        values = plain(given)
        several = values if isinstance(values, list) else [values]
        if not several:
            raise ChorusError(f"settings has no value for {name}; give one or more, or leave it out")
        found[find_setting(str(name)).key] = [read_value(str(name), one) for one in several]
    return found
