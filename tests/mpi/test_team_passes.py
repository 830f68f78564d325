# SPDX-License-Identifier: BSD-3-Clause
"""Scans and putgets without a barrier: who waits for whom, and what goes wrong."""

from __future__ import annotations

import re
from typing import Any, Callable

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

SECONDS = 30.0  # of a wait that should end by itself long before
AHEAD = 16  # calls
ONE_HOST = pytest.mark.one_host("without a barrier processes share memory")


@ONE_HOST
@ranks(3)
def test_nobody_waits_for_the_others(comm: Any) -> None:
    """Each process calls only once the one before it is ready with all of its calls: if one call
    were a barrier, it would not end."""
    t = hk.Team(comm)
    if comm.rank > 0:
        comm.recv(source=comm.rank - 1)
    sums = [t.scan_add(np.int64(comm.rank + k), barrier=False) for k in range(AHEAD)]
    assert sums == [sum(p + k for p in range(comm.rank + 1)) for k in range(AHEAD)]
    if comm.rank + 1 < comm.size:
        comm.send(None, comm.rank + 1)
    comm.barrier()
    if comm.rank > 0:
        comm.recv(source=0)
    values = [t.putget(np.float64(comm.rank + k), 0, barrier=False) for k in range(AHEAD)]
    assert values == list(range(AHEAD))
    if comm.rank == 0:
        for other in range(1, comm.size):
            comm.send(None, other)
    t.wait(timeout=SECONDS)


@ONE_HOST
@ranks(3)
def test_each_process_names_a_source_of_its_own(comm: Any) -> None:
    t = hk.Team(comm)
    for k in range(50):
        source = (comm.rank + k) % comm.size
        assert t.putget(np.int32(100 * k + comm.rank), source, barrier=False) == 100 * k + source
        if k % 7 == 0:
            assert t.scan_add(np.int32(1), barrier=False) == comm.rank + 1


@ranks(1)
def test_one_process(comm: Any) -> None:
    t = hk.Team(comm)
    assert t.scan_max(np.uint8(7), barrier=False) == 7
    assert t.putget(np.float32(1.5), 0, barrier=False) == np.float32(1.5)


@ONE_HOST
@ranks(3)
def test_the_last_bits_are_those_of_a_scan_with_a_barrier(comm: Any) -> None:
    t = hk.Team(comm)
    for k in range(200):
        value = np.random.default_rng([k, comm.rank]).normal() * 10.0**k
        with_one = t.scan_add(value)
        assert t.scan_add(value, barrier=False).tobytes() == with_one.tobytes()
    low = t.scan_and_(np.uint16(0xFF0 << comm.rank), bits=8, barrier=False)
    assert low == (0xF0, 0xE0, 0xC0)[comm.rank]


def correct(t: hk.Team) -> None:
    t.scan_add(np.int8(1), barrier=False, timeout=SECONDS)


def another_fold(t: hk.Team) -> None:
    t.scan_mul(np.int8(1), barrier=False, timeout=SECONDS)


def putget(t: hk.Team) -> None:
    t.putget(np.int8(1), 0, barrier=False, timeout=SECONDS)


def no_value(t: hk.Team) -> None:
    t.scan_add("x", barrier=False, timeout=SECONDS)


def no_source(t: hk.Team) -> None:
    t.putget(np.int8(1), 2, barrier=False, timeout=SECONDS)


def wait_first(t: hk.Team) -> None:
    t.wait(timeout=SECONDS)
    t.scan_add(np.int8(1), barrier=False, timeout=SECONDS)


def wait_after(t: hk.Team) -> None:
    t.scan_add(np.int8(1), barrier=False, timeout=SECONDS)
    t.wait(timeout=SECONDS)


def with_barrier(t: hk.Team) -> None:
    t.scan_add(np.int8(1), timeout=SECONDS)


def no_option(t: hk.Team) -> None:
    t.scan_add(np.int8(1), barrier=None, timeout=SECONDS)  # type: ignore[arg-type]


def leave(t: hk.Team) -> None:
    t.exit(3)


@ONE_HOST
@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (correct, another_fold, "process 0 calls scan_add of int8, but process 1 calls scan_mul"),
        (putget, correct, "process 0 calls putget of int8, but process 1 calls scan_add"),
        (correct, no_value, "scan_add: .*NumPy scalar"),
        (no_value, correct, "scan_add: .*NumPy scalar"),
        (putget, no_source, "the source is process 2"),
        (wait_after, wait_first, "process [01] .*with.* one; make the same calls|in 0 barriers"),
        (wait_first, wait_after, "process [01] .*with.* one; make the same calls|in 0 barriers"),
        (with_barrier, correct, "make the same calls? everywhere"),
        (correct, with_barrier, "make the same calls? everywhere"),
        (no_option, correct, "barrier is None; give True or False"),
        (leave, correct, "has left it with code 3"),
    ],
)
@ranks(2)
def test_what_goes_wrong_breaks_the_team(
    comm: Any, low: Callable[[hk.Team], None], high: Callable[[hk.Team], None], words: str
) -> None:
    """A process that does not wait for the other learns of it in a later call."""
    t = hk.Team(comm)
    with pytest.raises(hk.Error) as raised:
        (low, high)[comm.rank](t)
        t.wait(timeout=SECONDS)
    assert not isinstance(raised.value, hk.DeadlineError), raised.value
    told = comm.allgather(str(raised.value))
    assert any(re.search(words, each) for each in told), told
