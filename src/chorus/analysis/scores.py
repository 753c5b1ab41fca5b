"""From evaluations to scores: the last evaluations of a run, and three ways to put environments on one scale."""

import csv
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from chorus.errors import ChorusError

FINAL_EVALUATIONS = 10
FINAL_EVALUATIONS_MUJOCO = 5
SMOOTHING_WINDOW = 5
# The paper's 55 games are all of the table but these two.
NOT_IN_ATARI55 = ("defender", "surround")

MUJOCO = re.compile(
    r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedDoublePendulum|InvertedPendulum|Pusher|Reacher|Swimmer"
    r"|Walker2d)-v\d+"
)
ATARI = re.compile(r"(?:ALE/(?P<ale>\w+)-v5)|(?:(?P<gym>\w+?)NoFrameskip-v\d+)")


@dataclass(frozen=True)
class Reference:
    """What a random policy and, where known, a human score in one environment."""

    random: float
    human: float | None


def final_evaluations(env: str) -> int:
    """How many of the last evaluations make the final score."""
    return FINAL_EVALUATIONS_MUJOCO if MUJOCO.fullmatch(env) else FINAL_EVALUATIONS


def final_score(evaluations: ArrayLike, count: int) -> float:
    """The mean of the last `count` evaluations of a run, or of all if there are fewer."""
    evaluations = np.asarray(evaluations, dtype=np.float64)
    present = evaluations[np.isfinite(evaluations)]
    return float(present[-count:].mean()) if len(present) else float("nan")


def smooth(values: np.ndarray, window: int = SMOOTHING_WINDOW) -> np.ndarray:
    """Each point becomes the mean of itself and the points before it, `window` in all; curves [..., points].

    Points that are missing stay missing and do not enter a neighbour's mean.
    """
    present = np.isfinite(values)
    padding = [(0, 0)] * (values.ndim - 1) + [(window, 0)]
    sums = np.cumsum(np.pad(np.where(present, values, 0.0), padding), axis=-1)
    counts = np.cumsum(np.pad(present, padding), axis=-1)
    total = sums[..., window:] - sums[..., :-window]
    number = counts[..., window:] - counts[..., :-window]
    return np.where(present, total / np.maximum(number, 1), np.nan)


def human_normalised(scores: ArrayLike, reference: Reference) -> np.ndarray:
    """0 for a random policy, 1 for a human."""
    if reference.human is None:
        raise ValueError("human-normalised scores need a human score; this reference has none")
    return reference_normalised(scores, reference.random, reference.human)


def reference_normalised(scores: ArrayLike, floor: float, reference: float) -> np.ndarray:
    """0 at `floor` (a random policy), 1 at `reference` (a human, or the single agent's mean final score)."""
    if not reference > floor:
        raise ValueError(f"the reference {reference} must lie above the floor {floor} to normalise by it")
    return (np.asarray(scores, dtype=np.float64) - floor) / (reference - floor)


def min_max_normalised(scores: ArrayLike, low: float, high: float) -> np.ndarray:
    """0 at the lowest final score seen, 1 at the highest; 0 everywhere when they are equal."""
    if not high >= low:
        raise ValueError(f"the highest score {high} lies below the lowest {low}")
    return (np.asarray(scores, dtype=np.float64) - low) / (high - low if high > low else 1.0)


def atari_game(env: str) -> str | None:
    """`ALE/SpaceInvaders-v5` and `SpaceInvadersNoFrameskip-v4` are space_invaders; MinAtar's games are not
    Atari's.
    """
    match = ATARI.fullmatch(env)
    if not match:
        return None
    name = match["ale"] or match["gym"]
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def atari_references() -> dict[str, Reference]:
    """The random and human scores of the 57 games, by game name (DQN Zoo's table)."""
    text = files("chorus.data").joinpath("atari_human_random.csv").read_text(encoding="utf-8")
    return {
        row["game"]: Reference(float(row["random"]), float(row["human"])) for row in csv.DictReader(text.splitlines())
    }


def atari55() -> tuple[str, ...]:
    return tuple(game for game in atari_references() if game not in NOT_IN_ATARI55)


def references_for(envs: tuple[str, ...], extra: dict[str, Reference] | None = None) -> dict[str, Reference]:
    """The known references of some environments; `extra` (by environment id) wins over the Atari table."""
    table = atari_references()
    known = {env: table[game] for env in envs if (game := atari_game(env)) in table}
    return known | {env: ref for env, ref in (extra or {}).items() if env in envs}


def read_references(path: Path) -> dict[str, Reference]:
    """References from a CSV file with the columns env, random and, if you have it, human."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        return {row["env"]: Reference(float(row["random"]), _optional(row.get("human"))) for row in rows}
    except OSError as error:
        raise ChorusError(f"{path} could not be read ({error.strerror}); pass a CSV file.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ChorusError(
            f"{path} is no table of reference scores ({error}); it needs the columns env,random and may have "
            "human, with one number each."
        ) from error


def _optional(text: str | None) -> float | None:
    return float(text) if text and text.strip() else None
