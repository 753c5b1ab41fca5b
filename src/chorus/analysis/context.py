"""What every figure and sentence is made from, and the warnings that a reader of them needs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import FEWEST_RUNS, Rng
from chorus.analysis.comparisons import Band
from chorus.analysis.figures.style import LineStyle, Palette
from chorus.analysis.loading import Dataset
from chorus.analysis.normalisation import (
    Normalisation,
    Reference,
    by_single_agent,
    choose_normalisation,
    references_for,
)
from chorus.analysis.results import Results, Series
from chorus.analysis.variants import NO_IDENTITY, Variant, changed_settings
from chorus.analysis.wording import plural
from chorus.envs.atari_games import is_atari
from chorus.runs.logs import FinalWindow

# A final score that averages fewer evaluations depends on the luck of single evaluations.
FEWEST_EVALUATIONS = 5


@dataclass(frozen=True)
class AnalysisContext:
    """The results under analysis with the normalisation, palette and random numbers that all figures share."""

    results: Results
    normalisation: Normalisation
    palette: Palette
    rng: Rng
    references: dict[str, Reference] | None = None

    def normalised_by_single_agent(self) -> "AnalysisContext":
        """The same results in scores relative to the single agent, where these are defined."""
        known = references_for(self.results.envs, self.references)
        single = by_single_agent(self.results, known)
        return replace(self, normalisation=single) if single.envs else self

    @property
    def envs(self) -> tuple[str, ...]:
        """The environments for which the normalisation is defined."""
        return tuple(env for env in self.results.envs if env in self.normalisation.envs)

    def style(self, series: Series) -> LineStyle:
        return self.palette.style(series.variant, series.policy)

    def line(self, series: Series, band: Band, envs: Sequence[str]) -> figures.Line:
        x = band.frames if x_label(envs) == "frames" else band.steps
        return figures.Line(series.label, self.style(series), x, band.value, band.low, band.high, band.runs)

    def complete_series(self, series: Sequence[Series] | None = None) -> list[Series]:
        """The series with a curve in every environment: only these can be aggregated side by side."""
        envs = self.envs
        chosen = self.results.series if series is None else series
        return [s for s in chosen if envs and all(self.results.curve(s, env) for env in envs)]

    def shared_envs(self, *series: Series) -> list[str]:
        return [env for env in self.results.envs_of(series) if env in self.normalisation.envs]

    def seeds(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        """`5 seeds`, or `3 to 5 seeds`."""
        counts = [len(f.values) for s in series for env in envs if (f := self.results.final(s, env))]
        low, high = min(counts, default=0), max(counts, default=0)
        return plural(low, "seed") if low == high else f"{low} to {high} seeds"

    def final_meaning(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        """`final score: mean of the last 5 of 25 evaluations`."""
        finals = [f for s in series for env in envs if (f := self.results.final(s, env))]
        return f"final score: mean of the {describe_windows(w for final in finals for w in final.windows)}"

    def incomplete_note(self) -> str:
        """Sentences about what a figure over all environments leaves out; empty if it is nothing."""
        kept = self.complete_series()
        names = [s.label for s in self.results.series if s not in kept]
        series = f" Not run in every environment, so not shown: {', '.join(names)}." if names else ""
        return self.left_out_note(kept, self.envs) + series

    def left_out_note(self, series: Sequence[Series], shown: Sequence[str]) -> str:
        """Sentences about the environments that are not shown and the runs that do not count; empty if all do."""
        parts = []
        for env in self.results.envs:
            missing = dict.fromkeys(s.label for s in series if not self.results.curve(s, env))
            absent = f"no evaluation of {', '.join(missing)}" if missing else "not run with every setting"
            if env not in shown:
                parts.append(f"{env} ({self.normalisation.left_out.get(env) or absent})")
        environments = f" Left out: {', '.join(parts)}." if parts else ""
        finals = {
            (s.variant.label, env): f.left_out for s in series for env in shown if (f := self.results.final(s, env))
        }
        unfinished = sum(finals.values())
        runs = f" Final scores leave out {plural(unfinished, 'run')} that did not end." if unfinished else ""
        return environments + runs


def make_context(
    dataset: Dataset,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    normalisation: str | None = None,
) -> AnalysisContext:
    """The context of a dataset; `seed` is that of the bootstrap bands of curves."""
    results, rng = Results(dataset), np.random.default_rng(seed)
    chosen = choose_normalisation(results, references, normalisation)
    return AnalysisContext(results, chosen, Palette(dataset.variants), rng, references)


def x_label(envs: Sequence[str]) -> str:
    """Atari is plotted over emulator frames, as is the custom; everything else over agent steps."""
    return "frames" if all(map(is_atari, envs)) else "agent steps"


def describe_windows(windows: Iterable[FinalWindow]) -> str:
    """`last 5 of 25 evaluations`, or `last 5 of 20 to 25 or last 10 of 200 evaluations`."""
    totals: dict[int, set[int]] = {}
    for window in windows:
        totals.setdefault(window.last, set()).add(window.of)
    parts = []
    for last, counts in sorted(totals.items()):
        low, high = min(counts), max(counts)
        parts.append(f"last {last} of {low if low == high else f'{low} to {high}'}")
    return f"{' or '.join(parts)} evaluations"


def window_warnings(results: Results) -> list[str]:
    """Sentences about final scores that average too much of a run, or too few evaluations."""
    long: dict[str, set[FinalWindow]] = {}
    short: dict[str, set[FinalWindow]] = {}
    for env in results.envs:
        finals = [f for s in results.series if (f := results.final(s, env))]
        for window in {window for final in finals for window in final.windows}:
            if 3 * window.last > window.of:
                long.setdefault(env, set()).add(window)
            if window.last < FEWEST_EVALUATIONS:
                short.setdefault(env, set()).add(window)
    found = []
    if long:
        found.append(
            f"Final scores average more than a third of a run ({_describe(long)}), so they may include the learning "
            f"phase in {', '.join(long)}; more evaluations (a smaller --iteration-steps) separate them."
        )
    if short:
        found.append(
            f"Final scores average fewer than {FEWEST_EVALUATIONS} evaluations ({_describe(short)}), so they are noisy "
            f"in {', '.join(short)}; --final-evaluations sets the number."
        )
    return found


def _describe(windows: dict[str, set[FinalWindow]]) -> str:
    return describe_windows(window for some in windows.values() for window in some)


def find_warnings(context: AnalysisContext) -> list[str]:
    """Sentences about everything that could mislead somebody who reads only the summary; of one's own runs, if others
    are beside them."""
    results, dataset = context.results, context.results.dataset
    runs = dataset.own_runs or dataset.runs
    found = []
    if smoke := sum(run.config.get("scale") == "smoke" for run in runs):
        whose = "" if smoke == len(runs) else f" ({plural(smoke, 'run')} of {len(runs)})"
        found.append(f"At the smoke scale{whose} nothing is learnt: this shows that everything works, and no more.")
    states = Counter(run.state for run in runs)
    if early := [f"{states[state]} {state}" for state in ("running", "stopped", "failed", "unknown") if states[state]]:
        found.append(
            f"Runs that have not ended: {', '.join(early)}. They are in the curves, and in final scores only where no "
            "run of that algorithm has ended."
        )
    if states["diverged"]:
        found.append(f"{plural(states['diverged'], 'run')} diverged; the last evaluations count as the outcome.")
    if dataset.unusable:
        found.append(f"{plural(len(dataset.unusable), 'run')} could not be used; the table of runs says why.")
    if older := sum(NO_IDENTITY in run.problems for run in runs):
        found.append(f"{plural(older, 'run')} without an identity (older version): compared with nothing.")
    if dataset.damaged_lines:
        found.append(f"{plural(dataset.damaged_lines, 'damaged line')} skipped (a run was killed while writing).")
    if outside := [env for env in results.envs if env not in context.normalisation.envs]:
        why = "; ".join(f"{env}: {context.normalisation.left_out.get(env)}" for env in outside)
        found.append(f"Not normalised, so only in their own figures: {why}.")
    if few := envs_with_few_seeds(dataset):
        found.append(
            f"Answers leave out {', '.join(few)}, with fewer than {FEWEST_RUNS} seeds of an algorithm that has more in "
            "other environments."
        )
    kinds = max((kinds_averaged(context, variant) for variant in dataset.variants), key=len, default=[])
    if len(kinds) > 1:
        found.append(
            f"Environments of different kinds, by their networks, are averaged: {'; '.join(map(', '.join, kinds))}. "
            "Give the runs of one kind alone to have its answers."
        )
    compared = [s for s in results.series if s.variant in dataset.own_variants]
    steps = {env: [f.last_step for s in compared if (f := results.final(s, env))] for env in results.envs}
    if uneven := [env for env, last in steps.items() if last and max(last) > 1.05 * min(last)]:
        found.append(f"Algorithms are compared at different numbers of steps in {', '.join(uneven)}.")
    return found + window_warnings(results) + settings_warnings(dataset) + coverage_warnings(dataset)


def envs_with_few_seeds(dataset: Dataset) -> list[str]:
    """Environments in which a variant has too few runs for an answer, while it has enough in others."""
    few: dict[str, None] = {}
    for variant in dataset.variants:
        counts = Counter(dataset.runs[run].env for run in variant.runs)
        if max(counts.values()) >= FEWEST_RUNS:
            few |= {env: None for env, count in counts.items() if count < FEWEST_RUNS}
    return sorted(few)


def kinds_averaged(context: AnalysisContext, variant: Variant) -> list[list[str]]:
    """The environments over which a variant's scores are averaged, those with the same network together."""
    kinds: dict[str, list[str]] = {}
    for env in context.normalisation.envs:
        if env in variant.by_env:
            network = {path: x for path, x in variant.by_env[env].items() if path.startswith("agent.torso.")}
            kinds.setdefault(repr(network), []).append(env)
    return list(kinds.values())


def settings_warnings(dataset: Dataset) -> list[str]:
    """Sentences about variants whose settings differ from the defaults in some environments only."""
    found = []
    for variant in dataset.variants:
        by_env = {dataset.runs[run].env: changed_settings(dataset.runs[run]) for run in variant.runs}
        paths = sorted({path for own in by_env.values() for path in own})
        if mixed := [path for path in paths if len({repr(own.get(path)) for own in by_env.values()}) > 1]:
            found.append(f"{variant.label} has other settings in some environments than in others: {', '.join(mixed)}.")
    return found


def coverage_warnings(dataset: Dataset) -> list[str]:
    """Sentences about environments and seeds that a variant lacks, and about seeds that it has more than once."""
    found = []
    for variant in dataset.own_variants:
        # Games and tasks of one study have algorithms of their own.
        beside = [run for v in dataset.variants if v.group == variant.group for run in v.runs]
        seeds: dict[str, list[int]] = {env: [] for env in sorted({dataset.runs[run].env for run in beside})}
        for run in variant.runs:
            seeds[dataset.runs[run].env].append(dataset.runs[run].seed)
        all_seeds = {seed for present in seeds.values() for seed in present}
        if absent := [env for env, present in seeds.items() if not present]:
            found.append(f"{variant.label} has no run on {', '.join(absent)}.")
        for env, present in seeds.items():
            if not present:
                continue
            if missing := sorted(all_seeds - set(present)):
                found.append(f"{variant.label} on {env} lacks seed {_list(missing)}, which it has elsewhere.")
            if doubles := sorted({seed for seed in present if present.count(seed) > 1}):
                found.append(f"{variant.label} on {env} has seed {_list(doubles)} more than once; each run counts.")
    return found


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
