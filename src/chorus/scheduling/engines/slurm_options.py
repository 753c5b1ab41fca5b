"""What a user may ask of Slurm, in the notation of sbatch. Nothing here needs submitit or a cluster."""

import re

from chorus.errors import ChorusError
from chorus.scheduling.engines.options import EngineOption

DEFAULT_MINUTES = 240
# Flags of sbatch that have an option here, and flags that the engine sets itself.
_OPTIONS = {name: f"--{name}" for name in ("partition", "time", "account", "qos", "cpus-per-task")}
_OPTIONS |= {"mem": "--memory", "gpus-per-node": "--gpus", "array": "--workers"}
_OURS = ("job-name", "output", "error", "open-mode", "signal", "requeue", "no-requeue", "nodes", "ntasks", "wrap")
_UNITS = {"K": 1 / 1_024, "M": 1, "G": 1_024, "T": 1_024**2}


def read_minutes(text: str) -> int:
    """Minutes of a time in Slurm's notation, seconds rounded up: 90, 90:00, 1:30:00, 2-12, 2-12:00, 2-12:00:00."""
    matched = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text, re.ASCII)
    if matched is None:
        raise _bad_time(text)
    days, *fields = matched.groups()
    given = [int(field) for field in fields if field is not None]
    # The first field is hours after days or with three fields, else minutes.
    if days is None and len(given) < 3:
        given.insert(0, 0)
    hours, minutes, seconds = [*given, 0, 0][:3]
    total = (int(days or 0) * 24 + hours) * 60 + minutes + (seconds + 59) // 60
    if total < 1:
        raise _bad_time(text)
    return total


def _bad_time(text: str) -> ChorusError:
    return ChorusError(
        f"--time '{text}' is no time that Slurm knows; use minutes (90), hours (1:30:00) or days (2-12:00)"
    )


def read_megabytes(text: str) -> int:
    matched = re.fullmatch(r"(\d+)([KMGT])B?", text.upper(), re.ASCII)
    megabytes = int(int(matched[1]) * _UNITS[matched[2]]) if matched else 0
    if megabytes < 1:
        raise ChorusError(f"--memory '{text}' is no amount of memory; use a number with a unit, such as 4G or 800M")
    return megabytes


def read_gpus(text: str) -> str:
    if not re.fullmatch(r"([A-Za-z][\w.-]*:)?\d+", text, re.ASCII):
        raise ChorusError(f"--gpus '{text}' is no number of GPUs; use a number, with a type if needed: 1 or a100:1")
    return text


def read_cpus(text: str) -> int:
    if not re.fullmatch(r"0*[1-9]\d{0,4}", text, re.ASCII):
        raise ChorusError(f"--cpus-per-task '{text}' is no number of CPUs; use a whole number from 1")
    return int(text)


def read_flag(text: str) -> tuple[str, str | bool]:
    """A flag of sbatch and its value; a flag without a value is True."""
    key, equals, value = text.partition("=")
    key = key.removeprefix("--").replace("_", "-")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", key) or not value.isprintable() or (equals and not value):
        raise ChorusError(f"--sbatch '{text}' is no flag of sbatch; use KEY=VALUE or KEY, such as constraint=a100")
    if key in _OPTIONS:
        raise ChorusError(f"--sbatch {text} has an option of its own; use {_OPTIONS[key]}")
    if key in _OURS:
        raise ChorusError(f"--sbatch {text} would replace what the engine needs; leave it out")
    return key, value if equals else True


def _word(option: str) -> EngineOption:
    def read(text: str) -> str:
        if not text.strip() or not text.isprintable():
            raise ChorusError(f"--{option} '{text}' is no name; use one that Slurm knows")
        return text

    return EngineOption(name=option, metavar="NAME", help=_WORDS[option], read=read)


_WORDS = {
    "partition": "the partition, or several with commas (default: the cluster's)",
    "account": "the account that is charged (default: yours)",
    "qos": "the quality of service (default: the cluster's)",
}

SLURM_OPTIONS = (
    _word("partition"),
    EngineOption(
        name="time",
        metavar="LIMIT",
        help="time limit of a job: minutes, H:MM:SS or D-HH:MM; a run that takes longer is requeued and resumed "
        "(default: 4:00:00)",
        read=read_minutes,
    ),
    EngineOption(
        name="gpus",
        metavar="[TYPE:]N",
        help="GPUs of a run that computes on a GPU (default: 1)",
        read=read_gpus,
    ),
    EngineOption(
        name="memory",
        metavar="SIZE",
        help="memory of a run, such as 4G (default: 1.5 times the estimate)",
        read=read_megabytes,
    ),
    EngineOption(
        name="cpus-per-task", metavar="N", help="CPUs of a run (default: its number of threads)", read=read_cpus
    ),
    _word("account"),
    _word("qos"),
    EngineOption(
        name="sbatch",
        metavar="KEY=VALUE",
        help="other flags of sbatch, such as constraint=a100 exclude=node7 exclusive (default: none)",
        read=read_flag,
        several=True,
    ),
)
