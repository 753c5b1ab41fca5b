"""Ray for real: a cluster of several nodes on loopback with its token, a worker killed, a node killed."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from killing import PATIENCE_SECONDS, end_in_the_middle, lines_since_checkpoint, newest_checkpoint, wait_for
from processes import holder
from running import chorus, command, environment, logs
from small_jobs import small_sweep

pytestmark = pytest.mark.slow
RAY = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats"]
NODES, ATTEMPTS = 2, 5
# Whether so many nodes with processors are there within a minute.
JOINED = """
import sys, time, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
until = time.monotonic() + 60
while sum(node["Alive"] and node["Resources"].get("CPU", 0) > 0 for node in ray.nodes()) < int(sys.argv[2]):
    if time.monotonic() > until:
        sys.exit(1)
    time.sleep(0.2)
"""


class Cluster:
    """A head without processors of its own, and nodes with one each; everything is ended by process id."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="chorus-ray-")
        self.variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.address = f"127.0.0.1:{free_port()}"
        self.processes: list[subprocess.Popen] = []
        port = self.address.split(":")[1]
        head = ["--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        self._start(*head)
        wait_for(lambda: answers(self.address), PATIENCE_SECONDS)
        try:
            self._gather_nodes()
        except BaseException:
            self.close()
            raise

    def _gather_nodes(self) -> None:
        """One after the other: nodes that start at once on one machine may take each other's ports and end."""
        for count in range(1, NODES + 1):
            for _ in range(ATTEMPTS):
                self.add_node()
                waiting = [sys.executable, "-c", JOINED, self.address, str(count)]
                joined = subprocess.run(waiting, env=environment(**self.variables), timeout=PATIENCE_SECONDS)
                if joined.returncode == 0:
                    break
            else:
                pytest.fail(f"no node joined the cluster at {self.address} in {ATTEMPTS} attempts")

    def add_node(self) -> None:
        self._start(f"--address={self.address}", "--num-cpus=1")

    def _start(self, *arguments: str) -> None:
        self.processes.append(
            subprocess.Popen(
                [*RAY, "--node-ip-address=127.0.0.1", *arguments],
                env=environment(**self.variables),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            # What a node started belongs to its session.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@pytest.fixture(scope="module")
def cluster():
    made = Cluster()
    yield made
    made.close()


def sweep_of_two(out: Path, *more: str) -> list[str]:
    """Runs that are long enough to be killed in the middle."""
    return small_sweep(out, 2, "--quiet", *more, total_steps=8_000)


@pytest.fixture(scope="module")
def on_this_machine(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """The sweep's logs from the local engine, by run."""
    out = tmp_path_factory.mktemp("local")
    done = chorus(*sweep_of_two(out))
    assert done.returncode == 0, done.stderr
    return {run.name: logs(run) for run in out.glob("[!.]*__s*")}


def a_run_in_the_middle(out: Path) -> tuple[Path, int] | None:
    for run in out.glob("[!.]*__s*"):
        if newest_checkpoint(run) >= 1 and lines_since_checkpoint(run) > 0 and (process := holder(run)):
            return run, process
    return None


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def children_of(process: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if parent_of(int(folder.name)) == process:
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize("victim", ["worker", "node"])
def test_what_is_killed_is_retried_and_the_sweep_has_the_bytes_of_the_local_engine(
    cluster, on_this_machine, tmp_path, victim
):
    process = subprocess.Popen(
        command(*sweep_of_two(tmp_path, "--engine", "ray", "--address", cluster.address)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**cluster.variables),
    )
    found = wait_for(lambda: a_run_in_the_middle(tmp_path) or process.poll() is not None, PATIENCE_SECONDS)
    assert found is not True, f"ended before anything could be killed: {process.communicate()[0]}"
    run, worker = found
    # A worker's parent is its node's own process. A machine that dies takes all of them along: a worker left behind
    # might end its run before it notices.
    node = parent_of(worker)
    for doomed in [worker] if victim == "worker" else [node, *children_of(node)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(doomed, signal.SIGKILL)
    if victim == "node":
        cluster.add_node()
    kept = newest_checkpoint(run)
    assert wait_for(lambda: holder(run) not in (None, worker), PATIENCE_SECONDS)
    assert newest_checkpoint(run) >= kept >= 1
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, said
    assert {found.name: logs(found) for found in tmp_path.glob("[!.]*__s*")} == on_this_machine


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle_nothing_is_left_on_the_cluster(cluster, tmp_path, how):
    """Ray has a handler for SIGTERM of its own; ours must be the one that is heard."""
    sweep = small_sweep(tmp_path, 1, "--engine", "ray", "--address", cluster.address, total_steps=100_000)
    said, code = end_in_the_middle(tmp_path, sweep, how, **cluster.variables)
    assert code == 130
    assert "stopped; 0 of 1 runs have ended" in said and "Resume with: " in said and "--engine ray" in said
    (run,) = tmp_path.glob("[!.]*__s*")
    wait_for(lambda: holder(run) is None, PATIENCE_SECONDS)


def test_a_wrong_token_is_refused(cluster, tmp_path):
    wrong = cluster.variables | {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
    done = chorus(*small_sweep(tmp_path, 1, "--engine", "ray", "--address", cluster.address), **wrong)
    assert done.returncode == 2
    assert "cannot be used" in done.stderr and "RAY_AUTH_TOKEN" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_a_cluster_of_its_own_is_started_and_ended(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    unset = dict.fromkeys(("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_ADDRESS"))
    sweep = small_sweep(tmp_path / "runs", 2, "--engine", "ray", "--quiet", "--tensorboard")
    done = chorus(*sweep, HOME=str(home), **unset)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs").glob("*__s*/tensorboard/events*"))) == 2
    assert "2 of 2 runs have ended" in done.stdout
    # The token of a cluster that ends with the command is kept nowhere.
    assert not (home / ".ray").exists()


OWNER = "CHORUS_RAY_OWNER"


def processes_of(owner: int) -> list[int]:
    """The processes of the cluster that this process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{OWNER}={owner}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parts[2]))
    return found


def listening_addresses(processes: list[int]) -> set[str]:
    """Where these processes accept connections, as hexadecimal addresses of /proc/net."""
    sockets = set()
    for process in processes:
        for link in Path(f"/proc/{process}/fd").glob("*"):
            with contextlib.suppress(OSError):
                sockets.add(str(link.readlink()))
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {line[1].split(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}


def test_a_cluster_of_its_own_is_out_of_reach_of_other_machines_and_does_not_outlive_its_owner_for_long(tmp_path):
    """SIGKILL leaves the owner no chance to end its cluster; the next command does it."""
    sweep = small_sweep(tmp_path, 1, "--engine", "ray", "--quiet", total_steps=100_000)
    owner = subprocess.Popen(command(*sweep), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    wait_for(lambda: list(tmp_path.glob("[!.]*__s*/status.json")), PATIENCE_SECONDS)
    cluster = processes_of(owner.pid)
    addresses = listening_addresses(cluster)
    assert len(cluster) >= 4 and addresses and addresses <= LOOPBACK
    owner.kill()
    owner.wait()
    program = "from chorus.scheduling.engines.ray import end_orphans; end_orphans()"
    subprocess.run([sys.executable, "-c", program], check=True, env=environment())
    wait_for(lambda: not processes_of(owner.pid), PATIENCE_SECONDS)


@pytest.mark.long
def test_only_what_is_started_with_a_cluster_is_marked_as_part_of_it():
    """What the user's program starts later must not be ended with the cluster."""
    program = (
        "import os; from chorus.scheduling.engines import ray as engine\n"
        "with engine._marking_children():\n"
        "    print(os.environ[engine._OWNER] == str(os.getpid()))\n"
        "print(engine._OWNER in os.environ)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.split() == ["True", "False"]
