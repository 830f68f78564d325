# SPDX-License-Identifier: BSD-3-Clause
"""Errors of tasks: all processes concerned get them, nothing moves, and all can go on."""

from functools import partial

import numpy as np
import pytest
from cases import private, raises_everywhere, source_of, target_of, whole
from lockstep import ranks
from mpi4py import MPI
from worlds import SIZES, arrays, check_world, exchange, small, transfer

import hocket as hk


@ranks(*SIZES)
@pytest.mark.parametrize(
    ("shapes", "dtypes", "words"),
    [
        (((6, 4), (6, 4)), ("f8", "i4"), ["float64", "int32"]),
        (((6, 4), (6, 4)), ("f8", "i8"), ["float64", "int64"]),  # as many bytes
        (((6, 4), (6, 5)), ("f8", "f8"), ["(6, 4)", "(6, 5)"]),
        (((6, 4), (4, 6)), ("f8", "f8"), ["(6, 4)", "(4, 6)"]),  # as many elements
        (((6, 4), (24,)), ("f8", "f8"), ["(6, 4)", "(24"]),
        (((6, 4), (6, 5)), ("f8", "f4"), ["(6, 4)", "(6, 5)", "float64", "float32"]),
    ],
    ids=["dtype", "kind", "shape", "turned", "flat", "both"],
)
def test_disagreement_raises_on_every_process_of_both_sides(comm, groups, shapes, dtypes, words):
    w = hk.tasks(groups, comm)
    source, destination = small(groups["a"], shapes[0]), small(groups["b"], shapes[1])
    array, memory = arrays(w, groups, source, destination, dtypes)
    call = exchange(w, array, tag=99)
    raises_everywhere(comm, hk.MismatchError, call, "'a'", "'b'", "99", *words)
    memory.check_untouched("what disagreed")
    check_world(w, groups)


@ranks({"a": 2, "b": 2}, {"a": 1, "b": 2}, {"a": 3, "b": 2})
def test_a_wildcard_receive_disagrees_as_loudly(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = arrays(w, groups, small(groups["a"]), small(groups["b"]), ("f8", "f4"))
    call = exchange(w, array, tag=5) if w.name == "a" else partial(w.recv, array)
    raises_everywhere(comm, hk.MismatchError, call, "float64", "float32", "'a'", "'b'")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 2, "b": 2}, {"a": 2, "b": 1})
@pytest.mark.parametrize("culprit", [0, 1])
def test_ranks_of_one_task_that_disagree(comm, groups, culprit):
    """One process of task a passes another dtype: both tasks get an error, and can go on."""
    w = hk.tasks(groups, comm)
    dtype = "f4" if w.comm.rank == culprit else "f8"
    array, memory = arrays(w, groups, small(2), small(groups["b"]), (dtype, "f8"))
    call = exchange(w, array, timeout=100)
    raises_everywhere(comm, hk.MismatchError, call, "float32", "float64")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_a_read_only_receiver_on_one_process_only(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = arrays(w, groups, small(1), small(2), ("f8", "f8"))
    if w.name == "b" and w.comm.rank == 1:
        view = memory.view[...]
        view.flags.writeable = False
        array = hk.wrap(view, array.layout, comm=w.comm)
    raises_everywhere(comm, hk.Error, exchange(w, array, timeout=100), "read-only")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"rows": 2, "cols": 2}, {"rows": 1, "cols": 2})
def test_a_task_that_does_not_exist(comm, groups):
    w = hk.tasks(groups, comm)
    a, memory = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    for call in (
        lambda: w.send(a, "col"),
        lambda: w.send(a, "Cols"),
        lambda: w.recv(a, source="colz"),
    ):
        raises_everywhere(comm, hk.Error, call, "'cols'")
    for index in (2, 77, -5):
        raises_everywhere(comm, hk.Error, partial(w.send, a, index), str(index))
        raises_everywhere(comm, hk.Error, partial(w.recv, a, source=index), str(index))
    raises_everywhere(comm, (hk.Error, TypeError), lambda: w.send(a, 1.5))
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_a_task_does_not_block_on_itself(comm, groups):
    w = hk.tasks(groups, comm)
    a, _ = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    raises_everywhere(comm, hk.Error, lambda: w.send(a, w.name), "isend", "sendrecv")
    raises_everywhere(comm, hk.Error, lambda: w.recv(a, w.rank))
    check_world(w, groups)


@ranks(3)
def test_blocking_calls_between_tasks_that_share_a_process(comm):
    """They cannot work, so they say at once what does; what others can answer still blocks."""
    w = hk.tasks({"a": [0, 1], "b": [1, 2], "c": [2]}, comm)
    mine = {0: "a", 1: "ab", 2: "bc"}[comm.rank]
    if len(mine) > 1:
        with pytest.raises(hk.Error, match=rf"several tasks.*w\.task\('{mine[0]}'\)\.send"):
            w.send(None, 0)
    for name in mine:
        one = w.task(name)
        x = hk.zeros(small(one.comm.size).layout(hk), "f8", comm=one.comm)
        for other in {"a": "b", "b": "ac", "c": "b"}[name]:
            both = f"{name}' and '{other}' share a process"
            for call, words in (
                (partial(one.send, x, other), [both, "use isend", "sendrecv"]),
                (partial(one.recv, x, other), [both, "use irecv", "isend", "sendrecv"]),
                (partial(one.probe, other), [both, "use iprobe", "isend", "sendrecv"]),
                (partial(one.channel, "c", other), [both, "use isend and irecv", "sendrecv"]),
                (one.barrier, ["share a process", "isend and irecv", "sendrecv"]),
            ):
                raises_everywhere(one.comm, hk.Error, call, *words)
        if name == "b":
            for call in (partial(one.recv, x), one.probe):
                raises_everywhere(one.comm, hk.Error, call, "'b' shares a process with every task")
    x = hk.zeros(small(2).layout(hk), "f8", comm=w.task(mine[0]).comm)
    if comm.rank == 2:
        x = hk.zeros(small(1).layout(hk), "f8", comm=w.task("c").comm)
        w.task("c").send(x, "a", tag=3)
    else:
        assert w.task("a").probe().tag == 3
        assert w.task("a").recv(x).source == 2


@ranks({"a": 1, "b": 2})
def test_tags_must_be_non_negative_integers(comm, groups):
    w = hk.tasks(groups, comm)
    a, _ = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    other = "b" if w.name == "a" else "a"
    for tag in (-7, hk.ANY_TAG):
        raises_everywhere(comm, hk.Error, partial(w.send, a, other, tag=tag), "tag")
    raises_everywhere(comm, (hk.Error, TypeError), lambda: w.send(a, other, tag="x"))
    transfer(w, "a", "b", small(1), small(2), "f8", private(comm), tag=2**31 - 1)
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_what_is_no_array_is_refused(comm, groups):
    w = hk.tasks(groups, comm)
    for thing in (np.zeros((6, 4)), None, "array"):
        raises_everywhere(comm, (hk.Error, TypeError), partial(w.send, thing, 1 - w.rank))
        raises_everywhere(comm, (hk.Error, TypeError), partial(w.recv, thing, 1 - w.rank))
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_an_array_of_another_communicator_is_refused(comm, groups):
    """The world's array in a task's verb: its processes are not the task's."""
    w = hk.tasks(groups, comm)
    a = hk.zeros(small(comm.size).layout(hk), "f8", comm=comm)
    raises_everywhere(comm, hk.Error, exchange(w, a), "w.comm")
    check_world(w, groups)


@ranks(1, 3)
@pytest.mark.parametrize(
    "shape", ["too many", "too few", "zero", "negative", "empty", "nobody", "unknown", "text"]
)
def test_counts_that_do_not_fit(comm, shape):
    n = comm.size
    counts, words = {
        "too many": ({"a": n, "b": 1}, [f"a={n}, b=1", f"has {n} "]),
        "too few": ({"a": n + 1}, [str(n + 1), str(n)]),
        "zero": ({"a": n, "b": 0}, ["'b'"]),
        "negative": ({"a": n + 1, "b": -1}, ["-1"]),
        "empty": ({}, []),
        "nobody": ({"a": list(range(n)), "b": []}, ["'b'"]),
        "unknown": ({"a": list(range(n)), "b": [n]}, [str(n)]),
        "text": ({"a": "three"}, []),
    }[shape]
    raises_everywhere(comm, (hk.Error, TypeError), lambda: hk.tasks(counts, comm), *words)
    w = hk.tasks({"all": n}, comm)
    assert w.name == "all"


@ranks(3)
def test_a_rank_in_no_task_or_twice_in_one(comm):
    raises_everywhere(comm, hk.Error, lambda: hk.tasks({"a": [0], "b": [2]}, comm), "1")
    raises_everywhere(comm, hk.Error, lambda: hk.tasks({"a": [0, 0], "b": [1, 2]}, comm), "0")


@ranks(2, 3)
def test_ranks_that_name_different_tasks(comm):
    name = "b" if comm.rank else "c"
    counts = {"a": comm.size - 1, name: 1}
    raises_everywhere(comm, hk.MismatchError, lambda: hk.tasks(counts, comm), "b=1", "c=1")
    assert hk.tasks({"a": comm.size}, comm).size == 1


# Wrong on one process, before there is an array: its task gets an error, for every verb.


@ranks({"a": 2, "b": 1}, {"a": 3, "b": 2})
@pytest.mark.parametrize("culprit", [0, 1])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"source": "bb"}, ["'bb'", "'b'"]),
        ({"source": 1.5}, ["1.5"]),
        ({"tag": -7}, ["-7"]),
        ({"tag": "x"}, ["'x'"]),
        ({"tag": 2**40}, ["31 bits"]),
        ({"timeout": -1}, ["-1"]),
        ({"timeout": "soon"}, ["soon"]),
    ],
)
def test_a_probe_wrong_on_one_process_raises_on_all_of_its_task(
    comm, groups, culprit, wrong, words
):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        options = wrong if w.comm.rank == culprit else {"source": "b", "tag": 3}
        raises_everywhere(w.comm, hk.Error, lambda: w.probe(**options), *words)
        if "timeout" not in wrong:
            raises_everywhere(w.comm, hk.Error, lambda: w.iprobe(**options), *words)
        assert w.iprobe() is None
    comm.barrier()
    check_world(w, groups)


@ranks({"a": 2, "b": 1}, {"a": 2, "b": 2})
@pytest.mark.parametrize("which", ["sent", "received", "sendtag", "timeout"])
def test_a_sendrecv_wrong_on_one_process_raises_on_both_tasks(comm, groups, which):
    w = hk.tasks(groups, comm)
    spec, other = small(w.comm.size), 1 - w.rank
    sent, memory = source_of(spec, whole(spec.shape, "f8"), w.comm, private(comm))
    received, room = target_of(spec, "f8", w.comm, private(comm, 1))
    options = {"sendtag": 2, "timeout": 20}
    if w.name == "a" and w.comm.rank == 1:
        if which == "sent":
            sent = np.zeros(3)
        elif which == "received":
            received = None
        else:
            options[which] = "x"
    raises_everywhere(comm, hk.Error, lambda: w.sendrecv(sent, other, received, other, **options))
    memory.check_untouched()
    room.check_untouched()
    check_world(w, groups)


@ranks({"a": 2, "b": 1})
def test_an_isend_wrong_on_one_process_raises_on_both_tasks(comm, groups):
    w = hk.tasks(groups, comm)
    a, memory = target_of(small(w.comm.size), "f8", w.comm, private(comm))

    def call():
        if w.name == "b":
            w.irecv(a, "a").wait(timeout=100)
        else:
            w.isend("no array" if w.comm.rank == 1 else a, "b").wait(timeout=100)

    raises_everywhere(comm, hk.Error, call, "give an array")
    memory.check_untouched()
    check_world(w, groups)


@ranks(2)
def test_what_is_no_communicator_or_no_request_is_refused(comm):
    lay = hk.Layout(6, "(BLOCK)", 1)
    for wrong in ("world", 7, MPI.COMM_NULL):
        for call in (
            lambda wrong=wrong: hk.zeros(lay, comm=wrong),
            lambda wrong=wrong: hk.wrap(np.zeros(6), lay, comm=wrong),
            lambda wrong=wrong: hk.scatter(None, lay, wrong),
            lambda wrong=wrong: hk.tasks({"a": 2}, wrong),
        ):
            said = "MPI.COMM_NULL" if isinstance(wrong, MPI.Comm) else repr(wrong)
            with pytest.raises(hk.Error, match=f"comm is {said}.*; give"):
                call()
    for wrong in (None, [None], 5):
        for wait in (hk.waitall, hk.waitany):
            with pytest.raises(hk.Error, match="no list of requests"):
                wait(wrong)
    with pytest.raises(hk.Error, match="no request"):
        hk.waitany([])
    assert hk.waitall([]) == []


@ranks(2)
def test_an_intercommunicator_is_refused_where_it_is_given(comm):
    lay = hk.Layout(6, "(BLOCK)", 1)
    alone = comm.Split(comm.rank)
    between = alone.Create_intercomm(0, comm, 1 - comm.rank)
    for call in (
        lambda: hk.empty(lay, comm=between),
        lambda: hk.zeros(lay, comm=between),
        lambda: hk.wrap(np.zeros(6), lay, comm=between),
        lambda: hk.from_function(lambda i: i, lay, comm=between),
        lambda: hk.scatter(np.zeros(6), lay, between),
        lambda: hk.tasks({"a": 1}, between),
        lambda: hk.Team(between),
    ):
        with pytest.raises(hk.Error, match="intercommunicator; merge it first"):
            call()
    merged = between.Merge(high=comm.rank == 1)
    assert hk.Team(merged).population() == 2
    for each in (merged, between, alone):
        each.Free()


@ranks(2)
def test_counts_and_ranks_of_tasks_must_be_whole_numbers(comm):
    for wrong in ({"a": 1.5}, {"a": "2"}, {"a": [0, 1.5]}, {"a": 2**40}, {"a": [0, None]}, 3):
        raises_everywhere(comm, hk.Error, partial(hk.tasks, wrong, comm), "give")
    w = hk.tasks({"a": np.int64(1), "b": np.int8(1)}, comm)
    assert w.names == ["a", "b"]
