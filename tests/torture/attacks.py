"""Attacks on runs. Each try says what it did and, if something promised did not hold, what."""

import contextlib
import itertools
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import Case, Undisturbed, Workshop, read_logs

from chorus.cli.main import main
from chorus.config.options import settings
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.runs.run_directory import RunDirectory
from killing import in_the_middle_of_an_iteration, kill_at, newest_checkpoint, wait_for
from running import background, chorus, command, environment, listing, status
from small_jobs import small_sweep

PROBE = "Probe/Discount-v0"
PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Try:
    """One try; `problem` is None if everything held."""

    what: str
    problem: str | None


def kills(shop: Workshop) -> Iterator[Try]:
    """SIGKILL at random instants, one to four times per run; a process that ended before it does not count."""
    while True:
        case = shop.any_case()
        expected, out = shop.undisturbed(case), shop.place()
        run, killed = out / expected.name, []
        for _ in range(shop.chance.randint(1, 4)):
            process = background(*_go_on(case, out, run))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(shop.chance.uniform(0.0, expected.seconds))
            process.kill()
            if process.wait(PATIENCE_SECONDS) == -signal.SIGKILL:
                killed.append(newest_checkpoint(run))
        problem = _differs(chorus(*_go_on(case, out, run)), run, expected)
        shutil.rmtree(out)
        for number in range(len(killed)):
            # What is found at the end is counted once.
            yield Try(f"{case.name}, killed after iterations {killed}", None if number else problem)


def _go_on(case: Case, out: Path, run: Path) -> tuple[Any, ...]:
    if RunDirectory(run).exists():
        return ("resume", run, "--quiet")
    return ("train", *case.arguments, "--out", out, "--quiet")


def _differs(done: subprocess.CompletedProcess, run: Path, expected: Undisturbed) -> str | None:
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    different = [name for name, content in expected.logs.items() if read_logs(run)[name] != content]
    return f"{', '.join(different)} differ from those of an undisturbed run" if different else None


def damage(shop: Workshop) -> Iterator[Try]:
    """Damage to a random file of a killed run, followed by every command."""
    case = next(case for case in shop.cases if case.env == PROBE and case.ensemble)
    expected, out = shop.undisturbed(case), shop.place()
    victim = out / expected.name
    process = background("train", *case.arguments, "--out", out, "--quiet")
    kill_at(process, victim, in_the_middle_of_an_iteration)
    while True:
        place = shop.place()
        run = Path(shutil.copytree(victim, place / victim.name))
        files = sorted(path for path in run.rglob("*") if path.is_file())
        file, how = shop.chance.choice(files), shop.chance.choice(DAMAGE)
        how(file, shop)
        what = f"{how.__name__} {file.relative_to(run)}"
        problem = _readers(run) or _resumed(run, expected)
        yield Try(what.replace("_", " "), problem)
        shutil.rmtree(place)


def _readers(run: Path) -> str | None:
    """The commands that only read."""
    elsewhere = run.parent / "out"
    elsewhere.mkdir()
    before = listing(run)
    for arguments in (
        ("list", "runs", "--out", run.parent),
        ("evaluate", run, "--episodes", "1"),
        ("report", run.parent, "--out", elsewhere / "report.html"),
        ("claims", run.parent),
    ):
        if problem := _traceback(arguments, chorus(*arguments)):
            return problem
    return None if listing(run) == before else "a command that only reads changed the run"


def _resumed(run: Path, expected: Undisturbed) -> str | None:
    """Either refused with nothing touched, or the same bytes."""
    before = listing(run)
    done = chorus("resume", run, "--quiet")
    if problem := _traceback(("resume",), done):
        return problem
    if done.returncode == 0:
        return _differs(done, run, expected)
    return None if listing(run) == before else f"resume refused ({done.stderr.strip()}) and changed the run"


def _traceback(arguments: tuple[Any, ...], done: subprocess.CompletedProcess) -> str | None:
    if "Traceback" not in done.stderr and done.returncode in (0, 1, 2):
        return None
    last = done.stderr.strip().splitlines()[-1:] or ["nothing"]
    return f"{arguments[0]} ended with exit code {done.returncode} and said: {last[0]}"


def emptied(file: Path, shop: Workshop) -> None:
    file.write_bytes(b"")


def halved(file: Path, shop: Workshop) -> None:
    os.truncate(file, file.stat().st_size // 2)


def removed(file: Path, shop: Workshop) -> None:
    file.unlink()


def one_bit_flipped_in(file: Path, shop: Workshop) -> None:
    content = bytearray(file.read_bytes())
    if content:
        content[shop.chance.randrange(len(content))] ^= 1 << shop.chance.randrange(8)
    file.write_bytes(content)


def overwritten_at_random(file: Path, shop: Workshop) -> None:
    file.write_bytes(shop.chance.randbytes(shop.chance.randint(1, 2_000)))


def garbage_added_to(file: Path, shop: Workshop) -> None:
    with file.open("ab") as end:
        end.write(shop.chance.randbytes(50))


def a_number_instead_of(file: Path, shop: Workshop) -> None:
    file.write_text("7")


def a_folder_instead_of(file: Path, shop: Workshop) -> None:
    file.unlink()
    file.mkdir()


def a_link_to_nowhere_instead_of(file: Path, shop: Workshop) -> None:
    file.unlink()
    file.symlink_to("nowhere")


DAMAGE: tuple[Callable[[Path, Workshop], None], ...] = (
    emptied,
    halved,
    removed,
    one_bit_flipped_in,
    overwritten_at_random,
    garbage_added_to,
    a_number_instead_of,
    a_folder_instead_of,
    a_link_to_nowhere_instead_of,
)

TEXTS = (
    *("0", "-1", "1", "2", "1e9", "1e400", "nan", "inf", "-inf", "", " ", "abc", "1e-300", "9" * 400, "true", "[1,2]"),
    *("[[]]", "[" * 5_000, "{}", "null", "\x00", "\u202e", "0x10", "1_000", "--", "$(id)", "1,2,3", "None"),
)
OBJECTS: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 0.0, float("nan"), float("inf"), "", "abc", b"abc", [], [[]], {}, {"kind": "adam"}),
    *((1, 2), object(), {1: 2}, [None], range(3), 1j, print),
)


def configurations(shop: Workshop) -> Iterator[Try]:
    """Random values of random settings, one to three at once, from the command line and from Python."""
    paths = sorted(settings())
    while True:
        case = shop.any_case()
        names = shop.chance.sample(paths, shop.chance.randint(1, 3))
        if shop.chance.random() < 0.5:
            words = [f"{name}={shop.chance.choice(TEXTS)}" for name in names]
            arguments = ["sweep", "--preset", case.preset, "--env", case.env, "--scale", "smoke", "--dry-run"]
            yield Try(f"--set {words}"[:200], _guarded(lambda: main([*arguments, "--set", *words])))  # noqa: B023
        else:
            given = {name: shop.chance.choice(OBJECTS) for name in names}
            request = Request(preset=case.preset, env=case.env, scale="smoke", options=given)
            yield Try(f"{given}"[:200], _guarded(lambda: resolve(request)))  # noqa: B023


def _guarded(act: Callable[[], Any]) -> str | None:
    """Only a ChorusError, or the exit code 2, is an answer to a wrong value."""
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):  # noqa: PTH123
            code = act()
    except ChorusError:
        return None
    except SystemExit as end:
        code = end.code
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"[:300]
    return f"exit code {code}" if isinstance(code, int) and code not in (0, 2) else None


def full_disks(shop: Workshop) -> Iterator[Try]:
    """Space, inodes or a quota on the size of files, used up at a random instant; a run that ended before does not
    count."""
    case = next(case for case in shop.cases if case.env == PROBE and case.ensemble)
    expected = shop.undisturbed(case)
    while True:
        out = shop.place()
        options = "size=12m,nr_inodes=100"
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", out], capture_output=True)
        fill = _quota if mounted.returncode else shop.chance.choice((_space, _inodes))
        try:
            if (one := _used_up(shop, case, expected, out, fill)) is not None:
                yield one
        finally:
            if not mounted.returncode:
                subprocess.run(["umount", "--lazy", out], check=True)


def _used_up(shop: Workshop, case: Case, expected: Undisturbed, out: Path, fill: Callable[..., None]) -> Try | None:
    """None if the run needed nothing any more."""
    run = out / expected.name
    arguments = command("train", *case.arguments, "--out", out, "--quiet")
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment())
    wait_for(lambda: newest_checkpoint(run) >= 1, PATIENCE_SECONDS)
    time.sleep(shop.chance.uniform(0.0, 0.5))
    process.send_signal(signal.SIGSTOP)
    fill(process.pid, out)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode == 0:
        return None
    what = fill.__name__.strip("_")
    if process.returncode != 2 or len(said.splitlines()) > 1:
        return Try(what, f"exit code {process.returncode}, and {len(said.splitlines())} lines: {said.strip()[-300:]}")
    if status(run)["reason"] != "disk full":
        return Try(what, f"the status is {status(run)}")
    for file in out.glob("ballast*"):
        file.unlink()
    return Try(what, _differs(chorus("resume", run, "--quiet"), run, expected))


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
    """Two processes that resume the same run at almost the same instant."""
    case = next(case for case in shop.cases if case.env == PROBE and case.ensemble)
    expected = shop.undisturbed(case)
    while True:
        out = shop.place()
        run = out / expected.name
        kill_at(background("train", *case.arguments, "--out", out), run, in_the_middle_of_an_iteration)
        first = background("resume", run)
        time.sleep(shop.chance.uniform(0.0, 1.0))
        second = background("resume", run)
        codes = sorted((first.wait(PATIENCE_SECONDS), second.wait(PATIENCE_SECONDS)))
        problem = None if codes in ([0, 0], [0, 2]) else f"exit codes {codes}"
        yield Try("resume twice", problem or _differs(chorus("resume", run, "--quiet"), run, expected))
        shutil.rmtree(out)


def killed_parents(shop: Workshop) -> Iterator[Try]:
    """SIGKILL for the command that runs a sweep, on either engine; the same command goes on."""
    expected: dict[str, dict[str, bytes]] = {}
    engines = ["local", *(["ray"] if _has_ray() else [])]
    while True:
        for engine in engines:
            out = shop.place()
            arguments = small_sweep(out, 2, "--engine", engine, "--quiet")
            process = subprocess.Popen(
                command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
            )
            wait_for(lambda: any(map(newest_checkpoint, out.glob("[!.]*__s*"))), PATIENCE_SECONDS)  # noqa: B023
            time.sleep(shop.chance.uniform(0.0, 1.0))
            process.kill()
            process.wait()
            done = chorus(*arguments)
            found = {run.name: read_logs(run) for run in out.glob("[!.]*__s*")}
            expected = expected or _whole_sweep(shop)
            problem = done.stderr.strip() if done.returncode else None
            problem = problem or (None if found == expected else "bytes differ from those of an undisturbed sweep")
            yield Try(f"a sweep on the engine {engine}", problem)
            shutil.rmtree(out)


def _whole_sweep(shop: Workshop) -> dict[str, dict[str, bytes]]:
    out = shop.place()
    done = chorus(*small_sweep(out, 2, "--quiet"))
    assert done.returncode == 0, done.stderr
    return {run.name: read_logs(run) for run in out.glob("[!.]*__s*")}


def _has_ray() -> bool:
    try:
        import ray  # noqa: F401
    except ImportError:
        return False
    return True
