"""The 57 Atari games of the literature: their ids, their sizes, and the sets the paper names.

Sizes are a table because asking the emulator for them starts it. The scores of a human and of random play are data,
`chorus/data/atari_human_random.csv`: those of DQN Zoo, measured with 1 to 30 no-ops before each game.
"""

import csv
import re
from functools import cache
from importlib.resources import files

from chorus.errors import ChorusError, did_you_mean

_ALL_ACTIONS = 18
_FEWER_ACTIONS = {
    **dict.fromkeys(("freeway", "skiing"), 3),
    **dict.fromkeys(("atlantis", "breakout"), 4),
    "surround": 5,
    **dict.fromkeys(
        ("bowling", "demon_attack", "name_this_game", "pong", "qbert", "space_invaders", "up_n_down"), 6
    ),
    "assault": 7,
    **dict.fromkeys(("gopher", "phoenix", "tutankham"), 8),
    **dict.fromkeys(("asterix", "beam_rider", "crazy_climber", "enduro", "ms_pacman", "video_pinball"), 9),
    **dict.fromkeys(("amidar", "time_pilot", "wizard_of_wor"), 10),
    **dict.fromkeys(("asteroids", "kung_fu_master"), 14),
}  # fmt: skip
# The paper's 55 games are the 57 without these.
_NOT_IN_THE_PAPER = ("defender", "surround")
_ABLATIONS = ("amidar", "space_invaders", "breakout", "seaquest")


def env_id(game: str) -> str:
    """`space_invaders` is `ALE/SpaceInvaders-v5` to Gymnasium."""
    return f"ALE/{_camel(game)}-v5"


def _camel(game: str) -> str:
    return "".join(word.capitalize() for word in game.split("_"))


@cache
def reference_scores() -> dict[str, tuple[float, float]]:
    """Game -> the scores of random play and of a human."""
    table = files("chorus.data").joinpath("atari_human_random.csv").read_text(encoding="utf-8")
    return {row["game"]: (float(row["random"]), float(row["human"])) for row in csv.DictReader(table.splitlines())}


@cache
def games() -> dict[str, str]:
    """Canonical id -> the game's name in the emulator."""
    return {env_id(game): game for game in reference_scores()}


def minimal_actions(game: str) -> int:
    return _FEWER_ACTIONS.get(game, _ALL_ACTIONS)


def named_sets() -> dict[str, tuple[str, ...]]:
    """Sets of environments by name; the four games of the ablations are our choice (docs/deviations.md)."""
    everything = tuple(games())
    return {
        "atari57": everything,
        "atari55": tuple(name for name, game in games().items() if game not in _NOT_IN_THE_PAPER),
        "atari4": tuple(env_id(game) for game in _ABLATIONS),
    }


def is_atari(name: str) -> bool:
    return name.startswith("ALE/") or name.endswith("NoFrameskip-v4")


def find_game(name: str) -> str | None:
    """The emulator's name of the game with this id; None for any other environment."""
    return games().get(_current_id(name))


def canonical(name: str) -> str:
    """`ALE/Breakout-v5` for itself and for `BreakoutNoFrameskip-v4`: both name the paper's protocol here."""
    known = _current_id(name)
    if known not in games():
        raise ChorusError(f"'{name}' is none of the 57 Atari games{did_you_mean(known, games())}")
    return known


def _current_id(name: str) -> str:
    found = re.fullmatch(r"ALE/(\w+)-v5|(\w+)NoFrameskip-v4", name)
    return f"ALE/{found[1] or found[2]}-v5" if found else name
