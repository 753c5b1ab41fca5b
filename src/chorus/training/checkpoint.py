"""Checkpoints: arrays and a manifest with hashes, written to a temporary folder and renamed; no pickle.

The newest two are kept. The replay is not copied, because its rows are in the ring's own files: the manifest has the
cursor of each lane and a hash of the rows that are new since the previous checkpoint.
"""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors.numpy import load_file, save_file

from chorus.errors import ChorusError
from chorus.files import read_json, sync_directory, write_json
from chorus.replay.columns import row_bytes
from chorus.replay.ring import Cursor, Ring, RingLayout

_KEPT = 2
_STATE, _MANIFEST = "state.safetensors", "manifest.json"


@dataclass(frozen=True)
class Checkpoint:
    """The state from which a run is resumed exactly."""

    iteration: int
    step: int
    offsets: dict[str, int]
    diverged_members: tuple[int, ...]
    cursor: Cursor
    new_rows_from: np.ndarray
    replay_digest: str
    path: Path

    def new_bytes(self, layout: RingLayout, before: Cursor) -> int:
        """Bytes that this checkpoint added to the disk: the learner's state and the rows written since `before`."""
        rows = int(np.sum(self.cursor.end - before.end))
        return (self.path / _STATE).stat().st_size + rows * row_bytes(layout.types())

    def load_state(self, like: Any) -> Any:
        """The learner's state, in the structure of `like`, of which only the shapes are used."""
        arrays = load_file(self.path / _STATE)
        expected, structure = jax.tree_util.tree_flatten_with_path(like)
        leaves = []
        for path, leaf in expected:
            name = jax.tree_util.keystr(path)
            if name not in arrays or arrays[name].shape != leaf.shape:
                raise ChorusError(
                    f"the checkpoint {self.path} does not fit this configuration: {name} should have the shape "
                    f"{leaf.shape}; resume with the configuration that wrote it"
                )
            leaves.append(jax.numpy.asarray(arrays[name]))
        return jax.tree.unflatten(structure, leaves)


def state_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_digest(manifest: dict[str, Any]) -> str:
    """A hash of the manifest without its own hash."""
    body = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def save(
    directory: Path,
    *,
    iteration: int,
    step: int,
    state: Any,
    ring: Ring,
    before: Cursor,
    offsets: dict[str, int],
    diverged_members: tuple[int, ...],
) -> Checkpoint:
    """Write one checkpoint; `before` is the ring's cursor at the previous one."""
    directory.mkdir(exist_ok=True)
    aside = directory / ".writing"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    _write_state(aside / _STATE, state)
    ring.columns.flush()
    manifest = {
        "iteration": iteration,
        "step": step,
        "offsets": offsets,
        "diverged_members": list(diverged_members),
        "state_sha256": state_digest(aside / _STATE),
        "replay": _describe_replay(ring, before),
    }
    write_json(aside / _MANIFEST, {**manifest, "sha256": manifest_digest(manifest)})
    final = directory / f"{iteration:06d}"
    shutil.rmtree(final, ignore_errors=True)
    aside.rename(final)
    sync_directory(directory)
    _prune(directory, iteration)
    return _parse(final)


def _write_state(path: Path, state: Any) -> None:
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    save_file({jax.tree_util.keystr(place): np.asarray(leaf) for place, leaf in leaves}, path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _describe_replay(ring: Ring, before: Cursor) -> dict[str, Any]:
    """The ring's cursor, and a hash of the rows written since `before`."""
    cursor = ring.cursor
    # In an iteration longer than the buffer, some new rows have already left the window and need no check.
    new_rows_from = np.maximum(before.end, ring.first_needed(cursor))
    return {
        **{name: column.tolist() for name, column in cursor._asdict().items()},
        "new_rows_from": new_rows_from.tolist(),
        "new_rows_sha256": ring.columns.digest(new_rows_from, cursor.end),
    }


def _folders(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return [path for path in directory.iterdir() if path.name.isdigit()]


def _prune(directory: Path, iteration: int) -> None:
    """Keep the newest two up to this iteration; later ones are damaged, or the run would have resumed from them."""
    folders = sorted(_folders(directory))
    past = [path for path in folders if int(path.name) <= iteration]
    for path in set(folders) - set(past[-_KEPT:]):
        shutil.rmtree(path)


def _parse(path: Path) -> Checkpoint:
    manifest = read_json(path / _MANIFEST)
    if manifest["sha256"] != manifest_digest(manifest):
        raise ValueError("its manifest does not match its hash")
    replay = manifest["replay"]
    return Checkpoint(
        iteration=manifest["iteration"],
        step=manifest["step"],
        offsets=manifest["offsets"],
        diverged_members=tuple(manifest["diverged_members"]),
        cursor=Cursor(*(np.array(replay[name], np.int64) for name in Cursor._fields)),
        new_rows_from=np.array(replay["new_rows_from"], np.int64),
        replay_digest=replay["new_rows_sha256"],
        path=path,
    )


def find(directory: Path, ring: Ring | None) -> tuple[list[Checkpoint], list[str]]:
    """The intact checkpoints, oldest first, and a sentence per damaged one.

    Without a ring (a finished run, or one that is only evaluated) only the learner's state is checked.
    """
    intact, complaints = [], []
    for path in sorted(_folders(directory)):
        try:
            checkpoint = _parse(path)
            recorded = read_json(path / _MANIFEST)["state_sha256"]
            if state_digest(path / _STATE) != recorded:
                raise ValueError("its arrays do not match their hash")
            if ring is not None:
                start, end = checkpoint.new_rows_from, checkpoint.cursor.end
                if ring.columns.digest(start, end) != checkpoint.replay_digest:
                    raise ValueError("its replay rows do not match their hash")
        except (OSError, ValueError, KeyError, TypeError, ChorusError) as problem:
            complaints.append(f"checkpoint {path} is damaged ({problem}) and is left aside")
        else:
            intact.append(checkpoint)
    return intact, complaints
