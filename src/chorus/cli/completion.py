"""`chorus completion`: a script that completes commands, options and their values in a shell."""

import argparse
import importlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = "Print a script that completes commands, options, presets and environments."
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="the shell: bash, zsh or fish")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = """to install it:
  bash  put this into ~/.bashrc:  eval "$(chorus completion bash)"
  zsh   put this into ~/.zshrc:   eval "$(chorus completion zsh)"
  fish  chorus completion fish > ~/.config/fish/completions/chorus.fish"""


@dataclass(frozen=True)
class _Command:
    """Its options, each with its values (None: it takes none; empty: any), and the values of its argument."""

    summary: str
    options: Mapping[str, tuple[str, ...] | None]
    values: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    writers: dict[str, Callable[[Mapping[str, _Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    print(writers[args.shell](_commands()))
    return 0


def _commands() -> dict[str, _Command]:
    import chorus.config.catalogue  # noqa: F401 - registers the presets
    from chorus.cli.list import TOPICS
    from chorus.cli.main import COMMANDS
    from chorus.config.presets import PRESETS
    from chorus.envs.registry import env_sets, known_ids
    from chorus.scheduling.engines import ENGINES
    from chorus.studies.table import STUDIES

    presets, envs = tuple(PRESETS), (*env_sets(), *known_ids())
    of_options = {"--preset": presets, "--env": envs, "--engine": tuple(ENGINES)}
    of_arguments = {"preset": presets, "env": envs, "study": tuple(STUDIES), "topic": (*TOPICS, *env_sets())}
    found = {}
    for name, (module, summary) in COMMANDS.items():
        parser = argparse.ArgumentParser(add_help=False)
        importlib.import_module(module).configure(parser, ())
        options: dict[str, tuple[str, ...] | None] = {"--help": None, "--plugin": ()}
        values: tuple[str, ...] = ()
        for action in parser._actions:
            chosen = tuple(map(str, action.choices or ()))
            for option in (one for one in action.option_strings if one.startswith("--")):
                options[option] = None if action.nargs == 0 else chosen or of_options.get(option, ())
            if not action.option_strings:
                values = chosen or of_arguments.get(action.dest, ())
        found[name] = _Command(summary, options, values)
    return found


def _words(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


def _bash(commands: Mapping[str, _Command]) -> str:
    cases = []
    for name, command in commands.items():
        by_values: dict[tuple[str, ...], list[str]] = {}
        for option, values in command.options.items():
            if values is not None:
                by_values.setdefault(values, []).append(f"{name}:{option}")
        for values, places in by_values.items():
            cases.append(f"    {'|'.join(places)}) words={_words(values)} ;;")
        cases.append(f"    {name}:*) words={_words([*command.options, *command.values])} ;;")
    return "\n".join(
        [
            "_chorus() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            '  case "${COMP_WORDS[1]}:$before" in',
            *cases,
            "  esac",
            f'  [ "$COMP_CWORD" -eq 1 ] && words={_words([*commands, "--help", "--version"])}',
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _chorus chorus",
        ]
    )


def _zsh(commands: Mapping[str, _Command]) -> str:
    """Zsh can use the functions of bash."""
    return "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n" + _bash(commands)


def _fish(commands: Mapping[str, _Command]) -> str:
    lines = ["complete -c chorus -e"]
    for name, command in commands.items():
        lines.append(f"complete -c chorus -n __fish_use_subcommand -f -a {name} -d {shlex.quote(command.summary)}")
        here = f"complete -c chorus -n '__fish_seen_subcommand_from {name}'"
        if command.values:
            lines.append(f"{here} -f -a {_words(command.values)}")
        for option, values in command.options.items():
            takes = "" if values is None else f" -x -a {_words(values)}" if values else " -r"
            lines.append(f"{here} -l {option.removeprefix('--')}{takes}")
    return "\n".join(lines)
