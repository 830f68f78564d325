# SPDX-License-Identifier: BSD-3-Clause
"""`waitany` and `test` where the processes of a task do not call alike: an error, never a hang, and
what comes after it meets as it should."""

import time

import pytest
from cases import raises_everywhere
from lockstep import ranks
from worlds import check_world, small

import hocket as hk


def array(w):
    return hk.zeros(small(w.comm.size).layout(hk), "f8", comm=w.comm)


@ranks({"a": 2, "b": 1}, {"a": 3, "b": 2})
@pytest.mark.parametrize("culprit", [0, 1])
def test_waitany_of_lists_that_differ(comm, groups, culprit):
    """Those that have another list than the task's lowest process say so; it goes on."""
    w = hk.tasks(groups, comm)
    if w.name == "a":
        requests = [w.irecv(array(w), "b", tag) for tag in range(3)]
        comm.barrier()
        mine = requests[: 2 if w.comm.rank == culprit else 3]
        alike = (w.comm.rank == culprit) == (culprit == 0)
        if alike:
            assert hk.waitany(mine, timeout=100) in range(len(mine))
        else:
            with pytest.raises(hk.MismatchError, match=r"among [23], this one among [23]"):
                hk.waitany(mine, timeout=100)
        hk.waitall(requests)
    else:
        comm.barrier()
        for tag in (0, 1, 2) if culprit == 0 else (2, 1, 0):
            w.send(array(w), "a", tag)
    check_world(w, groups)


@ranks({"a": 2, "b": 1}, {"a": 3, "b": 1})
def test_waitany_whose_lowest_process_stays_away_ends_at_its_deadline(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        request = w.irecv(array(w), "b")
        if w.comm.rank > 0:
            begun = time.perf_counter()
            with pytest.raises(hk.DeadlineError, match="waits for any of 1 requests"):
                hk.waitany([request], timeout=0.3)
            assert 0.2 < time.perf_counter() - begun < 100
        comm.barrier()
        if w.comm.rank == 0:  # the call that the others have made
            assert hk.waitany([request], timeout=100) == 0
        request.wait(timeout=100)
    else:
        comm.barrier()
        w.send(array(w), "a", timeout=100)
    check_world(w, groups)


@ranks({"a": 2, "b": 1}, {"a": 3, "b": 2})
@pytest.mark.parametrize("culprit", [0, 1])
@pytest.mark.parametrize("verb", ["waitany", "test"])
def test_a_request_that_one_process_freed(comm, groups, culprit, verb):
    """The lowest process's mistake is everybody's error; another one's is its own."""
    w = hk.tasks(groups, comm)
    if w.name == "a":
        request = w.recv_init(array(w), "b")
        if w.comm.rank == culprit:
            request.free()
        else:
            request.start()
        soon = 0.5 if culprit else 100  # for what the lowest process never says
        call = request.test if verb == "test" else lambda: hk.waitany([request], timeout=soon)
        if culprit == 0:
            raises_everywhere(w.comm, hk.Error, call, "freed")
        elif w.comm.rank == culprit:
            with pytest.raises(hk.Error, match="freed"):
                call()
        elif verb == "test":
            assert not call()
        else:
            with pytest.raises(hk.DeadlineError):
                call()
    check_world(w, groups)
