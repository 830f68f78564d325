# SPDX-License-Identifier: BSD-3-Clause
"""An array from one job to another by a port, beside a TCP stream, MPI, openssl and a flat copy.

Also the time in which two jobs meet, in which a new job takes all arrays of an old one, and the
processor's time that an observer takes from the program that it looks at.

Half of the processes are one job, and half another one: their communicators are disjoint.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .. import shaped_link
from ..group import Group
from ..harness import Contestant, Step, WrongResultError
from ..port_peers import PEERS, Problem
from ..record import Question
from ..registry import Match, Native, Pass
from ..subject import hocket

if TYPE_CHECKING:
    pass

RANKS = 2
TIMEOUT = 60.0  # seconds
#: by which jobs meet
WAYS = ("host", "tcp", "tls")
PICTURES = 3  # in a run, one after the other
#: how an observer looks on, and at how many KiB; at 0 nobody does
LOOKS = (("host", 0), ("host", 64), ("host", 16384), ("tcp", 1024), ("tls", 1024))


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--mebibytes --way --link``."""
    shaped_link.add_option(parser)
    parser.add_argument(
        "--mebibytes", type=float, default=64.0, metavar="N", help="of each process (default: 64)"
    )
    parser.add_argument(
        "--way",
        action="append",
        choices=("host", "tcp", "tls", "connect", "resize", "observe"),
        help="shared memory of one host, plain TCP, encrypted TCP, how long the jobs take to meet "
        "by each of these, how long until a new job has all arrays of an old one, or the "
        "processor's time in `poll` a step of 10 ms; repeat it for several (default: all; over a "
        "link, those by TCP)",
    )


def validate(options: argparse.Namespace) -> None:
    """An array has elements, and each process a partner in the other job."""
    if options.ranks is not None and (options.ranks < 2 or options.ranks % 2):
        raise ValueError(f"--ranks {options.ranks}: give an even number, one half for each job")
    if options.mebibytes <= 0:
        raise ValueError(f"--mebibytes {options.mebibytes}: give more than 0")
    for way in {"host", "resize", "observe"} & set(options.way or []):
        if options.link:
            raise ValueError(f"--way {way}: the ends of a link are two hosts; give tcp or tls")
    shaped_link.validate(options)


def passes(options: argparse.Namespace) -> list[Pass]:
    """One start, over the link that was asked for."""
    return [Pass(options.ranks or RANKS, options.threads, rate=options.link)]


def _key(problem: Problem) -> str:
    path = problem.folder / "key"
    if problem.comm.rank == 0 and not path.exists():
        path.write_bytes(os.urandom(32))
        path.chmod(0o600)
    problem.comm.barrier()
    return str(path)


def _opened(problem: Problem, way: str, purpose: str = "") -> tuple[Any, str, dict[str, Any]]:
    """The sending job's port, its address, and what the others need to get in."""
    hk = hocket()
    how = {"key": _key(problem) if way == "tls" else None, "secure": way != "tcp"}
    # The ports of several contestants are open at once.
    port, address = None, f"{problem.name}-{way}{purpose}"
    if problem.sends:
        where = None if way == "host" else f"{problem.host}:0"
        port = hk.open_port(address, task="sender", address=where, comm=problem.job, **how)
        address = address if where is None else port.address
    return port, problem.comm.bcast(address), {**how, "timeout": TIMEOUT}


def _port(problem: Problem, way: str) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Opens the sending job's port. Functions by which both jobs meet, and that close the port."""
    hk = hocket()
    port, address, how = _opened(problem, way)

    def meet() -> Any:
        if port is not None:
            return port.accept(timeout=TIMEOUT)
        return hk.connect(address, task="receiver", comm=problem.job, **how)

    def close() -> None:
        if port is not None:
            port.close()

    return meet, close


def by_port(problem: Problem, way: str) -> Contestant:
    """`send` and `recv` of the tasks that the two jobs are."""

    def prepare() -> Step:
        meet, close_port = _port(problem, way)
        w = meet()

        def move() -> None:
            if problem.sends:
                w.send(problem.a, "receiver")
            else:
                w.recv(problem.a, "sender")

        def close() -> None:
            w.disconnect()
            close_port()

        return problem.step(move, close)

    return Contestant(f"hocket {way}", prepare)


def meeting(problem: Problem, way: str) -> Contestant:
    """`accept` and `connect`, until the last process of both jobs has returned."""

    def prepare() -> Step:
        meet, close = _port(problem, way)
        total = 0.0
        sizes = 0

        def run() -> None:
            nonlocal total, sizes
            problem.comm.Barrier()
            began = time.monotonic()
            w = meet()
            problem.comm.Barrier()
            total += time.monotonic() - began
            sizes = w.size
            w.disconnect()

        def took() -> float:
            nonlocal total
            seconds, total = total, 0.0
            return seconds

        def check() -> None:
            if sizes != 2:
                raise WrongResultError(f"the jobs met as {sizes} tasks")

        def spoil() -> None:
            nonlocal sizes
            sizes = 0

        return Step(run, check, spoil, close, took=took)

    return Contestant(f"hocket {way}", prepare)


def resizing(problem: Problem) -> Contestant:
    """A new job connects, takes two arrays in one message, each of half the elements, and the old
    one lets it go: as examples/22_resize.py changes the number of processes."""

    def prepare() -> Step:
        hk = hocket()
        meet, close = _port(problem, "host")
        layout = hk.Layout(problem.half * (problem.elements // 2), "(BLOCK)", problem.half)
        arrays = [hk.empty(layout, comm=problem.job) for _ in range(2)]
        for number, array in enumerate(arrays):
            array.local[...] = number if problem.sends else np.nan

        def move() -> None:
            w = meet()
            if problem.sends:
                w.send(arrays, "receiver")
            else:
                w.recv(arrays, "sender")
            w.disconnect()

        def check() -> None:
            if not all((array.local == number).all() for number, array in enumerate(arrays)):
                raise WrongResultError("the arrays of the new job are not those of the old one")

        def spoil() -> None:
            if not problem.sends:
                for array in arrays:
                    array.local.fill(np.nan)

        return Step(move, check, spoil, close)

    return Contestant("hocket resize", prepare)


def observed(problem: Problem, way: str, elements: int) -> Contestant:
    """Seconds of the processor in `poll` a step of 10 ms, while an observer asks for so many
    elements again and again; at none: nobody looks. And how long its pictures take."""

    def prepare() -> Step:
        hk = hocket()
        port, address, how = _opened(problem, way, f"-{elements}")
        observer: Any = None
        if problem.sends:
            port.publish("a", problem.a)
        looking = elements > 0 and not problem.sends and problem.job.rank == 0
        seen: Any = problem.wanted[:elements]
        pictures: list[float] = []
        total = 0.0

        def run() -> None:
            nonlocal seen, total, observer
            if port is None:
                if looking and observer is None:  # the program lets it in at a poll
                    observer = hk.observe(address, **how)
                for _ in range(PICTURES if looking else 0):
                    began = time.monotonic()
                    seen = observer["a"][:elements]
                    pictures.append(time.monotonic() - began)
                problem.comm.Ibarrier().Wait()
                return
            over, polling, steps = problem.comm.Ibarrier(), 0.0, 0
            while steps < 10 or not problem.job.allreduce(int(over.Test())):
                ends = time.monotonic() + (0.01 if elements else 0)
                while time.monotonic() < ends:
                    pass
                began = time.thread_time()
                port.poll()
                polling += time.thread_time() - began
                steps += 1
            total += polling / steps

        def took() -> float:
            nonlocal total
            seconds, total = total, 0.0
            return seconds

        def check() -> None:
            if not np.array_equal(seen, problem.wanted[:elements]):
                raise WrongResultError("the observer does not see the elements of the program")

        def spoil() -> None:
            nonlocal seen
            seen = None if looking else problem.wanted[:elements]

        def close() -> None:
            if observer is not None:
                observer.close()
            problem.comm.barrier()
            if port is not None:
                port.close()

        def extras() -> dict[str, Any]:
            times = np.reshape(problem.comm.bcast(pictures, root=problem.half), (-1, PICTURES))
            if times.size == 0:
                return {}
            first, other = (float(np.median(each)) for each in (times[:, 0], times[:, 1:]))
            return {"a picture": {"after a while": first, "without pause": other}}

        return Step(run, check, spoil, close, took=took, extras=extras, single=True)

    what = f"looked at, {way}, {8 * elements // 1024} KiB" if elements else "nobody looks"
    return Contestant(what, prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One table a way."""
    comm: Any = group.comm
    if comm is None or group.size % 2:
        raise ValueError("port needs an even number of processes; give --ranks 2")
    problem = Problem(comm, options)
    try:
        ways = [way for way in WAYS if way != "host" or not options.link]
        one_host = [] if options.link else ["resize", "observe"]
        for way in options.way or [*ways, "connect", *one_host]:
            makers, baseline, limit = PEERS.get(way, ([], (), ()))
            question = Question(
                {
                    "way": way,
                    "link": options.link or "this machine",
                    "mebibytes": options.mebibytes,
                    "processes": group.size,
                },
                baseline=baseline,
                limit=limit,
                bytes=0 if way in ("connect", "observe") else 8 * problem.elements * problem.half,
            )
            if way == "resize":
                own = [resizing(problem)]
            elif way in PEERS:
                own = [by_port(problem, way)]
            elif way == "connect":
                own = [meeting(problem, w) for w in ways]
            else:
                looks = {(w, min(128 * kibibytes, problem.elements)) for w, kibibytes in LOOKS}
                own = [observed(problem, *look) for look in sorted(looks)]
            yield Match(question, [make(problem) for make in makers] + own)
    finally:
        problem.end()


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: the arrays are long."""
    return ()
