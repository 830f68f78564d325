# SPDX-License-Identifier: BSD-3-Clause
"""Seconds a step of a flow beside OpenMP, oneTBB and StarPU; longer steps on two workers; the
cost of an idle agent."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence

import numpy as np

from ..group import Group
from ..harness import Contestant, Step, WrongResultError
from ..record import Question
from ..registry import Match, Native
from ..subject import hocket

RANKS = 0
STEPS = 2000


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--dependences``, ``--additions`` and ``--workers``."""
    parser.add_argument(
        "--dependences", type=int, action="append", metavar="N", help="0 to 2 (default: each)"
    )
    parser.add_argument(
        "--additions",
        type=int,
        action="append",
        metavar="N",
        help="how long the longer steps are, a few nanoseconds each (default: 30 to 30000)",
    )
    parser.add_argument(
        "--workers", type=int, action="append", metavar="N", help="(default: 1, and the cores)"
    )


def validate(options: argparse.Namespace) -> None:
    """One process; up to two dependences."""
    if options.ranks != 0:
        raise ValueError(f"--ranks {options.ranks}: a flow is of one process; leave it out")
    for number in options.dependences or ():
        if not 0 <= number <= 2:
            raise ValueError(f"--dependences {number}: give 0, 1 or 2")
    for number in options.additions or ():
        if not 1 <= number <= 10**9:
            raise ValueError(f"--additions {number}: give 1 to 1000000000")
    for number in options.workers or ():
        if number < 1:
            raise ValueError(f"--workers {number}: give 1 or more")


def _workers(options: argparse.Namespace) -> list[int]:
    return options.workers or sorted({1, len(os.sched_getaffinity(0))})


def _python(workers: int) -> Contestant:
    def prepare() -> Step:
        flow = hocket().Flow(workers)
        cells = np.zeros((8, 16))

        def add(cell: np.ndarray) -> None:
            cell += 1

        def run() -> None:
            for number in range(STEPS):
                cell = cells[number % 8]
                flow.task(lambda cell=cell: add(cell), inouts=[cell])
            flow.wait()

        def check() -> None:
            if not (cells == STEPS // 8).all():
                raise WrongResultError(f"cells are {cells}, not {STEPS // 8}")

        return Step(run, check, lambda: cells.fill(0))

    return Contestant("hk.Flow", prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """From Python: the cost of a step of a function."""
    for workers in _workers(options):
        question = Question(
            {"step": "insert, order, run", "dependences": 1, "workers": workers, "steps": STEPS}
        )
        yield Match(question, [_python(workers)], steps_per_call=STEPS)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """Very short steps and longer ones, from C++; computing during an idle wait."""
    steps = [
        Native("hocket_bench_flow", ("--point", str(dependences), str(workers)))
        for dependences in options.dependences or (0, 1, 2)
        for workers in _workers(options)
    ]
    grains = [
        Native("hocket_bench_flow", ("--grain", str(additions), str(workers)))
        for additions in options.additions or (30, 100, 300, 1000, 3000, 10000, 30000)
        for workers in _workers(options)
        if workers > 1
    ]
    idle = [Native("hocket_bench_flow", ("--idle", str(workers))) for workers in _workers(options)]
    waits = [Native("hocket_bench_flow", ("--waits", str(n))) for n in _workers(options)]
    return [*steps, *grains, *waits, *idle]
