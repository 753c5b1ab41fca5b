"""`chorus evaluate`: play episodes with the newest checkpoint of a run."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.cli.train_options import whole

if TYPE_CHECKING:
    from chorus.player import Player


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "--policy",
        metavar="NAME",
        help="individual, aggregate, active, passive, member_0 ..., and with -mode, for Box actions, the first two "
        "without the policies' noise (default: aggregate, or the run's first)",
    )
    parser.add_argument(
        "--episodes",
        type=whole,
        default=100,
        metavar="K",
        help="episodes, rounded up to as many for each environment (default: 100)",
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="seed of the evaluation (default: 0)")
    parser.add_argument(
        "--video", type=Path, metavar="FILE", help="record one episode as an .mp4 file (default: no video)"
    )


def run(args: argparse.Namespace) -> int:
    from chorus.errors import ChorusError

    if args.episodes < 1:
        raise ChorusError(f"--episodes is {args.episodes}; it must be at least 1")
    if args.seed < 0:
        raise ChorusError(f"--seed is {args.seed}; it must not be negative")
    from chorus.api import load, stored_config
    from chorus.runs.run_directory import RunDirectory
    from chorus.runs.runtime import prepare

    prepare(stored_config(RunDirectory(args.run)).runtime)
    player = load(args.run, args.policy)
    if args.video is not None:
        from chorus.player import film

        frames = film(player, args.video, args.seed)
        print(f"video: {args.video} ({frames} frames, policy {player.policy_name})")
    results = player.evaluate(args.episodes, args.seed)
    _print(player, results)
    print(f"run: {args.run}")
    return 0


def _print(player: "Player", results: list) -> None:
    import numpy as np

    from chorus.player import Evaluation
    from chorus.training.decisions import diversity_measure

    evaluation = Evaluation(player.policy_name, results)
    returns, (low, high) = evaluation.returns, evaluation.interval
    lengths = np.array([result.length for result in results])
    diversity = np.average([result.diversity for result in results], weights=lengths)
    measure = diversity_measure(player.assembly.spec.actions)
    print(f"policy {player.policy_name}, {len(returns)} episodes")
    print(f"  return        {returns.mean():.2f}   95 % bootstrap interval of the mean {low:.2f} to {high:.2f}")
    print(f"  range         {returns.min():.2f} to {returns.max():.2f}")
    print(f"  length        {lengths.mean():.1f} agent steps")
    if cut := sum(result.bias is None for result in results):
        print(f"  truncated       {cut} of {len(returns)} episodes, by their time limit")
    print(f"  {measure.metric.removeprefix('diversity/').replace('_', ' '):<15} {diversity:.3f} {measure.unit}")
