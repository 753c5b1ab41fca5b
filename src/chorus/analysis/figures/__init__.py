"""Figures from data: one function per figure, each of which returns a `Drawing` (figure, caption and data)."""

from chorus.analysis.figures.bars import (
    improvement_bars,
    improvement_probabilities,
    interval_estimates,
    score_bars,
)
from chorus.analysis.figures.curves import GridLayout, curve_grid, learning_curves, performance_profiles
from chorus.analysis.figures.diagrams import data_shares_by_algorithm, heads_and_targets, who_generates_who_learns
from chorus.analysis.figures.drawing import Drawing, LabelledEstimate, Line
from chorus.analysis.figures.gaps import Gap, gap_correlation, gap_scatter
from chorus.analysis.figures.maps import visit_maps
from chorus.analysis.figures.solved import SolvedLine, solved_by_environment
from chorus.analysis.figures.style import LineStyle, Palette
from chorus.analysis.figures.sweeps import SweepColumn, sweep

__all__ = [
    "Drawing",
    "Gap",
    "GridLayout",
    "LabelledEstimate",
    "Line",
    "LineStyle",
    "Palette",
    "SolvedLine",
    "SweepColumn",
    "curve_grid",
    "data_shares_by_algorithm",
    "gap_correlation",
    "gap_scatter",
    "heads_and_targets",
    "improvement_bars",
    "improvement_probabilities",
    "interval_estimates",
    "learning_curves",
    "performance_profiles",
    "score_bars",
    "solved_by_environment",
    "sweep",
    "visit_maps",
    "who_generates_who_learns",
]
