"""What every figure and sentence is made from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import Rng
from chorus.analysis.comparisons import Band
from chorus.analysis.figures.style import LineStyle, Palette
from chorus.analysis.loading import Dataset
from chorus.analysis.normalisation import (
    Normalisation,
    Reference,
    by_single_agent,
    choose_normalisation,
    references_for,
)
from chorus.analysis.results import Results, Series
from chorus.analysis.wording import plural
from chorus.envs.atari_games import is_atari
from chorus.runs.logs import FinalWindow


@dataclass(frozen=True)
class AnalysisContext:
    """The results under analysis with the normalisation, palette and random numbers that all figures share."""

    results: Results
    normalisation: Normalisation
    palette: Palette
    rng: Rng
    references: dict[str, Reference] | None = None

    def normalised_by_single_agent(self) -> "AnalysisContext":
        """The same results in scores relative to the single agent, where these are defined."""
        known = references_for(self.results.envs, self.references)
        single = by_single_agent(self.results, known)
        return replace(self, normalisation=single) if single.envs else self

    @property
    def envs(self) -> tuple[str, ...]:
        """The environments for which the normalisation is defined."""
        return tuple(env for env in self.results.envs if env in self.normalisation.envs)

    def style(self, series: Series) -> LineStyle:
        return self.palette.style(series.variant, series.policy)

    def line(self, series: Series, band: Band, envs: Sequence[str]) -> figures.Line:
        x = band.frames if x_label(envs) == "frames" else band.steps
        return figures.Line(series.label, self.style(series), x, band.value, band.low, band.high, band.runs)

    def complete_series(self, series: Sequence[Series] | None = None) -> list[Series]:
        """The series with a curve in every environment: only these can be aggregated side by side."""
        envs = self.envs
        chosen = self.results.series if series is None else series
        return [s for s in chosen if envs and all(self.results.curve(s, env) for env in envs)]

    def shared_envs(self, *series: Series) -> list[str]:
        return [env for env in self.results.envs_of(series) if env in self.normalisation.envs]

    def seeds(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        """`5 seeds`, or `3 to 5 seeds`."""
        counts = [len(f.values) for s in series for env in envs if (f := self.results.final(s, env))]
        low, high = min(counts, default=0), max(counts, default=0)
        return plural(low, "seed") if low == high else f"{low} to {high} seeds"

    def final_meaning(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        """`final score: mean of the last 5 of 25 evaluations`."""
        finals = [f for s in series for env in envs if (f := self.results.final(s, env))]
        return f"final score: mean of the {describe_windows(w for final in finals for w in final.windows)}"

    def incomplete_note(self) -> str:
        """Sentences about what a figure over all environments leaves out; empty if it is nothing."""
        kept = self.complete_series()
        names = [s.label for s in self.results.series if s not in kept]
        series = f" Not run in every environment, so not shown: {', '.join(names)}." if names else ""
        return self.left_out_note(kept, self.envs) + series

    def left_out_note(self, series: Sequence[Series], shown: Sequence[str]) -> str:
        """Sentences about the environments that are not shown and the runs that do not count; empty if all do."""
        parts = []
        for env in self.results.envs:
            missing = dict.fromkeys(s.label for s in series if not self.results.curve(s, env))
            absent = f"no evaluation of {', '.join(missing)}" if missing else "not run with every setting"
            if env not in shown:
                parts.append(f"{env} ({self.normalisation.left_out.get(env) or absent})")
        environments = f" Left out: {', '.join(parts)}." if parts else ""
        finals = {
            (s.variant.label, env): f.left_out for s in series for env in shown if (f := self.results.final(s, env))
        }
        unfinished = sum(finals.values())
        runs = f" Final scores leave out {plural(unfinished, 'run')} that did not end." if unfinished else ""
        return environments + runs


def make_context(
    dataset: Dataset,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    normalisation: str | None = None,
) -> AnalysisContext:
    """The context of a dataset; `seed` is that of the bootstrap bands of curves."""
    results, rng = Results(dataset), np.random.default_rng(seed)
    chosen = choose_normalisation(results, references, normalisation)
    return AnalysisContext(results, chosen, Palette(dataset.variants), rng, references)


def x_label(envs: Sequence[str]) -> str:
    """Atari is plotted over emulator frames, as is the custom; everything else over agent steps."""
    return "frames" if all(map(is_atari, envs)) else "agent steps"


def describe_windows(windows: Iterable[FinalWindow]) -> str:
    """`last 5 of 25 evaluations`, or `last 5 of 20 to 25 or last 10 of 200 evaluations`."""
    totals: dict[int, set[int]] = {}
    for window in windows:
        totals.setdefault(window.last, set()).add(window.of)
    parts = []
    for last, counts in sorted(totals.items()):
        low, high = min(counts), max(counts)
        parts.append(f"last {last} of {low if low == high else f'{low} to {high}'}")
    return f"{' or '.join(parts)} evaluations"
