"""Rewrite the tables of docs/demo.md from the runs in results/demo: demos on seeds that no setting was chosen on.

python examples/demo_audit.py                           # the tables alone
python examples/demo_audit.py --block 800 --out RUNS    # train a whole demo on seeds from 800 on and publish it first
"""

import argparse
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chorus.analysis import markdown
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import make_context
from chorus.analysis.effects import VERDICT_WORDS
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import load_runs
from chorus.analysis.power import chance_to_exclude
from chorus.analysis.questions import main_questions
from chorus.analysis.report.tables import final_table
from chorus.analysis.shipped import Answer, find_answers
from chorus.analysis.wording import signed
from chorus.cli.grid import add_grid_options, run_jobs
from chorus.files import read_json, write_text
from chorus.runs.published import publish, published_runs
from chorus.scheduling.jobs import Job, jobs_for, jobs_of
from chorus.studies.demo import DEMO, FIRST_SEED

ROOT = Path(__file__).parent.parent
RUNS, PAGE = ROOT / "results" / "demo", ROOT / "docs" / "demo.md"
# Blocks begin at multiples of it.
BLOCK = 100
# Seeds by preset of the demo with which the first blocks were trained.
FORMER = {"double-dqn": 12, "bootstrapped-dqn": 6, "tandem": 7}
# What the demo is there to show.
SHOWN = (
    "Is there a curse of diversity?",
    "Does acting together help?",
    "Does a passive member fall behind on the same data?",
)
ALL = "curse, vote and tandem"


class Comparison(NamedTuple):
    """Final scores of two series, the algorithms that they belong to, and how many seeds a demo has of them."""

    scores: Sequence[np.ndarray]
    names: Sequence[str]
    sizes: Sequence[int]

    @property
    def paired(self) -> bool:
        """Two policies of the same runs."""
        return len(set(self.names)) == 1


@cache
def demo_seeds() -> dict[str, int]:
    """How many seeds one demo has, by the name that they share."""
    return Counter(name_and_seed(job.path)[0] for job in jobs_of(DEMO, "laptop", RUNS))


@cache
def former_seeds() -> dict[str, int]:
    """The same for the demo before this one."""
    return {name_and_seed(job.path)[0]: FORMER[job.config.preset] for job in jobs_of(DEMO, "laptop", RUNS)}


def name_and_seed(run: Path) -> tuple[str, int]:
    name, _, seed = run.name.rpartition("__s")
    return name, int(seed)


def blocks(folder: Path = RUNS) -> dict[int, list[Path]]:
    """The runs of each block, by its first seed: those of a demo, or of the former one where some are missing."""
    found = defaultdict[int, list[Path]](list)
    for run in sorted(folder.glob("*__s*")):
        _, seed = name_and_seed(run)
        found[seed - seed % BLOCK].append(run)
    demos = {first: within(runs, demo_seeds()) for first, runs in sorted(found.items())}
    return {first: runs if is_whole(runs) else within(runs, former_seeds()) for first, runs in demos.items()}


def within(runs: Sequence[Path], seeds: Mapping[str, int]) -> list[Path]:
    """The runs of a block that a demo with these numbers of seeds has."""
    return [run for run in runs for name, seed in [name_and_seed(run)] if seed % BLOCK < seeds[name]]


def is_whole(runs: Sequence[Path]) -> bool:
    """Whether a block has the seeds of the demo."""
    return len(runs) == sum(demo_seeds().values())


def whole_demos(folder: Path = RUNS) -> list[Path]:
    """The runs of whole demos, by which no number of seeds was set."""
    return [run for runs in blocks(folder).values() if is_whole(runs) for run in runs]


def answers_of(runs: Sequence[Path]) -> dict[str, Answer]:
    """The answers of a demo's report, by their questions."""
    return {answer.question: answer for answer in find_answers(make_context(load_runs(runs)))}


def audit(folder: Path = RUNS) -> str:
    """The answers of each block and of all of them, then the final returns."""
    pooled = answers_of([folder])
    head = ["seeds from", "processor", "runs", *pooled]
    rows = []
    for first, runs in blocks(folder).items():
        own = answers_of(runs)
        what = str(len(runs)) if is_whole(runs) else f"{len(runs)}, fewer seeds"
        rows.append([str(first), processors(runs), what, *(cell(own[question]) for question in pooled)])
    rows.append(["all", "", str(len(list(folder.glob("*__s*")))), *map(cell, pooled.values())])
    chances = [chance_texts(runs) for runs in ([folder], whole_demos(folder))]
    range_head = [
        "",
        "one demo estimates, with 95 % probability",
        "chance that it is settled, by all runs",
        "by whole demos alone",
    ]
    ranges = [[question, text, *(own[question] for own in chances)] for question, text in expected(folder).items()]
    ranges.append(["curse, vote and tandem", "", *(own[ALL] for own in chances)])
    finals = []
    for row in final_table(make_context(load_runs([folder])).results).rows:
        _, label, _, _, _, seeds, *_ = (part.text for part in row.cells)
        mean, low, high = (f"{part.sort:.1f}" for part in row.cells[2:5])
        finals.append([label, mean, f"{low} to {high}", seeds])
    final_head = ["", "mean final return", "95 % interval", "seeds"]
    tables = {tuple(head): rows, tuple(range_head): ranges, tuple(final_head): finals}
    return "\n\n".join(markdown.table(*one) for one in tables.items()) + "\n"


def expected(folder: Path = RUNS) -> dict[str, str]:
    """Where the estimate of one more demo lies, by its question: its own error, and that of all runs together."""
    by_block = [answers_of(runs) for runs in blocks(folder).values() if is_whole(runs)]
    found = {}
    for question, pooled in answers_of([folder]).items():
        own = [half_width(answers[question].estimate) for answers in by_block]
        half = math.hypot(half_width(pooled.estimate), sum(own) / len(own))
        found[question] = f"{signed(pooled.estimate.value - half)} to {signed(pooled.estimate.value + half)}"
    return found


def half_width(estimate: IntervalEstimate) -> float:
    return (estimate.high - estimate.low) / 2


def comparisons(runs: Sequence[Path]) -> dict[str, Comparison]:
    """What decides each question."""
    context = make_context(load_runs(runs))
    (group,) = find_comparison_groups(context.results)
    (env,) = context.results.envs
    found = {}
    for question in main_questions(context.results, group, named=False):
        if finals := [context.results.final(term.series, env) for term in question.terms]:
            paths = [context.results.dataset.runs[final.runs[0]].path for final in finals]
            names = [name_and_seed(path)[0] for path in paths]
            sizes = [demo_seeds()[name] for name in names]
            found[question.text] = Comparison([final.values for final in finals], names, sizes)
    return found


def chances_to_settle(own: Mapping[str, Comparison]) -> dict[str, float]:
    """The chance that a demo settles each question, and all that it is there to show, if scores vary as these do.

    The questions are taken as independent.
    """
    found = {question: chance_to_settle(comparison) for question, comparison in own.items()}
    return found | {ALL: math.prod(found[question] for question in SHOWN)}


def chance_to_settle(own: Comparison) -> float:
    """For a difference of means, paired or by Welch's test."""
    scores, sizes = own.scores, own.sizes
    away = abs(scores[0].mean() - scores[1].mean())
    if own.paired:
        scores, sizes = [scores[0] - scores[1]], sizes[:1]
    parts = [values.var(ddof=1) / size for values, size in zip(scores, sizes, strict=True)]
    freedom = sum(parts) ** 2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    return chance_to_exclude(away, math.sqrt(sum(parts)), freedom)


def chance_texts(runs: Sequence[Path], draws: int = 200) -> dict[str, str]:
    """Every chance with the range that 95 % of its values have if the runs are drawn again from themselves."""
    own = comparisons(runs)
    drawn = [chances_to_settle(drawn_again(own, number)) for number in range(draws)]
    found = {}
    for question, chance in chances_to_settle(own).items():
        low, high = np.percentile([one[question] for one in drawn], (2.5, 97.5))
        found[question] = f"{percent(chance)} ({100 * low:.0f} to {100 * high:.0f})"
    return found


def drawn_again(own: Mapping[str, Comparison], number: int) -> dict[str, Comparison]:
    """The same comparisons of runs that are drawn with replacement, the same ones of an algorithm for all of them."""

    def draw(values: np.ndarray, name: str) -> np.ndarray:
        rng = np.random.default_rng([number, *name.encode()])
        return values[rng.integers(len(values), size=len(values))]

    return {
        question: one._replace(scores=[draw(*pair) for pair in zip(one.scores, one.names, strict=True)])
        for question, one in own.items()
    }


def percent(chance: float) -> str:
    return f"{chance:.0%}".replace("%", " %")


def processors(runs: Sequence[Path]) -> str:
    """The kinds of processors that these runs were trained on."""
    return "; ".join(sorted({read_json(run / "meta.json")["processor"] for run in runs}))


def cell(answer: Answer) -> str:
    found = answer.estimate
    return f"{VERDICT_WORDS[answer.verdict]}: {signed(found.value)} ({signed(found.low)} to {signed(found.high)})"


def write(page: Path = PAGE, folder: Path = RUNS) -> None:
    write_text(page, markdown.fill(page.read_text(encoding="utf-8"), "audit", audit(folder)))


def train(first: int, args: argparse.Namespace) -> int:
    """Train and publish the runs of a demo with the seeds of a block that are not published yet; the exit code."""
    requests = [
        replace(request, seed=first + request.seed - FIRST_SEED) for request in DEMO.requests("laptop", args.device)
    ]
    done = published_runs(RUNS)
    jobs = [job for job in jobs_for(requests, args.out) if job.name not in done]

    def on_end(job: Job) -> None:
        publish(job.path, RUNS)

    return run_jobs(args, jobs, f"demo from seed {first}", on_end).exit_code


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--block", type=int, metavar="SEED", help=f"train first, from this multiple of {BLOCK} on")
    add_grid_options(parser)
    args = parser.parse_args(given)
    if args.block is not None and args.block % BLOCK:
        parser.error(f"--block is {args.block}; blocks begin at multiples of {BLOCK}")
    if args.block is not None and (code := train(args.block, args)):
        return code
    write()
    print(f"{PAGE.relative_to(ROOT)} is written from {RUNS.relative_to(ROOT)}")
    if args.block is not None:
        print("next: python examples/results_page.py; python examples/readme_results.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
