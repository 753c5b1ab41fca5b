"""The diagrams of what ran: who generates data, who learns from it, and from which targets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import LineStyle
from chorus.analysis.report.panels import Panel
from chorus.analysis.variants import PASSIVE_SHARE, Variant, section
from chorus.config.codec import decode
from chorus.ensemble.value_map import ValueMap, ValueMapRule
from chorus.errors import ChorusError

# A diagram has one row per member; the paper's ensembles have ten.
_MOST_MEMBERS = 100


def diagram_panels(context: AnalysisContext) -> list[Panel]:
    """One diagram of the data and one of the heads; each kind of configuration that ran is a part of them."""
    kinds: dict[str, Variant] = {}
    for variant in context.results.dataset.variants:
        if variant.role != "published":
            kinds.setdefault(_kind(variant), variant)
    return [*data_panels(context, kinds), *head_panels(context, kinds)]


def data_panels(context: AnalysisContext, kinds: Mapping[str, Variant]) -> list[Panel]:
    """CERL shares data as the plain ensemble does, so it has no part of its own beside that one."""
    known = {kind: v for kind, v in kinds.items() if 0 < len(v.identity.shares) <= _MOST_MEMBERS}
    shares = {v.label: (_style(context, v), np.array(v.identity.shares)) for v in known.values()}
    found = []
    if len(shares) > 1:
        found.append(Panel("data-shares", "Who generated the data", figures.data_shares_by_algorithm(shares)))
    parts = {v.label: shares[v.label] for kind, v in known.items() if kind in ("single", "members", "tandem")}
    if any(len(part) > 1 for _, part in parts.values()):
        wide, narrow = (figures.who_generates_who_learns(parts, columns=columns) for columns in (3, 1))
        title = "Who generates the data, and who learns from it"
        found.append(Panel("data", title, wide, narrow=narrow, full=len(parts) > 1))
    return found


def head_panels(context: AnalysisContext, kinds: Mapping[str, Variant]) -> list[Panel]:
    """Ensembles with auxiliary heads beside the plain one."""
    runs = context.results.dataset.runs
    maps = {v: read_value_map(runs[v.runs[0]].config, v.members) for kind, v in kinds.items() if kind != "tandem"}
    parts = {v.label: (_style(context, v), found) for v, found in maps.items() if found is not None and v.members > 1}
    if not any(found.heads > 1 for _, found in parts.values()):
        return []
    wide, narrow = (figures.heads_and_targets(parts, columns=columns) for columns in (2, 1))
    return [Panel("heads", "Heads and their targets", wide, narrow=narrow, full=len(parts) > 1)]


def read_value_map(config: dict[str, Any], members: int) -> ValueMap | None:
    """The value map of a configuration; None if this version cannot build it, or nobody could read its diagram."""
    agent = section(config, "agent")
    problems: list[str] = []
    rule = decode(ValueMapRule, agent.get("value_map"), "value_map", problems)
    discount = agent.get("discount", 0.99)
    if problems or members > _MOST_MEMBERS or not isinstance(discount, int | float):
        return None
    try:
        value_map: ValueMap = rule.build(members, float(discount))
    except (ChorusError, OverflowError):
        return None
    return value_map


def _style(context: AnalysisContext, variant: Variant) -> LineStyle:
    return context.palette.style(variant, "aggregate")


def _kind(variant: Variant) -> str:
    """Variants of one kind have the same diagrams."""
    if variant.number(PASSIVE_SHARE) is not None:
        return "tandem"
    return "single" if variant.members == 1 else str(variant.settings.get("agent.value_map.kind", "members"))
