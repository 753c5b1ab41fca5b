"""Rewrite what is made from the runs in results/: docs/results.md, its figures, the manifest, and the package's data.

python examples/results_page.py
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from chorus.analysis import contrasts, drawings
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.effects import VERDICT_WORDS
from chorus.analysis.figures import Drawing
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups, find_sweep_axes
from chorus.analysis.ledger import Entry, count_words, evaluate
from chorus.analysis.ledger.entries import Place, effect_text
from chorus.analysis.loading import Dataset, load_runs, select_runs
from chorus.analysis.manifest import make_manifest
from chorus.analysis.members import MEASURES, movements
from chorus.analysis.results import Series
from chorus.analysis.shipped import DATA, find_answers, to_json
from chorus.analysis.variants import is_default, section
from chorus.analysis.wording import number, plural, written
from chorus.config.env_rows import row_of
from chorus.envs.registry import describe
from chorus.files import write_text
from chorus.runs.logs import Run
from chorus.studies.evidence import EVIDENCE

ROOT = Path(__file__).parent.parent
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
PACKAGE = ROOT / "src" / "chorus" / "data"
PLACE = Place("laptop", shortened=False, comparable=True)
MAIN = ("single", "ensemble", "cerl", "tandem")
# Parts of the paper's subject, by the group of their algorithms.
SUBJECTS = {"dqn": "games", "sac": "continuous control"}

HEAD = """# What the runs say

<!-- Written by `python examples/results_page.py` from the runs in results/. -->

The paper's claims, judged by the runs that ship with Chorus. Nothing on this page is written by hand: `python
examples/results_page.py` makes it from `results/`, and so do

```
chorus claims results                        # the ledger
chorus report results -o report.html         # every comparison, all figures and tables
chorus report my_runs --beside results       # your runs beside these
python examples/evidence.py --dry-run        # what is still to be run
```
"""


class Figure(NamedTuple):
    """A drawing and its heading on the page."""

    title: str
    drawing: Drawing


def write(results: Path = RESULTS, docs: Path = DOCS, package: Path = PACKAGE) -> None:
    """Write everything; figures that are not drawn any more are removed."""
    dataset = load_runs([results])
    manifest = make_manifest(dataset, results)
    write_text(results / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    chosen = PLACE.select(dataset)
    found = dict(find_figures(chosen)) if chosen else {}
    figures = docs / "figures"
    for old in figures.glob("results-*.svg"):
        old.unlink()
    for name, figure in found.items():
        figure.drawing.save(figures / f"results-{name}.svg")
    write_text(docs / "results.md", page(dataset, chosen, manifest, found))
    write_text(package / DATA, json.dumps(package_data(dataset, chosen), separators=(",", ":")) + "\n")
    readme = results / "README.md"
    if readme.exists():
        table = folder_table(manifest)
        marked = re.compile(r"(<!-- folders:begin -->\n).*?(<!-- folders:end -->)", re.DOTALL)
        write_text(readme, marked.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", readme.read_text("utf-8")))


def page(dataset: Dataset, chosen: Dataset | None, manifest: dict, figures: dict[str, Figure]) -> str:
    entries = evaluate(dataset)
    parts = [HEAD, extent(manifest), summary(entries)]
    if chosen:
        context = make_context(chosen)
        parts += [by_environment(context), moves(context), scores(context)]
    parts += [ledger(entries), figure_part(figures), provenance(manifest)]
    return "\n".join(filter(None, parts))


def extent(manifest: dict) -> str:
    """How many runs, at which scale, and how to read the numbers."""
    names = dict.fromkeys(stage.folder for stage in EVIDENCE)
    runs = sum(manifest["folders"][name]["runs"] for name in names if name in manifest["folders"])
    of = row_of(describe("MinAtar/Asterix-v1"), "laptop", "code")
    sentences = (
        f"{plural(runs, 'run')} so far at the **laptop scale**: MinAtar stands for Atari, with N = {of.members}, "
        f"{of.total:,} steps, a replay of {of.buffer:,} transitions and MinAtar's standard network; HalfCheetah, "
        "Hopper and Walker2d stand for the paper's four tasks ([scales](scales.md)).",
        "What holds at this scale may not hold at the paper's, and the other way round.",
        "Training times are those of a CPU, on which members take turns; the paper's are those of a GPU.",
        "All is judged by the [rule of all verdicts](report.md#verdicts): an effect is settled if its 95 % interval "
        "excludes zero.",
        "A difference over several environments is in scores: 1 is the single agent, 0 a random policy.",
    )
    return " ".join(sentences) + "\n"


def summary(entries: Sequence[Entry]) -> str:
    """The claims by outcome, in words."""
    lines = ["## In short", "", f"{len(entries)} claims: {count_words(entries)}.", ""]
    kinds = {
        "Agrees with the paper": ("agrees",),
        "Does not agree with the paper": ("disagrees",),
        "Too small to matter": ("negligible",),
        "Not settled, and what is excluded": ("unsettled",),
        "Not run": ("missing",),
    }
    for title, statuses in kinds.items():
        own = [entry for entry in entries if entry.status in statuses and not entry.claim.tests]
        if own:
            lines += [f"### {title}", "", *(f"- {claim_line(entry)}" for entry in own), ""]
    return "\n".join(lines)


def claim_line(entry: Entry) -> str:
    """The claim with the number that decides it; what is not settled has the effects that its interval excludes."""
    outcome = entry.deciding
    head = f"**{entry.claim.number}.** {entry.claim.text}"
    if outcome is None:
        return f"{head}: `{entry.command}`" if entry.command else head
    where = f"{plural(len(outcome.envs), 'environment')}" if outcome.envs else ""
    seeds = plural(outcome.estimate.runs, "seed") if outcome.estimate else ""
    basis = ", ".join(filter(None, [seeds, where, entry.scale]))
    what = f"{outcome.what}: " if outcome.what else ""
    said = f"{what}{effect_text(outcome)} {outcome.unit}".strip() if outcome.estimate else outcome.note
    text = f"{head}. {said} ({basis})" if basis else f"{head}. {said}"
    if entry.status == "unsettled" and outcome.estimate:
        return f"{text}; excluded: {excluded(outcome.estimate, outcome.unit)}"
    return text


def excluded(found: IntervalEstimate, unit: str = "") -> str:
    """The effects that an interval leaves no room for; ratios have no sign."""
    if not found.has_interval:
        return "one seed excludes nothing"
    sign = "" if unit.startswith("ratio") else "+"
    return f"below {found.low:{sign}.2g} and above {found.high:{sign}.2g}"


def by_environment(context: AnalysisContext) -> str:
    """The main questions in each environment, with what is excluded where nothing is settled."""
    lines = [
        "## Environment by environment",
        "",
        "Over several environments in scores, in one in returns.",
        "",
        "| question | where | verdict | difference (95 % interval) | seeds | not settled: excluded |",
        "|---|---|---|---|---|---|",
    ]
    found = list(find_answers(context))
    for answer in found:
        out = excluded(answer.estimate) if answer.verdict == "unsettled" else ""
        word, seeds = f"**{VERDICT_WORDS[answer.verdict]}**", str(answer.estimate.runs)
        lines.append(row([answer.question, answer.where, word, with_interval(answer.estimate), seeds, out]))
    return "\n".join([*lines, ""]) if found else ""


def moves(context: AnalysisContext) -> str:
    """Which measures of the members move with the curse and with CERL."""
    lines = [
        "## What moves inside the members",
        "",
        *(
            f"- *{one.name}*{f' ({one.unit})' if one.unit else ''}: {one.meaning[0].lower()}{one.meaning[1:]}"
            for one in MEASURES
        ),
        "",
        "| | measure | comparison | | first | second | difference (95 % interval) | seeds | environments |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = [
        (
            SUBJECTS.get(group.variants[0].group, group.variants[0].group),
            move.measure.name,
            move.what,
            f"**{move.words}**",
            *(f"{level:.3g}" for level in move.effect.levels),
            with_interval(move.effect.estimate),
            str(move.effect.estimate.runs),
            str(len(move.effect.envs)),
        )
        for group in find_comparison_groups(context.results)
        for move in movements(context, group)
    ]
    return "\n".join([*lines, *map(row, rows), ""]) if rows else ""


def with_interval(found: IntervalEstimate) -> str:
    value, interval = written(found)
    return f"{value} ({interval})" if interval else value


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def scores(context: AnalysisContext) -> str:
    """Mean final returns of the main algorithms in each environment."""
    lines = ["## Final returns", "", f"{context.final_meaning(context.results.series, context.envs).capitalize()}."]
    for group in find_comparison_groups(context.results):
        shown = main_series(context, group)
        envs = [env for env in context.results.envs if any(context.results.final(s, env) for s in shown)]
        if len(shown) < 2:
            continue
        lines += ["", row(["", *envs]), row(["---"] * (len(envs) + 1))]
        for series in shown:
            finals = [context.results.final(series, env) for env in envs]
            cells = [
                "" if f is None else f"{number(f.values.mean())} ({plural(len(f.values), 'seed')})" for f in finals
            ]
            lines.append(row([series.label, *cells]))
    return "\n".join([*lines, ""])


def main_series(context: AnalysisContext, group: ComparisonGroup) -> list[Series]:
    """Single agent, members and votes with and without CERL, and the tandem."""
    variants = [v for v in (group.ensemble, group.cerl, group.tandem) if v]
    found = [Series(v, p) for v in variants for p in context.results.dataset.policies(v) if not p.endswith("-mode")]
    return [*([group.single] if group.single else []), *found]


def ledger(entries: Sequence[Entry]) -> str:
    lines = [
        "## All claims",
        "",
        "| | claim | source | status | effect (95 % interval) | seeds | environments | scale |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in entries:
        outcome = entry.deciding
        estimate = outcome.estimate if outcome else None
        effect = f"{effect_text(outcome)} {outcome.unit}".strip() if outcome else ""
        basis = [str(estimate.runs) if estimate else "", str(len(outcome.envs)) if outcome and outcome.envs else ""]
        cells = [str(entry.claim.number), entry.claim.text, entry.claim.source, f"**{entry.words}**", effect]
        lines.append(row([*cells, *basis, entry.scale]))
    lines += ["", "### Every check", ""]
    for entry in entries:
        for outcome in entry.outcomes:
            number = f": {effect_text(outcome)}" if outcome.estimate else ""
            note = f"; {outcome.note}" if outcome.note else ""
            lines.append(f"- {entry.claim.number}. {outcome.what}{number}{note}")
    return "\n".join([*lines, ""])


def find_figures(dataset: Dataset) -> Iterator[tuple[str, Figure]]:
    """The figures that the runs allow, by name."""
    for subject in SUBJECTS:
        main = of_arms(dataset, subject, main_only=True)
        if main is None:
            continue
        context = make_context(main)
        for group in find_comparison_groups(context.results):
            if len(found := main_series(context, group)) > 2:
                grid = drawings.learning_curve_grid(context, found)
                yield from drawn(f"{subject}-environments", "learning curves in each environment", grid)
                together = drawings.learning_curves(context, found)
                yield from drawn(f"{subject}-together", "learning curves over all environments", together)
            if group.single and group.ensemble and group.tandem:
                gaps = contrasts.tandem_gaps(context, group.single, group.ensemble, group.tandem)
                yield from drawn(f"{subject}-gaps", "the gap within the tandem and that of the ensemble", gaps)
        # Variants were run in fewer environments: their figures show those alone.
        every = of_arms(dataset, subject, main_only=False)
        relative = make_context(every).normalised_by_single_agent() if every else context
        for axis in find_sweep_axes(relative.results):
            yield from drawn(f"{subject}-{axis.name}", axis.style.title, contrasts.sweep(relative, axis))


def drawn(name: str, title: str, drawing: Drawing | None) -> Iterator[tuple[str, Figure]]:
    if drawing is not None:
        subject = SUBJECTS[name.partition("-")[0]]
        yield name, Figure(f"{subject[0].upper()}{subject[1:]}: {title}", drawing)


def of_arms(dataset: Dataset, group: str, *, main_only: bool) -> Dataset | None:
    """The runs of a group: of the main algorithms, or of all in the environments that have variants of them."""

    def is_main(run: Run) -> bool:
        return section(run.meta, "identity").get("role") in MAIN and is_default(run)

    own = [run for run in dataset.runs if section(run.meta, "identity").get("group") == group]
    varied = {run.env for run in own if not is_main(run)}
    wanted = {run.path for run in own if (is_main(run) if main_only else run.env in varied)}
    return select_runs(dataset, lambda run: run.path in wanted) if wanted else None


def figure_part(found: dict[str, Figure]) -> str:
    if not found:
        return ""
    lines = ["## Figures", ""]
    for name, (title, drawing) in found.items():
        lines += [f"### {title}", "", f"![{title}](figures/results-{name}.svg)", "", f"*{drawing.caption}*", ""]
    return "\n".join(lines)


def provenance(manifest: dict) -> str:
    """Which runs, where and how long, and what it takes to get the same bytes."""
    sentences = (
        "`results/manifest.json` has versions and commits.",
        "Hours are those of one core with other work beside it. Costs (claims 23 and 24) are judged by processor time "
        "where three runs of both algorithms have it, and by the clock otherwise.",
        "How to get the same bytes again is in [resuming and repeating runs](how-to/resume.md#the-same-bytes).",
    )
    return f"## The runs\n\n{folder_table(manifest)}\n\n{' '.join(sentences)}\n"


def folder_table(manifest: dict) -> str:
    lines = [row(["folder", "runs", "seeds", "environments", "processor", "hours"]), row(["---"] * 6)]
    for name, own in manifest["folders"].items():
        processors = ", ".join(own["processors"])
        envs = ", ".join(own["environments"])
        seeds = own["seeds"]
        lines.append(row([f"`{name}`", str(own["runs"]), seeds, envs, processors, f"{own['hours']:,.1f}"]))
    return "\n".join(lines)


def package_data(dataset: Dataset, chosen: Dataset | None) -> dict:
    """What an installed package knows of results/: the seeds of each configuration, and the main answers."""
    seeds: dict[str, list[int]] = {}
    for run in sorted(dataset.runs, key=lambda run: (run.path.name.rpartition("__s")[0], run.seed)):
        if run.has_ended:
            seeds.setdefault(run.path.name.rpartition("__s")[0], []).append(run.seed)
    answers = find_answers(make_context(chosen)) if chosen else ()
    return {"runs": seeds, "answers": [to_json(answer) for answer in answers]}


if __name__ == "__main__":
    write()
    print("docs/results.md, its figures, results/manifest.json and the package's data are written from results/")
