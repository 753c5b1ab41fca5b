"""What `chorus list studies` says of each study."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chorus.config.schema import Scale
    from chorus.scheduling.jobs import Known
    from chorus.studies.study import Study


def study_lines(out: Path, scale: "Scale", device: str | None) -> list[tuple[str, str, str, str]]:
    """Name, title, how many of its runs have ended, and what is left to pay."""
    from chorus.studies.table import STUDIES

    known: Known = {}
    return [(study.name, study.title, *_standing(study, out, scale, device, known)) for study in STUDIES.values()]


def _standing(study: "Study", out: Path, scale: "Scale", device: str | None, known: "Known") -> tuple[str, str]:
    from chorus.errors import ChorusError
    from chorus.runs.progress import duration
    from chorus.scheduling.costs import gpu_words, work_left
    from chorus.scheduling.jobs import jobs_of

    try:
        jobs = [job for part in study.parts for job in jobs_of(part, scale, out, device, known)]
    except ChorusError as problem:
        return "-", str(problem)
    todo = [job for job in jobs if not job.has_ended]
    ended = f"{len(jobs) - len(todo)} of {len(jobs)} runs"
    if not todo:
        return ended, "nothing"
    work = work_left((job.config, job.saved_step() / job.total_steps) for job in todo)
    return ended, gpu_words(work.gpu_days) if work.gpu_days else f"{duration(work.core_seconds)} of one core"
