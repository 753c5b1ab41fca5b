"""A run from its configuration to its end: its directory made, or found and gone on with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import flax.linen as nn

from chorus.config.resolution import Resolved, run_name
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError
from chorus.networks.torsos import custom
from chorus.runs.assembly import Assembly
from chorus.runs.progress import ProgressView
from chorus.runs.run_directory import RunDirectory
from chorus.runs.runtime import prepare, provenance
from chorus.runs.trackers import Shielded, TensorBoard, Tracker, WeightsAndBiases

Torso = nn.Module | tuple[nn.Module, ...]


def create(
    resolved: Resolved, out: Path, *, tensorboard: bool = False, track: bool = False, keep_replay: bool = False
) -> tuple[Assembly, Path]:
    """The directory of a resolved run, once everything that can be wrong with it has been ruled out."""
    path = out / run_name(resolved)
    overrides = {"tensorboard": tensorboard, "track": track, "keep_replay": keep_replay}
    return create_in(path, resolved.config, {**provenance(), **overrides}), path


def create_in(path: Path, config: RunConfig, meta: dict[str, Any]) -> Assembly:
    """A new run in this directory."""
    prepare(config.runtime)
    assembly = Assembly.of(config)
    assembly.check_network()
    directory = RunDirectory(path)
    if directory.exists() and directory.read_config() != config.to_json():
        raise ChorusError(f"{path} is another run's directory: its config.json differs; choose another --out")
    assembly.check_room(path)
    directory.create(config.to_json(), meta)
    return assembly


def perform(
    path: Path, config: RunConfig, command: list[str], progress: ProgressView, *, patience_seconds: float = 0.0
) -> dict[str, Any]:
    """The run's last status: made if it is missing, gone on with if it was cut, left alone if it has ended.

    If another process is still at it, that is waited for with some patience.
    """
    if RunDirectory(path).exists():
        return go_on(path, progress, patience_seconds=patience_seconds)
    _clear_stillborn(path)
    return run_in(create_in(path, config, {**provenance(), "command": command}), path, progress)


def _clear_stillborn(path: Path) -> None:
    """What a process leaves that was killed between making a directory and writing its first file."""
    if path.is_dir() and all(file.name.startswith(".") for file in path.iterdir()):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def go_on(
    path: Path, progress: ProgressView, torso: Torso | None = None, *, patience_seconds: float = 0.0
) -> dict[str, Any]:
    """The status after resuming; runs that have ended are not touched."""
    directory = RunDirectory(path)
    config = stored_config(directory, torso)
    if directory.has_ended():
        tidy(directory)
        return directory.read_status()
    prepare(config.runtime)
    assembly = Assembly.of(config)
    assembly.check_room(path)
    return run_in(assembly, path, progress, patience_seconds)


def tidy(directory: RunDirectory) -> None:
    """A run killed between its last status and the removal of its replay still has it: remove it now."""
    if directory.replay.exists() and not directory.read_meta().get("keep_replay"):
        directory.lock()
        directory.delete_replay()
        directory.close()


def run_in(assembly: Assembly, path: Path, progress: ProgressView, patience_seconds: float = 0.0) -> dict[str, Any]:
    """Train in an existing directory, from its newest checkpoint if it has one, until the run ends."""
    directory = RunDirectory(path)
    meta = directory.read_meta()
    directory.lock(patience_seconds)
    if directory.has_ended():
        # Another process had the lock until now; its replay is gone, and starting again would destroy its logs.
        directory.close()
        return directory.read_status()
    trackers = _trackers(path, assembly.config, meta)
    training = assembly.training(directory, progress, trackers, bool(meta.get("keep_replay")))
    return training.run()


def _trackers(path: Path, config: RunConfig, meta: dict[str, Any]) -> list[Tracker]:
    trackers: list[Tracker] = []
    if meta.get("tensorboard"):
        trackers.append(Shielded("TensorBoard", lambda: TensorBoard(path / "tensorboard")))
    if meta.get("track"):
        trackers.append(Shielded("Weights & Biases", lambda: WeightsAndBiases(path, config.to_json())))
    return trackers


def stored_config(directory: RunDirectory, torso: Torso | None = None) -> RunConfig:
    config = RunConfig.from_json(directory.read_config(), str(directory.path / "config.json"))
    if torso is None:
        return config
    return replace(config, agent=replace(config.agent, torso=custom(torso)))
