# SPDX-License-Identifier: BSD-3-Clause
"""Starts of a transfer that one process cannot make: it raises there, reaches the processes that
receive from it instead of elements, and leaves the transfer as it was."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from cases import check_still_works, raises_everywhere
from lockstep import ranks

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Spec

Ends = tuple[Any, Any]
Wrong = Callable[[Any, Any, Any], Ends]


def read_only(array: hk.Array) -> hk.Array:
    local = array.local.copy()
    local.flags.writeable = False
    return hk.wrap(local, array.layout, array.comm)


def made_read_only(array: hk.Array) -> hk.Array:
    array.local.flags.writeable = False
    return array


# The error's class, a word of it, and the arrays of the process that is wrong.
WRONG: dict[str, tuple[type[hk.Error], str, Wrong]] = {
    "no source": (hk.Error, "NoneType", lambda a, b, on: (None, b)),
    "no destination": (hk.Error, "ndarray", lambda a, b, on: (a, b.local)),
    "type": (hk.MismatchError, "int64", lambda a, b, on: (a, hk.empty(b.layout, "int64", on))),
    "layout": (
        hk.MismatchError,
        "layout",
        lambda a, b, on: (hk.empty(hk.Layout((3, 3), "(*, *)"), "float32", on), b),
    ),
    "read-only": (hk.Error, "read-only", lambda a, b, on: (a, read_only(b))),
    "made read-only": (hk.Error, "read-only", lambda a, b, on: (a, made_read_only(b))),
}


def pair_of(comm: Any, extent: int, sparse: bool) -> tuple[Spec, Spec]:
    p = comm.size
    if sparse:  # a process has something for its neighbours only
        return Spec((extent, 4), (BLOCK, STAR), (p,)), Spec(
            (extent, 4), (oracle.Format("BALANCED"), STAR), (p,)
        )
    return Spec((extent, 4), (BLOCK, STAR), (p,)), Spec((extent, 4), (CYCLIC, STAR), (p,))


def check_refused(comm: Any, extent: int, strategy: str, sparse: bool = False) -> None:
    source, destination = pair_of(comm, extent, sparse)
    lay = source.layout(hk), destination.layout(hk)
    x = hk.transfer(*lay, dtype=None, comm=comm, strategy=strategy, timeout=60)
    whole = np.arange(extent * 4, dtype="float32").reshape(extent, 4)
    a, b = (hk.empty(each, "float32", comm) for each in lay)
    a.local[...] = source.local(whole, comm.rank)
    expected = destination.local(whole, comm.rank)
    x(a, b, timeout=60)  # settles the type
    for k, (kind, word, wrong) in enumerate(WRONG.values()):
        at = k % comm.size
        hears = at != comm.rank and any(r == at for r, _ in hk.plan(*lay).recvs(comm.rank))
        b.local[...] = -1
        for again in range(1 + k % 3):  # the process that is wrong may be ahead of the others
            if comm.rank == at:
                with pytest.raises(kind, match=word):
                    (x if again else x.start)(*wrong(a, b, comm))
                b.local.flags.writeable = True
                with pytest.raises(hk.Error, match="not started"):
                    x.wait()
                continue
            x.start(a, b)
            if not hears:
                x.wait(60)
                assert np.array_equal(b.local, expected), (k, again)
                continue
            with pytest.raises(kind, match=f"process {at} of {comm.size}.*{word}"):
                x.wait(60)
            with pytest.raises(kind, match=word):
                x.wait(60)  # again
        if k % 2:
            continue
        b.local[...] = -1
        x(a, b, timeout=60)
        assert np.array_equal(b.local, expected), k
    x(a, b)
    assert np.array_equal(b.local, expected)
    x.free()


@pytest.mark.parametrize("extent", [6, 300, 30000])
@ranks(3, soak=[2])
def test_a_wrong_array_of_one_process(comm: Any, extent: int) -> None:
    check_refused(comm, extent, "direct")
    if comm.size > 2:
        check_refused(comm, extent + 1, "direct", sparse=True)
    check_still_works(comm)


@pytest.mark.parametrize("strategy", ["centralized", "staged", "multistage", "hybrid"])
@ranks(2, 4)
def test_by_every_strategy(comm: Any, strategy: str) -> None:
    check_refused(comm, 301, strategy)


@ranks(4, nodes="0,0,1,1")
def test_between_pretended_nodes(comm: Any) -> None:
    for extent in (6, 300, 200000):  # the last in several pieces
        check_refused(comm, extent, "direct")


@ranks(2, 3)
@pytest.mark.parametrize("extent", [9, 300, 40000])
def test_the_others_need_not_wait_for_the_one_that_refuses(comm: Any, extent: int) -> None:
    lay = (each.layout(hk) for each in pair_of(comm, extent, sparse=False))
    x = hk.transfer(*(hk.empty(each, "float32", comm) for each in lay), strategy="direct")
    a, b = hk.zeros(x._source, "float32", comm), hk.empty(x._destination, "float32", comm)
    for _ in range(5):
        if comm.rank == 0:
            with pytest.raises(hk.Error, match="NoneType"):
                x.start(a, None)  # type: ignore[arg-type]
        else:
            x.start(a, b)
            with pytest.raises(hk.Error, match="NoneType"):
                x.wait(60)
        comm.Barrier()  # of MPI: this process does nothing for hocket meanwhile
    x(a, b, timeout=60)


@ranks(2, 3)
def test_the_first_start_settles_the_type(comm: Any) -> None:
    lay = hk.Layout(9, "(BLOCK)", comm.size), hk.Layout(9, "(CYCLIC)", comm.size)
    x = hk.transfer(*lay, comm=comm)
    last = comm.rank == comm.size - 1

    def ends(dtype: str) -> Ends:
        a = hk.from_function(lambda i: i, lay[0], dtype, comm)
        return a, hk.empty(lay[1], dtype, comm)

    raises_everywhere(
        comm, hk.MismatchError, lambda: x(*ends("int32" if last else "int64"), 60), "int32", "int64"
    )
    raises_everywhere(
        comm, hk.Error, lambda: x(None if last else ends("int64")[0], ends("int64")[1], 60), "None"
    )
    a, b = ends("int16")
    x(a, b, timeout=60)
    assert np.array_equal(b.local, np.arange(comm.rank, 9, comm.size))
    raises_everywhere(comm, hk.MismatchError, lambda: x(*ends("int64")), "int16", "int64")
    x(a, b, timeout=60)
    y = hk.transfer(*lay, comm=comm, dtype="int16")  # from what the first start has
    y(a, b, timeout=60)
    raises_everywhere(comm, hk.MismatchError, lambda: y(ends("int64")[0], b), "int16", "int64")
    for _ in range(2):
        y(a, b, timeout=60)


@ranks(2, 3)
def test_what_cannot_be_made(comm: Any) -> None:
    last = comm.rank == comm.size - 1
    lay, other = hk.Layout(9, "(BLOCK)", comm.size), hk.Layout(9, "(CYCLIC)", comm.size)

    def wrong(*words: str, kind: type[hk.Error] = hk.Error, **given: Any) -> None:
        ends = given.pop("ends", (lay, other))
        raises_everywhere(
            comm, kind, lambda: hk.transfer(*ends, comm=comm, timeout=60, **given), *words
        )

    if comm.size > 1:
        wrong("disagree", ends=(lay, lay if last else other), kind=hk.MismatchError)
        wrong("disagree", strategy="staged" if last else "direct", kind=hk.MismatchError)
    wrong("NoneType", ends=(None if last else lay, other))
    wrong("shape", ends=(lay, hk.Layout(8, "(*)") if last else other), kind=hk.LayoutError)
    wrong("needs 9", ends=(hk.Layout(9, "(BLOCK)", 9) if last else lay, other), kind=hk.LayoutError)
    wrong("permutation", axes=(1,) if last else (0,), kind=hk.LayoutError)
    wrong("no dtype", dtype="nonsense" if last else "int32")
    wrong("strategy", strategy="fastest" if last else "auto")
    wrong("max_buffer", max_buffer=5 if last else None)
    f4 = hk.empty(other, "float32" if last else "int32", comm)
    wrong("dtype='float32'", ends=(hk.empty(lay, "int32", comm), f4), kind=hk.MismatchError)
    wrong("dst holds", ends=(lay, f4), dtype="int32", kind=hk.MismatchError)
    split = comm.Split(0, comm.rank)
    elsewhere = hk.empty(other, "int32", split if last else comm)
    wrong("communicator", ends=(hk.empty(lay, "int32", comm), elsewhere), kind=hk.MismatchError)
    x = hk.transfer(lay, other, comm=comm)
    a, b = hk.zeros(lay, comm=comm), hk.empty(other, comm=comm)
    x(a, b)
    if last:
        with pytest.raises(hk.MismatchError, match="communicator"):
            x.start(hk.zeros(lay, comm=split), b)
    else:
        x.start(a, b)
        with pytest.raises(hk.MismatchError, match="communicator"):
            x.wait(60)
    x.free()
    raises_everywhere(comm, hk.Error, x.free, "freed before")
    raises_everywhere(comm, hk.Error, lambda: x.start(a, b), "was freed")
    raises_everywhere(comm, hk.Error, x.wait, "was freed")
    raises_everywhere(comm, hk.Error, x.test, "was freed")
    split.Free()


@ranks(2, 3)
def test_in_a_flow(comm: Any) -> None:
    """A step that cannot begin tells the others, in its place among the steps of the transfer."""
    lay = hk.Layout(90, "(BLOCK)", comm.size), hk.Layout(90, "(CYCLIC)", comm.size)
    x = hk.transfer(*lay, comm=comm)
    a, b = hk.from_function(lambda i: i, lay[0], "int64", comm), hk.empty(lay[1], "int64", comm)
    x(a, b)

    def fail() -> None:
        raise ValueError("this step fails")

    for case in range(4):
        b.local[...] = -1
        f = hk.Flow(workers=1)
        f.transfer(x, a, b)
        if comm.rank == 0 and case == 1:
            f.transfer(x, None, b)  # type: ignore[arg-type]
        elif comm.rank == 0 and case == 2:
            f.task(fail, outputs=[a])
            f.transfer(x, a, b)
        elif comm.rank == 0 and case == 3:
            f.transfer(x, a, hk.empty(lay[1], "int8", comm))
        else:
            f.transfer(x, a, b)
        if case == 0:
            f.wait(60)
        else:
            with pytest.raises(hk.StepError, match=r"this step fails|process 0 of|array"):
                f.wait(60)
        b.local[...] = -1
        x(a, b, timeout=60)
        assert np.array_equal(b.local, np.arange(comm.rank, 90, comm.size)), case
    with pytest.raises(hk.Error, match="no transfer"), hk.Flow(workers=1) as f:
        f.transfer(a, a, b)  # type: ignore[arg-type]


def check_refused_before_mpi(comm: Any) -> None:
    a = hk.ones(hk.Layout((6, 4), "(BLOCK, *)", comm.size), comm=comm)
    b = hk.empty(hk.Layout((6, 4), "(*, BLOCK)", comm.size), comm=comm)
    x = hk.transfer(a.layout, b.layout, comm=comm)
    wrong = a.astype("float32")
    for refusing in ([0], range(comm.size), [0]):
        with pytest.raises(hk.MismatchError, match="float32"):
            x(wrong if comm.rank in refusing else a, b, timeout=60)
        comm.barrier()
    x(a, b, timeout=60)
    assert (b.local == 1).all()


@ranks(2, 3)
def test_a_refusal_reaches_the_others_although_mpi_is_called_next(comm: Any) -> None:
    check_refused_before_mpi(comm)


@ranks(3, nodes="0,1,0")
def test_a_refusal_reaches_other_nodes_although_mpi_is_called_next(comm: Any) -> None:
    check_refused_before_mpi(comm)


@ranks(1, 2, 3)
def test_a_second_start_waits_for_the_first_one(comm):
    """Also once its elements have moved, which processes see at different times."""
    lay = hk.Layout((4, 6), "(BLOCK, *)", comm.size), hk.Layout((4, 6), "(*, BLOCK)", comm.size)
    x = hk.transfer(*lay, dtype="int64")
    a, b = hk.from_function(lambda i, j: 6 * i + j, lay[0], "int64"), hk.empty(lay[1], "int64")
    for _ in range(3):
        x.start(a, b)
        comm.barrier()  # in most cases they have moved by now
        raises_everywhere(comm, hk.Error, lambda: x.start(a, b), "is under way")
        x.wait()
    x.start(a, b)
    while not x.test():
        pass
    x(a, b)
    assert np.array_equal(b.local, np.arange(24).reshape(4, 6)[b.layout.slices(comm.rank)])
