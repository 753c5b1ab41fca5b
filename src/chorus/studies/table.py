"""One study for each data figure of the paper, by its number.

What the paper leaves open (the values of its sweeps, the four games and tasks of its ablations) is settled in
docs/deviations.md. At the laptop scale MinAtar stands for Atari, sweeps have fewer values and N is that scale's; at
the smoke scale a study only shows that everything works.
"""

from dataclasses import replace

from chorus.envs.registry import env_sets
from chorus.errors import ChorusError, closest
from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled, Study

_BREAKOUT = "MinAtar/Breakout-v1"
_ASTERIX, _INVADERS = "MinAtar/Asterix-v1", "MinAtar/SpaceInvaders-v1"
_SETS = env_sets()

_ALL_GAMES = Scaled(
    smoke=EnvironmentSet((_BREAKOUT,), 2),
    laptop=EnvironmentSet(_SETS["minatar5"], 5),
    paper=EnvironmentSet(_SETS["atari55"], 5),
)
# These members cost half as much again: fewer seeds keep the study within one night.
_ALL_GAMES_FEWER_SEEDS = replace(_ALL_GAMES, laptop=EnvironmentSet(_SETS["minatar5"], 4))
_FEW_GAMES = Scaled(
    smoke=EnvironmentSet((_BREAKOUT,), 2),
    laptop=EnvironmentSet((_ASTERIX, _BREAKOUT, _INVADERS), 5),
    paper=EnvironmentSet(_SETS["atari4"], 5),
)
# MinAtar has no lives, so these studies use small Atari runs.
_GAMES_WITH_LIVES = Scaled(
    smoke=EnvironmentSet(("ALE/Breakout-v5",), 2),
    laptop=EnvironmentSet(("ALE/Breakout-v5",), 3),
    paper=EnvironmentSet(_SETS["atari4"], 5),
)
_TASKS = Scaled(
    smoke=EnvironmentSet(("InvertedPendulum-v4",), 2),
    laptop=EnvironmentSet(("HalfCheetah-v4", "Hopper-v4", "Walker2d-v4"), 5),
    paper=EnvironmentSet(_SETS["mujoco4"], 30),
)
# Sweeping every arm over capacities is expensive on a CPU.
_FEW_TASKS = Scaled(
    smoke=_TASKS.smoke,
    laptop=EnvironmentSet(("HalfCheetah-v4", "Walker2d-v4"), 3),
    paper=EnvironmentSet(_SETS["mujoco4"], 30),
)
_FEWER_SEEDS = Scaled(smoke=2, laptop=5, paper=10)

# The convolutional layers: three on Atari, one on MinAtar.
_CONVOLUTIONS = Scaled(smoke=(1,), laptop=(1,), paper=(3,))
_LAYERS = Scaled(smoke=(0, 1), laptop=(0, 1, 2), paper=(0, 1, 2, 3, 4))
_SIZES = Scaled(smoke=(2, 3), laptop=(2, 5, 10), paper=(2, 5, 10, 20))
_GAME_BUFFERS = Scaled(smoke=(1_000, 2_000), laptop=(25_000, 100_000, 500_000), paper=(250_000, 1_000_000, 4_000_000))
_LARGE_BUFFER = Scaled(smoke=(4_000,), laptop=(500_000,), paper=(4_000_000,))
_TASK_BUFFERS = Scaled(smoke=(1_000, 2_000), laptop=(20_000, 100_000), paper=(100_000, 200_000, 500_000, 1_000_000))
_SHARES = Scaled(smoke=(0.1, 0.5), laptop=(0.05, 0.1, 0.3, 0.5), paper=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5))
_STICKY = Scaled[tuple](smoke=(None,), laptop=(None,), paper=(0.25,))

_SINGLE, _ENSEMBLE, _TANDEM, _CERL = Arm("double-dqn"), Arm("bootstrapped-dqn"), Arm("tandem"), Arm("cerl")
_SAC, _ENSEMBLE_SAC = Arm("sac"), Arm("ensemble-sac")


def _games(*arms: Arm, environments: Scaled[EnvironmentSet] = _FEW_GAMES) -> Part:
    return Part(name="discrete", environments=environments, arms=arms)


def _tasks(*arms: Arm, environments: Scaled[EnvironmentSet] = _TASKS) -> Part:
    return Part(name="continuous", environments=environments, arms=arms)


def _study(number: int, title: str, *parts: Part, laptop: str = "") -> Study:
    return Study(number=number, title=title, parts=parts, laptop=laptop)


_FEWER_GAMES, _FIVE_GAMES = "3 games instead of 4", "5 games instead of 55"
_BASELINES = (_SINGLE, _ENSEMBLE)
_TABLE = (
    _study(
        2, "the curse of diversity",
        _games(*_BASELINES, environments=_ALL_GAMES), _tasks(_SAC, _ENSEMBLE_SAC),
        laptop=f"{_FIVE_GAMES}; 3 tasks, 5 seeds instead of 30",
    ),
    _study(
        3, "the tandem: passive members behind active ones",
        _games(*_BASELINES, _TANDEM, environments=_ALL_GAMES),
        laptop=_FIVE_GAMES,
    ),
    _study(
        4, "the replay's capacity",
        _games(
            Arm("double-dqn", {"buffer_size": _GAME_BUFFERS}), Arm("bootstrapped-dqn", {"buffer_size": _GAME_BUFFERS})
        ),
        _tasks(
            *(Arm(name, {"buffer_size": _TASK_BUFFERS}) for name in ("sac", "ensemble-sac")), environments=_FEW_TASKS
        ),
        laptop=f"{_FEWER_GAMES}; 2 tasks, 2 capacities, 3 seeds instead of 30",
    ),
    _study(
        5, "the ensemble's size and its shared layers",
        _games(
            _SINGLE, Arm("bootstrapped-dqn", {"members": _SIZES}), Arm("bootstrapped-dqn", {"shared_layers": _LAYERS})
        ),
        laptop=f"{_FEWER_GAMES}; N up to 10, and L up to 2, because the network has three layers",
    ),
    _study(
        7, "CERL",
        _games(
            *_BASELINES, Arm("bootstrapped-dqn", {"shared_layers": _CONVOLUTIONS}), _CERL,
            environments=Scaled(smoke=_ALL_GAMES.smoke, laptop=_FEW_GAMES.laptop, paper=_ALL_GAMES.paper),
        ),
        _tasks(
            *(Arm(name, {"buffer_size": _TASK_BUFFERS}) for name in ("sac", "ensemble-sac", "ensemble-sac-cerl")),
            environments=_FEW_TASKS,
        ),
        laptop="3 games instead of 55, L = 1 instead of 3; 2 tasks, 2 capacities, 3 seeds instead of 30",
    ),
    _study(
        8, "the tandem in continuous control",
        _tasks(_SAC, _ENSEMBLE_SAC, Arm("sac-tandem", seeds=_FEWER_SEEDS)),
        laptop="3 tasks, 5 seeds instead of 30 and 10",
    ),
    _study(9, "every game, votes", _games(*_BASELINES, _CERL, environments=_ALL_GAMES), laptop=_FIVE_GAMES),
    _study(10, "every game, members", _games(*_BASELINES, _CERL, environments=_ALL_GAMES), laptop=_FIVE_GAMES),
    _study(11, "every game, the tandem", _games(*_BASELINES, _TANDEM, environments=_ALL_GAMES), laptop=_FIVE_GAMES),
    _study(12, "what voting adds", _games(*_BASELINES, environments=_ALL_GAMES), laptop=_FIVE_GAMES),
    _study(13, "what CERL adds", _games(*_BASELINES, _CERL, environments=_ALL_GAMES), laptop=_FIVE_GAMES),
    _study(14, "over-sampling one's own data", _games(*_BASELINES, Arm("self-oversampled")), laptop=_FEWER_GAMES),
    _study(
        15, "a terminal at each lost life",
        _games(
            Arm("double-dqn", {"terminal_on_life_loss": (True,)}), Arm("life-loss"), environments=_GAMES_WITH_LIVES
        ),
        laptop="Atari's Breakout at its laptop scale (MinAtar has no lives), N = 5, 3 seeds",
    ),
    _study(
        16, "QR-DQN",
        _games(Arm("qr-dqn", {"sticky_actions": _STICKY}), Arm("bootstrapped-qr-dqn", {"sticky_actions": _STICKY})),
        laptop=f"{_FEWER_GAMES}, 50 quantiles instead of 200",
    ),
    _study(17, "switching members at each step", _games(*_BASELINES, Arm("per-step")), laptop=_FEWER_GAMES),
    _study(
        18, "shared layers with a large replay",
        _games(
            Arm("double-dqn", {"buffer_size": _LARGE_BUFFER}),
            Arm("bootstrapped-dqn", {"buffer_size": _LARGE_BUFFER, "shared_layers": _LAYERS}),
        ),
        laptop=f"{_FEWER_GAMES}; a replay of all 500k steps instead of 4M of 50M, L up to 2",
    ),
    _study(
        19, "the passive share of the tandem",
        _games(_SINGLE, Arm("tandem", {"passive_share": _SHARES})),
        laptop=f"{_FEWER_GAMES}, 4 shares instead of 6",
    ),
    _study(20, "data bootstrapping", _games(*_BASELINES, Arm("data-bootstrapped")), laptop=_FEWER_GAMES),
    _study(
        21, "CERL and the ensemble's size",
        _games(_SINGLE, Arm("bootstrapped-dqn", {"members": _SIZES}), Arm("cerl", {"members": _SIZES})),
        laptop=f"{_FEWER_GAMES}; N up to 10",
    ),
    _study(22, "CERL with its own targets", _games(*_BASELINES, _CERL, Arm("cerl-self-target")), laptop=_FEWER_GAMES),
    _study(
        23, "CERL with shared layers",
        _games(
            *_BASELINES, _CERL,
            Arm("bootstrapped-dqn", {"shared_layers": _CONVOLUTIONS}), Arm("cerl", {"shared_layers": _CONVOLUTIONS}),
        ),
        laptop=f"{_FEWER_GAMES}; L = 1 instead of 3",
    ),
    _study(24, "more parameters", _games(*_BASELINES, Arm("wide")), laptop=_FEWER_GAMES),
    *(
        _study(
            number, title,
            _games(*_BASELINES, Arm(f"double-dqn-{kind}"), Arm(f"bootstrapped-dqn-{kind}"), environments=environments),
            laptop=laptop,
        )
        for number, title, kind, environments, laptop in (
            (25, "multiple horizons", "mh", _ALL_GAMES, _FIVE_GAMES),
            (26, "MICo", "mico", _ALL_GAMES_FEWER_SEEDS, f"{_FIVE_GAMES}, 4 seeds instead of 5"),
            (27, "what multiple horizons add", "mh", _ALL_GAMES, _FIVE_GAMES),
            (28, "what MICo adds", "mico", _ALL_GAMES_FEWER_SEEDS, f"{_FIVE_GAMES}, 4 seeds instead of 5"),
        )
    ),
)  # fmt: skip

STUDIES: dict[str, Study] = {study.name: study for study in _TABLE}


def find_study(name: str) -> Study:
    """A study by its name or by its figure's number."""
    whole = f"figure{name}" if name.isdigit() else name
    if whole not in STUDIES:
        hint = closest(whole, STUDIES)
        others = f"; did you mean '{hint}'?" if hint else ""
        others = "; figures 1 and 6 are diagrams" if whole in ("figure1", "figure6") else others
        raise ChorusError(f"the study '{name}' is not known{others}; `chorus list studies` shows them")
    return STUDIES[whole]
