# SPDX-License-Identifier: BSD-3-Clause
"""A transfer that knows only the owner of each element."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .formats import Lay
from .harness import Contestant, Step
from .redistribution import Problem


def _owners(mine: Lay, rank: int, other: Lay) -> Any:
    """For each element that ``rank`` has in one layout, the process that has it in the other."""
    whole = np.zeros((1,) * len(mine.shape), np.int64)
    for d, (indices, spread) in enumerate(zip(mine.indices(rank), other.spreads())):
        along = (1,) * d + (-1,) + (1,) * (len(mine.shape) - d - 1)
        whole = whole * spread.parts + spread.owner(indices).reshape(along)
    return whole + other.first


def per_element(problem: Problem, name: str) -> Contestant:
    """Each call finds each element's destination, fills a bucket for each process and sends it.

    The generic implementation in Figure 4 of "A Data Transfer Library for Communicating
    Data-Parallel Tasks", by NumPy and raw MPI. Both sides visit their elements in increasing global
    order, so that a bucket needs no indices.
    """

    def prepare() -> Step:
        from mpi4py import MPI

        comm = problem.comm.Dup()
        source, target, rank = problem.source_lay, problem.target_lay, comm.rank

        def run() -> None:
            requests, buckets, into = [], [], []
            if target.holds(rank):
                whose = _owners(target, rank, source)
                for peer in range(source.first, source.first + source.size):
                    places = whose == peer
                    bucket = np.empty(np.count_nonzero(places))
                    requests.append(comm.Irecv(bucket, peer))
                    into.append((places, bucket))
            if source.holds(rank):
                whose = _owners(source, rank, target)
                for peer in range(target.first, target.first + target.size):
                    bucket = problem.source[whose == peer]
                    buckets.append(bucket)
                    requests.append(comm.Isend(bucket, peer))
            # Polls, because blocking waits spin if processes share cores.
            while not MPI.Request.Testall(requests):
                os.sched_yield()
            for places, bucket in into:
                problem.target[places] = bucket

        return problem.step(run, comm.Free)

    return Contestant(name, prepare)
