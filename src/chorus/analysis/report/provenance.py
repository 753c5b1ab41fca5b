"""Where a page comes from: the paper, the commands that made its runs, and what they cost; and the words it uses."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chorus.analysis.context import AnalysisContext
from chorus.analysis.loading import Dataset
from chorus.analysis.report.tables import Row, Table, number_cell, text_cell
from chorus.analysis.results import Series
from chorus.analysis.wording import plural
from chorus.components import short_number
from chorus.runs.logs import Run, printable
from chorus.runs.timings import recorded_seconds

PAPER = "Lin, D'Oro, Nikishin and Courville: The Curse of Diversity in Ensemble-Based Exploration (ICLR 2024)"
# What `python -m chorus` and the installed command are called in `sys.argv`.
_COMMANDS = ("__main__.py", "chorus")


@dataclass(frozen=True)
class Term:
    """A word of the page and its meaning."""

    word: str
    meaning: str


INDIVIDUAL = Term("indiv.", "one member, chosen at random for each episode, acts alone")
VOTE = Term("agg.", "all members act together: they vote on each action")
MEAN_ACTION = Term("agg.", "all members act together, with the mean of their actions")
EITHER = Term("agg.", "all members act together, by a vote or by the mean of their actions")
TANDEM = Term(
    "p%-tandem",
    "two members with one replay; the passive one generates p % of the episodes, the active one all others, and both "
    "learn from all of them",
)
CERL = Term("CERL", "each member also learns the values of all other members' policies, with auxiliary heads")
MODES = Term("modes", "actions are the modes of the members' policies instead of samples")


def terms(series: Sequence[Series]) -> list[Term]:
    """The words that the labels of these series use."""
    variants = {s.variant for s in series}
    together = {s.variant.settings.get("agent.kind") == "sac_learner" for s in series if s.policy == "aggregate"}
    aggregate = EITHER if len(together) > 1 else MEAN_ACTION if True in together else VOTE
    used = {
        INDIVIDUAL: any(s.policy == "individual" and s.variant.members > 1 for s in series),
        aggregate: bool(together),
        TANDEM: any(s.policy in ("active", "passive") for s in series),
        CERL: any(v.role == "cerl" for v in variants),
        MODES: any(s.policy.endswith("-mode") for s in series),
    }
    return [term for term, present in used.items() if present]


def extent(context: AnalysisContext) -> str:
    """`20 runs of 4 algorithms in MinAtar/Breakout-v1, 5 seeds each`, or `7 runs of yours (...), 40 beside them`."""
    dataset = context.results.dataset
    own, variants = (dataset.own_runs, dataset.own_variants) if dataset.own_runs else (dataset.runs, dataset.variants)
    envs = sorted({run.env for run in own})
    where = printable(envs[0]) if len(envs) == 1 else f"{len(envs)} environments"
    series = [s for s in context.results.series if s.variant in variants]
    basis = f"{plural(len(variants), 'algorithm')} in {where}, {context.seeds(series, envs)} each"
    if len(own) == len(dataset.runs):
        return f"{plural(len(own), 'run')} of {basis}"
    return f"{plural(len(own), 'run')} of yours ({basis}), {len(dataset.runs) - len(own)} beside them"


def command_table(dataset: Dataset) -> Table:
    """The distinct commands that made one's own runs, with the number of runs of each."""
    counts = Counter(text for run in dataset.own_runs if (text := command_of(run)))
    rows = [Row((text_cell(text), number_cell(count, str(count)))) for text, count in counts.items()]
    return Table("commands-table", ("Command", "Runs"), tuple(rows))


def command_of(run: Run) -> str:
    """The command line that started a run, as one types it; empty if it was not recorded."""
    words = run.meta.get("command")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return ""
    first = "chorus" if Path(words[0]).name in _COMMANDS else words[0]
    return printable(shlex.join([first, *words[1:]]))


def cost(dataset: Dataset) -> str:
    """`10M agent steps, 3.2 hours`: the sum over one's own runs; empty without any."""
    own = dataset.own_runs
    if not own:
        return ""
    steps = f"{short_number(sum(run.last_step for run in own))} agent steps"
    seconds = [found for run in own if (found := recorded_seconds(run.path)) is not None]
    if not seconds:
        return f"{steps}; no timings were recorded"
    part = "" if len(seconds) == len(own) else f", recorded for {len(seconds)} of {plural(len(own), 'run')}"
    return f"{steps}, {duration(sum(seconds))} (sum over runs{part})"


def duration(seconds: float) -> str:
    """`45 seconds`, `12 minutes`, `3.2 hours`."""
    if seconds < 90:
        return plural(round(seconds), "second")
    if seconds < 90 * 60:
        return plural(round(seconds / 60), "minute")
    return f"{seconds / 3600:,.1f} hours"
