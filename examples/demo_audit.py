"""Rewrite the tables of docs/demo.md from the runs in results/demo: demos on seeds that no setting was chosen on.

python examples/demo_audit.py                           # the tables alone
python examples/demo_audit.py --block 800 --out RUNS    # train a whole demo on seeds from 800 on and publish it first
"""

import argparse
import math
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chorus.analysis.context import make_context
from chorus.analysis.effects import VERDICT_WORDS
from chorus.analysis.loading import load_runs
from chorus.analysis.report.tables import final_table
from chorus.analysis.shipped import Answer, find_answers
from chorus.analysis.wording import signed
from chorus.cli.grid import add_grid_options, run_jobs
from chorus.files import read_json, write_text
from chorus.runs.published import publish, published_runs
from chorus.scheduling.jobs import Job, jobs_for
from chorus.studies.demo import DEMO

ROOT = Path(__file__).parent.parent
RUNS, PAGE = ROOT / "results" / "demo", ROOT / "docs" / "demo.md"
MARKED = re.compile(r"(<!-- audit:begin -->\n).*?(<!-- audit:end -->)", re.DOTALL)
# Blocks begin at multiples of it.
BLOCK = 100


def blocks(folder: Path = RUNS) -> dict[int, list[Path]]:
    """The runs of each block, by its first seed."""
    found = defaultdict[int, list[Path]](list)
    for run in sorted(folder.glob("*__s*")):
        seed = int(run.name.rpartition("__s")[2])
        found[seed - seed % BLOCK].append(run)
    return dict(sorted(found.items()))


def table(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest))


def answers_of(runs: Sequence[Path]) -> dict[str, Answer]:
    """The answers of a demo's report, by their questions."""
    return {answer.question: answer for answer in find_answers(make_context(load_runs(runs)))}


def audit(folder: Path = RUNS) -> str:
    """The answers of each block and of all of them, then the final returns."""
    by_block = blocks(folder)
    answers = [answers_of(runs) for runs in by_block.values()]
    rows = [["", *(f"seeds from {first}" for first in by_block), "all"]]
    rows += [["processor", *map(processors, by_block.values()), ""]]
    for question, pooled in answers_of([folder]).items():
        rows.append([question, *(cell(own[question]) for own in answers), cell(pooled)])
    ranges = [["", "one demo estimates, with 95 % probability"]]
    ranges += [[question, text] for question, text in expected(folder).items()]
    finals = [["", "mean final return", "95 % interval", "seeds"]]
    for row in final_table(make_context(load_runs([folder])).results).rows:
        _, label, _, _, _, seeds, *_ = (part.text for part in row.cells)
        mean, low, high = (f"{part.sort:.1f}" for part in row.cells[2:5])
        finals.append([label, mean, f"{low} to {high}", seeds])
    return "\n\n".join(map(table, (rows, ranges, finals))) + "\n"


def expected(folder: Path = RUNS) -> dict[str, str]:
    """Where the estimate of one more demo lies, by its question.

    One demo of B has B times the variance of all of them together, and theirs comes on top.
    """
    wider = math.sqrt(len(blocks(folder)) + 1)
    found = {}
    for question, answer in answers_of([folder]).items():
        half = wider * (answer.estimate.high - answer.estimate.low) / 2
        found[question] = f"{signed(answer.estimate.value - half)} to {signed(answer.estimate.value + half)}"
    return found


def processors(runs: Sequence[Path]) -> str:
    """The kinds of processors that these runs were trained on."""
    return "; ".join(sorted({read_json(run / "meta.json")["processor"] for run in runs}))


def cell(answer: Answer) -> str:
    found = answer.estimate
    return f"{VERDICT_WORDS[answer.verdict]}: {signed(found.value)} ({signed(found.low)} to {signed(found.high)})"


def write(page: Path = PAGE, folder: Path = RUNS) -> None:
    text, count = MARKED.subn(lambda found: found[1] + audit(folder) + found[2], page.read_text(encoding="utf-8"))
    assert count == 1, f"{page} has no place for the tables"
    write_text(page, text)


def train(first: int, args: argparse.Namespace) -> int:
    """Train what is not published of a demo with the seeds of a block, and publish each run that ends; the exit code."""
    requests = [replace(request, seed=first + request.seed) for request in DEMO.requests("laptop", args.device)]
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
