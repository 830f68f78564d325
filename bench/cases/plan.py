# SPDX-License-Identifier: BSD-3-Clause
"""Seconds and memory of one rank's part of a plan, against processes, blocks and dimensions."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from ..group import Group
from ..harness import Contestant, Step, UnavailableError, WrongResultError
from ..machine import allocated
from ..record import Question
from ..registry import Match, Native
from ..subject import hocket

RANKS = 0
STRATEGIES = ("direct", "centralized", "staged", "multistage", "hybrid")


@dataclass(frozen=True)
class Side:
    """One format in every dimension, over so many processes each."""

    form: str
    procs: tuple[int, ...]

    @property
    def dist(self) -> str:
        return "(" + ", ".join([self.form] * len(self.procs)) + ")"

    def text(self, shape: tuple[int, ...]) -> str:
        """Text for `hk.Layout.parse`."""
        extents, procs = (", ".join(map(str, each)) for each in (shape, self.procs))
        return f"({extents}) {self.dist} @ ({procs})"

    def layout(self, hk: Any, shape: tuple[int, ...]) -> Any:
        """hocket's."""
        return hk.Layout.parse(self.text(shape))


@dataclass(frozen=True)
class Listed(Side):
    """Random blocks, random owners, bricks, or elements in random order: lists that are too long
    for a text, about 100 elements a process (bricks: 400)."""

    @property
    def dist(self) -> str:
        return self.form

    def layout(self, hk: Any, shape: tuple[int, ...]) -> Any:
        return self.maker(hk, shape)()

    def maker(self, hk: Any, shape: tuple[int, ...]) -> Callable[[], Any]:
        """A function that makes the layout of lists that are there already."""
        (many, *_), total = self.procs, math.prod(self.procs)
        rng = np.random.default_rng(0)
        if self.form == "GEN_BLOCK":
            ends = np.sort(rng.permutation(np.arange(1, shape[0]))[: many - 1])
            sizes = np.diff(ends, prepend=0, append=shape[0])
            return lambda: hk.Layout(shape, [hk.gen_block(sizes)], self.procs)
        if self.form == "INDIRECT":
            owners = rng.integers(many, size=shape[0])
            return lambda: hk.Layout(shape, [hk.indirect(owners)], self.procs)
        if self.form == "ELEMENTS":
            lists = np.split(rng.permutation(shape[0]), many)
            return lambda: hk.Layout.elements(shape, lists)
        bounds = [np.linspace(0, n, p + 1).astype(int) for n, p in zip(shape, self.procs)]
        places = np.stack(np.unravel_index(np.arange(total), self.procs), 1)
        starts, stops = (
            np.stack([b[p + up] for b, p in zip(bounds, places.T)], 1).tolist() for up in (0, 1)
        )
        return lambda: hk.Layout.boxes(shape, zip(starts, stops))


@dataclass(frozen=True)
class Point:
    """A plan between two sides."""

    sweep: str
    shape: tuple[int, ...]
    source: Side
    target: Side


def _cyclic(sweep: str, shape: tuple[int, ...], procs: tuple[int, ...], block: int) -> Point:
    """From BLOCK to CYCLIC(block) over the same processes."""
    return Point(sweep, shape, Side("BLOCK", procs), Side(f"CYCLIC({block})", procs))


def points() -> list[Point]:
    """The sweeps: one parameter grows, the others are constant.

    A source process holds n/p consecutive elements, which belong to min(p, n/(p k)) destinations.
    """
    million = 10**6
    sweep: list[Point] = []
    for procs in (10**2, 10**4, million):  # 100 peers each, whatever the number of processes
        sweep.append(_cyclic("processes", (procs * 100,), (procs,), 1))
    for peers in (10**2, 10**3, 10**4):  # a million processes
        sweep.append(_cyclic("peers", (million * peers * 4,), (million,), 4))
    for blocks in (10**2, 10**4, 10**6, 10**8):  # of each process; 100 processes
        sweep.append(_cyclic("blocks", (100 * blocks,), (100,), 1))
    for dimensions, procs in ((1, million), (2, 1000), (3, 100)):
        shape = (procs * 20,) * dimensions
        sweep.append(_cyclic("dimensions", shape, (procs,) * dimensions, 2))
    for many in (64, 256, 10**4):  # every process sends to every other one
        sweep.append(
            Point("pairs", (16 * many**2,), Side("BLOCK", (many,)), Side("CYCLIC", (many,)))
        )
    for bits in (20, 30, 40):  # block-cyclic to block-cyclic, 2**bits elements: by periods
        for dimensions, source, target in ((1, (24,), (36,)), (2, (4, 6), (9, 4))):
            shape = (2 ** (bits // dimensions),) * dimensions
            sides = Side("CYCLIC(36)", source), Side("CYCLIC(128)", target)
            sweep.append(Point("periods", shape, *sides))
    for form, most in (("GEN_BLOCK", million), ("INDIRECT", 10**4), ("ELEMENTS", 10**4)):
        for procs in (10**2, 10**4, million):
            if procs <= most:
                sides = Listed(form, (procs,)), Side("BALANCED", (procs,))
                sweep.append(Point("kinds", (100 * procs,), *sides))
    for procs in (5, 22, 100):  # bricks to bricks of other sides
        bricks = Listed("BOXES", (procs,) * 3), Listed("BOXES", (procs - 1, procs, procs + 1))
        sweep.append(Point("kinds", (7 * procs,) * 3, *bricks))
    for few, listed, extent in (  # 10**4 peers of a million processes
        (Side("BLOCK", (100,)), Listed("GEN_BLOCK", (million,)), 100 * million),
        (Side("BLOCK", (5, 5, 4)), Listed("BOXES", (100,) * 3), 700),
    ):
        sweep.append(Point("kinds", (extent,) * len(few.procs), few, listed))
    return [*sweep, *_strategy_points()]


def _strategy_points() -> list[Point]:
    """Between as many processes: full traffic, in classes of equal messages and in one class a
    process; then blocks, periods and lists that exchange less."""
    many = 10**4
    grid = (100, 100)
    block, cyclic, gen = Side("BLOCK", (many,)), "CYCLIC", Listed("GEN_BLOCK", (many,))
    return [
        Point("strategies", (16 * 256**2,), Side("BLOCK", (256,)), Side(cyclic, (256,))),
        Point("strategies", (16 * many**2,), block, Side(cyclic, (many,))),
        Point("strategies", (many**2 + 17,), block, Side("CYCLIC(2)", (many,))),
        Point("strategies", (many**2,), block, Side(cyclic, (many // 4,))),
        Point("strategies", (4 * many,) * 2, Side("CYCLIC(3)", grid), Side("CYCLIC(5)", grid)),
        Point("strategies", (100 * many,), gen, Side("CYCLIC(4)", (many,))),
        Point("strategies", (100 * many,), gen, Side("BALANCED", (many,))),
        Point("strategies", (147,) * 3, Listed("BOXES", (21,) * 3), Listed("BOXES", (20, 21, 22))),
    ]


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
                "procs": point.source.procs,
                "from": point.source.dist,
                "to": point.target.dist,
                "to procs": point.target.procs,
            }
        )
        if point.sweep == "strategies":
            entrants = [_chosen_strategy(point), *(_steps(point, each) for each in STRATEGIES)]
            entrants.append(_relabeled(point))
        else:
            entrants = [_python(point)]
            if isinstance(point.source, Listed):
                entrants.append(_made(point, point.source))
        yield Match(question, entrants)


def _python(point: Point) -> Contestant:
    def prepare() -> Step:
        hk = hocket()
        source = point.source.layout(hk, point.shape)
        target = point.target.layout(hk, point.shape)
        rank = source.size // 2
        result: list[Any] = []

        def run() -> None:
            result[:] = hk.plan(source, target).sends(rank)

        def check() -> None:
            held = source.local_elements(rank)
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


def _chosen_strategy(point: Point) -> Contestant:
    """The choice among all strategies."""

    def prepare() -> Step:
        hk = hocket()
        layouts = [side.layout(hk, point.shape) for side in (point.source, point.target)]
        found: list[str] = []

        def run() -> None:
            found[:] = [hk.plan(*layouts).strategy]

        def check() -> None:
            seconds = hk.plan(*layouts).predict()
            if seconds[found[0]] > min(seconds.values()) * 1.01:
                raise WrongResultError(f"{found[0]} is chosen, of {seconds}")

        return Step(run, check, found.clear, extras=lambda: {"strategy": found[0]})

    return Contestant("hk.plan(source, target).strategy", prepare)


def _steps(point: Point, strategy: str) -> Contestant:
    """The messages of source process 0, which passes on the most where one process does."""

    def prepare() -> Step:
        hk = hocket()
        layouts = [side.layout(hk, point.shape) for side in (point.source, point.target)]
        result: list[Any] = []

        def run() -> None:
            result[:] = hk.plan(*layouts, strategy=strategy).steps("source", 0)

        def check() -> None:
            if layouts[0].local_elements(0) > 0 and not result:
                raise WrongResultError("process 0 holds elements and sends nothing")

        try:
            run()
        except hk.LayoutError as error:
            raise UnavailableError(str(error)) from None
        return Step(run, check, result.clear, extras=lambda: {"messages": len(result)})

    return Contestant(f"strategy={strategy!r}", prepare)


def _relabeled(point: Point) -> Contestant:
    """The assignment of processes to parts."""

    def prepare() -> Step:
        hk = hocket()
        layouts = [side.layout(hk, point.shape) for side in (point.source, point.target)]
        found: list[Any] = []

        def run() -> None:
            found[:] = [hk.relabel(*layouts)]

        def check() -> None:
            if len(set(found[0])) != layouts[1].size:
                raise WrongResultError("a process takes two parts")

        return Step(run, check, found.clear)

    return Contestant("hk.relabel(source, target)", prepare)


def _made(point: Point, side: Listed) -> Contestant:
    """The layout itself, which every process makes and keeps whole."""

    def prepare() -> Step:
        hk = hocket()
        make = side.maker(hk, point.shape)
        held: list[Any] = []

        def run() -> None:
            held.clear()
            held.append(make())

        def check() -> None:
            lay = held[0]
            if lay.size != math.prod(side.procs) or lay.num_elements != math.prod(point.shape):
                raise WrongResultError(f"{lay!r} has not the processes and elements asked for")

        def kept() -> dict[str, int]:
            target = point.target.layout(hk, point.shape)
            held.clear()
            before = allocated()
            run()
            hk.plan(held[0], target).sends(0)  # what a layout makes for its first plan
            after = allocated()
            if before is None or after is None:
                return {}
            return {"bytes kept a process": round((after - before) / held[0].size)}

        return Step(run, check, held.clear, extras=kept)

    return Contestant("making the source's layout", prepare)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """From C++, with the memory, of what is short enough for a command line."""
    return [
        Native(
            "hocket_bench_plan",
            (
                "--point",
                point.sweep,
                point.source.text(point.shape),
                point.target.text(point.shape),
            ),
        )
        for point in _chosen(options)
        if point.sweep != "strategies"
        and not (isinstance(point.source, Listed) or isinstance(point.target, Listed))
    ]
