"""Whether and from where a run can be resumed. Everything is checked before anything is changed."""

from typing import Any, NamedTuple

from chorus.agents.agent import AgentState
from chorus.errors import ChorusError, warn
from chorus.replay.layout import Cursor, RingLayout
from chorus.replay.ring import Ring
from chorus.runs.run_directory import RunDirectory
from chorus.training import checkpoint
from chorus.training.checkpoint import Checkpoint, Found, HashedBlocks


class Resumed(NamedTuple):
    """What a run goes on with: its replay, the checkpoints that can be resumed, and the state of the newest.

    `notes` say which checkpoints were left aside; grids read them from `status.json`.
    """

    ring: Ring
    kept: list[Checkpoint]
    state: AgentState
    notes: list[str]


class Complete(NamedTuple):
    """A run with nothing left to train, whatever its status says; its replay may be gone. `notes` as above."""

    last: Checkpoint
    notes: list[str]


def find_resumable(
    directory: RunDirectory, layout: RingLayout, config: dict[str, Any], like: AgentState, iterations: int
) -> Resumed | Complete | None:
    """What to go on with, None if the run is yet to start; changes no file.

    Refuses a run that has been trained and cannot be resumed: starting again would destroy its logs.
    """
    found = checkpoint.find(directory.checkpoints)
    for one in found.intact:
        _check_format(one, directory)
        checkpoint.check_config(one, config, directory.path / "config.json")
    found = found.that_pass(lambda one: directory.logs.check(one.logs))
    if not found.intact:
        _refuse_if_trained(found, directory)
        directory.check_created_with(config)
        return None
    if found.intact[-1].iteration == iterations:
        for complaint in found.complaints:
            warn(complaint)
        return Complete(found.intact[-1], found.complaints)
    try:
        ring = Ring(layout, directory.replay, existing=True)
    except ChorusError as problem:
        found = Found([], [*found.complaints, str(problem)])
    else:
        found = found.that_pass(HashedBlocks(ring).check)
    _refuse_if_trained(found, directory)
    newest = found.intact[-1]
    state = newest.load_state(like)
    ring.cursor = Cursor(*(column.copy() for column in newest.cursor))
    for complaint in found.complaints:
        warn(complaint)
    # A kill before the oldest one was removed leaves three, and the ring has room for the rows of two.
    return Resumed(ring, found.intact[-checkpoint.KEPT :], state, found.complaints)


def _check_format(one: Checkpoint, directory: RunDirectory) -> None:
    """Refuse checkpoints without the hashes that resuming relies on."""
    if one.format != checkpoint.FORMAT:
        raise ChorusError(
            f"{directory.path} was trained with another version of Chorus (checkpoint {one.path} has the format "
            f"{one.format}, and this version writes {checkpoint.FORMAT}); resume it with that version, or remove the "
            "folder and train again"
        )


def _refuse_if_trained(found: Found, directory: RunDirectory) -> None:
    if found.intact or not (found.complaints or directory.has_been_saved()):
        return
    raise ChorusError(
        f"{directory.path} has been trained and none of its checkpoints is intact "
        f"({'; '.join(found.complaints) or 'the folder checkpoints is empty'}); nothing was changed: restore the "
        "files, or remove the folder and train again"
    )
