# SPDX-License-Identifier: BSD-3-Clause
"""Every verb between tasks of every size, and random programs of them: nothing hangs, and what
arrives is right. `HOCKET_SEED=N pytest -m soak tests/mpi/test_programs.py` repeats a long run."""

import itertools

import numpy as np
import pytest
from cases import private, random_dtype, random_shape, source_of, target_of, whole
from lockstep import ranks
from programs import run_programs

import hocket as hk
import oracle

SIZES = (1, 2, 3, 5)
SQUARE = [{"a": s, "b": r} for s, r in itertools.product(SIZES, SIZES)]
#: one process, fewer and more than the others, unequal parts; `make soak` runs every pair
SOME = [{"a": s, "b": r} for s, r in ((1, 1), (1, 3), (3, 2))]
TASKS = [
    {"a": 1, "b": 1},
    {"a": 2, "b": 3},
    {"a": 3, "b": 1, "c": 2},
    {"a": 1, "b": 2, "c": 1, "d": 2},
]
ONE_NODE, TWO_NODES = None, "0,1"


class Verbs:
    """One array of random layouts from task a to task b, by each verb in turn."""

    def __init__(self, w, groups, seed):
        self.w, self.rng = w, np.random.default_rng([groups["a"], groups["b"], seed])
        self.shape, self.dtype = random_shape(self.rng), random_dtype(self.rng)
        self.sent = oracle.random_spec(self.rng, self.shape, groups["a"])
        self.received = oracle.random_spec(self.rng, self.shape, groups["b"])
        self.salt = 0

    def array(self):
        return whole(self.shape, self.dtype, self.salt)

    def out(self):
        if self.rng.random() < 0.5:
            a = hk.empty(self.sent.layout(hk), self.dtype, self.w.comm)
            a.local[...] = self.sent.local(self.array(), self.w.comm.rank)
            return a
        return source_of(self.sent, self.array(), self.w.comm, private(self.w.comm, self.salt))[0]

    def into(self):
        """(array, check(status, tag))"""
        array, spec = self.array(), self.received
        b, room = target_of(spec, self.dtype, self.w.comm, private(self.w.comm, self.salt))

        def check(st, tag):
            assert (st.source, st.tag, st.dtype) == (0, tag, self.dtype)
            assert st.layout == self.sent.layout(hk)
            room.check(spec.local(array, self.w.comm.rank), f"tag {tag}")

        return b, check

    def send_and_recv(self, tag):
        if self.w.name == "a":
            self.w.send(self.out(), "b", tag)
        else:
            b, check = self.into()
            check(self.w.recv(b, "a", tag), tag)

    def wildcards(self, tag):
        if self.w.name == "a":
            self.w.send(self.out(), 1, tag)
        else:
            b, check = self.into()
            check(self.w.recv(b), tag)

    def waits(self, tag):
        if self.w.name == "a":
            self.w.isend(self.out(), "b", tag).wait()
        else:
            b, check = self.into()
            check(self.w.irecv(b, "a", tag).wait(), tag)

    def tests(self, tag):
        request = (
            self.w.isend(self.out(), "b", tag)
            if self.w.name == "a"
            else self.w.irecv((got := self.into())[0], tag=tag)
        )
        while not request.test():
            pass
        if self.w.name == "b":
            got[1](request.status, tag)

    def waits_for_all(self, tag):
        if self.w.name == "a":
            hk.waitall([self.w.isend(self.out(), "b", tag) for _ in range(3)])
        else:
            rooms = [self.into() for _ in range(3)]
            found = hk.waitall([self.w.irecv(b, "a", tag) for b, _ in rooms])
            for st, (_, check) in zip(found, rooms):
                check(st, tag)

    def waits_for_any(self, tag):
        if self.w.name == "a":
            left = [self.w.isend(self.out(), "b", tag) for _ in range(3)]
            while left:
                left.pop(hk.waitany(left))
        else:
            rooms = [self.into() for _ in range(3)]
            left = [(self.w.irecv(b, "a"), check) for b, check in rooms]
            while left:
                request, check = left.pop(hk.waitany([request for request, _ in left]))
                check(request.status, tag)

    def probes(self, tag):
        if self.w.name == "a":
            self.w.send(self.out(), "b", tag)
            self.w.send(self.out(), "b", tag)
        else:
            (b, check), (c, check_c) = self.into(), self.into()
            st = self.w.probe("a")
            check(self.w.recv(b, st.source, st.tag), tag)
            while (st := self.w.iprobe(tag=tag)) is None:
                pass
            check_c(self.w.recv(c, st.source, st.tag), tag)

    def starts(self, tag):
        """Of the array, of a layout, and once only; every start with other memory."""
        for count, bound in ((None, "array"), (7, "layout"), (1, "array")):
            if self.w.name == "a":
                array, init, there = self.out(), self.w.send_init, "b"
            else:
                (array, _), init, there = self.into(), self.w.recv_init, "a"
            what = array if bound == "array" else array.layout
            request = init(what, there, tag, count=count)
            for _ in range(1 if count == 1 else 3):
                self.salt += 1
                if self.w.name == "a":
                    request.start(self.out())
                    request.wait()
                else:
                    b, check = self.into()
                    request.start(b)
                    check(request.wait(), tag)
            request.free()

    def streams(self, tag):
        channel = self.w.channel(f"stream {tag}", 1 - self.w.rank)
        for _ in range(3):
            self.salt += 1
            if self.w.name == "a":
                channel.send(self.out())
            else:
                b, check = self.into()
                check(channel.recv(b), 0)
        if self.w.name == "a":
            channel.close()
        else:
            with pytest.raises(hk.EndOfStream):
                channel.recv(self.into()[0])

    def both_ways(self, tag):
        # The way back has the same two layouts, the other way round.
        there, back = (self.sent, self.received)[:: 1 if self.w.name == "a" else -1]
        rng = private(self.w.comm, self.salt)
        mine, theirs = self.w.rank, 1 - self.w.rank
        a, memory = source_of(there, whole(self.shape, self.dtype, mine), self.w.comm, rng)
        b, room = target_of(there, self.dtype, self.w.comm, rng)
        st = self.w.sendrecv(a, theirs, b, theirs, sendtag=tag + mine)
        assert (st.source, st.tag, st.layout) == (theirs, tag + theirs, back.layout(hk))
        array = whole(self.shape, self.dtype, theirs)
        room.check(there.local(array, self.w.comm.rank), "sendrecv")
        memory.check_untouched("sendrecv")


VERBS = (
    Verbs.send_and_recv,
    Verbs.wildcards,
    Verbs.waits,
    Verbs.tests,
    Verbs.waits_for_all,
    Verbs.waits_for_any,
    Verbs.probes,
    Verbs.both_ways,
    Verbs.starts,
    Verbs.streams,
)


def every_verb(comm, groups, seed):
    w = hk.tasks(groups, comm)
    for turn, verb in enumerate(VERBS):
        verbs = Verbs(w, groups, seed + turn)
        verbs.salt = turn
        verb(verbs, 10 * turn)


@ranks(*SOME)
def test_every_verb_between_tasks_of_several_sizes(comm, groups):
    every_verb(comm, groups, 100)


@ranks(*SOME[1:], nodes=TWO_NODES)
def test_every_verb_across_nodes(comm, groups):
    every_verb(comm, groups, 200)


@pytest.mark.soak
@ranks(*SQUARE, seconds=600)
def test_every_verb_for_long(comm, groups, soak_seed):
    for turn in range(20):
        print(f"seed {soak_seed}, turn {turn}", flush=True)
        every_verb(comm, groups, soak_seed + 100 * turn)


@pytest.mark.soak
@ranks(*SQUARE, seconds=600, nodes=TWO_NODES)
def test_every_verb_across_nodes_for_long(comm, groups, soak_seed):
    for turn in range(20):
        print(f"seed {soak_seed}, turn {turn}", flush=True)
        every_verb(comm, groups, soak_seed + 100 * turn + 50)


@ranks(*TASKS)
def test_random_programs(comm, groups):
    run_programs(comm, groups, 10, 1)


@ranks(*TASKS[1:3], nodes=TWO_NODES)
def test_random_programs_across_nodes(comm, groups):
    run_programs(comm, groups, 5, 2)


LONG = [
    *TASKS,
    {"a": 5, "b": 1, "c": 2},
    {"a": 3, "b": 3},
    {"a": 1, "b": 5},
    {"a": 3, "b": 2, "c": 1},
    {"a": 5, "b": 3},
]


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
@ranks(*LONG, seconds=1200)
def test_many_random_programs(comm, groups, soak_seed, part):
    run_programs(comm, groups, 125, soak_seed, part)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(2))
@ranks(*LONG, seconds=1200, nodes=TWO_NODES)
def test_many_random_programs_across_nodes(comm, groups, soak_seed, part):
    run_programs(comm, groups, 125, soak_seed, 100 + part)
