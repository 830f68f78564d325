# SPDX-License-Identifier: BSD-3-Clause
"""A float64 array changes its layout: hocket, MPI, ScaLAPACK, mpi4py-fft, PETSc,
the raw limit."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import all_pairs, figure_tables, transfer_figures
from ..baselines import alltoallw, compiled_copy, flat_copy, packed_alltoall, strided_copy
from ..formats import Lay, lay, parse, split_grid
from ..group import Group
from ..record import Question
from ..redistribution import Problem
from ..redistributors import mpi4py_fft, pdgemr2d, petsc_sf
from ..registry import Match, Native, Pass
from ..transfers import contestants, planned_alltoallw

RANKS = 2
PAIRS = (
    "(BLOCK,*) -> (*,BLOCK)",
    "(CYCLIC) -> (BLOCK)",
    "(BLOCK) -> (CYCLIC)",
    "(CYCLIC(3)) -> (CYCLIC(7))",
    "(BLOCK,*,*) -> (*,BLOCK,*)",
    "(GEN_BLOCK,*) -> (*,BALANCED)",
    "(GEN_BLOCK,*) as boxes -> (*,BALANCED) as boxes",
    "(GEN_BLOCK,*) as elements -> (*,BALANCED)",
)
GRIDS = "(CYCLIC(64),CYCLIC(64)) on {0}x{1} -> (CYCLIC(48),CYCLIC(48)) on {1}x{0}"
PENCILS = "(BLOCK,BLOCK,*) on {1}x{0} -> (BLOCK,*,BLOCK) on {1}x{0}"
DISJOINT = "(BLOCK,*) => (BLOCK,*)"
# 8 bytes, 8 KiB, 512 KiB, 128 MiB, 512 MiB, 1 GiB
SIZES = (1, 32, 256, 4096, 8192, 11585)
LONG_RUN = 4096  # the size from which a flat copy is the limit


def add_options(parser: argparse.ArgumentParser) -> None:
    """The transfer and its contestants; or a figure."""
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        metavar="N",
        help="arrays of N*N elements, whatever their dimensions; may be repeated "
        f"(default: {', '.join(map(str, SIZES))}, which is 8 bytes to 1 GiB)",
    )
    parser.add_argument("--shape", metavar="N,N,...", help="this one shape instead of sizes")
    parser.add_argument(
        "--pair",
        action="append",
        metavar='"(BLOCK,*) -> (*,BLOCK)"',
        help="source and destination distribution, each with its arrangement of processes after "
        '"on", as "(CYCLIC(2),CYCLIC(3)) on 1x2"; with => they lie on disjoint processes; '
        '"as boxes" and "as elements" say how hocket is told; GEN_BLOCK has growing blocks, '
        "INDIRECT random owners; may be repeated (default: slabs, cyclic, 2-D block-cyclic on two "
        "grids, pencils, uneven blocks, boxes, and disjoint tasks)",
    )
    parser.add_argument(
        "--all-pairs",
        type=int,
        action="append",
        choices=(1, 2),
        metavar="D",
        help="every pair of HPF's formats in D dimensions, 1 or 2, and one table of all of them at "
        "the end; may be repeated",
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="FILE.py",
        help="more contestants: a file that defines contestants(problem) -> list of Contestant",
    )
    parser.add_argument(
        "--scalapack",
        metavar="FILE.so",
        help="ScaLAPACK's library, built for the MPI in use (default: the system's, by MPI=system)",
    )
    transfer_figures.add_options(parser)


def _pairs(options: argparse.Namespace) -> Sequence[str]:
    if options.pair:
        pairs: Sequence[str] = options.pair
        return pairs
    if options.all_pairs:
        return [pair for d in options.all_pairs for pair in all_pairs.pairs(d, options.ranks)]
    # As square as it can be, the larger extent first.
    across = max(
        n for n in range(1, options.ranks + 1) if options.ranks % n == 0 and n * n <= options.ranks
    )
    grid = (options.ranks // across, across)
    disjoint = (DISJOINT,) if options.ranks % 2 == 0 else ()
    return (*PAIRS, GRIDS.format(*grid), PENCILS.format(*grid), *disjoint)


def _cases(options: argparse.Namespace) -> Iterator[tuple[Lay, Lay]]:
    for pair in _pairs(options):
        source, arrow, target = pair.partition("=>" if "=>" in pair else "->")
        if not arrow:
            raise ValueError(f"--pair '{pair}': write two distributions with -> or => between them")
        dimensions = len(parse(split_grid(source)[0]))
        shapes = [_shape(options.shape)] if options.shape else []
        for size in options.size or SIZES if not shapes else ():
            if size < 1:
                raise ValueError(f"--size {size}: give 1 or more")
            extent = size if dimensions == 2 else round((size * size) ** (1 / dimensions))
            shapes.append((extent,) * dimensions)
        for shape in shapes:
            yield _sides(shape, source, target, options.ranks, arrow == "=>")


def _sides(
    shape: tuple[int, ...], source: str, target: str, ranks: int, disjoint: bool
) -> tuple[Lay, Lay]:
    if not disjoint:
        return lay(shape, source, ranks), lay(shape, target, ranks)
    there = max(ranks // 2, 1)
    before = lay(shape, source, ranks if split_grid(source)[1] else there)
    left = ranks - before.size
    after = lay(shape, target, left, before.size)
    if left < 1 or after.size != left:
        raise ValueError(
            f"'{source.strip()} => {target.strip()}': disjoint tasks of {before.size} and "
            f"{after.size} processes are not --ranks {ranks}"
        )
    return before, after


def _shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(n) for n in text.split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 0:
        raise ValueError(f"--shape {text}: write extents with commas between them, as 512,512")
    return shape


def validate(options: argparse.Namespace) -> None:
    """Every pair fits its shape and the ranks, every file exists; or a figure is asked for."""
    transfer_figures.validate(options)
    if options.all_pairs and (options.pair or options.figure):
        raise ValueError("--all-pairs has its own: leave --pair and --figure out")
    for sides in _cases(options):
        for side in sides:
            side.spreads()
    for path in options.peer:
        if not Path(path).is_file():
            raise ValueError(f"--peer {path}: there is no such file")
    if options.scalapack and not Path(options.scalapack).is_file():
        raise ValueError(f"--scalapack {options.scalapack}: there is no such file")


def passes(options: argparse.Namespace) -> list[Pass]:
    """One start; for a figure one for each pair of tasks."""
    if options.figure:
        return transfer_figures.passes(options)
    return [Pass(options.ranks, options.threads)]


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a pair and shape."""
    if group.comm is None:
        raise ValueError("redistribute needs MPI; leave --ranks at 1 or more")
    if options.figure:
        yield from transfer_figures.matches(options, group.comm)
        return
    peers = [_load(path) for path in options.peer]
    for source, target in _cases(options):
        problem = Problem(group.comm, source, target)
        shortest = -int(group.maximum([-float(problem.shortest_run)])[0])
        limits = ["strided copy, NumPy", "strided copy, compiled"]
        if shortest >= LONG_RUN or problem.bytes == 0 or problem.disjoint:
            limits = ["flat copy"]
        question = Question(
            {
                "from": _text(source),
                "to": _text(target),
                "shape": problem.shape,
                "processes": "disjoint" if problem.disjoint else "the same",
                "shortest run, bytes": shortest,
            },
            baseline=("Alltoallw, prebuilt types", "pack + Alltoall + unpack"),
            limit=limits,
            bytes=problem.bytes,
        )
        entrants = [
            flat_copy(problem),
            strided_copy(problem),
            compiled_copy(problem),
            alltoallw(problem),
            packed_alltoall(problem),
            planned_alltoallw(problem),
            *contestants(problem),
            petsc_sf(problem),
        ]
        if len(problem.shape) == 2:
            entrants.append(pdgemr2d(problem, options.scalapack))
        if len(problem.shape) >= 3:
            entrants.append(mpi4py_fft(problem))
        for peer in peers:
            entrants += peer.contestants(problem)
        yield Match(question, entrants)


def _text(side: Lay) -> str:
    kind = f" as {side.kind}" if side.kind else ""
    return f"{side.dist} on {'x'.join(map(str, side.procs)) or '1'}{kind}"


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: every contestant here moves enough for Python's part not to show."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """The figure, or the table of all pairs."""
    if options.figure:
        figure_tables.finish(options, document)
    if options.all_pairs:
        all_pairs.finish(document)


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("hocket_bench_peer", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"--peer {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
