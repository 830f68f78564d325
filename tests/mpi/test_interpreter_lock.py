# SPDX-License-Identifier: BSD-3-Clause
"""Whoever polls holds hocket's turn, and takes the interpreter's lock for what is polled in Python.
A thread that has that lock and wants the turn lets go of it while it waits: each call below is made
while another thread is in the middle of such a poll."""

import threading
import time

import numpy as np
import pytest
from lockstep import ranks
from mpi4py import MPI

import hocket as hk
from hocket import _mpi


class Dozing:
    """Something under way that is asleep in its poll, with hocket's turn, when asked to be."""

    def __init__(self):
        self.asked, self.asleep, self.over = threading.Event(), threading.Event(), False

    def poll(self):
        if self.asked.is_set():
            self.asked.clear()
            self.asleep.set()
            time.sleep(0.05)
        return self.over

    def fall_asleep(self):
        self.asleep.clear()
        self.asked.set()
        assert self.asleep.wait(100)


class Things:
    """Objects for the calls, made before."""

    def __init__(self, comm):
        self.comm = comm
        self.team = hk.Team(comm)
        self.sum = self.team.start("reduce_add", 3)
        self.sum.wait(100)
        self.w = hk.tasks({"a": 1}, comm)
        layout = hk.Layout((8,), "(BLOCK)", 1)
        self.a = hk.zeros(layout, "i8", comm)
        self.mine = [hk.zeros(layout, "i8", self.w.comm) for _ in range(2)]
        self.halo = hk.Halo(self.a, 1)
        self.receipt = self.w.irecv(self.mine[1], "a")
        self.w.isend(self.mine[0], "a").wait(100)
        self.receipt.wait(100)
        self.persistent = [
            self.w.recv_init(self.mine[1], "a", 3),
            self.w.send_init(self.mine[0], "a", 3),
        ]
        self.flow = hk.Flow(1)

    def messages(self):
        request = self.w.irecv(self.mine[1], "a", 1)
        self.w.isend(self.mine[0], "a", 1).wait(100)
        request.wait(100)

    def drop_a_receive(self):
        self.w.irecv(self.mine[1], "a", 2)
        self.w.isend(self.mine[0], "a", 2).wait(100)

    def start_and_free(self):
        for request in self.persistent:
            request.start()
        for request in self.persistent:
            request.wait(100)
            request.free()

    def exchange_in_a_flow(self):
        self.flow.exchange(self.halo)
        self.flow.wait(100)

    def drop_a_flow(self):
        flow = hk.Flow(1)
        flow.comm(lambda: self.comm.Iallreduce(MPI.IN_PLACE, np.ones(1)))
        del flow


CALLS = {
    "a team": lambda t: hk.Team(t.comm),
    "a team's operation": lambda t: t.team.reduce_add(1),
    "start": lambda t: t.team.start("reduce_add", 1).wait(100),
    "value": lambda t: t.sum.value(),
    "test of a team's operation": lambda t: t.sum.test(),
    "tasks": lambda t: hk.tasks({"a": 1}, t.comm),
    "messages": Things.messages,
    "iprobe": lambda t: t.w.iprobe("a", 9),
    "status": lambda t: t.receipt.wait(100).tag,
    "test of a request": lambda t: t.receipt.test(),
    "a receive is dropped": Things.drop_a_receive,
    "persistent requests": Things.start_and_free,
    "profile": lambda t: t.w.profile(),
    "redistribute": lambda t: hk.redistribute(t.a, hk.Layout((8,), "(CYCLIC)", 1)),
    "a halo": lambda t: hk.Halo(t.a, 1),
    "a halo's exchange": lambda t: t.halo.iexchange().wait(100),
    "an exchange in a flow": Things.exchange_in_a_flow,
    "a flow is dropped": Things.drop_a_flow,
    "cancel": lambda t: t.flow.cancel(),
    "pending waits": lambda t: _mpi.pending_waits(),
}


@pytest.mark.parametrize("call", CALLS)
@ranks(1)
def test_a_call_while_another_thread_polls_in_python(comm, call):
    things, dozing = Things(comm), Dozing()
    with hk.Flow(1, agent="thread") as f:
        f.comm(lambda: dozing)
        dozing.fall_asleep()
        CALLS[call](things)
        dozing.over = True


@ranks(1)
def test_a_request_is_dropped_while_mpi_calls_python(comm):
    """MPI asks a generalized request in Python for its status while all requests are looked at."""
    asleep = threading.Event()

    def query(status):
        asleep.set()
        time.sleep(0.05)

    there, never = np.zeros(1), comm.Irecv(np.zeros(1), 0, 8)
    watched = _mpi.watched(never.handle)
    assert not watched.test()
    general = MPI.Grequest.Start(query, lambda: None, lambda complete: None)
    with hk.Flow(1, agent="thread") as f:
        f.comm(lambda: general)
        f.comm(lambda: comm.Irecv(there, 0, 9))
        general.Complete()
        assert asleep.wait(100)
        del watched
        comm.Isend(np.ones(1), 0, 9).Wait()
    comm.Isend(np.zeros(1), 0, 8).Wait()
    never.Wait()
    assert there == 1
