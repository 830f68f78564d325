# SPDX-License-Identifier: BSD-3-Clause
"""Memory of any strides is read and written as it lies; strides that do not fit are refused."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from cases import check_still_works, raises_everywhere
from lockstep import ranks
from numpy.lib.stride_tricks import as_strided

import hocket as hk

SHAPE = (9, 6)
RECORD = np.dtype([("mark", "i1"), ("value", "f8"), ("flag", "i4")])  # packed: 13 bytes


def layouts(comm: Any) -> tuple[hk.Layout, hk.Layout]:
    return hk.Layout(SHAPE, "(CYCLIC(2), *)", comm.size), hk.Layout(SHAPE, "(*, BLOCK)", comm.size)


def records(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A field of packed records: the strides are no multiples of 8 bytes."""
    memory = np.full(shape, np.array((7, -1.0, 9), RECORD), RECORD)
    return memory, memory["value"]


def backwards(shape: tuple[int, ...]) -> tuple[Any, Any]:
    memory = np.full(tuple(2 * n + 1 for n in shape), -1.0)
    return memory, memory[tuple(slice(2 * n, 0, -2) for n in shape)]


def dense(shape: tuple[int, ...]) -> tuple[Any, Any]:
    memory = np.full(shape, -1.0)
    return memory, memory


MEMORIES = {"dense": dense, "records": records, "backwards": backwards}


def check_memories(comm: Any) -> None:
    source, destination = layouts(comm)
    array = np.arange(54.0).reshape(SHAPE)
    sent = array[np.ix_(*source.global_indices(comm.rank))]
    expected = array[np.ix_(*destination.global_indices(comm.rank))]
    x = hk.transfer(source, destination, comm=comm)
    for here in MEMORIES.values():
        for there in MEMORIES.values():
            _, view = here(sent.shape)
            view[...] = sent
            memory, target = there(expected.shape)
            a, b = hk.wrap(view, source, comm), hk.wrap(target, destination, comm)
            for move in (lambda a, b: hk.redistribute(a, destination, out=b), x):
                target[...] = -1
                move(a, b)
                np.testing.assert_array_equal(target, expected)
                np.testing.assert_array_equal(view, sent)
            target[...] = -1
            if memory.dtype == RECORD:
                assert (memory["mark"] == 7).all() and (memory["flag"] == 9).all()
            else:
                assert (memory == -1).all()  # nothing was written between the elements
    x.free()


@ranks(1, 2, 3)
def test_fields_of_records_and_reversed_memory(comm: Any) -> None:
    check_memories(comm)


@ranks(2, 3, nodes="0,1")
def test_the_same_between_nodes(comm: Any) -> None:
    check_memories(comm)


def overlapping(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return as_strided(np.zeros(100)[50:], shape, strides)


@pytest.mark.parametrize("strides", [(0, 8), (8, 8), (48, 4), (40, 8), (-40, 8)])
@ranks(1, 2, 3)
def test_memory_that_overlaps_itself_is_no_destination(comm: Any, strides: tuple[int, int]) -> None:
    """One process's part does; every process of the call raises."""
    rows = hk.Layout((2 * comm.size, 6), "(BLOCK, *)", comm.size)
    a = hk.zeros(rows, comm=comm)
    last = comm.rank == comm.size - 1
    local = overlapping((2, 6), strides) if last else np.ones((2, 6))
    b = hk.wrap(local, rows, comm)
    w = hk.tasks({"all": comm.size}, comm)
    own = hk.wrap(local, rows, w.comm)

    def received() -> None:
        request = w.irecv(own, "all", tag=5)
        w.isend(hk.zeros(rows, comm=w.comm), "all", tag=5)
        request.wait()

    calls: list[Callable[[], Any]] = [
        lambda: hk.redistribute(a, rows, out=b),
        lambda: hk.iredistribute(a, rows, out=b).wait(),
        received,
        lambda: w.allreduce(hk.zeros(rows, comm=w.comm), own, "add"),
    ]
    for call in calls:
        raises_everywhere(comm, hk.Error, call, "overlap")
    assert (np.asarray(local) == (0 if last else 1)).all()
    check_still_works(comm)


@ranks(1, 2, 3)
def test_a_started_transfer_refuses_memory_that_overlaps_itself(comm: Any) -> None:
    """That process and its receivers raise; the others finish."""
    rows = hk.Layout((2 * comm.size, 6), "(BLOCK, *)", comm.size)
    a = hk.zeros(rows, comm=comm)
    x = hk.transfer(a, a)
    last = comm.rank == comm.size - 1
    local = overlapping((2, 6), (0, 8)) if last else np.ones((2, 6))
    if last:
        with pytest.raises(hk.Error, match="overlap"):
            x(a, hk.wrap(local, rows, comm))
    else:
        x(a, hk.wrap(local, rows, comm))
        assert (local == 0).all()
    b = hk.full(rows, 3.0, comm=comm)
    x(a, b)
    assert (b.local == 0).all()
    x.free()


@ranks(1, 2)
def test_strides_that_lead_out_of_memory_are_refused_where_they_are_given(comm: Any) -> None:
    rows = hk.Layout((2 * comm.size, 6), "(BLOCK, *)", comm.size)
    for strides in (((1 << 63) - 8, 8), (-(1 << 62), 8), (8, 1 << 61), (-(1 << 63), 8)):
        with pytest.raises(hk.Error, match="lead out of memory"):
            hk.wrap(as_strided(np.zeros(1), (2, 6), strides), rows, comm)
    check_still_works(comm)
