# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong in teams ends as an error on every process concerned, and never hangs."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest
from across import NODES, also_across
from lockstep import ranks

import hocket as hk

SECONDS = 30.0  # of a wait that should end by itself long before


@ranks(3)
def test_masks_that_cannot_be(comm: Any) -> None:
    t = hk.Team(comm)
    mine = 1 << t.process
    for mask, words in (
        (0, "is empty"),
        (0b111 ^ mine, f"lacks process {t.process}"),
        (0b1000 | mine, "names process 3"),
        (mine | 1 << 200, "names process 200"),
        (-1, "no sign"),
        ("all", "give an integer"),
    ):
        with pytest.raises(hk.Error, match=words):
            t.enqueue(mask)  # type: ignore[arg-type]
    assert t.enqueue(np.uint8(mine)).population() == 1
    assert t.enqueue(mine).enqueue(0b111).reduce_add(np.int8(1)) == 3
    t.wait()


@also_across(3)
@ranks(3)
def test_arguments_that_cannot_be(comm: Any) -> None:
    """The same mistake everywhere; then the team works."""
    t = hk.Team(comm)
    for call, words in (
        (lambda: t.putget(np.int32(1), 3), "process 3, which is not one of the team"),
        (lambda: t.putget(np.int32(1), -1), "process -1"),
        (lambda: t.putget(np.int32(1), 0.5), "give an integer"),
        (lambda: t.vote(7), "process 7"),
        (lambda: t.vote_count(None), "give an integer"),
        (lambda: t.reduce_add(np.complex128(1)), "complex128"),
        (lambda: t.reduce_add(np.float16(1)), "float16"),
        (lambda: t.reduce_add("x"), "NumPy scalar"),
        (lambda: t.reduce_add(np.arange(3)), "shape"),
        (lambda: t.scan_or_(np.float64(1)), "bitwise"),
        (lambda: t.gather(np.int32(1), np.zeros(2, np.int32)), "out is int32"),
        (lambda: t.gather(np.int32(1), np.zeros(3, np.int64)), "out is int64"),
        (lambda: t.bcast_get("nonsense"), "nonsense"),
        (lambda: t.bcast_get(object), "NumPy scalar"),
        (lambda: t.wait(timeout=-1), "timeout"),
        (lambda: t.any(True, timeout="soon"), "timeout"),
        (lambda: t.reduce(np.zeros((), "V57")[()], max), "57 bytes"),
        (lambda: t.reduce(np.int32(1), None), "fold is None; give a function"),  # type: ignore[arg-type]
        (lambda: t.error(None), "message is None; give a text"),  # type: ignore[arg-type]
    ):
        with pytest.raises(hk.Error, match=words):
            call()
        assert t.reduce_add(np.int32(t.process), timeout=SECONDS) == 3


@also_across(3)
@ranks(2, 3)
def test_arguments_of_one_that_cannot_be(comm: Any) -> None:
    """The others' error names the process; then the team works."""
    t = hk.Team(comm)
    last = t.size - 1
    if t.process == last:
        with pytest.raises(hk.Error, match="process 9, which is not"):
            t.putget(np.int32(1), 9)
        with pytest.raises(hk.Error, match="out is"):
            t.gather(np.int32(1), out="x")  # type: ignore[arg-type]
        with pytest.raises(hk.Error, match="bitwise"):
            t.reduce_or_(np.float32(1))
        with pytest.raises(hk.Error, match="'gather' is none of wait, any"):
            t.start("gather")
        with pytest.raises(hk.Error, match="bits"):
            t.start("scan_add", np.uint8(1), bits=9)
        with pytest.raises(hk.Error, match="fold is 'add'"):
            t.reduce(np.int32(1), "add")  # type: ignore[arg-type]
    else:
        with pytest.raises(hk.Error, match=f"process {last} of the team calls putget"):
            t.putget(np.int32(1), 0, timeout=SECONDS)
        with pytest.raises(hk.Error, match=f"process {last} of the team calls gather"):
            t.gather(np.int32(1), timeout=SECONDS)
        with pytest.raises(hk.Error, match=f"process {last} of the team calls reduce_or"):
            t.reduce_or_(np.int32(1), timeout=SECONDS)
        with pytest.raises(hk.Error, match=f"process {last} of the team calls start"):
            t.start("reduce_add", np.int32(1)).wait(SECONDS)
        with pytest.raises(hk.Error, match=f"process {last} of the team calls scan_add"):
            t.start("scan_add", np.uint8(1), bits=8).wait(SECONDS)
        with pytest.raises(hk.Error, match=f"process {last} of the team calls reduce"):
            t.reduce(np.int32(1), max, timeout=SECONDS)
    assert t.reduce_add(np.int32(1), timeout=SECONDS) == t.size


@also_across(3)
@ranks(2, 3)
def test_wrong_arguments_in_a_row_between_calls_of_mpi(comm: Any) -> None:
    """A process that refuses a call takes part in it until its end, because MPI's calls, which
    come next, make no progress on it."""
    t = hk.Team(comm)
    for refusing in (0, 0, t.size - 1, 0):
        value = "x" if t.process == refusing else np.int32(1)
        with pytest.raises(hk.Error, match=r"NumPy scalar|calls reduce_add with invalid"):
            t.reduce_add(value, timeout=SECONDS)
        comm.barrier()
    assert t.reduce_add(np.int32(1), timeout=SECONDS) == t.size


@also_across(4)
@ranks(2, 3)
def test_different_calls(comm: Any) -> None:
    """Operations and types; all processes name the same two."""
    t = hk.Team(comm)
    low = t.process == 0
    with pytest.raises(hk.MismatchError, match="process 0 calls any, but process 1 calls all"):
        t.any(True, timeout=SECONDS) if low else t.all(True, timeout=SECONDS)
    assert t.all(True, timeout=SECONDS)
    with pytest.raises(hk.MismatchError, match=r"process 0 .* of int32, but process 1 .* of int64"):
        t.reduce_add(np.int32(1) if low else np.int64(1), timeout=SECONDS)
    with pytest.raises(hk.MismatchError, match=r"bits=3"):
        t.scan_add(np.uint8(1), bits=3 if low else 4, timeout=SECONDS)
    with pytest.raises(hk.MismatchError, match=r"8 bytes.*4 bytes"):
        t.reduce(np.int64(1) if low else np.int32(1), max, timeout=SECONDS)
    assert t.reduce_add(np.int32(1), timeout=SECONDS) == t.size


@ranks(4, nodes=NODES)
def test_different_ways_through_leaders(comm: Any) -> None:
    """Nobody knows who waits for whom then: the team says that it is broken."""
    t = hk.Team(comm)
    with pytest.raises(hk.MismatchError, match=r"process \d+ calls"):
        t.wait(timeout=SECONDS) if t.process % 3 else t.rank(np.int8(1), timeout=SECONDS)
    with pytest.raises(hk.MismatchError, match="broken"):
        t.wait(timeout=SECONDS)
    assert hk.Team(comm).all(True, timeout=SECONDS)


@also_across(3, 4)
@ranks(3)
def test_different_teams(comm: Any) -> None:
    """Process 1 means another team than the others. It is broken then; another one is not."""
    t = hk.Team(comm)
    everyone = (1 << comm.size) - 1
    s = t.enqueue(0b011) if t.process == 1 else t.enqueue(everyone)
    with pytest.raises(hk.MismatchError, match="teams of different processes"):
        s.wait(timeout=SECONDS)
    with pytest.raises(hk.MismatchError, match="broken"):
        t.wait(timeout=SECONDS)
    again = hk.Team(comm)
    assert again.reduce_add(np.int16(2), timeout=SECONDS) == 2 * comm.size


@also_across(3)
@ranks(2, 3)
def test_deadlines(comm: Any) -> None:
    """A deadline ends the wait; the operation goes on, and so does the team."""
    t = hk.Team(comm)
    if t.process == 0:
        for other in range(1, t.size):  # has given up both, however slow the machine is
            comm.recv(source=other)
        t.wait()
        assert t.reduce_add(np.int32(1)) == t.size
    else:
        with pytest.raises(hk.DeadlineError, match="wait of the team"):
            t.wait(timeout=0.05)
        with pytest.raises(hk.DeadlineError):
            t.reduce_add(np.int32(1), timeout=0.01)
        comm.send(None, 0)
    # The second one was made, too, and counts.
    pair = np.dtype([("a", "i8", 7)])
    for _ in range(3):
        assert t.scan_add(np.int32(1), timeout=SECONDS) == t.process + 1
        got = t.reduce(np.full((), t.process, pair)[()], lambda a, b: b, timeout=SECONDS)
        assert list(got["a"]) == [t.size - 1] * 7


class Interrupted(BaseException):
    """As Ctrl-C, but only where it is wanted."""


def interrupted(call: Any) -> None:
    """The wait in which a call of hocket is ends by a signal."""

    def end(_: int, frame: Any) -> None:
        if frame.f_globals["__name__"].startswith("hocket."):
            raise Interrupted

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(Interrupted):
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@also_across(3)
@ranks(2, 3)
def test_interrupts(comm: Any) -> None:
    """They end the wait of one; the operation goes on, all of it, and so does the team."""
    t = hk.Team(comm)
    longest = np.full((), t.process, np.dtype([("a", "i8", 7)]))[()]  # two rounds
    for call in (lambda: t.reduce_add(np.int32(1)), lambda: t.reduce(longest, lambda a, b: b)):
        if t.process == 1:
            interrupted(call)
            for other in range(t.size):
                if other != 1:
                    comm.send(None, other)
        else:
            comm.recv(source=1)
            call()
    assert t.scan_add(np.int32(1), timeout=SECONDS) == t.process + 1


@also_across(3, 4)
@ranks(3)
def test_leaving(comm: Any) -> None:
    t = hk.Team(comm)
    others = (1 << t.size) - 2
    stay = t.enqueue(others) if t.process else None
    t.wait()
    if t.process == 0:
        t.exit(7)
        with pytest.raises(hk.Error, match="left it with code 7"):
            t.wait()
        with pytest.raises(hk.Error, match="left"):
            t.exit()
    else:
        with pytest.raises(hk.Error, match="process 0 of the team has left it with code 7"):
            t.reduce_max(np.int64(1), timeout=SECONDS)
        assert stay is not None
        if not t.shares_memory:
            with pytest.raises(hk.Error, match="broken"):
                stay.wait(timeout=SECONDS)
            return
        assert stay.reduce_max(np.int64(t.process), timeout=SECONDS) == t.size - 1
        assert stay.waitvec(t.process == 1, timeout=SECONDS) == 0b010


@also_across(3)
@ranks(3)
def test_an_error_ends_all_waits(comm: Any) -> None:
    t = hk.Team(comm)
    pair = t.enqueue(0b110) if t.process else t
    t.wait()
    comm.barrier()  # all have left the wait, which the error would end, too
    if t.process == 0:
        t.error("the disk is full")
    elif t.process == 1:
        with pytest.raises(hk.Error, match=r"process 0 of the team has ended it .*disk is full"):
            pair.wait(timeout=SECONDS)
        comm.send(None, 2)
    else:
        comm.recv(source=1)  # it waits for me, and not for process 0
        with pytest.raises(hk.Error, match=r"disk is full"):
            t.wait(timeout=SECONDS)
    assert hk.Team(comm).all(True, timeout=SECONDS)


@ranks(2)
def test_teams_come_and_go(comm: Any) -> None:
    """Their memory is used again, and only once nobody looks there."""
    for i in range(20):
        t = hk.Team(comm)
        assert t.reduce_add(np.int32(i)) == 2 * i
        if (i + t.process) % 3 == 0:
            time.sleep(0.002)
        del t
