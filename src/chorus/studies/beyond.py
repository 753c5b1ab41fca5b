"""Studies beside the paper's figures: claims that the paper makes, or that its code suggests, without a figure."""

from chorus.studies.environments import (
    FEW_GAMES_FEWER_SEEDS,
    ONE_GAME,
    ONE_TASK,
    TWO_TASKS,
    games,
    tasks,
)
from chorus.studies.panels import BY_POLICY, Curves, EnvironmentCurves, Sweep, TrainingTime
from chorus.studies.study import Arm, Scaled, Study

_SELF_TARGET = Study(
    name="sac-self-target",
    title="CERL with its own targets in continuous control",
    parts=(tasks(*map(Arm, ("sac", "ensemble-sac", "ensemble-sac-cerl", "ensemble-sac-cerl-self-target"))),),
    panels=BY_POLICY,
    laptop="3 tasks, 5 seeds instead of 30",
)

# Squared errors instead of Huber's, whose gradient is bounded, in the auxiliary heads; and a fault that makes the
# values of member 0 diverge (`chorus.ensemble.losses`).
_SQUARED = {"kind": "squared"}
_DIVERGING = {"kind": "diverging_member"}
DIVERGENCES = ({"agent.loss": (_DIVERGING,)}, {"agent.loss": ({**_DIVERGING, "auxiliary": _SQUARED},)})
# Members 1 to N - 1 are exchangeable, so one of them stands for all.
BYSTANDER = {"evaluation.policies.bystander": ({"kind": "member", "index": 1},)}
_DIVERGENCE = Study(
    name="diverging-member",
    title="a diverging member and the auxiliary loss",
    parts=(
        tasks(
            Arm("sac"),
            *(
                Arm("ensemble-sac-cerl", {**loss, **BYSTANDER})
                for loss in (
                    {},
                    {"agent.loss.auxiliary": (_SQUARED,)},
                    *DIVERGENCES,
                )
            ),
            environments=TWO_TASKS,
        ),
    ),
    panels=(Curves(policies=("bystander",)), EnvironmentCurves(policies=("bystander",))),
    laptop="2 tasks, 5 seeds instead of 10",
)

# The paper's table and its code differ by these factors of 16 and 100. The laptop's usual decay takes a fifth of
# training, nearer to the table's third than to the code's fiftieth: 16 times as long would outlast the runs.
_DECAYS = Scaled(smoke=(100, 1_000), laptop=(6_250, 100_000), paper=(1_000_000, 16_000_000))
_EPSILONS = Scaled(smoke=(1.5e-4, 1.5e-2), laptop=(1.5e-4, 1.5e-2), paper=(0.01 / 32**2, 1 / 32**2))
_HYPERPARAMETERS = Study(
    name="hyperparameters",
    title="the table's hyperparameters and the code's",
    parts=(
        games(
            *(
                Arm(preset, {"epsilon_decay": _DECAYS, "optimizer_epsilon": _EPSILONS})
                for preset in ("double-dqn", "bootstrapped-dqn")
            ),
            environments=FEW_GAMES_FEWER_SEEDS,
        ),
    ),
    panels=(Sweep(path="exploration.decay_steps"), Sweep(path="agent.optimizer.epsilon")),
    laptop="3 games instead of 4, 4 seeds instead of 5; the same factors, with the usual decay as the longer one and "
    "Adam's epsilon",
)

# Long enough for some iterations after the first, which compiles.
_GAME_STEPS = {"total_steps": Scaled(smoke=(None,), laptop=(100_000,), paper=(2_000_000,))}
_TASK_STEPS = {"total_steps": Scaled(smoke=(None,), laptop=(20_000,), paper=(100_000,))}
_CONVOLUTIONS = Scaled(smoke=(1,), laptop=(1,), paper=(3,))
_COST = Study(
    name="cost",
    title="training time per step",
    parts=(
        games(
            Arm("double-dqn", _GAME_STEPS),
            Arm("bootstrapped-dqn", _GAME_STEPS),
            Arm("bootstrapped-dqn", {**_GAME_STEPS, "shared_layers": _CONVOLUTIONS}),
            Arm("cerl", _GAME_STEPS),
            environments=ONE_GAME,
        ),
        tasks(
            *(Arm(preset, _TASK_STEPS) for preset in ("sac", "ensemble-sac", "ensemble-sac-cerl")),
            environments=ONE_TASK,
        ),
    ),
    panels=(TrainingTime(),),
    laptop="100k steps of Breakout, L = 1 instead of 3; 20k steps of Hopper",
)

BEYOND = (_SELF_TARGET, _DIVERGENCE, _HYPERPARAMETERS, _COST)
