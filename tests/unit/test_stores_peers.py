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


TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def values_of(dtype):
    return (WHOLE % 2 if dtype == "bool" else WHOLE).astype(dtype)


def write_types(comm, folder):
    """In all codecs, with and without shards; and into arrays of TensorStore, back to front."""
    lay = hk.Layout(WHOLE.shape, "(BLOCK, *)", comm.size)
    part = lay.slices(comm.rank)
    with hk.open_store(folder / "ours", "w", comm=comm) as s:
        for dtype in TYPES:
            a = hk.wrap(values_of(dtype)[part].copy(), lay, comm=comm)
            for codec in ("none", "zstd", "gzip"):
                for shards in (None, (4, 8)):
                    name = f"{dtype}/{codec}{'' if shards is None else '-shards'}"
                    s.create(name, WHOLE.shape, dtype, chunks=(2, 4), shards=shards, codec=codec)
                    s.write(name, a)
    for path in sorted(folder.glob("theirs-*")):
        dtype = path.name.split("-")[1]
        with hk.open_store(path, "r+", comm=comm) as s:
            assert np.array_equal(s.read("", lay).local, values_of(dtype)[part])
            a = hk.wrap(values_of(dtype)[::-1][part].copy(), lay, comm=comm)
            s.write("", a)


@pytest.mark.soak
def test_tensorstore_and_hocket_agree_on_every_type(tmp_path):
    ts = pytest.importorskip("tensorstore")

    def spec(path):
        return {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}

    def read_by(path):
        return ts.open(spec(path)).result().read().result()

    for dtype in TYPES:
        for endian in ("little", "big"):
            metadata = {
                "shape": list(WHOLE.shape),
                "data_type": dtype,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 3]}},
                "codecs": [
                    {"name": "transpose", "configuration": {"order": [1, 0]}},
                    {"name": "bytes", "configuration": {"endian": endian}},
                    {"name": "gzip", "configuration": {"level": 3}},
                    {"name": "crc32c"},
                ],
            }
            path = tmp_path / f"theirs-{dtype}-{endian}"
            made = ts.open({**spec(path), "metadata": metadata}, create=True).result()
            made.write(values_of(dtype)).result()
    hk.run(write_types, ranks=2, args=(tmp_path,))
    for dtype in TYPES:
        for name in ("none", "zstd", "gzip", "none-shards", "zstd-shards", "gzip-shards"):
            assert np.array_equal(read_by(tmp_path / "ours" / dtype / name), values_of(dtype))
        for endian in ("little", "big"):
            found = read_by(tmp_path / f"theirs-{dtype}-{endian}")
            assert np.array_equal(found, values_of(dtype)[::-1]), (dtype, endian)


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
