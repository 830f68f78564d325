# SPDX-License-Identifier: BSD-3-Clause
"""Contestants of operations on whole arrays: hocket, NumPy on the local parts, NumPy on one process
that has everything, mpi4py by hand, and Dask's threads."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .harness import Contestant, Step, UnavailableError, WrongResultError
from .subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI

Run = Callable[[], Any]


@dataclass(frozen=True)
class Problem:
    """Square matrices by rows over all processes."""

    comm: MPI.Intracomm
    side: int

    def layout(self) -> Any:
        """By rows, in even blocks."""
        return hocket().Layout((self.side, self.side), "(BALANCED, *)", self.comm.size)

    def rows(self) -> slice:
        """This process's."""
        held = self.layout().global_indices(self.comm.rank)[0]
        return slice(int(held[0]), int(held[-1]) + 1) if len(held) else slice(0, 0)

    def whole(self, salt: int, dtype: str) -> Any:
        """The same numbers on each process."""
        numbers = np.random.default_rng(salt).normal(size=(self.side, self.side))
        if dtype[0] == "i":
            numbers *= 1000
        return (numbers + 1j * numbers.T if dtype[0] == "c" else numbers).astype(dtype)


@dataclass(frozen=True)
class Operation:
    """The operation: in NumPy on two matrices and one for the result, and with mpi4py on local
    parts."""

    name: str
    compute: Callable[[Any, Any, Any], Any]
    by_hand: Callable[[MPI.Intracomm, Any, Any, Any], Any] | None = None
    near: float = 0.0  #: relative tolerance
    by_dask: Callable[[Any, Any, Any], Any] | None = None  #: of dask.array and two of its arrays
    dtype: str = "float64"


def add(a: Any, b: Any, out: Any) -> Any:
    return np.add(a, b, out=out)


def chain(a: Any, b: Any, out: Any) -> Any:
    np.multiply(a, b, out=out)
    np.add(out, a, out=out)
    return np.sqrt(np.abs(out, out=out), out=out)


def _sum_by_hand(comm: Any, a: Any, b: Any, out: Any) -> Any:
    return comm.allreduce(a.sum())


def _max_by_hand(comm: Any, a: Any, b: Any, out: Any) -> Any:
    from mpi4py import MPI

    return comm.allreduce(a.max(), op=MPI.MAX)


def _columns_by_hand(comm: Any, a: Any, b: Any, out: Any) -> Any:
    total = a.sum(axis=0)
    result = np.empty_like(total)
    comm.Allreduce(total, result)
    return result


def _roll_by_hand(comm: Any, a: Any, b: Any, out: Any) -> Any:
    out[1:] = a[:-1]
    size, rank = comm.size, comm.rank
    comm.Sendrecv(a[-1].copy(), (rank + 1) % size, 0, out[0], (rank - 1) % size, 0)
    return out


def _matmul_by_hand(comm: Any, a: Any, b: Any, out: Any) -> Any:
    parts = comm.allgather(b.shape[0])
    whole = np.empty((sum(parts), b.shape[1]))
    comm.Allgatherv(b, [whole, [rows * b.shape[1] for rows in parts]])
    return np.matmul(a, whole, out=out)


def _fftn_by_dask(da: Any, a: Any, b: Any) -> Any:
    """Along the axis that every chunk has whole, then along the other."""
    lines = da.fft.fft(a, axis=1)
    return da.fft.fft(lines.rechunk((-1, a.chunks[0])), axis=0)


OPERATIONS = (
    Operation(
        "add, out=", add, lambda comm, a, b, out: add(a, b, out), by_dask=lambda da, a, b: a + b
    ),
    Operation(
        "chain of four, out=",
        chain,
        lambda comm, a, b, out: chain(a, b, out),
        by_dask=lambda da, a, b: da.sqrt(abs(a * b + a)),
    ),
    Operation(
        "sin",
        lambda a, b, out: np.sin(a),
        lambda comm, a, b, out: np.sin(a),
        by_dask=lambda da, a, b: da.sin(a),
    ),
    Operation("sum", lambda a, b, out: np.sum(a), _sum_by_hand, 1e-9, lambda da, a, b: a.sum()),
    Operation(
        "sum of columns",
        lambda a, b, out: np.sum(a, axis=0),
        _columns_by_hand,
        1e-9,
        lambda da, a, b: a.sum(axis=0),
    ),
    *(
        Operation(
            f"sum of columns, {dtype}",
            lambda a, b, out: np.sum(a, axis=0),
            None,
            1e-4,
            lambda da, a, b: a.sum(axis=0),
            dtype,
        )
        for dtype in ("float32", "complex64", "int64")
    ),
    Operation(
        "sum, int64",
        lambda a, b, out: np.sum(a),
        _sum_by_hand,
        by_dask=lambda da, a, b: a.sum(),
        dtype="int64",
    ),
    Operation(
        "sum of a[:, ::2]",
        lambda a, b, out: np.sum(a[:, ::2]),
        near=1e-9,
        by_dask=lambda da, a, b: a[:, ::2].sum(),
    ),
    Operation(
        "vdot",
        lambda a, b, out: np.vdot(a, b),
        near=1e-9,
        by_dask=lambda da, a, b: da.vdot(a, b),
    ),
    Operation(
        "norm",
        lambda a, b, out: np.linalg.norm(a),
        near=1e-9,
        by_dask=lambda da, a, b: da.linalg.norm(a),
    ),
    Operation("max", lambda a, b, out: np.max(a), _max_by_hand, by_dask=lambda da, a, b: a.max()),
    Operation("argmax", lambda a, b, out: np.argmax(a), by_dask=lambda da, a, b: a.argmax()),
    Operation(
        "count_nonzero",
        lambda a, b, out: np.count_nonzero(a),
        by_dask=lambda da, a, b: da.count_nonzero(a),
    ),
    Operation(
        "all, bool", lambda a, b, out: np.all(a), by_dask=lambda da, a, b: a.all(), dtype="bool"
    ),
    Operation(
        "astype float32",
        lambda a, b, out: a.astype(np.float32),
        lambda comm, a, b, out: a.astype(np.float32),
        by_dask=lambda da, a, b: a.astype(np.float32),
    ),
    Operation(
        "variance of columns",
        lambda a, b, out: np.var(a, axis=0),
        None,
        1e-9,
        lambda da, a, b: a.var(axis=0),
    ),
    Operation(
        "roll",
        lambda a, b, out: np.roll(a, 1, 0),
        _roll_by_hand,
        by_dask=lambda da, a, b: da.roll(a, 1, 0),
    ),
    Operation(
        "matmul",
        lambda a, b, out: np.matmul(a, b),
        _matmul_by_hand,
        1e-9,
        lambda da, a, b: da.matmul(a, b),
    ),
    Operation("sort of all", lambda a, b, out: np.sort(np.ravel(a))),
    Operation("fftn", lambda a, b, out: np.fft.fftn(a), None, 1e-9, _fftn_by_dask),
)


def _step(problem: Problem, operation: Operation, run: Run, part: Callable[[Any], Any]) -> Step:
    """`part`: this process's part of the whole result."""
    found: list[Any] = []
    a, b = (problem.whole(salt, operation.dtype) for salt in (1, 2))
    expected = part(operation.compute(a, b, np.empty_like(a)))

    def check() -> None:
        mine = found[-1].local if isinstance(found[-1], hocket().Array) else found[-1]
        near = operation.near * max(1.0, float(np.max(np.abs(expected), initial=0)))
        if expected is not None and not np.allclose(
            np.asarray(mine), expected, rtol=near, atol=near * 100
        ):
            raise WrongResultError(f"{operation.name} is not NumPy's result")

    def call() -> None:
        found[:] = [run()]

    return Step(call, check, found.clear)


def by_hocket(problem: Problem, operation: Operation) -> Contestant:
    """Distributed arrays."""

    def prepare() -> Step:
        hk, rows = hocket(), problem.rows()
        arrays = [hk.empty(problem.layout(), operation.dtype, problem.comm) for _ in range(3)]
        for salt, array in enumerate(arrays[:2], 1):
            array.local[...] = problem.whole(salt, operation.dtype)[rows]

        def part(whole: Any) -> Any:
            if np.ndim(whole) == 2:
                return whole[rows]
            if operation.name == "sort of all":
                return np.array_split(whole, problem.comm.size)[problem.comm.rank]
            return whole

        return _step(problem, operation, lambda: operation.compute(*arrays), part)

    return Contestant("hocket", prepare)


def by_parts(problem: Problem, operation: Operation) -> Contestant:
    """NumPy on each process's part without communication: the limit of operations that need
    none."""

    def prepare() -> Step:
        rows = problem.rows()
        if operation.name in ("matmul", "fftn", "sort of all"):
            raise UnavailableError("parts alone have no such result")
        a, b = (problem.whole(salt, operation.dtype)[rows].copy() for salt in (1, 2))
        out = np.empty_like(a)
        local = operation.compute(a, b, out.copy())
        return _step(problem, operation, lambda: operation.compute(a, b, out), lambda _: local)

    return Contestant("NumPy on the parts", prepare)


def by_one(problem: Problem, operation: Operation) -> Contestant:
    """NumPy on one process, while the others wait."""

    def prepare() -> Step:
        a, b = (problem.whole(salt, operation.dtype) for salt in (1, 2))
        out = np.empty_like(a)
        alone = problem.comm.rank == 0
        run: Run = (lambda: operation.compute(a, b, out)) if alone else (lambda: np.float64(0))
        return _step(problem, operation, run, lambda whole: whole if alone else np.float64(0))

    return Contestant("NumPy on one process", prepare)


def by_mpi(problem: Problem, operation: Operation) -> Contestant:
    """mpi4py by hand."""

    def prepare() -> Step:
        by_hand = operation.by_hand
        if by_hand is None:
            raise UnavailableError("nobody writes that in a few lines")
        rows = problem.rows()
        a, b = (problem.whole(salt, operation.dtype)[rows].copy() for salt in (1, 2))
        out = np.empty_like(a)

        def part(whole: Any) -> Any:
            return whole[rows] if np.ndim(whole) == 2 else whole

        return _step(problem, operation, lambda: by_hand(problem.comm, a, b, out), part)

    return Contestant("mpi4py by hand", prepare)


def by_dask(problem: Problem, operation: Operation) -> Contestant:
    """Dask's threads in process 0, one for each process and free to run on all their cores, on as
    many chunks of rows. The other processes sleep meanwhile. The result remains chunks."""

    def prepare() -> Step:
        try:
            da = importlib.import_module("dask.array")
        except ImportError:
            raise UnavailableError("Dask is not installed: pip install 'dask[array]'") from None
        compute = operation.by_dask
        if compute is None:
            raise UnavailableError("Dask has no such function")
        comm = problem.comm
        cores = set().union(*comm.allgather(os.sched_getaffinity(0)))
        alone = comm.rank == 0
        pool = ThreadPoolExecutor(comm.size, initializer=lambda: os.sched_setaffinity(0, cores))
        chunks = (-(-problem.side // comm.size), -1)
        wholes = (problem.whole(salt, operation.dtype) for salt in (1, 2))
        a, b = (da.from_array(each, chunks) for each in wholes)
        a, b = (each.persist(scheduler="threads", pool=pool) for each in (a, b))

        def run() -> Any:
            found: Any = np.float64(0)
            if alone:
                found = compute(da, a, b).persist(scheduler="threads", pool=pool)
            others = comm.Ibarrier()
            while not others.Test():
                time.sleep(1e-4)
            return found

        step = _step(problem, operation, run, lambda whole: whole if alone else np.float64(0))
        return replace(step, close=pool.shutdown)

    return Contestant("Dask's threads", prepare)


CONTESTANTS: Sequence[Callable[[Problem, Operation], Contestant]] = (
    by_hocket,
    by_parts,
    by_one,
    by_mpi,
    by_dask,
)
