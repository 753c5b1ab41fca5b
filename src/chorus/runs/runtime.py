"""Threads and device of this process. They must be chosen before JAX computes anything."""

import contextlib
import ctypes
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from chorus.config.schema import Runtime
from chorus.errors import ChorusError
from chorus.runs.machine import processor

# XLA's CPU client reads this once, when it starts.
_THREADS_VARIABLE = "NPROC"
_PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy", "gymnasium", "pgx", "safetensors")


def prepare(runtime: Runtime) -> None:
    """Set the threads and the device of this process; an error if JAX has already started with others."""
    wanted, started = str(runtime.threads), _started()
    if started:
        current = os.environ.get(_THREADS_VARIABLE)
        if current != wanted:
            raise ChorusError(
                f"this process already computes with {current or 'all'} threads and the run asks for {wanted}; "
                f"start it in a process of its own, or set {_THREADS_VARIABLE}={wanted} before the first use of JAX"
            )
    else:
        keep_heap()
        os.environ[_THREADS_VARIABLE] = wanted
        # An empty name selects any accelerator; with several names JAX refuses those that are not installed.
        os.environ["JAX_PLATFORMS"] = {"cpu": "cpu", "gpu": ""}[runtime.device]
        jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])
    try:
        found = jax.default_backend()
    except RuntimeError as problem:
        raise _unusable(runtime.device, str(problem).splitlines()[0]) from problem
    if (found == "cpu") != (runtime.device == "cpu"):
        if started:
            raise ChorusError(f"this process already computes on {found}, not on {runtime.device}; start another one")
        raise _unusable(runtime.device, f"JAX found only the {found}")


def stay_on_cpu(threads: int) -> None:
    """Keep a process that only plans from reserving an accelerator, which the processes that it starts may use.

    It has the threads of a run, so that a later `chorus.train` in the same process is not refused.
    """
    if not _started():
        keep_heap()
        os.environ[_THREADS_VARIABLE] = str(threads)
        jax.config.update("jax_platforms", "cpu")


def _unusable(device: str, why: str) -> ChorusError:
    return ChorusError(
        f"--device {device} is not usable here ({why}); use --device cpu, or install JAX for it, "
        'such as `pip install "chorus-rl[cuda12]"` for NVIDIA on Linux'
    )


# Parameters of glibc's mallopt, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8


def keep_heap() -> None:
    """Let glibc keep freed memory, in one heap.

    XLA allocates its temporary buffers at each call. By default glibc maps and unmaps large ones, and the page faults
    cost a large network a third of its update (docs/performance.md). Without glibc this does nothing.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    for parameter, value in ((_M_ARENA_MAX, 1), (_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, 2**31 - 1)):
        mallopt(parameter, value)


def trim_heap() -> None:
    """Give freed memory back to the system, which `keep_heap` does not; without glibc this does nothing."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _started() -> bool:
    from jax._src import xla_bridge

    return bool(xla_bridge.backends_are_initialized())


def provenance() -> dict[str, Any]:
    """Versions, machine, command and commit, for `meta.json`."""
    return {
        "chorus": _version("chorus-rl"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "command": sys.argv,
        "commit": commit(),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """The commit of the source tree Chorus runs from, if it runs from one."""
    here = Path(__file__).parent
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
