# SPDX-License-Identifier: BSD-3-Clause
"""`hocket calibrate`: measures the costs of messages on this machine, and stores them for all
plans."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import hocket as hk
from hocket import costs
from hocket.errors import Error
from hocket_cli.main import Parser, UsageError
from hocket_cli.message_costs import measure

_HELP = """\
Measure what messages between two processes of this machine cost, and keep it:

  hocket calibrate                                measure, print, keep
  hocket calibrate --set far_message=5e-5 …       costs between nodes, by hand
  hocket calibrate --output FILE                  keep it there; HOCKET_MODEL=FILE uses it

Costs between nodes, by two processes of a job, one on each; those kept before stay beside them:

  mpiexec -n 2 --host here,there hocket calibrate --in-job

Plans predict by it, and strategy="auto" chooses by it.
"""


def main(words: list[str]) -> int:
    """Measure, print and write the model."""
    parser = Parser(prog="hocket calibrate", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--output", metavar="FILE", help="where to keep it (the user's)")
    parser.add_argument("--set", metavar="COST=SECONDS", action="append", default=[])
    parser.add_argument("--dry-run", action="store_true", help="measure and print; keep nothing")
    parser.add_argument("--repeat", type=int, default=15, help="measurements of each (15)")
    parser.add_argument(
        "--in-job",
        action="store_true",
        help="this is one of the two processes of an MPI job: measure between them",
    )
    options = parser.parse_args(words)
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat}: measure once or more")
    by_hand = _given(options.set)
    path = options.output or costs.path()
    if path == "default" and not options.dry_run:  # HOCKET_MODEL forbids reading a file
        raise UsageError("HOCKET_MODEL is 'default'; unset it, or name a file by --output")
    if options.in_job:
        first, measured = _in_job(options.repeat)
        if not first:
            return 0
    else:
        measured = hk.run(_measured, args=(options.repeat,), ranks=2)[0]
    model = costs.checked({**_kept(path), **measured, **by_hand})
    for name, meaning in costs.MEANING.items():
        print(f"{name:<12} {model[name]:9.3g} s  {meaning}")
    if options.dry_run:
        return 0
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(costs.text_of(model), encoding="utf-8")
    except OSError as problem:
        raise UsageError(
            f"cannot write '{path}': {problem.strerror}; name a file by --output"
        ) from (problem)
    print(f"kept in {path}")
    return 0


def _in_job(repeat: int) -> tuple[bool, dict[str, float]]:
    """Whether this process reports for both, and their measurements."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if comm.size != 2:
        raise UsageError(
            f"--in-job: the job has {comm.size} process(es); start two, as mpiexec -n 2 --host "
            "here,there hocket calibrate --in-job"
        )
    return comm.rank == 0, _measured(comm, repeat)


def _measured(comm: Any, repeat: int) -> dict[str, float]:
    os.environ["HOCKET_MODEL"] = "default"  # the file may not exist yet
    return measure(comm, repeat)


def _kept(path: str) -> dict[str, float]:
    """The existing model: a measurement within a node keeps the costs between nodes."""
    try:
        return {**costs.DEFAULT, **costs.parse(Path(path).read_text(encoding="utf-8"))}
    except (OSError, UnicodeDecodeError, Error):  # none yet, or a damaged one, which this replaces
        return dict(costs.DEFAULT)


def _given(settings: list[str]) -> dict[str, float]:
    try:
        parsed = [costs.parse(each) for each in settings]
    except Error as problem:
        raise UsageError(f"--set: {problem}") from None
    names = [each.partition("=")[0].strip() for each in settings]
    return {name: model[name] for name, model in zip(names, parsed)}
