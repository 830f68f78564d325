# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of PETSc and mpi4py-fft: their layouts on several processes, moved without a copy of
their memory. The objects are stand-ins with their documented methods, and the real ones where the
packages import."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from neighbour_objects import DMDA, IS, DistArray, Pencil, Vec, ownership


def subcommunicators(comm, dims):
    """One for each axis, as mpi4py-fft's Subcomm makes them of a Cartesian grid."""
    cart = comm.Create_cart(dims)
    made = [cart.Sub([d == k for k in range(len(dims))]) for d in range(len(dims))]
    cart.Free()
    return made


def arrives(a, number):
    """Each element of an array that holds its row-major numbers, moved to another layout."""
    shape = a.layout.shape
    moved = hk.redistribute(a, hk.Layout(shape, ["CYCLIC"] + ["*"] * (len(shape) - 1), number))
    if a.comm.rank < number:
        own = np.arange(a.layout.num_elements).reshape(shape)[a.comm.rank :: number]
        np.testing.assert_array_equal(moved.local, own)


def filled(local, lay, rank):
    """`local`, holding the row-major numbers of its elements."""
    numbers = np.arange(lay.num_elements).reshape(lay.shape)
    local[...] = numbers[lay.slices(rank)].reshape(local.shape)
    return local


@ranks(1, 2, 3, 4, 6)
def test_index_sets(comm):
    rng = np.random.default_rng(comm.size)
    order = rng.permutation(13)
    own = order[comm.rank :: comm.size]
    lay = hk.Layout.from_petsc(IS(comm, own))
    parts = [order[r :: comm.size] for r in range(comm.size)]
    assert lay == hk.Layout.elements(13, parts)
    arrives(hk.wrap(own.astype(float), lay, comm), comm.size)
    wide = hk.Layout.from_petsc(IS(comm, own), shape=(4, 5))
    assert wide.shape == (4, 5) and wide.owners((3, 0)) == []
    raises_everywhere(
        comm, hk.LayoutError, lambda: hk.Layout.from_petsc(IS(comm, [comm.rank - 1])), "-1"
    )


@ranks(1, 2, 4, 6)
def test_vectors_and_grids(comm):
    vec = Vec(ownership(11, comm.size))
    memory = np.arange(*vec.getOwnershipRanges()[comm.rank : comm.rank + 2], dtype=float)
    lay = hk.Layout.from_petsc(vec)
    a = hk.wrap(memory, lay, comm)
    assert np.shares_memory(a.local, memory)
    arrives(a, comm.size)
    da = DMDA((5, 6), (max(1, comm.size // 2), min(comm.size, 2)), dof=2)
    lay = hk.Layout.from_petsc(da)
    flat = np.zeros(lay.local_elements(comm.rank))
    b = hk.wrap(flat.reshape(lay.local_shape(comm.rank)), lay, comm)
    filled(b.local, lay, comm.rank)
    assert np.shares_memory(b.local, flat)
    arrives(b, comm.size)


@ranks(1, 2, 4, 6)
def test_pencils(comm):
    dims = [max(1, comm.size // 2), min(comm.size, 2), 1]
    first = subcommunicators(comm, dims)
    second = [first[0], first[2], first[1]]  # as Pencil.pencil(1) exchanges them
    held = []
    for subcomm in (first, second):
        pencil = Pencil(subcomm, (6, 7, 5))
        lay = hk.Layout.from_mpi4py_fft(pencil, comm)
        assert lay.to_boxes()[comm.rank] == (
            pencil.substart,
            tuple(s + n for s, n in zip(pencil.substart, pencil.subshape)),
        )
        array = DistArray.of(pencil)
        assert hk.Layout.from_mpi4py_fft(array, comm) == lay
        a = hk.wrap(filled(array, lay, comm.rank), lay, comm)
        assert np.shares_memory(a.local, array)
        arrives(a, comm.size)
        held.append(a)
    held[1].local[...] = 0
    hk.redistribute(held[0], held[1].layout, out=held[1])
    expected = filled(np.empty(held[1].local.shape), held[1].layout, comm.rank)
    np.testing.assert_array_equal(held[1].local, expected)
    wrong = 5 if comm.rank == comm.size - 1 else Pencil(first, (6, 7, 5))
    raises_everywhere(comm, hk.LayoutError, lambda: hk.Layout.from_mpi4py_fft(wrong, comm), "5")
    for each in first:
        each.Free()


@ranks(1, 2, 4)
def test_mpi4py_fft_itself(comm):
    fft = pytest.importorskip("mpi4py_fft")
    pfft = fft.PFFT(comm, [8, 6, 5], axes=(0, 1, 2), dtype=float)
    for forward in (False, True):
        array = fft.newDistArray(pfft, forward)
        lay = hk.Layout.from_mpi4py_fft(array, comm)
        assert lay == hk.Layout.from_mpi4py_fft(pfft.pencil[forward], comm)
        assert lay.slices(comm.rank) == tuple(array.local_slice())
    rows = hk.Layout((8, 6, 5), "(BLOCK, *, *)", comm.size)
    a = hk.from_function(lambda i, j, k: np.sin(i + 2 * j) + k, rows, float, comm)
    given = fft.newDistArray(pfft, False)
    lay = hk.Layout.from_mpi4py_fft(given, comm)
    hk.redistribute(a, lay, out=hk.wrap(given, lay, comm))
    found = pfft.forward(given, fft.newDistArray(pfft, True), normalize=False)
    spectrum = hk.wrap(found, hk.Layout.from_mpi4py_fft(found, comm), comm).gather()
    whole = a.gather()
    if comm.rank == 0:
        np.testing.assert_allclose(spectrum, np.fft.rfftn(whole), atol=1e-9)


@ranks(1, 2, 4)
def test_petsc_itself(comm):
    petsc = pytest.importorskip("petsc4py.PETSc")
    da = petsc.DMDA().create([7, 5, 4], dof=2, comm=comm)
    lay = hk.Layout.from_petsc(da)
    vec = da.createGlobalVec()
    start, extents = da.getCorners()
    assert lay.slices(comm.rank)[:3] == tuple(
        slice(s, s + n) for s, n in zip(start[::-1], extents[::-1])
    )
    a = hk.wrap(vec.getArray().reshape(lay.local_shape(comm.rank)), lay, comm)
    filled(a.local, lay, comm.rank)
    arrives(a, comm.size)
    assert vec.max()[1] == lay.num_elements - 1
    assert hk.Layout.from_petsc(vec).local_elements(comm.rank) == vec.getLocalSize()
