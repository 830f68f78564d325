# SPDX-License-Identifier: BSD-3-Clause
"""Persistent requests: every pair of layouts and sizes, again and again, with any array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk
import oracle

TAG = 7


def filled(layout: hk.Layout, comm: Any, round_: int, dtype: str = "int64") -> hk.Array:
    """The whole array is round, round + 1, … in row-major order."""
    array = hk.empty(layout, dtype, comm=comm)
    array.local[...] = expected(layout, comm.rank, round_, dtype)
    return array


def expected(layout: hk.Layout, rank: int, round_: int, dtype: str = "int64") -> Any:
    if rank >= layout.size:
        return 0
    whole = np.arange(round_, round_ + int(np.prod(layout.shape))).reshape(layout.shape)
    indices = layout.global_indices(rank)
    return whole[np.ix_(*indices)].astype(dtype) if indices else whole.astype(dtype)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (40, 30), (3000,), (257, 129)])
@ranks(2, 3, 4, 6)
def test_again_and_again(comm: Any, shape: tuple[int, ...]) -> None:
    """Sizes in a cell, in the ring, and in parts; more starts than there are slots."""
    rng = np.random.default_rng([comm.size, *shape])
    for _ in range(4):
        size = int(rng.integers(1, comm.size))
        w = hk.tasks({"from": size, "to": comm.size - size}, comm=comm)
        source = oracle.random_spec(rng, shape, size).layout(hk)
        destination = oracle.random_spec(rng, shape, comm.size - size).layout(hk)
        if w.name == "from":
            request = w.send_init(filled(source, w.comm, 0), "to", TAG)
            for round_ in range(5):
                request.start(filled(source, w.comm, round_))
                status = request.wait()
                assert status.tag == TAG
        else:
            b = hk.zeros(destination, "int64", comm=w.comm)
            request = w.recv_init(b, "from", TAG)
            for round_ in range(5):
                request.start()
                status = request.wait()
                assert status.source == "from"
                assert status.layout == source
                assert np.array_equal(b.local, expected(destination, w.comm.rank, round_))
                b.local[...] = -1
        request.free()


@pytest.mark.parametrize("nodes", ["0,1,2", "0,0,1", "0,1,1"])
@ranks(3)
def test_across_nodes(comm: Any, nodes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOCKET_NODES", nodes)
    on = comm.Dup()
    w = hk.tasks({"from": 1, "to": 2}, comm=on)
    for shape in [(3,), (500, 100)]:
        source = hk.Layout(shape, "(*" + ", *" * (len(shape) - 1) + ")", 1)
        destination = hk.Layout(shape, "(CYCLIC" + ", *" * (len(shape) - 1) + ")", 2)
        if w.name == "from":
            request = w.send_init(source, "to")
            for round_ in range(4):
                request.start(filled(source, w.comm, round_))
                request.wait()
        else:
            request = w.recv_init(destination, "from")
            for round_ in range(4):
                b = hk.zeros(destination, "int64", comm=w.comm)
                request.start(b)
                request.wait()
                assert np.array_equal(b.local, expected(destination, w.comm.rank, round_))
        request.free()


@pytest.mark.parametrize("count", [None, 1, 10])
@pytest.mark.parametrize("shape", [(100,), (300, 300)])
@ranks(2)
def test_a_layout_and_any_array_of_it(comm: Any, count: Any, shape: tuple[int, ...]) -> None:
    """CDT's exec(HANDLE, DATA): memory of the user's, of any strides, from start to start."""
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    layout = hk.Layout(shape, "(*" + ", *" * (len(shape) - 1) + ")", 1)
    room = np.zeros(tuple(2 * n for n in shape), "float32")
    strided = hk.wrap(room[(slice(None, None, 2),) * len(shape)], layout, comm=w.comm)
    dense = hk.zeros(layout, "float32", comm=w.comm)
    request = (
        w.send_init(layout, "to", count=count)
        if w.name == "from"
        else w.recv_init(layout, "from", count=None)
    )
    for round_ in range(8):
        array = [dense, strided][round_ % 2 if w.name == "from" else round_ // 2 % 2]
        if w.name == "from":
            array.local[...] = expected(layout, 0, round_, "float32")
        request.start(array)
        request.wait()
        assert np.array_equal(array.local, expected(layout, 0, round_, "float32"))
        if w.name == "to":
            array.local[...] = -1
    request.free()


@ranks(2)
def test_several_meet_in_the_order_of_their_making(comm: Any) -> None:
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    layout = hk.Layout((4,), "(*)", 1)
    if w.name == "from":
        requests = [w.send_init(layout, "to", tag) for tag in (1, 1, 2)]
        for round_ in range(3):
            for number in (2, 1, 0):
                requests[number].start(filled(layout, w.comm, 100 * number + round_))
            hk.waitall(requests)
    else:
        arrays = [hk.zeros(layout, "int64", comm=w.comm) for _ in range(3)]
        made = [w.recv_init(arrays[2], "from", 2)]
        made = [w.recv_init(arrays[0], "from", 1), w.recv_init(arrays[1], "from", 1), *made]
        for round_ in range(3):
            for request in made:
                request.start()
            while left := [r for r in made if not r.test()]:
                hk.waitany(left)
            for number in range(3):
                assert arrays[number].local[0] == 100 * number + round_


@ranks(2)
def test_apart_from_ordinary_messages(comm: Any) -> None:
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    layout = hk.Layout((4,), "(*)", 1)
    if w.name == "from":
        request = w.send_init(layout, "to", 0)
        request.start(filled(layout, w.comm, 1))
        w.send(filled(layout, w.comm, 2), "to", 0)
        request.wait()
    else:
        b = hk.zeros(layout, "int64", comm=w.comm)
        w.recv(b)
        assert b.local[0] == 2
        assert w.iprobe() is None
        request = w.recv_init(b, "from", 0)
        request.start()
        request.wait()
        assert b.local[0] == 1


def raises_at_start_or_wait(request: hk.Request, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        request.start()
        request.wait(timeout=100)


@ranks(2, 4)
def test_what_does_not_fit_is_an_error_on_both_sides(comm: Any) -> None:
    half = comm.size // 2
    w = hk.tasks({"from": half, "to": half}, comm=comm)
    shape = (4,) if w.name == "from" else (5,)
    array = hk.zeros(hk.Layout(shape, "(BLOCK)", half), "int64", comm=w.comm)
    request = w.send_init(array, "to") if w.name == "from" else w.recv_init(array, "from")
    raises_at_start_or_wait(request, hk.MismatchError, "'from'.*'to'")


@ranks(2, 3)
def test_types_settled_by_the_first_start(comm: Any) -> None:
    w = hk.tasks({"from": 1, "to": comm.size - 1}, comm=comm)
    layout = hk.Layout((4,), "(BLOCK)", w.comm.size)
    array = hk.zeros(layout, "int64" if w.name == "from" else "int32", comm=w.comm)
    request = w.send_init(layout, "to") if w.name == "from" else w.recv_init(array, "from")
    with pytest.raises(hk.MismatchError, match=r"int64 to task 'to', which receives int32"):
        request.start(array)
        request.wait(timeout=100)


@ranks(2)
def test_misuse(comm: Any) -> None:
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    layout = hk.Layout((4,), "(*)", 1)
    other = "to" if w.name == "from" else "from"
    a = filled(layout, w.comm, 3)
    request = w.send_init(a, other) if w.name == "from" else w.recv_init(a, other)
    with pytest.raises(hk.Error, match="never started"):
        request.wait()
    with pytest.raises(hk.LayoutError, match="of its layout"):
        request.start(hk.zeros(hk.Layout((5,), "(*)", 1), "int64", comm=w.comm))
    with pytest.raises(hk.MismatchError, match="float64"):
        request.start(hk.zeros(layout, "float64", comm=w.comm))
    with pytest.raises(hk.Error, match="no array"):
        request.start(np.zeros(4))  # type: ignore[arg-type]
    if w.name == "to":
        request.start()
        with pytest.raises(hk.Error, match="under way"):
            request.start()
        with pytest.raises(hk.Error, match="under way"):
            request.free()
        with pytest.raises(hk.DeadlineError, match="persistently"):
            request.wait(timeout=0.05)
        comm.barrier()
    else:
        comm.barrier()
        request.start()
    request.wait()
    request.free()
    for call in (
        request.start,
        request.wait,
        request.test,
        request.free,
        request.pieces,
        lambda: request.wait_piece(0),
        lambda: request.status,
        lambda: hk.waitany([request]),
        lambda: hk.waitall([request]),
    ):
        with pytest.raises(hk.Error, match="freed"):
            call()
    ordinary = w.isend(a, other) if w.name == "from" else w.irecv(a, other)
    with pytest.raises(hk.Error, match="not persistent"):
        ordinary.start()
    ordinary.wait()
    init = w.send_init if w.name == "from" else w.recv_init
    for there, wrong, words in (
        (other, {"count": 0}, "count is 0"),
        (other, {"tag": hk.ANY_TAG}, "tag is -1.*no wildcard"),
        (hk.ANY_SOURCE, {}, "takes no wildcard; name the (send|receiv)ing task"),
        ("nobody", {}, "no task 'nobody'"),
    ):
        bad = init(a, there, **wrong)  # type: ignore[arg-type]
        raises_at_start_or_wait(bad, hk.Error, words)


@ranks(3)
def test_wrong_on_one_process_only(comm: Any) -> None:
    w = hk.tasks({"from": 2, "to": 1}, comm=comm)
    layout = hk.Layout((4,), "(BLOCK)", w.comm.size)
    a = hk.zeros(layout, "int64", comm=w.comm)
    if w.name == "from" and w.comm.rank == 1:
        with pytest.raises(hk.Error, match="cannot send int"):
            w.send_init(3, "to")  # type: ignore[arg-type]
    else:
        request = w.send_init(a, "to") if w.name == "from" else w.recv_init(a, "from")
        raises_at_start_or_wait(request, hk.Error, "cannot send int")


@ranks(2)
def test_an_array_may_go_once_its_send_is_done(comm: Any) -> None:
    """Channels serve one request after another; the sender may reuse its memory."""
    w = hk.tasks({"from": 1, "to": 1}, comm=comm)
    for size in (3, 4000, 50_000, 3, 50_000, 4000):
        layout = hk.Layout((size,), "(*)", 1)
        if w.name == "from":
            request = w.send_init(layout, "to")
            for round_ in range(3):
                request.start(filled(layout, w.comm, round_))
                request.wait()
        else:
            request = w.recv_init(layout, "from")
            for round_ in range(3):
                b = hk.zeros(layout, "int64", comm=w.comm)
                request.start(b)
                request.wait()
                assert np.array_equal(b.local, np.arange(round_, round_ + size))
        request.free()


@ranks(2, 3, 4)
def test_a_second_start_waits_for_the_first_one(comm: Any) -> None:
    """Also once its elements have moved, which processes see at different times."""
    w = hk.tasks({"from": comm.size // 2, "to": comm.size - comm.size // 2}, comm=comm)
    a = filled(hk.Layout((5, 3), "(BLOCK, *)", w.comm.size), w.comm, 0)
    r = w.send_init(a, "to") if w.name == "from" else w.recv_init(a, "from")
    for _ in range(3):
        r.start()
        comm.barrier()  # in most cases they have moved by now
        with pytest.raises(hk.Error, match="is under way"):
            r.start()
        with pytest.raises(hk.Error, match="is under way"):
            r.free()
        r.wait(timeout=60)
    for end in (r.test, lambda: hk.waitany([r], timeout=60) == 0, lambda: hk.waitall([r])):
        r.start()
        while not end():
            pass
    with hk.Flow(workers=1) as f:
        for _ in range(3):
            f.comm(lambda: [r.start(), r][1], inouts=["r"])
    r.start()
    r.wait(timeout=60)
    r.free()


@pytest.mark.parametrize("wrong", ["read-only", "count", "type", "size"])
@pytest.mark.parametrize("culprit", ["from", "to"])
@ranks(2, 4)
def test_wrong_on_a_whole_task(comm: Any, culprit: str, wrong: str) -> None:
    """The other task learns of it, and the next requests of the pair are not disturbed."""
    half = comm.size // 2
    w = hk.tasks({"from": half, "to": half}, comm=comm)
    layout, other = hk.Layout((6,), "(BLOCK)", half), 1 - w.rank
    a = filled(layout, w.comm, 3) if w.name == "from" else hk.zeros(layout, "int64", w.comm)
    init = w.send_init if w.name == "from" else w.recv_init
    given: Any = a
    options: dict[str, Any] = {}
    if w.name == culprit:
        if wrong == "read-only":
            local = np.zeros(layout.local_shape(w.comm.rank), "int64")
            local.setflags(write=False)
            given = hk.wrap(local, layout, w.comm)
        elif wrong == "count":
            options["count"] = 0
        elif wrong == "type":
            given = None
        else:
            given = hk.Layout((6,), "(BLOCK)", half + 1)
    words = {
        "read-only": "read-only|cannot be written",
        "count": "count is 0",
        "type": "cannot (send|receive into) NoneType",
        "size": f"has {half + 1} processes|cannot be started with one of layout",
    }[wrong]
    if wrong != "read-only" or culprit == "to":  # a read-only array may be sent
        with pytest.raises(hk.Error, match=words):
            request = init(given, other, TAG, **options)
            if isinstance(given, hk.Array):
                request.start()
            else:
                request.start(a)
            request.wait(timeout=30)
    request = init(a, other, TAG)
    request.start()
    request.wait(timeout=30)
    assert np.array_equal(a.local, expected(layout, w.comm.rank, 3))
