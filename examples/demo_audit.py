"""Rewrite the tables of docs/demo.md from the runs in results/demo: the demo on blocks of seeds that chose nothing.

python examples/demo_audit.py                           # the tables alone
python examples/demo_audit.py --block 800 --out RUNS    # train a whole demo on seeds from 800 on and publish it first
"""

import argparse
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
from chorus.runs.published import publish
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


def audit(folder: Path = RUNS) -> str:
    """The answers of each block, then the final returns of all of them."""
    by_block = blocks(folder)
    answers = [
        {answer.question: answer for answer in find_answers(make_context(load_runs(runs)))}
        for runs in by_block.values()
    ]
    rows = [["difference in returns", *(f"seeds from {first}" for first in by_block)]]
    rows += [["processor", *map(processors, by_block.values())]]
    rows += [[question, *(cell(own[question]) for own in answers)] for question in answers[0]]
    finals = [["", "mean final return", "95 % interval", "seeds"]]
    for row in final_table(make_context(load_runs([folder])).results).rows:
        _, label, _, _, _, seeds, *_ = (part.text for part in row.cells)
        mean, low, high = (f"{part.sort:.1f}" for part in row.cells[2:5])
        finals.append([label, mean, f"{low} to {high}", seeds])
    return f"{table(rows)}\n\n{table(finals)}\n"


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
    """The runs of one demo with the seeds of a block, published as they end; the exit code."""
    requests = [replace(request, seed=first + request.seed) for request in DEMO.requests("laptop")]

    def on_end(job: Job) -> None:
        publish(job.path, RUNS)

    return run_jobs(args, jobs_for(requests, args.out), f"demo from seed {first}", on_end).exit_code


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--block", type=int, metavar="SEED", help=f"train first, from this multiple of {BLOCK} on")
    add_grid_options(parser)
    args = parser.parse_args(given)
    if args.block is not None and args.block % BLOCK:
        parser.error(f"--block is {args.block}; blocks begin at multiples of {BLOCK}")
    code = 0 if args.block is None else train(args.block, args)
    write()
    print(f"{PAGE.relative_to(ROOT)} is written from {RUNS.relative_to(ROOT)}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
