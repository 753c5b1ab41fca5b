"""Which variants belong together: a single agent and the ensemble, the tandem and the CERL it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chorus.analysis.results import Results, Series
from chorus.analysis.variants import Variant


@dataclass(frozen=True)
class Family:
    """The variants of one comparison; what was not run is None."""

    single: Series | None
    ensemble: Variant | None
    cerl: Variant | None
    tandem: Variant | None
    others: tuple["Family", ...] = ()
    """The same around the other plain ensembles, where a setting was swept."""


def find_families(results: Results) -> list[Family]:
    """One family a kind of estimate (DQN, QR-DQN, SAC); of several plain ensembles around the best supported one."""
    own = [v for v in results.dataset.variants if v.traits.role != "published"]
    families = []
    for kind in dict.fromkeys(v.traits.estimate for v in own):
        members = [v for v in own if v.traits.estimate == kind]
        ensembles = [v for v in members if v.traits.role == "ensemble" and v.traits.plain]
        main = max(ensembles, key=_support, default=None)
        others = tuple(_around(ensemble, members) for ensemble in ensembles if ensemble is not main)
        families.append(replace(_around(main, members), others=others))
    return families


def _around(ensemble: Variant | None, members: Sequence[Variant]) -> Family:
    near = ensemble or members[0]
    single = _nearest([v for v in members if v.traits.role == "single" and v.traits.plain], near)
    cerl = _nearest([v for v in members if v.traits.role == "cross"], near)
    tandem = _nearest([v for v in members if v.traits.role == "tandem"], near)
    return Family(Series(single, "individual") if single else None, ensemble, cerl, tandem)


def pairs_of_interest(family: Family) -> list[tuple[Series, Series]]:
    """What the paper compares: members and votes with the single agent, CERL with the plain, votes with members."""
    pairs = []
    for policy in ("individual", "aggregate"):
        if family.single and family.ensemble:
            pairs.append((Series(family.ensemble, policy), family.single))
        if family.ensemble and family.cerl:
            pairs.append((Series(family.cerl, policy), Series(family.ensemble, policy)))
    if family.ensemble:
        pairs.append((Series(family.ensemble, "aggregate"), Series(family.ensemble, "individual")))
    return pairs


def _nearest(candidates: Sequence[Variant], near: Variant) -> Variant | None:
    return min(candidates, key=near.distance, default=None)


def _support(variant: Variant) -> tuple[int, int, int]:
    return (len(variant.runs), -variant.traits.shared_layers, variant.traits.members)
