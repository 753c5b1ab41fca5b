"""The Python interface: `train`, `resume` and `load`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from chorus.config.resolution import Request, resolve
from chorus.config.schema import Hyperparameters, Scale
from chorus.errors import ChorusError, warn
from chorus.networks.torsos import custom
from chorus.player import Player
from chorus.plugins import is_loading, load_plugins
from chorus.randomness import init_key
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import FlaxTorso, create_run, resume_run, stored_config, train_run
from chorus.runs.progress import for_terminal
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.training import checkpoint


def _as_path(name: str, value: str | Path) -> Path:
    if not isinstance(value, str | Path) or not str(value):
        raise ChorusError(f"{name} is {value!r}; it must be a path")
    return Path(value)


@contextmanager
def _stoppable() -> Iterator[StopRequest]:
    """After Ctrl-C or SIGTERM the run first saves its iteration; KeyboardInterrupt then ends loops over runs, too."""
    with StopRequest().listening() as stop:
        yield stop
    if stop.asked:
        raise KeyboardInterrupt


def train(
    preset: str,
    env: str,
    seed: int | None = None,
    *,
    scale: Scale | None = None,
    hyperparameters: Hyperparameters | None = None,
    out: str | Path = "runs",
    torso: FlaxTorso | None = None,
    config: str | Path | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    track: bool = False,
    keep_replay: bool = False,
    eval_members: bool = False,
    plugins: Iterable[str] = (),
    **options: Any,
) -> Path:
    """Train from scratch and return the run's directory.

    Seed, scale and hyperparameters default to those of the `config` file, or to 0, "laptop" and "code".
    `options` are those of the command line with underscores (`members=5, total_steps=100_000`). `torso` is a flax
    module, or a tuple of modules, one per layer. `plugins` are modules or files to load first.
    """
    if is_loading():
        raise ChorusError("a plugin calls chorus.train while it is imported; guard it by `if __name__ == '__main__':`")
    load_plugins(plugins)
    request = Request(
        preset=preset,
        env=env,
        seed=seed,
        scale=scale,
        hyperparameters=hyperparameters,
        file=None if config is None else _as_path("config", config),
        options=options,
        eval_members=eval_members,
        torso=custom(torso) if torso is not None else None,
    )
    switches = {"tensorboard": tensorboard, "track": track, "keep_replay": keep_replay}
    assembly, path = create_run(resolve(request), _as_path("out", out), **switches)
    with _stoppable() as stop:
        train_run(assembly, path, for_terminal(quiet), stop=stop)
    return path


def resume(
    run: str | Path, *, torso: FlaxTorso | None = None, quiet: bool = False, plugins: Iterable[str] = ()
) -> Path:
    """Resume a run from its last checkpoint; a finished run is left unchanged."""
    load_plugins(plugins)
    path = _as_path("run", run)
    with _stoppable() as stop:
        resume_run(path, for_terminal(quiet), torso, stop=stop)
    return path


def _nothing_to_load(directory: RunDirectory) -> str:
    path, status = directory.path, directory.read_status()
    if directory.has_ended():
        return (
            f"{path} has no usable checkpoint and has ended ({status['state']}: {status['reason']}); remove the "
            "folder and train again, with a smaller --learning-rate if it diverged"
        )
    return f"{path} has no usable checkpoint yet; train it further with `chorus resume {path}`"


def load(
    run: str | Path,
    policy: str | None = None,
    *,
    torso: FlaxTorso | None = None,
    seed: int = 0,
    plugins: Iterable[str] = (),
) -> Player:
    """The newest checkpoint of a run, ready to act: `load(run).predict(observation)`."""
    load_plugins(plugins)
    path = _as_path("run", run)
    directory = RunDirectory(path)
    config = stored_config(directory, torso)
    found = checkpoint.find(directory.checkpoints)
    for complaint in found.complaints:
        warn(complaint)
    if not found.intact:
        raise ChorusError(_nothing_to_load(directory))
    newest = found.intact[-1]
    checkpoint.check_config(newest, config.to_json(), path / "config.json")
    assembly = Assembly.of(config)
    state = newest.load_state(jax.eval_shape(assembly.agent.init, init_key(0)))
    return Player(assembly, state.params, policy, seed)
