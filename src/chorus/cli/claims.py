"""`chorus claims`: each claim of the paper, and what the runs that are there say about it."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from chorus.analysis.ledger import Claim, Entry
    from chorus.config.schema import Scale
    from chorus.scheduling.jobs import Known


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = (
        "Judge each of the paper's 44 claims by the runs that are there: agrees, disagrees, too small to matter, not "
        "settled or not run, with effect, 95 % interval, seeds, environments and scale, and the command that would "
        "settle it with its cost. Smoke runs answer nothing. Writes a Markdown page and a JSON file."
    )
    parser.add_argument(
        "runs",
        nargs="*",
        type=Path,
        metavar="RUNS",
        help="run directories, or folders that hold run directories at any depth (default: runs)",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where claims.md and claims.json are written (default: reports/claims in the first folder of runs; of "
        "published runs, runs/reports/claims-NAME with the folder's name)",
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="CSV",
        help="reference scores with the columns env,random and optionally human (default: the measured ones)",
    )


def run(args: argparse.Namespace) -> int:
    from chorus.analysis.ledger import count_words, evaluate, open_commands, to_json, to_markdown
    from chorus.analysis.loading import has_runs, load_runs
    from chorus.analysis.normalisation import read_references
    from chorus.cli.grid import check_folder, this_command
    from chorus.files import write_text
    from chorus.runs.published import is_published

    usual = Path("runs")
    paths = args.runs or [usual]
    # Without an argument there may be no runs yet: then nothing was run, and every claim has its command.
    dataset = load_runs(paths) if args.runs or has_runs(paths[0]) else None
    found = [run.path for run in dataset.runs] if dataset else []
    # Nothing is written between published runs, nor over what was said of one's own.
    published = any(is_published(path) for path in found if path.is_relative_to(paths[0]))
    home, ending = (usual, f"-{paths[0].resolve().name}") if published else (paths[0], "")
    folder = args.out or home / "reports" / f"claims{ending}"
    check_folder(folder)
    references = read_references(args.references) if args.references else None
    # New runs would not find those in folders below.
    nested = any(path.is_relative_to(paths[0]) and paths[0] not in (path, path.parent) for path in found)
    entries = evaluate(dataset, settle_command(usual if nested else home), references)
    files = {"claims.md": to_markdown(entries, this_command()), "claims.json": to_json(entries)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
    print_ledger(entries)
    print(f"{len(entries)} claims: {count_words(entries)}")
    print(f"claims: {folder / 'claims.md'} and claims.json")
    if commands := open_commands(entries):
        print("what would settle the open claims:")
        for (command, cost), numbers in commands.items():
            print(f"  {command}   claims {', '.join(map(str, numbers))}; {cost}")
        print(f"next: {next(iter(commands))[0]}")
    return 0


def settle_command(out: Path) -> "Callable[[Claim, Scale, int | None], tuple[str, str]]":
    """The command that would settle a claim, and its cost."""
    from chorus.cli.grid import suggested
    from chorus.cli.list import standing
    from chorus.studies.table import find_study

    known: Known = {}
    costs: dict[tuple[str, str, int | None], tuple[Path, str]] = {}

    def left(name: str, scale: "Scale", seeds: int | None) -> tuple[Path, str]:
        """The folder to run a study in, and the cost of what is not there yet."""
        device = "gpu" if scale == "paper" else None
        ended, cost = standing(find_study(name), out, scale, device, known, seeds)
        if ended != "-":
            return out, cost
        # Runs of another configuration have the names that the study would use.
        aside = out.with_name(f"{out.name}-studies")
        return aside, standing(find_study(name), aside, scale, device, known, seeds)[1]

    def settle(claim: "Claim", scale: "Scale", seeds: int | None) -> tuple[str, str]:
        """The first of the claim's studies that lacks runs; if none does, the first one with twice as many seeds."""
        first = find_study(claim.studies[0])
        twice = 2 * max(part.most_seeds(scale) for part in first.parts)
        for name, count in (*((name, seeds) for name in claim.studies), (first.name, twice)):
            key = (name, scale, count)
            if key not in costs:
                costs[key] = left(*key)
            folder, cost = costs[key]
            if cost != "nothing":
                return suggested("reproduce", name, scale=scale, seeds=count, out=folder), cost
        return suggested("claims", str(out)), "all runs of its studies are there, with twice their seeds"

    return settle


def print_ledger(entries: "Sequence[Entry]") -> None:
    from rich.console import Console

    Console(highlight=False).print(ledger_table(entries))


def ledger_table(entries: "Sequence[Entry]") -> "Table":
    """One row per claim, wrapped to the terminal."""
    from rich.table import Table
    from rich.text import Text

    from chorus.analysis.wording import seeds_of

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("", justify="right")
    table.add_column("claim", ratio=1)
    table.add_column("status", max_width=9)
    table.add_column("effect (95 % interval)", max_width=18, overflow="fold")
    # The longest name of an environment fits.
    table.add_column("judged by", width=25)
    styles = {"agrees": "green", "disagrees": "red"}
    for entry in entries:
        outcome = entry.deciding
        status = Text(entry.words, style="dim" if not entry.settled else styles.get(entry.status, ""))
        effect = "; ".join(filter(None, [outcome.effect, outcome.note])) if outcome else ""
        seeds = seeds_of(outcome.estimate) if outcome and outcome.estimate else ""
        basis = ", ".join(filter(None, [seeds, outcome.where, outcome.scale])) if outcome else ""
        table.add_row(str(entry.claim.number), Text(entry.claim.text), status, Text(effect), Text(basis))
    return table
