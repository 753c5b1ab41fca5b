"""A run as Python programs see it: its folder, with the numbers, the curves and the agent that are in it."""

from importlib import import_module
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chorus.errors import ChorusError
from chorus.runs.logs import EVALUATION, MetricColumns, MetricNames, final_returns, read_metrics
from chorus.runs.run_directory import RunDirectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from chorus.player import Evaluation, Player

# The policy that a run is judged by, if nobody names one: the first of these that it has.
_USUAL = ("aggregate", "individual", "active")


class Curve(NamedTuple):
    """A learning curve: the mean return of an evaluation after so many agent steps."""

    step: np.ndarray
    value: np.ndarray


class Run(PosixPath):
    """A run's folder, a `pathlib.Path` with more to ask. Everything is read from its files when it is asked for."""

    def __truediv__(self, key: Any) -> Path:  # type: ignore[override]
        """A file of the run is a path, not a run."""
        return Path(self) / key

    @property
    def config(self) -> dict[str, Any]:
        """The configuration, as `config.json` has it."""
        return RunDirectory(Path(self)).read_config()

    @property
    def status(self) -> dict[str, Any]:
        """State (running, stopped, failed, diverged or finished), reason, iteration and members that diverged."""
        directory = RunDirectory(Path(self))
        directory.read_config()
        return {**directory.read_status(), "state": directory.current_state()}

    @property
    def state(self) -> str:
        """The state alone: running, stopped, failed, diverged or finished."""
        return str(self.status["state"])

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that were evaluated, the usual one first."""
        _, names = self._columns()
        found = [match[1] for name in names if (match := EVALUATION.fullmatch(name))]
        return tuple(sorted(found, key=lambda name: _USUAL.index(name) if name in _USUAL else len(_USUAL)))

    def metrics(self) -> Any:
        """One row per iteration: its number, its step, its frames, and every metric of docs/metrics.md.

        A pandas DataFrame if pandas is installed, otherwise a dictionary of arrays. NaN is a metric that was undefined.
        """
        columns, names = self._columns()
        iterations, row = np.unique(columns.iteration, return_inverse=True)
        table: dict[str, np.ndarray] = {"iteration": iterations}
        for name, values in (("step", columns.step), ("frames", columns.frames)):
            table[name] = np.zeros(len(iterations), np.int64)
            table[name][row] = values
        for number, name in enumerate(names):
            here = columns.metric == number
            table[name] = np.full(len(iterations), np.nan)
            table[name][row[here]] = columns.value[here]
        try:
            return import_module("pandas").DataFrame(table)
        except ImportError:
            return table

    def curve(self, policy: str | None = None) -> Curve:
        """The evaluations of a policy; by default of the first of `policies`."""
        columns, names = self._columns()
        policy = self._policy(policy)
        here = columns.metric == names.index(f"eval/{policy}/episodic_return")
        return Curve(columns.step[here], columns.value[here])

    def scores(self) -> dict[str, float]:
        """The final score of each policy: the mean of its last evaluations, as many as the configuration says."""
        return final_returns(Path(self))[0]

    def plot(self, *policies: str, ax: "Axes | None" = None) -> "Axes":
        """Draw the learning curves of these policies, or of all, into matplotlib axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        for policy in policies or self.policies:
            step, value = self.curve(policy)
            ax.plot(step, value, label=policy)
        ax.set_xlabel("agent steps")
        ax.set_ylabel("mean return of an evaluation")
        config = self.config
        ax.set_title(f"{config['preset']} on {config['env']['id']}, seed {config['seed']}")
        ax.legend()
        return ax

    def player(self, policy: str | None = None, **how: Any) -> "Player":
        """The newest checkpoint, ready to act; `how` is that of `chorus.load`."""
        import chorus

        return chorus.load(self, policy, **how)

    def evaluate(self, episodes: int = 100, policy: str | None = None, *, seed: int = 0, **how: Any) -> "Evaluation":
        """Play episodes with the newest checkpoint: `.mean`, `.interval` and `.returns`."""
        from chorus.arguments import whole_number
        from chorus.player import Evaluation

        count, root = whole_number("episodes", episodes, least=1), whole_number("seed", seed, least=0)
        player = self.player(policy, **how)
        return Evaluation(player.policy_name, player.evaluate(count, root))

    def resume(self, **how: Any) -> "Run":
        """Train further from the newest checkpoint; `how` is that of `chorus.resume`."""
        import chorus

        return chorus.resume(self, **how)

    def _columns(self) -> tuple[MetricColumns, tuple[str, ...]]:
        names = MetricNames()
        RunDirectory(Path(self)).read_config()
        problems: list[str] = []
        columns, _, _ = read_metrics(self / "metrics.jsonl", names, problems)
        return columns, names.names()

    def _policy(self, policy: str | None) -> str:
        known = self.policies
        if not known:
            raise ChorusError(f"{self} has not been evaluated yet; train it further with chorus.resume")
        if policy is None:
            return known[0]
        if policy not in known:
            raise ChorusError(f"the policy {policy!r} was not evaluated in this run; there are {', '.join(known)}")
        return policy


def runs_in(folder: str | Path) -> list[Run]:
    """The runs of a folder, sorted by name."""
    if not isinstance(folder, str | Path) or not str(folder):
        raise ChorusError(f"folder is {folder!r}; it must be a path")
    if not Path(folder).is_dir():
        raise ChorusError(f"the folder {folder} does not exist; give one that holds runs")
    return [Run(path.parent) for path in sorted(Path(folder).glob("[!.]*/config.json"))]
