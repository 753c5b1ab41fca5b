"""Every data figure of the paper by its number, drawn from the runs of its study.

A recipe says which panels a figure has and which series they show, by role and policy. Panels whose
series were not run are left out; a figure without any panel left is refused with what it would need.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chorus.analysis import contrasts, drawings
from chorus.analysis.basis import Basis
from chorus.analysis.families import find_families
from chorus.analysis.figures import Drawing
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.swept import find_swept
from chorus.errors import ChorusError

Panels = dict[str, Drawing | None]


@dataclass(frozen=True)
class PaperFigure:
    """What a figure of the paper shows, the runs it needs, and how it is drawn."""

    shows: str
    needs: str
    draw: Callable[[Basis], Panels]
    by_single_agent: bool = False  # drawn in scores normalised by the single agent, where that is defined


def draw_paper_figure(basis: Basis, number: int) -> dict[str, Drawing]:
    """The panels of figure `number` as far as the runs allow."""
    if number not in PAPER_FIGURES:
        known = f"{min(PAPER_FIGURES)} to {max(PAPER_FIGURES)}"
        raise ChorusError(
            f"The paper has no data figure {number}; choose one of {known} (1 and 6 are diagrams, drawn by "
            "chorus.analysis.figures)."
        )
    figure = PAPER_FIGURES[number]
    if figure.by_single_agent:
        basis = basis.by_single_agent()
    panels = {name: drawing for name, drawing in figure.draw(basis).items() if drawing is not None}
    if not panels:
        raise ChorusError(f"Figure {number} ({figure.shows}) needs {figure.needs}; these runs have none of it.")
    return panels


def pick(basis: Basis, roles: Iterable[str], policies: Iterable[str]) -> list[Series]:
    """The series with one of these roles and policies; a single agent is only ever an individual, and always counts."""
    roles, wanted, alone = set(roles), set(policies), {"individual"}
    return [
        series
        for series in basis.results.series
        if series.variant.traits.role in roles
        and series.policy in (alone if series.variant.traits.members == 1 else wanted)
    ]


ENSEMBLES = ("ensemble", "cross", "cross_own", "horizons", "beside")


def together(basis: Basis) -> Panels:
    """Figure 2: single agent, members and votes; gains over the single agent; every environment."""
    series = pick(basis, ("single", "ensemble"), ("individual", "aggregate"))
    pairs = [
        (Series(f.ensemble, policy), f.single)
        for f in find_families(basis.results)
        if f.single and f.ensemble
        for policy in ("individual", "aggregate")
    ]
    return {
        "curves": drawings.learning(basis, series),
        "gains": contrasts.gains(basis, pairs),
        "environments": drawings.learning_grid(basis, series),
    }


def tandem_series(basis: Basis) -> list[Series]:
    return pick(basis, ("single", "ensemble"), ("individual",)) + pick(basis, ("tandem",), ("active", "passive"))


def tandem(basis: Basis) -> Panels:
    """Figure 3: the tandem between single agent and ensemble, and how the gaps go together."""
    found = [
        contrasts.tandem_gaps(basis, f.single, f.ensemble, f.tandem)
        for f in find_families(basis.results)
        if f.single and f.ensemble and f.tandem
    ]
    return {"curves": drawings.learning(basis, tandem_series(basis)), "gaps": found[0] if found else None}


def tandem_environments(basis: Basis) -> Panels:
    return {"environments": drawings.learning_grid(basis, tandem_series(basis))}


def by_policy(basis: Basis) -> Panels:
    """Votes in one panel, members in the other, the single agents in both; over all and by environment."""
    panels: Panels = {}
    for policy in ("aggregate", "individual"):
        series = pick(basis, ("single", *ENSEMBLES), (policy,))
        panels[f"curves-{policy}"] = drawings.learning(basis, series, title=policy)
        panels[f"environments-{policy}"] = drawings.learning_grid(basis, series)
    return panels


def cerl(basis: Basis) -> Panels:
    """Figure 7: curves by policy, diversity, and the buffer sweep."""
    panels = by_policy(basis)
    kept = {name: drawing for name, drawing in panels.items() if name.startswith("curves")}
    measured = {measure.name.replace(" ", "-"): contrasts.diversity(basis, measure) for measure in DIVERSITIES}
    return kept | measured | sweeps("buffer")(basis)


def environments(policy: str) -> Callable[[Basis], Panels]:
    """Figures 9 and 10: every game, one policy."""

    def draw(basis: Basis) -> Panels:
        series = pick(basis, ("single", *ENSEMBLES), (policy,))
        return {"environments": drawings.learning_grid(basis, series)}

    return draw


def sweeps(*fields: str) -> Callable[[Basis], Panels]:
    def draw(basis: Basis) -> Panels:
        found = [s for s in find_swept(basis.results) if s.field in fields]
        return {f"sweep-{s.field}": contrasts.sweep(basis, s) for s in found}

    return draw


def votes_over_members(basis: Basis) -> Panels:
    """Figure 12: what voting adds."""
    ensembles = [f.ensemble for f in find_families(basis.results) if f.ensemble]
    pairs = [(Series(v, "aggregate"), Series(v, "individual")) for v in ensembles]
    return {"gains": contrasts.gains(basis, pairs)}


def over_the_plain_ensemble(basis: Basis) -> Panels:
    """Figures 13, 27 and 28: whatever ensemble was run beside the plain one, against it, both policies."""
    pairs: list[tuple[Series, Series]] = []
    for family in find_families(basis.results):
        if family.ensemble is None:
            continue
        for variant in basis.results.dataset.variants:
            alike = variant.traits.estimate == family.ensemble.traits.estimate
            if alike and variant.traits.role in ENSEMBLES and variant is not family.ensemble:
                pairs += [(Series(variant, p), Series(family.ensemble, p)) for p in ("individual", "aggregate")]
    return {"gains": contrasts.gains(basis, pairs)}


BOTH = "a single agent and a plain ensemble"
PAPER_FIGURES: dict[int, PaperFigure] = {
    2: PaperFigure("the curse", BOTH, together),
    3: PaperFigure("the tandem", f"{BOTH} and a tandem", tandem),
    4: PaperFigure("replay capacity", "runs with several replay capacities", sweeps("buffer"), by_single_agent=True),
    5: PaperFigure(
        "size and shared layers",
        "runs with several of either",
        sweeps("members", "shared_layers"),
        by_single_agent=True,
    ),
    7: PaperFigure("CERL", f"{BOTH} and CERL", cerl),
    8: PaperFigure("the tandem by task", f"{BOTH} and a tandem", tandem_environments),
    9: PaperFigure("every game, votes", BOTH, environments("aggregate")),
    10: PaperFigure("every game, members", BOTH, environments("individual")),
    11: PaperFigure("every game, tandem", f"{BOTH} and a tandem", tandem_environments),
    12: PaperFigure("votes over members", "an ensemble judged by both policies", votes_over_members),
    13: PaperFigure("gains by CERL", "a plain ensemble and CERL", over_the_plain_ensemble),
    14: PaperFigure("over-sampling own data", BOTH, by_policy),
    15: PaperFigure("terminal on life loss", BOTH, by_policy),
    16: PaperFigure("QR-DQN", "a single and a bootstrapped QR-DQN", by_policy),
    17: PaperFigure("switching members each step", BOTH, by_policy),
    18: PaperFigure(
        "shared layers, large buffer",
        "runs with several shared layers",
        sweeps("shared_layers"),
        by_single_agent=True,
    ),
    19: PaperFigure(
        "the passive share",
        "tandems with several passive shares",
        sweeps("passive_share"),
        by_single_agent=True,
    ),
    20: PaperFigure("data bootstrapping", BOTH, by_policy),
    21: PaperFigure("CERL and ensemble size", "runs with several sizes", sweeps("members"), by_single_agent=True),
    22: PaperFigure("CERL with its own targets", BOTH, by_policy),
    23: PaperFigure("CERL with shared layers", BOTH, by_policy),
    24: PaperFigure("more parameters", BOTH, by_policy),
    25: PaperFigure("multiple horizons", BOTH, by_policy),
    26: PaperFigure("MICo", BOTH, by_policy),
    27: PaperFigure("gains by multiple horizons", "a plain ensemble and another", over_the_plain_ensemble),
    28: PaperFigure("gains by MICo", "a plain ensemble and another", over_the_plain_ensemble),
}
