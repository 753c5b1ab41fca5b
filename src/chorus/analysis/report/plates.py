"""Which figures a report shows, in reading order: all that the runs at hand allow."""

from collections.abc import Iterable
from dataclasses import dataclass

from chorus.analysis import contrasts, drawings, figures
from chorus.analysis.basis import Basis
from chorus.analysis.families import find_families, pairs_of_interest
from chorus.analysis.results import DIVERSITIES
from chorus.analysis.swept import find_swept
from chorus.analysis.value_tables import data_shares, tables_from_config
from chorus.analysis.variants import Variant


@dataclass(frozen=True)
class Plate:
    """A figure in the report; one that shows a single environment can be hidden with it."""

    name: str
    title: str
    drawing: figures.Drawing
    env: str | None = None


@dataclass(frozen=True)
class Section:
    """A heading, what it is about, and its plates."""

    name: str
    title: str
    intro: str
    plates: list[Plate]
    small: bool = False  # panels side by side


Made = tuple[str, str, figures.Drawing | None]


def make_sections(basis: Basis) -> list[Section]:
    """The evidence; sections the runs do not allow are left out."""
    together = "All environments together" if len(basis.envs) > 1 else "All final scores together"
    sections = [
        Section("overall", together, f"Scores: {basis.scale.meaning}.", overall(basis)),
        Section("contrasts", "What changes for whom", "Two algorithms or policies at a time.", against(basis)),
        Section("environments", "Environment by environment", "Returns as they are.", panels(basis), small=True),
        Section("inside", "Diversity and settings", "How unlike members are; what settings do.", inside(basis)),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagrams(basis)),
    ]
    return [section for section in sections if section.plates]


def overall(basis: Basis) -> list[Plate]:
    series = basis.results.series
    several = len(basis.envs) > 1
    return _plates(
        [
            (
                "aggregate-curves",
                "Learning, all environments together",
                drawings.learning(basis, series, legend=False) if several else None,
            ),
            ("profiles", "Performance profiles", drawings.profiles(basis, series, legend=False)),
            ("final-scores", "Final scores", drawings.final_aggregates(basis, series)),
        ]
    )


def against(basis: Basis) -> list[Plate]:
    made: list[Made] = []
    families = find_families(basis.results)
    pairs = [pair for family in families for pair in pairs_of_interest(family)]
    for first, second in pairs:
        drawing = contrasts.gains(basis, [(first, second)], named=False)
        made.append((f"gains-{len(made)}", f"{first.label} against {second.label}", drawing))
    made.append(("probabilities", "Probability of improvement", contrasts.probabilities(basis, pairs)))
    for number, family in enumerate(families):
        if family.single and family.ensemble and family.tandem:
            drawing = contrasts.tandem_gaps(basis, family.single, family.ensemble, family.tandem)
            made.append((f"gaps-{number}", "Tandem gap and ensemble gap", drawing))
    return _plates(made)


def panels(basis: Basis) -> list[Plate]:
    found = []
    for number, env in enumerate(basis.results.envs):
        drawing = drawings.learning_in(basis, basis.results.series, env, legend=False)
        if drawing is not None:
            found.append(Plate(f"curves-{number}", env, drawing, env))
    return found


def inside(basis: Basis) -> list[Plate]:
    made: list[Made] = [
        (
            measure.name.replace(" ", "-"),
            f"Diversity of the members: {measure.name}",
            contrasts.diversity(basis, measure),
        )
        for measure in DIVERSITIES
    ]
    for swept in find_swept(basis.results):
        made.append((f"sweep-{swept.field}", f"Sweep over the {swept.axis}", contrasts.sweep(basis, swept)))
    return _plates(made)


def diagrams(basis: Basis) -> list[Plate]:
    """Who generates, who learns, and from which targets: one look at each kind of configuration that ran."""
    dataset = basis.results.dataset
    kinds: dict[str, Variant] = {}
    for variant in dataset.variants:
        if variant.traits.role != "published":
            kinds.setdefault(variant.traits.role, variant)
    configs = {v: dataset.runs[v.runs[0]].config for v in kinds.values()}
    family = {v.label: (basis.palette.look(v, "aggregate"), data_shares(configs[v])) for v in kinds.values()}
    made: list[Made] = [("family", "One family", figures.one_family(family) if len(family) > 1 else None)]
    for variant in kinds.values():
        look, tables = basis.palette.look(variant, "aggregate"), tables_from_config(configs[variant])
        if variant.traits.members > 1 and variant.traits.role in ("ensemble", "tandem"):
            drawing = figures.who_generates_who_learns(data_shares(configs[variant]), look=look)
            made.append((f"data-{len(made)}", f"{variant.label}: who generates, who learns", drawing))
        if tables is not None and tables.policy.shape[1] > 1:
            drawing = figures.heads_and_targets(tables, look=look)
            made.append((f"heads-{len(made)}", f"{variant.label}: heads and targets", drawing))
    return _plates(made)


def _plates(made: Iterable[Made]) -> list[Plate]:
    return [Plate(name, title, drawing) for name, title, drawing in made if drawing is not None]
