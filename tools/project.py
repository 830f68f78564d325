# SPDX-License-Identifier: BSD-3-Clause
"""The Makefile's targets: set up missing parts, then run one command.

python3 tools/project.py COMMAND [--mpi openmpi|mpich|system] [arguments of the command]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import build
import checks
import environment
import suite
from messages import PLACE, say, stop

# Measured: docs/measurements/mpi.md.
DEFAULT_MPI = "openmpi"


def command_in(python: Path, words: Sequence[str]) -> int:
    """Runs a program of the environment, in the foreground; its exit code. Programs leave files
    in the folder of builds."""
    program = [str(python.parent / words[0]), *words[1:]]
    return subprocess.run(program, cwd=PLACE, env={**os.environ, **build.bytecode()}).returncode


def which(mpi: str, arguments: list[str]) -> int:
    """Prints the environment's Python."""
    print(build.ensure(mpi))
    return 0


def demo(mpi: str, arguments: list[str]) -> int:
    """The main job, on real photographs."""
    return command_in(build.ensure(mpi, demo=True), ["hocket", "demo", *arguments])


def bench(mpi: str, arguments: list[str]) -> int:
    """One benchmark by name; without a name, the list of them."""
    return command_in(build.ensure(mpi, ["programs"]), ["hocket", "bench", *arguments])


def test(mpi: str, arguments: list[str]) -> int:
    """All tests under this MPI."""
    return suite.test(mpi, arguments)


def soak(mpi: str, arguments: list[str]) -> int:
    """The long versions of tests, without a time limit."""
    return suite.soak(mpi, arguments)


def docs(mpi: str, arguments: list[str]) -> int:
    """The guide as HTML in site/, and its snippets run."""
    return suite.docs(mpi, arguments)


def check(mpi: str, arguments: list[str]) -> int:
    """Formatters, linters, types."""
    return checks.check(mpi, arguments)


COMMANDS: dict[str, Callable[[str, list[str]], int]] = {
    call.__name__: call for call in (which, demo, test, bench, docs, check, soak)
}


def main() -> int:
    """Reads the command line and runs the command; its exit code."""
    parser = argparse.ArgumentParser(prog="tools/project.py", description=__doc__)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("--mpi", default=DEFAULT_MPI)
    options, arguments = parser.parse_known_args()
    mpi = options.mpi or DEFAULT_MPI
    if mpi not in environment.MPIS:
        stop(f"MPI={mpi} is not one of {', '.join(environment.MPIS)}; choose one of them.")
    try:
        return COMMANDS[options.command](mpi, arguments)
    except KeyboardInterrupt:
        say("interrupted")
        return 130


if __name__ == "__main__":
    sys.exit(main())
