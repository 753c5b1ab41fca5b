"""The warnings that a reader of figures and sentences needs: about runs, scores, seeds and settings.

Where other runs are shown beside one's own, they are about one's own.
"""

from collections import Counter
from collections.abc import Sequence

from chorus.analysis.bootstrap import FEWEST_RUNS
from chorus.analysis.context import AnalysisContext, describe_windows
from chorus.analysis.loading import Dataset
from chorus.analysis.results import Results, Series
from chorus.analysis.variants import NO_IDENTITY, Variant, changed_settings
from chorus.analysis.wording import plural
from chorus.runs.logs import FinalWindow

# A final score that averages fewer evaluations depends on the luck of single evaluations.
FEWEST_EVALUATIONS = 5


def window_warnings(results: Results) -> list[str]:
    """Sentences about final scores that average too much of a run, or too few evaluations."""
    long: dict[str, set[FinalWindow]] = {}
    short: dict[str, set[FinalWindow]] = {}
    for env in results.envs:
        finals = [f for s in _own_series(results) if (f := results.final(s, env))]
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
    found = run_warnings(dataset)
    if outside := [env for env in results.envs if env not in context.normalisation.envs]:
        why = "; ".join(f"{env}: {context.normalisation.left_out.get(env)}" for env in outside)
        found.append(f"Not normalised, so only in their own figures: {why}.")
    if few := envs_with_few_seeds(results):
        found.append(
            f"Answers leave out {', '.join(few)}: an algorithm has fewer than {FEWEST_RUNS} seeds there, and others "
            "have enough in other environments."
        )
    kinds = max((kinds_averaged(context, variant) for variant in dataset.own_variants), key=len, default=[])
    if len(kinds) > 1:
        found.append(
            f"Environments of different kinds, by their networks, are averaged: {'; '.join(map(', '.join, kinds))}. "
            "Give the runs of one kind alone to have its answers."
        )
    steps = {env: [f.last_step for s in _own_series(results) if (f := results.final(s, env))] for env in results.envs}
    if uneven := [env for env, last in steps.items() if last and max(last) > 1.05 * min(last)]:
        found.append(f"Algorithms are compared at different numbers of steps in {', '.join(uneven)}.")
    return found + window_warnings(results) + settings_warnings(dataset) + coverage_warnings(dataset)


def run_warnings(dataset: Dataset) -> list[str]:
    """Sentences about runs: their scale, how they ended, and what of them cannot be read."""
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
    if damaged := sum(run.damaged_lines for run in runs):
        found.append(f"{plural(damaged, 'damaged line')} skipped (a run was killed while writing).")
    return found


def envs_with_few_seeds(results: Results) -> list[str]:
    """Environments in which an algorithm has too few final scores for an answer, while it has enough in others."""
    few: set[str] = set()
    for series in _own_series(results):
        counts = {env: len(final.values) for env in results.envs if (final := results.final(series, env))}
        if max(counts.values(), default=0) >= FEWEST_RUNS:
            few |= {env for env, count in counts.items() if count < FEWEST_RUNS}
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
    for variant in dataset.own_variants:
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


def _own_series(results: Results) -> list[Series]:
    return [series for series in results.series if series.variant in results.dataset.own_variants]


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
