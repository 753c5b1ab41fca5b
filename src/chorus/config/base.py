"""Where every preset starts: a single Q-learner at one row of the table of scales."""

from chorus.agents.q import QLearner
from chorus.config.scales import ScaleRow, row_for
from chorus.config.schema import EnvSettings, Hyperparameters, RunConfig, Runtime, Scale
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.estimates import Online, Scalar
from chorus.ensemble.losses import Huber
from chorus.ensemble.value_map import Members
from chorus.envs.atari import AtariSettings
from chorus.envs.spec import EnvSpec
from chorus.networks.layers import FanInUniform
from chorus.training.acting import Uniform
from chorus.training.policies import RandomMember
from chorus.training.settings import EvaluationSettings, ReplaySettings, Schedule


def episode_cap(spec: EnvSpec, row: ScaleRow) -> int | None:
    """The row's cap if it is shorter than the environment's own limit, else None."""
    own = spec.max_episode_steps
    return row.episode_cap if row.episode_cap is not None and (own is None or own > row.episode_cap) else None


def base_config(spec: EnvSpec, scale: Scale, hyperparameters: Hyperparameters, seed: int) -> RunConfig:
    row = row_for(spec.family, scale, hyperparameters)
    return RunConfig(
        preset="",
        scale=scale,
        hyperparameters=hyperparameters,
        seed=seed,
        env=EnvSettings(
            id=spec.id,
            num_envs=row.slots,
            max_episode_steps=episode_cap(spec, row),
            atari=AtariSettings() if spec.family == "atari" else None,
        ),
        agent=QLearner(
            members=1,
            shared_layers=0,
            torso=row.torso,
            value_map=Members(),
            estimate=Scalar(),
            loss=Huber(threshold=1.0),
            selection=Online(),
            auxiliary=NoAuxiliary(),
            initialization=FanInUniform(),
            prior_scale=0.0,
            optimizer=row.optimizer,
            discount=0.99,
            target_period_updates=row.target_updates,
            target_rate=row.target_rate,
            reward_clip=row.reward_clip,
        ),
        acting=Uniform(),
        exploration=row.epsilon,
        replay=ReplaySettings(capacity=row.buffer, batch_size=row.batch, n_step=row.n_step),
        schedule=Schedule(
            total_steps=row.total,
            iteration_steps=row.iteration,
            learning_starts=row.epsilon.warmup_steps,
            update_period_steps=row.update_steps,
        ),
        evaluation=EvaluationSettings(
            episodes=row.eval_episodes,
            steps=row.eval_steps,
            slots=row.eval_slots,
            epsilon=row.eval_epsilon,
            policies={"individual": RandomMember()},
        ),
        runtime=Runtime(threads=row.threads),
    )
