"""The options of a run, generated from the configuration, as every command that trains offers them."""

import argparse
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.cli.tracking_options import add_tracking
from chorus.errors import ChorusError

if TYPE_CHECKING:
    from chorus.config.options import Setting
    from chorus.config.resolution import Request

# Top level of the configuration -> heading of its options in the help.
_SECTIONS = {
    "agent": "the ensemble and its learner",
    "acting": "acting",
    "exploration": "exploration",
    "replay": "replay",
    "schedule": "budget",
    "evaluation": "evaluation",
    "states": "metrics of exploration",
    "env": "environment",
    "runtime": "machine",
}


def whole(text: str) -> int:
    from chorus.config.options import whole as read

    return read(text)


def add_seeds(parser: Any, of: str, usual: str, default: tuple[int, ...] | None = None, first: int = 0) -> None:
    def seeds(text: str) -> tuple[int, ...]:
        from chorus.studies.seeds import read_seeds

        return read_seeds("--seeds", text, first)

    some = f"S seeds from {first} on" if first else "seeds 0 to S - 1"
    which = f"{first}-{first + 9}, or {first},{first + 5}" if first else "0-9, or 3,5,8"
    parser.add_argument(
        "--seeds",
        type=seeds,
        metavar="S",
        help=f"{some} of each {of}, or which: {which} (default: {usual})",
        default=default,
    )


def folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name is no folder")
    return Path(text)


def add_out(parser: Any) -> None:
    parser.add_argument(
        "--out", type=folder, default=Path("runs"), metavar="DIR", help="folder that holds run folders (default: runs)"
    )


def add_run_options(parser: argparse.ArgumentParser, given: Sequence[str] = ()) -> None:
    """All options of a run; if `given` asks for help, each with the number it has there."""
    from chorus.config.options import options

    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--env",
        metavar="ID",
        help="environment: a Gymnasium id, ALE/Breakout-v5, MinAtar/Breakout-v1, DeepSea-20-v0, or "
        "my_package:MyEnv-v0 (default: that of --config)",
    )
    what.add_argument("--seed", type=whole, metavar="S", help="root of every random stream (default: 0)")
    add_scale(what, "smoke takes about 20 seconds, laptop minutes to hours on a CPU, paper what the paper used")
    add_hyperparameters(what)
    what.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a run's config.json, or a part of one, in JSON or YAML, laid over the preset (default: none)",
    )
    add_set(what, "one value each, such as agent.torso.dense=128,64")
    what.add_argument("--eval-members", action="store_true", help="evaluate each member by itself, too (default: off)")

    defaults = Defaults(given)
    if defaults.headline:
        parser.epilog = f"{parser.epilog or ''}\n{defaults.headline}".strip()
    for section, heading in _SECTIONS.items():
        group = parser.add_argument_group(heading)
        for setting in options().values():
            if setting.path.split(".")[0] == section:
                _add_setting(group, setting, defaults)


def add_scale(group: Any, meaning: str) -> None:
    group.add_argument(
        "--scale",
        choices=["smoke", "laptop", "paper"],
        help=f"budget and network together: {meaning} (default: laptop)",
    )


def add_hyperparameters(group: Any) -> None:
    group.add_argument(
        "--hyperparameters",
        choices=["code", "table"],
        help="where the paper's table differs from the code it was run with, which to follow (default: code)",
    )


def add_set(group: Any, values: str) -> None:
    group.add_argument(
        "--set",
        dest="settings",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help=f"any option, or any field of the configuration by its path, {values}; `chorus show` prints the paths "
        "(default: none)",
    )


def _add_setting(group: Any, setting: "Setting", defaults: "Defaults") -> None:
    text = f"{setting.option.help} ({defaults.of(setting)})".replace("%", "%%")
    if setting.annotation is bool:
        group.add_argument(f"--{setting.flag}", action="store_true", default=None, help=text)
    elif typing.get_origin(setting.annotation) is typing.Literal:
        choices = list(typing.get_args(setting.annotation))
        group.add_argument(f"--{setting.flag}", choices=choices, help=text)
    else:
        names = [f"--{name}" for name in (setting.flag, *setting.option.aliases)]
        group.add_argument(*names, type=_reader(setting), metavar=setting.option.unit, help=text)


def _reader(setting: "Setting") -> Any:
    def read(text: str) -> Any:
        try:
            return setting.read(text)
        except ValueError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from problem

    return read


class Defaults:
    """The numbers that options have if they are left out, worked out only when somebody asks for help."""

    def __init__(self, given: Sequence[str]) -> None:
        self.headline = ""
        self._values: dict[str, Any] | None = None
        if {"-h", "--help"} & set(given):
            self._resolve(given)

    def _resolve(self, given: Sequence[str]) -> None:
        from chorus.config.presets import PRESETS
        from chorus.config.resolution import Request, resolve
        from chorus.envs.registry import describe
        from chorus.files import flatten
        from chorus.spaces import Box

        asked = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        asked.add_argument("words", nargs="*")
        for name in ("--env", "--scale", "--hyperparameters"):
            asked.add_argument(name)
        known, _ = asked.parse_known_args([word for word in given if word not in ("-h", "--help")])
        name = next((word for word in known.words if word in PRESETS), "bootstrapped-dqn")
        env = known.env or (known.words[1] if given[:1] == ["diagnose"] and known.words[1:] else PRESETS[name].home)
        if isinstance(describe(env).actions, Box) and name == "bootstrapped-dqn":
            name = "ensemble-sac"
        request = Request(preset=name, env=env, scale=known.scale, hyperparameters=known.hyperparameters)
        self._values = flatten(resolve(request).config.to_json())
        scale = known.scale or "laptop"
        self.headline = f"Defaults are those of {name} on {env} at {scale} scale; name others to see theirs."

    def number(self, path: str) -> str:
        """The default at a path, for an option that a command declares by itself."""
        return "the scale's" if self._values is None else _shown(self._values[path])

    def of(self, setting: "Setting") -> str:
        if self._values is None:
            return "default: the scale's"
        # A component is given by its kind.
        for path in (setting.path, f"{setting.path}.kind"):
            if path in self._values:
                return f"default: {_shown(self._values[path])}"
        return f"default: {_shown(setting.default)}" + (f", with the {setting.owner}" if setting.owner else "")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    return f"{value:,}".replace(",", "_") if isinstance(value, int) else f"{value}"


def add_output_options(parser: argparse.ArgumentParser) -> None:
    output = parser.add_argument_group("output")
    add_out(output)
    output.add_argument("--quiet", action="store_true", help="no progress, only the result (default: off)")
    output.add_argument(
        "--keep-replay", action="store_true", help="keep the replay's files when the run is finished (default: off)"
    )
    add_tracking(parser)


def request_from(args: argparse.Namespace) -> "Request":
    from chorus.config.options import options
    from chorus.config.resolution import Request

    flags = {name: vars(args)[name] for name in options() if vars(args).get(name) is not None}
    problems: list[str] = []
    settings = single_settings(args.settings, flags, problems)
    return Request(
        preset=args.preset,
        env=args.env,
        seed=args.seed,
        scale=args.scale,
        hyperparameters=args.hyperparameters,
        file=args.config,
        options={**flags, **settings},
        eval_members=args.eval_members,
        problems=tuple(problems),
    )


# Settings that commands have options of their own for.
_OWN_OPTIONS = {
    **dict.fromkeys(("env", "env.id"), "--env"),
    "preset": "the argument PRESET, or --preset in a sweep",
    **dict.fromkeys(("seed", "seeds"), "--seed, or --seeds in a sweep"),
    "scale": "--scale",
    "hyperparameters": "--hyperparameters",
}


def single_settings(given: Sequence[str], flags: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """`--set` of a single run: one value each; what cannot be read is added to `problems`."""
    found: dict[str, Any] = {}
    for text in given:
        try:
            setting, name, value = _split(text)
            if {setting.key, setting.path} & {*flags, *found} or _flag_key(setting) in flags:
                raise ChorusError(f"--set {text}: {setting.name} is given twice; leave one out")
            found[setting.key] = _read(setting, name, value)
        except ChorusError as problem:
            problems.append(str(problem))
    return found


def _flag_key(setting: "Setting") -> str:
    from chorus.config.options import settings

    return settings().get(setting.path, setting).key


def swept_settings(given: Sequence[str]) -> dict[str, list[Any]]:
    """`--set` of a sweep: `members=5,10` are two values; a list is written in brackets, `[128,64],[64,64]`."""
    found: dict[str, list[Any]] = {}
    problems: list[str] = []
    for text in given:
        try:
            setting, name, values = _split(text)
            if setting.key in found:
                raise ChorusError(f"--set gives {name} twice; write all its values together, as {name}=V1,V2")
            found[setting.key] = [_read(setting, name, value) for value in _top_level(values)]
        except ChorusError as problem:
            problems.append(str(problem))
    if problems:
        raise ChorusError("; ".join(problems))
    return found


def _split(text: str) -> "tuple[Setting, str, str]":
    from chorus.config.options import find_setting

    name, equals, value = text.partition("=")
    if not equals or not value:
        raise ChorusError(
            f"--set {text} has no value; write it as {name or 'members'}=VALUE, in a sweep {name or 'members'}=V1,V2"
        )
    plain = name.removeprefix("--").replace("-", "_")
    if own := _OWN_OPTIONS.get(plain):
        raise ChorusError(f"--set {text}: that has an option of its own; use {own}")
    try:
        return find_setting(name if "." in name else plain), name, value
    except ChorusError as problem:
        raise ChorusError(f"--set {text}: {problem}") from problem


def _top_level(values: str) -> list[str]:
    """Split at the commas outside brackets and braces."""
    parts, depth = [""], 0
    for letter in values:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _read(setting: "Setting", name: str, text: str) -> Any:
    try:
        return setting.read(text)
    except (argparse.ArgumentTypeError, ValueError) as problem:
        raise ChorusError(f"--set {name}={text} cannot be read: {problem}") from problem
