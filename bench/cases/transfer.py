# SPDX-License-Identifier: BSD-3-Clause
"""A small float64 array moves again and again: `hk.transfer`, one-shot `hk.redistribute`, MPI."""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np

from ..baselines import alltoallw, flat_copy
from ..formats import lay
from ..group import Group
from ..harness import Contestant, Step
from ..record import Question
from ..redistribution import Problem, fill
from ..registry import Match, Native
from ..subject import hocket
from ..transfers import planned_alltoallw

RANKS = 2
SIZES = (512,)


def add_options(parser: argparse.ArgumentParser) -> None:
    """How large the array is."""
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        metavar="N",
        help="arrays of N*N elements, from rows to columns; may be repeated (default: "
        f"{', '.join(map(str, SIZES))})",
    )


def validate(options: argparse.Namespace) -> None:
    """Sizes are positive."""
    for size in options.size or ():
        if size < 1:
            raise ValueError(f"--size {size}: give 1 or more")


class _Rewritten:
    """A step whose source its owner writes before each run, outside of the measured time.

    As for all parallel steps, each process starts its clock after a barrier: otherwise the time of
    a step with messages would include the other process's writes.
    """

    def __init__(self, step: Step, rewrite: Callable[[], None], group: Group) -> None:
        self._step, self._rewrite, self._seconds = step, rewrite, 0.0
        self._barrier = group.barrier

    def run(self) -> None:
        self._rewrite()
        self._barrier()
        began = time.perf_counter()
        self._step.run()
        self._seconds += time.perf_counter() - began

    def took(self) -> float:
        """Seconds since the last query."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def step(self) -> Step:
        """For the harness."""
        return dataclasses.replace(self._step, run=self.run, took=self.took)


def _rewritten(contestant: Contestant, source: np.ndarray, group: Group) -> Contestant:
    kept = source.copy()

    def prepare() -> Step:
        return _Rewritten(contestant.prepare(), lambda: np.copyto(source, kept), group).step()

    return Contestant(contestant.name, prepare)


class _Moved:
    """hocket's arrays of a problem, and its ways to move the first into the second."""

    def __init__(self, problem: Problem) -> None:
        self.hk = hk = hocket()
        source, self.target = (
            hk.Layout(side.shape, side.dist, side.procs)
            for side in (problem.source_lay, problem.target_lay)
        )
        self.a, self.b = (
            hk.empty(each, np.float64, problem.comm) for each in (source, self.target)
        )
        fill(self.a.local, problem.source_indices, problem.shape)

    def into(self) -> Callable[[], object]:
        """Only calls of hocket are timed, not look-ups of their arguments."""
        redistribute, a, target, b = self.hk.redistribute, self.a, self.target, self.b
        return lambda: redistribute(a, target, out=b)

    def started(self, x: Any) -> Callable[[], object]:
        a, b = self.a, self.b
        return lambda: x(a, b)

    def new(self) -> None:
        """The array of the run before is freed before, as in a loop that names its result anew."""
        self.b = None
        self.b = self.hk.redistribute(self.a, self.target)


NEW, INTO, STARTED = (
    "hocket, one-shot redistribute into a new array",
    "hocket, one-shot redistribute",
    "hocket, started transfer",
)


def _hocket(problem: Problem, name: str, group: Group) -> Contestant:
    def prepare() -> Step:
        moved = _Moved(problem)
        kept = moved.a.local.copy()
        x: Any = moved.hk.transfer(moved.a, moved.b) if name == STARTED else None
        run = moved.started(x) if x is not None else moved.into() if name == INTO else moved.new
        step = Step(
            run,
            lambda: problem.verify(moved.b.local),
            lambda: moved.b.local.fill(np.nan),
            x.free if x is not None else lambda: None,
        )
        return _Rewritten(step, lambda: np.copyto(moved.a.local, kept), group).step()

    return Contestant(name, prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a size."""
    if group.comm is None:
        raise ValueError("transfer needs MPI; leave --ranks at 1 or more")
    for size in options.size or SIZES:
        sides = [lay((size, size), dist, group.comm.size) for dist in ("(BLOCK,*)", "(*,BLOCK)")]
        problem = Problem(group.comm, *sides)
        question = Question(
            {"from": "(BLOCK,*)", "to": "(*,BLOCK)", "shape": problem.shape},
            baseline=("Alltoallw, prebuilt types",),
            limit=["flat copy"],
            bytes=problem.bytes,
        )
        entrants = [
            _rewritten(each(problem), problem.source, group)
            for each in (flat_copy, alltoallw, planned_alltoallw)
        ]
        entrants += [_hocket(problem, name, group) for name in (NEW, INTO, STARTED)]
        yield Match(question, entrants)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: Python's part is a few microseconds, which programs in Python have, too."""
    return ()
