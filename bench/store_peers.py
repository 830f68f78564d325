# SPDX-License-Identifier: BSD-3-Clause
"""Other libraries that write and read the array of `hocket bench store`, at their best settings,
and Dask's rechunk on the same files."""

from __future__ import annotations

import importlib
import logging
import math
import shutil
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .harness import Contestant, Step, UnavailableError, WrongResultError
from .subject import hocket


def module(name: str) -> Any:
    """A library, if it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UnavailableError(f"{name} does not import: {error}") from error


def wait_asleep(comm: Any) -> None:
    """A barrier that leaves the cores to a process that works."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(0.001)


def by_rows(problem: Any, name: str, write: Any, read: Any) -> Step:
    """A step of a library without processes of its own: each process writes its rows, and reads
    its columns."""
    comm = problem.comm
    if problem.rows.dist != "(BLOCK, *)":
        raise UnavailableError(f"{name} writes whole rows, and these are {problem.rows.dist}")
    rows = problem.rows.slices(comm.rank)[0]
    columns = problem.columns.slices(comm.rank)[1]

    def get() -> None:
        problem.b.local[...] = read(columns)

    def put() -> None:
        write(rows, problem.a.local)

    put()
    comm.barrier()

    def check() -> None:
        comm.barrier()
        get()
        problem.same()

    return Step(put if problem.writing else get, check, lambda: problem.b.local.fill(np.nan))


def zarr_python(problem: Any) -> Step:
    """Each process its own whole shards: the most that its users may do without losing data."""
    zarr, options, comm = module("zarr"), problem.options, problem.comm
    problem.require_whole_shards()
    path = str(problem.folder / "zarr")
    if comm.rank == 0:
        codec = None if options.codec == "none" else "auto"
        zarr.create_array(
            path, shape=problem.rows.shape, chunks=[options.chunk] * 2,
            shards=[options.shard] * 2, dtype="float64", compressors=codec, overwrite=True,
        )  # fmt: skip
    comm.barrier()
    stored = zarr.open_array(path, mode="r+")
    return by_rows(problem, "zarr-python", stored.__setitem__, lambda columns: stored[:, columns])


def tensorstore(problem: Any) -> Step:
    """The same by TensorStore, without its cache."""
    ts, options, comm = module("tensorstore"), problem.options, problem.comm
    problem.require_whole_shards()
    inner: list[dict[str, Any]] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if options.codec != "none":
        inner.append({"name": options.codec})
    sharding = {"chunk_shape": [options.chunk] * 2, "codecs": inner}
    grid = {"name": "regular", "configuration": {"chunk_shape": [options.shard] * 2}}
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(problem.folder / "tensorstore")},
        "metadata": {
            "shape": list(problem.rows.shape), "data_type": "float64", "chunk_grid": grid,
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
        },
    }  # fmt: skip
    if comm.rank == 0:
        ts.open(spec, create=True, delete_existing=True).result()
    comm.barrier()
    stored = ts.open(spec).result()
    return by_rows(
        problem,
        "TensorStore",
        lambda rows, values: stored[rows].write(values).result(),
        lambda columns: stored[:, columns].read().result(),
    )


def h5py_serial(problem: Any) -> Step:
    """h5py from PyPI has no parallel HDF5: process 0 collects the rows and writes; all read."""
    h5py, options, comm = module("h5py"), problem.options, problem.comm
    if problem.rows.dist != "(BLOCK, *)":
        raise UnavailableError(f"process 0 collects whole rows, and these are {problem.rows.dist}")
    path = problem.folder / "h5py.h5"
    whole = np.empty(problem.rows.shape) if comm.rank == 0 else None
    counts = comm.gather(problem.a.local.size)
    codec = None if options.codec == "none" else "gzip"

    def put() -> None:
        comm.Gatherv(problem.a.local, None if comm.rank else [whole, counts], 0)
        if comm.rank == 0:
            path.unlink(missing_ok=True)
            with h5py.File(path, "w") as f:
                chunks = (options.chunk,) * 2
                f.create_dataset("t", data=whole, chunks=chunks, compression=codec)
        wait_asleep(comm)

    columns = problem.columns.slices(comm.rank)[1]

    def get() -> None:
        with h5py.File(path) as f:
            problem.b.local[...] = f["t"][:, columns]

    def check() -> None:
        get()
        problem.same()

    put()
    run = put if problem.writing else get
    return Step(run, check, lambda: problem.b.local.fill(np.nan))


def _step(problem: Any, put: Callable[[], None], get: Callable[[], None]) -> Step:
    """The write or the read of files that all processes write before any of them reads."""

    def check() -> None:
        problem.comm.barrier()
        get()
        problem.same()

    put()
    problem.comm.barrier()
    return Step(put if problem.writing else get, check, lambda: problem.b.local.fill(np.nan))


def adios2(problem: Any) -> Step:
    """ADIOS2's wheel has no MPI: each process writes its rows to a BP5 file of its own, and reads
    its columns from all of them."""
    library, comm = module("adios2"), problem.comm
    if problem.rows.dist != "(BLOCK, *)":
        raise UnavailableError(f"a process writes whole rows, and these are {problem.rows.dist}")
    n = problem.options.size
    held = comm.allgather(problem.a.local.shape[0])
    columns = problem.columns.slices(comm.rank)[1]
    start, stop, _ = columns.indices(n)

    def put() -> None:
        rows = held[comm.rank]
        with library.Stream(str(problem.folder / f"a{comm.rank}.bp"), "w") as s:
            s.write("t", problem.a.local, [rows, n], [0, 0], [rows, n])

    def get() -> None:
        at = 0
        for rank, rows in enumerate(held):
            with library.FileReader(str(problem.folder / f"a{rank}.bp")) as s:
                values = s.read("t", start=[0, start], count=[rows, stop - start])
                problem.b.local[at : at + rows] = values
            at += rows

    return _step(problem, put, get)


def heat(problem: Any) -> Step:
    """Heat's Zarr files: a chunk for each process, which every process reads as a whole array."""
    ht, torch, comm = module("heat"), module("torch"), problem.comm
    if problem.rows.dist != "(BLOCK, *)" or problem.options.size % comm.size:
        raise UnavailableError("Heat writes equal numbers of whole rows for each process")
    path = str(problem.folder / "heat.zarr")
    plain = [{"name": "bytes", "configuration": {"endian": "little"}}]
    options = {"codecs": plain} if problem.options.codec == "none" else {}
    held = ht.array(torch.from_numpy(problem.a.local), is_split=0)

    def put() -> None:
        ht.save_zarr(held, path, overwrite=True, **options)

    def get() -> None:
        problem.b.local[...] = ht.load_zarr(path, split=1).larray.numpy()

    return _step(problem, put, get)


PEERS = {
    "zarr-python": zarr_python,
    "TensorStore": tensorstore,
    "h5py": h5py_serial,
    "ADIOS2": adios2,
    "Heat": heat,
}


def rechunkers(problem: Any) -> list[Contestant]:
    """From slabs of rows to slabs of columns, file to file: hocket, and Dask's p2p."""
    n, comm = problem.options.size, problem.comm
    width = math.ceil(n / (4 * comm.size))
    source, chunks = problem.folder / "slabs.zarr", (n, width)

    def make_source() -> None:
        hk = hocket()
        if not source.exists():
            comm.barrier()
            with hk.open_store(source, "w", comm=comm) as s:
                s.create("t", (n, n), chunks=(width, n), codec="none")
                s.write("t", problem.a)
        comm.barrier()

    def ours() -> Step:
        make_source()
        target = problem.folder / "columns.zarr"

        def clear() -> None:
            comm.barrier()
            if comm.rank == 0:
                shutil.rmtree(target, ignore_errors=True)
            comm.barrier()

        def run() -> None:
            clear()
            hocket().rechunk(source, target, chunks=chunks, comm=comm)

        def check() -> None:
            first = hocket().open_store(source, comm=comm)["t"][:8]
            if not np.array_equal(hocket().open_store(target, comm=comm)["t"][:8], first):
                raise WrongResultError("the copy differs from the original")

        return Step(run, check, clear)

    def dask() -> Step:
        array, distributed, zarr = module("dask.array"), module("distributed"), module("zarr")
        make_source()
        target = problem.folder / "dask.zarr"
        config = module("dask").config
        logging.getLogger("distributed").setLevel(logging.ERROR)
        client: Any = None
        if comm.rank == 0:
            # One process for each of ours, one thread each.
            cluster = distributed.LocalCluster(
                n_workers=comm.size, threads_per_worker=1, dashboard_address=None
            )
            client = distributed.Client(cluster)

        def run() -> None:
            if comm.rank == 0:
                shutil.rmtree(target, ignore_errors=True)
                with config.set({"array.rechunk.method": "p2p"}):
                    values = array.from_zarr(str(source / "t")).rechunk(chunks)
                    out = zarr.create_array(
                        str(target), shape=(n, n), chunks=chunks, dtype="float64", compressors=None
                    )
                    array.store(values, out, lock=False)
            wait_asleep(comm)

        def check() -> None:
            first = hocket().open_store(source, comm=comm)["t"][:8]
            if comm.rank == 0 and not np.array_equal(zarr.open_array(str(target))[:8], first):
                raise WrongResultError("the copy differs from the original")

        def close() -> None:
            if client is not None:
                client.close()
                client.cluster.close()

        return Step(run, check, lambda: None, close)

    return [Contestant("hocket", ours), Contestant("Dask p2p", dask)]
