"""`chorus`: finds the command, turns every error into one sentence and an exit code."""

import argparse
import errno
import importlib
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TextIO

from chorus.errors import ChorusError, ChorusWarning, closest, did_you_mean
from chorus.files import is_disk_full
from chorus.plugins import load_plugins
from chorus.wrapping import say

# The exit code of a program ended by Ctrl-C.
INTERRUPTED = 130
# Errors of a path that somebody typed.
_OF_A_NAME = (errno.ENAMETOOLONG, errno.ELOOP)
# Command -> (module, one line of help). Modules are imported when their command is, so help answers at once.
COMMANDS = {
    "demo": ("chorus.cli.demo", "the curse of diversity on MinAtar, in 4 to 15 minutes"),
    "train": ("chorus.cli.train", "train an algorithm on an environment"),
    "diagnose": ("chorus.cli.diagnose", "is there a curse in your environment, what to use"),
    "resume": ("chorus.cli.resume", "resume a run that was stopped"),
    "evaluate": ("chorus.cli.evaluate", "play episodes with a trained run, and record a video"),
    "sweep": ("chorus.cli.sweep", "run a grid of algorithms, environments and settings"),
    "reproduce": ("chorus.cli.reproduce", "a figure of the paper, from its runs to a report"),
    "report": ("chorus.cli.report", "statistics, figures and a page to read, from runs"),
    "claims": ("chorus.cli.claims", "the paper's 44 claims and what your runs say of each"),
    "list": ("chorus.cli.list", "the presets, environments, scales, studies and runs"),
    "show": ("chorus.cli.show", "what a preset is made of, and where each number comes from"),
    "completion": ("chorus.cli.completion", "completion of commands and options for your shell"),
}
_EPILOG = """first steps:
  chorus demo                                        the curse, in minutes
  chorus train cerl --env CartPole-v1 --scale smoke  a run, in 20 seconds
  chorus list                                        what else there is
  chorus show cerl                                   what CERL is made of
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Every command and its summary on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 4 + max(map(len, COMMANDS))


class Parser(argparse.ArgumentParser):
    """Errors are one sentence that names the remedy."""

    def error(self, message: str) -> NoReturn:
        raise ChorusError(f"{message}; `{self.prog} --help` shows what can be given")


def build_parser(command: str | None, given: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The whole parser; only the command that is asked for brings its options."""
    parser = Parser(
        prog="chorus",
        description="Ensemble-based exploration in deep reinforcement learning.",
        epilog=_EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (module, summary) in COMMANDS.items():
        child = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            allow_abbrev=False,
        )
        if name == command:
            importlib.import_module(module).configure(child, given)
            add_plugin(child)
    return parser


def add_plugin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module or .py file of your own that registers components or presets; may be given more than once "
        "(default: those that are installed, and those that a run was trained with)",
    )


def plugins_in(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """What `--plugin` names, and the other words; plugins are loaded first, because they may bring options."""
    plugins: list[str] = []
    rest: list[str] = []
    words = iter(given)
    for word in words:
        if word.startswith("--plugin="):
            plugins.append(word.removeprefix("--plugin="))
        elif word == "--plugin" and (name := next(words, None)) is not None:
            plugins.append(name)
        else:
            rest.append(word)
    return plugins, rest


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _notes():
            return _run(given)
    except ChorusError as problem:
        say(f"chorus: {problem}", sys.stderr)
        return 2
    except PermissionError as problem:
        say(f"chorus: permission denied: {problem.filename}; check its permissions", sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of a pipe has closed it, as in `chorus list | head`.
        sys.stderr.close()
        return 0
    except OSError as problem:
        if problem.errno in _OF_A_NAME and problem.filename:
            say(f"chorus: {problem.filename} cannot be used ({problem.strerror}); choose another name", sys.stderr)
            return 2
        if not is_disk_full(problem):
            raise
        where = f" for {problem.filename}" if problem.filename else ""
        say(f"chorus: no space is left on the disk{where}; make room, and repeat the command", sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nchorus: stopped", file=sys.stderr)
        return INTERRUPTED


@contextmanager
def _notes() -> Iterator[None]:
    """Chorus's own warnings become lines of stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ChorusWarning)
        show = warnings.showwarning

        def note(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, ChorusWarning):
                say(f"Note: {message}", sys.stderr)
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = note
        yield


def _run(given: list[str]) -> int:
    plugins, rest = plugins_in(given)
    command = next((word for word in rest if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        raise ChorusError(f"the command '{command}' is not known{did_you_mean(command, COMMANDS)}")
    if command is not None:
        for note in load_plugins(plugins):
            say(f"Note: {note}", sys.stderr)
    parser = build_parser(command, given)
    # Plugins may be named before the command, too.
    args, unknown = parser.parse_known_args([*rest, *(word for name in plugins for word in ("--plugin", name))])
    if args.version:
        from importlib.metadata import version

        print(f"chorus {version('chorus-rl')}")
        return 0
    if unknown:
        raise ChorusError(_about_unknown(unknown[0], command, given))
    if command is None:
        parser.print_help()
        return 0
    result: int = importlib.import_module(COMMANDS[command][0]).run(args)
    return result


def _about_unknown(word: str, command: str | None, given: Sequence[str]) -> str:
    if command is None:
        return f"'{word}' is not an option of `chorus`; `chorus --help` shows what can be given"
    name = word.split("=")[0]
    if command == "train" and not word.startswith("-") and not any(one.partition("=")[0] == "--env" for one in given):
        again = _with_env(list(given), word)
        return f"'{word}' has no option before it; if it is the environment, write `chorus {again}`"
    parser = Parser(add_help=False)
    importlib.import_module(COMMANDS[command][0]).configure(parser, given)
    options = re.findall(r"--[a-z-]+", parser.format_usage())
    if command == "list" and not word.startswith("-"):
        return f"'{word}' has no option before it; if it is the folder of the runs, write `--out {shlex.quote(word)}`"
    if "--set" in options and (setting := _key_of_setting(name)):
        return f"'{name}' is an option of `chorus train`; for `chorus {command}` write `--set {setting}=VALUE`"
    hint = closest(name, options)
    remedy = f"did you mean '{hint}'?" if hint else f"`chorus {command} --help` lists the options"
    return f"'{word}' is not an option of `chorus {command}`; {remedy}"


def _key_of_setting(name: str) -> str | None:
    from chorus.config.options import find_setting

    try:
        return find_setting(name).key
    except ChorusError:
        return None


def _with_env(given: list[str], word: str) -> str:
    """The words of `chorus train` with the environment as an option; it may have been given before the preset."""
    import chorus.config.catalogue  # noqa: F401 - registers the presets
    from chorus.config.presets import PRESETS

    place = given.index(word)
    before, after = given[:place], given[place + 1 :]
    if word.casefold() in PRESETS and before[-2:-1] == ["train"]:
        return shlex.join([*before[:-1], word, "--env", before[-1], *after])
    return shlex.join([*before, "--env", word, *after])


def entry() -> NoReturn:
    sys.exit(main())
