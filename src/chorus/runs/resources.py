"""The resources of a run: what its replay, learner and environments take of memory and disk, and what is free.

A run that cannot fit is refused before it starts. The numbers are what it takes at least: activations, programs and the
environments' own memory come on top.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chorus.config.schema import RunConfig
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.replay.columns import row_bytes
from chorus.replay.layout import RingLayout
from chorus.training.exploration import counted_bytes

# Two checkpoints are kept while a third is written.
_CHECKPOINTS_AT_ONCE = 3
# The replay is memory-mapped. If less than half of it stays in memory, nearly every batch waits for the disk, and
# training takes many times as long.
_SHARE_IN_MEMORY = 0.5
# An environment and its part of a vector of environments; emulators and physics take more.
_ENVIRONMENT_BYTES = 1_000
_GIGABYTE = 1e9
_OWN_GROUP, _ALL_GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def ends_with_episode(config: RunConfig, spec: EnvSpec) -> bool:
    """Whether an iteration goes on to the end of its last episode, as the paper's single Atari game does."""
    return spec.whole_episodes and config.env.num_envs == 1


def ring_layout(config: RunConfig, spec: EnvSpec) -> RingLayout:
    """The replay's size, from configuration and environment alone: no agent is built and no device is touched."""
    beyond = (spec.max_episode_steps or 0) if ends_with_episode(config, spec) else 0
    return RingLayout(
        lanes=config.env.num_envs,
        capacity=config.replay.capacity,
        iteration_steps=config.schedule.iteration_steps + beyond,
        observation_shape=spec.observation_shape,
        observation_dtype=spec.observation_dtype,
        frame_stack=spec.frame_stack,
        masked_members=config.agent.members if config.replay.sampler.masked else 0,
        action_shape=spec.actions.shape,
        action_dtype=spec.actions.dtype,
    )


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Bytes of memory that a run takes beside its replay; with `replay_on_device` that is copied as a whole, too."""

    learner: int
    """Networks, targets and moments."""
    batch: int = 0
    environments: int = 0
    evaluation: int = 0
    counts: int = 0
    """Of visited states; never on a device."""
    replay_on_device: bool = False

    @property
    def total(self) -> int:
        return self.learner + self.batch + self.environments + self.evaluation + self.counts

    def remedy(self) -> str:
        sizes = {
            "fewer --members or a smaller network": self.learner,
            "a smaller --batch-size": self.batch,
            "a smaller --num-envs": self.environments,
            "a smaller --eval-envs": self.evaluation,
            "--count-states none": self.counts,
        }
        return max(sizes, key=lambda name: sizes[name])


def demand_of(config: RunConfig, spec: EnvSpec, state_bytes: int, replay_on_device: bool) -> Demand:
    """An observation is held as it is stored and as the network's input."""
    pixels = int(np.prod(spec.observation_shape, dtype=int))
    observation = pixels * (np.dtype(spec.observation_dtype).itemsize + np.dtype(np.float32).itemsize)
    per_member = config.agent.members if config.replay.sampler.each_its_own else 1
    return Demand(
        learner=state_bytes,
        batch=2 * config.replay.batch_size * per_member * observation,
        environments=config.env.num_envs * (observation + _ENVIRONMENT_BYTES),
        evaluation=config.evaluation.slots * (observation + _ENVIRONMENT_BYTES),
        counts=counted_bytes(config.states, spec, config.agent.members),
        replay_on_device=replay_on_device,
    )


def memory_bytes(layout: RingLayout, demand: Demand, *, has_device: bool) -> int:
    """Memory of the machine that a run takes; `has_device` if it computes on a device with memory of its own."""
    copied = layout.total_bytes if demand.replay_on_device and not has_device else 0
    return resident_bytes(layout) + demand.total + copied


def check_resources(
    layout: RingLayout, demand: Demand, run: Path, device_bytes: int | None = None, *, resumed: bool = False
) -> None:
    """Refuse a run that does not fit memory or disk, with the numbers and the remedy; the folder need not exist.

    `device_bytes` is the memory of a device that has its own, None if it computes in the memory of the machine. The
    sizes of a run that is `resumed` are what they are: only room can be made.
    """
    problems = []
    present = allocated_bytes(run)
    disk = free_disk_bytes(run) + present

    def on_disk(sizes: RingLayout) -> int:
        return sizes.total_bytes + _CHECKPOINTS_AT_ONCE * (demand.learner + demand.counts)

    def on_device(sizes: RingLayout) -> int:
        return demand.total - demand.counts + (sizes.total_bytes if demand.replay_on_device else 0)

    def in_memory(sizes: RingLayout) -> int:
        return memory_bytes(sizes, demand, has_device=device_bytes is not None)

    if on_disk(layout) > disk:
        problems.append(
            f"the replay of {layout.capacity:,} transitions and its checkpoints take {on_disk(layout) / _GIGABYTE:.1f} "
            f"GB on disk, and {_existing(run)} has {disk / _GIGABYTE:.1f} GB for them; "
            + ("make room there" if resumed else f"{_remedy(layout, on_disk, disk)}, or another --out")
        )
    memory = free_memory_bytes()
    if memory is not None and in_memory(layout) > memory:
        remedy = "end other programs" if resumed else _remedy_in_memory(layout, demand, in_memory, memory)
        problems.append(f"{_too_large('half of the replay', 'memory', layout, in_memory, memory)}; {remedy}")
    if device_bytes is not None and on_device(layout) > device_bytes:
        replay = "the replay" if demand.replay_on_device else "no part of the replay"
        remedy = "use a larger one" if resumed else _remedy_in_memory(layout, demand, on_device, device_bytes)
        size = _too_large(replay, "the device's memory", layout, on_device, device_bytes)
        problems.append(f"{size}; {remedy}")
    if problems:
        raise ChorusError("; ".join(problems))


def _too_large(replay: str, where: str, layout: RingLayout, size_of: Callable[[RingLayout], int], free: int) -> str:
    return (
        f"{replay} of {layout.capacity:,} transitions, the learner, its batches and environments take "
        f"{size_of(layout) / _GIGABYTE:.1f} GB of {where}, and {free / _GIGABYTE:.1f} GB are free"
    )


def _remedy_in_memory(layout: RingLayout, demand: Demand, size_of: Callable[[RingLayout], int], free: int) -> str:
    """What is largest is to be smaller: the replay, or another part that alone does not fit."""
    return f"use {demand.remedy()}" if demand.total > free else _remedy(layout, size_of, free)


def resident_bytes(layout: RingLayout) -> int:
    """Memory that a replay needs at least."""
    return round(_SHARE_IN_MEMORY * layout.capacity * row_bytes(layout.types()))


def _remedy(layout: RingLayout, size_of: Callable[[RingLayout], int], free: int) -> str:
    """The largest replay that fits, in round numbers."""
    fits, too_large = 0, layout.capacity
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        if size_of(replace(layout, capacity=middle)) <= free:
            fits = middle
        else:
            too_large = middle
    round_down = fits // 1_000 * 1_000
    if round_down < 1_000:
        return "not even a small one fits: use a smaller --iteration-steps too"
    return f"use --buffer-size {round_down} or less"


def free_disk_bytes(path: Path) -> int:
    disk = shutil.disk_usage(_existing(path))
    if not disk.total:
        # As /proc, which holds no files of anybody.
        raise ChorusError(f"{path} is on a file system that stores nothing; choose another --out")
    return disk.free


def _existing(path: Path) -> Path:
    try:
        return next(place for place in (path, *path.absolute().parents) if place.exists())
    except OSError as problem:
        raise ChorusError(
            f"the free space of {path} cannot be measured ({problem.strerror}); choose another --out, or check its "
            "permissions"
        ) from problem


def free_memory_bytes() -> int | None:
    """Memory available without swapping, within the limits of a container; None if the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1_024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None
    return min([free, *(left for group in _control_groups() if (left := _left_in(group)) is not None)])


def _control_groups() -> list[Path]:
    """The folders of the control groups of this process, the innermost first."""
    try:
        lines = _OWN_GROUP.read_text().splitlines()
    except OSError:
        return []
    inside = next((line.removeprefix("0::").lstrip("/") for line in lines if line.startswith("0::")), None)
    if inside is None:
        return []
    own = _ALL_GROUPS / inside
    return [own, *(folder for folder in own.parents if folder.is_relative_to(_ALL_GROUPS))]


def _left_in(group: Path) -> int | None:
    """Memory a control group may still take: its limit minus its use, without file pages, which can be evicted."""
    try:
        limit, taken = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return max(0, limit - taken + int(counts["inactive_file"]) + int(counts["active_file"]))
    except (OSError, ValueError, KeyError):
        return None


def allocated_bytes(path: Path) -> int:
    """Disk space of the files in a folder; unwritten rows of a replay take none."""
    total = 0
    for file in path.rglob("*"):
        try:
            total += file.stat().st_blocks * 512
        except OSError:
            # Removed since it was listed, or not readable.
            continue
    return total
