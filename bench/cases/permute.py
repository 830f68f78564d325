# SPDX-License-Identifier: BSD-3-Clause
"""A local array permuted, out of place and in place: hocket beside MKL, FFTW, NumPy and memcpy."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import paper, permuters, transposers
from ..group import Group
from ..permutation import Permutation
from ..record import Question
from ..registry import Match, Native

RANKS = 0
DTYPES = ("float32", "float64", "complex128")
OURS = (
    "hocket",
    "hocket in place",
    "hocket in place, cycles",
    "two arrays",
    "two arrays, copied back",
    "two arrays, streaming stores, copied back",
)
PEERS = ("NumPy", "MKL omatcopy", "FFTW", "MKL imatcopy", "FFTW in place")
Shape = paper.Shape

# Row-major; the paper's A(N1, N2, N3) is (N3, N2, N1), and its 2nd and 3rd index change places.
PAPER = tuple((shape, (1, 0, 2)) for shape in paper.ARRAYS)


def _matrices(*shapes: Shape) -> tuple[tuple[Shape, Shape], ...]:
    return tuple((shape, (1, 0)) for shape in shapes)


GROUPS: dict[str, tuple[tuple[Shape, Shape], ...]] = {
    "matrices": _matrices((4096, 4096), (4000, 3000), (100_000, 100), (7001, 3001)),
    "paper": PAPER,
    "cached": _matrices((200, 300), (512, 512), (997, 1009), (20_000, 13)),
    "squares": _matrices((1000, 1000), (4096, 4096), (8192, 8192)),
    "rectangles": _matrices((1000, 600), (3000, 4000), (4000, 3000), (8192, 6144)),
    "tall": _matrices((100_000, 100), (100, 100_000), (3_000_000, 13)),
    "primes": _matrices((1009, 997), (7001, 3001), (3001, 7001)),
    "powers": _matrices((4095, 4096), (4096, 4097), (4097, 4095), (2048, 8192), (1024, 16384)),
    "ranks": (
        ((200, 300, 210), (2, 1, 0)),
        ((300, 200, 210), (1, 2, 0)),
        ((60, 70, 50, 64), (2, 0, 3, 1)),
        ((24, 30, 25, 20, 28), (4, 1, 3, 0, 2)),
        ((12, 14, 16, 10, 18, 20), (5, 3, 1, 4, 2, 0)),
    ),
    "large": _matrices((16_000, 12_000), (16_384, 8192), (12_007, 11_987)),  # 1 GiB and more
}
DEFAULT = ("matrices", "paper")


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--group --shape --axes --dtype --hptt --without --only --table --figure`` and more."""
    parser.add_argument(
        "--group",
        action="append",
        choices=sorted(GROUPS),
        help=f"arrays of this kind; may be repeated (default: {' and '.join(DEFAULT)})",
    )
    parser.add_argument(
        "--shape",
        metavar="N,N,...",
        help="this one array instead; of a table N3,N2,N1, of the figure the plane N3,N2",
    )
    parser.add_argument("--axes", metavar="A,A,...", help="of --shape (default: reversed)")
    parser.add_argument(
        "--dtype", action="append", choices=DTYPES, help="may be repeated (default: float64)"
    )
    parser.add_argument("--hptt", metavar="FILE", help="HPTT's shared library, as a contestant")
    parser.add_argument(
        "--without",
        action="append",
        choices=PEERS,
        help="leave this one out, as it may take minutes; may be repeated",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=(*OURS, *PEERS),
        help="measure this one, beside memcpy, as all take minutes on large arrays; "
        "may be repeated",
    )
    parser.add_argument(
        "--table",
        type=int,
        choices=(1, 2, 3),
        help="the paper's table: schedules by number of threads",
    )
    parser.add_argument(
        "--figure", type=int, choices=(2,), help="the paper's figure: two arrays over in place"
    )
    parser.add_argument(
        "--team",
        type=int,
        action="append",
        metavar="N",
        help="numbers of threads in a table; may be repeated (default: 2 to as many as cores)",
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw the table or figure there, too")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count the time that the one thread is running, on a machine that others use, too",
    )


def _numbers(text: str, option: str) -> Shape:
    try:
        numbers = tuple(int(n) for n in text.split(","))
    except ValueError:
        raise ValueError(f"{option} {text}: write integers with commas between them") from None
    return numbers


def _shape(options: argparse.Namespace) -> Shape | None:
    if options.shape is None:
        return None
    shape = _numbers(options.shape, "--shape")
    if min(shape) < 1:
        raise ValueError(f"--shape {options.shape}: give extents of 1 or more")
    return shape


def _arrays(options: argparse.Namespace) -> list[tuple[Shape, Shape]]:
    shape = _shape(options)
    if shape is None:
        if options.axes is not None:
            raise ValueError("--axes goes with --shape")
        return [one for group in options.group or DEFAULT for one in GROUPS[group]]
    axes = tuple(reversed(range(len(shape))))
    if options.axes is not None:
        axes = _numbers(options.axes, "--axes")
    if sorted(axes) != list(range(len(shape))):
        raise ValueError(f"--axes {options.axes}: name each of 0 to {len(shape) - 1} once")
    return [(shape, axes)]


def _validate_paper(options: argparse.Namespace) -> None:
    """Defaults for options that a table or figure of the paper does not set."""
    if options.table and options.figure:
        raise ValueError("--table and --figure: give one of them")
    for name in ("group", "axes", "dtype", "only", "without", "hptt"):
        if getattr(options, name):
            raise ValueError(f"--{name}: a --table or --figure has its own; leave it out")
    extents = "N3,N2,N1" if options.table else "N3,N2"
    shape = _shape(options)
    if shape is not None and len(shape) != len(extents.split(",")):
        what = "--table" if options.table else "--figure"
        raise ValueError(f"--shape {options.shape}: with {what} it is {extents}")


def validate(options: argparse.Namespace) -> None:
    """One process; arrays that are; a file that can be drawn to."""
    if options.ranks != 0:
        raise ValueError(f"--ranks {options.ranks}: local arrays need no processes; leave it out")
    if options.table or options.figure:
        _validate_paper(options)
        # The threads of a table would share the core of a process that is pinned.
        options.no_pin = options.no_pin or bool(options.table)
    else:
        _arrays(options)
    if options.team and not options.table:
        raise ValueError("--team: numbers of threads in a --table; give one, or --threads instead")
    both = set(options.only or ()) & set(options.without or ())
    if both:
        raise ValueError(f"--only and --without {', '.join(sorted(both))}: give one of them")
    if options.processor_time and (options.threads > 1 or options.table or options.figure):
        raise ValueError("--processor-time sees one thread; leave --threads at 1, without a table")
    if any(team < 1 for team in options.team or ()):
        raise ValueError("--team: give 1 or more threads")
    if options.plot and not (options.table or options.figure):
        raise ValueError("--plot draws a --table or a --figure; give one")
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")
    if options.hptt and not Path(options.hptt).is_file():
        raise ValueError(f"--hptt {options.hptt}: there is no such file")


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match an array and element type; or those of a table or figure of the paper."""
    if options.processor_time:
        group.clock = time.thread_time
    if options.table:
        yield from paper.table(options.table, options.team, _shape(options))
    elif options.figure:
        yield from paper.figure_2(options.threads, _shape(options))
    else:
        for shape, axes in _arrays(options):
            for dtype in options.dtype or ("float64",):
                yield _all(Permutation(shape, axes, dtype, options.threads), options)


def _all(problem: Permutation, options: argparse.Namespace) -> Match:
    question = Question(
        {
            "shape": problem.shape,
            "axes": problem.axes,
            "dtype": problem.dtype,
            "threads": problem.threads,
            "clock": "processor time" if options.processor_time else "wall",
        },
        baseline=("two arrays, copied back",),
        limit=("memcpy",),
        bytes=problem.bytes,
    )
    contestants = [
        transposers.flat_copy(problem),
        transposers.one_pass(problem),
        permuters.out_of_place(problem),
        permuters.two_arrays(problem, copy_back=False),
        transposers.numpy_copy(problem),
        transposers.mkl_out_of_place(problem),
        transposers.fftw_out_of_place(problem),
        permuters.in_place(problem),
        permuters.two_arrays(problem, copy_back=True),
        permuters.two_arrays_streaming(problem),
        transposers.mkl_in_place(problem),
        transposers.fftw_in_place(problem),
    ]
    # In the paper's form, if its blocks are long enough to be worth the time.
    block = math.prod(problem.shape[-1:]) if problem.axes[-1] == len(problem.axes) - 1 else 1
    if block > 1:
        contestants.append(permuters.in_place(problem, "cycles"))
    if options.hptt:
        contestants.append(transposers.hptt(problem, options.hptt))
    left_out = options.without or ()
    chosen = ("memcpy", *options.only) if options.only else [one.name for one in contestants]
    return Match(
        question, [one for one in contestants if one.name in chosen and one.name not in left_out]
    )


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: a call through Python takes microseconds, and none of these does."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """A table or figure as the paper prints it."""
    if options.table:
        paper.finish_table(options.table, document, options.plot, _shape(options))
    elif options.figure:
        paper.finish_figure_2(document, options.plot)
