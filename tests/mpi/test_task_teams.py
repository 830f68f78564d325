# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a task agree as a team: on many calls at once, which begin and end in any order,
and whose descriptions are longer than what they have room for at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from across import also_across
from lockstep import ranks

import hocket as hk

SECONDS = 40.0  # of a wait that should end long before
CALLS = 20
GROUPS = {"a": 2, "b": 3}


def long_layout(processes: int) -> hk.Layout:
    """Single elements, dealt out: a text of some 5 KiB."""
    size = 300
    return hk.Layout.indexed(
        (size,), [[(i, 1) for i in range(p, size, processes)] for p in range(processes)]
    )


@also_across({"a": 3, "b": 3})
@ranks(GROUPS)
def test_many_calls_at_once(comm: Any, groups: Mapping[str, int]) -> None:
    w = hk.tasks(groups, comm)
    lay = long_layout(w.comm.size)
    late = w.comm.rank == (1 if w.name == "a" else 2)
    arrays = [hk.empty(lay, np.int32, comm=w.comm) for _ in range(CALLS)]
    if late:
        time.sleep(0.2)  # the others run ahead, until there is no room left
    if w.name == "a":
        for tag, array in enumerate(arrays):
            array.local[...] = 1000 * tag + w.comm.rank
        hk.waitall([w.isend(arrays[tag], "b", tag=tag) for tag in reversed(range(CALLS))])
    else:
        requests = [w.irecv(arrays[tag], "a", tag=tag) for tag in range(CALLS)]
        first = hk.waitany(requests)
        assert w.comm.allgather(first) == [first] * w.comm.size  # the same answer
        hk.waitall(requests)
        for tag, array in enumerate(arrays):
            (mine,) = lay.global_indices(w.comm.rank)
            senders = mine % groups["a"]
            assert array.local.tolist() == (1000 * tag + senders).tolist()


@ranks(GROUPS)
def test_a_late_call_waits_for_nobody(comm: Any, groups: Mapping[str, int]) -> None:
    """A receive that nobody serves stays open while later calls come and go."""
    w = hk.tasks(groups, comm)
    lay = hk.Layout((6,), "(BLOCK)", w.comm.size)
    x = hk.zeros(lay, np.float64, comm=w.comm)
    if w.name == "b":
        open_call = w.irecv(hk.zeros(lay, np.float64, comm=w.comm), "a", tag=1)
        for _ in range(20):
            w.recv(x, "a", tag=2, timeout=SECONDS)
            assert not open_call.test()
        with pytest.raises(hk.DeadlineError):
            w.recv(x, hk.ANY_SOURCE, tag=3, timeout=0.1)
        w.send(x, "a", tag=4)
        assert open_call.wait(SECONDS).tag == 1
    else:
        for _ in range(20):
            w.send(x, "b", tag=2)
        w.recv(x, "b", tag=4, timeout=SECONDS)
        w.send(x, "b", tag=1)


@also_across({"a": 3, "b": 3})
@ranks(GROUPS)
def test_what_one_process_means_else_is_an_error_on_all(
    comm: Any, groups: Mapping[str, int]
) -> None:
    w = hk.tasks(groups, comm)
    lay = hk.Layout((6,), "(BLOCK)", w.comm.size)
    x = hk.zeros(lay, np.float64, comm=w.comm)
    if w.name == "a":
        with pytest.raises(hk.MismatchError, match=r"process 0 of \d calls .* process 1 of \d"):
            w.send(x, "b", tag=w.comm.rank, timeout=SECONDS)
        w.send(x, "b", tag=7, timeout=SECONDS)
    else:
        with pytest.raises(hk.MismatchError, match="task 'a'"):
            w.recv(x, "a", tag=0, timeout=SECONDS)
        assert w.recv(x, "a", timeout=SECONDS).tag == 7
    w.barrier()
