# SPDX-License-Identifier: BSD-3-Clause
"""Contestants of a distributed array permuted: within its own memory, and with a second array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .harness import Contestant, Step, UnavailableError, WrongResultError
from .subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class Remap:
    """A float64 array of ``shape`` over all processes, permuted by ``axes``; its text stays."""

    comm: MPI.Intracomm
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dist: str
    procs: tuple[int, ...]
    threads: int

    def layout(self) -> Any:
        """Before."""
        return hocket().Layout(self.shape, self.dist, self.procs)

    def remapped(self) -> Any:
        """After."""
        return hocket().remap_layout(self.layout(), self.axes)

    def places(self, layout: Any, steps: Sequence[int]) -> Any:
        """A number for each element that this process holds: its index times the steps."""
        total: Any = np.float64(0)
        for indices, step in zip(np.ix_(*layout.global_indices(self.comm.rank)), steps):
            total = total + indices * float(step)
        return total

    def fill(self, local: Any) -> None:
        """Every element its row-major place."""
        local[...] = self.places(self.layout(), _steps(self.shape))

    def check(self, local: Any) -> None:
        """Raises `WrongResultError` unless `local` is this process's part of the result."""
        steps = _steps(self.shape)
        wanted = self.places(self.remapped(), [steps[axis] for axis in self.axes])
        if not np.array_equal(local, np.broadcast_to(wanted, local.shape)):
            raise WrongResultError("elements are not where the permutation puts them")


def _steps(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[d + 1 :], dtype=np.int64)) for d in range(len(shape))]


def flat_copy(problem: Remap) -> Contestant:
    """The limit: this process's part, copied once."""

    def prepare() -> Step:
        source = np.zeros(problem.layout().local_elements(problem.comm.rank))
        target = np.zeros_like(source)

        def same() -> None:
            if not np.array_equal(source, target):
                raise WrongResultError("the copy differs from what was copied")

        return Step(lambda: np.copyto(target, source), same, lambda: target.fill(np.nan))

    return Contestant("flat copy", prepare)


def _in_place(problem: Remap, wrapped: bool) -> Step:
    hk = hocket()
    layout = problem.layout()
    rank = problem.comm.rank
    if wrapped:
        elements = hk.remap_room(layout, problem.axes, rank)
        memory = np.zeros(elements)
        local = memory[: layout.local_elements(rank)].reshape(layout.local_shape(rank))
        a = hk.wrap(local, layout, problem.comm, room=memory)
    else:
        a = hk.empty(layout, comm=problem.comm)
    after: list[Any] = []

    def run() -> None:
        after[:] = [hk.remap_inplace(a, problem.axes, threads=problem.threads)]

    return Step(run, lambda: problem.check(after[0].local), lambda: problem.fill(a.local))


def in_place(problem: Remap) -> Contestant:
    """`hk.remap_inplace` of an array from `hk.empty`."""
    return Contestant("hocket in place, hk.empty", lambda: _in_place(problem, False))


def in_place_wrapped(problem: Remap) -> Contestant:
    """The same of the user's own memory: chunks go by messages."""
    return Contestant("hocket in place, hk.wrap", lambda: _in_place(problem, True))


def redistributed(problem: Remap) -> Contestant:
    """A second array, and `hk.redistribute` with ``axes=``."""

    def prepare() -> Step:
        hk = hocket()
        a = hk.empty(problem.layout(), comm=problem.comm)
        b = hk.empty(problem.remapped(), comm=problem.comm)

        def run() -> None:
            hk.redistribute(a, b.layout, axes=problem.axes, out=b)

        def spoil() -> None:
            problem.fill(a.local)
            b.local.fill(np.nan)

        return Step(run, lambda: problem.check(b.local), spoil)

    return Contestant("hocket, two arrays, redistribute", prepare)


def paper_two_arrays(problem: Remap) -> Contestant:
    """G1, G2 and G3 with a second array in each: `Alltoall` between two local permutations."""

    def prepare() -> Step:
        hocket()
        import hocket.kernels as kernels

        count, rank = problem.comm.size, problem.comm.rank
        n3, n2, n1 = problem.shape if len(problem.shape) == 3 else (1, 1, 1)
        fits = (
            problem.axes == (1, 0, 2)
            and problem.layout() == type(problem.layout())(problem.shape, "(BLOCK, *, *)", count)
            and n3 % count == 0
            and n2 % count == 0
        )
        if not fits:
            raise UnavailableError(
                "it is written for (N3, N2, N1) (BLOCK, *, *) by (1, 0, 2) and even blocks"
            )
        rows, columns = n3 // count, n2 // count
        a, b = np.zeros((rows, n2, n1)), np.zeros((n2, rows, n1))
        options: dict[str, Any] = {"threads": problem.threads}

        def run() -> None:
            kernels.permute_two_arrays(a, (1, 0, 2), b, **options)
            _alltoall(problem.comm, b, a)
            came = a.reshape(count, columns, rows * n1)
            kernels.permute_two_arrays(
                came, (1, 0, 2), b.reshape(columns, count, rows * n1), copy_back=True, **options
            )

        def right() -> None:
            assert rank < count
            problem.check(a.reshape(columns, n3, n1))

        return Step(run, right, lambda: problem.fill(a))

    return Contestant("two arrays, Alltoall", prepare)


def _alltoall(comm: MPI.Intracomm, source: Any, target: Any) -> None:
    if comm.size == 1:
        np.copyto(target.reshape(-1), source.reshape(-1))
        return
    request = comm.Ialltoall(source, target)
    while not request.Test():
        pass


CONTESTANTS: tuple[Callable[[Remap], Contestant], ...] = (
    flat_copy,
    in_place,
    in_place_wrapped,
    redistributed,
    paper_two_arrays,
)
