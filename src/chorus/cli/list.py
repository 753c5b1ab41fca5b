"""`chorus list`: what there is."""

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.cli.list_runs import SORTS, print_runs
from chorus.wrapping import say, unbroken

if TYPE_CHECKING:
    from chorus.config.schema import Scale
    from chorus.scheduling.jobs import Known
    from chorus.studies.study import Study

TOPICS = ("presets", "components", "envs", "scales", "studies", "runs")


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.add_argument(
        "topic",
        nargs="?",
        default="presets",
        metavar="TOPIC",
        help="presets, components, envs, scales, studies, runs, or a set of environments such as atari55, one id per "
        "line (default: presets)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs"),
        metavar="DIR",
        help="runs, studies: the folder that holds run folders (default: runs)",
    )
    parser.add_argument(
        "--scale",
        choices=["smoke", "laptop", "paper"],
        default="laptop",
        help="studies: at which scale (default: laptop)",
    )
    parser.add_argument(
        "--device",
        choices=["cpu", "gpu"],
        help="studies: on which device their runs compute (default: gpu at the paper scale, else cpu)",
    )

    parser.add_argument(
        "--sort",
        choices=SORTS,
        default="name",
        help="runs: by which column, the best score, the most steps and the newest first (default: name)",
    )


def run(args: argparse.Namespace) -> int:
    from chorus.envs.registry import env_sets
    from chorus.errors import ChorusError, did_you_mean

    sets = env_sets()
    if args.topic in sets:
        print("\n".join(sets[args.topic]))
        return 0
    if args.topic not in TOPICS:
        raise ChorusError(f"'{args.topic}' cannot be listed{did_you_mean(args.topic, (*TOPICS, *sets))}")
    topics = {
        "presets": _presets,
        "components": _components,
        "envs": _envs,
        "scales": _scales,
        "studies": lambda: _studies(args),
        "runs": lambda: print_runs(args.out, args.sort),
    }
    topics[args.topic]()
    return 0


def _presets() -> None:
    import chorus.config.catalogue  # noqa: F401 - registers the presets
    from chorus.config.presets import PRESETS

    for preset in PRESETS.values():
        print_wrapped(f"{preset.name:<30} ", preset.summary, indent="")
    print("\nnext: chorus show cerl\n      chorus train cerl --env MinAtar/Breakout-v1 --scale smoke")


def _components() -> None:
    from chorus.components import INTERFACES, registered
    from chorus.config import options  # noqa: F401 - imports every interface
    from chorus.plugins import origin

    for interface, base in sorted(INTERFACES.items()):
        print(interface)
        for kind, component in registered(base).items():
            plugin = origin(component.__module__)
            print_wrapped(f"{kind:<20} ", first_sentence(component) + (f" [{plugin}]" if plugin else ""))
    print("\nnext: chorus show cross      what a component's options are")
    print("yours: docs/extending.md, and --plugin my_module")


def print_wrapped(head: str, text: str, indent: str = "  ") -> None:
    """A name and its explanation, wrapped to the terminal and indented."""
    width = max(60, shutil.get_terminal_size().columns)
    behind = " " * len(indent + head)
    wrapper = textwrap.TextWrapper(
        width, f"{indent}{head}", subsequent_indent=behind, break_long_words=False, break_on_hyphens=False
    )
    print(wrapper.fill(text))


def first_sentence(component: type) -> str:
    """What a class says it is, on one line."""
    text = " ".join((component.__doc__ or "").split("\n\n")[0].split())
    return text.split(" (equation")[0].rstrip(".")


def _envs() -> None:
    from chorus.envs.atari_games import games
    from chorus.envs.registry import JAX_ENVS, JAX_PATTERNS, env_sets, known_ids

    print("\n".join([*sorted(JAX_ENVS), *(known.forms for known in JAX_PATTERNS)]))
    say("\nAtari (ALE/Breakout-v5 and BreakoutNoFrameskip-v4 are one environment, the paper's protocol):")
    print("\n".join(games()))
    sets = ", ".join(f"{name} ({len(ids)})" for name, ids in env_sets().items())
    say(f"\nsets: {sets}; `chorus list atari55` prints the ids of one")
    registered = [name for name in known_ids() if name not in JAX_ENVS and name not in games()]
    usable = [name for name in registered if _runs_here(name)]
    print("\nregistered with Gymnasium, and tried here:")
    print("\n".join(usable))
    if refused := [name for name in registered if name not in usable]:
        say("\nnot here (`chorus train double-dqn --env ID` says why):")
        print_wrapped("", ", ".join(refused))
    say("\nyours: my_package:MyEnv-v0 imports my_package, which registers MyEnv-v0; my_package:MyEnv is a class of it")


def _runs_here(env_id: str) -> bool:
    """Whether the environment can be made and has the spaces that some preset needs."""
    from chorus.envs.registry import describe
    from chorus.errors import ChorusError

    try:
        describe(env_id)
    except ChorusError:
        return False
    return True


def _scales() -> None:
    from chorus.config.scales import SCALE_ROWS

    columns = ("family", "scale", "total", "iteration", "final", "envs", "buffer", "batch", "N", "network")
    print("{:<10}{:<8}{:>12}{:>11}{:>11}{:>6}{:>11}{:>7}{:>4}  {}".format(*columns))
    for (family, scale), row in SCALE_ROWS.items():
        layers = [f"conv {c.features} {c.kernel}x{c.kernel}/{c.stride}" for c in getattr(row.torso, "convolutions", ())]
        network = ", ".join([*layers, *(f"dense {width}" for width in getattr(row.torso, "dense", ()))])
        final = f"{row.final_evaluations} of {-(-row.total // row.iteration)}"
        print(
            f"{family:<10}{scale:<8}{row.total:>12,}{row.iteration:>11,}{final:>11}{row.slots:>6}{row.buffer:>11,}"
            f"{row.batch:>7}{row.members:>4}  {network}"
        )
    say(
        "\ntotal and iteration in agent steps; final: how many of a run's evaluations its final score is the mean of; "
        "`chorus show PRESET --env ID --scale S` prints a whole configuration"
    )


def _studies(args: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    from chorus.cli.grid import device_for, suggested

    lines = study_lines(args.out, args.scale, device_for(args))
    console = Console()
    if console.is_terminal:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in _STUDY_COLUMNS:
            table.add_column(column, overflow="fold")
        for line in lines:
            table.add_row(*line)
        console.print(table)
    else:
        rows = (_STUDY_COLUMNS, *lines)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    say(f"\n{_MEANINGS}")
    command = suggested("reproduce", "figure2", scale=args.scale, device=args.device, out=args.out)
    say(f"{args.scale} scale, runs in {args.out}; next: {unbroken(command)}")


def study_lines(out: Path, scale: "Scale", device: str | None) -> list[tuple[str, str, str, str, str]]:
    """Name, title, how many of its runs have ended and how many ship, and what is left to pay."""
    from chorus.analysis.shortened import shortened_studies
    from chorus.studies.table import STUDIES

    known: Known = {}
    found = []
    for study in STUDIES.values():
        ended, cost = standing(study, out, scale, device, known)
        shipped = covered(study, out, scale, known)
        if scale == "laptop" and study.name in shortened_studies():
            shipped = _SHORT if shipped == "-" else f"{shipped} + {_SHORT}"
        found.append((study.name, study.title, ended, shipped, cost.removesuffix(_ONE_CORE)))
    return found


_STUDY_COLUMNS = ("study", "what it shows", "runs ended", "shipped", "cost of the rest")
_SHORT, _ONE_CORE = "short", " of one core"
_MEANINGS = (
    f"cost of the rest: the time{_ONE_CORE}, unless it is in GPU-days. "
    "shipped: how many of a study's runs are in results/ of the source tree; "
    f"{_SHORT}: shortened runs, which judge its claims where whole ones cannot; docs/results.md says what they show. "
    "`chorus reproduce` makes its own runs."
)


def covered(study: "Study", out: Path, scale: "Scale", known: "Known") -> str:
    """How many of a study's runs ship: all, a number, or none."""
    from chorus.analysis.shipped import shipped
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import jobs_of

    if scale != "laptop":
        return "-"
    try:
        names = {job.name for part in study.parts for job in jobs_of(part, scale, out, None, known)}
    except ChorusError:
        return "-"
    there = len(names & shipped().names)
    return "all" if there == len(names) else str(there or "-")


def standing(
    study: "Study", out: Path, scale: "Scale", device: str | None, known: "Known", seeds: int | None = None
) -> tuple[str, str]:
    """How many of a study's runs have ended, and the cost of the others; `seeds` replaces the study's number."""
    from chorus.errors import ChorusError
    from chorus.runs.progress import duration
    from chorus.scheduling.costs import gpu_words, work_left
    from chorus.scheduling.jobs import jobs_of

    try:
        parts = study.parts if seeds is None else [part.with_seeds(seeds) for part in study.parts]
        jobs = [job for part in parts for job in jobs_of(part, scale, out, device, known)]
    except ChorusError as problem:
        return "-", str(problem)
    todo = [job for job in jobs if not job.has_ended]
    ended = f"{len(jobs) - len(todo)} of {len(jobs)}"
    if not todo:
        return ended, "nothing"
    work = work_left((job.config, job.saved_step() / job.total_steps) for job in todo)
    return ended, gpu_words(work.gpu_days) if work.gpu_days else f"{duration(work.core_seconds)}{_ONE_CORE}"
