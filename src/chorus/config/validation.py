"""What makes no sense is refused before anything is written, all problems at once, each with its remedy.

Ranges live with the options and composition rules with the components; here is only what concerns several parts of a
run: Atari's settings, the budget and the replay.
"""

from collections.abc import Iterator

import numpy as np

from chorus.components import Component, option_of
from chorus.config.codec import nodes, stored_fields
from chorus.config.options import settings_in
from chorus.config.schema import RunConfig
from chorus.envs.atari import ACTION_REPEAT
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.training.acting import ActingRule
from chorus.training.policies import Policy

_MOST_FRAMES = 2**31 - 1


def validate(config: RunConfig, spec: EnvSpec) -> None:
    if problems := find_problems(config, spec):
        raise ChorusError("; ".join(problems))


def find_problems(config: RunConfig, spec: EnvSpec) -> list[str]:
    """A sentence for everything that cannot be; each once."""
    ranges, torso = dict(out_of_range(config)), list(config.agent.torso.problems(config, spec))
    # Other components may ask how many members and layers there are, and cannot where there are none.
    sound = not torso and "agent.members" not in ranges
    components = [node for _, node in nodes(config) if isinstance(node, Component)] if sound else []
    composed = [problem for component in components for problem in component.problems(config, spec)]
    found = [*ranges.values(), *torso, *composed, *_shares(config, spec), *_atari(config, spec), *_budget(config, spec)]
    return list(dict.fromkeys(found))


def out_of_range(config: RunConfig) -> Iterator[tuple[str, str]]:
    """Path and sentence of every number outside its option's range."""
    flags = {**settings_in(config), "seed": "seed"}
    for path, node in nodes(config):
        for field in stored_fields(type(node)):
            option, value = option_of(field), getattr(node, field.name)
            if option is None or option.within is None or value is None:
                continue
            if not option.within.holds(value):
                place = f"{path}.{field.name}" if path else field.name
                name = f"--{flags[place]}" if flags.get(place) else place
                yield place, f"{name} is {value}; it must {option.within.text}"


def _shares(config: RunConfig, spec: EnvSpec) -> Iterator[str]:
    """A user's acting rule or policy may give shares that are no distribution over the members."""
    members = config.agent.members
    rules: tuple[ActingRule | Policy, ...] = (config.acting, *config.evaluation.policies.values())
    for component in rules:
        # Components with problems of their own cannot be asked.
        if members < 1 or any(component.problems(config, spec)):
            continue
        shares = np.asarray(component.shares(members))
        if shares.shape != (members,) or shares.min() < 0 or abs(shares.sum() - 1) > 1e-6:
            yield (
                f"the {component.interface} {component.kind} gives {members} members the shares {shares.tolist()}; it "
                "must return one share per member, none negative, that sum to 1"
            )


def _atari(config: RunConfig, spec: EnvSpec) -> Iterator[str]:
    settings = config.env.atari
    if spec.family != "atari":
        if settings is not None:
            yield (
                "--sticky-actions, --noop-max, --terminal-on-life-loss and --redraw-on-life-loss are for Atari games "
                f"and {spec.id} is none; leave them out (in a file: env.atari is null)"
            )
        return
    if settings is None:
        yield f"env.atari is null; {spec.id} is an Atari game and needs it: leave it out of the file"
    if spec.max_episode_steps is not None and spec.max_episode_steps * ACTION_REPEAT > _MOST_FRAMES:
        yield (
            f"--max-episode-steps is {spec.max_episode_steps}; the emulator counts frames in 32 bits: use at most "
            f"{_MOST_FRAMES // ACTION_REPEAT}"
        )


def _budget(config: RunConfig, spec: EnvSpec) -> Iterator[str]:
    replay, schedule, slots = config.replay, config.schedule, config.env.num_envs
    if replay.capacity < replay.batch_size:
        yield f"--buffer-size {replay.capacity} is smaller than --batch-size {replay.batch_size}; enlarge the buffer"
    if slots >= 1 and replay.capacity // slots <= replay.n_step:
        yield (
            f"--buffer-size {replay.capacity} leaves {replay.capacity // slots} transitions for each of {slots} "
            f"environments; it must leave more than {replay.n_step}"
        )
    lengths = {"--total-steps": schedule.total_steps, "--iteration-steps": schedule.iteration_steps}
    for name, value in lengths.items():
        if slots >= 1 and value % slots:
            yield f"{name} is {value}; it must be a multiple of --num-envs, {slots}"
    longest, slot_steps = spec.max_episode_steps, min(lengths.values()) // max(slots, 1)
    ends_with_an_episode = spec.whole_episodes and slots == 1
    if longest is not None and 1 <= slot_steps < longest and not ends_with_an_episode:
        too_few = [name for name, value in lengths.items() if value < longest * slots]
        yield (
            f"an iteration gives each environment {slot_steps} steps, fewer than the {longest} an episode may last: "
            f"use {' and '.join(f'{name} {longest * slots} or more' for name in too_few)}, or --max-episode-steps "
            f"{slot_steps} or fewer"
        )
    if schedule.learning_starts < replay.n_step * slots:
        yield (
            f"--learning-starts is {schedule.learning_starts}; with {slots} environments and {replay.n_step}-step "
            f"returns it must be at least {replay.n_step * slots}"
        )
