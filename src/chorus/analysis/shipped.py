"""What other runs say of the main questions, beside one's own: those that ship with Chorus, or those of a folder.

The answers of the shipped runs and the names of these runs are part of the package (`data/evidence.json`, written by
`python examples/results_page.py`); the runs themselves are in results/ of the source tree.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Effect, Verdict, by_environment, measure
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.questions import main_questions

DATA = "evidence.json"
# How answers in the demo's setting are marked, and those in the setting of the reader's runs.
DEMO_SETTING, SAME_SETTING = "the setting of chorus demo", "the same setting"


@dataclass(frozen=True)
class Answer:
    """A main question and its answer over some environments."""

    question: str
    compared: str
    """The two series, the second subtracted from the first."""
    group: str
    envs: tuple[str, ...]
    verdict: Verdict
    estimate: IntervalEstimate
    unit: str
    setting: str = ""
    """Which setting the runs have; empty for that of the laptop scale."""

    @property
    def where(self) -> str:
        place = self.envs[0] if len(self.envs) == 1 else f"{len(self.envs)} environments"
        if self.setting == SAME_SETTING:
            return self.setting
        return f"{place}, {self.setting}" if self.setting else place


@dataclass(frozen=True)
class Beside:
    """Answers of other runs, and a sentence that says whose they are."""

    title: str
    intro: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Shipped:
    """What ships: the seeds of each configuration's runs in results/, and the answers."""

    seeds: dict[str, tuple[int, ...]]
    answers: tuple[Answer, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the runs."""
        return frozenset(f"{name}__s{seed}" for name, seeds in self.seeds.items() for seed in seeds)

    def beside(self, envs: Sequence[str], group: str = "dqn", setting: str = "") -> Beside | None:
        """The answers over all environments of a group and in these ones; None if there are none.

        Those of another setting than the laptop scale's come first. If it is that of the reader's runs, `setting`, they
        are marked as such.
        """
        own = [a for a in self.answers if a.group == group and (len(a.envs) > 1 or a.envs[0] in envs)]
        if not own:
            return None
        special, whole = ([a for a in own if bool(a.setting) == kind] for kind in (True, False))
        marked = [replace(a, setting=SAME_SETTING) if a.setting == setting else a for a in special]
        return Beside("What the shipped results say", _intro(marked, whole), (*marked, *whole))


def _intro(special: Sequence[Answer], whole: Sequence[Answer]) -> str:
    parts = [f"{setting} with other seeds (docs/demo.md)" for setting in dict.fromkeys(a.setting for a in special)]
    if whole:
        parts.append("the laptop scale with its own network, ensemble size and number of steps (docs/results.md)")
    return (
        f"From the runs that ship with Chorus, not from yours: {'; then '.join(parts)}. Differences in one environment "
        "are in returns, over several in scores."
    )


def find_answers(context: AnalysisContext) -> Iterator[Answer]:
    """The main questions over all environments, and in each of them; of several groups they name the algorithm."""
    groups = find_comparison_groups(context.results)
    for group in groups:
        for question in main_questions(context.results, group, named=len(groups) > 1):
            effect = measure(context, question.terms, reference=question.reference) if question.terms else None
            if effect is None:
                continue
            each = by_environment(context, effect, reference=question.reference)
            several: list[Effect] = [effect] if len(effect.envs) > 1 else []
            for one in (*several, *each.values()):
                if math.isfinite(one.estimate.value):
                    yield Answer(
                        question=question.text,
                        compared=" − ".join(term.series.label for term in question.terms),
                        group=group.variants[0].group,
                        envs=one.envs,
                        verdict=one.verdict(question.sign),
                        estimate=one.estimate,
                        unit=one.unit,
                    )


def to_json(answer: Answer) -> dict[str, Any]:
    numbers = (answer.estimate.value, answer.estimate.low, answer.estimate.high)
    value, low, high = (float(f"{x:.6g}") if math.isfinite(x) else None for x in numbers)
    return {
        "question": answer.question,
        "compared": answer.compared,
        "group": answer.group,
        "environments": list(answer.envs),
        "verdict": answer.verdict,
        "effect": value,
        "interval": [low, high],
        "seeds": answer.estimate.runs,
        "most_seeds": answer.estimate.most_runs or answer.estimate.runs,
        "unit": answer.unit,
        **({"setting": answer.setting} if answer.setting else {}),
    }


def _from_json(content: dict[str, Any]) -> Answer:
    low, high = (float("nan") if end is None else end for end in content["interval"])
    return Answer(
        question=content["question"],
        compared=content["compared"],
        group=content["group"],
        envs=tuple(content["environments"]),
        verdict=content["verdict"],
        estimate=IntervalEstimate(content["effect"], low, high, content["seeds"], content["most_seeds"]),
        unit=content["unit"],
        setting=content.get("setting", ""),
    )


@cache
def shipped() -> Shipped:
    """What ships with this version."""
    content = json.loads(files("chorus.data").joinpath(DATA).read_text(encoding="utf-8"))
    return Shipped(
        seeds={name: tuple(seeds) for name, seeds in content["runs"].items()},
        answers=tuple(map(_from_json, content["answers"])),
    )
