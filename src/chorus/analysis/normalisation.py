"""Normalisation: returns of different environments as scores that can be averaged, and what such a score means."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.results import Results, Series
from chorus.envs.atari_games import find_game, reference_scores
from chorus.errors import ChorusError


@dataclass(frozen=True)
class Reference:
    """The scores of a random policy and, if known, of a human in one environment."""

    random: float
    human: float | None


@dataclass(frozen=True)
class Normalisation:
    """Maps returns of an environment to scores that can be averaged with those of other environments."""

    kind: str
    axis: str  # label of an axis
    meaning: str  # part of a caption
    envs: tuple[str, ...]  # where it is defined
    apply: Callable[[str, np.ndarray], np.ndarray]


def choose_normalisation(
    results: Results, extra: dict[str, Reference] | None = None, kind: str | None = None
) -> Normalisation:
    """The normalisation of this kind; by default the first of human, single and min-max that is defined everywhere."""
    references = references_for(results.envs, extra)
    found = {
        "human": by_human(results, references),
        "single": by_single_agent(results, references),
        "min-max": by_range(results),
    }
    if kind is None:
        return next(n for n in found.values() if n is not None and len(n.envs) == len(results.envs))
    chosen = found.get(kind)
    if chosen is None:
        raise ChorusError(
            f"The normalisation {kind!r} cannot be used for {', '.join(results.envs)}: "
            "`human` needs a human and a random score, `single` a single agent with positive returns. "
            "Use --scale-by min-max, or give reference scores with --references."
        )
    return chosen


def by_human(results: Results, references: dict[str, Reference]) -> Normalisation | None:
    """0 is a random policy, 1 a human; None if no environment has both scores."""
    humans = {e: ref.human for e in results.envs if (ref := references.get(e)) and ref.human is not None}
    if not humans:
        return None
    return Normalisation(
        kind="human",
        axis="human-normalised score",
        meaning="0 is a random policy, 1 a human",
        envs=tuple(humans),
        apply=lambda env, scores: linear_score(scores, references[env].random, humans[env]),
    )


def by_single_agent(results: Results, references: dict[str, Reference]) -> Normalisation | None:
    """1 is the single agent's mean final score; 0 is a random policy's score if known, otherwise a return of zero."""
    floors, tops, names = {}, {}, set()
    for env in results.envs:
        single = single_agent(results, env)
        final = results.final(single, env) if single else None
        if single is None or final is None:
            continue
        floor = references[env].random if env in references else 0.0
        lowest = min((f.values.min() for s in results.series if (f := results.final(s, env))), default=floor)
        # Without a random score, zero is a floor only where returns cannot be negative.
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
        apply=lambda env, scores: linear_score(scores, floors[env], tops[env]),
    )


def by_range(results: Results) -> Normalisation:
    """0 is the worst final score in an environment, 1 the best; 0 everywhere if they are equal."""
    ends = {}
    for env in results.envs:
        values = np.concatenate([f.values for s in results.series if (f := results.final(s, env))] or [np.zeros(1)])
        low, high = float(values.min()), float(values.max())
        ends[env] = (low, high if high > low else low + 1.0)
    return Normalisation(
        kind="min-max",
        axis="score (worst run = 0, best run = 1)",
        meaning="0 is the worst and 1 the best final score of any run in that environment",
        envs=tuple(ends),
        apply=lambda env, scores: linear_score(scores, *ends[env]),
    )


def linear_score(scores: ArrayLike, zero: float, one: float) -> np.ndarray:
    """Scores on the line through 0 at `zero` and 1 at `one`."""
    if not one > zero:
        raise ValueError(f"the reference {one} must lie above the floor {zero} to normalise by it")
    return (np.asarray(scores, dtype=np.float64) - zero) / (one - zero)


def single_agent(results: Results, env: str) -> Series | None:
    """The single agent of an environment; of several, the one with settings closest to an ensemble's."""
    singles = [s for s in results.find("single", "individual") if results.curve(s, env)]
    ensembles = [v for v in results.dataset.variants if v.role == "ensemble"]
    return min(
        singles,
        key=lambda s: (min((s.variant.distance(e) for e in ensembles), default=0), s.label),
        default=None,
    )


def references_for(envs: tuple[str, ...], extra: dict[str, Reference] | None = None) -> dict[str, Reference]:
    """The known references of some environments; `extra`, by environment id, overrides the Atari table."""
    table = reference_scores()
    known = {env: Reference(*table[game]) for env in envs if (game := find_game(env))}
    return known | {env: ref for env, ref in (extra or {}).items() if env in envs}


def read_references(path: Path) -> dict[str, Reference]:
    """References from a CSV file with the columns env, random and optionally human."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        return {row["env"]: Reference(float(row["random"]), _optional(row.get("human"))) for row in rows}
    except OSError as error:
        raise ChorusError(f"{path} could not be read ({error.strerror}); pass a CSV file.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ChorusError(
            f"{path} is not a table of reference scores ({error}); it needs the columns env,random and may have "
            "human, with one number each."
        ) from error


def _optional(text: str | None) -> float | None:
    return float(text) if text and text.strip() else None
