# SPDX-License-Identifier: BSD-3-Clause
"""The gain of teams on this machine: operations by a team and by MPI, and tasks that agree on their
calls as teams, beside the same tasks where they must send messages.

All take turns, batch by batch, as in all comparisons. The demo calls MPI through mpi4py, as a
program would.
"""

from __future__ import annotations

import importlib
import os
import time
from typing import Any, Callable

import numpy as np

import hocket as hk

BATCHES = 12
#: calls a batch; MPICH's barrier of more processes than cores takes milliseconds
CALLS = 8
#: a task's processes agree on the answer
ASKED = "iprobe"
#: by operation: hocket's method, the method beside it, and its name in the report
WAYS = {
    "barrier": ("team", "MPI", "MPI"),
    "sum": ("team", "MPI", "MPI"),
    ASKED: ("task", "messages", "by messages"),
}

#: seconds a call, batch by batch, by operation and by method
Times = dict[str, dict[str, list[float]]]


def measure(world: Any, comm: Any) -> Times:
    """Barriers and sums of all processes, by a team and by MPI; and a question that every process
    of a task must answer alike, as a team and, in tasks on pretended nodes, by messages.

    Args:
        world: the tasks "rows" and "cols"; each asks the other.
        comm: the communicator of all their processes. Collective.

    Returns:
        of this process: seconds a call of each batch but the first.
    """
    mpi: Any = importlib.import_module("mpi4py.MPI")
    team = hk.Team(comm)
    one, into = np.ones(1, np.int64), np.zeros(1, np.int64)

    def by_mpi() -> Any:
        comm.Allreduce(one, into, mpi.SUM)
        return into[0]

    other = next(name for name in ("rows", "cols") if name != world.name)
    apart = _apart(world, comm)
    calls: dict[str, dict[str, Callable[[], Any]]] = {
        "barrier": {"team": team.wait, "MPI": comm.Barrier},
        "sum": {"team": lambda: team.reduce_add(one[0]), "MPI": by_mpi},
        ASKED: {
            "task": lambda: world.iprobe(other),
            "messages": lambda: apart.iprobe(other),
        },
    }
    if team.reduce_add(one[0]) != team.size or by_mpi() != team.size:
        raise hk.Error("hocket demo: a team and MPI count its processes differently")
    times: Times = {what: {who: [] for who in ways} for what, ways in calls.items()}
    for _ in range(BATCHES):
        for what, ways in calls.items():
            for who, call in ways.items():
                team.wait()
                begun = time.perf_counter()
                for _ in range(CALLS):
                    call()
                times[what][who].append((time.perf_counter() - begun) / CALLS)
    return {what: {who: kept[1:] for who, kept in ways.items()} for what, ways in times.items()}


def _apart(world: Any, comm: Any) -> Any:
    """The same tasks, with each process on a pretended node of its own."""
    rows = world.comm.size if world.name == "rows" else comm.size - world.comm.size
    before = os.environ.get("HOCKET_NODES")
    os.environ["HOCKET_NODES"] = ",".join(map(str, range(comm.size)))
    try:
        return hk.tasks({"rows": rows, "cols": comm.size - rows}, comm.Dup())
    finally:
        del os.environ["HOCKET_NODES"]
        if before is not None:
            os.environ["HOCKET_NODES"] = before


def seconds(parts: list[Times]) -> dict[str, dict[str, float]]:
    """A call's time is the largest over the processes; the result is the median over the
    batches."""
    return {
        what: {
            who: float(np.median(np.max([part[what][who] for part in parts], axis=0)))
            for who in ways
        }
        for what, ways in parts[0].items()
    }


def lines(found: dict[str, dict[str, float]], processes: int) -> list[str]:
    """For the report: the time, the alternative's time, and the gain."""
    said = {}
    for what, (ours, theirs, name) in WAYS.items():
        mine, other = found[what][ours], found[what][theirs]
        said[what] = f"{1e6 * mine:.1f} µs ({name} {1e6 * other:.1f}: gained {other / mine:.1f} x)"
    return [
        f"teams          of {processes} processes: barrier {said['barrier']}, sum {said['sum']}",
        f"               a task agrees on an answer ({ASKED}): {said[ASKED]}",
    ]
