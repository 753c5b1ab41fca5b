"""A run in a process of its own, for Python programs in which JAX may compute already: both ends of its pipes.

The process gets its task as the first line of stdin. It sends the calls of its progress view as lines of JSON, so that
the program shows them and its callbacks see them; after each iteration it waits until they have. Further lines of stdin
are `go`, the answer to an iteration, and `stop`. The process ends when its stdin is closed, that is, with its parent.
"""

import base64
import contextlib
import json
import os
import pickle
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import cloudpickle

from chorus.envs.given import hand_over, take_over
from chorus.errors import ChorusError, ChorusWarning, warn
from chorus.networks.torsos import custom
from chorus.runs.lifecycle import FlaxTorso, create_directory, decode_with_plugins, resume_run, train_run
from chorus.runs.progress import ProgressView
from chorus.runs.stopping import StopRequest

_SECONDS_TO_STOP = 10.0
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_STEPS = 0.1
_LAST_LINES = 15
_REFUSED, _INTERRUPTED = 2, 130
# What is importable here is importable there. The line is read byte by byte: what follows belongs to a thread.
_PROGRAM = """
import json, os, sys
task = json.loads(b"".join(iter(lambda: os.read(0, 1), b"\\n")))
sys.path[:] = task["sys_path"]
from chorus.runs.own_process import main
sys.exit(main(task))
"""


def train_apart(
    path: Path,
    view: ProgressView,
    stop: StopRequest,
    *,
    config: dict[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
    torso: FlaxTorso | None = None,
    env_id: str = "",
) -> None:
    """Train the run in a process of its own until it ends or is stopped; without a `config` it is resumed.

    `env_id` is the run's environment, whose code is handed over if nobody else knows it.
    """
    task = {
        "path": str(path.absolute()),
        "config": config,
        "about": {**(about or {}), "command": sys.argv},
        "torso": None if torso is None else base64.b64encode(_pickled(torso)).decode(),
        "env": [env_id, hand_over(env_id)],
        "sys_path": sys.path,
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C at the terminal reaches only this process, which asks the run to stop.
        start_new_session=True,
    )
    follower = _Follower(process, view, stop)
    try:
        follower.tell(json.dumps(task))
        follower.follow()
    finally:
        view.close()
        follower.end()
    if follower.refusal is not None:
        raise ChorusError(follower.refusal)
    code = process.returncode
    if code and code != _INTERRUPTED:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        said = "\n".join(follower.said.splitlines()[-_LAST_LINES:])
        raise ChorusError(
            f"the process of {path} {how}; resume the run with chorus.resume, or with in_process=True to debug it"
            + (f". It said:\n{said}" if said else "")
        )


def _pickled(torso: FlaxTorso) -> bytes:
    """With the code of classes that only this program knows, such as those of a notebook."""
    try:
        code: bytes = cloudpickle.dumps(torso)
    except Exception as problem:
        raise ChorusError(
            f"this torso cannot be handed to another process ({problem}); put its class into a module that can be "
            "imported, or pass in_process=True"
        ) from problem
    return code


class _Follower:
    """The program's end: shows what the run reports, and passes on requests to stop."""

    def __init__(self, process: subprocess.Popen, view: ProgressView, stop: StopRequest) -> None:
        self._process, self._view, self._stop = process, view, stop
        self._told = False
        self._rest = b""
        self.refusal: str | None = None
        self.said = ""

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # A process that has died is noticed by whoever waits for it.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def follow(self) -> None:
        """Until the process has ended and everything it said was read."""
        assert self._process.stdout is not None and self._process.stderr is not None
        with selectors.DefaultSelector() as pipes:
            pipes.register(self._process.stdout, selectors.EVENT_READ, self._hear)
            pipes.register(self._process.stderr, selectors.EVENT_READ, self._pass_on)
            while True:
                ended = self._process.poll() is not None
                # Whatever the run has started may keep its pipes open.
                ready = pipes.select(0.0 if ended else _SECONDS_BETWEEN_LOOKS) if pipes.get_map() else []
                for key, _ in ready:
                    if chunk := os.read(key.fd, 1 << 16):
                        key.data(chunk)
                    else:
                        pipes.unregister(key.fileobj)
                if ended and not ready:
                    return
                if not pipes.get_map():
                    self._process.wait()
                self._pass_on_stop()

    def _pass_on_stop(self) -> None:
        if self._stop.asked and not self._told:
            self._told = True
            self.tell("stop")

    def _hear(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, *given = json.loads(line)
            if name == "refused":
                self.refusal = given[0]
            elif name == "warn":
                warn(given[0])
            else:
                getattr(self._view, name)(*given)
            if name == "iteration":
                self._pass_on_stop()
                self.tell("go")

    def _pass_on(self, chunk: bytes) -> None:
        text = chunk.decode(errors="replace")
        self.said = (self.said + text)[-20_000:]
        sys.stderr.write(text)

    def end(self) -> None:
        """Stop the process at once if it still runs; its checkpoints are kept."""
        process = self._process
        if process.poll() is None:
            # The first signal asks, the second ends the run.
            process.send_signal(signal.SIGINT)
            process.terminate()
            try:
                process.wait(_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class _Reporter:
    """The run's end: a progress view that sends every call to the program."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._answers: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._step, self._sent = 0, 0.0

    def send(self, name: str, *given: Any) -> None:
        with self._lock:
            self._stream.write(json.dumps([name, *given]) + "\n")
            self._stream.flush()

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._step = step
        self.send("start", title, step, total_steps)

    def advance(self, step: int) -> None:
        self._step = step
        if (now := time.monotonic()) - self._sent >= _SECONDS_BETWEEN_STEPS:
            self._sent = now
            self.send("advance", step)

    def phase(self, name: str) -> None:
        self.send("advance", self._step)
        self.send("phase", name)

    def episode(self, record: Mapping[str, Any]) -> None:
        self.send("episode", record)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self.send("iteration", record)
        self._answers.get()

    def say(self, message: str) -> None:
        self.send("say", message)

    def close(self) -> None:
        """The program closes its own view."""

    def listen(self, stop: StopRequest) -> None:
        """Follow what the program says, and end with it."""
        rest = b""
        while chunk := os.read(0, 1_024):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line == b"stop":
                    stop.ask()
                elif line == b"go":
                    self._answers.put(None)
        os._exit(1)


def main(task: dict[str, Any]) -> int:
    # What an environment prints must not come between the lines of the view.
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    view = _Reporter(reports)
    with StopRequest().listening() as stop, _reported_warnings(view):
        threading.Thread(target=view.listen, args=(stop,), daemon=True).start()
        try:
            _train(task, view, stop)
        except ChorusError as problem:
            view.send("refused", str(problem))
            return _REFUSED
        except KeyboardInterrupt:
            return _INTERRUPTED
    return 0


def _train(task: dict[str, Any], view: ProgressView, stop: StopRequest) -> None:
    path, about, torso = Path(task["path"]), task["about"], _unpickled(task["torso"])
    take_over(*task["env"])
    if task["config"] is None:
        resume_run(path, view, torso, stop=stop, about=about)
        return
    config = decode_with_plugins(task["config"], about.get("plugins", ()), str(path))
    if torso is not None:
        config = replace(config, agent=replace(config.agent, torso=custom(torso)))
    train_run(create_directory(path, config, about), path, view, stop=stop)


def _unpickled(text: str | None) -> FlaxTorso | None:
    if text is None:
        return None
    try:
        return pickle.loads(base64.b64decode(text))
    except Exception as problem:
        raise ChorusError(
            f"the torso cannot be read in another process ({problem}); put its classes into a module that can be "
            "imported, or pass in_process=True"
        ) from problem


@contextlib.contextmanager
def _reported_warnings(view: _Reporter) -> Iterator[None]:
    """Chorus's own warnings reach the program."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def report(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ChorusWarning):
                view.send("warn", str(message))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = report
        yield
