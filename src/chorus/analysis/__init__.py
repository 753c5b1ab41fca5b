"""From run directories to the paper's statistics, figures and a report. Reads files only and needs no JAX."""

from chorus.analysis.loading import Dataset, load_runs
from chorus.analysis.results import Results, Series

__all__ = ["Dataset", "Results", "Series", "load_runs"]
