"""Putting environments on one scale, and saying which scale it is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chorus.analysis.results import Results, Series
from chorus.analysis.scores import (
    Reference,
    human_normalised,
    min_max_normalised,
    reference_normalised,
    references_for,
)
from chorus.errors import ChorusError

KINDS = ("human", "single", "min-max")


@dataclass(frozen=True)
class Normalisation:
    """How returns of one environment become scores that can be averaged with those of another."""

    kind: str
    axis: str  # what an axis says
    meaning: str  # what a caption says
    envs: tuple[str, ...]  # where it is defined
    apply: Callable[[str, np.ndarray], np.ndarray]


def human_scale(results: Results, references: dict[str, Reference]) -> Normalisation | None:
    envs = tuple(e for e in results.envs if e in references and references[e].human is not None)
    if not envs:
        return None
    return Normalisation(
        kind="human",
        axis="human-normalised score",
        meaning="0 is a random policy, 1 a human",
        envs=envs,
        apply=lambda env, scores: human_normalised(scores, references[env]),
    )


def single_agent_scale(results: Results, references: dict[str, Reference]) -> Normalisation | None:
    """By the single agent's mean final score; the floor is a random policy's score where known, else zero
    return.
    """
    floors, tops, names = {}, {}, set()
    for env in results.envs:
        single = single_agent(results, env)
        final = results.final(single, env) if single else None
        if single is None or final is None:
            continue
        floor = references[env].random if env in references else 0.0
        lowest = min((f.values.min() for s in results.series if (f := results.final(s, env))), default=floor)
        # Without a measured floor, zero serves only where returns cannot be negative.
        if (env not in references and lowest < 0) or not final.values.mean() > floor:
            continue
        floors[env], tops[env] = floor, float(final.values.mean())
        names.add(single.label)
    if not floors:
        return None
    name = names.pop() if len(names) == 1 else "the single agent"
    zero = "a random policy" if all(env in references for env in floors) else "no return at all"
    return Normalisation(
        kind="single",
        axis=f"score ({name} = 1)",
        meaning=f"0 is {zero}, 1 the mean final score of {name}",
        envs=tuple(floors),
        apply=lambda env, scores: reference_normalised(scores, floors[env], tops[env]),
    )


def min_max_scale(results: Results) -> Normalisation:
    ends = {}
    for env in results.envs:
        values = np.concatenate([f.values for s in results.series if (f := results.final(s, env))] or [np.zeros(1)])
        ends[env] = (float(values.min()), float(values.max()))
    return Normalisation(
        kind="min-max",
        axis="score (worst run = 0, best run = 1)",
        meaning="0 is the worst and 1 the best final score of any run in that environment",
        envs=tuple(ends),
        apply=lambda env, scores: min_max_normalised(scores, *ends[env]),
    )


def choose_normalisation(
    results: Results, extra: dict[str, Reference] | None = None, kind: str | None = None
) -> Normalisation:
    """The asked-for scale, or the first of human, single agent and min-max that is defined in every
    environment.
    """
    references = references_for(results.envs, extra)
    scales = {
        "human": human_scale(results, references),
        "single": single_agent_scale(results, references),
        "min-max": min_max_scale(results),
    }
    if kind is None:
        return next(s for s in scales.values() if s is not None and len(s.envs) == len(results.envs))
    chosen = scales.get(kind)
    if chosen is None:
        raise ChorusError(
            f"The scale {kind!r} cannot be used for {', '.join(results.envs)}: "
            "`human` needs a human and a random score, `single` a single agent with positive returns. "
            "Use --scale-by min-max, or give reference scores with --references."
        )
    return chosen


def single_agent(results: Results, env: str) -> Series | None:
    """The plain single agent of an environment; of several, the one nearest to the plain ensembles."""
    singles = [s for s in results.find("single", "individual") if s.variant.traits.plain and results.curve(s, env)]
    ensembles = [v for v in results.dataset.variants if v.traits.role == "ensemble"]
    return min(
        singles,
        key=lambda s: (min((s.variant.distance(e) for e in ensembles), default=0), s.label),
        default=None,
    )
