# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a measurement, and their agreement."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Callable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # importing it for real starts MPI, which a single process does not need
    from mpi4py import MPI


def _finish(request: MPI.Request) -> None:
    # MPICH's blocking calls spin without yielding: with more processes than cores one of them
    # costs milliseconds. Polling a non-blocking one and yielding costs microseconds.
    while not request.Test():
        os.sched_yield()


class Group:
    """One process alone (``comm`` is None) or all processes of a communicator.

    A private duplicate of the communicator separates the harness's messages from those of the
    measured code.
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
        """Binds each process to a core of its own, if there are enough, so that none migrates.

        Threads that a process starts later share its core. Valid for one machine only.
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
        """For each entry the largest over the processes; equal on all."""
        mine = np.asarray(values, dtype=np.float64)
        if self.comm is None:
            return mine
        from mpi4py import MPI

        largest = np.empty_like(mine)
        _finish(self.comm.Iallreduce(mine, largest, op=MPI.MAX))
        return largest

    def complaints(self, mine: str | None) -> list[str]:
        """The errors of each process; empty on every process if there are none."""
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
