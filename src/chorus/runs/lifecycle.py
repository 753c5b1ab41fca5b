"""A run from its configuration to its end: start, resume, and what its directory says about it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import flax.linen as nn

from chorus.components import Component
from chorus.config.codec import nodes
from chorus.config.identity import configuration_name, digest_name, identity, name_of_seed
from chorus.config.presets import find_preset
from chorus.config.resolution import Resolved
from chorus.config.schema import RunConfig
from chorus.config.validation import find_problems
from chorus.envs.registry import describe, env_modules
from chorus.errors import ChorusError
from chorus.networks.torsos import custom
from chorus.plugins import load_recorded, plugins_of
from chorus.runs.assembly import Assembly
from chorus.runs.programs import ProgramCache
from chorus.runs.progress import ProgressView
from chorus.runs.run_directory import RunDirectory
from chorus.runs.runtime import prepare, provenance
from chorus.runs.stopping import StopRequest
from chorus.runs.tracking import Tracking, added, open_trackers, recorded

FlaxTorso = nn.Module | tuple[nn.Module, ...]


def describe_run(resolved: Resolved) -> dict[str, Any]:
    """The part of `meta.json` that follows from what was asked for: what the run is, and the plugins it needs."""
    components = (node for _, node in nodes(resolved.config) if isinstance(node, Component))
    lineage = find_preset(resolved.config.preset).lineage()
    modules = [*(type(one).__module__ for one in components), *(preset.change.__module__ for preset in lineage)]
    modules += env_modules(resolved.config.env.id)
    return {"identity": identity(resolved), "plugins": plugins_of(modules)}


def create_run(
    resolved: Resolved, out: Path, *, keep_replay: bool = False, tracking: Tracking | None = None
) -> tuple[Assembly, Path]:
    """The directory of a new run, made once everything that can be wrong with it has been ruled out."""
    path = planned_path(resolved, out)
    return create_directory(path, resolved.config, about_run(resolved, tracking, keep_replay)), path


def about_run(resolved: Resolved, tracking: Tracking | None, keep_replay: bool) -> dict[str, Any]:
    """The part of `meta.json` that was asked for; trackers must be installed."""
    chosen = tracking or Tracking()
    chosen.check_packages()
    return {**describe_run(resolved), **chosen.about(), "keep_replay": keep_replay}


def planned_path(resolved: Resolved, out: Path) -> Path:
    """The directory of a run that may exist already."""
    return find_run(out, (configuration_name(resolved), digest_name(resolved)), resolved.config.seed)


def find_run(out: Path, names: tuple[str, str], seed: int) -> Path:
    """The directory of a seed: the second name, that of earlier versions, only if there is a run of that name."""
    path, former = (out / name_of_seed(name, seed) for name in names)
    return former if path != former and not path.exists() and RunDirectory(former).exists() else path


def create_directory(
    path: Path, config: RunConfig, about: Mapping[str, Any], programs: ProgramCache | None = None
) -> Assembly:
    """The parts of a new run and its directory; `about` is added to its `meta.json`."""
    prepare(config.runtime)
    assembly = Assembly.of(config, programs)
    assembly.check_network()
    directory = RunDirectory(path)
    if directory.exists():
        directory.check_same(config.to_json())
    assembly.check_resources(path)
    directory.create(config.to_json(), {**provenance(), **about, **recorded(about, path)})
    return assembly


def start_run(
    path: Path,
    config: RunConfig,
    about: Mapping[str, Any],
    progress: ProgressView,
    *,
    patience_seconds: float = 0.0,
    stop: StopRequest | None = None,
    programs: ProgramCache | None = None,
) -> dict[str, Any]:
    """Start the run in this directory, or resume it if it exists; returns its last status.

    `about` is added to the `meta.json` of a new run, and trackers to that of an old one. A run that another process
    holds is waited for. `programs` are shared with other runs of this process.
    """
    if RunDirectory(path).exists():
        return resume_run(path, progress, patience_seconds=patience_seconds, stop=stop, about=about, programs=programs)
    return train_run(create_directory(path, config, about, programs), path, progress, stop=stop)


def resume_run(
    path: Path,
    progress: ProgressView,
    torso: FlaxTorso | None = None,
    *,
    patience_seconds: float = 0.0,
    stop: StopRequest | None = None,
    about: Mapping[str, Any] | None = None,
    programs: ProgramCache | None = None,
) -> dict[str, Any]:
    """The status after resuming. A run that has ended is left alone, except for a replay that should be gone."""
    directory = RunDirectory(path)
    config = stored_config(directory, torso)
    if directory.has_ended():
        _remove_leftover_replay(directory)
        return directory.read_status()
    validate_stored(config, directory)
    prepare(config.runtime)
    assembly = Assembly.of(config, programs)
    assembly.check_resources(path, resumed=True)
    return train_run(assembly, path, progress, patience_seconds, stop, about)


def validate_stored(config: RunConfig, directory: RunDirectory) -> None:
    """Refuse a configuration that no run can start with: the file was changed since."""
    limit = config.env.max_episode_steps
    # A limit below 1 is validation's to refuse, not the environment's.
    spec = describe(config.env.id, limit if limit is None else max(limit, 1))
    if problems := find_problems(config, spec):
        raise ChorusError(f"{directory.path / 'config.json'} cannot be used: {'; '.join(problems)}; set it back")


def _remove_leftover_replay(directory: RunDirectory) -> None:
    """A run killed between its last status and the removal of its replay still has it."""
    if directory.replay.exists() and not _keeps_replay(directory.read_meta()):
        directory.lock()
        directory.delete_replay()
        directory.close()


def _keeps_replay(meta: dict[str, Any]) -> bool:
    """Without its meta.json a run keeps its replay: nothing says that it may go."""
    return bool(meta.get("keep_replay", not meta))


def train_run(
    assembly: Assembly,
    path: Path,
    progress: ProgressView,
    patience_seconds: float = 0.0,
    stop: StopRequest | None = None,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train in an existing directory, from its newest checkpoint if it has one, until the run ends or is stopped.

    Without a `stop` to listen to, Ctrl-C and SIGTERM stop it. Trackers that `about` asks for are added to the run's.
    """
    if stop is None:
        with StopRequest().listening() as stop:
            return train_run(assembly, path, progress, patience_seconds, stop, about)
    directory = RunDirectory(path)
    meta = directory.read_meta()
    directory.lock(patience_seconds)
    directory.check_places()
    directory.forget_stop()
    if directory.has_ended():
        # Another process had the lock until now; its replay is gone, and starting again would destroy its logs.
        directory.close()
        return directory.read_status()
    directory.check_links()
    meta |= directory.add_to_meta(added(meta, about or {}, path))
    trackers = open_trackers(path, assembly.config.to_json(), meta)
    training = assembly.training(directory, progress, trackers, _keeps_replay(meta), stop)
    return training.run()


def stored_config(directory: RunDirectory, torso: FlaxTorso | None = None) -> RunConfig:
    """The configuration of a run, its plugins loaded first."""
    origin = str(directory.path / "config.json")
    config = decode_with_plugins(directory.read_config(), directory.read_meta().get("plugins", ()), origin)
    if torso is None:
        return config
    return replace(config, agent=replace(config.agent, torso=custom(torso)))


def decode_with_plugins(data: Any, plugins: Iterable[str], origin: str) -> RunConfig:
    """The configuration, after the recorded plugins were loaded; a plugin may be missing if nothing needs it."""
    missing = load_recorded(plugins)
    try:
        return RunConfig.from_json(data, origin)
    except ChorusError as problem:
        if missing:
            raise ChorusError(f"{'; '.join(missing)}; without it, {problem}") from problem
        raise
