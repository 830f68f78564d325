# SPDX-License-Identifier: BSD-3-Clause
"""The processes that take a measurement together, and what they must agree on."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Callable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # importing it for real starts MPI, which a process alone has no use for
    from mpi4py import MPI


def _finish(request: MPI.Request) -> None:
    # MPICH's blocking calls spin without yielding: with more processes than cores one of them
    # costs milliseconds. Polling a non-blocking one and yielding costs microseconds.
    while not request.Test():
        os.sched_yield()


class Group:
    """One process alone (``comm`` is None) or all processes of a communicator.

    A private duplicate of the communicator keeps the harness's messages apart from those of what
    it measures.
    """

    def __init__(self, comm: MPI.Intracomm | None = None) -> None:
        self.comm = None if comm is None else comm.Dup()
        self.rank = 0 if self.comm is None else self.comm.Get_rank()
        self.size = 1 if self.comm is None else self.comm.Get_size()
        self.clock: Callable[[], float] = time.perf_counter
        if self.comm is not None:
            from mpi4py import MPI

            self.clock = MPI.Wtime

    def pin(self) -> bool:
        """Bind each process to a core of its own, where there are enough: nobody then migrates.

        Threads that a process starts later share its core. Processes of other machines are not
        told apart, so this is for one machine.
        """
        cores = sorted(os.sched_getaffinity(0))
        if self.maximum([float(self.size - len(cores))])[0] > 0:
            return False
        os.sched_setaffinity(0, {cores[self.rank]})
        return True

    def barrier(self) -> None:
        """Wait until every process is here."""
        if self.comm is not None:
            _finish(self.comm.Ibarrier())

    def maximum(self, values: Sequence[float]) -> NDArray[np.float64]:
        """For each entry the largest over the processes, the same on each of them."""
        mine = np.asarray(values, dtype=np.float64)
        if self.comm is None:
            return mine
        from mpi4py import MPI

        largest = np.empty_like(mine)
        _finish(self.comm.Iallreduce(mine, largest, op=MPI.MAX))
        return largest

    def complaints(self, mine: str | None) -> list[str]:
        """What each process has to complain of; empty on every process if nobody has."""
        if not self.maximum([0.0 if mine is None else 1.0])[0]:
            return []
        everyone = [mine] if self.comm is None else self.comm.allgather(mine)
        if self.size > 1 and len(set(everyone)) == 1:
            return [f"every process: {mine}"]
        return [
            text if self.size == 1 else f"process {rank}: {text}"
            for rank, text in enumerate(everyone)
            if text is not None
        ]
