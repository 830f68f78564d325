# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls between tasks, whose arrays are laid out differently in each."""

import functools
import time

import numpy as np
import pytest
from cases import private, raises_everywhere, random_shape, source_of, target_of, whole
from lockstep import ranks
from worlds import small

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Spec

THREE = {"a": 2, "b": 1, "c": 3}
SIZES = [THREE, {"a": 2, "b": 2}, {"a": 1, "b": 1}, {"a": 3}]
UFUNCS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}
DTYPES = ["b1", "i1", "u2", "i4", "u8", "i8", "f4", "f8", "c8", "c16"]


def specs_of(groups, shape, seed):
    """A layout for every task, the same on every process."""
    rng = np.random.default_rng(seed)
    return {
        name: oracle.random_spec(rng, shape, int(rng.integers(1, size + 1)))
        for name, size in groups.items()
    }


def contribution(task, shape, dtype):
    """A task's array: small and large numbers of both signs, and NaN if the type has it."""
    rng = np.random.default_rng([task, len(dtype)])
    numbers = np.asarray(rng.integers(-100, 100, shape))
    array = np.asarray(numbers.astype(dtype))
    if array.dtype.kind in "fc":
        array = np.asarray(array * 0.37)
        if array.dtype.kind == "f":
            array = np.where(np.asarray(rng.integers(0, 9, shape)) == 0, np.nan, array)
    return np.asarray(array.astype(dtype)).reshape(shape)


def bits(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def expected_of(groups, shape, dtype, op):
    with np.errstate(all="ignore"):
        arrays = [contribution(t, shape, dtype) for t in range(len(groups))]
        return np.asarray(functools.reduce(UFUNCS[op], arrays)).astype(dtype).reshape(shape)


@ranks(*SIZES)
@pytest.mark.parametrize("nodes", [None, "0,1,0,1,1,0"])
def test_reductions_have_the_same_bits_everywhere(comm, groups, nodes, monkeypatch):
    if nodes:
        monkeypatch.setenv("HOCKET_NODES", ",".join(nodes.split(",")[: comm.size]))
    w = hk.tasks(groups, comm.Dup())
    names = list(groups)
    rng = np.random.default_rng(len(groups))
    for case, dtype in enumerate(DTYPES):
        ops = [op for op in UFUNCS if np.dtype(dtype).kind not in "fc" or op not in ("and", "or")]
        ops = [op for op in ops if np.dtype(dtype).kind != "c" or op in ("add", "mul")]
        op, root = ops[case % len(ops)], names[case % len(names)]
        shape = random_shape(rng)
        own = private(w.comm, case)
        sources, targets = specs_of(groups, shape, case), specs_of(groups, shape, case + 100)
        array = contribution(w.rank, shape, dtype)
        a, memory = source_of(sources[w.name], array, w.comm, own)
        expected = expected_of(groups, shape, dtype, op)
        b, _ = target_of(targets[w.name], dtype, w.comm, own)
        w.allreduce(a, b, op)
        memory.check_untouched("what was reduced")
        mine = targets[w.name].local(expected, w.comm.rank)
        assert bits(b.local).tolist() == bits(mine).tolist(), (op, dtype)
        into, _ = target_of(targets[w.name], dtype, w.comm, own)
        w.reduce(a, into if w.name == root else None, op, root)
        if w.name == root:
            assert bits(into.local).tolist() == bits(mine).tolist(), (op, dtype)


@ranks(*SIZES)
def test_bcast_and_gather(comm, groups):
    w = hk.tasks(groups, comm)
    rng = np.random.default_rng(7)
    for case in range(8):
        shape = random_shape(rng)
        root = list(groups)[case % len(groups)]
        own = private(w.comm, case)
        specs, array = specs_of(groups, shape, case), whole(shape, "f4", case)
        if w.name == root:
            a, memory = source_of(specs[root], array, w.comm, own)
        else:
            a, memory = target_of(specs[w.name], "f4", w.comm, own)
        w.bcast(a, root if case % 2 else list(groups).index(root))
        memory.check(specs[w.name].local(array, w.comm.rank), f"bcast from {root} of {specs}")

        # Every task has an array of another shape and type.
        given = [whole((3 + t, 4), ("i2", "f8", "c8")[t], t) for t in range(len(groups))]
        mine = small(groups[w.name], given[w.rank].shape, CYCLIC)
        a, _ = source_of(mine, given[w.rank], w.comm, own)
        rooms, into = [], None
        if w.name == root:
            there = [Spec(x.shape, (STAR, BLOCK), (groups[root],)) for x in given]
            rooms = [target_of(spec, x.dtype, w.comm, own) for spec, x in zip(there, given)]
            into = [b for b, _ in rooms]
        w.gather(a, into, root)
        for (_, room), x in zip(rooms, given):
            spec = Spec(x.shape, (STAR, BLOCK), (groups[root],))
            room.check(spec.local(x, w.comm.rank), "gather")


@ranks(THREE)
def test_long_arrays_and_strided_ones(comm, groups):
    w = hk.tasks(groups, comm)
    shape = (400, 350)
    lay = hk.Layout(shape, ("(BLOCK, *)", "(*, *)", "(*, CYCLIC(3))")[w.rank], groups[w.name])
    a = hk.from_function(lambda i, j: (i * 350 + j) * (w.rank + 1), lay, "f8", comm=w.comm)
    place = np.full((*(2 * n for n in a.local.shape),), -1.0)
    b = hk.wrap(place[::2, 1::2], lay, comm=w.comm)
    w.allreduce(a, b, "add")
    np.testing.assert_array_equal(b.local, a.local / (w.rank + 1) * 6)
    assert (place[1::2] == -1).all() and (place[::2, ::2] == -1).all()
    w.allreduce(b, b, "max")  # in place
    np.testing.assert_array_equal(b.local, a.local / (w.rank + 1) * 6)


@ranks(THREE)
def test_barrier_waits_for_all(comm, groups):
    w = hk.tasks(groups, comm)
    late = time.time() + 0.4
    if w.name == "c" and w.comm.rank == 2:
        time.sleep(0.4)
    w.barrier()
    assert time.time() >= late - 0.05


@ranks(THREE)
def test_calls_that_differ_and_arguments_that_are_wrong(comm, groups):
    w = hk.tasks(groups, comm)
    lay = small(groups[w.name], (6, 4)).layout(hk)
    a, b = hk.zeros(lay, "f8", comm=w.comm), hk.zeros(lay, "f8", comm=w.comm)
    other = hk.zeros(small(groups[w.name], (6, 5)).layout(hk), "f8", comm=w.comm)
    short = hk.zeros(lay, "f4", comm=w.comm)
    odd = w.name == "b"
    odd_rank = comm.rank == 4
    mismatch, error = hk.MismatchError, hk.Error
    for kind, call, words in (
        (mismatch, lambda: w.barrier() if odd else w.bcast(a, "a"), ["barrier", "bcast", "'b'"]),
        (mismatch, lambda: w.bcast(other if odd else a, "a"), ["(6, 5)", "(6, 4)", "'b'"]),
        (mismatch, lambda: w.bcast(short if odd else a, "a"), ["float32", "float64"]),
        (mismatch, lambda: w.bcast(a, "b" if odd else "a"), ["root='a'", "root='b'"]),
        (mismatch, lambda: w.allreduce(a, b, "min" if odd else "max"), ["'min'", "'max'"]),
        (mismatch, lambda: w.bcast(short if odd_rank else a, "a"), ["float32"]),
        (mismatch, lambda: w.allreduce(a, other, "add"), ["(6, 5)", "(6, 4)"]),
        (
            mismatch,
            lambda: w.gather(a, [b, other, b.copy()] if w.name == "a" else None, "a"),
            ["'b'"],
        ),
        (mismatch, lambda: w.gather(a, [b, b.copy()] if w.name == "a" else None, "a"), ["2", "3"]),
        (error, lambda: w.gather(a, None, "a"), ["gather", "'a'"]),
        (error, lambda: w.reduce(a, None, "add", "a"), ["no array for the result", "'a'"]),
        (error, lambda: w.allreduce(a, b, "ad"), ["'ad'", "did you mean 'add'"]),
        (error, lambda: w.allreduce(a, b, "and"), ["'and'", "float64"]),
        (error, lambda: w.allreduce(a, b, 3 if odd_rank else "add"), ["op is 3"]),
        (error, lambda: w.bcast(a, "d" if odd_rank else "a"), ["'d'"]),
        (error, lambda: w.bcast("no array" if odd_rank else a, "a"), ["str"]),
        (error, lambda: w.barrier(timeout=-1 if odd_rank else 30), ["timeout"]),
    ):
        raises_everywhere(comm, kind, call, *words)
    records = hk.zeros(lay, [("x", "i4"), ("y", "f8")], comm=w.comm)
    raises_everywhere(
        comm, error, lambda: w.allreduce(records, records, "add"), "cannot be reduced"
    )
    frozen = np.zeros(a.local.shape)
    frozen.flags.writeable = False
    into = hk.wrap(frozen, lay, comm=w.comm)
    raises_everywhere(comm, error, lambda: w.bcast(into if odd else a, "a"), "read-only", "'b'")
    w.bcast(a, "a")
    w.barrier()


@ranks(3)
def test_tasks_that_share_a_process(comm):
    w = hk.tasks({"a": [0, 1], "b": [1, 2]}, comm)
    for name in ("a", "b"):
        if comm.rank in {"a": (0, 1), "b": (1, 2)}[name]:
            for call in (lambda one: one.barrier(), lambda one: one.barrier(timeout="soon")):
                with pytest.raises(hk.Error, match=r"'a' and 'b' share a process.*isend"):
                    call(w.task(name))
    with pytest.raises(hk.Error, match=r"in several tasks|share a process"):
        w.barrier(timeout=100)


@ranks({"a": 2, "b": 1})
def test_a_deadline_ends_the_wait_and_the_pair(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        with pytest.raises(hk.DeadlineError, match=r"0\.3 s"):
            w.barrier(timeout=0.3)
        with pytest.raises(hk.Error, match="set tasks up anew"):
            w.barrier()
    comm.barrier()
    if w.name == "b":  # would wait for ever
        x = hk.zeros(hk.Layout(5, "(BLOCK)", 1), "int64", w.comm)
        for _ in range(2):
            with pytest.raises(hk.Error, match=r"gave up after 0\.3 s.*set tasks up anew"):
                w.recv(x, "a")
    comm.barrier()
    again = hk.tasks(groups, comm)
    again.barrier()


@pytest.mark.parametrize("late", ["a", "b", "c", "d"])
@ranks({"a": 1, "b": 1}, {"a": 1, "b": 2, "c": 1}, {"a": 1, "b": 1, "c": 1, "d": 1})
def test_the_others_learn_of_a_deadline(comm, groups, late):
    """Whether they come to the call before the deadline or after it; so do later calls."""
    if late not in groups:
        return
    names = list(groups)
    first = [0, *np.cumsum(list(groups.values())).tolist()][names.index(late)]
    for before in (False, True)[: len(groups) - 1]:  # one task stays away until the deadline
        w = hk.tasks(groups, comm)
        a = hk.zeros(hk.Layout(5, "(BLOCK)", w.comm.size), comm=w.comm)
        waits = w.name == names[0 if late != names[0] else 1]  # comes early
        if w.name == late:
            with pytest.raises(hk.DeadlineError):
                w.barrier(timeout=0.2)
            for rank in range(comm.size) if w.comm.rank == 0 else ():
                comm.isend("passed", rank, 9).wait()
        if w.name == late or not (waits and before):
            comm.recv(source=first, tag=9)
        if w.name != late:
            with pytest.raises(hk.Error, match="set tasks up anew") as caught:
                w.bcast(a, 0, timeout=30) if before else w.barrier(timeout=30)
            assert not isinstance(caught.value, hk.DeadlineError)
        for _ in range(2):
            with pytest.raises(hk.Error, match="set tasks up anew") as caught:
                w.barrier(timeout=30)
            assert not isinstance(caught.value, hk.DeadlineError)
        if waits and before and w.name != late:
            comm.recv(source=first, tag=9)
        comm.barrier()


@ranks({"a": 1, "b": 1, "c": 1})
def test_a_broken_pair_ends_the_calls_of_all(comm, groups):
    """A third task does not wait for the two that can no longer exchange messages."""
    w = hk.tasks(groups, comm)
    a = hk.zeros(hk.Layout(5, "(*)"), comm=w.comm)
    if w.name == "b":
        with pytest.raises(hk.DeadlineError):
            w.recv(a, "c", tag=3, timeout=0.1)
    for _ in range(2):
        with pytest.raises(hk.Error, match="set tasks up anew") as caught:
            w.barrier(timeout=30)
        assert not isinstance(caught.value, hk.DeadlineError)
    comm.barrier()


@ranks({"a": 1, "b": 2})
def test_only_the_root_reads_its_results(comm, groups):
    w = hk.tasks(groups, comm)
    lay = hk.Layout(5, "(BLOCK)", w.comm.size)
    a, b = hk.arange(lay, comm=w.comm), hk.zeros(lay, "int64", w.comm)
    w.reduce(a, b if w.name == "a" else "ignored", "add", "a", timeout=100)
    w.gather(a, [b, hk.zeros(lay, "int64", w.comm)] if w.name == "a" else 7, 0, timeout=100)
    assert w.name == "b" or b.local.tolist() == [0, 1, 2, 3, 4]
    raises_everywhere(comm, hk.Error, lambda: w.gather(a, [b, b], "b", timeout=100), "share memory")
