"""One function a figure: data in, a `Drawing` out (the figure, its caption and the data behind it)."""

from chorus.analysis.figures.bars import Labelled, improvement_bars, interval_estimates, score_bars
from chorus.analysis.figures.curves import curve_grid, learning_curves
from chorus.analysis.figures.diagrams import heads_and_targets, one_family, who_generates_who_learns
from chorus.analysis.figures.drawing import Drawing, Line
from chorus.analysis.figures.gaps import Gap, gap_correlation, gap_scatter
from chorus.analysis.figures.profiles import improvement_probabilities, performance_profiles
from chorus.analysis.figures.style import Look, Palette
from chorus.analysis.figures.sweeps import Level, sweep

__all__ = [
    "Drawing",
    "Gap",
    "Labelled",
    "Level",
    "Line",
    "Look",
    "Palette",
    "curve_grid",
    "gap_correlation",
    "gap_scatter",
    "heads_and_targets",
    "improvement_bars",
    "improvement_probabilities",
    "interval_estimates",
    "learning_curves",
    "one_family",
    "performance_profiles",
    "score_bars",
    "sweep",
    "who_generates_who_learns",
]
