"""`chorus show`: an algorithm as a composition, its diff from its parent, and where each number comes from."""

import argparse
from typing import TYPE_CHECKING

from chorus.cli.train_options import add_run_options, request_from

if TYPE_CHECKING:
    from chorus.config.presets import Preset
    from chorus.config.schema import RunConfig


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("preset", metavar="PRESET", help="the algorithm; `chorus list` shows them")
    add_run_options(parser)
    parser.add_argument("--json", action="store_true", help="only the configuration, as a config.json")
    parser.epilog = (
        "Without --env the configuration is that of MinAtar/Breakout-v1, or of Hopper-v4 for the SAC family."
    )


def run(args: argparse.Namespace) -> int:
    import json

    from chorus.config.presets import find_preset, home_of
    from chorus.config.resolution import resolve, run_name
    from chorus.files import flatten
    from chorus.runs.assembly import Assembly, count_parameters

    preset = find_preset(args.preset)
    if args.env is None and args.config is None:
        args.env = home_of(preset)
    resolved = resolve(request_from(args))
    if args.json:
        print(json.dumps(resolved.config.to_json(), indent=2))
        return 0
    Assembly.of(resolved.config).check_network()
    print(f"{preset.title} ({preset.name}): {preset.summary}")
    print(f"source: {preset.source}")
    flat = flatten(resolved.config.to_json())
    if preset.parent is not None:
        _print_diff(resolved.config, find_preset(preset.parent))
    print(f"\nconfiguration on {resolved.config.env.id} at {resolved.config.scale} scale")
    width = max(map(len, flat))
    shown = {path: json.dumps(value) for path, value in flat.items()}
    for path, text in shown.items():
        print(f"  {path:<{width}}  {text:<24} {resolved.sources.get(path, 'given')}")
    print(f"\nparameters: {count_parameters(resolved.config, resolved.spec):,}")
    print(f"run name: {run_name(resolved)}")
    print(f"next: chorus train {preset.name} --env {resolved.config.env.id}")
    return 0


def _print_diff(config: "RunConfig", parent: "Preset") -> None:
    """What the preset itself changes: options and files have their own column below."""
    import json

    from chorus.config.resolution import preset_difference

    gone, come = preset_difference(config, parent)
    print(f"\ndiff from {parent.name}")
    for path in sorted(gone.keys() | come.keys()):
        for sign, side in (("-", gone), ("+", come)):
            if path in side:
                print(f"  {sign} {path} = {json.dumps(side[path])}")
