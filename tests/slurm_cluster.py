"""A Slurm cluster of one node on loopback: munged, slurmctld and slurmd in a temporary folder, ended by process id."""

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from running import environment

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo")
WHERE = "/usr/local/sbin:/usr/sbin:/sbin"
SECONDS_TO_START = 60
# A requeued job waits as long as a credential lives: five seconds, not two minutes. Processes are tracked without
# cgroups, which containers lack, and nothing is enforced on them.
CONFIGURATION = """\
ClusterName=chorus
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname={hostname} CPUs=2 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    """Up when constructed; RuntimeError with a sentence if it does not get up."""

    def __init__(self) -> None:
        if missing := [name for name in COMMANDS if _find(name) is None]:
            raise RuntimeError(f"{missing[0]} is not installed (Debian: slurmctld, slurmd, slurm-client, munge)")
        self.folder = Path(tempfile.mkdtemp(prefix="chorus-slurm-"))
        self.variables = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        self.processes: list[subprocess.Popen] = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1_024))
        key.chmod(0o400)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        facts = {"folder": self.folder, "user": pwd.getpwuid(os.getuid()).pw_name, "hostname": socket.gethostname()}
        ports = {"controller_port": _free_port(), "node_port": _free_port()}
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**facts, **ports))
        places = {"socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log", "seed-file": "seed"}
        files = [f"--{option}={self.folder / name}" for option, name in places.items()]
        self._run("munged", "--foreground", "--force", f"--key-file={key}", *files)
        self._await("munged", lambda: (self.folder / "munge.socket").exists())
        self._run("slurmctld", "-D")
        self._run("slurmd", "-D", "-N", "localhost")
        self._await("slurmd", lambda: self.ask("sinfo", "--noheader", "--format=%T").strip() == "idle")

    def _run(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.out").open("w") as out:
            self.processes.append(
                subprocess.Popen(
                    [_find(name), *arguments],
                    env=environment(**self.variables),
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _await(self, name: str, condition) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while not condition():
            gone = next((process.args[0] for process in self.processes if process.poll() is not None), None)
            if gone or time.monotonic() > deadline:
                said = (self.folder / f"{Path(gone or name).name}.out").read_text().splitlines()
                raise RuntimeError(f"{gone or name} does not get up here: {said[-1] if said else 'it says nothing'}")
            time.sleep(0.1)

    def ask(self, *command: str) -> str:
        """What a command of Slurm prints; nothing if it fails."""
        return subprocess.run(command, capture_output=True, text=True, env=environment(**self.variables)).stdout

    def facts(self, job_id: str) -> dict[str, str]:
        """What Slurm knows about a job."""
        words = self.ask("scontrol", "show", "job", "--oneliner", job_id).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def close(self) -> None:
        if len(self.processes) == 3:
            self.ask("scancel", "--partition=main")
        for process in reversed(self.processes):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _find(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=WHERE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def slurm():
    try:
        cluster = SlurmCluster()
    except RuntimeError as problem:
        pytest.skip(f"no Slurm to test with: {problem}")
    yield cluster
    cluster.close()
