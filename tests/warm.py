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
from pathlib import Path

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


class WarmProcess:
    """`chorus ARGUMENTS`, or a script with these arguments, with the methods of `subprocess.Popen` that tests need."""

    def __init__(
        self, arguments: list[str], stdout: int, stderr: int, cwd: Path | None = None, script: Path | None = None
    ) -> None:
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        # pytest sets this one anew for each test.
        variables = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        self._connection.connect(server(frozenset(variables.items())))
        request = {"arguments": arguments, "folder": str(cwd or Path.cwd()), "script": script and str(script)}
        socket.send_fds(self._connection, [json.dumps(request).encode()], [stdout, stderr])
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
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
