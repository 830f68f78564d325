# SPDX-License-Identifier: BSD-3-Clause
"""Long messages between processes of a node: every pairing of memory that others can reach and
memory that they cannot, dense and strided, with both ends at work or one asleep in other things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

KINDS = ["empty", "wrap", "strided", "reversed"]


def make(kind: str, layout: hk.Layout, comm: Any, dtype: str) -> hk.Array:
    """An array of the layout whose memory is of the kind, full of a value that is not sent."""
    if kind == "empty":
        array = hk.empty(layout, dtype, comm=comm)
        array.local[...] = -1
        return array
    shape = layout.local_shape(comm.rank)
    if kind == "wrap":
        return hk.wrap(np.full(shape, -1, dtype), layout, comm=comm)
    room = np.full(tuple(2 * n for n in shape), -1, dtype)
    step = 2 if kind == "strided" else -2
    return hk.wrap(room[(slice(None, None, step),) * len(shape)], layout, comm=comm)


def expected(layout: hk.Layout, rank: int, shape: tuple[int, ...], dtype: str) -> Any:
    whole = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    return whole[np.ix_(*layout.global_indices(rank))]


@pytest.mark.parametrize("source_kind", KINDS)
@pytest.mark.parametrize("destination_kind", KINDS)
@ranks(2, 3)
def test_redistribute(comm: Any, source_kind: str, destination_kind: str) -> None:
    shape = (300, 401)
    source = hk.Layout(shape, "(BLOCK, *)", comm.size)
    destination = hk.Layout(shape, "(*, CYCLIC(3))", comm.size)
    a = make(source_kind, source, comm, "int64")
    a.local[...] = expected(source, comm.rank, shape, "int64")
    b = make(destination_kind, destination, comm, "int64")
    for _ in range(2):
        hk.redistribute(a, destination, out=b)
        assert np.array_equal(b.local, expected(destination, comm.rank, shape, "int64"))
        b.local[...] = -1


@pytest.mark.parametrize("kind", ["empty", "wrap"])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("persistent", [False, True])
@ranks(2, 4)
def test_elements_that_lie_among_each_other(
    comm: Any, kind: str, dtype: str, persistent: bool
) -> None:
    """CYCLIC to BLOCK of more than the caches hold, in blocks that begin on no cache line: all
    senders' elements of a line come in one pass where they can be reached, else one by one."""
    shape = (comm.size * 1_500_007,)
    source = hk.Layout(shape, "(CYCLIC)", comm.size)
    destination = hk.Layout(shape, "(BLOCK)", comm.size)
    a = make(kind, source, comm, dtype)
    b = make(kind, destination, comm, dtype)
    sent, wanted = (expected(each, comm.rank, shape, dtype) for each in (source, destination))
    w = hk.tasks({"all": comm.size}, comm=comm)
    requests = [w.send_init(a, "all"), w.recv_init(b, "all")] if persistent else []
    for round_ in range(3):
        a.local[...] = sent + round_
        b.local[...] = -1
        if persistent:
            for request in requests:
                request.start()
            hk.waitall(requests)
        else:
            hk.redistribute(a, destination, out=b)
        assert np.array_equal(b.local, wanted + round_)


@pytest.mark.parametrize("source_kind", ["empty", "wrap", "strided"])
@pytest.mark.parametrize("destination_kind", ["empty", "wrap", "strided"])
@ranks(2, 3)
def test_between_tasks(comm: Any, source_kind: str, destination_kind: str) -> None:
    """One to one and one to two, of 8 MB: more than one part, and more than the ring holds."""
    shape = (1000, 1001)
    w = hk.tasks({"from": 1, "to": comm.size - 1}, comm=comm)
    source = hk.Layout(shape, "(BLOCK, *)", 1)
    destination = hk.Layout(shape, "(*, CYCLIC)", comm.size - 1)
    for _ in range(2):
        if w.name == "from":
            a = make(source_kind, source, w.comm, "float64")
            a.local[...] = expected(source, w.comm.rank, shape, "float64")
            w.send(a, "to")
        else:
            b = make(destination_kind, destination, w.comm, "float64")
            w.recv(b, "from")
            wanted = expected(destination, w.comm.rank, shape, "float64")
            assert np.array_equal(b.local, wanted)


@ranks(2)
def test_the_sender_may_be_away(comm: Any) -> None:
    """A receiver copies alone while the sender computes; the sender's wait comes later."""
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    layout = hk.Layout((1 << 20,), "(BLOCK)", 1)
    for _ in range(5):
        if w.name == "from":
            a = hk.from_function(lambda i: i * 3, layout, "int64", comm=w.comm)
            request = w.isend(a, "to")
            for _ in range(100):
                np.sum(a.local)
            request.wait()
        else:
            b = hk.zeros(layout, "int64", comm=w.comm)
            w.recv(b, "from")
            assert np.array_equal(b.local, np.arange(1 << 20) * 3)


@ranks(2, 3)
def test_items_larger_than_a_part(comm: Any) -> None:
    """A structured element of 200 kB, sent from memory that cannot be reached."""
    dtype = np.dtype([("body", "u1", (200_000,))])
    source = hk.Layout((7,), "(BLOCK)", comm.size)
    destination = hk.Layout((7,), "(CYCLIC)", comm.size)
    local = np.zeros(source.local_shape(comm.rank), dtype)
    for place, index in enumerate(source.global_indices(comm.rank)[0]):
        local[place]["body"][:] = index + 1
    out = hk.wrap(np.zeros(destination.local_shape(comm.rank), dtype), destination, comm=comm)
    hk.redistribute(hk.wrap(local, source, comm=comm), destination, out=out)
    for place, index in enumerate(destination.global_indices(comm.rank)[0]):
        assert np.all(out.local[place]["body"] == index + 1)


@pytest.mark.parametrize("kind", ["wrap", "strided"])
@ranks(1, 2)
def test_a_task_that_sends_to_itself(comm: Any, kind: str) -> None:
    """Its processes are their own partners, and each other's."""
    shape = (600, 401)
    w = hk.tasks({"all": comm.size}, comm=comm)
    source = hk.Layout(shape, "(BLOCK, *)", comm.size)
    destination = hk.Layout(shape, "(*, BLOCK)", comm.size)
    a, b = (make(kind, layout, w.comm, "float64") for layout in (source, destination))
    requests = [w.send_init(a, "all"), w.recv_init(b, "all")]
    wanted = expected(destination, w.comm.rank, shape, "float64")
    for round_ in range(3):
        a.local[...] = expected(source, w.comm.rank, shape, "float64") + round_
        for request in requests:
            request.start()
        hk.waitall(requests)
        assert np.array_equal(b.local, wanted + round_)


@ranks(2)
def test_words_that_are_longer_than_the_post_come_though_their_sender_goes_on(comm: Any) -> None:
    """The receiver refuses, and says so with its layout's text of 60 kB, which goes through shared
    memory piece by piece: its call does not end before all of it is on its way."""
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    if w.name == "from":
        array = hk.zeros(hk.Layout((5,), "(*)", 1), "float64", comm=w.comm)
        with pytest.raises(hk.MismatchError, match=r"receives float64 \(50000\)"):
            w.send(array, "to", timeout=100)
    else:
        segments = [[(10 * k, 3) for k in range(5000)]]
        array = hk.zeros(hk.Layout.indexed((50_000,), segments), "float64", comm=w.comm)
        with pytest.raises(hk.MismatchError):
            w.recv(array, "from")
    comm.barrier()  # of MPI's, in which nothing of hocket's goes on
