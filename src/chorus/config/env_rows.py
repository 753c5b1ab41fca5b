"""Rows of single environments: what they change in the row of their family (docs/scales.md)."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from chorus.config.rows import ScaleRow
from chorus.config.scales import row_for
from chorus.config.schema import Hyperparameters, Scale
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError, did_you_mean

_CHANGES: dict[tuple[str, Scale], dict[str, Any]] = {}


def register_env_row(env_id: str, scales: Iterable[Scale], **changes: Any) -> None:
    """Give an environment other settings than its family at these scales; `changes` are fields of `ScaleRow`."""
    known = [field.name for field in fields(ScaleRow)]
    for name in changes:
        if name not in known:
            raise ChorusError(f"the row of '{env_id}' cannot change '{name}'{did_you_mean(name, known)}")
    for scale in scales:
        _CHANGES[env_id, scale] = _CHANGES.get((env_id, scale), {}) | changes


def row_of(spec: EnvSpec, scale: Scale, hyperparameters: Hyperparameters) -> ScaleRow:
    """The row of the environment's family, with what the environment itself changes in it."""
    return replace(row_for(spec.family, scale, hyperparameters), **_CHANGES.get((spec.id, scale), {}))
