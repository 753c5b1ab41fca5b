"""What moves inside the members beside their scores: features, data and disagreement.

Two questions are asked of each measure: how members of an ensemble differ from a single agent (the curse), and how
CERL's differ from plain ones; and within a tandem, how the passive member differs from the active one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Effect, Term, measure
from chorus.analysis.grouping import ComparisonGroup
from chorus.analysis.results import DISTANCES, VOTES, Measure, Series
from chorus.analysis.variants import Variant

RANK = Measure(
    "members/effective_rank/mean",
    "effective rank",
    "directions",
    "singular values that make up 99 % of the sum, of the features that a member's last layer reads; at most as many",
)
OFF_POLICY = Measure(
    "replay/off_policy/mean",
    "off-policy share",
    "",
    "how often the stored action is not the member's greedy one",
)
DISAGREEMENT = Measure(
    "diversity/disagreement/replay",
    "disagreement",
    "",
    "chance that two members have different greedy actions in a state of the replay",
)
MEASURES: tuple[Measure, ...] = (RANK, OFF_POLICY, DISAGREEMENT, VOTES, DISTANCES)
CERL = "CERL − plain, members"
# The member that acts in most episodes, and the one that mostly watches (`chorus.training.acting`).
ACTIVE, PASSIVE = "member_0", "member_1"


@dataclass(frozen=True)
class Movement:
    """A measure and its change from one kind of member to another."""

    measure: Measure
    what: str
    effect: Effect

    @property
    def words(self) -> str:
        """Rises, falls, hardly moves or not settled, by the rule of all verdicts."""
        return {"yes": "rises", "no": "falls", "negligible": "hardly moves"}.get(self.effect.verdict(1), "not settled")


def movements(context: AnalysisContext, group: ComparisonGroup) -> Iterator[Movement]:
    """Every measure that both sides of a comparison recorded."""
    single = group.single.variant if group.single else None
    pairs = (("members − single agent", group.ensemble, single), (CERL, group.cerl, group.ensemble))
    for one in MEASURES:
        for what, first, second in pairs:
            # Alone, an agent agrees with itself.
            alone = second is not None and second.members == 1
            if first and second and not (alone and one in (DISAGREEMENT, VOTES, DISTANCES)):
                yield from _moved(
                    context, one, what, (Term(1.0, _members(first), one), Term(-1.0, _members(second), one))
                )
        if group.tandem:
            passive, active = (
                Term(weight, _members(group.tandem), _of_member(one, who))
                for weight, who in ((1.0, PASSIVE), (-1.0, ACTIVE))
            )
            yield from _moved(context, one, "passive − active", (passive, active))


def _moved(context: AnalysisContext, one: Measure, what: str, terms: tuple[Term, ...]) -> Iterator[Movement]:
    if effect := measure(context, terms):
        yield Movement(one, what, effect)


def _members(variant: Variant) -> Series:
    return Series(variant, "individual")


def _of_member(one: Measure, member: str) -> Measure:
    """The measure of one member; measures of the whole ensemble have none, so nothing is found under this name."""
    return replace(one, metric=f"{one.metric.removesuffix('/mean')}/{member}")
