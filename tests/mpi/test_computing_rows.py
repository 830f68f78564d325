# SPDX-License-Identifier: BSD-3-Clause
"""Indices that take the last dimensions whole: their elements move together, as rows."""

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk
from hocket import _mpi

ROWS = np.array([5, 0, 0, -1, 3, 2, 5])
KINDS = {
    "blocks": lambda n: hk.Layout((6, 2, 3), "(BLOCK, *, *)", n),
    "cyclic": lambda n: hk.Layout((6, 2, 3), "(CYCLIC, *, *)", n),
    "copies": lambda n: hk.Layout((6, 2, 3), "(*, *, *)", (n,), replicate=(0,)),
    "second": lambda n: hk.Layout((6, 2, 3), "(*, BLOCK, *)", n),
    "columns": lambda n: hk.Layout((6, 2, 3), "(*, *, BLOCK)", n),
}


@pytest.mark.parametrize("kind", KINDS)
@ranks(1, 2, 3)
def test_rows_are_read_and_written(comm, kind):
    x = np.arange(36, dtype="f4").reshape(6, 2, 3)
    layout = KINDS[kind](comm.size)
    for index in (
        ROWS,
        (ROWS, 1),
        (slice(None), np.array([1, 0, 1])),
        (ROWS, slice(None, None, -1)),
        (np.array(4), 1, np.array(-1)),
        (np.array(4), ..., np.array(1), np.array(-1)),
    ):
        a, expected = hk.scatter(x, layout, comm), x.copy()
        found = a[index]
        assert isinstance(found, np.generic) == isinstance(expected[index], np.generic)
        whole = hk.replicated(found) if isinstance(found, hk.Array) else found
        np.testing.assert_array_equal(whole, expected[index])
        values = np.arange(expected[index].size).reshape(expected[index].shape)
        a[index], expected[index] = values, values
        np.testing.assert_array_equal(hk.replicated(a), expected)


@ranks(2)
def test_whole_rows_move_as_one_element_each(comm, monkeypatch):
    asked, fetch = [], _mpi.fetch

    def recorded(array, numbers, values):
        asked.append(len(numbers))
        fetch(array, numbers, values)

    monkeypatch.setattr(_mpi, "fetch", recorded)
    a = hk.arange(hk.Layout((6, 2, 3), "(BLOCK, *, *)", 2), comm=comm)
    np.testing.assert_array_equal(hk.replicated(a[ROWS]), np.arange(36).reshape(6, 2, 3)[ROWS])
    assert asked == [4 - comm.rank]
    turned = a.T  # the last dimension is distributed
    hk.replicated(turned[[0, 2]])
    assert asked[1] == 2 * 2 * 6 // 2


@ranks(2)
def test_memory_of_any_strides_takes_rows(comm):
    """On one process the memory is dense, on the other one it is not."""
    own = np.zeros((3, 8) if comm.rank == 0 else (3, 4))
    a = hk.wrap(own[:, ::2] if comm.rank == 0 else own, hk.Layout((6, 4), "(BLOCK, *)", 2), comm)
    a[[4, 1]] = np.arange(8).reshape(2, 4)
    expected = np.zeros((6, 4))
    expected[[4, 1]] = np.arange(8).reshape(2, 4)
    np.testing.assert_array_equal(hk.replicated(a), expected)
    np.testing.assert_array_equal(hk.replicated(a[[1, 4, 4]]), expected[[1, 4, 4]])
    np.testing.assert_array_equal(
        own[1, :: 2 if comm.rank == 0 else 1], expected[3 * comm.rank + 1]
    )
