"""Which figures a report shows, in reading order: all that the runs at hand allow."""

from collections.abc import Iterable
from dataclasses import dataclass

from chorus.analysis import contrasts, drawings, figures
from chorus.analysis.families import find_families, pairs_of_interest
from chorus.analysis.results import DIVERSITIES
from chorus.analysis.study import Study
from chorus.analysis.sweeps import find_sweeps
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


def make_sections(study: Study) -> list[Section]:
    """The evidence; sections the runs do not allow are left out."""
    sections = [
        Section("overall", "All environments together", f"Scores: {study.scale.meaning}.", overall(study)),
        Section("contrasts", "What changes for whom", "Two algorithms or policies at a time.", against(study)),
        Section("environments", "Environment by environment", "Returns as they are.", panels(study), small=True),
        Section("inside", "Diversity and settings", "How unlike members are; what settings do.", inside(study)),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagrams(study)),
    ]
    return [section for section in sections if section.plates]


def overall(study: Study) -> list[Plate]:
    series = study.results.series
    several = len(study.envs) > 1
    return _plates(
        [
            (
                "aggregate-curves",
                "Learning, all environments together",
                drawings.learning(study, series, legend=False) if several else None,
            ),
            ("profiles", "Performance profiles", drawings.profiles(study, series, legend=False)),
            ("final-scores", "Final scores", drawings.final_aggregates(study, series)),
        ]
    )


def against(study: Study) -> list[Plate]:
    made: list[Made] = []
    families = find_families(study.results)
    pairs = [pair for family in families for pair in pairs_of_interest(family)]
    for first, second in pairs:
        drawing = contrasts.gains(study, [(first, second)], named=False)
        made.append((f"gains-{len(made)}", f"{first.label} against {second.label}", drawing))
    made.append(("probabilities", "Probability of improvement", contrasts.probabilities(study, pairs)))
    for number, family in enumerate(families):
        if family.single and family.ensemble and family.tandem:
            drawing = contrasts.tandem_gaps(study, family.single, family.ensemble, family.tandem)
            made.append((f"gaps-{number}", "Tandem gap and ensemble gap", drawing))
    return _plates(made)


def panels(study: Study) -> list[Plate]:
    found = []
    for number, env in enumerate(study.results.envs):
        drawing = drawings.learning_in(study, study.results.series, env, legend=False)
        if drawing is not None:
            found.append(Plate(f"curves-{number}", env, drawing, env))
    return found


def inside(study: Study) -> list[Plate]:
    made: list[Made] = [
        (
            measure.name.replace(" ", "-"),
            f"Diversity of the members: {measure.name}",
            contrasts.diversity(study, measure),
        )
        for measure in DIVERSITIES
    ]
    for swept in find_sweeps(study.results):
        made.append((f"sweep-{swept.field}", f"Sweep over the {swept.axis}", contrasts.sweep(study, swept)))
    return _plates(made)


def diagrams(study: Study) -> list[Plate]:
    """Who generates, who learns, and from which targets: one look at each kind of configuration that ran."""
    dataset = study.results.dataset
    kinds: dict[str, Variant] = {}
    for variant in dataset.variants:
        if variant.traits.role != "published":
            kinds.setdefault(variant.traits.role, variant)
    configs = {v: dataset.runs[v.runs[0]].config for v in kinds.values()}
    family = {v.label: (study.palette.look(v, "aggregate"), data_shares(configs[v])) for v in kinds.values()}
    made: list[Made] = [("family", "One family", figures.one_family(family) if len(family) > 1 else None)]
    for variant in kinds.values():
        look, tables = study.palette.look(variant, "aggregate"), tables_from_config(configs[variant])
        if variant.traits.members > 1 and variant.traits.role in ("ensemble", "tandem"):
            drawing = figures.who_generates_who_learns(data_shares(configs[variant]), look=look)
            made.append((f"data-{len(made)}", f"{variant.label}: who generates, who learns", drawing))
        if tables is not None and tables.policy.shape[1] > 1:
            drawing = figures.heads_and_targets(tables, look=look)
            made.append((f"heads-{len(made)}", f"{variant.label}: heads and targets", drawing))
    return _plates(made)


def _plates(made: Iterable[Made]) -> list[Plate]:
    return [Plate(name, title, drawing) for name, title, drawing in made if drawing is not None]
