# SPDX-License-Identifier: BSD-3-Clause
"""Stores that TensorStore and xarray read, and theirs that hocket reads, if they are installed."""

import numpy as np
import pytest

import hocket as hk

WHOLE = np.arange(48.0).reshape(6, 8)


def write(comm, path):
    lay = hk.Layout(WHOLE.shape, "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 8.0 * i + j, lay, comm=comm)
    with hk.open_store(path, "w", comm=comm) as s:
        s.create("t", a.layout.shape, chunks=(2, 4), shards=(4, 8), dimension_names=["y", "x"])
        s.write("t", a)


def write_hdf5(comm, path):
    a = hk.from_function(lambda i, j: 8.0 * i + j, hk.Layout((6, 8), "(BLOCK, *)", comm.size))
    hk.save(path, {"t": a})


def read(comm, path):
    return {name: each.gather() for name, each in hk.load(path, comm=comm).items()}


def names_of(comm, path):
    return hk.load(path, comm=comm).dimension_names


@pytest.mark.soak
def test_tensorstore_and_hocket_read_each_other(tmp_path):
    ts = pytest.importorskip("tensorstore")
    hk.run(write, ranks=2, args=(tmp_path / "ours",))

    def kvstore(path):
        return {"driver": "file", "path": str(path)}

    spec = {"driver": "zarr3", "kvstore": kvstore(tmp_path / "ours" / "t")}
    assert np.array_equal(ts.open(spec).result().read().result(), WHOLE)
    inner = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 1}},
    ]
    sharding = {"chunk_shape": [2, 4], "codecs": inner}
    metadata = {
        "shape": list(WHOLE.shape),
        "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 8]}},
        "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
    }
    spec = {"driver": "zarr3", "kvstore": kvstore(tmp_path / "theirs"), "metadata": metadata}
    ts.open(spec, create=True).result().write(WHOLE).result()
    assert np.array_equal(hk.run(read, ranks=2, args=(tmp_path / "theirs",))[0][""], WHOLE)


@pytest.mark.soak
def test_xarray_and_hocket_read_each_other(tmp_path):
    xr = pytest.importorskip("xarray")
    hk.run(write, ranks=2, args=(tmp_path / "ours",))
    ours = xr.open_zarr(tmp_path / "ours")
    assert ours.t.dims == ("y", "x") and np.array_equal(ours.t.values, WHOLE)
    theirs = xr.Dataset({"u": (("y", "x"), WHOLE)}, coords={"x": np.arange(8.0)})
    theirs.to_zarr(tmp_path / "theirs", zarr_format=3)
    found = hk.run(read, ranks=2, args=(tmp_path / "theirs",))[0]
    assert np.array_equal(found["u"], WHOLE) and np.array_equal(found["x"], np.arange(8.0))
    assert hk.open_store(tmp_path / "theirs")["u"].dimension_names == ("y", "x")
    names = hk.run(names_of, ranks=2, args=(tmp_path / "theirs",))[0]
    assert names == {"u": ("y", "x"), "x": ("x",)}


@pytest.mark.soak
def test_what_hocket_writes_in_hdf5_xarray_opens(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    hk.run(write_hdf5, ranks=2, args=(tmp_path / "ours.h5",))
    with xr.open_dataset(tmp_path / "ours.h5", engine="h5netcdf", phony_dims="sort") as ours:
        assert np.array_equal(ours.t.values, WHOLE)
    theirs = xr.Dataset({"u": (("y", "x"), WHOLE)}, coords={"x": np.arange(8.0)})
    theirs.to_netcdf(tmp_path / "theirs.h5", engine="h5netcdf")
    found = hk.run(read, ranks=2, args=(tmp_path / "theirs.h5",))[0]
    assert np.array_equal(found["u"], WHOLE) and np.array_equal(found["x"], np.arange(8.0))
