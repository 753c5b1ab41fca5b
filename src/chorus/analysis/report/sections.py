"""The figures of a report in reading order, as far as the runs allow them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorus.analysis import contrasts, drawings, figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes, pairs_of_interest
from chorus.analysis.results import DIVERSITIES
from chorus.analysis.variants import PASSIVE_SHARE, Variant, section
from chorus.config.codec import decode
from chorus.ensemble.value_map import ValueMap, ValueMapRule


@dataclass(frozen=True)
class Panel:
    """A figure on a page; the panel of a single environment is hidden with that environment."""

    name: str
    title: str
    drawing: figures.Drawing
    env: str | None = None


@dataclass(frozen=True)
class Section:
    """A heading, an introduction and panels."""

    name: str
    title: str
    intro: str
    panels: list[Panel]
    small: bool = False  # many small panels side by side


# Name, title and drawing; None if the runs do not allow it.
Drawn = tuple[str, str, figures.Drawing | None]


def make_sections(context: AnalysisContext) -> list[Section]:
    """The sections of a report; those without panels are left out."""
    together = "All environments together" if len(context.envs) > 1 else "All final scores together"
    sections = [
        Section("overall", together, f"Scores: {context.normalisation.meaning}.", overall_panels(context)),
        Section("contrasts", "Comparisons", "Two algorithms or policies at a time.", comparison_panels(context)),
        Section("environments", "Environment by environment", "Raw returns.", env_panels(context), small=True),
        Section(
            "inside",
            "Diversity and settings",
            "How much members differ; the effect of settings.",
            setting_panels(context),
        ),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagram_panels(context)),
    ]
    return [section for section in sections if section.panels]


def overall_panels(context: AnalysisContext) -> list[Panel]:
    series = context.results.series
    several = len(context.envs) > 1
    return _panels(
        [
            (
                "aggregate-curves",
                "Learning, all environments together",
                drawings.learning_curves(context, series, legend=False) if several else None,
            ),
            ("profiles", "Performance profiles", drawings.profiles(context, series)),
            ("final-scores", "Final scores", drawings.final_aggregates(context, series)),
        ]
    )


def comparison_panels(context: AnalysisContext) -> list[Panel]:
    drawn: list[Drawn] = []
    groups = find_comparison_groups(context.results)
    pairs = [pair for group in groups for pair in pairs_of_interest(group)]
    for first, second in pairs:
        drawing = contrasts.gains(context, [(first, second)], named=False)
        drawn.append((f"gains-{len(drawn)}", f"{first.label} against {second.label}", drawing))
    drawn.append(("probabilities", "Probability of improvement", contrasts.probabilities(context, pairs)))
    for number, group in enumerate(groups):
        if group.single and group.ensemble and group.tandem:
            drawing = contrasts.tandem_gaps(context, group.single, group.ensemble, group.tandem)
            drawn.append((f"gaps-{number}", "Tandem gap and ensemble gap", drawing))
    return _panels(drawn)


def env_panels(context: AnalysisContext) -> list[Panel]:
    found = []
    for number, env in enumerate(context.results.envs):
        drawing = drawings.env_learning_curves(context, context.results.series, env)
        if drawing is not None:
            found.append(Panel(f"curves-{number}", env, drawing, env))
    return found


def setting_panels(context: AnalysisContext) -> list[Panel]:
    drawn: list[Drawn] = [
        (
            measure.name.replace(" ", "-"),
            f"Diversity of the members: {measure.name}",
            contrasts.diversity(context, measure),
        )
        for measure in DIVERSITIES
    ]
    for axis in find_sweep_axes(context.results):
        title = f"Sweep over the {axis.style.title}"
        drawn.append((f"sweep-{axis.name}", title, contrasts.sweep(context, axis)))
    return _panels(drawn)


def diagram_panels(context: AnalysisContext) -> list[Panel]:
    """Who generates data, who learns from it, and from which targets, for each kind of configuration that ran."""
    dataset = context.results.dataset
    kinds: dict[str, Variant] = {}
    for variant in dataset.variants:
        if variant.role != "published":
            kinds.setdefault(_diagram_kind(variant), variant)
    known = [v for v in kinds.values() if v.identity.shares]
    shares = {v.label: (context.palette.style(v, "aggregate"), np.array(v.identity.shares)) for v in known}
    by_algorithm = figures.data_shares_by_algorithm(shares) if len(shares) > 1 else None
    drawn: list[Drawn] = [("data-shares", "Who generated the data", by_algorithm)]
    for kind, variant in kinds.items():
        style = context.palette.style(variant, "aggregate")
        value_map = read_value_map(dataset.runs[variant.runs[0]].config, variant.members)
        if variant.members > 1 and variant.identity.shares and kind in ("members", "tandem"):
            drawing = figures.who_generates_who_learns(np.array(variant.identity.shares), style=style)
            drawn.append((f"data-{len(drawn)}", f"{variant.label}: who generates, who learns", drawing))
        if value_map is not None and value_map.heads > 1:
            drawing = figures.heads_and_targets(value_map, style=style)
            drawn.append((f"heads-{len(drawn)}", f"{variant.label}: heads and targets", drawing))
    return _panels(drawn)


def read_value_map(config: dict[str, Any], members: int) -> ValueMap | None:
    """The value map of a configuration; None if this version cannot build it."""
    agent = section(config, "agent")
    problems: list[str] = []
    rule = decode(ValueMapRule, agent.get("value_map"), "value_map", problems)
    discount = agent.get("discount", 0.99)
    if problems or not isinstance(discount, int | float):
        return None
    value_map: ValueMap = rule.build(members, float(discount))
    return value_map


def _diagram_kind(variant: Variant) -> str:
    """Variants of one kind have the same diagrams."""
    if variant.number(PASSIVE_SHARE) is not None:
        return "tandem"
    return "single" if variant.members == 1 else str(variant.settings.get("agent.value_map.kind", "members"))


def _panels(drawn: Iterable[Drawn]) -> list[Panel]:
    return [Panel(name, title, drawing) for name, title, drawing in drawn if drawing is not None]
