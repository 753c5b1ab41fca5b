"""What the figure of a study shows, as data: `chorus.analysis.paper` draws these panels from the runs of the study.

Roles, policies and paths of settings are those that runs record. This module imports nothing heavy, because the
analysis reads it where JAX is not installed.
"""

from dataclasses import dataclass

# All roles but the tandem, which has policies of its own.
COMPARED = ("single", "ensemble", "cerl", "ablation")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Base class of panels."""


@dataclass(frozen=True, kw_only=True)
class Curves(Panel):
    """Learning curves over all environments: one line per role and policy.

    Single agents are shown by their individual policy, whichever policies are named.
    """

    roles: tuple[str, ...] = COMPARED
    policies: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EnvironmentCurves(Panel):
    """The learning curves of `Curves` in each environment."""

    roles: tuple[str, ...] = COMPARED
    policies: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GainsOverSingle(Panel):
    """How much more members and votes of the plain ensemble score than the single agent, per environment."""


@dataclass(frozen=True, kw_only=True)
class GainsOverEnsemble(Panel):
    """How much more every other ensemble scores than the plain one, per environment and policy."""


@dataclass(frozen=True, kw_only=True)
class GainsByVoting(Panel):
    """How much more the votes of the plain ensemble score than its members, per environment."""


@dataclass(frozen=True, kw_only=True)
class TandemGaps(Panel):
    """The gap between active and passive member against the gap between single agent and ensemble."""


@dataclass(frozen=True, kw_only=True)
class Diversity(Panel):
    """How much the members of each ensemble differ, by each measure of diversity."""


@dataclass(frozen=True, kw_only=True)
class Sweep(Panel):
    """Final scores, relative to the single agent, and diversity over the values of a setting.

    `path` is the setting's place in the configuration: agent.members.
    """

    path: str


@dataclass(frozen=True, kw_only=True)
class Solved(Panel):
    """How many runs solved each environment, and after how many training episodes."""


@dataclass(frozen=True, kw_only=True)
class TrainingTime(Panel):
    """Seconds of training per agent step, without evaluation and compilation."""


# One pair of panels for votes and one for members, with the single agents in both.
BY_POLICY: tuple[Panel, ...] = tuple(
    kind(policies=(policy,)) for policy in ("aggregate", "individual") for kind in (Curves, EnvironmentCurves)
)
