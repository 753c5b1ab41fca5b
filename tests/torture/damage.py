"""Damage to files of runs, followed by every command and by the functions of `chorus`."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from battery import Outcome, Step, log_hashes
from cases import PROBE, Case, Workshop
from trying import Try, broken_promise, perform


def damaged_runs(shop: Workshop) -> Iterator[Try]:
    """Damage to a random file of a killed or finished run. A try is one command on one damaged run."""
    while True:
        case = shop.any_case()
        expected = log_hashes([shop.undisturbed(case).path])
        victims = (shop.killed, shop.killed, shop.killed_early, shop.finished)
        victim = shop.killed if shop.brief else shop.chance.choice(victims)
        run = victim(case)
        what = f"{case.name}, {victim.__name__.replace('_', ' ')}: {damage_one_file([run], shop)}"

        def is_sound(outcome: Outcome, expected=expected, has_ended=victim == shop.finished) -> str | None:
            left_alone = has_ended and outcome.after == outcome.before
            return None if left_alone or outcome.after == expected else "logs differ from those of an undisturbed run"

        # The slowest one looks through all studies, too. In short, reports are left to damaged folders.
        left_out = {"claims"} if shop.chance.random() < 0.7 else set()
        left_out |= {"show", "report", "claims"} if shop.brief else set()
        reading = [step for step in readers(case, run) if step.name not in left_out]
        steps = [*reading, *shop.chance.sample(writers(case, run), 5)]
        yield from judged(shop, what, steps, [run], is_sound)
        shutil.rmtree(run.parent)


def judged(
    shop: Workshop, what: str, steps: list[Step], runs: list[Path], is_sound: Callable[[Outcome], str | None]
) -> Iterator[Try]:
    """Steps after damage, one try each; steps that a dead process left undone are not counted."""
    by_name = {step.name: step for step in steps}
    for outcome in perform(shop, steps, runs):
        problem = broken_promise(outcome, by_name[outcome.name], is_sound)
        yield Try(f"{what}, then {outcome.name}", problem)


def readers(case: Case, run: Path) -> list[Step]:
    """What must not change a run."""
    out, report = str(run.parent), str(run.parent / "report.html")
    return [
        Step("list runs", words=("list", "runs", "--out", out)),
        Step("show", words=("show", case.preset, "--config", str(run / "config.json"))),
        Step("evaluate", words=("evaluate", str(run), "--episodes", "1")),
        Step("chorus.load", "load", (str(run),)),
        Step("report", words=("report", out, "--out", report)),
        Step("claims", words=("claims", out)),
        Step("sweep --dry-run", words=(*case.sweep(run.parent), "--dry-run")),
    ]


def writers(case: Case, run: Path) -> list[Step]:
    """What may go on with a run. The first one finds the damage, the others what it left."""
    out = str(run.parent)
    keywords = {"seed": case.seed, "scale": "smoke", "out": out, "quiet": True, **case.options}
    return [
        Step("resume", words=("resume", str(run), "--quiet"), codes_of_writing=(0,)),
        Step("train", words=("train", *case.arguments, "--out", out, "--quiet"), codes_of_writing=(0,)),
        Step("sweep", words=(*case.sweep(run.parent), "--workers", "1"), codes_of_writing=(0,)),
        Step("chorus.resume", "resume", (str(run),), {"quiet": True}, codes_of_writing=(0,)),
        Step("chorus.train", "train", (case.preset, case.env), keywords, codes_of_writing=(0,)),
    ]


def damaged_folders(shop: Workshop) -> Iterator[Try]:
    """Damage to a file of one of the runs of a diagnosis, or to two; a try is one command on the damaged folder."""
    whole = shop.place()
    steps = 400
    make = Step("diagnosis", "diagnosis", (PROBE, str(whole)), {"total_steps": steps, "trained": not shop.brief})
    (made,) = perform(shop, [make])
    assert made.code == 0, made
    while True:
        out = Path(shutil.copytree(whole, shop.place() / "runs"))
        runs = sorted(out.iterdir())
        sound = log_hashes(runs)
        what = "; ".join(damage_one_file(runs, shop) for _ in range(shop.chance.randint(1, 2)))
        damaged = log_hashes(runs)
        diagnose = (
            "diagnose",
            PROBE,
            "--scale",
            "smoke",
            "--seeds",
            "1",
            "--members",
            "2",
            "--total-steps",
            str(steps),
        )
        commands = [
            Step("list runs", words=("list", "runs", "--out", str(out))),
            Step("list studies", words=("list", "studies", "--scale", "smoke", "--out", str(out))),
            Step("report", words=("report", str(out), "--out", str(out.parent / "report.html"))),
            Step("diagnose --dry-run", words=(*diagnose, "--out", str(out), "--dry-run")),
            Step("diagnose", words=(*diagnose, "--out", str(out), "--quiet"), codes_of_writing=(0,)),
        ]

        def is_sound(outcome: Outcome, sound=sound, damaged=damaged) -> str | None:
            # A finished run is left alone, whatever its logs are; if its status is rebuilt, garbage at an end goes.
            wrong = [name for name, found in outcome.after.items() if found not in (sound[name], damaged[name])]
            return f"{', '.join(wrong)} of finished runs have changed" if wrong else None

        yield from judged(shop, what, commands, runs, is_sound)
        shutil.rmtree(out.parent)


def damage_one_file(runs: list[Path], shop: Workshop) -> str:
    """Damages a random file of a random run, and says what was done."""
    run = shop.chance.choice(runs)
    files = sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink())
    file, how = shop.chance.choice(files), shop.chance.choice(DAMAGE)
    how(file, shop)
    return f"{how.__name__} {file.relative_to(run.parent)}".replace("_", " ")


def emptied(file: Path, shop: Workshop) -> None:
    file.write_bytes(b"")


def halved(file: Path, shop: Workshop) -> None:
    os.truncate(file, file.stat().st_size // 2)


def removed(file: Path, shop: Workshop) -> None:
    file.unlink()


def its_folder_removed_with(file: Path, shop: Workshop) -> None:
    """Checkpoints, or the replay; of the run's own folder only the file goes."""
    inside = len(file.relative_to(shop.folder).parts) > len(_run_of(file).relative_to(shop.folder).parts) + 1
    shutil.rmtree(file.parent) if inside else file.unlink()


def _run_of(file: Path) -> Path:
    return next(folder for folder in reversed(file.parents) if "__s" in folder.name)


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


def nothing_readable_in(file: Path, shop: Workshop) -> None:
    """A file of zeros, as a crash of the machine leaves them."""
    file.write_bytes(bytes(file.stat().st_size))


DAMAGE: tuple[Callable[[Path, Workshop], None], ...] = (
    emptied,
    halved,
    removed,
    its_folder_removed_with,
    one_bit_flipped_in,
    overwritten_at_random,
    garbage_added_to,
    a_number_instead_of,
    a_folder_instead_of,
    a_link_to_nowhere_instead_of,
    nothing_readable_in,
)
