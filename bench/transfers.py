# SPDX-License-Identifier: BSD-3-Clause
"""hocket as a contestant: the same redistribution with arrays in hocket's memory or the user's,
once or as persistent requests, on the same processes or between two tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np

from .formats import Lay
from .harness import Contestant, Step, UnavailableError
from .redistribution import Problem, check
from .subject import hocket

SIX_STEPS = "six steps of one transfer (mean, process 0)"


def name_of(owned: bool, persistent: bool) -> str:
    """Its name in tables."""
    return "hocket, " + ("hk.empty" if owned else "hk.wrap") + (", persistent" * persistent)


def contestants(problem: Problem) -> list[Contestant]:
    """Wrapped or not, persistent or not."""
    return [
        contestant(problem, owned, persistent)
        for persistent in (False, True)
        for owned in (False, True)
    ]


def layout_of(hk: Any, lay: Lay) -> Any:
    """hocket's layout for a `Lay`, of the kind that it names."""
    plain = hk.Layout(lay.shape, lay.text, lay.procs or 1)
    if lay.kind == "boxes":
        return hk.Layout.boxes(lay.shape, plain.to_boxes())
    if lay.kind == "elements":
        held = [np.ix_(*plain.global_indices(rank)) for rank in range(plain.size)]
        return hk.Layout.elements(
            lay.shape, [np.ravel_multi_index(own, lay.shape).ravel() for own in held]
        )
    return plain


class _Ends:
    """The world of tasks, and this process's array of either side (None: it has none)."""

    def __init__(self, problem: Problem, owned: bool) -> None:
        self.hk = hk = hocket()
        source, target = (layout_of(hk, each) for each in (problem.source_lay, problem.target_lay))
        self.target = target
        counts = {"all": problem.comm.size}
        if problem.disjoint:
            counts = {"from": problem.source_lay.size, "to": problem.target_lay.size}
        self.world = hk.tasks(counts, comm=problem.comm)
        self.sends = self.world.name != "to"
        self.receives = self.world.name != "from"
        inside = self.world.comm
        make = self._owned if owned else self._wrapped
        self.a = make(source, problem.source, inside) if self.sends else None
        self.b = make(target, problem.target, inside) if self.receives else None

    def _owned(self, layout: Any, local: Any, comm: Any) -> Any:
        array = self.hk.empty(layout, np.float64, comm=comm)
        array.local[...] = local.reshape(array.local.shape)  # elements have one dimension
        return array

    def _wrapped(self, layout: Any, local: Any, comm: Any) -> Any:
        return self.hk.wrap(local.reshape(-1) if layout.dist == "ELEMENTS" else local, layout, comm)

    def once(self, strategy: str) -> Callable[[], object]:
        """A step with one-shot calls."""
        world, a, b = self.world, self.a, self.b
        if world.name == "from":
            return lambda: world.send(a, "to", strategy=strategy)
        if world.name == "to":
            return lambda: world.recv(b, "from", strategy=strategy)
        return lambda: self.hk.redistribute(a, self.target, out=b)

    def requests(self, strategy: str) -> list[Any]:
        """A step with persistent requests."""
        made = []
        if self.sends:
            to = "to" if self.world.name == "from" else "all"
            made.append(self.world.send_init(self.a, to, strategy=strategy))
        if self.receives:
            source = "from" if self.world.name == "to" else "all"
            made.append(self.world.recv_init(self.b, source, strategy=strategy))
        return made


class _Profiled:
    """Calls of a step, and the six steps' mean seconds in one of them on this process."""

    def __init__(self, world: Any, run: Callable[[], object], transfers: int) -> None:
        self._world, self._run, self._transfers = world, run, transfers
        self._calls, self._before = 0, dict[str, float]()

    def __call__(self) -> None:
        self._run()
        self._calls += 1
        if self._calls == 1:  # the first call sets up connections: the profile begins after it
            self._before.update(self._world.profile())

    def steps(self) -> Mapping[str, Any]:
        """For `Step.extras`."""
        transfers = max(self._calls - 1, 1) * self._transfers
        return {
            SIX_STEPS: {
                word: (float(spent) - self._before.get(word, 0.0)) / transfers
                for word, spent in self._world.profile().items()
            }
        }


def _all(requests: Sequence[Any]) -> None:
    for request in requests:
        request.start()
    for request in requests:
        request.wait()


def _free(requests: Sequence[Any]) -> None:
    for request in requests:
        request.free()


def contestant(
    problem: Problem,
    owned: bool,
    persistent: bool,
    strategy: str = "auto",
    name: str | None = None,
) -> Contestant:
    """One of them; ``strategy`` is for disjoint processes."""

    def prepare() -> Step:
        ends = _Ends(problem, owned)
        requests = ends.requests(strategy) if persistent else []
        run = (lambda: _all(requests)) if persistent else ends.once(strategy)
        into = problem.target if ends.b is None else ends.b.local.reshape(problem.target.shape)
        return Step(
            run,
            lambda: problem.verify(into),
            lambda: into.fill(np.nan),
            lambda: _free(requests),
        )

    return Contestant(name or name_of(owned, persistent), prepare)


def planned_alltoallw(problem: Problem) -> Contestant:
    """`MPI_Alltoallw` with the datatypes of hocket's plan, made beforehand."""

    def prepare() -> Step:
        if problem.disjoint:
            raise UnavailableError("the processes of a plan's datatypes are those of both layouts")
        hk = hocket()
        comm = problem.comm.Dup()
        plan = hk.plan(*(layout_of(hk, each) for each in (problem.source_lay, problem.target_lay)))
        given = plan.alltoallw(comm.rank, comm.size)
        out, into = [problem.source, *given[:3]], [problem.target, *given[3:]]

        def close() -> None:
            comm.Free()
            for each in given[2] + given[5]:
                each.Free()

        return problem.step(lambda: comm.Alltoallw(out, into), close)

    return Contestant("Alltoallw, the plan's types", prepare)


def there_and_back(problem: Problem, persistent: bool, name: str) -> Contestant:
    """Two disjoint tasks send each other an array, one after the other: a ping-pong, with arrays
    of hocket's memory. Its extras: the six steps of one way."""

    def prepare() -> Step:
        hk = hocket()
        counts = {"ping": problem.source_lay.size, "pong": problem.target_lay.size}
        world = hk.tasks(counts, comm=problem.comm)
        first = world.name == "ping"
        other = "pong" if first else "ping"
        source, target = (
            hk.Layout(problem.shape, side.text, world.comm.size)
            for side in (problem.source_lay, problem.target_lay)
        )
        places = [axis.astype(np.float64) for axis in source.global_indices(world.comm.rank)]
        a = hk.empty(source, np.float64, comm=world.comm)
        a.local[...] = places[0][:, None] * problem.shape[1] + places[1]
        b = hk.empty(target, np.float64, comm=world.comm)
        sending = receiving = None
        if persistent:
            sending, receiving = world.send_init(a, other), world.recv_init(b, other)

        def send() -> None:
            if sending is None:
                world.send(a, other)
            else:
                _all([sending])

        def recv() -> None:
            if receiving is None:
                world.recv(b, other)
            else:
                _all([receiving])

        def run() -> None:
            for verb in (send, recv) if first else (recv, send):
                verb()

        profiled = _Profiled(world, run, transfers=2)
        return Step(
            profiled,
            lambda: check(b.local, target.global_indices(world.comm.rank), problem.shape),
            lambda: b.local.fill(np.nan),
            lambda: _free([each for each in (sending, receiving) if each is not None]),
            profiled.steps,
        )

    return Contestant(name, prepare)
