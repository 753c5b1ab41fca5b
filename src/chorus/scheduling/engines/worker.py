"""The process of one run: reads its job from the first line of its input, and dies with whoever holds the other end."""

import json
import os
import sys
import threading
from pathlib import Path

from chorus.errors import ChorusError

HOPELESS = 2


def main() -> int:
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()

    from chorus.config.schema import RunConfig
    from chorus.runs.lifecycle import perform
    from chorus.runs.progress import Silent

    path = Path(job["path"])
    try:
        perform(path, RunConfig.from_json(job["config"], str(path)), job["command"], Silent())
    except ChorusError as problem:
        print(problem, file=sys.stderr)
        return HOPELESS
    return 0


def _die_with_parent() -> None:
    """Input ends when the parent does, however it does; a run without anybody to wait for it must not go on.

    Read without Python's buffer, whose lock this thread would hold when the interpreter ends.
    """
    while os.read(sys.stdin.fileno(), 1_024):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
