"""Rewrite the tables of docs/demo.md from the runs in results/demo: demos on seeds that no setting was chosen on.

python examples/demo_audit.py                           # the tables alone
python examples/demo_audit.py --block 800 --out RUNS    # train a whole demo on seeds from 800 on and publish it first
"""

import argparse
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chorus.analysis import markdown
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import make_context
from chorus.analysis.effects import VERDICT_WORDS, measure, minus
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import load_runs
from chorus.analysis.power import chance_to_exclude
from chorus.analysis.questions import main_questions
from chorus.analysis.report.tables import final_table
from chorus.analysis.results import Series
from chorus.analysis.shipped import Answer, find_answers
from chorus.analysis.wording import signed
from chorus.cli.grid import add_grid_options, run_jobs
from chorus.files import read_json, write_text
from chorus.runs.published import publish, published_runs
from chorus.scheduling.jobs import Job, jobs_for, jobs_of
from chorus.studies.demo import DEMO, FIRST_SEED, QUICK
from chorus.studies.study import Arm

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
RUNS, PAGE = RESULTS / "demo", ROOT / "docs" / "demo.md"
# Blocks begin at multiples of it.
BLOCK, FIRST_BLOCK = 100, 1_000
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
def presets() -> dict[str, str]:
    """The preset of each name."""
    return {name_and_seed(job.path)[0]: job.config.preset for job in jobs_of(DEMO, "laptop", RUNS)}


@cache
def former_seeds() -> dict[str, int]:
    """The same for the demo before this one."""
    return {name: FORMER[preset] for name, preset in presets().items()}


def name_and_seed(run: Path) -> tuple[str, int]:
    name, _, seed = run.name.rpartition("__s")
    return name, int(seed)


def runs_of_demos(folder: Path = RUNS) -> list[Path]:
    """All runs of the demo's configurations."""
    return [run for run in sorted(folder.glob("*__s*")) if name_and_seed(run)[0] in demo_seeds()]


def blocks(folder: Path = RUNS) -> dict[int, list[Path]]:
    """The runs of each block, by its first seed: those of a demo, or of the former one where some are missing.

    A block without all runs of either is still in progress and left out.
    """
    found = defaultdict[int, list[Path]](list)
    for run in runs_of_demos(folder):
        _, seed = name_and_seed(run)
        found[seed - seed % BLOCK].append(run)
    whole = {}
    for first, runs in sorted(found.items()):
        for numbers in (demo_seeds(), former_seeds()):
            if len(own := within(runs, numbers)) == sum(numbers.values()):
                whole[first] = own
                break
    return whole


def within(runs: Sequence[Path], seeds: Mapping[str, int]) -> list[Path]:
    """The runs of a block that belong to a demo with these numbers of seeds."""
    return [run for run in runs for name, seed in [name_and_seed(run)] if seed % BLOCK < seeds.get(name, 0)]


def is_whole(runs: Sequence[Path]) -> bool:
    """Whether a block has the seeds of the demo."""
    return len(runs) == sum(demo_seeds().values())


def whole_demos(folder: Path = RUNS) -> list[Path]:
    """The runs of whole demos. They were not used to choose the numbers of seeds."""
    return [run for runs in blocks(folder).values() if is_whole(runs) for run in runs]


def former_demos(folder: Path = RUNS) -> list[Path]:
    """All runs of the blocks with fewer seeds, those beyond a demo's numbers included. They chose the present ones."""
    firsts = {first for first, runs in blocks(folder).items() if not is_whole(runs)}
    return [run for run in runs_of_demos(folder) for _, seed in [name_and_seed(run)] if seed - seed % BLOCK in firsts]


def answers_of(runs: Sequence[Path]) -> dict[str, Answer]:
    """The answers of a demo's report, by their questions."""
    return {answer.question: answer for answer in find_answers(make_context(load_runs(runs)))}


def audit(folder: Path = RUNS) -> str:
    """The answers of each block and of all of them, then the final returns."""
    every = runs_of_demos(folder)
    pooled = answers_of(every)
    head = ["seeds from", "processor", "runs", *pooled]
    rows = []
    for first, runs in blocks(folder).items():
        own = answers_of(runs)
        what = str(len(runs)) if is_whole(runs) else f"{len(runs)}, fewer seeds"
        rows.append([str(first), processors(runs), what, *(cell(own[question]) for question in pooled)])
    rows.append(["all", "", str(len(every)), *map(cell, pooled.values())])
    chances = [chance_texts(runs) for runs in (every, whole_demos(folder))]
    range_head = [
        "",
        "one demo estimates, with 95 % probability",
        "chance that it is settled, by all runs",
        "by whole demos alone",
    ]
    ranges = [
        [question, text, *(own.get(question, "") for own in chances)] for question, text in expected(folder).items()
    ]
    ranges.append([ALL, "", *(own.get(ALL, "") for own in chances)])
    finals = []
    for row in final_table(make_context(load_runs(every)).results).rows:
        _, label, _, _, _, seeds, *_ = (part.text for part in row.cells)
        mean, low, high = (f"{part.sort:.1f}" for part in row.cells[2:5])
        finals.append([label, mean, f"{low} to {high}", seeds])
    final_head = ["", "mean final return", "95 % interval", "seeds"]
    number_head = ["seeds of Double DQN, Bootstrapped DQN and the tandem", "curse", "vote", "tandem", "all three"]
    numbers = list(by_numbers_of_seeds(folder))
    tables = {tuple(head): rows, tuple(range_head): ranges, tuple(final_head): finals, tuple(number_head): numbers}
    return "\n\n".join(markdown.table(*one) for one in tables.items() if one[1]) + "\n"


def by_numbers_of_seeds(folder: Path = RUNS) -> Iterator[list[str]]:
    """The chance that a demo settles each question, by the blocks with fewer seeds: with their numbers, and today's."""
    if runs := former_demos(folder):
        for numbers in (former_seeds(), demo_seeds()):
            found = chances_to_settle(comparisons(runs, numbers))
            seeds = ", ".join(str(numbers[name]) for name in presets())
            yield [seeds, *(f"{found[question]:.1%}".replace("%", " %") for question in (*SHOWN, ALL))]


def expected(folder: Path = RUNS) -> dict[str, str]:
    """Where the estimate of one more demo lies, by its question: its own error, and that of all runs together.

    Nothing is said without a whole demo, because the error of one is not known.
    """
    by_block = [answers_of(runs) for runs in blocks(folder).values() if is_whole(runs)]
    every = answers_of(runs_of_demos(folder))
    if not by_block:
        return dict.fromkeys(every, "")
    found = {}
    for question, pooled in every.items():
        own = [half_width(answers[question].estimate) for answers in by_block]
        half = math.hypot(half_width(pooled.estimate), sum(own) / len(own))
        found[question] = f"{signed(pooled.estimate.value - half)} to {signed(pooled.estimate.value + half)}"
    return found


def half_width(estimate: IntervalEstimate) -> float:
    return (estimate.high - estimate.low) / 2


def comparisons(runs: Sequence[Path], seeds: Mapping[str, int] | None = None) -> dict[str, Comparison]:
    """What decides each question in a demo with these numbers of seeds; runs of other configurations do not count."""
    seeds = demo_seeds() if seeds is None else seeds
    own = [run for run in runs if name_and_seed(run)[0] in seeds]
    if not own:
        return {}
    context = make_context(load_runs(own))
    (group,) = find_comparison_groups(context.results)
    (env,) = context.results.envs
    found = {}
    for question in main_questions(context.results, group, named=False):
        if finals := [context.results.final(term.series, env) for term in question.terms]:
            paths = [context.results.dataset.runs[final.runs[0]].path for final in finals]
            names = [name_and_seed(path)[0] for path in paths]
            sizes = [seeds[name] for name in names]
            found[question.text] = Comparison([final.values for final in finals], names, sizes)
    return found


def chances_to_settle(own: Mapping[str, Comparison]) -> dict[str, float]:
    """The chance that a demo settles each question, and all that it is there to show, if scores vary as these do.

    The questions are taken as independent.
    """
    found = {question: chance_to_settle(comparison) for question, comparison in own.items()}
    return found | ({ALL: math.prod(found[question] for question in SHOWN)} if found.keys() >= set(SHOWN) else {})


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
    """The same comparisons of resampled runs. Every comparison gets the same resample of an algorithm's runs."""

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
    text = markdown.fill(page.read_text(encoding="utf-8"), "audit", audit(folder))
    write_text(page, markdown.fill(text, "choice", choice(folder.parent)))


def choice(results: Path = RESULTS) -> str:
    """What shipped runs say of two other choices in the demo's setting: five members, and a passive share of 10 %."""
    five = {**QUICK, "members": 5}
    settings = [("bootstrapped-dqn", QUICK), ("bootstrapped-dqn", five), ("tandem", QUICK)]
    arms = tuple(Arm(preset, {name: (value,) for name, value in own.items()}) for preset, own in settings)
    part = replace(DEMO, arms=arms).with_seeds(1)
    names = {name_and_seed(job.path)[0] for job in jobs_of(part, "laptop", results)}
    context = make_context(load_runs([run for run in results.glob("*/*__s*") if name_and_seed(run)[0] in names]))
    by_size = {variant.members: variant for variant in context.results.dataset.variants if variant.role == "ensemble"}
    (tandem,) = (variant for variant in context.results.dataset.variants if variant.role == "tandem")
    pairs = {
        "members, N = 5 minus N = 10": [Series(by_size[members], "individual") for members in (5, 10)],
        "passive minus active member, with 10 % of the episodes": [
            Series(tandem, who) for who in ("passive", "active")
        ],
    }
    lines = []
    for what, (first, second) in pairs.items():
        effect = measure(context, minus(first, second))
        assert effect is not None
        found = effect.estimate
        lines.append(
            f"- {what}: {signed(found.value)} ({signed(found.low)} to {signed(found.high)}; {found.runs} seeds)\n"
        )
    return "".join(lines)


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
    last = FIRST_SEED - BLOCK
    if args.block is not None and (args.block % BLOCK or not FIRST_BLOCK <= args.block <= last):
        print(
            f"--block is {args.block}; blocks begin at multiples of {BLOCK} from {FIRST_BLOCK} to {last}: smaller "
            "seeds were used for trials, and larger ones are the demo's",
            file=sys.stderr,
        )
        return 2
    if args.block is not None and (code := train(args.block, args)):
        return code
    write()
    print(f"{PAGE.relative_to(ROOT)} is written from {RUNS.relative_to(ROOT)}")
    if args.block is not None:
        print("next: python examples/results_page.py; python examples/readme_results.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
