# SPDX-License-Identifier: BSD-3-Clause
"""A distributed array permuted within its own memory, beside the two-array form."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import paper, remap_figures
from ..group import Group
from ..record import Question
from ..registry import Match, Native, Pass
from ..remapping import CONTESTANTS, Remap, flat_copy, in_place, paper_two_arrays

RANKS = 2
# The two arrays of the paper's Figures 3 and 4, and one that is four times as large.
SHAPES = (paper.ARRAYS[0], paper.ARRAYS[1])
FIT = ((64, 128, 64), (128, 512, 64), (256, 1024, 64))


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--shape --axes --dist --procs --fit --figure --plot --cores``."""
    parser.add_argument(
        "--shape", action="append", metavar="N,N,...", help="may be repeated (default: the paper's)"
    )
    parser.add_argument("--axes", default="1,0,2", metavar="A,A,...", help="(default: 1,0,2)")
    parser.add_argument(
        "--dist",
        default="(BLOCK, *, *)",
        help="distribution, before and after (default: %(default)s)",
    )
    parser.add_argument(
        "--procs", metavar="P,P,...", help="processes along each dimension dealt out"
    )
    parser.add_argument(
        "--fit",
        action="store_true",
        help="fit M, L and B of the paper's equations 4 and 5, print them beside what was "
        "measured, and advise processes x threads",
    )
    parser.add_argument(
        "--figure",
        type=int,
        choices=(3, 4),
        help="3: processes beside threads in one node; 4: both together",
    )
    parser.add_argument(
        "--cores",
        type=int,
        metavar="N",
        help="processes times threads at most, for --fit and --figure (default: the cores here)",
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw the figure there, too")


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.split(","))
    except ValueError:
        raise ValueError(f"{option} {text}: write integers with commas between them") from None


def _shapes(options: argparse.Namespace) -> list[tuple[int, ...]]:
    if options.shape:
        return [_numbers(text, "--shape") for text in options.shape]
    return list(FIT if options.fit else SHAPES)


def _cores(options: argparse.Namespace) -> int:
    return options.cores or max(2, len(os.sched_getaffinity(0)))


def _procs(options: argparse.Namespace) -> tuple[int, ...]:
    return _numbers(options.procs, "--procs") if options.procs else (options.ranks,)


def validate(options: argparse.Namespace) -> None:
    """Arrays, axes and layouts that are; one thing at a time."""
    from hocket.layouts import Layout

    axes = _numbers(options.axes, "--axes")
    for shape in _shapes(options):
        if sorted(axes) != list(range(len(shape))):
            raise ValueError(f"--axes {options.axes}: name each dimension of {shape} once")
        for extents in (shape, tuple(shape[axis] for axis in axes)):
            if Layout(extents, options.dist, _procs(options)).size != options.ranks:
                raise ValueError(f"--procs {options.procs}: they are not {options.ranks} processes")
    if options.fit and options.figure:
        raise ValueError("--fit and --figure: give one of them")
    if (options.fit or options.figure) and options.procs:
        raise ValueError("--procs: --fit and --figure choose the processes themselves")
    if options.plot and not options.figure:
        raise ValueError("--plot draws a --figure; give one")
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")
    if options.cores is not None and options.cores < 1:
        raise ValueError(f"--cores {options.cores}: give 1 or more")


def passes(options: argparse.Namespace) -> list[Pass]:
    """A start for each number of processes, because a waiting process would take time from
    others."""
    if not (options.fit or options.figure):
        return [Pass(options.ranks, options.threads)]
    cores = _cores(options)
    ways = [(p, t) for p in range(1, cores + 1) for t in range(1, cores + 1) if p * t <= cores]
    if options.figure == 3:
        ways = [(p, t) for p, t in ways if p == 1 or t == 1]
    return [Pass(p, t) for p, t in ways]


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match an array."""
    comm = group.comm
    if comm is None:
        raise ValueError("remap needs MPI; leave --ranks at 1 or more")
    axes = _numbers(options.axes, "--axes")
    for shape in _shapes(options):
        problem = Remap(comm, shape, axes, options.dist, _procs(options), options.threads)
        parts = problem.layout(), problem.remapped()
        mine = max(part.local_elements(comm.rank) for part in parts)
        question = Question(
            {
                "shape": shape,
                "axes": axes,
                "layout": options.dist,
                "processes": group.size,
                "threads": options.threads,
            },
            baseline=("two arrays, Alltoall", "hocket, two arrays, redistribute"),
            limit=("flat copy",),
            bytes=2 * 8 * int(group.maximum([float(mine)])[0]),
        )
        makers = CONTESTANTS
        if options.fit or options.figure:
            makers = (flat_copy, in_place, paper_two_arrays)
        yield Match(question, [make(problem) for make in makers])


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: a call through Python takes microseconds, and none of these does."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """The fitted equations, or a figure."""
    if options.fit:
        remap_figures.finish_fit(document, _cores(options))
    elif options.figure:
        remap_figures.finish_figure(options.figure, document, options.plot)
