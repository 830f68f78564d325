# SPDX-License-Identifier: BSD-3-Clause
"""Operations on whole distributed arrays, beside NumPy on one process and mpi4py by hand."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from ..group import Group
from ..record import Question
from ..registry import Match, Native
from ..whole_arrays import CONTESTANTS, OPERATIONS, Problem

RANKS = 2
SIDES = (16, 2048)


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--side --only``."""
    parser.add_argument(
        "--side",
        type=int,
        action="append",
        metavar="N",
        help="of square matrices; may be repeated (default: 16, for the cost of a call, and 2048)",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help=f"one of {', '.join(each.name for each in OPERATIONS)}; may be repeated",
    )


def validate(options: argparse.Namespace) -> None:
    """Sides and names that are."""
    known = [each.name for each in OPERATIONS]
    for name in options.only or []:
        if name not in known:
            raise ValueError(f"--only {name}: there are {', '.join(known)}")
    for side in options.side or []:
        if side < options.ranks:
            raise ValueError(f"--side {side}: give {options.ranks} or more")


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match an operation and side."""
    comm = group.comm
    if comm is None:
        raise ValueError("array needs MPI; leave --ranks at 1 or more")
    for side in options.side or SIDES:
        problem = Problem(comm, side)
        for operation in OPERATIONS:
            if options.only and operation.name not in options.only:
                continue
            question = Question(
                {"operation": operation.name, "side": side, "processes": group.size},
                baseline=("mpi4py by hand", "NumPy on one process"),
                limit=("NumPy on the parts",),
            )
            yield Match(question, [make(problem, operation) for make in CONTESTANTS])


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None."""
    return ()
