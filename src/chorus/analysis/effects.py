"""Effects: weighted sums of final scores with an interval, and the one rule that turns an effect into a verdict.

A difference has the weights +1 and -1, a difference of two gaps has four, and a trend over a swept setting has one per
value. Every sentence, table, diagnosis and claim of Chorus is an effect judged by `Effect.verdict`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from chorus.analysis import intervals
from chorus.analysis.bootstrap import ENOUGH_SEEDS, FEWEST_RUNS, IntervalEstimate
from chorus.analysis.comparisons import MEAN, centre, normalised_matrix
from chorus.analysis.context import AnalysisContext
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Final, Measure, Results, Series, stack_ragged
from chorus.analysis.variants import CAPACITY
from chorus.analysis.wording import interval, number, percent, signed

Verdict = Literal["yes", "no", "negligible", "unsettled", "missing"]
VERDICT_WORDS: dict[Verdict, str] = {
    "yes": "yes",
    "no": "no",
    "negligible": "too small to matter",
    "unsettled": "not settled",
    "missing": "not run",
}
# A difference below this share of the reference score would not change what anybody uses.
NEGLIGIBLE = 0.05
# Ends of the interval of a ratio are found by bisection between plus and minus this.
MOST_MULTIPLE, RATIO_STEPS = 16.0, 16


class Term(NamedTuple):
    """One score of an effect and its weight; with a `measure` what it measures instead of the return."""

    weight: float
    series: Series
    measure: Measure | None = None

    @property
    def metric(self) -> str:
        return self.measure.metric if self.measure else self.series.metric


@dataclass(frozen=True)
class Effect:
    """A weighted sum of final scores; in a single environment in returns, otherwise in normalised scores.

    `reference` is the score that shares relate to and `levels` are the scores of the terms, all in the same unit.
    """

    terms: tuple[Term, ...]
    envs: tuple[str, ...]
    estimate: IntervalEstimate
    p_value: float
    unit: str
    centre: str
    levels: tuple[float, ...]
    reference: float | None
    """None if it is not positive or a share of it means nothing."""

    @property
    def margin(self) -> float | None:
        """Differences within plus or minus this are too small to matter.

        Scores that have no reference have a unit that is a range: from the worst run to the best, or of a human.
        """
        if self.reference is not None:
            return NEGLIGIBLE * self.reference
        return NEGLIGIBLE if self.unit.startswith("score") else None

    @property
    def negligible(self) -> bool:
        """Whether the whole interval lies within the margin, with enough seeds to trust it."""
        found, margin = self.estimate, self.margin
        return margin is not None and found.runs >= ENOUGH_SEEDS and -margin <= found.low and found.high <= margin

    def verdict(self, sign: int) -> Verdict:
        """Yes if the interval excludes zero on the side of `sign`, no if on the other side."""
        found = self.estimate
        if not found.has_interval or found.runs < FEWEST_RUNS:
            return "unsettled"
        if self.negligible:
            return "negligible"
        if not found.settled:
            return "unsettled"
        return "yes" if np.sign(found.value) == sign else "no"

    def written(self, value: float) -> str:
        """Returns with about three digits, scores with two decimals."""
        return signed(value) if self.unit == "return" else f"{value:+.2f}"

    def sentence(self, label: str = "") -> str:
        """`A scores 31 % below B: IQM 0.69 against 1.00, difference -0.31 (95 % interval -0.38 to -0.24, 5 seeds).`

        `label` says what the number is if it is more than a difference of two scores.
        """
        value, size = self.estimate.value, f"({interval(self.estimate, self.written)})"
        if label or len(self.terms) != 2:
            return f"{label[:1].upper()}{label[1:]}: {self.written(value)} {size}, in {self.unit}."
        first, second = (term.series.label for term in self.terms)
        few = self.estimate.runs < FEWEST_RUNS
        ratio = "" if few or self.reference is None else f"{percent(abs(value) / self.reference, careful=True)} "
        level = value == 0 or (self.reference is not None and abs(value) < 0.005 * self.reference)
        place = "level with" if level else f"{ratio}{'above' if value > 0 else 'below'}"
        high, low = (number(x) if self.unit == "return" else f"{x:.2f}" for x in self.levels)
        what = f"{self.centre} return" if self.unit == "return" else self.centre
        return f"{first} scores {place} {second}: {what} {high} against {low}, difference {self.written(value)} {size}."


def minus(first: Series, second: Series) -> tuple[Term, ...]:
    return Term(1.0, first), Term(-1.0, second)


def trend(values: Sequence[float], terms: Sequence[tuple[Term, ...]], *, log: bool) -> tuple[Term, ...]:
    """The change along a fitted line from the smallest to the largest value, of an effect at each value."""
    x = np.log(values) if log else np.asarray(values, dtype=np.float64)
    away = x - x.mean()
    weights = away * (x.max() - x.min()) / np.sum(away**2)
    return tuple(term._replace(weight=w * term.weight) for w, own in zip(weights, terms, strict=True) for term in own)


def measure(
    context: AnalysisContext, terms: Sequence[Term], *, reference: int = 1, envs: Sequence[str] | None = None
) -> Effect | None:
    """The effect over the environments that all terms share; None if there is none.

    Without `envs`, environments with too few seeds count only if there are no others, so that a first seed in a new
    environment does not hide what many seeds have settled elsewhere. `reference` is the position of the term whose
    score is the reference.
    """
    if not terms:
        return None
    results, normalisation = context.results, context.normalisation
    if envs is None:
        envs = envs_with_seeds(context, terms, FEWEST_RUNS) or envs_with_seeds(context, terms)
    shared = tuple(env for env in results.envs if env in envs and all(_final(results, t, env) for t in terms))
    if not shared:
        return None
    other = terms[0].measure
    if other:
        matrices = [_metric_matrix(results, term, shared) for term in terms]
    else:
        matrices = [normalised_matrix(results, term.series, shared, normalisation) for term in terms]
    runs, most_runs = intervals.runs_between(matrices)
    # With few environments and different numbers of seeds the intervals of the IQM are too narrow (docs/report.md).
    middle = MEAN if other or runs < most_runs else centre(shared)
    blocks = [_block(results, term, shared) for term in terms]
    weights = [term.weight for term in terms]
    found = intervals.combine([middle.influence(m) for m in matrices], weights, blocks, runs)
    levels = [float(middle.of(matrix)) for matrix in matrices]
    base = levels[min(reference, len(levels) - 1)]
    meaningful = base > 0 and (other is not None or normalisation.kind != "min-max")
    zero, slope = _returns(normalisation, shared[0]) if not other and len(shared) == 1 else (0.0, 1.0)
    value, low, high = (number / slope for number in (found.estimate.value, found.estimate.low, found.estimate.high))
    return Effect(
        terms=tuple(terms),
        envs=shared,
        estimate=IntervalEstimate(value, low, high, runs, most_runs),
        p_value=found.p_value,
        unit=other.axis if other else "return" if len(shared) == 1 else normalisation.axis,
        centre=middle.name,
        levels=tuple(zero + level / slope for level in levels),
        reference=base / slope if meaningful else None,
    )


def _returns(normalisation: Normalisation, env: str) -> tuple[float, float]:
    """The return whose score is zero, and the score of one return more."""
    at_zero, at_one = (float(normalisation.apply(env, np.array(x))) for x in (0.0, 1.0))
    slope = at_one - at_zero
    return -at_zero / slope, slope


def envs_with_seeds(context: AnalysisContext, terms: Sequence[Term], seeds: int = 1) -> tuple[str, ...]:
    """The environments with at least this many seeds of all terms."""
    finals = {env: [_final(context.results, term, env) for term in terms] for env in context.normalisation.envs}
    return tuple(env for env, own in finals.items() if all(f and len(f.values) >= seeds for f in own))


def ratio(context: AnalysisContext, above: Sequence[Term], below: Sequence[Term]) -> IntervalEstimate:
    """One effect as a multiple of another, which is settled to be positive, with Fieller's interval.

    A multiple r is within the interval if the effect `above - r x below` does not differ from zero.
    """
    found = [measure(context, terms) for terms in (above, below)]
    first, second = (effect.estimate for effect in found if effect is not None)

    def rest(multiple: float) -> IntervalEstimate:
        scaled = [term._replace(weight=-multiple * term.weight) for term in below]
        effect = measure(context, [*above, *scaled])
        assert effect is not None, "both effects were measured"
        return effect.estimate

    def root(end: str) -> float:
        """Where an end of the interval of the rest, which falls with the multiple, crosses zero."""
        low, high = -MOST_MULTIPLE, MOST_MULTIPLE
        for _ in range(RATIO_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if getattr(rest(middle), end) > 0 else (low, middle)
        return (low + high) / 2

    return IntervalEstimate(first.value / second.value, root("low"), root("high"), min(first.runs, second.runs))


def by_environment(context: AnalysisContext, effect: Effect, *, reference: int = 1) -> dict[str, Effect]:
    """The same effect in each of its environments."""
    found = {env: measure(context, effect.terms, reference=reference, envs=(env,)) for env in effect.envs}
    return {env: one for env, one in found.items() if one is not None}


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for the number of questions by Holm's method; NaN stays NaN and is not counted."""
    found = np.asarray(p_values, dtype=np.float64)
    order = [int(i) for i in np.argsort(found) if np.isfinite(found[i])]
    corrected, highest = np.full(len(found), np.nan), 0.0
    for rank, position in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * found[position]))
        corrected[position] = highest
    return [float(value) for value in corrected]


def _final(results: Results, term: Term, env: str) -> Final | None:
    return results.metric_final(term.series.variant, env, term.metric)


def _metric_matrix(results: Results, term: Term, envs: Sequence[str]) -> np.ndarray:
    finals = [_final(results, term, env) for env in envs]
    return stack_ragged([final.values for final in finals if final is not None])


def _block(results: Results, term: Term, envs: Sequence[str]) -> object:
    """Equal for terms whose rows belong together.

    Those of one variant come from the same runs. Variants that differ only in their replay capacity are compared seed
    by seed, because their runs are identical until the smaller replay is full.
    """
    own = term.series.variant.by_env[envs[0]]
    settings = repr(sorted((path, repr(value)) for path, value in own.items() if path != CAPACITY))
    return settings, tuple(final.seeds for env in envs if (final := _final(results, term, env)))
