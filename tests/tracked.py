"""What trackers wrote: TensorBoard's files as it reads them, and what W&B keeps of a run while it is offline."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# W&B's files are protocol buffers in the format of LevelDB's log.
_FILE_HEADER, _HEADER, _BLOCK = 7, 7, 32_768
_WHOLE, _LAST = 1, 4


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """Tag -> step -> value, as TensorBoard reads its files."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    values = {tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]}
    assert all(len(dict(pairs)) == len(pairs) for pairs in values.values()), "a step occurs twice"
    return {tag: dict(pairs) for tag, pairs in values.items()}


def wandb_records(run: Path) -> list[Any]:
    """Every record of the run's only offline folder, in order."""
    import wandb
    from wandb.proto import wandb_internal_pb2

    # A run's finish() returns before W&B's service has written the last block of its file; the service's end waits.
    wandb.teardown()
    (file,) = run.glob("wandb/offline-run-*/run-*.wandb")
    return [wandb_internal_pb2.Record.FromString(content) for content in _contents(file.read_bytes())]


def wandb_history(run: Path) -> list[dict[str, Any]]:
    """The rows that were logged, each with its step as `_step`."""
    rows = [record.history for record in wandb_records(run) if record.WhichOneof("record_type") == "history"]
    return [
        {
            "_step": row.step.num,
            **{item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in row.item},
        }
        for row in rows
    ]


def _contents(data: bytes) -> Iterator[bytes]:
    position, parts = _FILE_HEADER, b""
    while position + _HEADER <= len(data):
        if _BLOCK - position % _BLOCK < _HEADER:
            # The rest of a block that is too short for a header is padding.
            position += _BLOCK - position % _BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, position)
        position += _HEADER
        parts += data[position : position + length]
        position += length
        if kind in (_WHOLE, _LAST):
            yield parts
            parts = b""
