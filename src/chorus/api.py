"""The Python interface for one run: `train`, `resume` and `load`."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from chorus.arguments import as_path, check_flags, check_functions, check_torso, plain, read_options, whole_number
from chorus.config.resolution import Request, Resolved, resolve
from chorus.config.schema import Hyperparameters, Scale
from chorus.envs.given import Maker, name_env
from chorus.errors import ChorusError, warn
from chorus.networks.torsos import custom
from chorus.player import Player
from chorus.plugins import is_loading, load_plugins
from chorus.randomness import init_key
from chorus.run_handle import Run
from chorus.runs.assembly import Assembly
from chorus.runs.callbacks import Callback, StopRun, WithCallbacks
from chorus.runs.lifecycle import (
    FlaxTorso,
    about_run,
    create_run,
    planned_path,
    resume_run,
    stored_config,
    train_run,
)
from chorus.runs.own_process import train_apart
from chorus.runs.progress import for_terminal
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.tracking import read_tracking
from chorus.training import checkpoint

__all__ = ["Run", "StopRun", "load", "resume", "train"]

# Set to 1, runs are trained in the process that calls, unless `in_process` says otherwise; for debuggers and tests.
IN_PROCESS = "CHORUS_IN_PROCESS"


def train(
    preset: str | None = None,
    env: str | Maker | None = None,
    seed: int | None = None,
    *,
    scale: Scale | None = None,
    hyperparameters: Hyperparameters | None = None,
    out: str | Path = "runs",
    torso: FlaxTorso | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    track: bool | Mapping[str, Any] = False,
    keep_replay: bool = False,
    eval_members: bool = False,
    plugins: Iterable[str] = (),
    exist_ok: bool = False,
    resume: bool = False,
    in_process: bool | None = None,
    on_episode: Callback | None = None,
    on_iteration: Callback | None = None,
    **options: Any,
) -> Run:
    """Train from scratch and return the run, which is its directory's path with more to ask.

    `env` is an environment id, a Gymnasium environment class, or a function that makes an environment. Seed, scale and
    hyperparameters default to those of `config`, a file or its content, or to 0, "laptop" and "code". `options` are
    those of the command line with underscores (`members=5, total_steps=1e5`). `torso` is a flax module, or a tuple of
    modules, one per layer. `plugins` are modules or files to load first.

    The run has a process of its own, so that it does not matter what this one has computed; `in_process=True` trains
    here, for debugging. `on_episode` and `on_iteration` are called here in either case, with a record; if one
    returns False or raises `StopRun`, the run stops after the iteration under way, which is saved.

    `tensorboard` and `track` copy the numbers to TensorBoard's files and to Weights & Biases; `track` may be a
    dictionary with project, entity, group and tags.

    A run that exists is refused, unless it has ended and `exist_ok` is set, which returns it, or `resume` is set, which
    resumes it if it has not.
    """
    if is_loading():
        raise ChorusError("a plugin calls chorus.train while it is imported; guard it by `if __name__ == '__main__':`")
    check_flags(keep_replay=keep_replay, quiet=quiet, exist_ok=exist_ok, resume=resume)
    tracking = read_tracking(tensorboard, track)
    tracking.check_packages()
    check_torso(torso)
    load_plugins(plugins)
    problems: list[str] = []
    request = Request(
        preset=preset,
        env=_env_id(env),
        seed=None if seed is None else whole_number("seed", seed),
        scale=scale,
        hyperparameters=hyperparameters,
        file=_config(config),
        options=read_options(options, problems),
        eval_members=eval_members,
        torso=None if torso is None else custom(torso),
        problems=tuple(problems),
    )
    resolved = resolve(request)
    folder = as_path("out", out)
    path = planned_path(resolved, folder)
    env_id, about = resolved.config.env.id, about_run(resolved, tracking, keep_replay)
    here = _trains_here(in_process)
    if exist_ok or resume:
        done = _existing(resolved, path, resume)
        if done is not None:
            return done
    with _watched(quiet, on_episode, on_iteration) as (view, stop):
        if (exist_ok or resume) and RunDirectory(path).exists():
            _resume(path, view, stop, torso, here, env_id, about)
        elif here:
            assembly, _ = create_run(resolved, folder, keep_replay=keep_replay, tracking=tracking)
            train_run(assembly, path, view, stop=stop)
        else:
            RunDirectory(path).check_new()
            config_tree = resolved.config.to_json()
            train_apart(path, view, stop, config=config_tree, about=about, torso=torso, env_id=env_id)
    return Run(path)


def resume(
    run: str | Path,
    *,
    env: Maker | None = None,
    torso: FlaxTorso | None = None,
    quiet: bool = False,
    plugins: Iterable[str] = (),
    in_process: bool | None = None,
    on_episode: Callback | None = None,
    on_iteration: Callback | None = None,
) -> Run:
    """Resume a run from its last checkpoint; a finished run is left unchanged.

    `env` and `torso` are given again if the run was trained with some that only that program knew.
    """
    check_flags(quiet=quiet)
    check_torso(torso)
    load_plugins(plugins)
    _env_id(env)
    path = as_path("run", run)
    # What is no configuration is refused with a sentence when it is decoded.
    stored = RunDirectory(path).read_config().get("env")
    stored_id = str(stored.get("id", "")) if isinstance(stored, dict) else ""
    with _watched(quiet, on_episode, on_iteration) as (view, stop):
        _resume(path, view, stop, torso, _trains_here(in_process), stored_id)
    return Run(path)


def _resume(
    path: Path,
    view: WithCallbacks,
    stop: StopRequest,
    torso: FlaxTorso | None,
    here: bool,
    env_id: str,
    about: Mapping[str, Any] | None = None,
) -> None:
    # A run that has ended needs no process: nothing is computed.
    if here or RunDirectory(path).has_ended():
        resume_run(path, view, torso, stop=stop, about=about)
    else:
        train_apart(path, view, stop, about=about, torso=torso, env_id=env_id)


def load(
    run: str | Path,
    policy: str | None = None,
    *,
    env: Maker | None = None,
    torso: FlaxTorso | None = None,
    seed: int = 0,
    plugins: Iterable[str] = (),
) -> Player:
    """The newest checkpoint of a run, ready to act: `load(run).predict(observation)`."""
    check_torso(torso)
    load_plugins(plugins)
    _env_id(env)
    path = as_path("run", run)
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
    return Player(assembly, state.params, policy, whole_number("seed", seed, least=0))


def _nothing_to_load(directory: RunDirectory) -> str:
    path, status = directory.path, directory.read_status()
    if directory.is_published:
        config = shlex.quote(str(path / "config.json"))
        return (
            f"{path} was published without its checkpoints, so there is nothing to play; "
            f"`chorus train --config {config}` trains it again"
        )
    if directory.has_ended():
        return (
            f"{path} has no usable checkpoint and has ended ({status['state']}: {status['reason']}); remove the "
            "folder and train again, with a smaller --learning-rate if it diverged"
        )
    return f"{path} has no usable checkpoint yet; train it further with `chorus resume {shlex.quote(str(path))}`"


@contextmanager
def _watched(
    quiet: bool, on_episode: Callback | None, on_iteration: Callback | None
) -> Iterator[tuple[WithCallbacks, StopRequest]]:
    """What sees and stops a run. After Ctrl-C or SIGTERM the run first saves its iteration; KeyboardInterrupt then ends
    loops over runs, too."""
    check_functions(on_episode=on_episode, on_iteration=on_iteration)
    with StopRequest().listening() as stop:
        view = WithCallbacks(for_terminal(quiet), stop, on_episode, on_iteration)
        yield view, stop
    if view.problem is not None:
        raise view.problem
    if stop.signalled:
        raise KeyboardInterrupt


def _existing(resolved: Resolved, path: Path, resume: bool) -> Run | None:
    """The run if it has ended; None if there is none, or if it is to be resumed."""
    directory = RunDirectory(path)
    if not directory.exists():
        return None
    directory.check_same(resolved.config.to_json())
    if directory.has_ended():
        return Run(path)
    if not resume:
        raise ChorusError(f"{path} exists and has not ended; pass resume=True to train it further")
    return None


def _trains_here(in_process: bool | None) -> bool:
    if in_process is not None:
        check_flags(in_process=in_process)
    return os.environ.get(IN_PROCESS, "") not in ("", "0") if in_process is None else in_process


def _env_id(env: Any) -> str | None:
    """The id of an environment however it is given; one that lives in this process is remembered."""
    if env is None or isinstance(env, str):
        return env
    if not callable(env):
        raise ChorusError(
            f"env is {env!r}; it must be an environment id, a Gymnasium environment class, or a function that makes one"
        )
    return name_env(env)


def _config(config: Any) -> Path | dict[str, Any] | None:
    if config is None:
        return None
    return plain(config) if isinstance(config, Mapping) else as_path("config", config)
