"""Runs as Ray tasks, on an existing cluster or on one started here for the duration of the runs.

Each run has its own worker process, because JAX fixes its threads once per process. If the process or its node dies,
Ray starts the task again and the run resumes from its last checkpoint, so run folders must be on storage shared by all
nodes. Token authentication stays on unless RAY_AUTH_MODE says otherwise (docs/engines.md).
"""

import contextlib
import logging
import os
import secrets
import signal
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError
from chorus.extras import require
from chorus.files import is_alive
from chorus.scheduling.costs import on_gpu
from chorus.scheduling.engines import Ended, Engine, with_command
from chorus.scheduling.engines.worker import run_job
from chorus.scheduling.jobs import Job, memory_bytes

# Ray reads this once, when it is imported.
os.environ.setdefault("RAY_AUTH_MODE", "token")
ray: Any = require("ray", "--engine ray")

# How often Ray restarts a task whose worker or node died. The grid handles errors of the run itself.
_RETRIES_OF_RAY = 5
# After a node has died, its processes may hold a run for a while, and NFS keeps the locks of a dead machine for about
# 90 seconds.
_PATIENCE_SECONDS = 180.0
_LAST_LINES = 15
# In the environment of all processes of a cluster: the process that started it.
_OWNER = "CHORUS_RAY_OWNER"


class RayEngine(Engine):
    """Connected until `stop`; `most` limits the runs at once, otherwise the cluster does.

    `required` holds, of each resource, the most that one of the runs takes.
    """

    def __init__(self, required: dict[str, float], most: int | None) -> None:
        self._required, self._most = required, most
        self._running: dict[Any, Job] = {}
        # One task per worker: a second run could not choose its threads.
        self._task = ray.remote(max_calls=1, max_retries=_RETRIES_OF_RAY)(run_job)

    @property
    def workers(self) -> int:
        """How many runs fit the cluster now; nodes may come and go."""
        fits = sum(_fits(node["Resources"], self._required) for node in ray.nodes() if node["Alive"])
        return max(1, fits if self._most is None else min(self._most, fits))

    def start(self, job: Job) -> None:
        required = resources(job)
        task = self._task.options(
            num_cpus=required["CPU"], num_gpus=required.get("GPU", 0), memory=required["memory"], name=job.name
        )
        self._running[task.remote(with_command(job.message()), _PATIENCE_SECONDS)] = job

    def wait(self, seconds: float) -> list[Ended]:
        if not self._running:
            time.sleep(seconds)
            return []
        over, _ = ray.wait(list(self._running), num_returns=1, timeout=seconds)
        return [_ended(task, self._running.pop(task)) for task in over]

    def stop(self) -> None:
        for task in self._running:
            ray.cancel(task, force=True)
        self._running.clear()
        ray.shutdown()


def _ended(task: Any, job: Job) -> Ended:
    try:
        ray.get(task)
    except ray.exceptions.RayTaskError as problem:
        cause = problem.cause
        if isinstance(cause, ChorusError):
            return Ended(job, problem=str(cause), hopeless=True)
        return Ended(job, problem="\n".join(str(problem).splitlines()[-_LAST_LINES:]))
    except ray.exceptions.RayError as problem:
        return Ended(job, problem=" ".join(str(problem).split()))
    return Ended(job)


def resources(job: Job) -> dict[str, float]:
    """The resources of a run, as Ray counts them."""
    asked: dict[str, float] = {"CPU": job.config.runtime.threads, "memory": memory_bytes(job)}
    return asked | {"GPU": 1} if on_gpu(job.config) else asked


def _fits(offered: dict[str, float], required: dict[str, float]) -> int:
    return min(int(offered.get(name, 0) // amount) for name, amount in required.items())


def engine(jobs: Sequence[Job], workers: int | None, options: Mapping[str, Any]) -> RayEngine:
    """Connects to the cluster at the `address` of the options, or starts one here that ends with the engine."""
    different = list({job.config.digest(): resources(job) for job in jobs}.values())
    required = {name: max(one.get(name, 0) for one in different) for one in different for name in one}
    _connect(options.get("address"))
    if not any(_fits(node["Resources"], required) for node in ray.nodes() if node["Alive"]):
        wanted = ", ".join(f"{amount:g} {name}" for name, amount in _readable(required).items())
        ray.shutdown()
        raise ChorusError(
            f"no node of the cluster offers what one of these runs needs ({wanted}); add such a node, or use smaller "
            "runs"
        )
    return RayEngine(required, workers)


def _readable(required: dict[str, float]) -> dict[str, float]:
    names = {"memory": "GB of memory", "CPU": "CPU thread(s)", "GPU": "GPU"}
    return {names[name]: round(amount / 1e9, 1) if name == "memory" else amount for name, amount in required.items()}


def end_orphans() -> None:
    """End the processes of clusters whose owner was killed before it could; they carry its number."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = environment.read_bytes().split(b"\0")
        except OSError:
            # Another user's, or already gone.
            continue
        owner = next((one.partition(b"=")[2] for one in variables if one.startswith(f"{_OWNER}=".encode())), b"")
        if owner.isdigit() and not is_alive(int(owner)):
            with contextlib.suppress(OSError):
                os.kill(int(environment.parent.name), signal.SIGKILL)


@contextlib.contextmanager
def _marking_children() -> Iterator[None]:
    """Processes started meanwhile carry this one's number; those that its program starts later are not Ray's."""
    os.environ[_OWNER] = str(os.getpid())
    try:
        yield
    finally:
        del os.environ[_OWNER]


def _prepare_own_cluster() -> None:
    """For a cluster that ends with this process: no other machine can reach it, and it has a token of its own."""
    end_orphans()
    # Ray's switch for the loopback address. Its processes read the variable, and this one the constant.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    ray._private.ray_constants.ENABLE_RAY_CLUSTER = False
    if not _has_token():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _connect(address: str | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        _prepare_own_cluster()
    try:
        with warnings.catch_warnings():
            # Ray forks to start its servers, and JAX warns about forks; each is followed by exec at once.
            warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)
            with contextlib.nullcontext() if address else _marking_children():
                ray.init(
                    address=address or "local",
                    include_dashboard=None if address else False,
                    namespace="chorus",
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError, OSError) as problem:
        where = f"the Ray cluster at {address} cannot be used" if address else "no Ray cluster can be started here"
        raise ChorusError(
            f"{where} ({next(iter(str(problem).splitlines()), type(problem).__name__)}); check the address, and that "
            "its token is in RAY_AUTH_TOKEN or ~/.ray/auth_token (docs/engines.md)"
        ) from problem


def _has_token() -> bool:
    given = any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    return given or (Path.home() / ".ray" / "auth_token").is_file()
