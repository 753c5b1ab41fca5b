"""What `chorus list studies` says of each study."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chorus.experiments.config import Scale
    from chorus.experiments.resolve import Resolved
    from chorus.experiments.studies import Study


def study_lines(out: Path, scale: "Scale") -> list[tuple[str, str, str, str]]:
    """Name, title, how many of its runs have ended, and what is left to pay."""
    from chorus.experiments.study_table import STUDIES

    known: dict[str, Resolved] = {}
    return [(study.name, study.title, *_standing(study, out, scale, known)) for study in STUDIES.values()]


def _standing(study: "Study", out: Path, scale: "Scale", known: "dict[str, Resolved]") -> tuple[str, str]:
    from chorus.errors import ChorusError
    from chorus.experiments.costs import gpu_words, work_left
    from chorus.experiments.studies import jobs_of
    from chorus.training.progress import duration

    device = "gpu" if scale == "paper" else None
    try:
        jobs = [job for part in study.parts for job in jobs_of(part, scale, out, device, known)]
    except ChorusError as problem:
        return "-", str(problem)
    todo = [job for job in jobs if not job.has_ended]
    work = work_left((job.config, job.saved_step() / job.total_steps) for job in todo)
    paid = gpu_words(work.gpu_days) if work.gpu_days else f"{duration(work.core_seconds)} of one core"
    return f"{len(jobs) - len(todo)} of {len(jobs)} runs", paid if todo else "nothing"
