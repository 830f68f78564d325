# SPDX-License-Identifier: BSD-3-Clause
"""Seconds and memory of one rank's part of a plan, against processes, blocks and dimensions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..group import Group
from ..harness import Contestant, Step, WrongResultError
from ..record import Question
from ..registry import Match, Native
from ..subject import hocket

RANKS = 0


@dataclass(frozen=True)
class Point:
    """A plan from BLOCK to CYCLIC(block) in every dimension, over ``procs`` processes each."""

    sweep: str
    shape: tuple[int, ...]
    procs: tuple[int, ...]
    block: int

    def dist(self, form: str) -> str:
        return "(" + ",".join([form] * len(self.shape)) + ")"


def points() -> list[Point]:
    """The sweeps: one thing grows, the others stay.

    A source process holds n/p elements in a row, which fall on min(p, n/(p k)) destinations.
    """
    million = 10**6
    sweep: list[Point] = []
    for procs in (10**2, 10**4, million):  # 100 peers each, whatever the number of processes
        sweep.append(Point("processes", (procs * 100,), (procs,), 1))
    for peers in (10**2, 10**3, 10**4):  # a million processes
        sweep.append(Point("peers", (million * peers * 4,), (million,), 4))
    for blocks in (10**2, 10**4, 10**6, 10**8):  # of each process; 100 processes
        sweep.append(Point("blocks", (100 * blocks,), (100,), 1))
    for dimensions, procs in ((1, million), (2, 1000), (3, 100)):
        sweep.append(Point("dimensions", (procs * 20,) * dimensions, (procs,) * dimensions, 2))
    return sweep


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--sweep``."""
    parser.add_argument(
        "--sweep",
        action="append",
        choices=sorted({p.sweep for p in points()}),
        help="this sweep only; may be repeated",
    )


def validate(options: argparse.Namespace) -> None:
    """One process does it."""
    if options.ranks != 0:
        raise ValueError(f"--ranks {options.ranks}: a plan needs no processes; leave it out")


def _chosen(options: argparse.Namespace) -> list[Point]:
    return [p for p in points() if not options.sweep or p.sweep in options.sweep]


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """From Python: the logical traffic of one rank."""
    for point in _chosen(options):
        question = Question(
            {
                "sweep": point.sweep,
                "shape": point.shape,
                "procs": point.procs,
                "to": point.dist(f"CYCLIC({point.block})"),
            }
        )
        yield Match(question, [_python(point)])


def _python(point: Point) -> Contestant:
    def prepare() -> Step:
        hk = hocket()
        source = hk.Layout(point.shape, point.dist("BLOCK"), point.procs)
        target = hk.Layout(point.shape, point.dist(f"CYCLIC({point.block})"), point.procs)
        rank = source.size // 2
        result: list[Any] = []

        def run() -> None:
            result[:] = hk.plan(source, target).sends(rank)

        def check() -> None:
            held = 1
            for extent in source.local_shape(rank):
                held *= int(extent)
            sent = sum(int(elements) for _, elements in result)
            if sent != held:
                raise WrongResultError(f"process {rank} holds {held} elements and sends {sent}")
            for peer, elements in (result[0], result[-1]):
                if elements < 1 or not 0 <= peer < target.size:
                    raise WrongResultError(
                        f"{elements} elements for process {peer} of {target.size}"
                    )

        return Step(run, check, result.clear, extras=lambda: {"peers": len(result)})

    return Contestant("hk.plan(source, target).sends(rank)", prepare)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """From C++, with the memory."""
    return [
        Native(
            "hocket_bench_plan",
            (
                "--point",
                point.sweep,
                ",".join(map(str, point.shape)),
                ",".join(map(str, point.procs)),
                str(point.block),
            ),
        )
        for point in _chosen(options)
    ]
