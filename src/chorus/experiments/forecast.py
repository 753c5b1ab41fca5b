"""How long a grid will still take: what its work was estimated at, corrected by what the work so far has taken."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chorus.experiments.costs import seconds
from chorus.experiments.jobs import Job

# Until about so much has been seen, the estimate counts for more than what compiling runs seem to say.
_SECONDS_OF_FAITH = 60.0


@dataclass(frozen=True)
class Attempt:
    """A run that was worked at: from which share of its steps to which, in how many seconds."""

    job: Job
    first_share: float
    share: float
    seconds: float


@dataclass
class Forecast:
    """Remembers the attempts that are over."""

    _estimates: dict[str, float] = field(default_factory=dict)
    _expected: float = 0.0
    _taken: float = 0.0

    def cost(self, job: Job) -> float:
        if job.name not in self._estimates:
            self._estimates[job.name] = seconds(job.config)
        return self._estimates[job.name]

    def note(self, attempt: Attempt) -> None:
        self._expected += self.cost(attempt.job) * max(0.0, attempt.share - attempt.first_share)
        self._taken += attempt.seconds

    def left(self, waiting: Iterable[tuple[Job, float]], running: Sequence[Attempt], workers: int) -> float:
        """Seconds; `waiting` are jobs with the share of their steps that is done already."""
        expected = self._expected + sum(self.cost(one.job) * max(0.0, one.share - one.first_share) for one in running)
        taken = self._taken + sum(one.seconds for one in running)
        correction = (taken + _SECONDS_OF_FAITH) / (expected + _SECONDS_OF_FAITH)
        rest = [self.cost(job) * (1.0 - share) for job, share in waiting]
        rest += [self.cost(one.job) * (1.0 - one.share) for one in running]
        at_once = max(1, min(workers, len(rest)))
        # The longest run takes its time however many others run beside it.
        return correction * max(sum(rest) / at_once, max(rest, default=0.0))
