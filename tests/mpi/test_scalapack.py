# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK solves systems that lie in arrays of hocket, without a copy: with `MPI=system`, where
Debian's libscalapack-openmpi-dev is installed for the same Open MPI."""

from __future__ import annotations

import ctypes
import ctypes.util
from pathlib import Path

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

Int = ctypes.c_int


def scalapack():
    """The library, where it is made for the MPI of this process."""
    found = ctypes.util.find_library("scalapack-openmpi")
    if found is None:
        pytest.skip("libscalapack-openmpi-dev is not installed")
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    if not any("/libmpi.so" in line and "/usr/lib/" in line for line in maps.splitlines()):
        pytest.skip("ScaLAPACK's MPI is the system's, and this process has another: MPI=system")
    return ctypes.CDLL(found, ctypes.RTLD_GLOBAL)


class Grid:
    """A process grid of BLACS over MPI_COMM_WORLD; `processes` as BLACS_GRIDMAP takes them."""

    def __init__(self, library, processes):
        self.library = library
        self.context = Int()
        library.Cblacs_get(Int(-1), Int(0), ctypes.byref(self.context))
        usermap = np.asfortranarray(processes, dtype=np.intc)
        library.Cblacs_gridmap(
            ctypes.byref(self.context),
            usermap.ctypes.data_as(ctypes.c_void_p),
            *(Int(n) for n in (usermap.shape[0], *usermap.shape)),
        )

    def exit(self):
        self.library.Cblacs_gridexit(self.context)


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def solve(library, n, rhs, a, desc_a, b, desc_b):
    """PDGESV: A x = b; the pivots' array has LOCr(M_A) + MB_A entries."""
    pivots = np.zeros(int(desc_a[8]) + int(desc_a[4]), dtype=np.intc)
    info = Int(-99)
    one = ctypes.byref(Int(1))
    library.pdgesv_(
        *(ctypes.byref(Int(k)) for k in (n, rhs)),
        *(address(a), one, one, address(desc_a), address(pivots)),
        *(address(b), one, one, address(desc_b), ctypes.byref(info)),
    )
    assert info.value == 0


def system(n, rhs):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, n)), rng.normal(size=(n, rhs))


def grids(size):
    """Numbered by rows, by columns, and backwards, as far as they differ."""
    rows = 2 if size % 2 == 0 else 1
    numbers = np.arange(size)
    return [
        numbers.reshape(rows, -1),
        numbers.reshape((rows, -1), order="F"),
        numbers[::-1].reshape(rows, -1),
    ]


@ranks(1, 2, 4)
@pytest.mark.parametrize("transposed", [False, True])
def test_pdgesv_on_our_arrays(comm, transposed):
    library = scalapack()
    n, rhs, block = 37, 3, 4
    whole_a, whole_b = system(n, rhs)
    for processes in grids(comm.size):
        local, descriptors = [], []
        for whole in (whole_a, whole_b):
            desc = [1, 0, *whole.shape, block, block, 0, 0, whole.shape[0]]
            lay = hk.Layout.from_blacs(desc, processes, transposed=transposed)
            source = hk.scatter(
                (whole.T.copy() if transposed else whole) if comm.rank == 0 else None,
                hk.Layout(lay.shape, "(BLOCK, *)", comm.size),
                comm,
            )
            # Row-major memory is the transpose's in ScaLAPACK's eyes; else it is column-major.
            own = lay.local_shape(comm.rank)
            memory = hk.wrap(np.empty(own, order="C" if transposed else "F"), lay, comm)
            hk.redistribute(source, lay, out=memory)
            local.append(memory)
        _, places = local[0].layout.to_blacs(transposed=transposed)
        grid = Grid(library, places)
        for memory in local:
            found, own = memory.layout.to_blacs(grid.context.value, transposed=transposed)
            np.testing.assert_array_equal(own, places)
            descriptors.append(found[comm.rank])
        solve(library, n, rhs, local[0].local, descriptors[0], local[1].local, descriptors[1])
        solution = local[1].gather()
        if comm.rank == 0:
            got = solution.T if transposed else solution
            np.testing.assert_allclose(got, np.linalg.solve(whole_a, whole_b), rtol=1e-8)
        grid.exit()


@ranks(1, 2, 4)
def test_sources_and_longer_columns(comm):
    """Blocks that begin at the last process, in memory with room at the end of each column; the
    descriptors are DESCINIT's, and the shapes NUMROC's."""
    library = scalapack()
    n, rhs, block = 29, 2, 3
    processes = grids(comm.size)[0]
    grid = Grid(library, processes)
    whole = system(n, rhs)
    local, descriptors = [], []
    library.numroc_.restype = Int
    row, column = (int(k[0]) for k in np.nonzero(processes == comm.rank))
    for matrix in whole:
        source = [extent - 1 for extent in processes.shape]
        shape = [
            library.numroc_(*(ctypes.byref(Int(k)) for k in (total, block, at, first, extent)))
            for total, at, first, extent in zip(
                matrix.shape, (row, column), source, processes.shape
            )
        ]
        desc, info = np.zeros(9, dtype=np.intc), Int()
        lld = max(1, shape[0]) + 2
        entries = (*matrix.shape, block, block, *source, grid.context.value, lld)
        library.descinit_(
            address(desc), *(ctypes.byref(Int(k)) for k in entries), ctypes.byref(info)
        )
        assert info.value == 0
        lay = hk.Layout.from_blacs(desc, processes, rank=comm.rank)
        assert lay.local_shape(comm.rank) == tuple(shape)
        memory = np.full((lld, max(1, shape[1])), np.nan, order="F")
        a = hk.wrap(memory[: shape[0], : shape[1]], lay, comm)
        hk.redistribute(
            hk.scatter(
                matrix if comm.rank == 0 else None,
                hk.Layout(matrix.shape, "(*, CYCLIC)", comm.size),
                comm,
            ),
            lay,
            out=a,
        )
        assert np.isnan(memory[shape[0] :]).all()
        local.append((memory, a))
        descriptors.append(desc)
    solve(library, n, rhs, local[0][0], descriptors[0], local[1][0], descriptors[1])
    solution = local[1][1].gather()
    if comm.rank == 0:
        np.testing.assert_allclose(solution, np.linalg.solve(*whole), rtol=1e-8)
    grid.exit()
