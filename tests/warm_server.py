"""A process that has imported what commands need, and forks for each command: starting one costs no import.

`python warm_server.py SOCKET` serves until its stdin closes. A request is one line of JSON with the arguments, the
folder and perhaps a script to run instead of `chorus`, sent with the descriptors of stdout and stderr. The answers are
the process id and, at the end, the exit code.
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
    "chorus.player",
    "chorus.runs.lifecycle",
    "chorus.training.compiled",
    "gymnasium.envs.mujoco.hopper_v4",
    "ale_py",
)


class Server:
    def __init__(self, path: str) -> None:
        self._waiting: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        signal.signal(signal.SIGCHLD, lambda *_: self._report_ended())

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = self._listener.accept()
            line, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 2)
            # A command that ends at once is reported after it was noted.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            child = os.fork()
            if child == 0:
                self._listener.close()
                run(json.loads(line), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self._waiting[child] = connection
            answer(connection, child)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

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


def run(request: dict, descriptors: list[int]) -> None:
    """`python -m chorus ARGUMENTS`, or a script, in this process, which ends with it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, *descriptors)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    script = request["script"]
    sys.argv = [script or "chorus", *request["arguments"]]
    code = 0
    try:
        if script:
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module("chorus", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


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
