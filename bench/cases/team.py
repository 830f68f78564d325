# SPDX-License-Identifier: BSD-3-Clause
"""Aggregate operations of teams (the PAPERS paper's Tables 2 to 20), beside the MPI at hand."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..beside import resolve
from ..group import Group
from ..harness import Contestant, Step, WrongResultError
from ..record import Question
from ..registry import Match, Native
from ..subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI

RANKS = 2
TYPES = ("int8", "int16", "int32", "int64", "float32", "float64")
_MPI = "MPI, mpi4py"


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--type``, ``--beside``."""
    parser.add_argument(
        "--type",
        action="append",
        choices=TYPES,
        help="of the values, from C++; may be repeated (default: int64 and float64)",
    )

    parser.add_argument(
        "--beside",
        action="append",
        metavar="ENV[:BUILD]",
        help="another MPI in the tables of C++, by its environment: mpich, or .env/mpich, or with "
        "the folder where it is built; may be repeated",
    )


def validate(options: argparse.Namespace) -> None:
    """One process and more; other MPIs that are built."""
    if options.ranks < 1:
        raise ValueError(f"--ranks {options.ranks}: give 1 or more")
    options.beside = [resolve(text) for text in options.beside or ()]


def _contestant(name: str, call: Callable[[], Any], expected: Any) -> Contestant:
    """Runs the call and keeps its result for the check."""
    found: list[Any] = [None]

    def run() -> None:
        found[0] = call()

    def check() -> None:
        if not np.array_equal(found[0], expected):
            raise WrongResultError(f"found {found[0]!r}, not {expected!r}")

    def spoil() -> None:
        found[0] = "nothing"

    return Contestant(name, lambda: Step(run, check, spoil))


def _pairs(comm: MPI.Intracomm) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any], Any]]:
    """Operation, MPI's call, hocket's call, and their result."""
    from mpi4py import MPI

    team = hocket().Team(comm)
    rank, size = comm.Get_rank(), comm.Get_size()
    mine, into = np.array([rank + 1.0]), np.empty(1)
    all_of, value = np.empty(size), np.float64(rank + 1)

    def reduced() -> Any:
        comm.Allreduce(mine, into, MPI.SUM)
        return into[0]

    def scanned() -> Any:
        comm.Scan(mine, into, MPI.SUM)
        return into[0]

    def gathered() -> Any:
        comm.Allgather(mine, all_of)
        return all_of

    yield "wait", comm.Barrier, team.wait, None
    yield "reduce_add", reduced, lambda: team.reduce_add(value), size * (size + 1) / 2
    yield "scan_add", scanned, lambda: team.scan_add(value), (rank + 1) * (rank + 2) / 2
    yield "gather", gathered, lambda: team.gather(value), np.arange(1.0, size + 1)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """Some of the operations from Python: the binding's share of them."""
    if group.comm is None:
        raise ValueError("team needs MPI; leave --ranks at 2")
    for operation, theirs, ours, expected in _pairs(group.comm):
        question = Question(
            {"operation": operation, "type": "float64", "from": "Python"}, baseline=(_MPI,)
        )
        contestants = [
            _contestant(_MPI, theirs, expected),
            _contestant("hocket, Python", ours, expected),
        ]
        yield Match(question, contestants)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """All of them from C++."""
    return [
        Native("hocket_bench_team", ("--types", ",".join(options.type or ("int64", "float64"))))
    ]
