"""Commands in processes of their own that are forked from one which has imported everything (`warm_server`)."""

import atexit
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import IO

from warm_server import READY


@functools.cache
def server(variables: frozenset[tuple[str, str]]) -> str:
    """The socket of a server with these environment variables; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="chorus-warm-")
    path = f"{folder}/socket"
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("warm_server.py"), path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(variables),
    )
    assert process.stdin is not None and process.stdout is not None

    def end() -> None:
        process.stdin.close()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    assert process.stdout.readline() == READY, "the server of warm processes did not start"
    return path


def own_server() -> str:
    """The server with the variables of this process."""
    # pytest sets this one anew for each test.
    return server(frozenset((name, value) for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"))


class Forked:
    """A process that a server forks, with the methods of `subprocess.Popen` that tests and the local engine need."""

    def __init__(self, path: str, request: dict, stdin: int, stdout: int, stderr: int) -> None:
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(path)
        socket.send_fds(self._connection, [json.dumps(request).encode()], [stdin, stdout, stderr])
        self._answers = self._connection.makefile("r")
        self.pid = int(self._answers.readline())

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            ready, _, _ = select.select([self._connection], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(["chorus"], timeout or 0.0)
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # The process may have ended before we were told.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class WarmProcess(Forked):
    """`chorus ARGUMENTS`, or a script with these arguments."""

    def __init__(
        self, arguments: list[str], stdout: int, stderr: int, cwd: Path | None = None, script: Path | None = None
    ) -> None:
        request = {"arguments": arguments, "folder": str(cwd or Path.cwd()), "script": script and str(script)}
        with Path(os.devnull).open() as nothing:
            super().__init__(own_server(), request, nothing.fileno(), stdout, stderr)


class HeardProcess(WarmProcess):
    """`chorus ARGUMENTS`, whose words are kept."""

    def __init__(self, arguments: list[str], cwd: Path | None = None) -> None:
        self._said = [tempfile.TemporaryFile("w+") for _ in ("stdout", "stderr")]  # noqa: SIM115 - closed below
        super().__init__(arguments, *(file.fileno() for file in self._said), cwd)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Everything it has written to stdout and stderr, once it has ended."""
        self.wait(timeout)
        said = []
        for file in self._said:
            with file:
                file.seek(0)
                said.append(file.read())
        return said[0], said[1]


class WarmWorker(Forked):
    """A worker of the local engine. Its variables are those of its server: tests have one thread anyway."""

    def __init__(self, path: str, stdout: int, stderr: IO[str]) -> None:
        ours, theirs = {}, {}
        theirs["stdin"], ours["stdin"] = os.pipe()
        if stdout == subprocess.PIPE:
            ours["stdout"], theirs["stdout"] = os.pipe()
        else:
            theirs["stdout"] = os.open(os.devnull, os.O_WRONLY)
        super().__init__(path, {"folder": None}, theirs["stdin"], theirs["stdout"], stderr.fileno())
        for descriptor in theirs.values():
            os.close(descriptor)
        self.stdin: IO[str] = os.fdopen(ours["stdin"], "w")
        self.stdout: IO[str] | None = os.fdopen(ours["stdout"]) if "stdout" in ours else None


def workers_of(path: Callable[[], str]) -> SimpleNamespace:
    """What the local engine uses of `subprocess`, with workers that are forked from the server there."""

    def start(command: list[str], *, stdout: int, stderr: IO[str], **same_for_all: object) -> WarmWorker:
        assert command[-1] == "chorus.scheduling.engines.worker"
        return WarmWorker(path(), stdout, stderr)

    names = ("PIPE", "DEVNULL", "TimeoutExpired")
    return SimpleNamespace(Popen=start, **{name: getattr(subprocess, name) for name in names})
