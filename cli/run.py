# SPDX-License-Identifier: BSD-3-Clause
"""`hocket run rows=2:rows.py cols=2:cols.py …`: tasks from separate programs, one mpiexec."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from hocket.cli.main import Parser, UsageError

from hocket import hosts as run_hosts
from hocket import mpiexec, processes, tracing
from hocket.arguments import as_seconds
from hocket.errors import DeadlineError, Error
from hocket.launch import explain, lost
from hocket.rank import describe, places
from hocket.task_ranks import check_name, check_total

_SPEC = re.compile(r"(?:(?P<name>[^=:/]*)=)?(?P<count>[^=:/]*):(?P<program>.+)", re.DOTALL)
#: options that a value follows
_WITH_VALUE = ("--timeout", "--trace", "--hosts")
_HELP = """\
Start programs as tasks of one run, each on its own processes:

  hocket run rows=2:rows.py cols=2:./cols --flag     two tasks; every program gets --flag
  hocket run "rows=2:rows.py --fast" cols=2:cols.py  arguments for one task only
  hocket run 4:program.py input.dat                  four processes, no tasks

In the programs, hk.tasks() gives the tasks. Their output appears here, a prefix before each line.
When one process fails, all are ended, and its status is this command's.
"""


@dataclass
class Spec:
    """One task of the command line: `name=count:program arguments`."""

    name: str | None
    count: int
    argv: list[str]


def main(words: list[str]) -> int:
    """Start the programs, pass on their output, and return one status for all."""
    parser = Parser(prog="hocket run", usage="hocket run [options] [NAME=]COUNT:PROGRAM … [ARGS]")
    parser.description = _HELP
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--timeout", type=float, help="seconds after which all are ended")
    parser.add_argument("--trace", metavar="FILE", help="what all did when, for ui.perfetto.dev")
    parser.add_argument("--hosts", help="n1:2,n2:2 or a host file: where they run, by mpiexec")
    parser.add_argument("--no-prefix", action="store_true", help="leave lines as they are printed")
    parser.add_argument("--dry-run", action="store_true", help="print the mpiexec line and stop")
    own, rest = _split_own(words)
    if own[-1:] in (["-n"], ["-np"]):
        raise _no_task(own[-1], rest)
    options = parser.parse_args(own)
    specs = parse(rest)
    _check_amounts(specs, options.timeout)
    programs = [(spec.count, _launcher(spec)) for spec in specs]
    tasks = ",".join(f"{spec.name}={spec.count}" for spec in specs if spec.name is not None)
    seats = places(tasks) or [(None, rank) for rank in range(specs[0].count)]
    try:
        picture = tracing.target(options.trace)
    except Error as problem:
        raise UsageError(str(problem).replace("trace is", "--trace is", 1)) from problem
    try:
        hosts = run_hosts.find(options.hosts, "--hosts")
    except Error as problem:
        raise UsageError(str(problem)) from problem
    if options.dry_run:
        print(shlex.join(_line(hosts, programs)))
        return 0
    printer = _Printer(seats, prefix=not options.no_prefix)
    with processes.run_folder(hosts) as folder:
        try:
            outcome = processes.supervise(
                programs,
                folder,
                on_line=printer.line,
                tasks=tasks,
                timeout=options.timeout,
                trace=picture,
                hosts=hosts,
                python=all(Path(spec.argv[0]).suffix in (".py", ".pyw") for spec in specs),
            )
        except DeadlineError as problem:  # before any process started
            print(f"hocket run: {problem}", file=sys.stderr)
            return 124
        return _report(outcome, folder, seats, options.timeout)


def _line(hosts: run_hosts.Hosts | None, programs: run_hosts.Programs) -> list[str]:
    """The launcher's command line. On several hosts each process selects its program by its rank;
    the line has the programs with their numbers of processes instead."""
    if hosts is None:
        return mpiexec.command(mpiexec.find(), programs)
    listed = mpiexec.command(Path("programs"), programs)
    return hosts.command(sum(count for count, _ in programs), listed)


def _check_amounts(specs: list[Spec], timeout: float | None) -> None:
    """Refuses an invalid time, and more processes than can be started."""
    try:
        as_seconds(timeout)
        check_total(sum(spec.count for spec in specs))
    except Error as problem:
        raise UsageError(str(problem)) from problem


def _split_own(words: list[str]) -> tuple[list[str], list[str]]:
    """hocket's options come before the first task; all later words are tasks and arguments."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _WITH_VALUE else 1
    return words[:position], words[position:]


def parse(words: list[str]) -> list[Spec]:
    """The tasks of a command line, each with its own and the common arguments, all checked.

    Raises:
        UsageError: a malformed task, a wrong count, a program that is missing or not executable.
    """
    specs: list[Spec] = []
    for word in words:
        match = _SPEC.fullmatch(word)
        if match is None or (specs and not _counts(match["count"])):
            break
        specs.append(_spec(word, match))
    common = words[len(specs) :]
    if common[:1] == ["--"]:
        common = common[1:]
    if not specs:
        raise _no_task(words[0] if words else "", words)
    names = [spec.name for spec in specs]
    if len(specs) > 1 and None in names:
        raise UsageError("of several programs every one needs a task's name, as rows=2:rows.py")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"task '{name}' is given twice; every task needs a name of its own")
    for spec in specs:
        spec.argv = _resolve(spec.argv[0]) + spec.argv[1:] + common
    return specs


def _no_task(word: str, words: list[str]) -> UsageError:
    """The error of a word that is no task, as of mpiexec's ``-n 4 program.py``."""
    counts = bool(words) and words[0].rstrip(":").isdecimal()
    count = words[0].rstrip(":") if counts else "4"
    program = "".join(words[counts : counts + 1]) or "program.py"
    return UsageError(
        (f"'{word}' is no task" if word else "there is no task")
        + f"; write [NAME=]COUNT:PROGRAM, as `hocket run {count}:{program}` or "
        "`hocket run rows=2:rows.py cols=2:cols.py`"
    )


def _counts(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d*", text))


def _spec(word: str, match: re.Match[str]) -> Spec:
    name = match["name"]
    if name is not None:
        try:
            check_name(name)
        except Error as problem:
            raise UsageError(f"in '{word}': {problem}") from problem
    if not match["count"].isdecimal() or int(match["count"]) < 1:
        raise UsageError(
            f"in '{word}': '{match['count']}' is no number of processes; give a whole number of "
            "at least 1, as rows=2:rows.py"
        )
    try:
        argv = shlex.split(match["program"])
    except ValueError as problem:
        raise UsageError(f"in '{word}': {problem}; close the quotes") from problem
    if not argv:
        raise UsageError(f"in '{word}': no program after the colon")
    return Spec(name, int(match["count"]), argv)


def _resolve(program: str) -> list[str]:
    """The command that runs a program: itself, or hocket's launcher for a Python program."""
    path = Path(program)
    if path.suffix in (".py", ".pyw"):
        if path.is_dir():
            raise UsageError(f"'{program}' is a directory, not a program")
        if not path.is_file():
            raise UsageError(f"there is no program '{program}'{_near(path)}")
        if not os.access(path, os.R_OK):
            raise UsageError(f"'{program}' cannot be read; give yourself the right: chmod u+r")
        return [str(path)]
    found = shutil.which(program)
    if found is not None and not Path(found).is_dir():
        return [found]
    if path.is_dir():
        raise UsageError(f"'{program}' is a directory, not a program")
    if not path.is_file():
        raise UsageError(f"there is no program '{program}', here or on PATH{_near(path)}")
    if os.sep not in program and os.access(path, os.X_OK):
        raise UsageError(f"'{program}' is not on PATH; for the file here write ./{program}")
    raise UsageError(
        f"'{program}' cannot be executed; if it is a program: chmod +x {program} (a Python "
        "program's name ends in .py)"
    )


def _near(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return f"; there is no directory '{path.parent}' either"
    near = difflib.get_close_matches(path.name, names, 1)
    return f"; did you mean '{path.parent / near[0]}'?" if near else ""


def _launcher(spec: Spec) -> list[str]:
    return [sys.executable, "-m", "hocket.cli.launch", *spec.argv]


def _report(
    outcome: processes.Outcome,
    folder: Path,
    seats: list[tuple[str | None, int]],
    timeout: float | None,
) -> int:
    """Reports the failure, if there is one; returns the status of the run."""
    if outcome.failures:
        print(explain(outcome.failures, seats), file=sys.stderr)
        return outcome.failures[0].code
    if outcome.timed_out:
        print(f"hocket run: not ended after {timeout:g} s; all are ended now", file=sys.stderr)
        for rank, stack in outcome.stacks.items():
            print(f"{describe(rank, seats)} stood here:\n{stack}", file=sys.stderr)
        return 124
    if outcome.code != 0 or outcome.dead:
        print(f"hocket run: {lost(outcome, folder, [], seats)}", file=sys.stderr)
        return outcome.code if outcome.code > 0 else 128 - outcome.code if outcome.code else 1
    return 0


class _Printer:
    """Prints whole lines, each after its task and process."""

    def __init__(self, seats: list[tuple[str | None, int]], prefix: bool) -> None:
        labels = [str(seat) if name is None else f"{name}[{seat}]" for name, seat in seats]
        width = max(map(len, labels))
        self._prefixes = [f"{label:<{width}} | " if prefix else "" for label in labels]

    def line(self, rank: int | None, stream: str, text: str) -> None:
        # The messages of mpiexec go into the report.
        if rank is not None:
            target = sys.stdout if stream == "out" else sys.stderr
            print(self._prefixes[rank] + text, file=target, flush=True)
