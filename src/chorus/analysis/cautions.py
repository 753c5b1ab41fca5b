"""Everything that could mislead a reader who only reads a summary, as sentences."""

from collections import Counter
from collections.abc import Sequence

from chorus.analysis.counted import many
from chorus.analysis.loading import Dataset
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Results


def cautions(results: Results, scale: Normalisation) -> list[str]:
    """Everything that could mislead a reader who only reads the summary."""
    dataset = results.dataset
    notes = []
    if smoke := sum(run.config.get("scale") == "smoke" for run in dataset.runs):
        whose = "" if smoke == len(dataset.runs) else f" ({many(smoke, 'run')} of {len(dataset.runs)})"
        notes.append(f"At the smoke scale{whose} nothing is learnt: this shows that everything works, and no more.")
    states = Counter(run.state for run in dataset.runs)
    if early := [f"{states[state]} {state}" for state in ("running", "failed", "unknown") if states[state]]:
        notes.append(
            f"Runs that have not ended: {', '.join(early)}. They are in the curves, and in final scores only where no "
            "run of that algorithm has ended."
        )
    if states["diverged"]:
        notes.append(f"{many(states['diverged'], 'run')} diverged; the last evaluations count as the outcome.")
    if dataset.unusable:
        notes.append(f"{many(len(dataset.unusable), 'run')} could not be used; the table of runs tells why.")
    if dataset.damaged_lines:
        notes.append(f"{many(dataset.damaged_lines, 'damaged line')} skipped (a run was killed while writing).")
    if outside := [env for env in results.envs if env not in scale.envs]:
        notes.append(f"Not on the common scale, so only in their own figures: {', '.join(outside)}.")
    steps = {env: [f.last_step for s in results.series if (f := results.final(s, env))] for env in results.envs}
    if uneven := [env for env, found in steps.items() if max(found) > 1.05 * min(found)]:
        notes.append(f"Algorithms are compared at different numbers of steps in {', '.join(uneven)}.")
    return notes + coverage_notes(dataset)


def coverage_notes(dataset: Dataset) -> list[str]:
    """Sentences on what is missing: environments and seeds a variant has elsewhere but not here, and
    doubles.
    """
    notes = []
    for variant in dataset.variants:
        seeds: dict[str, list[int]] = {env: [] for env in dataset.envs}
        for run in variant.runs:
            seeds[dataset.runs[run].env].append(dataset.runs[run].seed)
        everywhere = {seed for found in seeds.values() for seed in found}
        for env, found in seeds.items():
            if not found:
                notes.append(f"{variant.label} has no run on {env}.")
                continue
            if missing := sorted(everywhere - set(found)):
                notes.append(f"{variant.label} on {env} lacks seed {_list(missing)}, which it has elsewhere.")
            if doubles := sorted({seed for seed in found if found.count(seed) > 1}):
                notes.append(f"{variant.label} on {env} has seed {_list(doubles)} more than once; each run counts.")
    return notes


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
