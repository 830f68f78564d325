# SPDX-License-Identifier: BSD-3-Clause
"""Reads that convert elements, held against NumPy's astype, from every type to every type."""

import warnings

import numpy as np
from cases import raises_everywhere
from lockstep import ranks
from mpi4py import MPI
from peaks import MIB, peak_of
from test_stores import DTYPES, folder

import hocket as hk

ROWS = 61


def values(dtype):
    """Numbers at the edges of the type, small ones and random bits, without NaN for integers."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(7)
    if dtype.kind == "b":
        return rng.integers(0, 2, (ROWS, 9)).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = np.array([info.min, info.max, 0, 1, info.max // 2], dtype)
        some = rng.integers(info.min, info.max, (ROWS, 9), dtype, endpoint=True)
        some[0, :5] = edges
        return some
    real = dtype if dtype.kind == "f" else np.dtype(f"f{dtype.itemsize // 2}")
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519, 65520, 6e-8, 1e-7, 2.0**-25, 2049]
    some = np.ldexp(rng.normal(size=2 * ROWS * 9), rng.integers(-40, 60, 2 * ROWS * 9))
    some[: len(edges)] = edges
    # Midway between two numbers of 11 bits, which round to even.
    some[20:52] = (np.arange(32) + 1024.5) * 2.0 ** np.arange(-30, 2)
    some = some.astype(real)
    return some.view(dtype).reshape(-1)[: ROWS * 9].reshape(ROWS, 9)


def has(value, dtype):
    """Whether an integer type has the (truncated) values, so that NumPy's result is defined."""
    if dtype.kind not in "iu" or value.dtype.kind not in "fc":
        return np.ones(value.shape, bool)
    info = np.iinfo(dtype)
    real = np.trunc(value.real.astype("f8"))
    return (real >= float(info.min)) & (real < float(info.max) + (info.bits < 54))


@ranks(1, 3)
def test_every_type_is_read_as_every_other_one_as_numpy_converts_it(comm):
    rows = hk.Layout((ROWS, 9), "(BLOCK, *)", comm.size)
    turned = hk.Layout((9, ROWS), "(CYCLIC, *)", comm.size)
    with folder(comm) as path, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with hk.open_store(f"{path}/s", "w", comm=comm) as s:
            for name in DTYPES:
                s.create(name, (ROWS, 9), name, chunks=(8, 4), shards=(16, 8))
                s.write(name, hk.scatter(values(name), rows, comm=comm))
        s = hk.open_store(f"{path}/s", comm=comm)
        for name in DTYPES:
            for other in DTYPES:
                wanted = np.dtype(other)
                expected = values(name).astype(wanted).T
                found = hk.replicated(s.read(name, turned, axes=(1, 0), dtype=other))
                assert found.dtype == wanted
                defined = has(values(name), wanted).T
                assert np.array_equal(
                    found[defined], expected[defined], equal_nan=wanted.kind in "fc"
                ), (name, other)
                if wanted.kind == "f":
                    assert np.array_equal(np.signbit(found), np.signbit(expected)), (name, other)


@ranks(1, 3)
def test_conversion_of_a_region_within_little_memory(comm):
    a = hk.from_function(lambda i, j: 40 * i + j, hk.Layout((30, 40), "(BLOCK, *)", comm.size))
    lay = hk.Layout((11, 13), "(*, BLOCK)", comm.size)
    box = np.s_[7:18, 20:33]
    expected = np.arange(1200.0).reshape(30, 40)[box]
    with folder(comm) as path:
        names = [("s", (4, 5)), ("s.h5", (4, 5)), ("a.npy", None)]
        for file, chunks in names:
            try:
                s = hk.open_store(f"{path}/{file}", "w", comm=comm)
            except hk.Error as error:
                assert "HDF5" in str(error)
                continue
            s.create("a", (30, 40), "float64", chunks=chunks, codec="none")
            s.write("a", a)
            for kind in ("float32", "complex128", ">i4"):
                for most in (None, 30 * 40 * 8 if chunks is None else 160):
                    b = s.read("a", lay, region=box, dtype=kind, max_buffer=most)
                    assert b.dtype == np.dtype(kind)
                    assert np.array_equal(hk.replicated(b), expected), (file, kind, most)
            out = hk.empty(lay, "int16", comm=comm)
            request = s.iread("a", region=box, out=out, dtype="int16")
            request.wait()
            assert request.array is out and np.array_equal(hk.replicated(out), expected)
            s.close()


@ranks(2)
def test_types_that_do_not_fit_are_named(comm):
    with folder(comm) as path, hk.open_store(f"{path}/s", "w", comm=comm) as s:
        s.create("t", 4)
        s.create("v", 4, "V3")
        out = hk.empty(hk.Layout(4, "(BLOCK)", comm.size), "int64", comm=comm)
        call = lambda: s.read("t", out=out)  # noqa: E731
        raises_everywhere(comm, hk.MismatchError, call, "out is int64")
        call = lambda: s.read("t", out=out, dtype="int32")  # noqa: E731
        raises_everywhere(comm, hk.MismatchError, call, "int32")
        call = lambda: s.read("v", dtype="datetime64[s]")  # noqa: E731
        raises_everywhere(comm, hk.MismatchError, call, "V3")


@ranks(2)
def test_a_converting_read_holds_no_second_array(comm):
    """The elements are converted box by box."""
    n = 1 << 23
    lay = hk.Layout(n, "(BLOCK)", comm.size)
    with folder(comm) as path, hk.open_store(f"{path}/s", "w", comm=comm) as s:
        s.create("t", n, "int64", chunks=1 << 16, shards=1 << 19, codec="none")
        s.write("t", hk.from_function(lambda i: i % 1000, lay, "int64", comm))
        out = hk.zeros(lay, "float64", comm=comm)
        out.local[...] = -1  # its pages are there
        _, peak = peak_of(lambda: s.read("t", out=out, dtype="float64", max_buffer=4 * MIB))
        expected = np.arange(n)[comm.rank * n // 2 : (comm.rank + 1) * n // 2] % 1000
        assert np.array_equal(out.local, expected)
        assert comm.allreduce(peak, MPI.MAX) < 16 * MIB  # of 32 MiB on each process


@ranks(1, 2)
def test_numbers_of_the_other_order_of_bytes_are_stored_in_this_one(comm):
    lay = hk.Layout((6, 4), "(BLOCK, *)", comm.size)
    for kind in ("i4", "f8", "c8"):
        a = hk.from_function(lambda i, j: 4 * i + j, lay, np.dtype(kind).newbyteorder(">"))
        whole = np.arange(24, dtype=kind).reshape(6, 4)
        with folder(comm) as path:
            hk.save(f"{path}/saved", {"t": a})
            found = hk.load(f"{path}/saved", lay)["t"]
            assert found.dtype == np.dtype(kind)
            assert np.array_equal(found.local, whole[lay.slices(comm.rank)])
            with hk.open_store(f"{path}/s", "w", comm=comm) as s:
                s.create("t", (6, 4), a.dtype)
                s.write("t", a)
                s.append("t", a)
            assert np.array_equal(hk.open_store(f"{path}/s", comm=comm)["t"][6:], whole)
