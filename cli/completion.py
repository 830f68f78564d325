# SPDX-License-Identifier: BSD-3-Clause
"""`hocket completion SHELL`: a script that completes commands, their options and choices."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hocket.cli.main import COMMANDS, Parser, module_of

_HELP = """Prints a script for the shell. Write it once to a file where that shell looks:

  bash   ~/.local/share/bash-completion/completions/hocket
  zsh    _hocket, in one of the folders of $fpath
  fish   ~/.config/fish/completions/hocket.fish

example:
  hocket completion bash
"""


@dataclass
class Place:
    """The possible words after some words of a command line."""

    names: dict[str, str] = field(default_factory=dict)  # further words, with their descriptions
    options: list[argparse.Action] = field(default_factory=list)


class _Found(Exception):
    """Raised with a parser that is about to read."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


@contextmanager
def _parsers_raised() -> Iterator[None]:
    """Every parser is raised in place of reading a command line."""
    before = argparse.ArgumentParser.parse_args

    def found(self: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        raise _Found(self)

    argparse.ArgumentParser.parse_args = found  # type: ignore[method-assign]
    try:
        yield
    finally:
        argparse.ArgumentParser.parse_args = before  # type: ignore[method-assign]


def _options(command: str, *words: str) -> list[argparse.Action]:
    try:
        with _parsers_raised():
            module_of(command).main(list(words))
    except _Found as found:
        return [each for each in found.parser._actions if each.option_strings]
    raise AssertionError(f"hocket {command} has read its words without a parser")


def places() -> dict[str, Place]:
    """All command lines, by the words that have been given."""
    nested = {command: module_of(command).names() for command in ("app", "bench")}
    found = {"": Place({name: purpose for name, (purpose, _) in COMMANDS.items()})}
    for command in COMMANDS:
        if command not in nested:
            found[command] = Place(options=_options(command))
            continue
        found[command] = Place(nested[command])
        for name in nested[command]:
            found[f"{command} {name}"] = Place(options=_options(command, name))
    found["completion"].names = {shell: f"the script for {shell}" for shell in SHELLS}
    return found


def _cases(found: dict[str, Place]) -> str:
    """For bash and zsh: sets `names` and `options` by `given`, and `names` to the choices of the
    preceding option."""
    lines = []
    for words in sorted(found, reverse=True):  # the longer ones first
        place = found[words]
        names = " ".join(place.names)
        options = " ".join(word for each in place.options for word in each.option_strings)
        lines.append(f"    '{words}'{'*' if words else ''}) names='{names}' options='{options}'")
        chosen = [each for each in place.options if each.choices]
        if chosen:
            lines.append("      case $before in")
            for each in chosen:
                words_ = shlex.quote(" ".join(map(str, each.choices or ())))
                lines.append(f"        {'|'.join(each.option_strings)}) names={words_} ;;")
            lines.append("      esac")
        lines.append("      ;;")
    return "\n".join(lines)


def bash(found: dict[str, Place]) -> str:
    """Completes file names if nothing else is known."""
    return f"""_hocket() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local given="${{COMP_WORDS[*]:1:COMP_CWORD-1}}" names options
  case $given in
{_cases(found)}
  esac
  case $current in -*) names=$options ;; esac
  COMPREPLY=($(compgen -W "$names" -- "$current"))
}}
complete -o default -o bashdefault -F _hocket hocket
"""


def zsh(found: dict[str, Place]) -> str:
    """For the file `_hocket`."""
    return f"""#compdef hocket
_hocket() {{
  local current=$words[CURRENT] before=$words[CURRENT-1] names options
  local given="${{(j: :)words[2,CURRENT-1]}}"
  case $given in
{_cases(found)}
  esac
  case $current in -*) names=$options ;; esac
  if [[ -n $names ]]; then compadd -- ${{=names}}; else _files; fi
}}
_hocket "$@"
"""


def fish(found: dict[str, Place]) -> str:
    """Each word with its description."""
    lines = []
    for words, place in found.items():
        seen = [f"__fish_seen_subcommand_from {word}" for word in words.split()]
        if place.names:
            apart = f"not __fish_seen_subcommand_from {' '.join(place.names)}"
            when = shlex.quote("; and ".join([*seen, apart]))
            for name, purpose in place.names.items():
                lines.append(
                    f"complete -c hocket -f -n {when} --arguments {name} -d {_quoted(purpose)}"
                )
        when = shlex.quote("; and ".join(seen) or "true")
        for each in place.options:
            text = " ".join(
                f"-{'l' if word.startswith('--') else 's'} {word.lstrip('-')}"
                for word in each.option_strings
            )
            if each.choices:
                text += f" -x --arguments {_quoted(' '.join(map(str, each.choices)))}"
            elif each.nargs != 0:
                text += " -r"
            lines.append(f"complete -c hocket -n {when} {text} -d {_quoted(each.help or '')}")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """fish escapes a quote with a backslash."""
    plain = " ".join(text.replace("%%", "%").split())
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def main(words: list[str]) -> int:
    """Print the script."""
    parser = Parser(prog="hocket completion", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=list(SHELLS), help="the shell that it is for")
    shell = parser.parse_args(words).shell
    print(SHELLS[shell](places()), end="")
    return 0
