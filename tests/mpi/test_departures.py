# SPDX-License-Identifier: BSD-3-Clause
"""Calls whose waits end early: the other task gets an error, and nothing stays posted."""

import contextlib
import gc
import signal
import time

import pytest
from lockstep import ranks

import hocket as hk

BROKEN = "can no longer exchange messages.*{}.*set tasks up anew"


def array_of(w, value=0.0):
    array = hk.empty(hk.Layout((6,), "(BLOCK)", w.comm.size), "float64", comm=w.comm)
    array.local[...] = value
    return array


@ranks(3)
def test_the_sender_learns_that_the_receiver_gave_up(comm):
    w = hk.tasks({"a": 2, "b": 1}, comm=comm)
    x = array_of(w)
    if w.name == "a":
        with pytest.raises(hk.DeadlineError, match="gave up its receive from task 'b'"):
            w.recv(x, "b", tag=5, timeout=0.1)
    comm.Barrier()
    for verb in ("send", "recv", "send"):
        began = time.monotonic()
        with pytest.raises(hk.Error, match=BROKEN.format("gave up")):
            if verb == "send":
                w.send(x, "b" if w.name == "a" else "a", tag=5)
            else:
                w.recv(x, "b" if w.name == "a" else "a", tag=7)
        assert time.monotonic() - began < 100


@ranks(3)
def test_a_receive_that_is_waiting_learns_that_the_sender_gave_up(comm):
    """It waits for another message than the one that was sent: without a word it would for ever."""
    w = hk.tasks({"a": 1, "b": 2}, comm=comm)
    x = array_of(w, 1.0 if w.name == "a" else 0.0)
    if w.name == "a":
        first = w.isend(x, "b", tag=1)
        with pytest.raises(hk.DeadlineError):
            w.send(x, "b", tag=5, timeout=0.1)
        first.wait()
    else:
        with pytest.raises(hk.Error, match=BROKEN.format("is not done")):
            w.recv(x, "a", tag=6)
        assert (x.local == 0).all()
        w.recv(x, "a", tag=1)  # what came before still arrives
        assert (x.local == 1).all()
    comm.Barrier()


@ranks(3)
def test_the_others_go_on(comm):
    w = hk.tasks({"a": 1, "b": 1, "c": 1}, comm=comm)
    x = array_of(w, float(w.rank))
    if w.name == "a":
        with pytest.raises(hk.DeadlineError):
            w.recv(x, "b", tag=5, timeout=0.1)
    comm.Barrier()
    if w.name == "c":
        w.send(x, "a")
        w.send(x, "b")
    else:
        # From anybody: a task that has parted is nobody.
        assert w.recv(x).source == 2
        assert (x.local == 2).all()


def interrupted(call):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@ranks(2, 3)
def test_an_interrupted_receive_from_anybody_takes_no_later_message(comm):
    w = hk.tasks({"a": 1, "b": comm.size - 1}, comm=comm)
    x, y = array_of(w, 0.0), array_of(w, 3.0 if w.name == "b" else 0.0)
    if w.name == "a":
        interrupted(lambda: w.recv(x))
    comm.Barrier()
    if w.name == "b":
        w.send(y, "a")
    else:
        w.recv(y)
        assert (x.local == 0).all()
        assert (y.local == 3).all()


@ranks(2, nodes="0,1")
def test_an_interrupted_receive_of_which_the_sender_knows_parts_the_tasks(comm):
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    x = array_of(w, 0.0)
    if w.name == "a":
        interrupted(lambda: w.recv(x, "b"))
    comm.Barrier()
    with pytest.raises(hk.Error, match="can no longer exchange messages"):
        w.send(x, "a") if w.name == "b" else w.recv(x, "b")


@ranks(2, nodes="0,1")
def test_a_long_message_ends_though_its_receive_is_given_up_meanwhile(comm):
    for pause in range(12):
        w = hk.tasks({"a": 1, "b": 1}, comm=comm)
        x = hk.empty(hk.Layout((100000,), "(*)", ()), "f8", w.comm)
        comm.Barrier()
        try:
            if w.name == "a":
                w.recv(x, "b", tag=0, timeout=0)
            else:
                time.sleep(pause * 1e-5)
                w.send(x, "a", timeout=30)
        except hk.DeadlineError:
            assert w.name == "a"
        except hk.Error as error:
            assert "can no longer exchange messages" in str(error)


@ranks(3)
def test_one_array_twice_in_a_list_to_receive_into(comm):
    w = hk.tasks({"a": 1, "b": 2}, comm=comm)
    x, y = array_of(w, 1.0), array_of(w, 2.0)
    whole = hk.empty(hk.Layout((12,), "(CYCLIC)", w.comm.size), "float64", comm=w.comm)
    says = "numbers 0 and 2 of the 3 arrays to receive into share memory"
    if w.name == "a":
        with pytest.raises(hk.Error, match=f"task 'b' could not receive.*{says}"):
            w.send([x, y, x], "b")
        w.send([x, y, x], "b")  # to send one twice is in order
    else:
        with pytest.raises(hk.Error, match=says):
            w.recv([x, y, x], "a")  # wrong on all of them: the message waits for a better call
        # Element 5 lies on the task's last process: there alone two sections of it overlap.
        sections = whole.section(slice(0, 6)), whole.section(slice(5, 11))
        with pytest.raises(hk.Error, match=says):
            w.recv([sections[0], y, sections[1]], "a")
        z = array_of(w)
        w.recv([x, y, z], "a")
        assert [a.local[0] for a in (x, y, z)] == [1, 2, 1]


def leave_a_message(comm, half):
    """Task "b" gives up a receive and tells "a", which may have gone."""
    w = hk.tasks({"a": half, "b": half}, comm=comm)
    x = hk.zeros(hk.Layout((5 if w.name == "a" else 4,), "(BLOCK)", half), comm=w.comm)
    channel = w.channel("c", "b" if w.name == "a" else "a")
    with contextlib.suppress(hk.MismatchError):
        channel.send(x) if w.name == "a" else channel.recv(x)
    with contextlib.suppress(hk.Error):
        channel.send(1) if w.name == "a" else channel.recv(None)
    if w.name == "b":
        with contextlib.suppress(hk.DeadlineError):
            channel.recv(x, timeout=0.05)


@ranks(2, 4)
def test_what_nobody_received_does_not_reach_the_next_communicator(comm):
    """MPI gives the context of a communicator that was freed to one of the next."""
    half = comm.size // 2
    for _ in range(4):
        leave_a_message(comm, half)
        gc.collect()
        copy = comm.Dup()
        w = hk.tasks({"a": half, "b": half}, comm=copy)
        x = array_of(w, float(w.rank))
        if w.name == "a":
            w.send(x, "b")
        else:
            w.recv(x, "a")
        assert (x.local == 0).all()


@ranks(2)
def test_communicators_are_freed(comm):
    """MPICH has about two thousand of them."""
    for number in range(3000):
        w = hk.tasks({"a": 1, "b": 1}, comm=comm)
        assert w.name == ("a" if comm.rank == 0 else "b"), number
