# SPDX-License-Identifier: BSD-3-Clause
"""An array to files and back, beside raw pwrite and pread of the same bytes, and zarr-python.

All write and read the page cache: this measures processes, not disks.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

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
        self.store: Any = None

    def end(self) -> None:
        if self.store is not None:
            self.store.close()
        self.comm.barrier()
        if self.comm.rank == 0:
            shutil.rmtree(self.folder)

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


def _store(problem: Problem) -> Any:
    options = problem.options
    if problem.store is None:
        problem.store = s = hocket().open_store(problem.folder / "s", "w", comm=problem.comm)
        extents = {"chunks": [options.chunk] * 2, "shards": [options.shard] * 2}
        s.create("t", problem.rows.shape, "float64", codec=options.codec, **extents)
    return problem.store


def ours(problem: Problem, writing: bool) -> Contestant:
    """The array to shards, and from there by columns."""

    def prepare() -> Step:
        s = _store(problem)
        s.write("t", problem.a)

        def read() -> None:
            s.read("t", problem.columns, out=problem.b)

        def check() -> None:
            if writing:
                read()
            problem.same()

        run = (lambda: s.write("t", problem.a)) if writing else read
        return Step(run, check, lambda: problem.b.local.fill(np.nan))

    return Contestant("hocket", prepare)


def zarr_python(problem: Problem, writing: bool) -> Contestant:
    """Each process its own whole shards: the most that its users may do without losing data."""

    def prepare() -> Step:
        try:
            zarr = importlib.import_module("zarr")
        except ImportError as error:
            raise UnavailableError(f"zarr does not import: {error}") from error
        options, comm = problem.options, problem.comm
        if problem.rows.dist != "(BLOCK, *)":
            raise UnavailableError(
                f"rows of {problem.rows.dist} lie in shards of several processes"
            )
        rows = problem.rows.slices(comm.rank)[0]
        if options.shard * comm.size > options.size or options.size % (options.shard * comm.size):
            raise UnavailableError("rows of a process are no whole shards")
        path = str(problem.folder / "zarr")
        if comm.rank == 0:
            codec = None if options.codec == "none" else "auto"
            zarr.create_array(
                path, shape=problem.rows.shape, chunks=[options.chunk] * 2,
                shards=[options.shard] * 2, dtype="float64", compressors=codec, overwrite=True,
            )  # fmt: skip
        comm.barrier()
        stored = zarr.open_array(path, mode="r+")
        stored[rows] = problem.a.local
        comm.barrier()
        columns = problem.columns.slices(comm.rank)[1]

        def write() -> None:
            stored[rows] = problem.a.local

        def read() -> None:
            problem.b.local[...] = stored[:, columns]

        def check() -> None:
            if writing:
                comm.barrier()
                read()
            problem.same()

        run = write if writing else read
        return Step(run, check, lambda: problem.b.local.fill(np.nan))

    return Contestant("zarr-python", prepare)


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """Writing, then reading."""
    comm = group.comm
    if comm is None:
        raise ValueError("store needs MPI; leave --ranks at 1 or more")
    makers: list[Callable[[Problem, bool], Contestant]] = [raw, ours, zarr_python]
    problem = Problem(comm, options)
    try:
        for writing in (True, False):
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
                baseline=("zarr-python",),
                limit=("raw pwrite" if writing else "raw pread",),
                bytes=8 * options.size * options.size,
            )
            yield Match(question, [make(problem, writing) for make in makers])
    finally:
        problem.end()


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: a call takes milliseconds."""
    return ()
