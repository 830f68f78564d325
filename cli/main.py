# SPDX-License-Identifier: BSD-3-Clause
"""`hocket COMMAND …`: finds the command's file, and turns its errors into one line and a status."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

#: command → (its purpose, an example)
COMMANDS = {
    "demo": ("photographs through the pipelined 2-D FFT, checked and timed", "hocket demo"),
    "run": ("start tasks from programs", "hocket run rows=2:rows.py cols=2:cols.py"),
    "plan": (
        "explain who sends what to whom between two layouts",
        "hocket plan '(BLOCK,*)@4' '(*,BLOCK)@4' --shape 8,8",
    ),
    "calibrate": ("measure what messages cost here, for plans", "hocket calibrate"),
    "info": ("versions, MPI, machine and copy methods", "hocket info"),
    "rechunk": (
        "copy a store into other chunks, out of core",
        "hocket rechunk in.zarr out.zarr --chunks 100,100",
    ),
    "ports": ("programs of yours that can be looked into; keys for them", "hocket ports"),
    "observe": (
        "a picture of a running program, or a new value for one of its parameters",
        "hocket observe simulation temperature",
    ),
    "bench": ("measure, beside the peers", "hocket bench redistribute"),
    "app": ("the papers' programs", "hocket app fft2d --size 256 --procs 4 --check"),
    "papers": ("the papers' claims, tried here", "hocket papers vacancy-tracking"),
    "completion": ("a script that completes all this in a shell", "hocket completion bash"),
}

#: commands in packages of their own, above this one, each with a function `main`
PACKAGES = {"bench": "hocket.bench", "papers": "hocket.papers"}


class UsageError(Exception):
    """An invalid command line; nothing has started."""


class Parser(argparse.ArgumentParser):
    """argparse that raises its errors, so that all errors look alike."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{self.prog} --help` explains")


def _usage() -> str:
    lines = ["usage: hocket COMMAND …", ""]
    for name, (purpose, example) in COMMANDS.items():
        lines += [f"  {name:<10} {purpose}", f"             {example}"]
    return "\n".join([*lines, "", "`hocket COMMAND --help` tells the rest."])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for an error, 2 for a wrong command line,
    130 for Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # also where it is no UTF-8
        sys.stdout.reconfigure(errors="replace")
    if not words or words[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if words else 2
    if words[0] == "--version":
        words[0] = "version"
    try:
        return _dispatch(words[0], words[1:])
    except UsageError as problem:
        return _complain(problem, 2)
    except KeyboardInterrupt:
        return _complain("stopped by Ctrl-C; every process has been ended", 130)
    except BrokenPipeError:
        # The reader of the output has ended (`hocket plan … | head`), so nothing more is printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as problem:
        if not _is_ours(problem):
            raise
        return _complain(problem, 1)


def _dispatch(name: str, words: list[str]) -> int:
    if name == "version":
        print(f"hocket {importlib.import_module('hocket').__version__}")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command '{name}'; {hint}")
    status: int = module_of(name).main(words)
    return status


def module_of(command: str) -> Any:
    """The module with the `main` of a command."""
    package = PACKAGES.get(command, f"hocket.cli.{command}")
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as problem:
        if problem.name != package:
            raise
        raise UsageError(
            f"the package {package} is not installed; run `make which` in a checkout of hocket"
        ) from problem


def _is_ours(problem: Exception) -> bool:
    errors = sys.modules.get("hocket.errors")
    return errors is not None and isinstance(problem, errors.Error)


def _complain(problem: object, status: int) -> int:
    # An error that has been printed in full gets one line only.
    text = str(problem)
    if getattr(problem, "_shown", False):
        text = text.splitlines()[0] + " (in full above)"
    print(f"hocket: {text}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
