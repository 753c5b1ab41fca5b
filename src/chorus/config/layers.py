"""The layers of a configuration, each laid over the one before: the scale's row, the preset and its ancestors, a file,
single options; and who decided each value.
"""

from dataclasses import replace
from typing import Any

from chorus.agents.q import QLearner
from chorus.config.codec import decode, merge
from chorus.config.env_rows import row_of
from chorus.config.options import ASKED_FOR
from chorus.config.presets import Preset, find_preset
from chorus.config.rows import ScaleRow
from chorus.config.schema import EnvSettings, Hyperparameters, RunConfig, Runtime, Scale
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.estimates import Online, Scalar
from chorus.ensemble.losses import Huber
from chorus.ensemble.value_map import Members
from chorus.envs.atari import AtariSettings
from chorus.envs.registry import describe
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.files import flatten
from chorus.networks.layers import FanInUniform
from chorus.training.acting import Uniform
from chorus.training.policies import RandomMember
from chorus.training.settings import EvaluationSettings, ReplaySettings, Schedule

# Maps with names of the user's: the map of a file replaces that of the preset.
WHOLE_IN_FILES = frozenset({"evaluation.policies"})


def episode_cap(spec: EnvSpec, row: ScaleRow) -> int | None:
    """The row's cap if it is shorter than the environment's own limit, else None."""
    own = spec.max_episode_steps
    return row.episode_cap if row.episode_cap is not None and (own is None or own > row.episode_cap) else None


def base_config(spec: EnvSpec, scale: Scale, hyperparameters: Hyperparameters, seed: int) -> RunConfig:
    row = row_of(spec, scale, hyperparameters)
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
            final_evaluations=row.final_evaluations,
            policies={"individual": RandomMember()},
        ),
        runtime=Runtime(threads=row.threads),
        states=row.states,
    )


def preset_layers(
    spec: EnvSpec, preset: Preset, scale: Scale, hyperparameters: Hyperparameters, seed: int
) -> tuple[RunConfig, dict[str, str]]:
    """The preset's configuration at a scale, and the source of each of its leaves."""
    row = row_of(spec, scale, hyperparameters)
    config = base_config(spec, scale, hyperparameters, seed)
    lineage = preset.lineage()
    sources = {path: _base_source(path, lineage[0], row.source) for path in flatten(config.to_json())}
    for ancestor in lineage:
        before = flatten(config.to_json())
        config = _changed_by(ancestor, config, row)
        note_changes(before, flatten(config.to_json()), sources, f"preset {ancestor.name} ({ancestor.source})")
    if config.agent.members == row.members:
        sources["agent.members"] = f"ensemble size of the {row.source}"
    return replace(config, preset=preset.name), sources


def _changed_by(preset: Preset, config: RunConfig, row: ScaleRow) -> RunConfig:
    """The preset's change; an error of a user's preset is named."""
    try:
        changed = preset.change(config, row)
    except ChorusError:
        raise
    except Exception as problem:
        raise ChorusError(
            f"the preset '{preset.name}' cannot build its configuration ({type(problem).__name__}: {problem}); repair "
            f"its function in {preset.change.__module__}"
        ) from problem
    if not isinstance(changed, RunConfig):
        raise ChorusError(f"the preset '{preset.name}' returned {changed!r}; its function must return a RunConfig")
    return changed


# What a scale decides about the learner; the rest is the preset's.
_FROM_SCALE = tuple(
    f"agent.{name}" for name in ("torso", "optimizer", "target_period_updates", "target_rate", "reward_clip")
)


def _base_source(path: str, root: Preset, row_source: str) -> str:
    if path in ASKED_FOR:
        return "asked for"
    if path.startswith(("agent", "acting", "replay.sampler")) and not path.startswith(_FROM_SCALE):
        return f"preset {root.name} ({root.source})"
    return row_source


def note_changes(before: dict[str, Any], after: dict[str, Any], sources: dict[str, str], who: str) -> None:
    for path, value in after.items():
        if path not in before or before[path] != value:
            sources[path] = who
    for path in set(sources) - set(after):
        del sources[path]


def lay_over(
    config: RunConfig,
    change: dict[str, Any],
    sources: dict[str, str],
    who: str,
    problems: list[str],
    whole: frozenset[str] = frozenset(),
) -> RunConfig:
    """The configuration with the change; if it cannot be decoded, unchanged and with the problems noted."""
    before = config.to_json()
    after = merge(before, change, whole=whole)
    if after == before:
        return config
    found: list[str] = []
    changed = decode(RunConfig, after, "config", found)
    if found:
        problems.append(f"{who} cannot be used: " + "; ".join(found))
        return config
    # With the defaults of a component that the change names by its kind alone.
    note_changes(flatten(before), flatten(changed.to_json()), sources, who)
    return changed


def single_member(config: RunConfig) -> RunConfig:
    """With one member, only individual policies are evaluated."""
    evaluation = config.evaluation
    if config.agent.members != 1:
        return config
    individual = {name: policy for name, policy in evaluation.policies.items() if not policy.combines_members}
    return replace(config, evaluation=replace(evaluation, policies=individual))


def preset_difference(config: RunConfig, parent: Preset) -> tuple[dict[str, Any], dict[str, Any]]:
    """The leaves that only `parent` has and those that only this configuration's preset has, before options."""
    spec, preset = describe(config.env.id), find_preset(config.preset)
    leaves = [
        flatten(single_member(preset_layers(spec, one, config.scale, config.hyperparameters, 0)[0]).to_json())
        for one in (parent, preset)
    ]
    before, after = ({path: value for path, value in own.items() if path != "preset"} for own in leaves)
    removed = {path: value for path, value in before.items() if path not in after or after[path] != value}
    added = {path: value for path, value in after.items() if path not in before or before[path] != value}
    return removed, added
