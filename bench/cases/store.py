# SPDX-License-Identifier: BSD-3-Clause
"""An array to files and back, beside raw pwrite and pread of the same bytes, and other libraries;
files rechunked, beside Dask; one process's part of the plan of a large job.

All write and read the page cache: this measures processes, not disks.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import store_peers
from ..group import Group
from ..harness import Contestant, Step, UnavailableError, WrongResultError
from ..record import Question
from ..registry import Match, Native
from ..subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI

RANKS = 2


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--size --chunk --shard --codec --layout --folder``."""
    parser.add_argument(
        "--size", type=int, default=4096, metavar="N", help="float64 N×N (default: 4096)"
    )
    parser.add_argument("--chunk", type=int, default=512, metavar="N", help="N×N (default: 512)")
    parser.add_argument("--shard", type=int, default=2048, metavar="N", help="N×N (default: 2048)")
    parser.add_argument("--codec", default="none", choices=("none", "zstd"), help="(default: none)")
    parser.add_argument(
        "--layout",
        default="(BLOCK, *)",
        metavar="TEXT",
        help="of the array that is written (default: (BLOCK, *), by which each process writes its "
        "own elements; by (CYCLIC, *) all cross)",
    )
    parser.add_argument(
        "--folder", metavar="PATH", help="where files go (default: a temporary one)"
    )


def validate(options: argparse.Namespace) -> None:
    """Shards are whole chunks; the folder is there."""
    if min(options.size, options.chunk, options.shard) < 1 or options.shard % options.chunk:
        raise ValueError(
            f"--size {options.size} --chunk {options.chunk} --shard {options.shard}: give 1 or "
            "more, and a shard that is a multiple of a chunk"
        )
    if options.folder and not Path(options.folder).is_dir():
        raise ValueError(f"--folder {options.folder}: there is no such folder")


class Problem:
    """A float64 array, and the files of it."""

    def __init__(self, comm: MPI.Intracomm, options: argparse.Namespace) -> None:
        self.comm, self.options = comm, options
        hk, n = hocket(), options.size
        self.rows = hk.Layout((n, n), options.layout, comm.size)
        self.columns = hk.Layout((n, n), "(*, BLOCK)", comm.size)
        made = tempfile.mkdtemp(dir=options.folder) if comm.rank == 0 else None
        self.folder = Path(comm.bcast(made))
        rng = np.random.default_rng(comm.rank)  # some digits, so that codecs have work
        self.a = hk.empty(self.rows, comm=comm)
        self.a.local[...] = rng.integers(0, 1000, self.a.local.shape)
        self.b = hk.empty(self.columns, comm=comm)
        self.wanted = hk.redistribute(self.a, self.columns)
        self.stores: dict[str, Any] = {}
        self.writing = True

    def end(self) -> None:
        for store in self.stores.values():
            store.close()
        self.comm.barrier()
        if self.comm.rank == 0:
            shutil.rmtree(self.folder)

    def require_whole_shards(self) -> None:
        """For libraries whose processes may not share a shard."""
        n, shard, processes = self.options.size, self.options.shard, self.comm.size
        if shard * processes > n or n % (shard * processes):
            raise UnavailableError("rows of a process are no whole shards")

    def same(self) -> None:
        """Compares the elements read with those written."""
        if not np.array_equal(self.b.local, self.wanted.local):
            raise WrongResultError("what was read is not what was written")


def raw(problem: Problem, writing: bool) -> Contestant:
    """The limit: as many bytes from each process's memory to a file of its own, or back."""

    def prepare() -> Step:
        path = problem.folder / f"raw{problem.comm.rank}"
        data = np.ascontiguousarray(problem.a.local)
        path.write_bytes(data.tobytes())
        view = memoryview(data.data).cast("B")

        def move() -> None:
            # A new file each time, as the others write.
            if writing:
                path.unlink()
            file = os.open(path, os.O_RDWR | os.O_CREAT)
            at = 0
            while at < len(view):
                at += (
                    os.pwrite(file, view[at:], at) if writing else os.preadv(file, [view[at:]], at)
                )
            os.close(file)

        return Step(move, lambda: None, lambda: None)

    return Contestant("raw pwrite" if writing else "raw pread", prepare)


def raw_rows(problem: Problem) -> Contestant:
    """As many bytes from a file straight to where the elements of chunks belong: in rows of a
    chunk's length, as many of them as one call of the system takes."""

    def prepare() -> Step:
        to, chunk, itemsize = problem.b.local, problem.options.chunk, problem.b.dtype.itemsize
        if any(extent % chunk for extent in to.shape):
            raise UnavailableError(f"a process's part {to.shape} is no whole chunks of {chunk}")
        path = problem.folder / f"rows{problem.comm.rank}"
        path.write_bytes(problem.a.local.tobytes()[: to.nbytes])
        rows, columns = (np.arange(extent // chunk) for extent in to.shape)
        within = np.arange(chunk) * to.strides[0]
        first = to.__array_interface__["data"][0]
        starts = np.add.outer(rows * chunk * to.strides[0], columns * chunk * itemsize)
        runs = np.empty((to.size // chunk, 2), np.uintp)  # of struct iovec
        runs[:, 0] = first + np.add.outer(starts, within).ravel()
        runs[:, 1] = chunk * itemsize
        library = ctypes.CDLL(None, use_errno=True)
        library.preadv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64]
        library.preadv.restype = ctypes.c_ssize_t
        most = os.sysconf("SC_IOV_MAX")
        parts = [runs[first : first + most] for first in range(0, len(runs), most)]

        def move() -> None:
            file = os.open(path, os.O_RDONLY)
            at = 0
            for part in parts:
                got = library.preadv(file, part.ctypes.data, len(part), at)
                if got != len(part) * chunk * itemsize:
                    raise WrongResultError(f"preadv failed: {os.strerror(ctypes.get_errno())}")
                at += got
            os.close(file)

        return Step(move, lambda: None, lambda: None)

    return Contestant("raw preadv, rows", prepare)


def _store(problem: Problem, file: str) -> Any:
    options = problem.options
    if file not in problem.stores:
        s = hocket().open_store(problem.folder / file, "w", comm=problem.comm)
        problem.stores[file] = s
        extents = {"chunks": [options.chunk] * 2}
        codec = options.codec
        if file.endswith(".h5"):
            codec = "none" if codec == "none" else "gzip"
        else:
            extents["shards"] = [options.shard] * 2
        s.create("t", problem.rows.shape, "float64", codec=codec, **extents)
    return problem.stores[file]


def ours(problem: Problem, name: str, file: str) -> Contestant:
    """The array to a store, and from there by columns. Counts the operations of one call."""

    def prepare() -> Step:
        s = _store(problem, file)
        s.write("t", problem.a)
        writing = problem.writing

        def read() -> None:
            s.read("t", problem.columns, out=problem.b)

        def check() -> None:
            if writing:
                read()
            problem.same()

        run = (lambda: s.write("t", problem.a)) if writing else read

        def counts() -> dict[str, Any]:
            from hocket import _mpi

            before = _mpi.store_counts()
            run()
            mine = {key: n - before[key] for key, n in _mpi.store_counts().items()}
            every = problem.comm.allgather(mine)
            totals: dict[str, Any] = {key: sum(one[key] for one in every) for key in mine}
            at = problem.folder / file
            files = [at] if at.is_file() else [each for each in at.rglob("*") if each.is_file()]
            totals["files"] = len(files)
            totals["bytes_stored"] = sum(each.stat().st_size for each in files)
            return totals

        return Step(run, check, lambda: problem.b.local.fill(np.nan), extras=counts)

    return Contestant(name, prepare)


def peer(problem: Problem, name: str) -> Contestant:
    """Another library."""
    return Contestant(name, lambda: store_peers.PEERS[name](problem))


def planner(comm: MPI.Intracomm, dist: str, writing: bool) -> Contestant:
    """One process's part of a call of 10⁶ processes and 10⁶ shards, each 16 rows of float64."""
    million, rows, columns = 10**6, 16, 1024

    def prepare() -> Step:
        from hocket import _mpi

        layout = hocket().Layout((rows * million, columns), dist, million)
        rank = 777777 + comm.rank

        def plan() -> tuple[int, int]:
            return _mpi.plan_store(
                layout._native, [rows, columns // 2], [rows, columns], rank, writing
            )

        def check() -> None:
            if plan() != (rows * columns, rows * columns):
                raise WrongResultError(f"process {rank} sends and receives {plan()} elements")

        return Step(plan, check, lambda: None)

    return Contestant(f"{'write' if writing else 'read'} {dist}", prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """Writing, then reading."""
    comm = group.comm
    if comm is None:
        raise ValueError("store needs MPI; leave --ranks at 1 or more")
    problem = Problem(comm, options)
    try:
        for writing in (True, False):
            problem.writing = writing
            question = Question(
                {
                    "direction": "write" if writing else "read",
                    "size": options.size,
                    "chunk": options.chunk,
                    "shard": options.shard,
                    "codec": options.codec,
                    "layout": options.layout,
                    "processes": group.size,
                },
                baseline=tuple(store_peers.PEERS),
                limit=("raw pwrite" if writing else "raw pread",),
                bytes=8 * options.size * options.size,
            )
            mine = [ours(problem, "hocket", "s"), ours(problem, "hocket .h5", "s.h5")]
            peers = [peer(problem, name) for name in store_peers.PEERS]
            limits = (
                [raw(problem, writing)] if writing else [raw(problem, False), raw_rows(problem)]
            )
            yield Match(question, [*limits, *mine, *peers])
        facts = {"direction": "rechunk", "size": options.size, "processes": group.size}
        question = Question(
            facts, baseline=("Dask p2p",), bytes=2 * 8 * options.size * options.size
        )
        yield Match(question, store_peers.rechunkers(problem))
        facts = {"direction": "plan", "processes": 10**6, "shards": 10**6}
        dists = ("(BLOCK, *)", "(CYCLIC, *)")
        plans = [planner(comm, dist, writing) for dist in dists for writing in (True, False)]
        yield Match(Question(facts), plans)
    finally:
        problem.end()


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: a call takes milliseconds."""
    return ()
