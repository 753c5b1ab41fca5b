"""One try of an attack, and steps in a process of their own."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import battery
from battery import Outcome, Step
from cases import Undisturbed, Workshop, read_logs

from running import PATIENCE_SECONDS
from warm import WarmProcess


@dataclass(frozen=True)
class Try:
    """One try; `problem` is None if everything held."""

    what: str
    problem: str | None


def perform(shop: Workshop, steps: Sequence[Step], runs: Sequence[Path] = ()) -> list[Outcome]:
    """The outcomes of steps, in order, performed by one new process; the last has no code if the process died in it."""
    request = shop.folder / "steps.json"
    request.write_text(json.dumps({"steps": [asdict(step) for step in steps], "runs": [str(run) for run in runs]}))
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = WarmProcess([str(request)], stdout.fileno(), stderr.fileno(), script=Path(battery.__file__))
        code = process.wait(PATIENCE_SECONDS)
        stdout.seek(0)
        lines = [json.loads(line) for line in stdout.read().splitlines() if line.startswith("{")]
        stderr.seek(0)
        said = stderr.read()
    ended = [Outcome(**line["ended"]) for line in lines if "ended" in line]
    if code:
        began = [line["began"] for line in lines if "began" in line]
        died = f"the process ended with exit code {code}: {said.strip()[-300:]}"
        ended.append(Outcome(began[-1] if began else "start", None, died, said, [], {}, {}, 0.0))
    return ended


def broken_promise(outcome: Outcome, step: Step, is_sound: Callable[[Outcome], str | None]) -> str | None:
    """What is wrong with an outcome, None if nothing is. `is_sound` judges the logs after a step that wrote."""
    said = [line for line in outcome.said.splitlines() if not line.startswith("Note: ")]
    if outcome.raised:
        return f"raised {outcome.raised}"
    if outcome.code not in (0, 1, 2) or "Traceback" in outcome.said:
        return f"ended with exit code {outcome.code} and said: {outcome.said.strip()[-300:]}"
    if outcome.code == 2 and len(said) != 1:
        return f"refused in {len(said)} lines: {outcome.said.strip()[-300:]}"
    if outcome.code in step.codes_of_writing:
        return is_sound(outcome)
    if outcome.changed:
        why = "only reads" if not step.codes_of_writing else f"was refused ({outcome.said.strip()[-300:]})"
        return f"{why}, and changed {', '.join(Path(name).name for name in outcome.changed[:3])}"
    return None


def differs(done: subprocess.CompletedProcess, run: Path, expected: Undisturbed) -> str | None:
    """How a command that should have finished a run failed to give it the bytes of an undisturbed one."""
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    different = [name for name, content in expected.logs.items() if read_logs(run)[name] != content]
    return f"{', '.join(different)} differ from those of an undisturbed run" if different else None
