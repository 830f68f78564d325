# SPDX-License-Identifier: BSD-3-Clause
"""Two tasks of one process send an N x N array to and fro: hocket beside raw MPI.

In shared memory, or over a link of two network namespaces: ``--link 1gbit``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

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
SIZES = (1, 8, 32, 128, 512, 2048)
_RAW = "MPI Send/Recv, mpi4py"
_PERSISTENT = "MPI persistent, mpi4py"


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--size`` and ``--link``."""
    shaped_link.add_option(parser)
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        metavar="N",
        help=f"arrays of N x N float64; may be repeated (default: {', '.join(map(str, SIZES))})",
    )


def validate(options: argparse.Namespace) -> None:
    """Two processes, sizes from 1."""
    if options.ranks != 2:
        raise ValueError(f"--ranks {options.ranks}: a ping-pong has 2 processes")
    for size in options.size or ():
        if size < 1:
            raise ValueError(f"--size {size}: give 1 or more")
    shaped_link.validate(options)


def passes(options: argparse.Namespace) -> list[Pass]:
    """One start, over the link that was asked for."""
    return [Pass(options.ranks, options.threads, rate=options.link)]


class Exchange:
    """Process 0 sends its array to process 1, which then sends its own, another one, back."""

    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        self.comm, self.rank, self.size = comm, comm.Get_rank(), size

    def value(self, rank: int) -> Any:
        """The array that process ``rank`` sends."""
        return np.arange(self.size**2, dtype=np.float64).reshape(self.size, self.size) + 0.5 * rank

    def step(
        self,
        send: Callable[[], object],
        recv: Callable[[], object],
        into: Any,
        close: Callable[[], None] = lambda: None,
        extras: Any = None,
    ) -> Step:
        """Process 0 sends first, process 1 receives first; both end with the other's array."""
        first, second = (send, recv) if self.rank == 0 else (recv, send)

        def run() -> None:
            first()
            second()

        def check() -> None:
            expected = self.value(1 - self.rank)
            if not np.array_equal(into, expected):
                raise WrongResultError(f"received {into!r}, not {expected!r}")

        return Step(run, check, lambda: into.fill(np.nan), close, extras)


def _raw(exchange: Exchange) -> Contestant:
    def prepare() -> Step:
        comm, peer = exchange.comm.Dup(), 1 - exchange.rank
        out, into = exchange.value(exchange.rank), np.empty((exchange.size, exchange.size))
        return exchange.step(
            lambda: comm.Send(out, peer, 99), lambda: comm.Recv(into, peer, 99), into, comm.Free
        )

    return Contestant(_RAW, prepare)


def _persistent(exchange: Exchange) -> Contestant:
    def prepare() -> Step:
        comm, peer = exchange.comm.Dup(), 1 - exchange.rank
        out, into = exchange.value(exchange.rank), np.empty((exchange.size, exchange.size))
        sending, receiving = comm.Send_init(out, peer, 99), comm.Recv_init(into, peer, 99)

        def send() -> None:
            sending.Start()
            sending.Wait()

        def recv() -> None:
            receiving.Start()
            receiving.Wait()

        def close() -> None:
            sending.Free()
            receiving.Free()
            comm.Free()

        return exchange.step(send, recv, into, close)

    return Contestant(_PERSISTENT, prepare)


def _hocket(exchange: Exchange, owned: bool) -> Contestant:
    def prepare() -> Step:
        hk = hocket()
        world = hk.tasks({"ping": 1, "pong": 1}, comm=exchange.comm)
        peer = "pong" if exchange.rank == 0 else "ping"
        layout = hk.Layout((exchange.size, exchange.size), "(BLOCK,*)", 1)
        value = exchange.value(exchange.rank)
        inside = world.comm
        if owned:
            a, b = (hk.empty(layout, np.float64, comm=inside) for _ in range(2))
            a.local[...] = value
        else:
            a = hk.wrap(value, layout, comm=inside)
            b = hk.wrap(np.empty_like(value), layout, comm=inside)
        before: dict[str, float] = {}
        calls = [0]

        def send() -> None:
            world.send(a, peer, tag=99)

        def recv() -> None:
            world.recv(b, peer, tag=99)
            calls[0] += 1
            if calls[0] == 1:  # the first call sets up connections: the profile starts after it
                before.update(world.profile())

        def profile() -> Mapping[str, Any]:
            spent = {
                name: (float(seconds) - float(before.get(name, 0.0))) / max(calls[0] - 1, 1)
                for name, seconds in world.profile().items()
            }
            return {"six steps of one send and one receive (mean)": spent}

        return exchange.step(send, recv, b.local, extras=profile)

    return Contestant("hocket send/recv, " + ("hk.empty" if owned else "hk.wrap"), prepare)


def _prepared(exchange: Exchange) -> Contestant:
    def prepare() -> Step:
        hk = hocket()
        world = hk.tasks({"ping": 1, "pong": 1}, comm=exchange.comm)
        peer = "pong" if exchange.rank == 0 else "ping"
        layout = hk.Layout((exchange.size, exchange.size), "(BLOCK,*)", 1)
        a, b = (hk.empty(layout, np.float64, comm=world.comm) for _ in range(2))
        a.local[...] = exchange.value(exchange.rank)
        sending, receiving = world.send_init(a, peer, 99), world.recv_init(b, peer, 99)

        def send() -> None:
            sending.start()
            sending.wait()

        def recv() -> None:
            receiving.start()
            receiving.wait()

        return exchange.step(send, recv, b.local)

    return Contestant("hocket start/wait, hk.empty", prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a size."""
    if group.comm is None:
        raise ValueError("pingpong needs MPI; leave --ranks at 2")
    for size in options.size or SIZES:
        exchange = Exchange(group.comm, size)
        question = Question(
            {"shape": (size, size), "step": "half a ping-pong"},
            baseline=(_RAW, _PERSISTENT),
            bytes=8 * size * size,
        )
        contestants = [
            _raw(exchange),
            _persistent(exchange),
            _hocket(exchange, owned=False),
            _hocket(exchange, owned=True),
            _prepared(exchange),
        ]
        yield Match(question, contestants, steps_per_call=2)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """The same from C++, where no Python is in the loop."""
    sizes = [str(8 * n * n) for n in options.size or SIZES]
    return [Native("hocket_bench_pingpong", ("--bytes", ",".join(sizes)))]
