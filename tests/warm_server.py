"""A process that has imported what commands need, and forks for each command: starting one costs no import.

`python warm_server.py SOCKET` serves until its stdin closes. A request is one line of JSON with the arguments, the
folder and perhaps a script to run instead of `chorus`, sent with the descriptors of stdin, stdout and stderr. The
answers are the process id and, at the end, the exit code. Without a folder it asks for a worker of the local engine.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import traceback

READY = b"ready\n"
IMPORTED = (
    "chorus.cli.train",
    "chorus.cli.resume",
    "chorus.cli.report",
    "chorus.analysis.report",
    "chorus.analysis.drawings",
    "chorus.scheduling.grid",
    "chorus.scheduling.engines.local",
    "chorus.player",
    "chorus.runs.lifecycle",
    "chorus.training.compiled",
    "gymnasium.envs.mujoco.hopper_v4",
    "ale_py",
)


class Server:
    def __init__(self, path: str) -> None:
        self._path = path
        self._waiting: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        # Children that end are looked after by the loop, never in the middle of something else.
        self._ended, wakeup = os.pipe()
        for end in (self._ended, wakeup):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup)

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._listener, self._ended, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            if self._ended in ready:
                os.read(self._ended, 4_096)
                self._report_ended()
            if self._listener in ready:
                self._begin()

    def _begin(self) -> None:
        connection, _ = self._listener.accept()
        line, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        # Nothing if whoever asked was killed in between.
        child = os.fork() if line else None
        if child == 0:
            self._listener.close()
            run(self._path, json.loads(line), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if child is None:
            connection.close()
            return
        self._waiting[child] = connection
        answer(connection, child)

    def _report_ended(self) -> None:
        while self._waiting:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            connection = self._waiting.pop(child)
            answer(connection, os.waitstatus_to_exitcode(status))
            connection.close()


def answer(connection: socket.socket, number: int) -> None:
    """Whoever asked may be gone."""
    try:
        connection.sendall(f"{number}\n".encode())
    except OSError:
        connection.close()


def run(path: str, request: dict, descriptors: list[int]) -> None:
    """A worker, `python -m chorus ARGUMENTS` or a script, in this process, which ends with it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Whoever starts the tests in the background makes them ignore it, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    code = 0
    try:
        if request["folder"] is None:
            code = work()
        else:
            command(path, **request)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def work() -> int:
    """Like `python -P -m chorus.scheduling.engines.worker` in a session of its own."""
    from chorus.scheduling.engines.worker import main

    os.setsid()
    del sys.path[0]
    return main()


def command(path: str, arguments: list[str], folder: str, script: str | None) -> None:
    from chorus.scheduling.engines import local
    from warm import workers_of

    # Forked, too, by the same server.
    local.subprocess = workers_of(lambda: path)  # type: ignore[assignment]
    os.chdir(folder)
    sys.path[0] = folder
    sys.argv = [script or "chorus", *arguments]
    if script:
        runpy.run_path(script, run_name="__main__")
    else:
        runpy.run_module("chorus", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for module in IMPORTED:
        importlib.import_module(module)
    from jax._src import xla_bridge

    assert not xla_bridge.backends_are_initialized(), "JAX does not survive a fork after it has started"
    # Tracing makes many objects that live long: do not look through all modules again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    server = Server(sys.argv[1])
    os.write(1, READY)
    server.serve()
