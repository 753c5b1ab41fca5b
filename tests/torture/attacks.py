"""Attacks on processes: kills, full disks, two writers, killed sweeps."""

import contextlib
import itertools
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cases import PLAIN, Case, Workshop, read_logs
from trying import Try, differs

from chorus.runs.run_directory import RunDirectory
from killing import newest_checkpoint, wait_for
from running import PATIENCE_SECONDS, background, chorus, status
from warm import WarmProcess


def kills(shop: Workshop) -> Iterator[Try]:
    """SIGKILL at random instants, one to four times per run; a process that ended before it does not count."""
    while True:
        case = shop.any_case()
        expected, out = shop.undisturbed(case), shop.place()
        run, killed = out / expected.name, []
        for _ in range(1 if shop.brief else shop.chance.randint(1, 4)):
            process = background(*_go_on(case, out, run))
            shop.wait_within(process, case)
            process.kill()
            if process.wait(PATIENCE_SECONDS) == -signal.SIGKILL:
                killed.append(newest_checkpoint(run))
        problem = differs(chorus(*_go_on(case, out, run)), run, expected)
        shutil.rmtree(out)
        for number in range(len(killed)):
            # What is found at the end is counted once.
            yield Try(f"{case.name}, killed after iterations {killed}", None if number else problem)


def _go_on(case: Case, out: Path, run: Path) -> tuple[Any, ...]:
    if RunDirectory(run).exists():
        return ("resume", run, "--quiet")
    return ("train", *case.arguments, "--out", out, "--quiet")


def full_disks(shop: Workshop) -> Iterator[Try]:
    """Space, inodes or a quota on the size of files, used up at a random instant of a resumed run; a run that needed
    nothing more does not count."""
    options = "size=16m,nr_inodes=120"
    while True:
        out, case = shop.place(), shop.chance.choice(shop.quick_cases)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", out], capture_output=True)
        fill = shop.chance.choice((_quota,) if mounted.returncode else (_space, _inodes, _quota))
        try:
            run = shop.killed(case, out)
            problem = _used_up(shop, case, run, fill)
            if problem != "nothing was needed":
                yield Try(f"{fill.__name__.strip('_')} for {case.name}", problem)
        finally:
            if not mounted.returncode:
                subprocess.run(["umount", "--lazy", out], check=True)


def _used_up(shop: Workshop, case: Case, run: Path, fill: Callable[[int, Path], None]) -> str | None:
    with tempfile.TemporaryFile("w+") as stderr, Path(os.devnull).open("w") as nowhere:
        process = WarmProcess(["resume", str(run), "--quiet"], nowhere.fileno(), stderr.fileno())
        shop.wait_within(process, case)
        process.send_signal(signal.SIGSTOP)
        if process.poll() is None:
            fill(process.pid, run.parent)
        process.send_signal(signal.SIGCONT)
        code = process.wait(PATIENCE_SECONDS)
        stderr.seek(0)
        said = stderr.read().strip()
    if code == 0:
        return "nothing was needed"
    if code != 2 or len(said.splitlines()) != 1:
        return f"exit code {code}, and {len(said.splitlines())} lines: {said[-300:]}"
    # A run that found no space before it began is refused and stays as it was killed.
    if status(run)["reason"] != "disk full" and status(run)["state"] != "running":
        return f"the status is {status(run)}"
    for file in run.parent.glob("ballast*"):
        file.unlink()
    return differs(chorus("resume", run, "--quiet"), run, shop.undisturbed(case))


def _space(process: int, out: Path) -> None:
    with (out / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4_096):
            pass


def _inodes(process: int, out: Path) -> None:
    with contextlib.suppress(OSError):
        for number in itertools.count():
            (out / f"ballast-{number}").touch()


def _quota(process: int, out: Path) -> None:
    resource.prlimit(process, resource.RLIMIT_FSIZE, (2_048, 2_048))


def two_writers(shop: Workshop) -> Iterator[Try]:
    """Two processes that create the same run, or resume it, at almost the same instant."""
    while True:
        case = shop.chance.choice(shop.quick_cases)
        expected = shop.undisturbed(case)
        is_new = shop.chance.random() < 0.3
        run = shop.place() / expected.name if is_new else shop.killed(case)
        train = ("train", *case.arguments, "--out", run.parent, "--quiet")
        resume = ("resume", run, "--quiet")
        first = background(*(train if is_new else resume))
        time.sleep(shop.chance.uniform(0.0, 0.5 * expected.seconds))
        second = background(*(train if is_new or shop.chance.random() < 0.3 else resume))
        codes = sorted((first.wait(PATIENCE_SECONDS), second.wait(PATIENCE_SECONDS)))
        problem = None if codes in ([0, 0], [0, 2]) else f"exit codes {codes}"
        what = f"{'create' if is_new else 'resume'} twice, {case.name}"
        yield Try(what, problem or differs(chorus("resume", run, "--quiet"), run, expected))
        shutil.rmtree(run.parent)


def killed_parents(shop: Workshop) -> Iterator[Try]:
    """SIGKILL for the command that runs a sweep, on either engine; the same command goes on."""
    engines = itertools.cycle(["local", *(["ray"] if _has_ray() else [])])
    for engine in engines:
        # One run, or two at once.
        cases = [replace(PLAIN, seed=seed) for seed in range(1 if shop.brief else shop.chance.randint(1, 2))]
        out = shop.place()
        arguments = (*PLAIN.sweep(out, len(cases)), "--engine", engine)
        process = background(*arguments)
        wait_for(lambda: any(map(newest_checkpoint, _runs_in(out))), PATIENCE_SECONDS)  # noqa: B023
        time.sleep(shop.chance.uniform(0.0, 1.0))
        process.kill()
        process.wait()
        done = chorus(*arguments)
        found = {run.name: read_logs(run) for run in _runs_in(out)}
        wanted = {one.name: one.logs for one in map(shop.undisturbed, cases)}
        problem = f"exit code {done.returncode}: {done.stderr.strip()}" if done.returncode else None
        problem = problem or (None if found == wanted else "bytes differ from those of undisturbed runs")
        yield Try(f"a sweep of {len(cases)} on the engine {engine}", problem)
        shutil.rmtree(out)


def _runs_in(out: Path) -> list[Path]:
    return list(out.glob("[!.]*__s*"))


def _has_ray() -> bool:
    try:
        import ray  # noqa: F401
    except ImportError:
        return False
    return True
