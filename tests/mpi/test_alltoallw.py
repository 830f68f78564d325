# SPDX-License-Identifier: BSD-3-Clause
"""Plan.alltoallw: MPI moves the same elements with the datatypes of a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import whole
from lockstep import ranks

import hocket as hk
import holdings
from random_layouts import any_pair, from_rng


@pytest.mark.parametrize("cases", [15, pytest.param(150, marks=pytest.mark.soak)])
@ranks(1, 2, 4, soak=[3, 5, 6])
def test_random_layouts_of_every_kind(comm: Any, cases: int) -> None:
    rng = np.random.default_rng([comm.size, 77])
    for case in range(cases):
        source, destination, axes = any_pair(from_rng(rng), comm.size, gaps=bool(case % 2))
        if holdings.missing(source, destination, axes) is not None:
            continue
        dtype = np.dtype([np.float64, np.int8, np.complex128][case % 3])
        array = whole(source.shape, dtype, case)
        turned = array if axes is None else array.transpose(axes)
        expected = np.array(destination.local(turned, comm.rank))
        p = hk.plan(source.layout(hk), destination.layout(hk), axes=axes, itemsize=dtype.itemsize)
        given = p.alltoallw(comm.rank, comm.size)
        assert all(len(each) == comm.size for each in given)
        sends, receives = list(given[:3]), list(given[3:])
        a = np.ascontiguousarray(source.local(array, comm.rank))
        b = np.zeros(expected.shape, dtype)
        comm.Alltoallw([a.view(np.uint8) if a.size else a, *sends], [b, *receives])
        np.testing.assert_array_equal(b, expected)
        for side, peers in ((sends, p.sends), (receives, p.recvs)):
            size = (p.source if side is sends else p.destination).size
            moved = dict(peers(comm.rank)) if comm.rank < size else {}
            for peer, (count, place, each) in enumerate(zip(*side)):
                assert place == 0
                assert count * each.Get_size() == moved.get(peer, 0) * dtype.itemsize
                each.Free()


@ranks(1, 2)
def test_elements_beyond_2_gib_arrive(comm: Any) -> None:
    """They lie at a byte displacement that no int holds. Memory that is not touched takes no
    pages."""
    n = (1 << 31) + 64
    rows = hk.Layout((2, n), "(*, *)") if comm.size == 1 else hk.Layout((2, n), "(BLOCK, *)", 2)
    tails = [((1 - r, n - 13), (2 - r, n - 3)) for r in range(comm.size)]
    a = np.zeros(rows.local_shape(comm.rank), np.uint8)
    for row, own in enumerate(a, comm.rank):
        own[n - 13 : n - 3] = 100 * row + np.arange(10)
    lay = hk.Layout.boxes((2, n), tails)
    b = np.zeros(lay.local_shape(comm.rank), np.uint8)
    p = hk.plan(rows, lay, itemsize=1)
    given = p.alltoallw(comm.rank)
    comm.Alltoallw([a, *given[:3]], [b, *given[3:]])
    np.testing.assert_array_equal(b, [100 * (1 - comm.rank) + np.arange(10)])
    for each in given[2] + given[5]:
        each.Free()


@ranks(1)
def test_places_beyond_2_gib_and_what_cannot_be(comm: Any) -> None:
    """Places lie in the datatypes, so their 64 bits count."""
    lay = hk.Layout((2, 1 << 29), "(*, *)"), hk.Layout((2, 1 << 29), "(BLOCK, *)", 2)
    p = hk.plan(*lay, itemsize=8)
    counts, places, types, *receives = p.alltoallw(0)
    assert (counts, places, len(receives[2])) == ([1, 1], [0, 0], 2)
    assert types[1].Get_extent() == (1 << 32, 1 << 32)
    for each in types + receives[2]:
        each.Free()
    for size, dist in ((1 << 33, "(BLOCK)"), (3 << 32, "(CYCLIC(4))"), ((1 << 33) + 6, "(BLOCK)")):
        many = hk.plan(hk.Layout(size, "(*)"), hk.Layout(size, dist, 2), itemsize=2)
        _, _, types, *receives = many.alltoallw(0)
        assert [each.Get_size() for each in types] == [size, size]
        assert [each.Get_size() for each in receives[2]] == [size, 1]  # the second one is empty
        for each in types + receives[2]:
            each.Free()
    counts, _, types, *receives = p.alltoallw(4, 6)
    assert counts == [0] * 6 == receives[0]
    for each in types + receives[2]:
        each.Free()
    for given in ((2,), (-1,), (0, 1), (6, 6)):
        with pytest.raises(hk.LayoutError, match="process"):
            p.alltoallw(*given)
    with pytest.raises(hk.Error, match="integer"):
        p.alltoallw(0, "two")  # type: ignore[arg-type]
