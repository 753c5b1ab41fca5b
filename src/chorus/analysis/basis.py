"""What every drawing is made from: results, the scale they are put on, the palette and the random numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import MeanResampler, Rng
from chorus.analysis.comparisons import Band
from chorus.analysis.counted import many
from chorus.analysis.figures.style import Palette
from chorus.analysis.loading import Dataset
from chorus.analysis.normalisation import Normalisation, choose_normalisation, single_agent_scale
from chorus.analysis.results import Results, Series
from chorus.analysis.scores import Reference, atari_game, final_evaluations, references_for


@dataclass(frozen=True)
class Basis:
    """Runs under analysis; one palette and one generator serve all their figures."""

    results: Results
    scale: Normalisation
    palette: Palette
    rng: Rng
    resampler: MeanResampler
    references: dict[str, Reference] | None = None

    def by_single_agent(self) -> "Basis":
        """The same runs in scores normalised by the single agent, where that scale is defined."""
        known = references_for(self.results.envs, self.references)
        return replace(self, scale=single_agent_scale(self.results, known) or self.scale)

    @property
    def envs(self) -> tuple[str, ...]:
        """The environments that are on the common scale."""
        return tuple(env for env in self.results.envs if env in self.scale.envs)

    def look(self, series: Series) -> figures.Look:
        return self.palette.look(series.variant, series.policy)

    def line(self, series: Series, band: Band, envs: Sequence[str]) -> figures.Line:
        x = band.frames if x_label(envs) == "frames" else band.steps
        return figures.Line(series.label, self.look(series), x, band.value, band.low, band.high, band.runs)

    def everywhere(self, series: Sequence[Series] | None = None) -> list[Series]:
        """The series that were run in every environment; only these can be aggregated side by side."""
        envs = self.envs
        chosen = self.results.series if series is None else series
        return [s for s in chosen if envs and all(self.results.curve(s, env) for env in envs)]

    def shared_envs(self, *series: Series) -> list[str]:
        return [env for env in self.results.envs_of(series) if env in self.scale.envs]

    def seeds(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        """`5 seeds`, or `3 to 5 seeds`."""
        counts = [len(f.values) for s in series for env in envs if (f := self.results.final(s, env))]
        low, high = min(counts, default=0), max(counts, default=0)
        return many(low, "seed") if low == high else f"{low} to {high} seeds"

    def absent(self) -> str:
        kept = self.everywhere()
        names = [s.label for s in self.results.series if s not in kept]
        return f" Not run in every environment, so not shown: {', '.join(names)}." if names else ""


def make_basis(
    dataset: Dataset,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    scale_by: str | None = None,
) -> Basis:
    """What figures and answers about a dataset are made from; the seed decides every interval in it."""
    results, rng = Results(dataset), np.random.default_rng(seed)
    scale = choose_normalisation(results, references, scale_by)
    return Basis(results, scale, Palette(dataset.variants), rng, MeanResampler(rng), references)


def x_label(envs: Sequence[str]) -> str:
    """Atari is plotted over emulator frames, as is the custom; everything else over agent steps."""
    return "frames" if all(atari_game(env) for env in envs) else "agent steps"


def final_meaning(envs: Sequence[str]) -> str:
    counts = sorted({final_evaluations(env) for env in envs})
    last = " or ".join(map(str, counts))
    return f"final score: mean of a run's last {last} evaluations, or of all if there are fewer"
