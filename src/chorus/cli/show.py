"""`chorus show`: an algorithm as a composition, its diff from its parent, and where each number comes from."""

import argparse
import dataclasses
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chorus.cli.train_options import add_run_options, request_from

if TYPE_CHECKING:
    from chorus.components import Component
    from chorus.config.presets import Preset
    from chorus.config.schema import RunConfig


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.add_argument(
        "preset",
        metavar="NAME",
        help="an algorithm or a component; `chorus list` and `chorus list components` show them",
    )
    parser.epilog = "Without --env the configuration is that of MinAtar/Breakout-v1, or of Hopper-v4 for SAC."
    add_run_options(parser, given)
    parser.add_argument("--json", action="store_true", help="only the configuration, as a config.json")
    parser.set_defaults(typed=tuple(given))


def run(args: argparse.Namespace) -> int:
    import json

    from chorus.config.identity import run_name
    from chorus.config.presets import PRESETS, find_preset
    from chorus.config.resolution import read_file, resolve
    from chorus.files import flatten
    from chorus.runs.assembly import Assembly, count_parameters

    if args.preset not in PRESETS and (found := components_named(args.preset)):
        for component in found:
            print_component(component)
        return 0
    preset = find_preset(args.preset)
    typed = list(args.typed)
    if args.env is None and not read_file(args.config).get("env"):
        args.env = preset.home
        typed += ["--env", preset.home]
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
    print(f"next: {_train_command(typed)}")
    return 0


def _train_command(typed: list[str]) -> str:
    """The command that trains what is shown."""
    place = typed.index("show")
    return shlex.join(["chorus", *typed[:place], "train", *typed[place + 1 :]])


def _print_diff(config: "RunConfig", parent: "Preset") -> None:
    """Print what the preset changes in its parent; options and files are in the column of sources below."""
    import json

    from chorus.config.layers import preset_difference

    removed, added = preset_difference(config, parent)
    print(f"\ndiff from {parent.name}")
    for path in sorted(removed.keys() | added.keys()):
        for sign, side in (("-", removed), ("+", added)):
            if path in side:
                print(f"  {sign} {path} = {json.dumps(side[path])}")


def components_named(kind: str) -> "list[type[Component]]":
    from chorus.components import INTERFACES, registered
    from chorus.config import options  # noqa: F401 - imports every interface

    return [known[kind] for base in INTERFACES.values() if kind in (known := registered(base))]


def print_component(component: "type[Component]") -> None:
    """What it is, and each of its fields with default, range and flag."""
    from chorus.cli.list import print_wrapped
    from chorus.components import option_of
    from chorus.config.codec import stored_fields

    print(f"{component.kind}, a component ({component.interface}) of {component.__module__}")
    print((component.__doc__ or "").strip())
    for field in stored_fields(component):
        if option := option_of(field):
            factory = field.default_factory
            default = field.default if factory is dataclasses.MISSING else factory()
            shown = "none, it must be given" if default is dataclasses.MISSING else getattr(default, "kind", default)
            name = f"--{option.flag}" if option.flag else field.name
            allowed = f"; it must {option.within.text}" if option.within else ""
            print_wrapped(f"{name:<20} ", f"{option.help}{allowed} (default: {shown})")
