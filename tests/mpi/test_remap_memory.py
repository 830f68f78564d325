# SPDX-License-Identifier: BSD-3-Clause
"""How much memory hk.remap_inplace takes, beside the two-array form."""

import mmap

import numpy as np
import pytest
from lockstep import ranks
from peaks import MIB, peak_of

import hocket as hk


def filled(shape, comm):
    """An array in memory of the user's own, every page touched, with room for uneven parts."""
    layout = hk.Layout(shape, "(BLOCK, *)", comm.size)
    room = np.zeros(hk.remap_room(layout, (1, 0), comm.rank))
    room[...] = 1
    extents = layout.local_shape(comm.rank)
    local = room[: int(np.prod(extents))].reshape(extents)
    first = layout.global_indices(comm.rank)[0][:1]
    for k, row in enumerate(local):
        row[...] = np.arange(shape[1]) + shape[1] * (int(first[0]) + k)
    return hk.wrap(local, layout, comm, room=room)


@ranks(1, 2, 3)
@pytest.mark.parametrize("shape", [(3000, 3072), (3001, 2999)])
def test_memory_beside_the_array(comm, shape):
    """1 % and 4 MiB a thread for local turns, 2 MiB for messages, and what MPI takes itself."""
    small = filled((300, 400), comm)
    hk.remap_inplace(small, (1, 0), threads=1)  # threads, libraries, MPI's own buffers
    a = filled(shape, comm)
    size = a.local.nbytes
    b, peak = peak_of(lambda: hk.remap_inplace(a, (1, 0), threads=1))
    first = b.layout.global_indices(comm.rank)[0]
    expected = first[:, None] + shape[1] * np.arange(shape[0])[None, :]
    np.testing.assert_array_equal(b.local, expected)
    assert peak <= size // 100 + 4 * MIB + 2 * MIB + 8 * MIB, (peak, size)


@ranks(1, 2, 3)
def test_half_of_the_two_array_form(comm):
    shape = (3000, 3072)
    size = 8 * shape[0] * shape[1] // comm.size
    a = filled(shape, comm)
    layout = hk.remap_layout(a.layout, (1, 0))

    def second_array():
        extents = layout.local_shape(comm.rank)
        fresh = np.frombuffer(mmap.mmap(-1, 8 * extents[0] * extents[1])).reshape(extents)
        hk.redistribute(a, layout, axes=(1, 0), out=hk.wrap(fresh, layout, comm))

    _, more = peak_of(second_array)
    assert more >= 0.9 * size  # the system counts pages by batches
    _, less = peak_of(lambda: hk.remap_inplace(a, (1, 0), threads=1))
    assert (size + less) <= 0.65 * (size + more), (size, less, more)


@ranks(2, 3)
def test_hockets_own_memory_beside_the_array(comm):
    """Arrays from hk.empty are swapped in each other's memory: nothing is taken for messages."""
    from hocket import _mpi

    shape = (1200, 1201)
    a = hk.from_function(lambda i, j: i * shape[1] + j, hk.Layout(shape, "(BLOCK, *)", comm.size))
    before = _mpi.memory_usage()
    hk.remap_inplace(a, (1, 0))
    after = _mpi.memory_usage()
    # Channels stay with the process; their ring buffers do not.
    assert after["in_use"] - before["in_use"] <= 4096
    assert after["kept"] - before["kept"] <= 2 * MIB + (1 << 16)
