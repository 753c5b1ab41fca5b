"""One run: assembly, start and resume, runtime, run directory, the one reader of run logs.

In the Python interface, `chorus.runs(folder)` lists the runs of a folder; the package itself is what is called.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """Python makes a package an attribute of its parent, so that a function of this name cannot stand beside it."""

    def __call__(self, folder: Any = "runs") -> Any:
        import chorus

        return chorus.list_runs(folder)


sys.modules[__name__].__class__ = _Callable
