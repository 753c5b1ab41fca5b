"""Finished runs in a form to share: what analysis reads, with compressed metrics and without checkpoints and replay.

Of a metric that each of more than two members has (`members/effective_rank/member_3`), only the mean stays, which makes
the logs of ten members less than a third as large. `python -m chorus.runs.published RUNS... FOLDER` writes them;
whatever reads runs reads these, too.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

from chorus.errors import ChorusError
from chorus.files import check_regular, parse_json, replacing

_KEPT = ("config.json", "meta.json", "status.json", "visits.json")
ENDED = ("finished", "diverged")
_LOGS = ("metrics.jsonl", "timings.jsonl")
_SUFFIX = ".gz"
_METRIC = re.compile(rb'"metric": "([^"]*)/(member_\d+|mean)"')
# A few kilobytes can unpack to more than a machine holds. The longest runs of the paper write a tenth of this.
_LARGEST_LOG_BYTES = 2**30


def read_log(path: Path) -> bytes:
    """The content of a log, which a published run has in compressed form; ValueError if that is damaged."""
    packed = path.with_name(path.name + _SUFFIX)
    check_regular(path)
    check_regular(packed)
    if path.exists() or not packed.exists():
        return path.read_bytes()
    rest, parts, left = packed.read_bytes(), list[bytes](), _LARGEST_LOG_BYTES
    # Compressed files may be joined, as `cat` does it: one part after the other.
    while rest:
        unpacking = zlib.decompressobj(wbits=31)
        try:
            # One byte more than allowed, because 0 would mean no limit.
            parts.append(unpacking.decompress(rest, left + 1))
        except zlib.error as error:
            raise ValueError(f"{packed.name} is damaged: {error}") from error
        left -= len(parts[-1])
        if not unpacking.eof or left < 0:
            raise ValueError(f"{packed.name} is cut short, or longer than {_LARGEST_LOG_BYTES:,} bytes when unpacked")
        rest = unpacking.unused_data
    return b"".join(parts)


def publish(run: Path, folder: Path) -> Path:
    """Copy a finished run into `folder`; the same run gives the same bytes."""
    state = _state(run)
    if state not in ENDED:
        raise ChorusError(f"{run} is {state}; only runs that have ended are published: `chorus resume {run}` first")
    target = folder / run.name
    target.mkdir(parents=True, exist_ok=True)
    contents = {name: (run / name).read_bytes() for name in _KEPT if (run / name).exists()}
    logs = {name: read_log(run / name) for name in _LOGS}
    contents |= {name + _SUFFIX: gzip.compress(without_members(log), mtime=0) for name, log in logs.items()}
    for name, content in contents.items():
        with replacing(target / name) as file:
            file.write(content)
    return target


def without_members(log: bytes) -> bytes:
    """The lines of a log without the values of single members, where there is a mean over more than two of them.

    The two members of a tandem are compared with each other.
    """
    lines = [(line, _METRIC.search(line)) for line in log.splitlines(keepends=True)]
    if not any(found and found[2] == b"member_2" for _, found in lines):
        return log
    means = {found[1] for _, found in lines if found and found[2] == b"mean"}
    return b"".join(line for line, found in lines if not found or found[2] == b"mean" or found[1] not in means)


def published_runs(folder: Path) -> dict[str, Path]:
    """The runs that have ended in `folder` and its folders, by name."""
    found = (path.parent for path in sorted(folder.glob("**/status.json")))
    return {run.name: run for run in found if _state(run) in ENDED}


def is_published(run: Path) -> bool:
    """Whether a run is such a copy, with compressed logs and without checkpoints."""
    return any(run.glob(f"*.jsonl{_SUFFIX}"))


def published_folders(folder: Path, runs: Sequence[Path]) -> dict[str, list[Path]]:
    """Published runs by the folder right below `folder` that they lie in, as in results/; empty unless all of `runs`
    are published and lie in at least two such folders."""
    found: dict[str, list[Path]] = {}
    for run in runs:
        parts = run.relative_to(folder).parts if run.is_relative_to(folder) else ()
        if len(parts) < 2 or not is_published(run):
            return {}
        found.setdefault(parts[0], []).append(run)
    return found if len(found) > 1 else {}


def _state(run: Path) -> object:
    status = run / "status.json"
    check_regular(status)
    content = parse_json(status.read_bytes())
    if not isinstance(content, dict):
        raise ValueError(f"{status} holds no object; restore it")
    return content.get("state")


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or any(word.startswith("-") for word in arguments):
        print("usage: python -m chorus.runs.published RUN... FOLDER", file=sys.stderr)
        return 2
    *runs, folder = map(Path, arguments)
    try:
        for run in runs:
            print(publish(run, folder))
    except (ChorusError, OSError, ValueError) as problem:
        print(f"published: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
