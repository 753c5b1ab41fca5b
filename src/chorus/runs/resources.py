"""The resources of a run: what its replay and checkpoints take of memory and disk, and what is free.

A mapped file that outgrows its disk kills the process, so such a run is refused before it starts.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chorus.config.schema import RunConfig
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.replay.columns import row_bytes
from chorus.replay.ring import RingLayout

# Two checkpoints are kept while a third is written.
_CHECKPOINTS_AT_ONCE = 3
# The replay is memory-mapped. If less than half of it stays in memory, nearly every batch waits for the disk, and
# training takes many times as long.
_SHARE_IN_MEMORY = 0.5
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


def check_resources(layout: RingLayout, state_bytes: int, run: Path) -> None:
    """Refuse a run that does not fit memory or disk, with the numbers and the remedy; the folder need not exist."""
    problems = []
    present = allocated_bytes(run)
    disk = free_disk_bytes(run) + present

    def on_disk(sizes: RingLayout) -> int:
        return sizes.total_bytes + _CHECKPOINTS_AT_ONCE * state_bytes

    def in_memory(sizes: RingLayout) -> int:
        return resident_bytes(sizes) + state_bytes

    if on_disk(layout) > disk:
        problems.append(
            f"the replay of {layout.capacity:,} transitions and its checkpoints take {on_disk(layout) / _GIGABYTE:.1f} "
            f"GB on disk, and {_existing(run)} has {disk / _GIGABYTE:.1f} GB for them; "
            f"{_remedy(layout, on_disk, disk)}, or another --out"
        )
    memory = free_memory_bytes()
    if memory is not None and in_memory(layout) > memory:
        problems.append(
            f"half of the replay of {layout.capacity:,} transitions and the learner take "
            f"{in_memory(layout) / _GIGABYTE:.1f} GB of memory, and {memory / _GIGABYTE:.1f} GB are free; "
            f"{_remedy(layout, in_memory, memory)}"
        )
    if problems:
        raise ChorusError("; ".join(problems))


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
    return shutil.disk_usage(_existing(path)).free


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
