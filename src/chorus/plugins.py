"""Plugins: modules outside the package that register components, presets and environments.

A plugin is named by its module (`my_package.my_module`) or by its file (`my_plugin.py`), with `--plugin`, or it is
installed and has an entry point in the group `chorus.plugins`. Runs record the plugins they need in `meta.json`, and
everything that reads a run loads them again.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError

GROUP = "chorus.plugins"


@dataclass(frozen=True)
class _Plugin:
    """A loaded plugin: its recorded name, its module, its file, and whether somebody asked for it."""

    recorded: str
    module: str
    file: Path | None
    asked_for: bool


_LOADED: list[_Plugin] = []
_BROKEN: dict[str, str] = {}
_LOADING: list[str] = []


def load_plugins(names: Iterable[str] = ()) -> list[str]:
    """Import these plugins and every installed one, each once; an error if one of `names` cannot be imported.

    Returns one sentence per installed plugin that is broken: it may have nothing to do with the command at hand.
    """
    for entry in entry_points(group=GROUP):
        if entry.module not in _BROKEN and not _is_loaded(entry.module):
            _load_installed(entry)
    for name in _checked([names] if isinstance(names, str) else names):
        _load(name)
    return list(_BROKEN.values())


def _checked(names: Any) -> list[str]:
    found = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in found):
        raise ChorusError(f"plugins are {names!r}; they must be a list of names of modules or .py files")
    return found


def load_recorded(names: Iterable[str]) -> list[str]:
    """Import the plugins that a run recorded; returns one sentence per plugin that cannot be imported."""
    problems = load_plugins()
    for name in _checked(names):
        try:
            _load(name)
        except ChorusError as problem:
            problems.append(str(problem))
    return problems


def is_loading() -> bool:
    """Whether a plugin is being imported right now."""
    return bool(_LOADING)


def _is_loaded(name: str) -> bool:
    file = Path(name).absolute() if name.endswith(".py") else None
    return any(name in (one.recorded, one.module) or (file is not None and file == one.file) for one in _LOADED)


def _load_installed(entry: EntryPoint) -> None:
    """An entry point names a module, or a function without arguments that registers components."""
    try:
        with _importing(entry.module):
            found = entry.load()
            if callable(found):
                found()
    except Exception as problem:
        _BROKEN[entry.module] = (
            f"the installed plugin '{entry.name}' ({entry.value}) cannot be loaded ({_words(problem)}) and is left "
            "out; repair or uninstall it"
        )
        return
    _LOADED.append(_Plugin(entry.module, entry.module, None, asked_for=False))


def _load(name: str) -> None:
    if _is_loaded(name):
        return
    if name == "__main__":
        raise ChorusError(
            "components of this run were defined in an interactive session; put them into a file and give it with "
            "--plugin"
        )
    try:
        with _importing(name):
            plugin = _import_file(Path(name).absolute()) if name.endswith(".py") else _import_module(name)
    except ChorusError:
        raise
    except (ModuleNotFoundError, FileNotFoundError) as problem:
        raise ChorusError(
            f"the plugin '{name}' cannot be imported ({_words(problem)}); install it, put its folder on PYTHONPATH, or "
            "give its file: --plugin path/to/plugin.py"
        ) from problem
    except Exception as problem:
        raise ChorusError(f"the plugin '{name}' fails while it is imported ({_words(problem)}); repair it") from problem
    _LOADED.append(plugin)


@contextmanager
def _importing(name: str) -> Iterator[None]:
    _LOADING.append(name)
    try:
        yield
    finally:
        _LOADING.pop()


def _words(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"


def _import_module(name: str) -> _Plugin:
    """A module on the path; one in the current folder is recorded by its file, so that other folders find it."""
    here = Path.cwd().joinpath(*name.split(".")).with_suffix(".py")
    if importlib.util.find_spec(name.partition(".")[0]) is None and here.is_file():
        return _import_file(here)
    module = importlib.import_module(name)
    file = Path(module.__file__).absolute() if module.__file__ else None
    return _Plugin(str(file) if file == here else name, name, file, asked_for=True)


def _import_file(path: Path) -> _Plugin:
    """The module's name contains its path: two files of one name are two plugins."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file")
    module_name = f"chorus_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are defined.
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return _Plugin(str(path), module_name, path, asked_for=True)


def origin(module: str) -> str:
    """The plugin that a module belongs to, for a reader; empty for the package's own."""
    owner = _owner(module)
    if owner is not None:
        return owner.file.name if owner.file else owner.recorded
    return "" if _is_own(module) else module


def plugins_of(modules: Iterable[str]) -> list[str]:
    """What a run records: the plugins somebody asked for, and those that these modules belong to."""
    found = dict.fromkeys(one.recorded for one in _LOADED if one.asked_for)
    for module in modules:
        if _is_own(module):
            continue
        owner = _owner(module)
        file = getattr(sys.modules.get(module), "__file__", None)
        # A script has no name that it could be imported by.
        script = str(Path(file).absolute()) if module == "__main__" and file else module
        found[owner.recorded if owner else script] = None
    return list(found)


def _is_own(module: str) -> bool:
    return module == "chorus" or module.startswith("chorus.")


def _owner(module: str) -> _Plugin | None:
    return next((one for one in _LOADED if module == one.module or module.startswith(f"{one.module}.")), None)
