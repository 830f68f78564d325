# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that redistribute arrays, as hocket's peers: ScaLAPACK's `pdgemr2d`, mpi4py-fft,
PETSc's `PetscSF`.

They are found at run time; a missing one, or one that cannot solve the problem, is reported as not
run.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .formats import Lay, Spread
from .harness import Contestant, Step, UnavailableError
from .redistribution import Problem


def _own_mpi() -> str | None:
    """Path of the MPI library that this process has loaded, if it is no system library."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    loaded = {line.split()[-1] for line in lines if "/libmpi" in line}
    return next((path for path in sorted(loaded) if path.startswith(sys.prefix)), None)


def _scalapack(path: str | None) -> ctypes.CDLL:
    from mpi4py import MPI

    word = "openmpi" if "Open MPI" in MPI.Get_library_version() else "mpich"
    own = _own_mpi()
    if path is None and own is not None:
        raise UnavailableError(
            f"a system's ScaLAPACK goes with the system's MPI, and this is {own}; take MPI=system, "
            "or name a library that goes with this one by --scalapack"
        )
    candidates = [path] if path else [f"libscalapack-{word}.so{end}" for end in ("", ".2.2")]
    problems = []
    for each in candidates:
        try:
            return ctypes.CDLL(each)
        except OSError as error:
            problems.append(str(error))
    raise UnavailableError(f"no ScaLAPACK (Debian: libscalapack-{word}-dev): {problems[-1]}")


class _Grid:
    """The processes of a layout in a grid of BLACS.

    BLACS and ScaLAPACK count in column-major order: a row-major array is their transpose, so its
    last dimension is their rows.
    """

    def __init__(self, blacs: ctypes.CDLL, system: int, lay: Lay) -> None:
        rows, columns = (spread.parts for spread in reversed(lay.spreads()))
        places = np.zeros((columns, rows), np.int32)
        for rank in range(lay.first, lay.first + lay.size):
            column, row = lay.parts(rank)
            places[column, row] = rank
        context = ctypes.c_int(system)
        blacs.Cblacs_gridmap(
            ctypes.byref(context), places.ctypes.data_as(ctypes.c_void_p), rows, rows, columns
        )
        self.context = context.value

    def describe(self, lay: Lay, local: Any) -> Any:
        """ScaLAPACK's array descriptor."""
        down, across = reversed(lay.spreads())
        leading = max(local.shape[1], 1)
        blocks = [max(each.block, 1) for each in (down, across) if isinstance(each, Spread)]
        words = [1, self.context, down.extent, across.extent, *blocks, 0, 0, leading]
        return np.array(words, np.int32)


def pdgemr2d(problem: Problem, path: str | None = None) -> Contestant:
    """ScaLAPACK's copy between two-dimensional block-cyclic arrays of any grids."""

    def prepare() -> Step:
        if len(problem.shape) != 2:
            raise UnavailableError("it has matrices only")
        sides = (problem.source_lay, problem.target_lay)
        if not all(isinstance(each, Spread) for side in sides for each in side.spreads()):
            raise UnavailableError("it has equal blocks only")
        if min(problem.shape) == 0 or max(problem.shape) > np.iinfo(np.int32).max:
            raise UnavailableError("its extents are from 1 to 2^31 - 1")
        library = _scalapack(path)
        from mpi4py import MPI

        comm = problem.comm.Dup()
        handle = MPI._handleof(comm)
        small = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
        library.Csys2blacs_handle.argtypes = [ctypes.c_int if small else ctypes.c_void_p]
        system = library.Csys2blacs_handle(handle)
        everyone = _Grid(library, system, Lay((1, 1), ("*", "CYCLIC"), (comm.size,)))
        grids = [_Grid(library, system, lay) for lay in (problem.source_lay, problem.target_lay)]
        described = [
            grid.describe(lay, local)
            for grid, lay, local in zip(
                grids,
                (problem.source_lay, problem.target_lay),
                (problem.source, problem.target),
            )
        ]
        numbers = [ctypes.c_int(n) for n in (problem.shape[1], problem.shape[0], 1)]
        rows, columns, one = (ctypes.byref(number) for number in numbers)
        a, b = (ctypes.c_void_p(x.ctypes.data) for x in (problem.source, problem.target))
        of_a, of_b = (ctypes.c_void_p(words.ctypes.data) for words in described)
        context = ctypes.c_int(everyone.context)
        keeps = (described, numbers, grids)

        def run() -> None:
            library.pdgemr2d_(
                rows, columns, a, one, one, of_a, b, one, one, of_b, ctypes.byref(context)
            )

        def close() -> None:
            for grid in (*keeps[2], everyone):
                if grid.context >= 0:
                    library.Cblacs_gridexit(grid.context)
            library.Cfree_blacs_system_handle(system)
            comm.Free()

        return problem.step(run, close)

    return Contestant("ScaLAPACK pdgemr2d", prepare)


def mpi4py_fft(problem: Problem) -> Contestant:
    """mpi4py-fft's transfer between pencils: ``Alltoallw`` among those that share a side."""

    def prepare() -> Step:
        away, home = _turned(problem)
        try:
            from mpi4py_fft.pencil import Pencil, Subcomm  # type: ignore[import-not-found]
        except ImportError as error:
            raise UnavailableError(
                f"mpi4py-fft (PyPI: mpi4py-fft; it builds with Debian's libfftw3-dev): {error}"
            ) from error
        extents = [spread.parts for spread in problem.source_lay.spreads()]
        grid = Subcomm(problem.comm, extents, reorder=False)
        before = Pencil(grid, problem.shape, axis=away)
        after = before.pencil(home)
        if not (_same(before, problem.source_indices) and _same(after, problem.target_indices)):
            raise UnavailableError("its blocks are others where extents do not divide")
        transfer = before.transfer(after, np.float64)

        def close() -> None:
            transfer.destroy()
            grid.destroy()

        return problem.step(lambda: transfer.forward(problem.source, problem.target), close)

    return Contestant("mpi4py-fft", prepare)


#: PetscSF has an entry for every element.
_MOST_LEAVES = 1 << 25


def petsc_sf(problem: Problem) -> Contestant:
    """PETSc's star forest: each element of the target is a leaf, which names its root in the
    source by rank and position (Zhang, Brown, Balay et al., IEEE TPDS 33, 2022)."""

    def prepare() -> Step:
        if problem.bytes > 8 * _MOST_LEAVES:
            raise UnavailableError(f"it has more than {_MOST_LEAVES} elements, and lists each one")
        try:
            from petsc4py import PETSc  # type: ignore[import-not-found]
        except ImportError as error:
            raise UnavailableError(
                f"petsc4py (Debian: python3-petsc4py with MPI=system; PyPI: petsc4py): {error}"
            ) from error
        from mpi4py import MPI

        roots = np.empty((problem.target.size, 2), PETSc.IntType)
        leaves = np.arange(problem.target.size).reshape(problem.target.shape)
        for sender, piece in enumerate(problem.recvs):
            if piece.size:
                held = [len(indices) for indices in problem.source_lay.indices(sender)]
                places = np.arange(int(np.prod(held))).reshape(held)
                roots[leaves[piece.target_index()].ravel(), 0] = sender
                roots[leaves[piece.target_index()].ravel(), 1] = places[
                    piece.source_index()
                ].ravel()
        forest = PETSc.SF().create(problem.comm)
        forest.setGraph(problem.source.size, None, roots)
        forest.setUp()
        source, target = problem.source.reshape(-1), problem.target.reshape(-1)

        def run() -> None:
            forest.bcastBegin(MPI.DOUBLE, source, target, MPI.REPLACE)
            forest.bcastEnd(MPI.DOUBLE, source, target, MPI.REPLACE)

        return problem.step(run, forest.destroy)

    return Contestant("PETSc PetscSF", prepare)


def _turned(problem: Problem) -> tuple[int, int]:
    """The dimension that is undistributed only before, and the one that is only afterwards."""
    before, after = (
        {d for d, form in enumerate(side.formats) if form == "*"}
        for side in (problem.source_lay, problem.target_lay)
    )
    formats = {*problem.source_lay.formats, *problem.target_lay.formats}
    if formats - {"BLOCK", "*"} or len(before - after) != 1 or len(after - before) != 1:
        raise UnavailableError("it turns BLOCK pencils from one dimension to another only")
    if problem.disjoint or problem.source_lay.size != problem.comm.size:
        raise UnavailableError("it has all processes on both sides")
    return (before - after).pop(), (after - before).pop()


def _same(pencil: Any, indices: Any) -> bool:
    return all(
        len(held) == count and (count == 0 or held[0] == first)
        for held, count, first in zip(indices, pencil.subshape, pencil.substart)
    )
