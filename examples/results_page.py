"""Rewrite what is made from the runs in results/: docs/results.md, its figures, the manifest, and the package's data.

python examples/results_page.py
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chorus.analysis import markdown
from chorus.analysis.ablations import MEASURED, find_ablations
from chorus.analysis.bootstrap import FEWEST_RUNS, IntervalEstimate
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.effects import NEGLIGIBLE, VERDICT_WORDS, Effect, by_environment, measure, minus
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.ledger import Entry, count_words, evaluate
from chorus.analysis.ledger.entries import Place
from chorus.analysis.ledger.writing import all_claims_text, excluded, in_short
from chorus.analysis.loading import Dataset, load_runs, select_runs
from chorus.analysis.manifest import make_manifest
from chorus.analysis.members import CERL, MEASURES, Movement, movements
from chorus.analysis.overview import (
    Figure,
    find_figures,
    find_variant_figures,
    main_series,
    subject_of,
)
from chorus.analysis.results import Series
from chorus.analysis.shipped import DATA, DEMO_SETTING, find_answers, to_json
from chorus.analysis.shortened import KEY, find_shortened
from chorus.analysis.variants import MAIN_ROLES
from chorus.analysis.wording import number, percent, plural, seed_count, written
from chorus.config.env_rows import row_of
from chorus.envs.registry import describe
from chorus.files import write_text
from chorus.scheduling.jobs import jobs_of
from chorus.studies.demo import WITH_CERL

ROOT = Path(__file__).parent.parent
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
PACKAGE = ROOT / "src" / "chorus" / "data"
PLACE = Place("laptop", shortened=False, comparable=True)
SHORT = Place("laptop", shortened=True, comparable=True)

HEAD = """# What the runs say

<!-- Written by `python examples/results_page.py` from the runs in results/. -->

The paper's claims, judged by the runs that ship with Chorus. No number, verdict or figure on this page is written by
hand: `python examples/results_page.py` makes them from `results/`, and so do

```
chorus claims results                         # the ledger
chorus report results/minatar -o report.html  # every comparison in a folder
chorus report my_runs --beside results        # your runs beside these
python examples/evidence.py --dry-run         # what is still to be run
```
"""


# Why shortened runs have their settings, by the group of their algorithms.
WHY_SHORT = {
    "dqn": "The setting of the [demo](demo.md), which was chosen, on other seeds, because the curse shows in it.",
    "sac": "It was chosen, with one other seed, because SAC learns something there in so few steps; in HalfCheetah it "
    "does not. A final score is the mean of the last evaluations, so it includes learning.",
}


def write(results: Path = RESULTS, docs: Path = DOCS, package: Path = PACKAGE) -> None:
    """Write everything; figures that are not drawn any more are removed."""
    dataset = load_runs([results])
    manifest = make_manifest(dataset, results)
    write_text(results / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    chosen, short = PLACE.select(dataset), SHORT.select(dataset)
    found = {one.name: one for one in (find_figures(chosen) if chosen else ())}
    found |= {f"short-{one.name}": one for one in (find_variant_figures(short) if short else ())}
    figures = docs / "figures"
    for old in figures.glob("results-*.svg"):
        old.unlink()
    for name, figure in found.items():
        figure.drawing.save(figures / f"results-{name}.svg")
    entries = evaluate(dataset)
    write_text(docs / "results.md", page(entries, chosen, short, manifest, found))
    write_text(package / DATA, json.dumps(package_data(dataset, chosen, entries), separators=(",", ":")) + "\n")
    readme = results / "README.md"
    if readme.exists():
        table = f"\n{folder_table(manifest)}\n\n"
        write_text(readme, markdown.fill(readme.read_text(encoding="utf-8"), "folders", table))


def page(
    entries: Sequence[Entry],
    chosen: Dataset | None,
    short: Dataset | None,
    manifest: dict,
    figures: dict[str, Figure],
) -> str:
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
            by_question(context),
            cerl_in_words(context),
            moves(context),
            scores(context),
            variants(context),
        ]
    if short:
        context = make_context(short)
        parts += ["## Shortened runs\n", settings_of_short_runs(context), by_question(context), variants(context)]
    parts += [f"## All claims\n\n{all_claims_text(entries)}\n", figure_part(figures), provenance(manifest)]
    return "\n".join(filter(None, parts))


def extent(chosen: Dataset | None, short: Dataset | None) -> str:
    """How many runs, at which scale, and how to read the numbers."""
    whole, shortened = (len(dataset.runs) if dataset else 0 for dataset in (chosen, short))
    of = row_of(describe("MinAtar/Asterix-v1"), "laptop", "code")
    sentences = (
        f"{plural(whole, 'run')} so far at the **laptop scale**: MinAtar stands for Atari, with N = {of.members}, "
        f"{of.total:,} steps, a replay of {of.buffer:,} transitions and MinAtar's standard network "
        "([scales](scales.md)).",
        f"{plural(shortened, 'run')} with [fewer steps](#shortened-runs) judge the checks that whole runs do not cover."
        if shortened
        else "",
        "What holds at this scale may not hold at the paper's, and the other way round.",
        "Training times are those of a CPU, on which members take turns; the paper's are those of a GPU.",
        "All is judged by the [rule of all verdicts](report.md#verdicts): an effect is settled if its 95 % interval "
        "excludes zero, unless a claim has [a rule of its own](claims.md).",
        "Seeds were added in rounds, and the answers were read between rounds. Intervals are not corrected for this, "
        "so one that barely excludes zero is less certain than 95 %.",
        f"Environments with fewer than {FEWEST_RUNS} seeds of an algorithm are left out where others have more.",
        "A difference over several environments is in scores: 1 is the single agent, 0 a random policy.",
    )
    return " ".join(filter(None, sentences)) + "\n"


def settings_of_short_runs(context: AnalysisContext) -> str:
    """Environment and changed settings of each group of algorithms."""
    lines = []
    for group in find_comparison_groups(context.results):
        centre = group.ensemble or (group.single.variant if group.single else None)
        name = group.variants[0].group
        if centre is None:
            continue
        changed = [path for path, one in centre.identity.settings.items() if one.changed and "." in path]
        values = [f"`{path}` {shown(value)}" for path in changed if (value := centre.settings.get(path)) is not None]
        said = f"N = {centre.members} in {', '.join(sorted(centre.by_env))}. {WHY_SHORT.get(name, '')}".strip()
        lines.append(f"- *{subject_of(name).capitalize()}*: {said} Settings that it changes: {', '.join(values)}.")
    head = "Checks with fewer than three seeds of whole runs are judged by these."
    return "\n".join([head, "", *lines, ""])


def shown(value: Any) -> str:
    """A setting as a reader expects it: 36,000 and 32, not 36000 and [32]."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(shown, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def by_question(context: AnalysisContext) -> str:
    """The main questions in each environment, with what is excluded where nothing is settled."""
    rows = [
        [
            answer.question,
            answer.compared,
            answer.where,
            f"**{VERDICT_WORDS[answer.verdict]}**",
            with_interval(answer.estimate),
            seed_count(answer.estimate),
            excluded(answer.estimate) if answer.verdict == "unsettled" else "",
        ]
        for answer in find_answers(context)
    ]
    head = ["question", "compared", "where", "verdict", "difference (95 % interval)", "seeds", "not settled: excluded"]
    text = "### Environment by environment\n\nOver several environments in scores, in one in returns.\n\n"
    return f"{text}{markdown.table(head, rows)}\n" if rows else ""


def cerl_in_words(context: AnalysisContext) -> str:
    """Game by game whether CERL helps its members, and what moves with it."""
    lines = []
    for group in find_comparison_groups(context.results):
        if not (group.cerl and group.ensemble):
            continue
        gain = measure(context, minus(Series(group.cerl, "individual"), Series(group.ensemble, "individual")))
        found = [one for one in movements(context, group) if one.what == CERL]
        for env, effect in by_environment(context, gain).items() if gain else ():
            verdict = {"yes": "higher", "no": "lower", "negligible": "as high"}.get(effect.verdict(1), "not settled")
            own = [
                Movement(one.measure, one.what, by_environment(context, one.effect)[env])
                for one in found
                if env in one.effect.envs
            ]
            moved = "".join(f"; {one.measure.name} {one.words} ({with_interval(one.effect.estimate)})" for one in own)
            lines.append(f"- *{env}*: return of members **{verdict}**, {with_interval(effect.estimate)}{moved}.")
    head = "### Where CERL helps its members, and what moves with it\n\nMembers with CERL minus plain ones:\n"
    return "\n".join([head, *lines, ""]) if lines else ""


def moves(context: AnalysisContext) -> str:
    """Which measures of the members move with the curse and with CERL."""
    rows = [
        [
            subject_of(group.variants[0].group),
            move.measure.name,
            move.what,
            f"**{move.words}**",
            *(f"{level:.3g}" for level in move.effect.levels),
            with_interval(move.effect.estimate),
            seed_count(move.effect.estimate),
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
    rule = f"A measure *hardly moves* if the interval lies within ±{percent(NEGLIGIBLE)} of the second value."
    lines = ["### What moves inside the members", "", *meanings, "", rule, "", markdown.table(head, rows), ""]
    return "\n".join(lines) if rows else ""


def variants(context: AnalysisContext) -> str:
    """Every other variant beside the plain ensemble or single agent that it is most like."""
    rows = [
        [one.variant.label, one.plain.label, *map(effect_cell, one.effects), seed_count(one.effects[0].estimate)]
        for one in find_ablations(context)
        if one.effects[0] and not (one.variant.role in MAIN_ROLES and one.variant.changes == 0)
    ]
    head = ["variant", "beside", *MEASURED, "seeds"]
    text = (
        "### Variants\n\nDifferences from the algorithm beside which a variant stands, in returns (over several "
        "environments in scores), with 95 % intervals; **bold** where an interval of at least three seeds excludes "
        "zero. They are not corrected for the number of rows: if nothing differed, one of twenty would be bold by "
        "chance. *Together* is the vote or the mean action. *Diversity* is the vote entropy in "
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


def figure_part(found: dict[str, Figure]) -> str:
    if not found:
        return ""
    lines = ["## Figures", ""]
    for name, (_, title, drawing) in found.items():
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
        processors, envs = "; ".join(own["processors"]), ", ".join(own["environments"])
        rows.append([f"`{name}`", str(own["runs"]), own["seeds"], envs, processors, f"{own['hours']:,.1f}"])
    return markdown.table(head, rows)


def package_data(dataset: Dataset, chosen: Dataset | None, entries: Sequence[Entry]) -> dict:
    """What an installed package knows of results/: seeds of each configuration, main answers, and what is short."""
    seeds: dict[str, list[int]] = {}
    for run in sorted(dataset.runs, key=lambda run: (run.path.name.rpartition("__s")[0], run.seed)):
        if run.has_ended:
            seeds.setdefault(run.path.name.rpartition("__s")[0], []).append(run.seed)
    demo = in_the_demos_setting(dataset)
    answers = [replace(answer, setting=DEMO_SETTING) for answer in (find_answers(make_context(demo)) if demo else ())]
    answers += find_answers(make_context(chosen)) if chosen else ()
    return {"runs": seeds, "answers": [to_json(answer) for answer in answers], KEY: find_shortened(entries)}


def in_the_demos_setting(dataset: Dataset) -> Dataset | None:
    """The runs of the demo's configurations, and those of CERL in the same setting; None if there are none."""
    names = {job.name.rpartition("__s")[0] for job in jobs_of(WITH_CERL, "laptop", RESULTS)}
    own = {run.path for run in dataset.runs if run.path.name.rpartition("__s")[0] in names}
    return select_runs(dataset, lambda run: run.path in own) if own else None


if __name__ == "__main__":
    write()
    print("docs/results.md, its figures, results/manifest.json and the package's data are written from results/")
