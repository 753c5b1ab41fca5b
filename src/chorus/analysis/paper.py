"""The data figures of the paper by number, drawn from the runs of their studies.

A `PaperFigure` says which panels a figure has and which series they show, by role and policy. Panels whose series were
not run are left out. A figure without any panel is refused with a sentence that says which runs it needs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chorus.analysis import contrasts, drawings
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.variants import CAPACITY, MEMBERS, PASSIVE_SHARE, SHARED_LAYERS
from chorus.errors import ChorusError

Panels = dict[str, Drawing | None]


@dataclass(frozen=True)
class PaperFigure:
    """What a figure shows, the runs it needs, and how it is drawn."""

    shows: str
    needs: str
    draw: Callable[[AnalysisContext], Panels]
    by_single_agent: bool = False  # in scores relative to the single agent, where these are defined


def draw_paper_figure(context: AnalysisContext, number: int) -> dict[str, Drawing]:
    """The panels of a figure that the runs allow."""
    if number not in PAPER_FIGURES:
        known = f"{min(PAPER_FIGURES)} to {max(PAPER_FIGURES)}"
        raise ChorusError(
            f"The paper has no data figure {number}; choose one of {known} (1 and 6 are diagrams, drawn by "
            "chorus.analysis.figures)."
        )
    figure = PAPER_FIGURES[number]
    if figure.by_single_agent:
        context = context.normalised_by_single_agent()
    panels = {name: drawing for name, drawing in figure.draw(context).items() if drawing is not None}
    if not panels:
        raise ChorusError(f"Figure {number} ({figure.shows}) needs {figure.needs}; these runs have none of it.")
    return panels


def select_series(context: AnalysisContext, roles: Iterable[str], policies: Iterable[str]) -> list[Series]:
    """The series with one of these roles and policies; single agents have the individual policy only."""
    roles, wanted, alone = set(roles), set(policies), {"individual"}
    return [
        series
        for series in context.results.series
        if series.variant.role in roles and series.policy in (alone if series.variant.members == 1 else wanted)
    ]


# All roles but the tandem, which has policies of its own.
COMPARED = ("single", "ensemble", "cerl", "ablation")


def members_and_votes(context: AnalysisContext) -> Panels:
    """Figure 2: single agent, members and votes; gains over the single agent; curves per environment."""
    series = select_series(context, ("single", "ensemble"), ("individual", "aggregate"))
    pairs = [
        (Series(g.ensemble, policy), g.single)
        for g in find_comparison_groups(context.results)
        if g.single and g.ensemble
        for policy in ("individual", "aggregate")
    ]
    return {
        "curves": drawings.learning_curves(context, series),
        "gains": contrasts.gains(context, pairs),
        "environments": drawings.learning_curve_grid(context, series),
    }


def tandem_series(context: AnalysisContext) -> list[Series]:
    baselines = select_series(context, ("single", "ensemble"), ("individual",))
    return baselines + select_series(context, ("tandem",), ("active", "passive"))


def tandem(context: AnalysisContext) -> Panels:
    """Figure 3: the tandem beside single agent and ensemble, and the correlation of the gaps."""
    found = [
        contrasts.tandem_gaps(context, g.single, g.ensemble, g.tandem)
        for g in find_comparison_groups(context.results)
        if g.single and g.ensemble and g.tandem
    ]
    return {"curves": drawings.learning_curves(context, tandem_series(context)), "gaps": found[0] if found else None}


def tandem_environments(context: AnalysisContext) -> Panels:
    return {"environments": drawings.learning_curve_grid(context, tandem_series(context))}


def by_policy(context: AnalysisContext) -> Panels:
    """One panel for votes and one for members, with the single agents in both; over all and per environment."""
    panels: Panels = {}
    for policy in ("aggregate", "individual"):
        series = select_series(context, COMPARED, (policy,))
        panels[f"curves-{policy}"] = drawings.learning_curves(context, series, title=policy)
        panels[f"environments-{policy}"] = drawings.learning_curve_grid(context, series)
    return panels


def cerl(context: AnalysisContext) -> Panels:
    """Figure 7: curves per policy, diversity, and the sweep over the replay capacity."""
    panels = by_policy(context)
    kept = {name: drawing for name, drawing in panels.items() if name.startswith("curves")}
    measured = {measure.name.replace(" ", "-"): contrasts.diversity(context, measure) for measure in DIVERSITIES}
    return kept | measured | sweeps(CAPACITY)(context)


def environments(policy: str) -> Callable[[AnalysisContext], Panels]:
    """Figures 9 and 10: one policy in every game."""

    def draw(context: AnalysisContext) -> Panels:
        series = select_series(context, COMPARED, (policy,))
        return {"environments": drawings.learning_curve_grid(context, series)}

    return draw


def sweeps(*paths: str) -> Callable[[AnalysisContext], Panels]:
    def draw(context: AnalysisContext) -> Panels:
        found = [axis for axis in find_sweep_axes(context.results) if axis.path in paths]
        return {f"sweep-{axis.name}": contrasts.sweep(context, axis) for axis in found}

    return draw


def votes_over_members(context: AnalysisContext) -> Panels:
    """Figure 12: gains of voting."""
    ensembles = [g.ensemble for g in find_comparison_groups(context.results) if g.ensemble]
    pairs = [(Series(v, "aggregate"), Series(v, "individual")) for v in ensembles]
    return {"gains": contrasts.gains(context, pairs)}


def gains_over_plain_ensemble(context: AnalysisContext) -> Panels:
    """Figures 13, 27 and 28: gains of every other ensemble over the plain one, for both policies."""
    pairs: list[tuple[Series, Series]] = []
    for group in find_comparison_groups(context.results):
        plain = group.ensemble
        if plain is None:
            continue
        for variant in context.results.dataset.variants:
            comparable = variant.group == plain.group and variant.members > 1 and variant.role in COMPARED
            if comparable and variant is not plain:
                pairs += [(Series(variant, p), Series(plain, p)) for p in ("individual", "aggregate")]
    return {"gains": contrasts.gains(context, pairs)}


BOTH = "a single agent and a plain ensemble"
PAPER_FIGURES: dict[int, PaperFigure] = {
    2: PaperFigure("the curse", BOTH, members_and_votes),
    3: PaperFigure("the tandem", f"{BOTH} and a tandem", tandem),
    4: PaperFigure("replay capacity", "runs with several replay capacities", sweeps(CAPACITY), by_single_agent=True),
    5: PaperFigure(
        "size and shared layers",
        "runs with several of either",
        sweeps(MEMBERS, SHARED_LAYERS),
        by_single_agent=True,
    ),
    7: PaperFigure("CERL", f"{BOTH} and CERL", cerl),
    8: PaperFigure("the tandem by task", f"{BOTH} and a tandem", tandem_environments),
    9: PaperFigure("every game, votes", BOTH, environments("aggregate")),
    10: PaperFigure("every game, members", BOTH, environments("individual")),
    11: PaperFigure("every game, tandem", f"{BOTH} and a tandem", tandem_environments),
    12: PaperFigure("votes over members", "an ensemble judged by both policies", votes_over_members),
    13: PaperFigure("gains by CERL", "a plain ensemble and CERL", gains_over_plain_ensemble),
    14: PaperFigure("over-sampling own data", BOTH, by_policy),
    15: PaperFigure("terminal on life loss", BOTH, by_policy),
    16: PaperFigure("QR-DQN", "a single and a bootstrapped QR-DQN", by_policy),
    17: PaperFigure("switching members each step", BOTH, by_policy),
    18: PaperFigure(
        "shared layers, large buffer",
        "runs with several shared layers",
        sweeps(SHARED_LAYERS),
        by_single_agent=True,
    ),
    19: PaperFigure(
        "the passive share",
        "tandems with several passive shares",
        sweeps(PASSIVE_SHARE),
        by_single_agent=True,
    ),
    20: PaperFigure("data bootstrapping", BOTH, by_policy),
    21: PaperFigure("CERL and ensemble size", "runs with several sizes", sweeps(MEMBERS), by_single_agent=True),
    22: PaperFigure("CERL with its own targets", BOTH, by_policy),
    23: PaperFigure("CERL with shared layers", BOTH, by_policy),
    24: PaperFigure("more parameters", BOTH, by_policy),
    25: PaperFigure("multiple horizons", BOTH, by_policy),
    26: PaperFigure("MICo", BOTH, by_policy),
    27: PaperFigure("gains by multiple horizons", "a plain ensemble and another", gains_over_plain_ensemble),
    28: PaperFigure("gains by MICo", "a plain ensemble and another", gains_over_plain_ensemble),
}
