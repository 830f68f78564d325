# SPDX-License-Identifier: BSD-3-Clause
"""What teams gain on this machine: operations that are over at once, beside MPI's own.

Both take turns, batch by batch, as everything that is compared. MPI is called as a program would,
through mpi4py.
"""

from __future__ import annotations

import importlib
import time
from typing import Any, Callable

import numpy as np

import hocket as hk

BATCHES = 12
#: calls a batch; MPICH's barrier of more processes than cores takes milliseconds
CALLS = 8
#: a task's processes agree on the answer
ASKED = "iprobe"

#: seconds a call, batch by batch, by operation and by who does it
Times = dict[str, dict[str, list[float]]]


def measure(world: Any, comm: Any) -> Times:
    """Barriers and sums of all processes, by a team and by MPI; and a question that every process
    of a task must answer alike, where its task needs no message to.

    Args:
        world: tasks; each asks the other.
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
    calls: dict[str, dict[str, Callable[[], Any]]] = {
        "barrier": {"team": team.wait, "MPI": comm.Barrier},
        "sum": {"team": lambda: team.reduce_add(one[0]), "MPI": by_mpi},
        ASKED: {"task": lambda: world.iprobe(other)},
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


def seconds(parts: list[Times]) -> dict[str, dict[str, float]]:
    """A call's time is the largest over the processes; of these the median over the batches."""
    return {
        what: {
            who: float(np.median(np.max([part[what][who] for part in parts], axis=0)))
            for who in ways
        }
        for what, ways in parts[0].items()
    }


def lines(found: dict[str, dict[str, float]], processes: int) -> list[str]:
    """As the report has it."""
    beside = ", ".join(
        f"{what} {1e6 * found[what]['team']:.1f} µs (MPI {1e6 * found[what]['MPI']:.1f})"
        for what in ("barrier", "sum")
    )
    return [
        f"teams          of {processes} processes: {beside}",
        f"               a task agrees on an answer ({ASKED}): {1e6 * found[ASKED]['task']:.1f} µs",
    ]
