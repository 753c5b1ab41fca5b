"""Rows of single environments: what they change in the row of their family (docs/scales.md)."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from chorus.agents.optimizers import Adam
from chorus.config.rows import ScaleRow
from chorus.config.scales import row_for
from chorus.config.schema import SCALES, Hyperparameters, Scale
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError, did_you_mean
from chorus.networks.torsos import ScaledMLPTorso
from chorus.training.acting import LinearEpsilon
from chorus.training.states import Grid, MarkedCell

_CHANGES: dict[tuple[str, Scale], dict[str, Any]] = {}


def register_env_row(env_id: str, scales: Iterable[Scale], **changes: Any) -> None:
    """Give an environment other settings than its family at these scales; `changes` are fields of `ScaleRow`."""
    known = [field.name for field in fields(ScaleRow)]
    for name in changes:
        if name not in known:
            raise ChorusError(f"the row of '{env_id}' cannot change '{name}'{did_you_mean(name, known)}")
    for scale in scales:
        _CHANGES[env_id, scale] = _CHANGES.get((env_id, scale), {}) | changes


# Bounds that hold most states of a learning agent; velocities are not bounded in every task.
for _env_id, _states in {
    "CartPole-v1": Grid(low=(-2.4, -3.0, -0.21, -3.0), high=(2.4, 3.0, 0.21, 3.0)),
    "MountainCar-v0": Grid(low=(-1.2, -0.07), high=(0.6, 0.07), bins=20),
    "Acrobot-v1": Grid(low=(-1.0, -1.0, -1.0, -1.0, -12.57, -28.28), high=(1.0, 1.0, 1.0, 1.0, 12.57, 28.28), bins=6),
    "Pendulum-v1": Grid(low=(-1.0, -1.0, -8.0), high=(1.0, 1.0, 8.0)),
}.items():
    register_env_row(_env_id, SCALES, states=_states)

# Random actions never reach the top of the hill. Members with priors do: at first each acts by a smooth random function
# of position and velocity, and some of these swing the car. 3-step returns keep what was found; with 1-step returns
# runs that had learnt fell back.
register_env_row(
    "MountainCar-v0",
    ("laptop",),
    source="laptop scale for MountainCar (docs/scales.md)",
    # The velocity is at most 0.07, which a network that reads it as it is does not tell from 0.
    torso=ScaledMLPTorso(dense=(64, 64), input_scale=(1.0, 15.0)),
    optimizer=Adam(learning_rate=1e-3, epsilon=1e-8),
    batch=32,
    n_step=3,
    target_updates=100,
    update_steps=1,
    epsilon=LinearEpsilon(final=0.05, decay_steps=3_000, warmup_steps=1_000),
    iteration=4_000,
    total=100_000,
)
register_env_row(
    "Acrobot-v1",
    ("laptop",),
    source="laptop scale for Acrobot (docs/scales.md)",
    optimizer=Adam(learning_rate=1e-3, epsilon=1e-8),
    target_updates=250,
)


def row_of(spec: EnvSpec, scale: Scale, hyperparameters: Hyperparameters) -> ScaleRow:
    """The row of the environment's family, with what the environment itself changes in it.

    Where an observation marks one of finitely many states, states are counted.
    """
    row = replace(row_for(spec.family, scale, hyperparameters), **_CHANGES.get((spec.id, scale), {}))
    return replace(row, states=MarkedCell()) if row.states is None and spec.one_hot else row
