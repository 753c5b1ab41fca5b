"""What a run's numbers are copied to: as a user asks for it, and as `meta.json` records it."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError
from chorus.extras import require
from chorus.runs.trackers import Shielded, TensorBoard, Trackers, WeightsAndBiases

_PROJECT = "chorus"
# What W&B calls a thing -> the variable that sets it where the option is not given.
_VARIABLES = {
    "project": "WANDB_PROJECT",
    "entity": "WANDB_ENTITY",
    "group": "WANDB_RUN_GROUP",
    "tags": "WANDB_TAGS",
    "mode": "WANDB_MODE",
}
PLACES = ("project", "entity", "group", "tags")


@dataclass(frozen=True, kw_only=True)
class Tracking:
    """The trackers that were asked for; `wandb` has what was said of W&B's `PLACES`."""

    tensorboard: bool = False
    track: bool = False
    wandb: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.wandb and not self.track:
            options = ", ".join(f"--wandb-{name}" for name in self.wandb)
            raise ChorusError(f"{options} means nothing without --track; add it, or leave {options} out")

    def __bool__(self) -> bool:
        return self.tensorboard or self.track

    def check_packages(self) -> None:
        """Refuse trackers that are not installed; one that fails later never stops a run."""
        if self.tensorboard:
            require("tensorboard", "--tensorboard")
        if self.track:
            require("wandb", "--track")

    def about(self) -> dict[str, Any]:
        """For `meta.json` of a run that may be trained on another machine: variables are read here."""
        if not self.track:
            return {"tensorboard": self.tensorboard, "track": False}
        said: dict[str, Any] = {name: os.environ.get(variable) for name, variable in _VARIABLES.items()}
        if said["tags"] is not None:
            said["tags"] = [tag.strip() for tag in said["tags"].split(",") if tag.strip()]
        said = {name: value for name, value in said.items() if value} | dict(self.wandb)
        return {"tensorboard": self.tensorboard, "track": True, "wandb": {"project": _PROJECT, **said}}


def recorded(about: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The same for one run: seeds share a group, and the id is its own on every machine."""
    place = about.get("wandb")
    if not about.get("track") or not isinstance(place, dict):
        return {}
    return {"wandb": {"group": path.name.rpartition("__s")[0], **place, "id": secrets.token_hex(8)}}


def added(meta: Mapping[str, Any], about: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """What a run that exists lacks of the trackers that it is now resumed with; it keeps those it has."""
    wanted = {name: True for name in ("tensorboard", "track") if about.get(name) and not meta.get(name)}
    return {**wanted, **recorded(about, path)} if "track" in wanted else wanted


def open_trackers(path: Path, config: dict[str, Any], meta: Mapping[str, Any]) -> Trackers:
    """The trackers of a run, as its `meta.json` says."""
    found: list[Shielded] = []
    if meta.get("tensorboard"):
        found.append(Shielded("TensorBoard", lambda: TensorBoard(path / "tensorboard")))
    if meta.get("track"):
        place = meta.get("wandb")
        # Runs of earlier versions were known by their names.
        former = {"project": _PROJECT, "id": path.name[-128:]}
        about = place if isinstance(place, dict) else former
        found.append(Shielded("Weights & Biases", lambda: WeightsAndBiases(path, config, about)))
    return Trackers(found)


def read_tracking(tensorboard: Any, track: Any) -> Tracking:
    """From the arguments of the Python interface; `track` may say where: `{"project": "chorus", "tags": ["a"]}`."""
    if type(tensorboard) is not bool:
        raise ChorusError(f"tensorboard is {tensorboard!r}; it must be True or False")
    if type(track) is not bool and not isinstance(track, Mapping):
        raise ChorusError(f"track is {track!r}; it must be True, False, or a dictionary of {', '.join(PLACES)}")
    return Tracking(tensorboard=tensorboard, track=track is not False, wandb=_place(track))


def _place(track: Any) -> dict[str, Any]:
    if not isinstance(track, Mapping):
        return {}
    for name, value in track.items():
        if name not in PLACES:
            raise ChorusError(f"track has {name!r}; it may have {', '.join(PLACES)}")
        several = name == "tags"
        texts = value if several and isinstance(value, list | tuple) else [value]
        if not all(isinstance(text, str) and text.strip() for text in texts) or (several and texts == [value]):
            raise ChorusError(
                f"track has {name} {value!r}; it must be {'a list of texts' if several else 'a text that is not empty'}"
            )
    return {name: list(value) if name == "tags" else value for name, value in track.items()}
