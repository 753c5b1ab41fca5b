"""All studies: their arms and their panels, one for each data figure of the paper and some beside them.

What the paper leaves open (the values of its sweeps) is settled in docs/deviations.md. At the laptop scale sweeps have
fewer values and N is that scale's.
"""

from chorus.errors import ChorusError, closest
from chorus.studies.beyond import BEYOND
from chorus.studies.controls import CONTROLS
from chorus.studies.environments import (
    ALL_GAMES,
    ALL_GAMES_FEWER_SEEDS,
    FEW_GAMES,
    FEW_TASKS,
    GAMES_WITH_LIVES,
    games,
    tasks,
)
from chorus.studies.panels import (
    BY_POLICY,
    Curves,
    Diversity,
    EnvironmentCurves,
    GainsByVoting,
    GainsOverEnsemble,
    GainsOverSingle,
    Panel,
    Sweep,
    TandemGaps,
)
from chorus.studies.study import Arm, Part, Scaled, Study

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


_BOTH = ("individual", "aggregate")
# The tandem beside members of the plain ensemble.
_WITH_TANDEM = {"roles": ("single", "ensemble", "tandem"), "policies": ("individual", "active", "passive")}
_CAPACITY = Sweep(path="replay.capacity")
_MEMBERS, _SHARED_LAYERS = Sweep(path="agent.members"), Sweep(path="agent.shared_layers")


def _study(number: int, title: str, *parts: Part, panels: tuple[Panel, ...] = BY_POLICY, laptop: str) -> Study:
    """The study of a data figure; most figures show votes and members apart."""
    return Study(name=f"figure{number}", figure=number, title=title, parts=parts, panels=panels, laptop=laptop)


_FEWER_GAMES, _FIVE_GAMES = "3 games instead of 4", "5 games instead of 55"
_BASELINES = (_SINGLE, _ENSEMBLE)
_FIGURES = (
    _study(
        2, "the curse of diversity",
        games(*_BASELINES, environments=ALL_GAMES), tasks(_SAC, _ENSEMBLE_SAC),
        panels=(
            Curves(roles=("single", "ensemble"), policies=_BOTH),
            GainsOverSingle(),
            EnvironmentCurves(roles=("single", "ensemble"), policies=_BOTH),
        ),
        laptop=f"{_FIVE_GAMES}; 3 tasks, 5 seeds instead of 30",
    ),
    _study(
        3, "the tandem: passive members behind active ones",
        games(*_BASELINES, _TANDEM, environments=ALL_GAMES),
        panels=(Curves(**_WITH_TANDEM), TandemGaps()),
        laptop=_FIVE_GAMES,
    ),
    _study(
        4, "the replay's capacity",
        games(
            Arm("double-dqn", {"buffer_size": _GAME_BUFFERS}), Arm("bootstrapped-dqn", {"buffer_size": _GAME_BUFFERS})
        ),
        tasks(
            *(Arm(name, {"buffer_size": _TASK_BUFFERS}) for name in ("sac", "ensemble-sac")), environments=FEW_TASKS
        ),
        panels=(_CAPACITY,),
        laptop=f"{_FEWER_GAMES}; 2 tasks, 2 capacities, 3 seeds instead of 30",
    ),
    _study(
        5, "the ensemble's size and its shared layers",
        games(
            _SINGLE, Arm("bootstrapped-dqn", {"members": _SIZES}), Arm("bootstrapped-dqn", {"shared_layers": _LAYERS})
        ),
        panels=(_MEMBERS, _SHARED_LAYERS),
        laptop=f"{_FEWER_GAMES}; N up to 10, and L up to 2, because the network has three layers",
    ),
    _study(
        7, "CERL",
        games(
            *_BASELINES, Arm("bootstrapped-dqn", {"shared_layers": _CONVOLUTIONS}), _CERL,
            environments=Scaled(smoke=ALL_GAMES.smoke, laptop=FEW_GAMES.laptop, paper=ALL_GAMES.paper),
        ),
        tasks(
            *(Arm(name, {"buffer_size": _TASK_BUFFERS}) for name in ("sac", "ensemble-sac", "ensemble-sac-cerl")),
            environments=FEW_TASKS,
        ),
        panels=(Curves(policies=("aggregate",)), Curves(policies=("individual",)), Diversity(), _CAPACITY),
        laptop="3 games instead of 55, L = 1 instead of 3; 2 tasks, 2 capacities, 3 seeds instead of 30",
    ),
    _study(
        8, "the tandem in continuous control",
        tasks(_SAC, _ENSEMBLE_SAC, Arm("sac-tandem", seeds=_FEWER_SEEDS)),
        panels=(EnvironmentCurves(**_WITH_TANDEM),),
        laptop="3 tasks, 5 seeds instead of 30 and 10",
    ),
    _study(
        9, "every game, votes",
        games(*_BASELINES, _CERL, environments=ALL_GAMES),
        panels=(EnvironmentCurves(policies=("aggregate",)),),
        laptop=_FIVE_GAMES,
    ),
    _study(
        10, "every game, members",
        games(*_BASELINES, _CERL, environments=ALL_GAMES),
        panels=(EnvironmentCurves(policies=("individual",)),),
        laptop=_FIVE_GAMES,
    ),
    _study(
        11, "every game, the tandem",
        games(*_BASELINES, _TANDEM, environments=ALL_GAMES),
        panels=(EnvironmentCurves(**_WITH_TANDEM),),
        laptop=_FIVE_GAMES,
    ),
    _study(
        12, "what voting adds",
        games(*_BASELINES, environments=ALL_GAMES),
        panels=(GainsByVoting(),),
        laptop=_FIVE_GAMES,
    ),
    _study(
        13, "what CERL adds",
        games(*_BASELINES, _CERL, environments=ALL_GAMES),
        panels=(GainsOverEnsemble(),),
        laptop=_FIVE_GAMES,
    ),
    _study(14, "over-sampling one's own data", games(*_BASELINES, Arm("self-oversampled")), laptop=_FEWER_GAMES),
    _study(
        15, "a terminal at each lost life",
        games(
            Arm("double-dqn", {"terminal_on_life_loss": (True,)}), Arm("life-loss"), environments=GAMES_WITH_LIVES
        ),
        laptop="Atari's Breakout at its laptop scale (MinAtar has no lives), N = 5, 3 seeds",
    ),
    _study(
        16, "QR-DQN",
        games(Arm("qr-dqn", {"sticky_actions": _STICKY}), Arm("bootstrapped-qr-dqn", {"sticky_actions": _STICKY})),
        laptop=f"{_FEWER_GAMES}, 50 quantiles instead of 200",
    ),
    _study(17, "switching members at each step", games(*_BASELINES, Arm("per-step")), laptop=_FEWER_GAMES),
    _study(
        18, "shared layers with a large replay",
        games(
            Arm("double-dqn", {"buffer_size": _LARGE_BUFFER}),
            Arm("bootstrapped-dqn", {"buffer_size": _LARGE_BUFFER, "shared_layers": _LAYERS}),
        ),
        panels=(_SHARED_LAYERS,),
        laptop=f"{_FEWER_GAMES}; a replay of all 500k steps instead of 4M of 50M, L up to 2",
    ),
    _study(
        19, "the passive share of the tandem",
        games(_SINGLE, Arm("tandem", {"passive_share": _SHARES})),
        panels=(Sweep(path="acting.passive_share"),),
        laptop=f"{_FEWER_GAMES}, 4 shares instead of 6",
    ),
    _study(20, "data bootstrapping", games(*_BASELINES, Arm("data-bootstrapped")), laptop=_FEWER_GAMES),
    _study(
        21, "CERL and the ensemble's size",
        games(_SINGLE, Arm("bootstrapped-dqn", {"members": _SIZES}), Arm("cerl", {"members": _SIZES})),
        panels=(_MEMBERS,),
        laptop=f"{_FEWER_GAMES}; N up to 10",
    ),
    _study(22, "CERL with its own targets", games(*_BASELINES, _CERL, Arm("cerl-self-target")), laptop=_FEWER_GAMES),
    _study(
        23, "CERL with shared layers",
        games(
            *_BASELINES, _CERL,
            Arm("bootstrapped-dqn", {"shared_layers": _CONVOLUTIONS}), Arm("cerl", {"shared_layers": _CONVOLUTIONS}),
        ),
        laptop=f"{_FEWER_GAMES}; L = 1 instead of 3",
    ),
    _study(24, "more parameters", games(*_BASELINES, Arm("wide")), laptop=_FEWER_GAMES),
    *(
        _study(
            number, title,
            games(*_BASELINES, Arm(f"double-dqn-{kind}"), Arm(f"bootstrapped-dqn-{kind}"), environments=environments),
            panels=panels, laptop=laptop,
        )
        for number, title, kind, panels, environments, laptop in (
            (25, "multiple horizons", "mh", BY_POLICY, ALL_GAMES, _FIVE_GAMES),
            (26, "MICo", "mico", BY_POLICY, ALL_GAMES_FEWER_SEEDS, f"{_FIVE_GAMES}, 4 seeds instead of 5"),
            (27, "what multiple horizons add", "mh", (GainsOverEnsemble(),), ALL_GAMES, _FIVE_GAMES),
            (
                28, "what MICo adds", "mico", (GainsOverEnsemble(),), ALL_GAMES_FEWER_SEEDS,
                f"{_FIVE_GAMES}, 4 seeds instead of 5",
            ),
        )
    ),
)  # fmt: skip

STUDIES: dict[str, Study] = {study.name: study for study in (*_FIGURES, *BEYOND, *CONTROLS)}


def find_study(name: str) -> Study:
    """A study by its name or by its figure's number."""
    whole = f"figure{name}" if name.isdigit() else name
    if whole not in STUDIES:
        hint = closest(whole, STUDIES)
        others = f"; did you mean '{hint}'?" if hint else ""
        others = "; figures 1 and 6 are diagrams" if whole in ("figure1", "figure6") else others
        raise ChorusError(f"the study '{name}' is not known{others}; `chorus list studies` shows them")
    return STUDIES[whole]
