"""`chorus list`: what there is."""

import argparse
from pathlib import Path

TOPICS = ("presets", "envs", "scales", "runs")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", nargs="?", default="presets", metavar="TOPIC", help="presets, envs, scales or runs (default: presets)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs"), metavar="DIR", help="folder whose runs are listed (default: runs)"
    )


def run(args: argparse.Namespace) -> int:
    from chorus.errors import ChorusError
    from chorus.suggest import did_you_mean

    if args.topic not in TOPICS:
        raise ChorusError(f"'{args.topic}' cannot be listed{did_you_mean(args.topic, TOPICS)}")
    {"presets": _presets, "envs": _envs, "scales": _scales, "runs": lambda: _runs(args.out)}[args.topic]()
    return 0


def _presets() -> None:
    from chorus.experiments.presets import PRESETS

    for preset in PRESETS.values():
        print(f"{preset.name:<30} {preset.summary}")
    print("\nnext: chorus show cerl      chorus train cerl --env MinAtar/Breakout-v1 --scale smoke")


def _envs() -> None:
    import gymnasium

    from chorus.envs.atari_games import games, is_atari, named_sets
    from chorus.envs.registry import JAX_ENVS

    print("\n".join(sorted(JAX_ENVS)))
    print("\nAtari (ALE/Breakout-v5 and BreakoutNoFrameskip-v4 are one environment, the paper's protocol):")
    print("\n".join(games()))
    print("\nsets: " + ", ".join(f"{name} ({len(ids)} games)" for name, ids in named_sets().items()))
    others = ("phys2d/", "tabular/", "GymV")
    registered = sorted(name for name in gymnasium.registry if not (name.startswith(others) or is_atari(name)))
    print("\nregistered with Gymnasium here (with Box observations; flat ones where actions are a Box, too):")
    print("\n".join(registered))
    print("\nyours: my_package:MyEnv-v0 imports my_package, which registers MyEnv-v0")


def _scales() -> None:
    from chorus.experiments.scales import TABLE

    columns = ("family", "scale", "total", "iteration", "envs", "buffer", "batch", "N", "network")
    print("{:<9}{:<8}{:>12}{:>11}{:>6}{:>11}{:>7}{:>4}  {}".format(*columns))
    for (family, scale), row in TABLE.items():
        layers = [f"conv {c.features} {c.kernel}x{c.kernel}/{c.stride}" for c in getattr(row.torso, "convolutions", ())]
        network = ", ".join([*layers, *(f"dense {width}" for width in getattr(row.torso, "dense", ()))])
        print(
            f"{family:<9}{scale:<8}{row.total:>12,}{row.iteration:>11,}{row.slots:>6}{row.buffer:>11,}"
            f"{row.batch:>7}{row.members:>4}  {network}"
        )
    print("\ntotal and iteration in agent steps; `chorus show PRESET --env ID --scale S` prints a whole configuration")


def _runs(out: Path) -> None:
    from chorus.training.run_directory import RunDirectory

    paths = sorted(path.parent for path in out.glob("*/config.json"))
    for path in paths:
        status = RunDirectory(path).read_status()
        print(f"{status['state']:<9} iteration {status.get('iteration', 0):>4}   {path}")
    if not paths:
        print(f"no runs in {out}; `chorus train PRESET --env ID` makes one")
