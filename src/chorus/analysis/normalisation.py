"""Normalisation: returns of different environments as scores that can be averaged, and what such a score means."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.results import Results, Series
from chorus.analysis.variants import rank_by_defaults
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
    left_out: Mapping[str, str] = field(default_factory=dict)  # where it is not defined, and why


def choose_normalisation(
    results: Results, extra: dict[str, Reference] | None = None, kind: str | None = None
) -> Normalisation:
    """The normalisation of this kind; by default the first that fits.

    `human` fits if all environments have a human score, `single` if it is defined in at least half of them. Where it
    is not defined, figures leave the environment out and say why. Other algorithms' scores decide nothing, so that a
    negative or failed run never switches the normalisation.
    """
    references = references_for(results.envs, extra)
    human, single = by_human(results, references), by_single_agent(results, references)
    if kind is None:
        if human.envs == results.envs:
            return human
        if 2 * len(single.envs) >= len(results.envs):
            return single
        return by_range(results, single.left_out)
    chosen = {"human": human, "single": single, "min-max": by_range(results)}.get(kind)
    if chosen is None or not chosen.envs:
        left_out = chosen.left_out if chosen else {"its name": "it must be human, single or min-max"}
        reasons = "; ".join(f"{env}: {reason}" for env, reason in left_out.items())
        raise ChorusError(
            f"The normalisation {kind!r} cannot be used for {', '.join(results.envs)} ({reasons}). "
            "Use --scale-by min-max, or give reference scores with --references."
        )
    return chosen


def by_human(results: Results, references: dict[str, Reference]) -> Normalisation:
    """0 is a random policy, 1 a human; defined in the environments that have both scores."""
    humans = {e: ref.human for e in results.envs if (ref := references.get(e)) and ref.human is not None}
    return Normalisation(
        kind="human",
        axis="human-normalised score",
        meaning="0 is a random policy, 1 a human",
        envs=tuple(humans),
        apply=lambda env, scores: linear_score(scores, references[env].random, humans[env]),
        left_out={env: "no human score is known" for env in results.envs if env not in humans},
    )


def by_single_agent(results: Results, references: dict[str, Reference]) -> Normalisation:
    """1 is the single agent's mean final score; 0 is a random policy's score if known, otherwise a return of zero."""
    floors: dict[str, float] = {}
    tops: dict[str, float] = {}
    left_out: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    titles: dict[str, None] = {}
    for env in results.envs:
        single = single_agent(results, env)
        final = results.final(single, env) if single else None
        if single is None or final is None:
            left_out[env] = "no single agent was evaluated"
            continue
        floor, top = references[env].random if env in references else 0.0, float(final.values.mean())
        if not top > floor:
            zero = f"a random policy's {floor:.4g}" if env in references else "zero, and the random score is unknown"
            left_out[env] = f"{single.label} scores {top:.4g}, not above {zero}"
            continue
        floors[env], tops[env] = floor, top
        names.setdefault(single.label, []).append(env)
        titles[single.variant.title] = None
    # An axis has room for the algorithm; the sentence names its settings as well.
    title = next(iter(titles)) if len(titles) == 1 else "the single agent"
    each = "; ".join(f"{name} in {_listing(envs)}" for name, envs in names.items())
    who = next(iter(names)) if len(names) == 1 else f"the single agent ({each})"
    unknown = [env for env in floors if env not in references]
    zero = "a random policy" if len(unknown) < len(floors) else "a return of zero"
    exception = f" (a return of zero in {_listing(unknown)})" if 0 < len(unknown) < len(floors) else ""
    return Normalisation(
        kind="single",
        axis=f"score ({title} = 1)",
        meaning=f"0 is {zero}{exception}, 1 the mean final score of {who}",
        envs=tuple(floors),
        apply=lambda env, scores: linear_score(scores, floors[env], tops[env]),
        left_out=left_out,
    )


def by_range(results: Results, why: Mapping[str, str] | None = None) -> Normalisation:
    """0 is the worst final score in an environment, 1 the best; 0 everywhere if they are equal.

    `why` says in which environments the single agent cannot be the reference.
    """
    ends = {}
    for env in results.envs:
        values = np.concatenate([f.values for s in results.series if (f := results.final(s, env))] or [np.zeros(1)])
        low, high = float(values.min()), float(values.max())
        ends[env] = (low, high if high > low else low + 1.0)
    reasons = "; ".join(f"{env}: {reason}" for env, reason in (why or {}).items())
    return Normalisation(
        kind="min-max",
        axis="score (worst run = 0, best run = 1)",
        meaning="0 is the worst and 1 the best final score of any run in that environment"
        + (f" (not normalised by a single agent; {reasons})" if reasons else ""),
        envs=tuple(ends),
        apply=lambda env, scores: linear_score(scores, *ends[env]),
    )


def linear_score(scores: ArrayLike, zero: float, one: float) -> np.ndarray:
    """Scores on the line through 0 at `zero` and 1 at `one`."""
    if not one > zero:
        raise ValueError(f"the reference {one} must lie above the floor {zero} to normalise by it")
    return (np.asarray(scores, dtype=np.float64) - zero) / (one - zero)


def single_agent(results: Results, env: str) -> Series | None:
    """The single agent with the default settings among those that were evaluated in an environment."""
    singles = [s for s in results.find("single", "individual") if results.curve(s, env)]
    ranked = rank_by_defaults([s.variant for s in singles], results.dataset.variants)
    return Series(ranked[0], "individual") if ranked else None


def references_for(envs: tuple[str, ...], extra: dict[str, Reference] | None = None) -> dict[str, Reference]:
    """The known references of some environments; `extra`, by environment id, overrides the tables of the package."""
    atari, measured = reference_scores(), random_scores()
    known = {env: Reference(*atari[game]) for env in envs if (game := find_game(env))}
    known |= {env: Reference(measured[env], None) for env in envs if env in measured}
    return known | {env: ref for env, ref in (extra or {}).items() if env in envs}


@cache
def random_scores() -> dict[str, float]:
    """Environment -> the mean return of a uniformly random policy, measured by `benchmarks/random_scores.py`."""
    table = files("chorus.data").joinpath("random_scores.csv").read_text(encoding="utf-8")
    return {row["env"]: float(row["random"]) for row in csv.DictReader(table.splitlines())}


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


def _listing(envs: Sequence[str], most: int = 5) -> str:
    return ", ".join(envs) if len(envs) <= most else f"{len(envs)} environments"


def _optional(text: str | None) -> float | None:
    return float(text) if text and text.strip() else None
