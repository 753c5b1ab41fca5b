"""One table: network and budget per environment family and scale (docs/scales.md).

`paper` is what the paper used, or its equivalent for environments that the paper does not have; `laptop` takes minutes
to hours on a CPU; `smoke` shows in about 20 seconds that everything works and learns nothing worth reporting.
"""

from collections.abc import Mapping
from dataclasses import replace

from chorus.agents.optimizers import Adam, CentredRMSProp
from chorus.config.rows import QuantileRow, ScaleRow
from chorus.config.schema import Hyperparameters, Scale
from chorus.errors import ChorusError
from chorus.networks.torsos import ConvLayer, ConvTorso, MLPTorso, nature
from chorus.training.acting import LinearEpsilon
from chorus.training.states import MarkedCell

_MINATAR_ADAM = Adam(learning_rate=2.5e-4, epsilon=1.5e-4)
_SMOKE_EPSILON = LinearEpsilon(final=0.05, decay_steps=1_000, warmup_steps=200)


def _minatar_torso(channels: int, dense: int) -> ConvTorso:
    return ConvTorso(convolutions=(ConvLayer(features=channels, kernel=3),), dense=(dense,))


_SMOKE = ScaleRow(
    source="smoke scale: small enough for about 20 seconds, learns nothing worth reporting",
    torso=MLPTorso(dense=(16, 16)),
    optimizer=_MINATAR_ADAM,
    buffer=2_000,
    batch=16,
    target_updates=50,
    epsilon=_SMOKE_EPSILON,
    slots=2,
    iteration=1_000,
    total=3_000,
    members=3,
    eval_episodes=4,
    eval_slots=2,
    final_evaluations=1,
    episode_cap=300,
    quantiles=20,
)

_MINATAR_LAPTOP = ScaleRow(
    source="laptop scale for MinAtar: the standard network, a budget for a CPU (docs/scales.md)",
    torso=_minatar_torso(16, 128),
    optimizer=_MINATAR_ADAM,
    buffer=100_000,
    batch=32,
    target_updates=1_000,
    epsilon=LinearEpsilon(final=0.01, decay_steps=100_000, warmup_steps=5_000),
    # An iteration must be able to hold one episode of each environment: 4 x 5,000 steps.
    slots=4,
    iteration=20_000,
    total=500_000,
    members=10,
    eval_episodes=20,
    eval_slots=20,
    final_evaluations=5,
    # An update compares all pairs of quantiles: 200 would be sixteen times the work.
    quantiles=50,
)

_FLAT_LAPTOP = ScaleRow(
    source="laptop scale for flat observations (docs/scales.md)",
    torso=MLPTorso(dense=(128, 128)),
    optimizer=Adam(learning_rate=2.5e-4, epsilon=1e-8),
    buffer=50_000,
    batch=64,
    target_updates=500,
    epsilon=LinearEpsilon(final=0.02, decay_steps=20_000, warmup_steps=1_000),
    slots=4,
    iteration=8_000,
    total=200_000,
    members=5,
    eval_episodes=16,
    eval_slots=4,
    final_evaluations=5,
    quantiles=50,
)

# Random actions find the treasure of a large sea within no budget. After the first episodes an agent has to explore by
# other means, and the random actions that are left disturb few of its plans.
_DEEP_SEA_PAPER = ScaleRow(
    source="paper scale for DeepSea, which the paper does not use: bsuite's Bootstrapped DQN (docs/scales.md)",
    torso=MLPTorso(dense=(50, 50)),
    optimizer=Adam(learning_rate=1e-3, epsilon=1e-8),
    buffer=10_000,
    batch=128,
    target_updates=4,
    epsilon=LinearEpsilon(final=0.01, decay_steps=1_000, warmup_steps=200),
    slots=1,
    iteration=10_000,
    total=500_000,
    members=20,
    eval_episodes=20,
    eval_slots=20,
    final_evaluations=10,
    eval_epsilon=0.0,
    update_steps=1,
    states=MarkedCell(),
)

_ATARI_PAPER = ScaleRow(
    source="the authors' code (docs/deviations.md)",
    torso=nature(),
    optimizer=CentredRMSProp(),
    buffer=1_000_000,
    batch=32,
    target_updates=7_500,
    epsilon=LinearEpsilon(final=0.01, decay_steps=1_000_000, warmup_steps=50_000),
    slots=1,
    iteration=250_000,
    total=50_000_000,
    members=10,
    eval_episodes=1,
    eval_slots=1,
    final_evaluations=10,
    eval_steps=125_000,
    reward_clip=1.0,
    threads=2,
    quantile=QuantileRow(
        torso=replace(nature(), padding="same"),
        optimizer=Adam(learning_rate=5e-5, epsilon=3.125e-4),
        target_updates=2_000,
        epsilon=LinearEpsilon(final=0.01, decay_steps=250_000, warmup_steps=20_000),
        eval_epsilon=0.001,
        sticky_actions=0.25,
    ),
)

_ATARI_LAPTOP = replace(
    _ATARI_PAPER,
    source="laptop scale for Atari, chosen for early learning (docs/scales.md)",
    quantiles=50,
    quantile=None,
    # A first layer without overlap costs a quarter of the usual 8x8/4, and the update dominates the cost.
    torso=ConvTorso(
        convolutions=(ConvLayer(features=16, kernel=4, stride=4), ConvLayer(features=32, kernel=4, stride=2)),
        dense=(128,),
    ),
    optimizer=Adam(learning_rate=2.5e-4, epsilon=1.5e-4),
    buffer=100_000,
    target_updates=500,
    n_step=5,
    epsilon=LinearEpsilon(final=0.02, decay_steps=40_000, warmup_steps=5_000),
    # An iteration must be able to hold one episode of each environment: 2 x 5,000 steps.
    slots=2,
    iteration=16_000,
    total=400_000,
    members=5,
    eval_episodes=8,
    eval_slots=8,
    final_evaluations=5,
    eval_steps=0,
    episode_cap=5_000,
    threads=1,
)


# SAC explores by the noise of its policy after a warm-up of uniformly random actions.
def _random_for(steps: int) -> LinearEpsilon:
    return LinearEpsilon(final=0.0, decay_steps=1, warmup_steps=steps)


_CONTROL_PAPER = ScaleRow(
    source="the authors' code for MuJoCo (docs/deviations.md)",
    torso=MLPTorso(dense=(256, 256)),
    optimizer=Adam(learning_rate=3e-4, epsilon=1e-8),
    buffer=200_000,
    batch=256,
    target_updates=1,
    target_rate=0.005,
    epsilon=_random_for(10_000),
    slots=1,
    iteration=20_000,
    total=1_000_000,
    members=10,
    eval_episodes=30,
    eval_slots=10,
    final_evaluations=5,
    eval_epsilon=0.0,
    update_steps=1,
    threads=2,
)

_SMALL_CONV = ConvTorso(convolutions=(ConvLayer(features=4, kernel=8, stride=4),), dense=(16,))

SCALE_ROWS: dict[tuple[str, Scale], ScaleRow] = {
    ("minatar", "smoke"): replace(_SMOKE, torso=_minatar_torso(4, 16)),
    ("minatar", "laptop"): _MINATAR_LAPTOP,
    ("minatar", "paper"): replace(
        _MINATAR_LAPTOP,
        source="paper scale for MinAtar, which the paper does not use: 5M steps",
        slots=8,
        iteration=50_000,
        total=5_000_000,
        eval_episodes=60,
        final_evaluations=10,
        quantiles=200,
    ),
    ("flat", "smoke"): _SMOKE,
    ("flat", "laptop"): _FLAT_LAPTOP,
    ("flat", "paper"): replace(
        _FLAT_LAPTOP,
        source="paper scale for flat observations, which the paper does not use: its ensemble size",
        members=10,
        quantiles=200,
    ),
    ("deep_sea", "smoke"): replace(
        _SMOKE,
        epsilon=_DEEP_SEA_PAPER.epsilon,
        eval_epsilon=0.0,
        target_updates=4,
        update_steps=2,
        states=_DEEP_SEA_PAPER.states,
    ),
    ("deep_sea", "laptop"): replace(
        _DEEP_SEA_PAPER,
        source="laptop scale for DeepSea (docs/scales.md)",
        # Small batches and few steps: priors solve a sea of 20 x 20 cells in about 12,000 steps.
        batch=32,
        buffer=30_000,
        iteration=1_500,
        total=30_000,
        members=10,
        final_evaluations=5,
    ),
    ("deep_sea", "paper"): _DEEP_SEA_PAPER,
    ("control", "smoke"): replace(
        _SMOKE, epsilon=_random_for(200), target_updates=1, target_rate=0.005, eval_epsilon=0.0, update_steps=2
    ),
    ("control", "laptop"): replace(
        _CONTROL_PAPER,
        source="laptop scale for Box actions (docs/scales.md)",
        torso=MLPTorso(dense=(64, 64)),
        buffer=20_000,
        batch=128,
        epsilon=_random_for(1_000),
        iteration=4_000,
        total=100_000,
        members=5,
        eval_episodes=4,
        eval_slots=4,
        threads=1,
    ),
    ("control", "paper"): _CONTROL_PAPER,
    ("atari", "smoke"): replace(_SMOKE, torso=_SMALL_CONV, reward_clip=1.0),
    ("atari", "laptop"): _ATARI_LAPTOP,
    ("atari", "paper"): _ATARI_PAPER,
    ("image", "smoke"): replace(_SMOKE, torso=_SMALL_CONV),
    ("image", "laptop"): replace(
        _ATARI_LAPTOP, source="laptop scale for images: Atari's, rewards as they are", reward_clip=None
    ),
    ("image", "paper"): replace(
        _ATARI_PAPER,
        source="paper scale for images, which the paper has on Atari only: Atari's, rewards as they are",
        reward_clip=None,
    ),
}

# Where the paper's own table differs from the code it was run with (Deviation D1, D2).
_PAPER_TABLE: dict[tuple[str, Scale], ScaleRow] = {
    ("atari", "paper"): replace(
        _ATARI_PAPER,
        source="the paper's table 1",
        optimizer=CentredRMSProp(epsilon=1.0 / 32**2),
        epsilon=LinearEpsilon(final=0.01, decay_steps=16_000_000, warmup_steps=50_000),
    )
}


def register_family(family: str, rows: Mapping[Scale, ScaleRow]) -> None:
    """Make a family of environments known: one row per scale, often an existing row with a few changes."""
    if any(known == family for known, _ in SCALE_ROWS):
        raise ChorusError(f"the environment family '{family}' is known already; give yours another name")
    SCALE_ROWS.update({(family, scale): row for scale, row in rows.items()})


def row_for(family: str, scale: Scale, hyperparameters: Hyperparameters) -> ScaleRow:
    if (family, scale) not in SCALE_ROWS:
        known = sorted({name for name, known_scale in SCALE_ROWS if known_scale == scale})
        raise ChorusError(
            f"the environment family '{family}' has no row at {scale} scale; use one of {', '.join(known)} in its "
            "EnvSpec, or register it with chorus.extend.register_family"
        )
    if hyperparameters == "code":
        return SCALE_ROWS[family, scale]
    if (family, scale) not in _PAPER_TABLE:
        raise ChorusError(
            "--hyperparameters table is the paper's table for Atari at --scale paper, the only place where it "
            f"differs from the authors' code; this is {family} at {scale} scale: leave the option out"
        )
    return _PAPER_TABLE[family, scale]
