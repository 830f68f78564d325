# SPDX-License-Identifier: BSD-3-Clause
"""A float64 array changes its layout: hocket beside Alltoallw, packing and the raw limit."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import alltoallw, compiled_copy, flat_copy, packed_alltoall, strided_copy
from ..formats import lay, parse
from ..group import Group
from ..harness import Contestant, Step
from ..record import Question
from ..redistribution import Problem
from ..registry import Match, Native
from ..subject import hocket

RANKS = 2
PAIRS = ("(BLOCK,*) -> (*,BLOCK)", "(CYCLIC) -> (BLOCK)")
SIZES = (256, 4096, 8192)
LONG_RUN = 4096  # bytes from which a flat copy is the limit


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--size --shape --pair --peer``."""
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        metavar="N",
        help="arrays of N*N elements, whatever their dimensions; may be repeated "
        f"(default: {', '.join(map(str, SIZES))})",
    )
    parser.add_argument("--shape", metavar="N,N,...", help="this one shape instead of sizes")
    parser.add_argument(
        "--pair",
        action="append",
        metavar='"(BLOCK,*) -> (*,BLOCK)"',
        help="source and destination distribution; may be repeated "
        f"(default: {' and '.join(PAIRS)})",
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="FILE.py",
        help="more contestants: a file that defines contestants(problem) -> list of Contestant",
    )


def _cases(options: argparse.Namespace) -> Iterator[tuple[tuple[int, ...], str, str]]:
    for pair in options.pair or PAIRS:
        source, arrow, target = pair.partition("->")
        if not arrow:
            raise ValueError(f"--pair '{pair}': write two distributions with -> between them")
        dimensions = len(parse(source.strip()))
        if options.shape:
            yield _shape(options.shape), source.strip(), target.strip()
            continue
        for size in options.size or SIZES:
            if size < 1:
                raise ValueError(f"--size {size}: give 1 or more")
            extent = size if dimensions == 2 else round((size * size) ** (1 / dimensions))
            yield (extent,) * dimensions, source.strip(), target.strip()


def _shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(n) for n in text.split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 0:
        raise ValueError(f"--shape {text}: write extents with commas between them, as 512,512")
    return shape


def validate(options: argparse.Namespace) -> None:
    """Every pair fits its shape and the ranks, every peer's file exists."""
    for shape, source, target in _cases(options):
        for text in (source, target):
            lay(shape, text, options.ranks).spreads()
    for path in options.peer:
        if not Path(path).is_file():
            raise ValueError(f"--peer {path}: there is no such file")


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a pair and shape."""
    comm = group.comm
    if comm is None:
        raise ValueError("redistribute needs MPI; leave --ranks at 1 or more")
    peers = [_load(path) for path in options.peer]
    for shape, source, target in _cases(options):
        problem = Problem(comm, lay(shape, source, group.size), lay(shape, target, group.size))
        shortest = -int(group.maximum([-float(problem.shortest_run)])[0])
        limits = ["strided copy, NumPy", "strided copy, compiled"]
        if shortest >= LONG_RUN or problem.bytes == 0:
            limits = ["flat copy"]
        question = Question(
            {"from": source, "to": target, "shape": shape, "shortest run, bytes": shortest},
            baseline=("Alltoallw, prebuilt types", "pack + Alltoall + unpack"),
            limit=limits,
            bytes=problem.bytes,
        )
        contestants = [
            flat_copy(problem),
            strided_copy(problem),
            compiled_copy(problem),
            alltoallw(problem),
            packed_alltoall(problem),
            hocket_wrapped(problem),
            hocket_owned(problem),
        ]
        for peer in peers:
            contestants += peer.contestants(problem)
        yield Match(question, contestants)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: every contestant here moves enough for Python's part not to show."""
    return ()


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("hocket_bench_peer", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"--peer {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _layouts(hk: Any, problem: Problem) -> list[Any]:
    return [
        hk.Layout(each.shape, each.dist, each.procs)
        for each in (problem.source_lay, problem.target_lay)
    ]


def hocket_wrapped(problem: Problem) -> Contestant:
    """`hk.redistribute` between arrays of the user's own memory."""

    def prepare() -> Step:
        hk = hocket()
        source, target = _layouts(hk, problem)
        a = hk.wrap(problem.source, source, comm=problem.comm)
        b = hk.wrap(problem.target, target, comm=problem.comm)
        return problem.step(lambda: hk.redistribute(a, target, out=b))

    return Contestant("hocket, hk.wrap", prepare)


def hocket_owned(problem: Problem) -> Contestant:
    """`hk.redistribute` between arrays from `hk.empty`."""

    def prepare() -> Step:
        hk = hocket()
        source, target = _layouts(hk, problem)
        a = hk.empty(source, np.float64, comm=problem.comm)
        b = hk.empty(target, np.float64, comm=problem.comm)
        a.local[...] = problem.source
        return Step(
            lambda: hk.redistribute(a, target, out=b),
            lambda: problem.verify(b.local),
            lambda: b.local.fill(np.nan),
        )

    return Contestant("hocket, hk.empty", prepare)
