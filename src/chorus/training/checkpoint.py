"""Checkpoints: arrays and a manifest with hashes, written to a temporary folder and renamed; no pickle.

The newest two are kept. The replay is not copied, because its rows are in the ring's own files: the manifest has the
cursor of each lane and a hash of each block of rows. A block is hashed once, when it is full; the next manifests repeat
its hash for as long as the block can be sampled.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from safetensors.numpy import load_file, save_file

from chorus.errors import ChorusError
from chorus.files import (
    LogMark,
    check_regular,
    file_digest,
    flatten,
    json_digest,
    read_json,
    sync_directory,
    write_json,
)
from chorus.replay.columns import row_bytes
from chorus.replay.layout import Block, Cursor, RingLayout
from chorus.replay.ring import Ring

FORMAT = 2
"""Of manifests. Those of format 1 have no configuration, and no hashes of logs and of whole blocks."""

KEPT = 2
_STATE, _COUNTS, _MANIFEST = "state.safetensors", "counts.safetensors", "manifest.json"
# A checkpoint that is being written, and one that is being removed.
_ASIDE, _REST = ".writing", ".removing"


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The state from which a run is resumed exactly.

    `logs`, `config` and `block_hashes` are empty in manifests of format 1, with which a run can only be evaluated.
    """

    iteration: int
    step: int
    format: int
    logs: dict[str, LogMark]
    config: dict[str, Any]
    diverged_members: tuple[int, ...]
    cursor: Cursor
    block_hashes: list[str]
    path: Path

    def new_bytes(self, layout: RingLayout, before: Cursor | None) -> int:
        """Bytes that this checkpoint added to the disk: its arrays and the rows written since `before`."""
        rows = int(np.sum(self.cursor.end - (before.end if before else 0)))
        arrays = sum(path.stat().st_size for path in (self.path / _STATE, self.path / _COUNTS) if path.exists())
        return arrays + rows * row_bytes(layout.types())

    def blocks(self, ring: Ring) -> dict[Block, str]:
        """The hash of each block."""
        return dict(zip(ring.blocks(self.cursor), self.block_hashes, strict=True))

    def load_counts(self) -> dict[str, np.ndarray]:
        """What the run had counted; empty if it counts nothing."""
        path = self.path / _COUNTS
        return load_file(path) if path.exists() else {}

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


def manifest_digest(manifest: dict[str, Any]) -> str:
    """A hash of the manifest without its own hash."""
    body = {name: value for name, value in manifest.items() if name != "sha256"}
    return json_digest(body)


def save(
    directory: Path,
    *,
    iteration: int,
    step: int,
    state: Any,
    ring: Ring,
    previous: Checkpoint | None,
    logs: Mapping[str, LogMark],
    config: dict[str, Any],
    diverged_members: tuple[int, ...],
    counts: Mapping[str, np.ndarray] | None = None,
) -> Checkpoint:
    """Write one checkpoint; blocks that were full at the `previous` one are not hashed again."""
    directory.mkdir(exist_ok=True)
    discard_unfinished(directory)
    aside = directory / _ASIDE
    aside.mkdir()
    _write_state(aside / _STATE, state)
    ring.columns.flush()
    hashes = HashedBlocks(ring, previous.blocks(ring) if previous else {})
    manifest = {
        "format": FORMAT,
        "iteration": iteration,
        "step": step,
        "logs": {name: mark._asdict() for name, mark in logs.items()},
        "diverged_members": list(diverged_members),
        "state_sha256": file_digest(aside / _STATE),
        "replay": {
            **{name: column.tolist() for name, column in ring.cursor._asdict().items()},
            "blocks_sha256": hashes.of(ring.cursor),
        },
        "config": config,
    }
    if counts:
        _write_arrays(aside / _COUNTS, counts)
        manifest["counts_sha256"] = file_digest(aside / _COUNTS)
    write_json(aside / _MANIFEST, {**manifest, "sha256": manifest_digest(manifest)})
    final = directory / f"{iteration:06d}"
    _remove(final)
    aside.rename(final)
    sync_directory(directory)
    prune(directory, iteration)
    return _parse(final)


def discard_unfinished(directory: Path) -> None:
    """Remove a checkpoint that was not written to its end."""
    _remove(directory / _ASIDE)


def _write_state(path: Path, state: Any) -> None:
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    _write_arrays(path, {jax.tree_util.keystr(place): np.asarray(leaf) for place, leaf in leaves})


def _write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    save_file(dict(arrays), path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


class HashedBlocks:
    """Hashes of a ring's blocks, each computed once; `known` are those that need not be computed."""

    def __init__(self, ring: Ring, known: Mapping[Block, str] | None = None) -> None:
        self._ring, self._known = ring, dict(known or {})

    def of(self, cursor: Cursor) -> list[str]:
        return [self._hash(block) for block in self._ring.blocks(cursor)]

    def _hash(self, block: Block) -> str:
        if block not in self._known:
            self._known[block] = self._ring.columns.digest(*block)
        return self._known[block]

    def check(self, checkpoint: Checkpoint) -> None:
        """Raise if a row of the checkpoint's replay is not what it was."""
        wrong = [block for block, recorded in checkpoint.blocks(self._ring).items() if self._hash(block) != recorded]
        if wrong:
            lane, start, stop = wrong[0]
            raise ValueError(
                f"{len(wrong)} of {len(checkpoint.block_hashes)} blocks of its replay do not match their hash, the "
                f"first one at positions {start} to {stop} of lane {lane}"
            )


def _folders(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return [path for path in directory.iterdir() if re.fullmatch("[0-9]+", path.name)]


def prune(directory: Path, iteration: int) -> None:
    """Keep the newest two up to this iteration; later ones are damaged, or the run would have resumed from them."""
    folders = sorted(_folders(directory))
    past = [path for path in folders if int(path.name) <= iteration]
    for path in set(folders) - set(past[-KEPT:]):
        _remove(path)


def _remove(path: Path) -> None:
    """Remove a checkpoint, or a file or link in its place; what a link points to stays."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return
    # Renamed first: what a kill leaves of it would pass for a damaged checkpoint.
    rest = path.with_name(_REST)
    shutil.rmtree(rest, ignore_errors=True)
    with contextlib.suppress(OSError):
        path = path.rename(rest)
    shutil.rmtree(path, ignore_errors=True)


def _parse(path: Path) -> Checkpoint:
    check_regular(path / _MANIFEST)
    manifest = read_json(path / _MANIFEST)
    if manifest["sha256"] != manifest_digest(manifest):
        raise ValueError("its manifest does not match its hash")
    replay = manifest["replay"]
    return Checkpoint(
        iteration=manifest["iteration"],
        step=manifest["step"],
        format=manifest.get("format", 1),
        logs={name: LogMark(**mark) for name, mark in manifest.get("logs", {}).items()},
        config=manifest.get("config", {}),
        diverged_members=tuple(manifest["diverged_members"]),
        cursor=Cursor(*(np.array(replay[name], np.int64) for name in Cursor._fields)),
        block_hashes=replay.get("blocks_sha256", []),
        path=path,
    )


class Found(NamedTuple):
    """Checkpoints that can be used, oldest first, and a sentence per checkpoint that cannot."""

    intact: list[Checkpoint]
    complaints: list[str]

    def that_pass(self, check: Callable[[Checkpoint], None]) -> "Found":
        """Those for which `check` raises nothing."""
        intact, complaints = [], list(self.complaints)
        for checkpoint in self.intact:
            try:
                check(checkpoint)
            except _DAMAGE as problem:
                complaints.append(_complaint(checkpoint.path, problem))
            else:
                intact.append(checkpoint)
        return Found(intact, complaints)


_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, ChorusError)


def _complaint(path: Path, problem: Exception) -> str:
    return f"checkpoint {path} is damaged ({problem}) and is left aside"


def find(directory: Path) -> Found:
    """The checkpoints of which manifest and learner are what they were."""
    intact, complaints = [], []
    for path in sorted(_folders(directory)):
        try:
            checkpoint = _parse(path)
            manifest = read_json(path / _MANIFEST)
            for name, digest in ((_STATE, manifest["state_sha256"]), (_COUNTS, manifest.get("counts_sha256"))):
                if digest is not None and file_digest(path / name) != digest:
                    raise ValueError("its arrays do not match their hash")
        except _DAMAGE as problem:
            complaints.append(_complaint(path, problem))
        else:
            intact.append(checkpoint)
    return Found(intact, complaints)


def check_config(checkpoint: Checkpoint, config: dict[str, Any], origin: Path) -> None:
    """Refuse a configuration other than the one that wrote a checkpoint, and name what differs."""
    if checkpoint.format < FORMAT or checkpoint.config == config:
        return
    now, then = flatten(config), flatten(checkpoint.config)
    changed = [name for name in sorted(now | then) if now.get(name) != then.get(name)]
    if not changed:
        # Earlier versions do not have every field; what is null now was not there then.
        return
    listed = ", ".join(f"{name} is {now.get(name)!r} and was {then.get(name)!r}" for name in changed[:3])
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    raise ChorusError(
        f"{origin} has changed since the checkpoint {checkpoint.path} was written ({listed}{more}); set it back, or "
        "train the other configuration as a run of its own"
    )
