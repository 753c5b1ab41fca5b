"""What a run asks of the machine it will run on."""

from chorus.experiments.assemble import Assembly
from chorus.experiments.jobs import Job
from chorus.training.room import resident_bytes

# Of a process that has imported JAX and compiled a run (docs/engines.md).
_PROCESS_BYTES = 600_000_000


def memory_bytes(job: Job) -> int:
    """About what a run takes: the process, and of its replay what must stay in memory."""
    return _PROCESS_BYTES + resident_bytes(Assembly.of(job.config).ring_layout())
