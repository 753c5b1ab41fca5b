"""Rewrite what is made from the runs in results/: docs/results.md, its figures, the manifest, and the package's data.

python examples/results_page.py
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chorus.analysis import contrasts, drawings, markdown
from chorus.analysis.ablations import MEASURED, draw_ablations, find_ablations
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.effects import VERDICT_WORDS, Effect
from chorus.analysis.figures import Drawing
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups, find_sweep_axes
from chorus.analysis.ledger import count_words, evaluate
from chorus.analysis.ledger.entries import Place
from chorus.analysis.ledger.writing import all_claims_text, excluded, in_short
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

ROOT = Path(__file__).parent.parent
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
PACKAGE = ROOT / "src" / "chorus" / "data"
PLACE = Place("laptop", shortened=False, comparable=True)
SHORT = Place("laptop", shortened=True, comparable=True)
MAIN = ("single", "ensemble", "cerl", "tandem")
# Parts of the paper's subject, by the group of their algorithms.
SUBJECTS = {"dqn": "games", "sac": "continuous control"}

HEAD = """# What the runs say

<!-- Written by `python examples/results_page.py` from the runs in results/. -->

The paper's claims, judged by the runs that ship with Chorus. Nothing on this page is written by hand: `python
examples/results_page.py` makes it from `results/`, and so do

```
chorus claims results                         # the ledger
chorus report results/minatar -o report.html  # every comparison in a folder
chorus report my_runs --beside results        # your runs beside these
python examples/evidence.py --dry-run         # what is still to be run
```
"""


# The settings of shortened runs, by the group of their algorithms.
SHORT_RUNS = {
    "dqn": "the setting of the [demo](demo.md), Space Invaders, 36,000 steps, 32 dense units, N = 10 and a replay of "
    "4,000 transitions. It was chosen, on other seeds, because the curse shows in it.",
    "sac": "Hopper, 20,000 steps, a fifth of the laptop scale, with N = 5 and a replay of 4,000 transitions. It was "
    "chosen, with one other seed, because SAC learns something there in so few steps; in HalfCheetah it does not. A "
    "final score is the mean of the second half of a run, so it includes learning.",
}


class Figure(NamedTuple):
    """A drawing and its heading on the page."""

    title: str
    drawing: Drawing


def write(results: Path = RESULTS, docs: Path = DOCS, package: Path = PACKAGE) -> None:
    """Write everything; figures that are not drawn any more are removed."""
    dataset = load_runs([results])
    manifest = make_manifest(dataset, results)
    write_text(results / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    chosen, short = PLACE.select(dataset), SHORT.select(dataset)
    found = dict(find_figures(chosen)) if chosen else {}
    found |= {f"short-{name}": figure for name, figure in (find_variant_figures(short) if short else ())}
    figures = docs / "figures"
    for old in figures.glob("results-*.svg"):
        old.unlink()
    for name, figure in found.items():
        figure.drawing.save(figures / f"results-{name}.svg")
    write_text(docs / "results.md", page(dataset, chosen, short, manifest, found))
    write_text(package / DATA, json.dumps(package_data(dataset, chosen), separators=(",", ":")) + "\n")
    readme = results / "README.md"
    if readme.exists():
        table = f"\n{folder_table(manifest)}\n\n"
        write_text(readme, markdown.fill(readme.read_text(encoding="utf-8"), "folders", table))


def page(
    dataset: Dataset, chosen: Dataset | None, short: Dataset | None, manifest: dict, figures: dict[str, Figure]
) -> str:
    entries = evaluate(dataset)
    parts = [
        HEAD,
        extent(chosen, short),
        f"## In short\n\n{len(entries)} claims: {count_words(entries)}.\n",
        in_short(entries),
    ]
    if chosen:
        context = make_context(chosen)
        parts += [
            "## At the laptop scale\n",
            by_environment(context),
            moves(context),
            scores(context),
            variants(context),
        ]
    if short:
        context = make_context(short)
        parts += ["## Shortened runs\n", settings_of_short_runs(short), by_environment(context), variants(context)]
    parts += [f"## All claims\n\n{all_claims_text(entries)}\n", figure_part(figures), provenance(manifest)]
    return "\n".join(filter(None, parts))


def extent(chosen: Dataset | None, short: Dataset | None) -> str:
    """How many runs, at which scale, and how to read the numbers."""
    whole, shortened = (len(dataset.runs) if dataset else 0 for dataset in (chosen, short))
    of = row_of(describe("MinAtar/Asterix-v1"), "laptop", "code")
    sentences = (
        f"{plural(whole, 'run')} so far at the **laptop scale**: MinAtar stands for Atari, with N = {of.members}, "
        f"{of.total:,} steps, a replay of {of.buffer:,} transitions and MinAtar's standard network; HalfCheetah, "
        "Hopper and Walker2d stand for the paper's four tasks ([scales](scales.md)).",
        f"{plural(shortened, 'run')} with [fewer steps](#shortened-runs) judge what those cannot." if shortened else "",
        "What holds at this scale may not hold at the paper's, and the other way round.",
        "Training times are those of a CPU, on which members take turns; the paper's are those of a GPU.",
        "All is judged by the [rule of all verdicts](report.md#verdicts): an effect is settled if its 95 % interval "
        "excludes zero, unless a claim has [a rule of its own](claims.md).",
        "Seeds were added in rounds with a look at the answers between them, for which no interval is corrected: one "
        "that just excludes zero is a little less sure than it says.",
        "A difference over several environments is in scores: 1 is the single agent, 0 a random policy.",
    )
    return " ".join(filter(None, sentences)) + "\n"


def settings_of_short_runs(short: Dataset) -> str:
    groups = {section(run.meta, "identity").get("group") for run in short.runs}
    lines = [f"- *{SUBJECTS[group].capitalize()}*: {text}" for group, text in SHORT_RUNS.items() if group in groups]
    head = "These runs judge the checks for which there are fewer than three seeds of whole runs."
    return "\n".join([head, "", *lines, ""])


def by_environment(context: AnalysisContext) -> str:
    """The main questions in each environment, with what is excluded where nothing is settled."""
    rows = [
        [
            answer.question,
            answer.compared,
            answer.where,
            f"**{VERDICT_WORDS[answer.verdict]}**",
            with_interval(answer.estimate),
            str(answer.estimate.runs),
            excluded(answer.estimate) if answer.verdict == "unsettled" else "",
        ]
        for answer in find_answers(context)
    ]
    head = ["question", "compared", "where", "verdict", "difference (95 % interval)", "seeds", "not settled: excluded"]
    text = "### Environment by environment\n\nOver several environments in scores, in one in returns.\n\n"
    return f"{text}{markdown.table(head, rows)}\n" if rows else ""


def moves(context: AnalysisContext) -> str:
    """Which measures of the members move with the curse and with CERL."""
    rows = [
        [
            SUBJECTS.get(group.variants[0].group, group.variants[0].group),
            move.measure.name,
            move.what,
            f"**{move.words}**",
            *(f"{level:.3g}" for level in move.effect.levels),
            with_interval(move.effect.estimate),
            str(move.effect.estimate.runs),
            str(len(move.effect.envs)),
        ]
        for group in find_comparison_groups(context.results)
        for move in movements(context, group)
    ]
    meanings = [
        f"- *{one.name}*{f' ({one.unit})' if one.unit else ''}: {one.meaning[0].lower()}{one.meaning[1:]}"
        for one in MEASURES
    ]
    head = ["", "measure", "comparison", "", "first", "second", "difference (95 % interval)", "seeds", "environments"]
    lines = ["### What moves inside the members", "", *meanings, "", markdown.table(head, rows), ""]
    return "\n".join(lines) if rows else ""


def variants(context: AnalysisContext) -> str:
    """Every other variant beside the plain ensemble or single agent that it is most like."""
    rows = [
        [one.variant.label, one.plain.label, *map(effect_cell, one.effects), str(len(one.variant.runs))]
        for one in find_ablations(context)
    ]
    head = ["variant", "beside", *MEASURED, "seeds"]
    text = (
        "### Variants\n\nDifferences from the algorithm beside which a variant stands, with 95 % intervals; **bold** "
        "where at least three seeds exclude zero. They are not corrected for the number of rows: of twenty, one is "
        "expected to be bold by chance. *Together* is the vote or the mean action. *Diversity* is the vote entropy in "
        "nats, or the action distance. For a single agent *members* is the agent itself.\n\n"
    )
    return f"{text}{markdown.table(head, rows)}\n" if rows else ""


def effect_cell(effect: Effect | None) -> str:
    if effect is None:
        return ""
    text = with_interval(effect.estimate)
    return f"**{text}**" if effect.estimate.settled else text


def with_interval(found: IntervalEstimate) -> str:
    value, interval = written(found)
    return f"{value} ({interval})" if interval else value


def scores(context: AnalysisContext) -> str:
    """Mean final returns of the main algorithms in each environment."""
    parts = [f"### Final returns\n\n{context.final_meaning(context.results.series, context.envs).capitalize()}.\n"]
    for group in find_comparison_groups(context.results):
        shown = main_series(context, group)
        envs = [env for env in context.results.envs if any(context.results.final(s, env) for s in shown)]
        if len(shown) > 1:
            rows = [[series.label, *(final_cell(context, series, env) for env in envs)] for series in shown]
            parts.append(f"{markdown.table(['', *envs], rows)}\n")
    return "\n".join(parts)


def final_cell(context: AnalysisContext, series: Series, env: str) -> str:
    final = context.results.final(series, env)
    return "" if final is None else f"{number(final.values.mean())} ({plural(len(final.values), 'seed')})"


def main_series(context: AnalysisContext, group: ComparisonGroup) -> list[Series]:
    """Single agent, members and votes with and without CERL, and the tandem."""
    variants = [v for v in (group.ensemble, group.cerl, group.tandem) if v]
    found = [Series(v, p) for v in variants for p in context.results.dataset.policies(v) if not p.endswith("-mode")]
    return [*([group.single] if group.single else []), *found]


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
    yield from find_variant_figures(dataset)


def find_variant_figures(dataset: Dataset) -> Iterator[tuple[str, Figure]]:
    """All variants at a glance and a figure per swept setting, in the environments that have variants."""
    for subject in SUBJECTS:
        own = of_arms(dataset, subject, main_only=False)
        if own is None:
            continue
        context = make_context(own)
        every = draw_ablations(list(find_ablations(context)))
        yield from drawn(f"{subject}-variants", "every variant of the ensemble", every)
        relative = context.normalised_by_single_agent()
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
        "if three runs of both algorithms on one kind of processor have it, and otherwise by the clock.",
        "How to get the same bytes again is in [resuming and repeating runs](how-to/resume.md#the-same-bytes).",
    )
    return f"## The runs\n\n{folder_table(manifest)}\n\n{' '.join(sentences)}\n"


def folder_table(manifest: dict) -> str:
    head = ["folder", "runs", "seeds", "environments", "processor", "hours"]
    rows = []
    for name, own in manifest["folders"].items():
        processors, envs = ", ".join(own["processors"]), ", ".join(own["environments"])
        rows.append([f"`{name}`", str(own["runs"]), own["seeds"], envs, processors, f"{own['hours']:,.1f}"])
    return markdown.table(head, rows)


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
