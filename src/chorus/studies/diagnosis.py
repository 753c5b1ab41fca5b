"""What `chorus diagnose` runs: the four algorithms of the paper that fit the actions, and a larger buffer."""

from dataclasses import dataclass

from chorus.config.env_rows import row_of
from chorus.config.schema import Scale
from chorus.envs.spec import EnvSpec
from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled

# The paper's larger buffer for games, 4M transitions instead of 1M.
LARGER = 4
WORTH_TRYING = 1.5
SEEDS = Scaled(smoke=3, laptop=5, paper=5)


@dataclass(frozen=True)
class Presets:
    """The presets of one learner, by role."""

    single: str
    ensemble: str
    tandem: str
    cerl: str


DISCRETE = Presets("double-dqn", "bootstrapped-dqn", "tandem", "cerl")
CONTINUOUS = Presets("sac", "ensemble-sac", "sac-tandem", "ensemble-sac-cerl")
# The environment family with continuous actions (docs/scales.md).
_BY_FAMILY = {"control": CONTINUOUS}


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Settings that a user overrides; None leaves them to the scale."""

    members: int | None = None
    total_steps: int | None = None
    max_episode_steps: int | None = None


def larger_buffer(spec: EnvSpec, scale: Scale, total_steps: int | None = None) -> int | None:
    """Capacity of the larger buffer: at most all steps of the run; None if the usual buffer is nearly as large."""
    row = row_of(spec, scale, "code")
    larger = min(LARGER * row.buffer, total_steps or row.total)
    return larger if larger >= WORTH_TRYING * row.buffer else None


def diagnosis(spec: EnvSpec, scale: Scale, seeds: int | tuple[int, ...], overrides: Overrides) -> Part:
    """The runs of a diagnosis, as one part of a study."""
    presets = _BY_FAMILY.get(spec.family, DISCRETE)
    common = {"total_steps": (overrides.total_steps,), "max_episode_steps": (overrides.max_episode_steps,)}
    several = {**common, "members": (overrides.members,)}
    larger = larger_buffer(spec, scale, overrides.total_steps)
    environments = EnvironmentSet((spec.id,), seeds)
    return Part(
        name="diagnosis",
        environments=Scaled(smoke=environments, laptop=environments, paper=environments),
        arms=(
            Arm(presets.single, common),
            Arm(presets.ensemble, {**several, "buffer_size": (None, larger) if larger else (None,)}),
            Arm(presets.tandem, common),
            Arm(presets.cerl, several),
        ),
    )
