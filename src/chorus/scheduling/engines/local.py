"""Runs on this machine, at any time each in its own process with its own thread pool.

A process that has trained a run of an environment of pure functions trains the next such run: importing, tracing and
loading programs takes up to half of a short run. All other runs have a process of their own, because code of an
environment or a tracker may leave something behind.
"""

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from chorus.envs.registry import is_jax
from chorus.errors import ChorusError
from chorus.files import is_alive
from chorus.runs.resources import free_memory_bytes
from chorus.scheduling.costs import on_gpu
from chorus.scheduling.engines import Ended, Engine, with_command
from chorus.scheduling.engines.worker import DONE, HOPELESS
from chorus.scheduling.jobs import Job, memory_bytes

_SECONDS_TO_STOP = 10.0
_LAST_LINES = 15
# The folder for temporary files may be shared by machines, whose processes have numbers of their own.
_CACHE = f"chorus-compiled-{platform.node()}-"
# NumPy's libraries start one thread per core unless told otherwise.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Worker:
    """A process and the job that it has now, or had last."""

    job: Job
    process: subprocess.Popen
    stderr: IO[str]
    gpu: str | None
    is_done: bool = False
    """Whether it has said that its run ended well."""

    def send(self, job: Job) -> None:
        self.job, self.is_done = job, False
        assert self.process.stdin is not None
        # `wait` reports a process that died before it could read.
        with contextlib.suppress(BrokenPipeError):
            message = {**with_command(job.message()), "stays": leaves_nothing_behind(job)}
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def has_ended_run(self) -> bool:
        """Whether its run is over; a process that stays says so, and may end for another reason afterwards."""
        ended = self.process.poll() is not None
        if self.process.stdout is not None:
            with contextlib.suppress(BlockingIOError):
                self.is_done |= os.read(self.process.stdout.fileno(), len(DONE)) == DONE
        return ended or self.is_done

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def leaves_nothing_behind(job: Job) -> bool:
    """Whether its process can train another run afterwards."""
    return is_jax(job.config.env.id) and not (on_gpu(job.config) or job.tracking or job.about.get("plugins"))


class LocalEngine(Engine):
    """At most `workers` runs at once, each in its own process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._running: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._free_gpus = visible_gpus()
        # Seeds of one configuration compile the same programs, so later processes find them in this cache.
        remove_abandoned_caches()
        self._compiled = tempfile.TemporaryDirectory(prefix=f"{_CACHE}{os.getpid()}-", ignore_cleanup_errors=True)

    @property
    def workers(self) -> int:
        return self._workers

    def start(self, job: Job) -> None:
        worker = self._take_idle(job) or self._start_worker(job)
        self._running.append(worker)
        worker.send(job)

    def _take_idle(self, job: Job) -> _Worker | None:
        """A waiting process with as many threads; if there is none, one that waits makes room for the new process."""
        for worker in self._idle:
            same_threads = worker.job.config.runtime.threads == job.config.runtime.threads
            if leaves_nothing_behind(job) and same_threads and worker.process.poll() is None:
                self._idle.remove(worker)
                return worker
        if self._idle:
            self._dismiss(self._idle.pop(0))
        return None

    def _start_worker(self, job: Job) -> _Worker:
        stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - lives as long as the process
        gpu = self._free_gpus.pop(0) if on_gpu(job.config) else None
        try:
            process = subprocess.Popen(
                # -P: nothing is imported from the working folder.
                [sys.executable, "-P", "-m", "chorus.scheduling.engines.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if leaves_nothing_behind(job) else subprocess.DEVNULL,
                stderr=stderr,
                text=True,
                env=_environment(job, gpu, self._compiled.name),
                # Ctrl-C at the terminal reaches only this process, which then stops the runs.
                start_new_session=True,
            )
        except OSError:
            stderr.close()
            if gpu is not None:
                self._free_gpus.append(gpu)
            raise
        if process.stdout is not None:
            os.set_blocking(process.stdout.fileno(), False)
        return _Worker(job, process, stderr, gpu)

    def wait(self, seconds: float) -> list[Ended]:
        deadline = time.monotonic() + seconds
        while True:
            over = [worker for worker in self._running if worker.has_ended_run()]
            if over or time.monotonic() >= deadline:
                return [self._end(worker) for worker in over]
            time.sleep(min(0.05, seconds))

    def stop(self) -> None:
        for worker in self._running:
            # The first signal asks, the second ends the run at once.
            worker.process.send_signal(signal.SIGINT)
            worker.process.terminate()
        deadline = time.monotonic() + _SECONDS_TO_STOP
        for worker in self._running:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
        for worker in list(self._running):
            worker.process.wait()
            self._end(worker)
        while self._idle:
            self._dismiss(self._idle.pop())
        self._compiled.cleanup()

    def _end(self, worker: _Worker) -> Ended:
        self._running.remove(worker)
        job, code = worker.job, worker.process.returncode
        if code is None:
            # For the next run: the process writes where this one has read.
            worker.stderr.seek(0)
            worker.stderr.truncate()
            self._idle.append(worker)
            return Ended(job)
        if worker.gpu is not None:
            self._free_gpus.append(worker.gpu)
        worker.stderr.seek(0)
        words = "\n".join(worker.stderr.read().splitlines()[-_LAST_LINES:])
        worker.close()
        if code == 0 or worker.is_done:
            return Ended(job)
        how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return Ended(job, problem=words or f"the process {how} without an error message", hopeless=code == HOPELESS)

    def _dismiss(self, worker: _Worker) -> None:
        """End a process that waits for a job: it reads the end of its stdin and exits at once."""
        worker.close()
        try:
            worker.process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()


def remove_abandoned_caches() -> None:
    """Remove the compilation caches of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_CACHE}*-*"):
        owner = folder.name.removeprefix(_CACHE).partition("-")[0]
        if owner.isdecimal() and not is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _environment(job: Job, gpu: str | None, compiled: str) -> dict[str, str]:
    threads = thread_variables(job.config.runtime.threads)
    chosen = {} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu}
    # A compilation cache set in the environment takes precedence.
    cache = {
        "JAX_COMPILATION_CACHE_DIR": compiled,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }
    return {**cache, **os.environ, **threads, **chosen}


def thread_variables(threads: int) -> dict[str, str]:
    """The environment variables that limit the threads of NumPy's libraries."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


def visible_gpus() -> list[str]:
    """Indices of the GPUs this process may use, found without JAX, which would reserve them."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [gpu for gpu in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if gpu not in ("", "-1")]
    return sorted(device.name[6:] for device in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", device.name))


def workers_that_fit(jobs: Sequence[Job]) -> int:
    """How many of the most demanding run fit the cores, memory and GPUs; at least one."""
    if not jobs:
        return 1
    fits = min(len(jobs), usable_cores() // max(job.config.runtime.threads for job in jobs))
    memory = free_memory_bytes()
    # Asked only where it can make a difference, because learners have to be sized for it.
    if memory is not None and fits > 1:
        different = {job.config.digest(): job for job in jobs}.values()
        fits = min(fits, memory // max(map(memory_bytes, different)))
    if any(on_gpu(job.config) for job in jobs):
        fits = min(fits, len(visible_gpus()))
    return max(1, fits)


def usable_cores() -> int:
    """Cores this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine(jobs: Sequence[Job], workers: int | None, options: Mapping[str, Any]) -> LocalEngine:
    """An engine with `workers` processes at once, or as many as fit; it has no options of its own."""
    if wanting := sum(on_gpu(job.config) for job in jobs):
        _check_gpus(wanting if workers is None else min(workers, wanting), workers)
    return LocalEngine(workers if workers is not None else workers_that_fit(jobs))


def _check_gpus(at_once: int, workers: int | None) -> None:
    """Refuse more runs at once than there are GPUs; each run needs its own."""
    count = len(visible_gpus())
    if not count:
        raise ChorusError(
            "these runs ask for a graphics processor and none is visible here; use --device cpu, or --engine ray "
            "or slurm with nodes that have one (CUDA_VISIBLE_DEVICES says which are to be used)"
        )
    if workers is not None and at_once > count:
        raise ChorusError(
            f"--workers is {workers}, and {at_once} runs at once would each take a graphics processor, of which "
            f"{count} can be seen here; use --workers {count}, or --engine ray or slurm with more nodes"
        )
