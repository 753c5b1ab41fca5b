"""Which network chooses the next action: the one that learns (Double DQN), or the target network (QR-DQN)."""

from dataclasses import dataclass
from typing import Any

from chorus.variant import Variant


@dataclass(frozen=True, kw_only=True)
class Online(Variant):
    """Double DQN: the learning network selects, the target network evaluates (equation E1)."""

    def choose(self, online: Any, target: Any) -> Any:
        return online


@dataclass(frozen=True, kw_only=True)
class Target(Variant):
    """The target network selects and evaluates (equation E13)."""

    def choose(self, online: Any, target: Any) -> Any:
        return target


Selection = Online | Target
