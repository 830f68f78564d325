# SPDX-License-Identifier: BSD-3-Clause
"""Senders that contend for one receiver of another node: by turns, as they vote, or all at once.

The turns of senders change when each of them is free, not when all are: so there are two tables, of
the time until all are done, and of the mean over the senders of the time until one is. ``--link
1gbit`` puts senders and receiver on both sides of a link; else they pretend to be on two nodes.
"""

from __future__ import annotations

import argparse
import os
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

RANKS = 4
MESSAGE = 8 << 20
_SWITCH = "HOCKET_TAKE_TURNS"
_FREE = "all at once"


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--message`` and ``--link``."""
    shaped_link.add_option(parser)
    parser.add_argument(
        "--message",
        type=int,
        default=MESSAGE,
        metavar="BYTES",
        help=f"of each sender (default: {MESSAGE})",
    )


def validate(options: argparse.Namespace) -> None:
    """Two senders at least, a message of one element at least."""
    least = 4 if options.link else 3
    if options.ranks < least:
        raise ValueError(
            f"--ranks {options.ranks}: two senders contend for one receiver; give {least} or more"
        )
    if options.message < 8:
        raise ValueError(f"--message {options.message}: give 8 bytes or more")
    shaped_link.validate(options)


def _senders(options: argparse.Namespace) -> int:
    return int(options.ranks // 2 if options.link else options.ranks - 1)


def passes(options: argparse.Namespace) -> list[Pass]:
    """One start: over the link that was asked for, or on pretended nodes."""
    senders = _senders(options)
    nodes = ",".join(["0"] * senders + ["1"] * (options.ranks - senders))
    more = {} if options.link else {"HOCKET_NODES": nodes}
    return [Pass(options.ranks, options.threads, more=more, rate=options.link)]


class Contention:
    """Every sender has a part of an array, which goes to one process as a whole."""

    def __init__(self, comm: MPI.Intracomm, senders: int, bytes_: int) -> None:
        hk = hocket()
        self.comm = comm
        self.world = hk.tasks({"out": senders, "into": comm.Get_size() - senders}, comm)
        self.sends = self.world.name == "out"
        size = senders * (bytes_ // 8)
        layout = hk.Layout((size,), "(BLOCK)", senders if self.sends else 1)
        self.array = hk.from_function(self.value, layout, np.float64, comm=self.world.comm)
        self.senders, self.free = senders, 0.0

    @staticmethod
    def value(index: Any) -> Any:
        """Of an element."""
        return index * 0.5

    def step(self, by_turns: bool) -> None:
        """One message; afterwards `free` is this process's time until it could go on."""
        os.environ[_SWITCH] = "1" if by_turns else "0"
        begin = time.perf_counter()
        if self.sends:
            self.world.send(self.array, "into")
        else:
            self.world.recv(self.array, "out")
        self.free = time.perf_counter() - begin

    def mean(self, by_turns: bool) -> float:
        """The mean over the senders, on every process."""
        self.step(by_turns)
        return float(self.comm.allreduce(self.free if self.sends else 0.0)) / self.senders

    def spoil(self) -> None:
        """The receiver's copy."""
        if not self.sends:
            self.array.local[...] = -1

    def check(self) -> None:
        """That all of it has come."""
        rank = self.world.comm.Get_rank()
        if rank >= self.array.layout.size:  # over a link both sides have as many processes
            return
        (index,) = self.array.layout.global_indices(rank)
        if self.array.local.size and not np.array_equal(self.array.local, self.value(index)):
            raise WrongResultError("the receiver has not got what was sent")


def _contestant(job: Contention, by_turns: bool, of_mean: bool) -> Contestant:
    taken = [0.0]

    def run() -> None:
        if of_mean:
            taken[0] += job.mean(by_turns)
        else:
            job.step(by_turns)

    def took() -> float:
        seconds, taken[0] = taken[0], 0.0
        return seconds

    name = "by turns" if by_turns else _FREE
    step = Step(run, job.check, job.spoil, took=took if of_mean else None)
    return Contestant(name, lambda: step)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """Two tables."""
    if group.comm is None:
        raise ValueError("contention needs MPI; leave --ranks at 4")
    senders = _senders(options)
    job = Contention(group.comm, senders, options.message)
    for until in ("all are done", "a sender is free, mean"):
        of_mean = until != "all are done"
        question = Question(
            {"senders": senders, "bytes of each": options.message, "until": until},
            baseline=(_FREE,),
            bytes=0 if of_mean else senders * options.message,
        )
        yield Match(question, [_contestant(job, turns, of_mean) for turns in (False, True)])


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None."""
    return []
