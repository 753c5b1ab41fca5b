"""Random configurations against the command line and Python: wrong ones are refused, valid ones are trained."""

import contextlib
import os
import shutil
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from battery import Step
from cases import Case, Workshop
from trying import Try, perform

from chorus.cli.main import main
from chorus.config.codec import alternatives, candidates
from chorus.config.options import Setting, settings
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from running import status

TEXTS = (
    *("0", "-1", "1", "2", "1e9", "1e400", "nan", "inf", "-inf", "", " ", "abc", "1e-300", "9" * 400, "true", "[1,2]"),
    *("[[]]", "[" * 5_000, "{}", "null", "\x00", "\u202e", "0x10", "1_000", "--", "$(id)", "1,2,3", "None"),
)
OBJECTS: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 0.0, float("nan"), float("inf"), "", "abc", b"abc", [], [[]], {}, {"kind": "adam"}),
    *((1, 2), object(), {1: 2}, [None], range(3), 1j, print),
)


def wrong_configurations(shop: Workshop) -> Iterator[Try]:
    """Random values of random settings, one to three at once, from the command line and from Python; not trained."""
    paths = sorted(settings())
    while True:
        case = shop.chance.choice(shop.cases)
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
    except KeyboardInterrupt:
        raise
    except SystemExit as end:
        code = end.code
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"[:300]
    return f"exit code {code}" if isinstance(code, int) and code not in (0, 2) else None


# What would only make a run long or large, or asks for another machine.
_FIXED = ("runtime", "schedule.total_steps", "schedule.iteration_steps", "replay.capacity", "agent.torso", "env.atari")
_LARGEST = {int: 12, float: 3.0}
_BRIEF = {"total_steps": 400}


def trained_configurations(shop: Workshop) -> Iterator[Try]:
    """Random valid values of one to four settings, trained for two iterations by the command or in Python: the run
    finishes or diverges."""
    while True:
        case = shop.chance.choice(shop.quick_cases)
        given = valid_settings(shop, case)
        out = shop.place()
        options = tiny_options(case, given)
        words = [f"{name}={_as_text(value)}" for name, value in given.items()]
        if shop.chance.random() < 0.5:
            train = ("train", *case.arguments_with(options), "--out", str(out), "--quiet")
            step = Step("train", words=(*train, *(("--set", *words) if words else ())))
        else:
            keywords = {"seed": case.seed, "scale": "smoke", "out": str(out), "quiet": True}
            step = Step("chorus.train", "train", (case.preset, case.env), {**keywords, **options, **given})
        (outcome,) = perform(shop, [step])
        problem = outcome.raised or _ended_well(outcome.code, outcome.said, out)
        yield Try(f"{step.name} {case.name} {words}", problem)
        shutil.rmtree(out)


def tiny_options(case: Case, given: dict[str, Any]) -> dict[str, Any]:
    """The case's own options for two iterations, without those that are given by their path."""
    replaced = {settings()[path].key for path in given}
    return {name: value for name, value in {**case.options, **_BRIEF}.items() if name not in replaced}


def _ended_well(code: int | None, said: str, out: Path) -> str | None:
    runs = list(out.iterdir())
    if code not in (0, 1) or len(runs) != 1:
        return f"exit code {code}: {said.strip()[-300:]}"
    state = status(runs[0])["state"]
    return None if state in ("finished", "diverged") else f"the run is {state}"


def valid_settings(shop: Workshop, case: Case) -> dict[str, Any]:
    """Settings that can be resolved together; drawn until they can."""
    known = {path: one for path, one in settings().items() if not path.startswith(_FIXED)}
    while True:
        names = shop.chance.sample(sorted(known), shop.chance.randint(1, 4))
        given = {name: drawn for name in names if (drawn := _draw(shop, known[name])) is not None}
        options = {**tiny_options(case, given), **given}
        try:
            resolve(replace(case.request, options=options))
        except ChorusError:
            continue
        return given


def _draw(shop: Workshop, setting: Setting) -> Any:
    """A random value within the declared range; None for what has no simple values."""
    if known := candidates(setting.annotation):
        return {"kind": shop.chance.choice(sorted(known))}
    kind = next(one for one in alternatives(setting.annotation) if one is not type(None))
    if kind is bool:
        return shop.chance.random() < 0.5
    if typing.get_origin(kind) is typing.Literal:
        return shop.chance.choice(typing.get_args(kind))
    if kind not in _LARGEST:
        return None
    within = setting.option.within
    low = max(0, within.low) if within else 0
    high = min(_LARGEST[kind], within.high) if within else _LARGEST[kind]
    if kind is int:
        return shop.chance.randint(int(low), int(high))
    drawn = round(shop.chance.uniform(low, high), shop.chance.choice((0, 1, 4)))
    return drawn if within is None or within.holds(drawn) else None


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return value["kind"]
    return str(value).lower() if isinstance(value, bool) else str(value)
