"""Plugins: modules outside the package that register components, presets and environments.

A plugin is named by its module (`my_package.my_module`) or by its file (`my_plugin.py`), with `--plugin`, or it is
installed and has an entry point in the group `chorus.plugins`. Runs record the plugins they need (`meta.json`), so that
whoever resumes, evaluates or reports them can load them again.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

from chorus.errors import ChorusError

GROUP = "chorus.plugins"
# Recorded name -> module name, of everything loaded so far.
_LOADED: dict[str, str] = {}


def load_plugins(names: Iterable[str] = (), *, needed_by: str | None = None) -> None:
    """Import these plugins and every installed one; each is imported once.

    `needed_by` is the run that recorded them, for the message if one is missing.
    """
    for entry in entry_points(group=GROUP):
        _load(entry.module, f"the installed plugin '{entry.name}' ({entry.module})", "repair or uninstall it")
    for name in names:
        what = f"the plugin '{name}'" + (f" that {needed_by} was trained with" if needed_by else "")
        remedy = "install it, put its folder on PYTHONPATH, or give its file: --plugin path/to/plugin.py"
        _load(name, what, remedy)


def _load(name: str, what: str, remedy: str) -> None:
    recorded = str(Path(name).absolute()) if name.endswith(".py") else name
    if recorded in _LOADED or _moved(recorded):
        return
    if recorded == "__main__":
        raise ChorusError(
            f"{what} was defined in an interactive session; put its components into a file and give it with --plugin"
        )
    try:
        recorded, module = _import_file(Path(recorded)) if recorded.endswith(".py") else _import_module(recorded)
    except ChorusError:
        raise
    except Exception as problem:
        raise ChorusError(f"{what} cannot be imported ({type(problem).__name__}: {problem}); {remedy}") from problem
    _LOADED[recorded] = module


def _moved(recorded: str) -> bool:
    """Whether a recorded file is not there any more and a file of the same name was loaded from elsewhere."""
    path = Path(recorded)
    return recorded.endswith(".py") and not path.exists() and any(Path(other).name == path.name for other in _LOADED)


def _import_module(name: str) -> tuple[str, str]:
    """A module on the path, or one in the current folder, which is then recorded by its file."""
    if importlib.util.find_spec(name.partition(".")[0]) is not None:
        importlib.import_module(name)
        return name, name
    here = Path.cwd().joinpath(*name.split(".")).with_suffix(".py")
    if here.is_file():
        return _import_file(here)
    importlib.import_module(name)
    return name, name


def _import_file(path: Path) -> tuple[str, str]:
    module_name = f"chorus_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} is no file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are defined.
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return str(path), module_name


def plugins_of(modules: Iterable[str]) -> list[str]:
    """What to record for components of these modules: those outside the package, by the name they can be loaded by."""
    by_module = {module: recorded for recorded, module in _LOADED.items()}
    found = dict.fromkeys(_LOADED)
    for module in modules:
        if module == "chorus" or module.startswith("chorus.") or module in by_module:
            continue
        file = getattr(sys.modules.get(module), "__file__", None)
        # What was run as a script has no name to be imported by.
        found[str(Path(file).absolute()) if module == "__main__" and file else module] = None
    return list(found)
