# SPDX-License-Identifier: BSD-3-Clause
"""The default number of processes that write, from a measurement."""

import os
from pathlib import Path

import numpy as np
from cases import raises_everywhere
from lockstep import ranks
from test_stores import folder

import hocket as hk
from hocket import _mpi


def writers_of(comm, path, number):
    """Which processes write files by default."""
    a = hk.from_function(lambda i: i + 1, hk.Layout(960, "(BLOCK)", comm.size), "int64", comm)
    with hk.open_store(f"{path}/{number}.zarr", "w", comm=comm) as s:
        s.create("t", 960, "int64", chunks=960 // number, codec="none")
        s.write("t", a)  # leaves the mark
        before = _mpi.store_counts()["writes"]
        s.write("t", a)
        wrote = comm.allgather(_mpi.store_counts()["writes"] > before)
        assert np.array_equal(s["t"][...], np.arange(960) + 1)
    return [rank for rank, each in enumerate(wrote) if each]


@ranks(4)
def test_a_measurement_decides_and_few_writers_are_on_different_nodes(comm):
    with folder(comm) as path:
        kept = os.environ.get("HOCKET_MODEL")
        os.environ["HOCKET_MODEL"] = f"{path}/model"
        if comm.rank == 0:
            Path(path, "model").touch()
        comm.barrier()
        try:
            assert writers_of(comm, path, 8) == [0, 1, 2, 3]
            comm.barrier()
            if comm.rank == 0:
                Path(path, "model.writers").write_text("2\n", encoding="utf-8")
            comm.barrier()
            nodes = {*os.environ.get("HOCKET_NODES", "0").split(",")}
            hosts = {*comm.allgather(os.uname().nodename)}
            if len(nodes) == len(hosts) == 1:
                assert writers_of(comm, path, 6) == [0, 2]
            assert writers_of(comm, path, 2) == [0, 2]
            assert writers_of(comm, path, 1) == [0]
            comm.barrier()
            if comm.rank == 0:
                Path(path, "model.writers").write_text("many", encoding="utf-8")
            comm.barrier()
            raises_everywhere(
                comm, hk.Error, lambda: hk.open_store(f"{path}/2.zarr", comm=comm), "'many'"
            )
        finally:
            comm.barrier()
            if kept is None:
                del os.environ["HOCKET_MODEL"]
            else:
                os.environ["HOCKET_MODEL"] = kept
