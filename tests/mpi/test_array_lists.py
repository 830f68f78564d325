# SPDX-License-Identifier: BSD-3-Clause
"""Several arrays as one message: described and matched once."""

import numpy as np
import pytest
from cases import private, raises_everywhere, random_shape, source_of, target_of, whole
from lockstep import ranks

import hocket as hk
import oracle
from hocket import _mpi

PAIRS = [{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 3}]
DTYPES = ("f8", "i4", "u1", "c16")


class Bundle:
    """Arrays of random shapes, types and layouts, one beyond what pays to be read in place."""

    def __init__(self, w, groups, seed, count=4):
        self.w, rng = w, np.random.default_rng([groups["a"], groups["b"], seed])
        self.kinds = [(random_shape(rng), str(rng.choice(DTYPES))) for _ in range(count - 1)]
        self.kinds.insert(int(rng.integers(count)), ((200, 100), "f8"))
        sides = [
            [oracle.random_spec(rng, shape, groups[name]) for shape, _ in self.kinds]
            for name in ("a", "b")
        ]
        self.sent, self.received = sides
        self.rooms = []

    def whole(self, place):
        shape, dtype = self.kinds[place]
        return whole(shape, dtype, place)

    def out(self):
        comm = self.w.comm
        arrays = []
        for place, spec in enumerate(self.sent):
            if place % 2:
                a = hk.empty(spec.layout(hk), self.kinds[place][1], comm)
                a.local[...] = spec.local(self.whole(place), comm.rank)
            else:
                a, _ = source_of(spec, self.whole(place), comm, private(comm, place))
            arrays.append(a)
        return arrays

    def into(self):
        comm = self.w.comm
        pairs = [
            target_of(spec, self.kinds[place][1], comm, private(comm, place))
            for place, spec in enumerate(self.received)
        ]
        self.rooms = [room for _, room in pairs]
        return [b for b, _ in pairs]

    def check(self, st=None):
        for place, (room, spec) in enumerate(zip(self.rooms, self.received)):
            room.check(spec.local(self.whole(place), self.w.comm.rank), f"array {place}")
        if st is not None:
            assert st.layout == tuple(spec.layout(hk) for spec in self.sent)
            assert st.dtype == tuple(np.dtype(dtype) for _, dtype in self.kinds)
            assert repr(st).count("(") > len(self.kinds)


def one_message(w, groups):
    for seed in range(4):
        bundle = Bundle(w, groups, seed)
        if w.name == "a":
            w.send(bundle.out(), "b", tag=seed)
            hk.waitall([w.isend(tuple(bundle.out()), "b", tag=seed)])
        else:
            bundle.check(w.recv(bundle.into(), "a"))
            st = w.probe("a")
            bundle.check(w.irecv(bundle.into(), tag=seed).wait())
            assert (st.layout, st.tag) == (tuple(s.layout(hk) for s in bundle.sent), seed)


@ranks(*PAIRS[:2], soak=PAIRS[2:])
def test_many_arrays_are_one_message(comm, groups):
    one_message(hk.tasks(groups, comm), groups)


@ranks(PAIRS[0], PAIRS[2], nodes="0,1")
def test_many_arrays_across_nodes(comm, groups):
    one_message(hk.tasks(groups, comm), groups)


@ranks(*PAIRS)
def test_both_ways_with_different_numbers(comm, groups):
    w = hk.tasks(groups, comm)
    turned = {"a": groups["b"], "b": groups["a"]}
    there, back = Bundle(w, groups, 7, 3), Bundle(w, turned, 8, 2)
    mine, theirs = (there, back) if w.name == "a" else (back, there)
    st = w.sendrecv(mine.out(), 1 - w.rank, theirs.into(), 1 - w.rank)
    theirs.check(st)


@pytest.mark.one_host("a task of one node agrees without messages")
@ranks({"a": 2, "b": 3})
def test_they_are_described_once(comm, groups):
    w = hk.tasks(groups, comm)
    counts = []
    for count in (1, 6):
        bundle = Bundle(w, groups, 3, count)
        arrays = bundle.out() if w.name == "a" else bundle.into()
        comm.barrier()
        before = sum(_mpi.descriptor_counts()[:2])
        w.send(arrays, "b") if w.name == "a" else w.recv(arrays, "a")
        counts.append(sum(_mpi.descriptor_counts()[:2]) - before)
    assert counts[0] == counts[1]
    # An envelope and its answer, sent and received: a task of one node agrees without messages.
    assert comm.allreduce(counts[0]) == 2 * 2


@ranks({"a": 1, "b": 1})
def test_one_in_a_list_is_one_alone(comm, groups):
    w = hk.tasks(groups, comm)
    layout = hk.Layout((5,), "(*)", ())
    a = hk.from_function(lambda i: i + w.rank, layout, comm=w.comm)
    if w.name == "a":
        w.send([a], "b")
        w.send(a, "b")
    else:
        for into in (a, [a]):
            a.local[...] = -1
            assert w.recv(into).layout == layout
            np.testing.assert_array_equal(a.local, np.arange(5))


@ranks({"a": 2, "b": 1})
def test_another_number_or_shape_is_raised_on_both_sides(comm, groups):
    w = hk.tasks(groups, comm)
    small, large, other = (
        hk.zeros(hk.Layout((n,), "(BLOCK)", w.comm.size), comm=w.comm) for n in (4, 6, 4)
    )
    sends = w.name == "a"

    def two_or_three():
        return w.send([small, large], "b") if sends else w.recv([small, large, other], "a")

    def swapped():
        return w.send([small, large], "b") if sends else w.recv([small, other], "a")

    raises_everywhere(comm, hk.MismatchError, two_or_three, "2 arrays", "3 arrays")
    raises_everywhere(comm, hk.MismatchError, swapped, "(6)", "(4)", "number 1")
    w.send([small, large], "b") if sends else w.recv([small, large], "a")


@ranks({"a": 2})
def test_a_list_that_is_wrong_is_refused_by_the_whole_task(comm, groups):
    w = hk.tasks(groups, comm)
    fine = hk.zeros(hk.Layout((4,), "(BLOCK)", 2), comm=w.comm)
    locked = np.zeros(2)
    locked.flags.writeable = False
    shut = hk.wrap(locked, hk.Layout((4,), "(BLOCK)", 2), w.comm)
    for what, words in [
        ([], ["empty list"]),
        ([fine, 3], ["int", "number 1 of 2"]),
        ("ab", ["str"]),
    ]:
        raises_everywhere(comm, hk.Error, lambda what=what: w.isend(what, 0).wait(), *words)
    raises_everywhere(
        comm, hk.Error, lambda: w.irecv([fine, shut], 0).wait(), "number 1 of the 2", "read-only"
    )
