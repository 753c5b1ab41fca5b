"""The Python face of Chorus: `train`, `resume` and `load`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax

from chorus.errors import ChorusError
from chorus.experiments.assemble import Assembly
from chorus.experiments.config import Hyperparameters, RunConfig, Scale
from chorus.experiments.resolve import Request, Resolved, resolve, run_name
from chorus.experiments.runtime import prepare, provenance
from chorus.networks.torsos import custom
from chorus.player import Player
from chorus.training import checkpoint
from chorus.training.progress import ProgressView, for_terminal
from chorus.training.run_directory import RunDirectory
from chorus.training.trackers import Shielded, TensorBoard, Tracker, WeightsAndBiases

Torso = nn.Module | tuple[nn.Module, ...]


def train(
    preset: str,
    env: str,
    seed: int | None = None,
    *,
    scale: Scale | None = None,
    hyperparameters: Hyperparameters | None = None,
    out: str | Path = "runs",
    torso: Torso | None = None,
    config: str | Path | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    track: bool = False,
    keep_replay: bool = False,
    eval_members: bool = False,
    **options: Any,
) -> Path:
    """Train from scratch and return the run's directory.

    Without them, seed, scale and hyperparameters are the `config` file's, or 0, "laptop" and "code".
    `options` are those of the command line with underscores (`members=5, total_steps=100_000`); `torso` is a flax
    module of your own, or a tuple of modules, one a layer.
    """
    request = Request(
        preset=preset,
        env=env,
        seed=seed,
        scale=scale,
        hyperparameters=hyperparameters,
        file=Path(config) if config else None,
        options=options,
        eval_members=eval_members,
        torso=custom(torso) if torso is not None else None,
    )
    assembly, path = create(resolve(request), Path(out), tensorboard=tensorboard, track=track, keep_replay=keep_replay)
    run_in(assembly, path, for_terminal(quiet))
    return path


def create(
    resolved: Resolved, out: Path, *, tensorboard: bool = False, track: bool = False, keep_replay: bool = False
) -> tuple[Assembly, Path]:
    """The directory of a resolved run, once everything that can be wrong with it has been ruled out."""
    path = out / run_name(resolved)
    prepare(resolved.config.runtime)
    assembly = Assembly.of(resolved.config)
    assembly.check_network()
    directory = RunDirectory(path)
    if directory.exists() and directory.read_config() != resolved.config.to_json():
        raise ChorusError(f"{path} is another run's directory: its config.json differs; choose another --out")
    assembly.check_room(path)
    wishes = {"tensorboard": tensorboard, "track": track, "keep_replay": keep_replay}
    directory.create(resolved.config.to_json(), {**provenance(), **wishes})
    return assembly, path


def resume(run: str | Path, *, torso: Torso | None = None, quiet: bool = False) -> Path:
    """Go on with a run where its last checkpoint left it; a finished run is left as it is."""
    go_on(Path(run), for_terminal(quiet), torso)
    return Path(run)


def go_on(path: Path, progress: ProgressView, torso: Torso | None = None) -> dict[str, Any]:
    """The status after resuming; runs that have ended are not touched."""
    directory = RunDirectory(path)
    config = stored_config(directory, torso)
    if directory.has_ended():
        tidy(directory)
        return directory.read_status()
    prepare(config.runtime)
    assembly = Assembly.of(config)
    assembly.check_room(path)
    return run_in(assembly, path, progress)


def tidy(directory: RunDirectory) -> None:
    """A run killed between its last status and the removal of its replay still has it: remove it now."""
    if directory.replay.exists() and not directory.read_meta().get("keep_replay"):
        directory.lock()
        directory.delete_replay()
        directory.close()


def run_in(assembly: Assembly, path: Path, progress: ProgressView) -> dict[str, Any]:
    """Train in an existing directory, from its newest checkpoint if it has one, until the run ends."""
    directory = RunDirectory(path)
    meta = directory.read_meta()
    directory.lock()
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


def _nothing_to_load(directory: RunDirectory) -> str:
    path, status = directory.path, directory.read_status()
    if directory.has_ended():
        return (
            f"{path} has no usable checkpoint and has ended ({status['state']}: {status['reason']}); remove the "
            "folder and train again, with a smaller --learning-rate if it diverged"
        )
    return f"{path} has no usable checkpoint yet; train it further with `chorus resume {path}`"


def load(run: str | Path, policy: str | None = None, *, torso: Torso | None = None, seed: int = 0) -> Player:
    """The newest checkpoint of a run, ready to act: `load(run).predict(observation)`."""
    path = Path(run)
    directory = RunDirectory(path)
    config = stored_config(directory, torso)
    checkpoints, _ = checkpoint.find(directory.checkpoints, None)
    if not checkpoints:
        raise ChorusError(_nothing_to_load(directory))
    assembly = Assembly.of(config)
    state = checkpoints[-1].load_state(jax.eval_shape(assembly.agent.init, jax.random.key(0)))
    return Player(assembly, state.params, policy, seed)
