# SPDX-License-Identifier: BSD-3-Clause
"""The baselines for hocket's redistribution: the raw limits, and MPI without hocket.

No baseline uses hocket; each contestant's result is `Problem.target`, with the same check for all.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hocket.cli.free_memory import free_memory

from .formats import Run, stretches
from .harness import Contestant, Step, UnavailableError, WrongResultError
from .native import library
from .redistribution import Array, Piece, Problem, fill

if TYPE_CHECKING:
    from mpi4py import MPI


#: For the compiled copy. With more boxes, finding the next one takes most of the time.
_MOST_BOXES = 10000


def flat_copy(problem: Problem) -> Contestant:
    """The raw limit: each process copies as many bytes as it receives, in one run.

    Between disjoint processes all of them copy their share, because senders can work, too.
    """

    def prepare() -> Step:
        target = problem.target.reshape(-1)
        if problem.disjoint:
            ranks = problem.comm.Get_size()
            target = np.empty(-(-problem.bytes // (8 * ranks)))
        source = problem.source.reshape(-1)[: target.size]
        if source.size < target.size:
            source = np.arange(target.size, dtype=np.float64)

        def same() -> None:
            if not np.array_equal(source, target):
                raise WrongResultError("the copy differs from what was copied")

        return Step(lambda: np.copyto(target, source), same, lambda: target.fill(np.nan))

    return Contestant("flat copy", prepare)


def _stand_ins(problem: Problem) -> list[Array]:
    """Every sender's local array, in this process's own memory, to copy from without MPI."""
    comm = problem.comm
    needed = problem.bytes * comm.Get_size()
    free = free_memory()
    if free is not None and needed * comm.Get_size() > free // 2:
        raise UnavailableError(
            f"it needs {needed >> 20} MiB a process, in all more than half of what is free"
        )
    stand_ins: list[Array] = []
    for peer in range(comm.Get_size()):
        if peer == comm.Get_rank():
            stand_ins.append(problem.source)
            continue
        indices = problem.source_lay.indices(peer)
        local = np.empty(tuple(len(i) for i in indices))
        fill(local, indices, problem.shape)
        stand_ins.append(local)
    return stand_ins


def strided_copy(problem: Problem) -> Contestant:
    """NumPy's strided copy of the same pieces within each process: no messages, no waiting."""

    def prepare() -> Step:
        pairs = [
            (piece.target_index(), piece.source_index(), source)
            for piece, source in zip(problem.recvs, _stand_ins(problem))
            if piece.size
        ]

        def run() -> None:
            for there, here, source in pairs:
                problem.target[there] = source[here]

        return problem.step(run)

    return Contestant("strided copy, NumPy", prepare)


def compiled_copy(problem: Problem) -> Contestant:
    """The same by a compiled loop that goes over all senders in cache-sized parts."""

    def prepare() -> Step:
        loaded = library("hocket_bench_limit")
        copy = loaded.hocket_bench_copy
        copy.restype = None
        sources = _stand_ins(problem)
        boxes: list[list[int]] = []
        for piece, source in zip(problem.recvs, sources):
            if piece.size:
                boxes += itertools.islice(_boxes(piece, source, problem.target), _MOST_BOXES)
        if len(boxes) >= _MOST_BOXES:
            raise UnavailableError(
                f"its boxes are {_MOST_BOXES} and more, too small for a loop over each"
            )
        flat = np.array([row for box in boxes for row in box], dtype=np.int64)
        count, dimensions = len(boxes), len(problem.shape)
        pointer = ctypes.c_void_p(flat.ctypes.data)
        many, deep = ctypes.c_int64(count), ctypes.c_int64(dimensions)

        def run() -> None:
            copy(many, deep, pointer)

        # `run` owns `flat` and `sources`, to which the addresses point.
        run.__dict__["keeps"] = (flat, sources)
        return problem.step(run)

    return Contestant("strided copy, compiled", prepare)


def _boxes(piece: Piece, source: Array, target: Array) -> Iterator[list[int]]:
    """Two addresses, then (extent, source step, target step) in bytes, two loops a dimension."""
    for runs in itertools.product(*(stretches(c) for c in piece.dimensions)):
        addresses, loops = [source.ctypes.data, target.ctypes.data], []
        for (mine, theirs), unit, other in zip(runs, source.strides, target.strides):
            addresses[0] += mine.first * unit
            addresses[1] += theirs.first * other
            loops += [mine.count, mine.step * unit, theirs.step * other, mine.length, unit, other]
        yield addresses + loops


def alltoallw(problem: Problem) -> Contestant:
    """`MPI_Alltoallw` on derived datatypes built and committed beforehand."""

    def prepare() -> Step:
        made: list[MPI.Datatype] = []
        sent = [_datatype(p, problem.source.shape, False, made) for p in problem.sends]
        received = [_datatype(p, problem.target.shape, True, made) for p in problem.recvs]
        comm = problem.comm.Dup()
        out: Any = [problem.source, *map(list, zip(*sent))]
        into: Any = [problem.target, *map(list, zip(*received))]

        def close() -> None:
            comm.Free()
            for each in made:
                each.Free()

        return problem.step(lambda: comm.Alltoallw(out, into), close)

    return Contestant("Alltoallw, prebuilt types", prepare)


def _datatype(
    piece: Piece, local: Sequence[int], receives: bool, made: list[MPI.Datatype]
) -> tuple[int, int, MPI.Datatype]:
    """(count, displacement, datatype) of a piece in a local array, the simplest type that fits."""
    from mpi4py import MPI

    if piece.size == 0:
        return 0, 0, MPI.DOUBLE
    places = [c.target if receives else c.source for c in piece.dimensions]
    if all(isinstance(p, Run) and p.contiguous for p in places):
        firsts = [p.first for p in places if isinstance(p, Run)]
        box = MPI.DOUBLE.Create_subarray(list(local), list(piece.shape), firsts).Commit()
        made.append(box)
        return 1, 0, box
    kind = MPI.DOUBLE
    displacement, unit = 0, 8
    for run, extent in zip(reversed(places), reversed(local)):
        element = kind.Create_resized(0, unit)
        if not isinstance(run, Run):
            breaks = np.flatnonzero(np.diff(run) != 1) + 1
            starts = np.concatenate([np.zeros(1, np.int64), breaks])
            lengths = np.diff(np.append(starts, len(run)))
            kind = element.Create_hindexed(
                [int(n) for n in lengths], [int(p) * unit for p in run[starts]]
            )
        elif run.contiguous:
            kind = element.Create_contiguous(run.count * run.length)
            displacement += run.first * unit
        else:
            kind = element.Create_hvector(run.count, run.length, run.step * unit)
            displacement += run.first * unit
        made += [element, kind]
        unit *= extent
    kind.Commit()
    return 1, displacement, kind


def packed_alltoall(problem: Problem) -> Contestant:
    """NumPy packs, `MPI_Alltoall` (`MPI_Alltoallv` where counts differ), NumPy unpacks."""

    def prepare() -> Step:
        sent = [p.size for p in problem.sends]
        received = [p.size for p in problem.recvs]
        out, into = np.empty(sum(sent)), np.empty(sum(received))
        packs = [(part, p.source_index()) for part, p in _parts(out, problem.sends)]
        unpacks = [(part, p.target_index()) for part, p in _parts(into, problem.recvs)]
        comm = problem.comm.Dup()
        counts = comm.allgather(sent)
        even = len({n for row in counts for n in row}) == 1

        def run() -> None:
            for part, here in packs:
                part[...] = problem.source[here]
            if even:
                comm.Alltoall(out, into)
            else:
                comm.Alltoallv([out, sent], [into, received])
            for part, there in unpacks:
                problem.target[there] = part

        return problem.step(run, comm.Free)

    return Contestant("pack + Alltoall + unpack", prepare)


def _parts(buffer: Array, pieces: Sequence[Piece]) -> Iterator[tuple[Array, Piece]]:
    first = 0
    for piece in pieces:
        if piece.size:
            yield buffer[first : first + piece.size].reshape(piece.shape), piece
        first += piece.size
