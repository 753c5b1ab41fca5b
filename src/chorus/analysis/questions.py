"""The questions that are asked of runs, in one table: what is compared with what, and how the answer begins.

The main questions are about the paper's four algorithms. Beside them every other variant is compared with the plain
ensemble and with the single agent, for members and for the vote, and every swept setting has its trends.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from chorus.analysis.effects import Term, minus, trend
from chorus.analysis.grouping import ComparisonGroup, SweepAxis, find_sweep_axes
from chorus.analysis.results import DIVERSITIES, Results, Series
from chorus.analysis.variants import CAPACITY, Variant


@dataclass(frozen=True, kw_only=True)
class Question:
    """An effect to measure; `sign` is the sign that means yes.

    `missing` says what was not run, in which case there are no terms.
    """

    text: str
    sign: int
    terms: tuple[Term, ...] = ()
    yes: str = "Yes."
    no: str = "No."
    level: str = "They are level"
    """The beginning of the answer where the difference is too small to matter."""
    main: bool = False
    family: str = ""
    """Whose main question it is; empty for all further comparisons. P-values are corrected within a family."""
    reference: int = 1
    """The term whose score is the reference."""
    label: str = ""
    """What the number is, where it is more than a difference of two scores."""
    missing: str = ""


@dataclass(frozen=True)
class Pair:
    """A main question about two roles of a comparison group, each with the policy it is judged by."""

    first: tuple[str, str]
    second: tuple[str, str]
    text: str
    sign: int
    yes: str
    no: str
    level: str
    announced: bool = field(default=False, kw_only=True)
    """Whether the answer "not run" is worth saying where one of the two is missing."""


MAIN = (
    Pair(
        ("ensemble", "individual"), ("single", "individual"),
        "Is there a curse of diversity?", -1,
        "Yes: a member of the ensemble is worse than an agent on its own.",
        "No: a member of the ensemble is better than an agent on its own.",
        "A member of the ensemble is as good as an agent on its own",
        announced=True,
    ),
    Pair(
        ("ensemble", "aggregate"), ("ensemble", "individual"),
        "Does acting together help?", 1,
        "Yes: together the members are better than one by one.",
        "No: together the members are worse than one by one.",
        "Together the members are as good as one by one",
    ),
    Pair(
        ("ensemble", "aggregate"), ("single", "individual"),
        "Is the ensemble, acting together, better than a single agent?", 1,
        "Yes: acting together more than makes up for the curse.",
        "No: even acting together the ensemble is worse.",
        "Acting together the ensemble is as good as a single agent",
    ),
    Pair(
        ("tandem", "passive"), ("tandem", "active"),
        "Does a passive member fall behind on the same data?", -1,
        "Yes: learning from another member's data is what hurts.",
        "No: the passive member is even better.",
        "The passive member is as good as the active one",
    ),
    Pair(
        ("cerl", "individual"), ("ensemble", "individual"),
        "Does CERL help the members?", 1,
        "Yes: a member trained with CERL is better than a plain one.",
        "No: members trained with CERL are worse.",
        "Members trained with CERL are as good as plain ones",
        announced=True,
    ),
    Pair(
        ("cerl", "aggregate"), ("ensemble", "aggregate"),
        "Does CERL help the ensemble acting together?", 1,
        "Yes: acting together, members trained with CERL are better than plain ones.",
        "No: acting together, members trained with CERL are worse.",
        "Acting together, members trained with CERL are as good as plain ones",
    ),
    Pair(
        ("larger", "individual"), ("ensemble", "individual"),
        "Does a larger replay help the members?", 1,
        "Yes: members are better with the larger replay.",
        "No: members are worse with the larger replay.",
        "Members are as good with either replay",
    ),
    Pair(
        ("larger", "aggregate"), ("ensemble", "aggregate"),
        "Does a larger replay help the ensemble acting together?", 1,
        "Yes: acting together is better with the larger replay.",
        "No: acting together is worse with the larger replay.",
        "Acting together is as good with either replay",
    ),
)  # fmt: skip
_ROLE_NAMES = {"single": "single agent", "ensemble": "plain ensemble", "cerl": "CERL", "tandem": "tandem"}


def find_questions(results: Results, groups: Sequence[ComparisonGroup]) -> list[Question]:
    """All questions, in reading order: the main ones, then every variant, then every swept setting."""
    several = len(groups) > 1
    main = [question for group in groups for question in main_questions(results, group, named=several)]
    asked = {_key(question) for question in main}
    more = [question for group in groups for question in variant_questions(results, group)]
    trends = [question for axis in find_sweep_axes(results) for question in trend_questions(results, axis)]
    found = {_key(question): question for question in [*more, *trends] if _key(question) not in asked}
    return [*main, *found.values()]


def main_questions(results: Results, group: ComparisonGroup, *, named: bool = False) -> Iterator[Question]:
    """`named` adds the algorithm to the question, because another group asks the same."""
    title = (group.ensemble or group.cerl or group.tandem or group.variants[0]).title
    for pair in MAIN:
        first, second = (_find(results, group, *who) for who in (pair.first, pair.second))
        asked = Question(text=f"{pair.text} ({title})" if named else pair.text, sign=pair.sign, main=True, family=title)
        if first and second:
            yield replace(asked, terms=minus(first, second), yes=pair.yes, no=pair.no, level=pair.level)
        elif pair.announced and (beside := first or second):
            lacking = _ROLE_NAMES[(pair.second if first else pair.first)[0]]
            yield replace(asked, missing=f"No {lacking} was run beside {beside.variant.label}.")


def variant_questions(results: Results, group: ComparisonGroup) -> Iterator[Question]:
    """Every variant against the plain ensemble and against the single agent; tandems against themselves."""
    if group.single and group.ensemble and group.tandem:
        yield from _gap_questions(results, group, group.tandem)
    for variant in group.variants:
        if variant.role == "tandem":
            pairs = [(_series(results, variant, "passive"), _series(results, variant, "active"))]
        else:
            plain, single = group.plain(variant), group.alone(variant)
            policies = ("individual", "aggregate") if variant.members > 1 else ("individual",)
            own = [_series(results, variant, policy) for policy in policies]
            pairs = [(s, _series(results, plain, s.policy)) for s in own if s and plain and variant.members > 1]
            pairs += [(s, single) for s in own if s and single and s.variant is not single.variant]
            # An ensemble of critics with one policy, beside the ensemble of agents.
            if plain and variant.members == 1 and variant.critics > plain.critics:
                pairs += [(_series(results, plain, policy), own[0]) for policy in ("individual", "aggregate")]
            # A member that never acts, beside those whose data it learns from.
            observer = _series(results, variant, "observer")
            pairs += [(observer, other) for other in (own[0], single) if observer]
        for first, second in pairs:
            if first and second:
                yield better_than(first, second)


def better_than(first: Series, second: Series) -> Question:
    return Question(
        text=f"Is {first.label} better than {second.label}?",
        sign=1,
        terms=minus(first, second),
        yes="Yes.",
        no="No, worse.",
        level="They are level",
    )


def tandem_gap(tandem: Variant) -> tuple[Term, ...]:
    return minus(Series(tandem, "active"), Series(tandem, "passive"))


def _gap_questions(results: Results, group: ComparisonGroup, tandem: Variant) -> Iterator[Question]:
    """The paper compares the gap within the tandem with the gap between single agent and ensemble."""
    members = _find(results, group, "ensemble", "individual")
    if members and group.single and _series(results, tandem, "passive") and _series(results, tandem, "active"):
        curse = minus(members, group.single)
        yield Question(
            text="Is the gap within the tandem larger than the gap of the ensemble?",
            sign=1,
            terms=(*tandem_gap(tandem), *curse),
            yes="Yes.",
            no="No, smaller.",
            level="The two gaps are equal",
            reference=3,
            label="(active minus passive) minus (single agent minus members)",
        )
        passive = Series(tandem, "passive")
        yield better_than(members, passive)


def trend_questions(results: Results, axis: SweepAxis) -> Iterator[Question]:
    """How scores, the gain of acting together and diversity change with a swept setting."""
    title = axis.style.title
    singles = {}
    # Of published runs nothing is asked.
    for line in (line for line in axis.lines if line[0].role != "published"):
        label = axis.line_label(line)
        by_policy = {
            policy: [minus_nothing(s) for v in line if (s := _series(results, v, policy))]
            for policy in ("individual", "aggregate", "active", "passive")
        }
        whole = {policy: own for policy, own in by_policy.items() if len(own) == len(line)}
        if line[0].role == "single":
            singles[line[0].group] = line
        for policy, own in whole.items():
            name = Series(line[0], policy).label.replace(line[0].label, label)
            yield _trend(axis, line, own, f"Is {name} better with a larger {title}?", f"change of {name}")
        for (high, low), gap in _GAPS.items():
            if high in whole and low in whole:
                own = [minus(Series(v, high), Series(v, low)) for v in line]
                text = f"Does the gap between {gap} of {label} grow with the {title}?"
                yield _trend(axis, line, own, text, f"change of the gap between {gap}")
        for measure in DIVERSITIES:
            if "individual" in whole and all(_measured(results, v, measure.metric) for v in line):
                own = [(Term(1.0, Series(v, "individual"), measure),) for v in line]
                text = f"Does the {measure.name} of {label} grow with the {title}?"
                yield _trend(axis, line, own, text, f"change of the {measure.name}")
    for line in axis.lines:
        yield from _curse_trend(axis, line, singles.get(line[0].group))


_GAPS = {("aggregate", "individual"): "acting together and members", ("active", "passive"): "active and passive member"}


def _curse_trend(axis: SweepAxis, line: Sequence[Variant], singles: Sequence[Variant] | None) -> Iterator[Question]:
    """How the gap to the single agent changes, where the single agent was swept as well."""
    if singles is None or line[0].members == 1 or axis.path != CAPACITY:
        return
    alone = {axis.value(v): Series(v, "individual") for v in singles}
    shared = [v for v in line if axis.value(v) in alone]
    if len(shared) > 1:
        own = [minus(Series(v, "individual"), alone[axis.value(v)]) for v in shared]
        label = axis.line_label(line)
        text = f"Does the curse of {label} shrink with a larger {axis.style.title}?"
        yield _trend(axis, shared, own, text, "change of members minus single agent", reference=1)


def _trend(
    axis: SweepAxis,
    line: Sequence[Variant],
    own: Sequence[tuple[Term, ...]],
    text: str,
    label: str,
    reference: int = 0,
) -> Question:
    values = [axis.value(v) for v in line]
    return Question(
        text=text,
        sign=1,
        terms=trend(values, own, log=axis.style.log),
        yes="Yes.",
        no="No, the opposite.",
        level="It hardly changes",
        reference=reference,
        label=f"{label} from {axis.style.title} {values[0]:g} to {values[-1]:g} along a fitted line",
    )


def minus_nothing(series: Series) -> tuple[Term, ...]:
    """The score itself."""
    return (Term(1.0, series),)


def _key(question: Question) -> object:
    return tuple(question.terms) or question.text


def _find(results: Results, group: ComparisonGroup, role: str, policy: str) -> Series | None:
    if role == "single":
        return group.single
    return _series(results, getattr(group, role), policy)


def _series(results: Results, variant: Variant | None, policy: str) -> Series | None:
    """None if the variant was not run or not evaluated with this policy."""
    if variant is None or policy not in results.dataset.policies(variant):
        return None
    return Series(variant, policy)


def _measured(results: Results, variant: Variant, metric: str) -> bool:
    return any(results.metric_curve(variant, env, metric) for env in results.envs)
