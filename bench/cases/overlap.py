# SPDX-License-Identifier: BSD-3-Clause
"""Computing while a message travels: a flow beside Irecv, Isend, compute, Waitall.

In shared memory a copy is computing, too, so that nothing can be hidden; ``--link 1gbit`` puts a
link between the processes. ``OMPI_MCA_btl_tcp_progress_thread=1`` in the environment lets Open MPI
progress by itself, as another baseline.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import shaped_link
from ..group import Group
from ..harness import Contestant, Step, WrongResultError
from ..record import Question
from ..registry import Match, Native, Pass
from ..subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI

RANKS = 2
MESSAGE = 4 << 20
_COMPUTE, _MOVE = "computing alone", "the message alone"
_PLAIN = "Irecv, Isend, compute, Waitall"


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--message`` and ``--link``."""
    shaped_link.add_option(parser)
    parser.add_argument(
        "--message",
        type=int,
        default=MESSAGE,
        metavar="BYTES",
        help=f"each way (default: {MESSAGE})",
    )


def validate(options: argparse.Namespace) -> None:
    """Two processes, a message of one element at least."""
    if options.ranks != 2:
        raise ValueError(f"--ranks {options.ranks}: two processes exchange messages; leave it at 2")
    if options.message < 8:
        raise ValueError(f"--message {options.message}: give 8 bytes or more")
    shaped_link.validate(options)


def passes(options: argparse.Namespace) -> list[Pass]:
    """One start, over the link that was asked for."""
    return [Pass(options.ranks, options.threads, rate=options.link)]


class Overlap:
    """Both processes exchange a message and compute, as long as the message takes."""

    def __init__(self, comm: MPI.Intracomm, bytes_: int) -> None:
        self.comm = comm.Dup()
        self.peer = 1 - comm.Get_rank()
        self.out = np.full(bytes_ // 8, float(comm.Get_rank()))
        self.into = np.zeros(bytes_ // 8)
        self.parts = 16
        self.a = np.random.default_rng(1).random((160, 160))
        self.repeats = 1
        for _ in range(3):
            self.move()
        alone = min(self._seconds(self.move) for _ in range(5))
        part = min(self._seconds(self.part) for _ in range(20))
        longest = self.comm.allreduce(alone / (self.parts * part), max)
        self.repeats = max(1, round(longest))

    @staticmethod
    def _seconds(call: Any) -> float:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    def move(self) -> None:
        """The message, nothing else."""
        self.comm.Sendrecv(self.out, self.peer, 0, self.into, self.peer, 0)

    def part(self) -> None:
        """One part of the computing."""
        for _ in range(self.repeats):
            self.a @ self.a

    def compute(self) -> None:
        """All parts."""
        for _ in range(self.parts):
            self.part()

    def plain(self) -> None:
        """The careful program by hand."""
        requests = [
            self.comm.Irecv(self.into, self.peer, 0),
            self.comm.Isend(self.out, self.peer, 0),
        ]
        self.compute()
        type(requests[0]).Waitall(requests)

    def contestant(self, name: str, run: Any, moves: bool = True) -> Contestant:
        """`run` with a check of the received message."""

        def check() -> None:
            if moves and not (self.into == float(self.peer)).all():
                raise WrongResultError("the message did not arrive")

        return Contestant(name, lambda: Step(run, check, lambda: self.into.fill(-1)))

    def flow(self, workers: int, agent: str) -> Contestant:
        """The same as steps."""

        def prepare() -> Step:
            hk = hocket()
            flow = hk.Flow(workers, agent=agent)

            def run() -> None:
                comm = self.comm
                flow.comm(lambda: comm.Irecv(self.into, self.peer, 0), outputs=[self.into])
                flow.comm(lambda: comm.Isend(self.out, self.peer, 0), inputs=[self.out])
                for number in range(self.parts):
                    flow.task(self.part, inouts=[("part", number)])
                flow.wait()

            def check() -> None:
                if not (self.into == float(self.peer)).all():
                    raise WrongResultError("the message did not arrive")

            return Step(run, check, lambda: self.into.fill(-1))

        return Contestant(f"hk.Flow, {workers} worker, agent {agent!r}", prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """Overlap: the longer of the two alone is the limit."""
    if group.comm is None:
        raise ValueError("overlap needs MPI; leave --ranks at 2")
    overlap = Overlap(group.comm, options.message)
    question = Question(
        {
            "step": "compute while a message travels",
            "bytes": options.message,
            "parts": overlap.parts,
            "link": options.link or "shared memory",
        },
        baseline=(_PLAIN,),
        limit=(_COMPUTE, _MOVE),
        together=True,
    )
    yield Match(
        question,
        [
            overlap.contestant(_COMPUTE, overlap.compute, moves=False),
            overlap.contestant(_MOVE, overlap.move),
            overlap.contestant(_PLAIN, overlap.plain),
            overlap.flow(1, "steps"),
            overlap.flow(1, "thread"),
        ],
    )


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None."""
    return []
