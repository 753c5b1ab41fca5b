"""What each statistical claim of the paper asks of runs: functions from evidence to checks.

`chorus.analysis.ledger.table` has the claims with their numbers.
"""

from collections.abc import Callable

from chorus.analysis.ledger.checks import AtLeast, Check, Contrast, Differs, InMost, NoGain, OnlyWith, SomeNotAll
from chorus.analysis.ledger.evidence import AGGREGATE, INDIVIDUAL, Evidence, Terms, difference, weighted
from chorus.analysis.ledger.other_checks import CostRatio, GapsCorrelate, ShareBelow
from chorus.analysis.results import Series
from chorus.analysis.variants import CAPACITY, MEMBERS, PASSIVE_SHARE, SHARED_LAYERS


def curse(e: Evidence) -> list[Check]:
    terms = difference(e.role("ensemble"), e.single)
    return [
        Contrast(what="members − single agent", terms=terms, sign=-1),
        InMost(what="members − single agent, by game", terms=terms, sign=-1, share=0.5),
    ]


def curse_in_most(e: Evidence) -> list[Check]:
    return [InMost(what="members − single agent", terms=difference(e.role("ensemble"), e.single), sign=-1, share=0.75)]


def together(e: Evidence) -> list[Check]:
    terms = difference(e.role("ensemble", AGGREGATE), e.role("ensemble"))
    return [
        Contrast(what="together − members", terms=terms),
        InMost(what="together − members, by game", terms=terms, share=0.8),
    ]


def gain_comes_from_voting(e: Evidence) -> list[Check]:
    return [
        OnlyWith(
            what="members − single agent",
            terms=difference(e.role("ensemble"), e.single),
            given=difference(e.role("ensemble", AGGREGATE), e.single),
            sign=-1,
        )
    ]


def compensates_in_some(e: Evidence) -> list[Check]:
    terms = difference(e.role("ensemble", AGGREGATE), e.single)
    return [SomeNotAll(what="together − single agent", terms=terms)]


def passive_behind_active(e: Evidence) -> list[Check]:
    terms = difference(e.role("tandem", "passive"), e.role("tandem", "active"))
    return [Contrast(what="passive − active", terms=terms, sign=-1)]


def _tandem_gap(e: Evidence) -> Terms | None:
    return difference(e.role("tandem", "active"), e.role("tandem", "passive"))


def _gap_of_gaps(e: Evidence) -> Terms | None:
    return weighted((1.0, _tandem_gap(e)), (1.0, difference(e.role("ensemble"), e.single)))


_GAPS = "(active − passive) − (single − members)"


def tandem_gap_at_least(e: Evidence) -> list[Check]:
    return [AtLeast(what=_GAPS, terms=_gap_of_gaps(e), reference=3)]


def tandem_gap_larger(e: Evidence) -> list[Check]:
    """Without a gap within the tandem there is nothing that could be larger."""
    gap = Contrast(what="active − passive", terms=_tandem_gap(e))
    return [gap, Contrast(what=_GAPS, terms=_gap_of_gaps(e), reference=3)]


def gaps_correlate(e: Evidence) -> list[Check]:
    what = "tandem gap and ensemble gap"
    return [GapsCorrelate(what=what, single=e.single, ensemble=e.group.ensemble, tandem=e.group.tandem)]


def members_above_passive(e: Evidence) -> list[Check]:
    terms = difference(e.role("ensemble"), e.role("tandem", "passive"))
    return [Contrast(what="members − passive", terms=terms)]


def large_buffer_keeps_gap(e: Evidence) -> list[Check]:
    line = e.line("bootstrapped-dqn", CAPACITY)
    terms = e.gap(line[-1]) if line else None
    return [Contrast(what="members − single agent, largest replay", terms=terms, sign=-1)]


def large_buffer_removes_gap(e: Evidence) -> list[Check]:
    """Without a gap at the smallest replay there is nothing to remove."""
    line = e.line("ensemble-sac", CAPACITY)
    before, after = (e.gap(line[0]), e.gap(line[-1])) if line else (None, None)
    return [
        Contrast(what="members − single agent, smallest replay", terms=before, sign=-1),
        AtLeast(what="members − single agent, largest replay", terms=after),
    ]


def small_buffers_hurt_more(e: Evidence) -> list[Check]:
    line = e.line("ensemble-sac", CAPACITY)
    terms = e.over(line, CAPACITY, e.gap) if line else None
    return [Contrast(what="change of members − single agent with the replay", terms=terms)]


def _three_trends(e: Evidence, path: str, sign: int, **settings: int | None) -> list[Check]:
    """Members, diversity and the gain of acting together change with a setting."""
    line = e.line("bootstrapped-dqn", path, **settings)
    return [
        Contrast(what="change of members", terms=e.over(line, path, e.score), sign=-sign, reference=0),
        Contrast(what="change of diversity", terms=e.over(line, path, e.diversity), sign=sign, reference=0),
        Contrast(what="change of together − members", terms=e.over(line, path, e.gain), sign=sign, reference=0),
    ]


def smaller_ensembles(e: Evidence) -> list[Check]:
    return _three_trends(e, MEMBERS, 1)


def more_sharing(e: Evidence) -> list[Check]:
    return _three_trends(e, SHARED_LAYERS, -1)


def sharing_with_large_buffer(e: Evidence) -> list[Check]:
    sizes = sorted({v.capacity or 0 for v in e.group.variants if v.preset == "bootstrapped-dqn"})
    large = sizes[-1] if len(sizes) > 1 else None
    line = e.line("bootstrapped-dqn", SHARED_LAYERS, **{CAPACITY: large}) if large else ()
    plain = e.series(line[0], AGGREGATE) if line else None
    beats = InMost(what="together − single agent, large replay", terms=difference(plain, e.alone(plain)), share=0.75)
    return [beats, *(_three_trends(e, SHARED_LAYERS, -1, **{CAPACITY: large}))]


def cerl_helps(e: Evidence) -> list[Check]:
    return [
        Contrast(what="CERL − plain, members", terms=difference(e.role("cerl"), e.role("ensemble"))),
        Contrast(
            what="CERL − plain, together", terms=difference(e.role("cerl", AGGREGATE), e.role("ensemble", AGGREGATE))
        ),
        Contrast(what="CERL together − single agent", terms=difference(e.role("cerl", AGGREGATE), e.single)),
    ]


def cerl_gives_back_half(e: Evidence) -> list[Check]:
    """A gap that shrinks to a sixth, as in the paper, is one of which clearly more than half is given back."""
    terms = weighted((0.5, difference(e.role("cerl"), e.role("ensemble"))), (0.5, difference(e.role("cerl"), e.single)))
    half = Contrast(what="CERL's members − middle between members and single agent", terms=terms, reference=3)
    return [*curse(e), half]


def sharing_trades_diversity(e: Evidence) -> list[Check]:
    shared, plain = e.shared("bootstrapped-dqn"), e.role("ensemble")
    both = difference(e.shared("bootstrapped-dqn", AGGREGATE), e.role("ensemble", AGGREGATE))
    diversity = weighted((1.0, e.diversity(shared.variant if shared else None)), (-1.0, e.diversity(e.group.ensemble)))
    return [
        Contrast(what="shared − plain, members", terms=difference(shared, plain)),
        NoGain(what="shared − plain, together", terms=both),
        Contrast(what="shared − plain, diversity", terms=diversity, sign=-1),
    ]


def cerl_keeps_diversity(e: Evidence) -> list[Check]:
    shared = e.shared("bootstrapped-dqn")
    cerl, plain = e.diversity(e.group.cerl), e.diversity(e.group.ensemble)
    least = e.diversity(shared.variant if shared else None)
    return [
        Contrast(what="CERL − shared, diversity", terms=weighted((1.0, cerl), (-1.0, least))),
        Contrast(
            what="CERL − middle between plain and shared, diversity",
            terms=weighted((1.0, cerl), (-0.5, plain), (-0.5, least)),
        ),
    ]


def cerl_costs_little(e: Evidence) -> list[Check]:
    return [CostRatio(what="CERL / plain", first=e.role("cerl"), second=e.role("ensemble"), most=1.1)]


def ensembles_cost(e: Evidence) -> list[Check]:
    """The paper's ratios are those of ten members."""
    ensemble, shared = e.role("ensemble"), e.shared("bootstrapped-dqn")
    if e.continuous:
        return [CostRatio(what="ensemble / single agent, SAC", first=ensemble, second=e.single, most=2.5, members=10)]
    return [
        CostRatio(what="ensemble / single agent", first=ensemble, second=e.single, most=1.75, members=10),
        CostRatio(what="shared / single agent", first=shared, second=e.single, most=1.5, members=10),
    ]


def against_plain(preset: str, kind: type[Contrast] = NoGain) -> Callable[[Evidence], list[Check]]:
    """An ablation compared with the plain ensemble, by default said not to help."""

    def check(e: Evidence) -> list[Check]:
        return [
            kind(what=f"{preset} − plain, {name}", terms=difference(e.preset(preset, p), e.role("ensemble", p)))
            for p, name in ((INDIVIDUAL, "members"), (AGGREGATE, "together"))
        ]

    return check


def life_loss_curse(e: Evidence) -> list[Check]:
    members = e.preset("life-loss")
    return [Contrast(what="members − single agent, life loss", terms=difference(members, e.alone(members)), sign=-1)]


def passive_share_shrinks_gap(e: Evidence) -> list[Check]:
    line = e.line("tandem", PASSIVE_SHARE)
    terms = e.over(line, PASSIVE_SHARE, lambda v: e.gain(v, "active", "passive"))
    return [Contrast(what="change of active − passive with the passive share", terms=terms, sign=-1, reference=0)]


def bootstrapping_hurts(e: Evidence) -> list[Check]:
    return [
        Contrast(
            what=f"data bootstrapping − plain, {name}",
            terms=difference(e.preset("data-bootstrapped", p), e.role("ensemble", p)),
            sign=-1,
        )
        for p, name in ((INDIVIDUAL, "members"), (AGGREGATE, "together"))
    ]


def cerl_improves_with_size(e: Evidence) -> list[Check]:
    line = e.line("cerl", MEMBERS)
    return [
        Contrast(what=f"change of {name} with N", terms=e.over(line, MEMBERS, score), reference=0)
        for name, score in (
            ("CERL's members", e.score),
            ("CERL together", lambda v: e.score(v, AGGREGATE)),
        )
    ]


def self_target(e: Evidence) -> list[Check]:
    if e.continuous:
        other = e.preset("ensemble-sac-cerl-self-target")
        return [Contrast(what="self-target − CERL, members, SAC", terms=difference(other, e.role("cerl")), sign=-1)]
    other = e.preset("cerl-self-target")
    return [Contrast(what="self-target − plain, members", terms=difference(other, e.role("ensemble")))]


def cerl_with_sharing(e: Evidence) -> list[Check]:
    return [
        NoGain(
            what=f"shared CERL − shared, {name}",
            terms=difference(e.shared("cerl", p), e.shared("bootstrapped-dqn", p)),
        )
        for p, name in ((INDIVIDUAL, "members"), (AGGREGATE, "together"))
    ]


def auxiliary_tasks(e: Evidence) -> list[Check]:
    parts = [check for kind in ("mh", "mico") for check in against_plain(f"bootstrapped-dqn-{kind}")(e)]
    hurt = difference(e.preset("double-dqn-mico"), e.single)
    return [*parts, Contrast(what="MICo − single agent", terms=hurt, sign=-1)]


def huber_shields(e: Evidence) -> list[Check]:
    loss, auxiliary = "agent.loss.kind", "agent.loss.auxiliary.kind"
    preset, fault = "ensemble-sac-cerl", "diverging_member"
    squared = e.preset(preset, "bystander", **{loss: fault, auxiliary: "squared"})
    huber = e.preset(preset, "bystander", **{loss: fault, auxiliary: "twice_huber"})
    sound = e.preset(preset, "bystander", **{loss: "main_and_auxiliary", auxiliary: "twice_huber"})
    return [
        Contrast(what="bystander with Huber − with squared errors", terms=difference(huber, squared)),
        AtLeast(what="bystander with − without a diverging member, Huber", terms=difference(huber, sound)),
    ]


def sampling_noise(e: Evidence) -> list[Check]:
    """What averaging gains with sampled actions beyond what it gains with modes."""
    sampled = difference(e.role("ensemble", AGGREGATE), e.role("ensemble"))
    modes = difference(e.role("ensemble", "aggregate-mode"), e.role("ensemble", "individual-mode"))
    terms = weighted((1.0, sampled), (-1.0, modes))
    return [Contrast(what="gain of averaging samples − of averaging modes", terms=terms)]


def hyperparameters_matter(e: Evidence) -> list[Check]:
    axes = {"exploration.decay_steps": "epsilon decay", "agent.optimizer.epsilon": "optimizer's epsilon"}
    return [_change_of_curse(e, path, name) for path, name in axes.items()]


def _change_of_curse(e: Evidence, path: str, name: str) -> Check:
    """Members minus single agent with the largest value of a setting, minus the same with the smallest.

    Where the single agent scores less than half as much, less is left that members could lose.
    """
    what = f"change of members − single agent with the {name}"
    members, single = (_ends(e, preset, path) for preset in ("bootstrapped-dqn", "double-dqn"))
    if members is None or single is None:
        return Differs(what=what, terms=None)
    low, high = (difference(first, second) for first, second in zip(members, single, strict=True))
    objection = (
        "" if e.comparable_levels(*single) else "with one of the values the single agent scores less than half as much"
    )
    return Differs(what=what, terms=weighted((1.0, high), (-1.0, low)), objection=objection)


def _ends(e: Evidence, preset: str, path: str) -> tuple[Series | None, Series | None] | None:
    """The variants with the smallest and the largest value of a setting, all else as in the usual one."""
    own = [v for v in e.group.variants if v.preset == preset and v.number(path) is not None]
    if not own:
        return None
    usual = min(own, key=lambda v: v.rank)
    line = [v for v in own if v is usual or (v.distance(usual) == 1 and v.number(path) != usual.number(path))]
    line.sort(key=lambda v: v.number(path) or 0.0)
    return (e.series(line[0], INDIVIDUAL), e.series(line[-1], INDIVIDUAL)) if len(line) > 1 else None


def hard_games(e: Evidence) -> list[Check]:
    return [ShareBelow(what="games with a score below 0.05", single=e.single, limit=0.05, share=8 / 55, fewest=50)]
