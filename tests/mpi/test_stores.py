# SPDX-License-Identifier: BSD-3-Clause
"""Stores, held against zarr-python: every element in its place, whatever layout and chunks."""

import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere, source_of, target_of, whole
from lockstep import ranks

import hocket as hk
import random_layouts
from hocket import _mpi

zarr = pytest.importorskip("zarr")

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


@contextmanager
def folder(comm):
    """One folder for all processes, gone afterwards."""
    path = comm.bcast(tempfile.mkdtemp(prefix="hocket-store-") if comm.rank == 0 else None)
    try:
        yield path
    finally:
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(path)


def names_in(path):
    """The names in a folder."""
    return sorted(each.name for each in Path(path).iterdir())


def extents(rng, shape):
    """Chunks, and shards or none."""
    chunks = tuple(int(rng.integers(1, n + 3)) for n in shape)
    if rng.random() < 0.4:
        return chunks, None
    return chunks, tuple(int(n * rng.integers(1, 4)) for n in chunks)


def box_in(rng, shape):
    """A region, often all of it."""
    if rng.random() < 0.4:
        return None, tuple(slice(0, n) for n in shape)
    start = [int(rng.integers(0, n + 1)) for n in shape]
    box = tuple(slice(a, int(rng.integers(a, n + 1))) for a, n in zip(start, shape))
    return box, box


def one_case(comm, subsets, rng, own, path, case):
    """Writes a region from one layout, and reads another into a second one, on as many processes
    or fewer."""
    choose = random_layouts.from_rng(rng)
    shape = random_layouts.any_shape(choose)
    chunks, shards = extents(rng, shape)
    dtype = np.dtype(DTYPES[int(rng.integers(len(DTYPES)))])
    codec = ["none", "zstd", "gzip"][int(rng.integers(3))]
    region, box = box_in(rng, shape)
    part = tuple(s.stop - s.start for s in box)
    spec = random_layouts.any_layout(choose, part, comm.size, gaps=False)
    values = whole(part, dtype, case)
    source, _ = source_of(spec, values, comm, own)
    least = dtype.itemsize * int(np.prod(chunks))
    buffer = [None, least, 3 * least][int(rng.integers(3))]
    writers = [None, 1, comm.size][int(rng.integers(3))]
    expected = np.zeros(shape, dtype)
    expected[box] = values
    name = f"{path}/s{case}"
    with hk.open_store(name, "w", comm=comm) as s:
        s.create("t", shape, dtype, chunks=chunks, shards=shards, codec=codec)
        s.write("t", source, region=region, max_buffer=buffer, writers=writers)
    if comm.rank == 0:
        found = zarr.open_array(f"{name}/t", mode="r")[...]
        assert found.dtype == dtype and np.array_equal(found, expected)
        assert list(Path(name).rglob(".*")) == []
    region, box = box_in(rng, shape)
    axes = [int(axis) for axis in rng.permutation(len(shape))]
    wanted = expected[box].transpose(axes)
    readers = int(rng.integers(1, comm.size + 1))
    target = random_layouts.any_layout(choose, wanted.shape, readers, gaps=True)
    if comm.rank >= readers:
        return
    comm = subsets[readers]
    b, _ = target_of(target, dtype, comm, own)
    s = hk.open_store(name, comm=comm)
    s.read("t", b.layout, region=region, axes=axes, out=b, max_buffer=buffer)
    assert np.array_equal(b.local, target.local(wanted, comm.rank)), (shape, spec, target, box)


@contextmanager
def first_processes(comm):
    """For each number of processes a communicator of the first so many."""
    subsets = [None, *(comm.Split(int(comm.rank >= n)) for n in range(1, comm.size + 1))]
    try:
        yield subsets
    finally:
        for each in subsets[1:]:
            each.Free()


@ranks(1, 2, 3)
def test_random_layouts_chunks_and_regions(comm):
    rng = np.random.default_rng([5, comm.size])
    own = np.random.default_rng([6, comm.size, comm.rank])
    with folder(comm) as path, first_processes(comm) as subsets:
        for case in range(100):
            one_case(comm, subsets, rng, own, path, case)


@pytest.mark.soak
@ranks(1, 2, 3, 4, 5, 6, 7, 8, seconds=3000)
def test_random_layouts_for_long(comm, soak_seed):
    rng = np.random.default_rng([soak_seed, comm.size])
    own = np.random.default_rng([soak_seed, comm.size, comm.rank])
    with folder(comm) as path, first_processes(comm) as subsets:
        for case in range(1250):
            try:
                one_case(comm, subsets, rng, own, path, case)
            except BaseException as error:
                raise AssertionError(f"seed {soak_seed}, case {case}") from error


@ranks(2, nodes="0,1")
def test_a_boundary_within_a_shard_loses_nothing(comm):
    """Two processes of zarr-python lose 12 to 24 % of the elements here."""
    lay = hk.Layout((2000, 8), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 8 * i + j, lay, "int64")
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            s.create("t", (2000, 8), "int64", chunks=(64, 8), shards=(1024, 8))
            half = comm.size * 500
            s.write("t", a.section(np.s_[: min(half, 1000)]), region=np.s_[: min(half, 1000)])
            s.write("t", a.section(np.s_[1000:]), region=np.s_[1000:])
        if comm.rank == 0:
            found = zarr.open_array(f"{path}/s/t", mode="r")[...]
            assert np.array_equal(found, np.arange(16000).reshape(2000, 8))


@ranks(1, 3)
def test_what_zarr_python_writes_is_read(comm):
    rng = np.random.default_rng(9)
    values = rng.integers(-100, 100, (9, 11)).astype(">i4")
    makers = {
        "plain": {"chunks": (4, 3), "compressors": None},
        "zstd": {"chunks": (4, 3)},
        "gzip": {
            "chunks": (4, 3),
            "compressors": [{"name": "gzip", "configuration": {"level": 1}}],
        },
        "shards": {"chunks": (2, 3), "shards": (4, 9)},
        "v2": {"chunks": (4, 3), "zarr_format": 2, "order": "F"},
        "v2big": {"chunks": (4, 3), "zarr_format": 2, "dtype": ">i4", "compressors": None},
        "v2slash": {
            "chunks": (4, 3),
            "zarr_format": 2,
            "chunk_key_encoding": {"name": "v2", "separator": "/"},
        },
        "blosc": {"chunks": (4, 3), "compressors": zarr.codecs.BloscCodec()},
    }
    with folder(comm) as path:
        if comm.rank == 0:
            for name, options in makers.items():
                options = {"dtype": "int32", "fill_value": 7, **options}
                made = zarr.create_array(f"{path}/{name}", shape=values.shape, **options)
                made[2:, :7] = values[2:, :7]
        comm.barrier()
        wanted = np.full(values.shape, 7)
        wanted[2:, :7] = values[2:, :7]
        for name in makers:
            s = hk.open_store(f"{path}/{name}", comm=comm)
            b = s.read("", hk.Layout(values.shape, "(*, CYCLIC)", comm.size))
            assert np.array_equal(b.local, wanted[:, comm.rank :: comm.size]), name
            assert np.array_equal(s[""][1:5, ::-2], wanted[1:5, ::-2]), name


@ranks(1, 3)
def test_raw_bytes_have_the_name_that_zarr_python_knows(comm):
    values = np.frombuffer(bytes(range(120)), "V5").reshape(6, 4)
    lay = hk.Layout((6, 4), "(BLOCK, *)", comm.size)
    with folder(comm) as path:
        if comm.rank == 0:
            made = zarr.create_group(f"{path}/s").create_array(
                "t", shape=(6, 4), chunks=(4, 3), dtype="V5"
            )
            made[...] = values
        comm.barrier()
        with hk.open_store(f"{path}/s", "r+", comm=comm) as s:
            a = s.read("t", lay)
            assert np.array_equal(a.local, values[lay.slices(comm.rank)])
            s.create("u", (6, 4), "V5", chunks=(4, 3), fill=np.void(b"abcd\xff"))
            s.write("u", a.section(np.s_[:, :2]), region=np.s_[:, :2])
        if comm.rank == 0:
            found = zarr.open_group(f"{path}/s", mode="r")
            assert np.array_equal(found["t"][...], values)
            assert np.array_equal(found["u"][:, :2], values[:, :2])
            assert (found["u"][:, 3] == np.void(b"abcd\xff")).all()
            # The format's own name, and a list of numbers.
            file = Path(path, "s/zarr.json")
            text = file.read_text()
            raw = '{"name":"raw_bytes","configuration":{"length_bytes":5}}'
            assert text.count(raw) == 2 and "YWJjZP8=" in text
            text = text.replace(raw, '"r40"').replace('"YWJjZP8="', "[97,98,99,100,255]")
            file.write_text(text)
        comm.barrier()
        s = hk.open_store(f"{path}/s", comm=comm)
        assert np.array_equal(s["t"][...], values) and s["u"].fill == list(b"abcd\xff")
        assert np.array_equal(s["u"][:, :2], values[:, :2])


@ranks(1, 3)
def test_arrays_of_texts_leave_the_others_readable(comm):
    """xarray's coordinates are often texts."""
    lay = hk.Layout(4, "(BLOCK)", comm.size)
    with folder(comm) as path:
        for version in (2, 3):
            at = f"{path}/v{version}"
            if comm.rank == 0:
                made = zarr.create_group(at, zarr_format=version)
                made.create_array("t", shape=4, dtype="int64")[:] = np.arange(4)
                made.create_array("name", shape=2, dtype="U3")[:] = ["a", "bc"]
                if version == 2:
                    continue
                zarr.consolidate_metadata(at)
        comm.barrier()
        for version in (2, 3):
            d = hk.load(f"{path}/v{version}", lay, comm=comm)
            assert list(d) == ["t"] and np.array_equal(
                d["t"].local, np.arange(4)[lay.slices(comm.rank)]
            )
            raises_everywhere(
                comm,
                hk.Error,
                lambda v=version: hk.load(f"{path}/v{v}", names=["name"]),
                "core types",
            )
        with hk.open_store(f"{path}/v3", "r+") as s:
            raises_everywhere(comm, hk.Error, lambda: s.create("name", 3), "has an array")
            s.create("u", 3)
        if comm.rank == 0:
            found = zarr.open_consolidated(f"{path}/v3")
            assert set(found) == {"t", "u", "name"} and list(found["name"][:]) == ["a", "bc"]


@ranks(1, 3)
def test_each_stored_byte_is_read_once(comm):
    lay = hk.Layout((64, 64), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 64.0 * i + j, lay)
    copies = hk.Layout((64, 64), "(*, *)", comm.size, replicate=[0])
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            s.create("t", (64, 64), chunks=(8, 8), shards=(32, 16))
            before = _mpi.store_counts()["bytes_written"]
            s.write("t", a)
            written = comm.allreduce(_mpi.store_counts()["bytes_written"] - before)
            mark = Path(path, "s/.hocket-unfinished").stat().st_size
            stored = sum(file.stat().st_size for file in Path(path, "s/t/c").glob("*/*"))
            assert written == stored + mark
            before = _mpi.store_counts()
            b = s.read("t", copies)
            after = _mpi.store_counts()
        assert comm.allreduce(after["bytes_read"] - before["bytes_read"]) == stored
        assert comm.allreduce(after["opened"] - before["opened"]) == 8  # files
        # To the index of each file, and back; chunks may come in any order.
        seeks, reads = (comm.allreduce(after[key] - before[key]) for key in ("seeks", "reads"))
        assert 2 * 8 <= seeks <= reads == 8 + 64, (seeks, reads)
        assert np.array_equal(b.local.ravel(), np.arange(4096.0))


@ranks(1, 3)
def test_opening_reads_one_file_on_one_process(comm):
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            for k in range(5):
                s.create(f"g/t{k}", (4,))
        before = _mpi.store_counts()["reads"]
        s = hk.open_store(f"{path}/s", comm=comm)
        assert len(list(s)) == 5
        assert _mpi.store_counts()["reads"] - before == (comm.rank == 0)


@ranks(1, 3)
def test_fill_values_names_and_attributes_are_those_of_the_format(comm):
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            for name, dtype, fill in [
                ("a", "float32", np.nan),
                ("b", "float64", -np.inf),
                ("c", "complex64", 1 - 2j),
                ("d", "bool", True),
                ("e", "int8", -5),
                ("f", "uint64", 2**64 - 1),
            ]:
                s.create(f"g/{name}", (3, 2), dtype, fill=fill, attributes={"unit": "K", "n": [1]})
                assert np.array_equal(s[f"g/{name}"][...], np.full((3, 2), fill, dtype), True)
            s.set_attributes({"step": 7})
        if comm.rank == 0:
            z = zarr.open_group(f"{path}/s", mode="r")
            assert dict(z.attrs) == {"step": 7}
            assert np.isnan(z["g/a"][...]).all() and z["g/b"].fill_value == -np.inf
            assert z["g/c"].fill_value == 1 - 2j and z["g/d"].fill_value and z["g/e"][0, 0] == -5
            assert z["g/f"].fill_value == 2**64 - 1
            assert z["g/a"].metadata.dimension_names == ("dim_0", "dim_1")
            assert dict(z["g/a"].attrs) == {"unit": "K", "n": [1]}


@ranks(1, 3)
def test_appended_steps_are_whole(comm):
    lay = hk.Layout((1, 12), "(*, BLOCK)", comm.size)
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            s.create("t", (0, 12), "int64", chunks=(2, 5))
            for step in range(5):
                seen = hk.open_store(f"{path}/s", comm=comm)["t"]
                s.append("t", hk.from_function(lambda i, j, n=step: 12 * n + j, lay, "int64"))
                assert seen.shape == (step, 12)  # as it was opened
            assert s["t"].shape == (5, 12)
        if comm.rank == 0:
            found = zarr.open_group(f"{path}/s", mode="r")["t"][...]
            assert np.array_equal(found, np.arange(60).reshape(5, 12))
            assert not Path(path, "s/.hocket-unfinished").exists()


@ranks(1, 3)
def test_started_writes_and_steps_of_a_flow(comm):
    lay = hk.Layout((9, 4), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 4 * i + j, lay, "int64")
    with folder(comm) as path, hk.open_store(f"{path}/s", "w") as s:
        for name in "tuv":
            s.create(name, (9, 4), "int64", chunks=(2, 4))
        kept = s.iwrite("t", a, copy=True)
        second = s.iwrite("u", a)
        second.wait(60)
        a.local[...] = -1
        kept.wait(60)
        with hk.Flow(workers=2) as f:
            f.task(lambda: np.negative(a.local, out=a.local), inouts=[a])
            f.write(s, "v", a)
            b, c = (
                hk.empty(lay, "int64"),
                hk.empty(hk.Layout((2, 9), "(*, CYCLIC)", comm.size), "int64"),
            )
            f.read(s, "v", b)
            f.read(s, "v", c, region=np.s_[:, 1:3], axes=(1, 0))
            f.task(lambda: np.negative(b.local, out=b.local), inouts=[b])
            with pytest.raises(hk.MismatchError, match="make out match"):
                f.read(s, "v", hk.empty(lay, "float32"))
        assert np.array_equal(b.local, np.full_like(b.local, -1)) and (c.local == 1).all()
        read = s.iread("t", hk.Layout((9, 4), "(*, *)", comm.size, replicate=[0]))
        assert read.wait(60) is read.array
        assert np.array_equal(read.array.local.ravel(), np.arange(36))
        assert np.array_equal(s["u"][...].ravel(), np.arange(36)) and (s["v"][...] == 1).all()


@ranks(2)
def test_attributes_may_be_numbers_of_numpy(comm):
    a = hk.zeros(hk.Layout((4,), "(BLOCK)", comm.size), comm=comm)
    given = {"step": np.int64(3), "dt": np.float32(0.5), "origin": np.arange(2), "on": np.True_}
    # Integers of 128 bits.
    state = {"rng": np.random.default_rng(7).bit_generator.state, "least": [-(2**63) - 1, 2**64]}
    with folder(comm) as path:
        hk.save(f"{path}/s", {"a": a}, attributes=given)
        d = hk.load(f"{path}/s", a.layout, comm=comm)
        assert d.attributes == {"step": 3, "dt": 0.5, "origin": [0, 1], "on": True}
        with hk.open_store(f"{path}/s", "a", comm=comm) as s:
            s.set_attributes(state)
            s.create("b", 3, attributes=state)
        s = hk.open_store(f"{path}/s", comm=comm)
        assert s.attributes == s["b"].attributes == state


@ranks(1, 3)
def test_close_completes_what_was_started(comm):
    lay = hk.Layout((9, 4), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 4 * i + j, lay, "int64")
    b = hk.zeros(lay, "int64")
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            for name in "tuv":
                s.create(name, (9, 4), "int64", chunks=(2, 4))
                s.iwrite(name, a)
        s = hk.open_store(f"{path}/s", "r+", comm=comm)
        assert all(np.array_equal(s[name][...].ravel(), np.arange(36)) for name in "tuv")
        s.iread("t", lay, out=b)
        s.iwrite("t", hk.zeros(hk.Layout((9, 3), "(BLOCK, *)", comm.size), "int64"))
        raises_everywhere(comm, hk.Error, s.close, "has shape (9, 3)")
        assert np.array_equal(b.local, a.local)
        s.close()


@ranks(1, 3)
def test_wrong_arguments_of_one_process_raise_on_all(comm):
    lay = hk.Layout((6,), "(BLOCK)", comm.size)
    a = hk.zeros(lay)
    last = comm.size - 1
    with folder(comm) as path, hk.open_store(f"{path}/s", "w") as s:
        s.create("t", 6)
        wrong = "u" if comm.rank == last else "t"
        for call, words in [
            (lambda: s.write(wrong, a), "no array 'u'"),
            (lambda: s.write("t", None if comm.rank == last else a), "NoneType"),
            (lambda: s.read("t", lay, region=np.s_[1:3]), "region"),
            (lambda: s.write("t", hk.zeros(lay, "int8")), "int8"),
            (lambda: s.create("t", 6), "already"),
            (lambda: s.create("u", None), "shape is None"),
            (lambda: s.create("u", 6, chunks=(4,), shards=(6,)), "multiple"),
            (lambda: s.create("../u", 6), "no name"),
            (lambda: s.create("a\0b", 6), r"'a\x00b' is no name"),
            (lambda: s.create("u", 6, "U4"), "core types"),
            (lambda: s.create("u", 6, codec="zst"), "did you mean 'zstd'"),
            (lambda: s.create("u", 6, "M8[s]"), "core types"),
            (lambda: s.create("u", 6, "int8", fill=300), "no int8"),
            (lambda: s.create("u", 6, "uint8", fill=-1), "no uint8"),
            (lambda: s.create("u", 6, "bool", fill=2), "no bool"),
            (lambda: s.create("u", 6, fill=1j), "no float64"),
            (lambda: s.create("u", 6, "int8", fill=np.nan), "nan, which is no int8"),
            (lambda: s.write("t", a, max_buffer=7), "max_buffer"),
            (lambda: s.write("t", a, writers=99), "99"),
            (lambda: hk.open_store(f"{path}/s", "w"), "is there already"),
            (lambda: hk.open_store(f"{path}/s", "r+"), "open for writing by process"),
            (lambda: hk.open_store(f"{path}/none", comm=comm), "No such file"),
            (lambda: hk.open_store(f"{path}/s", "rw"), "mode 'rw'"),
            (lambda: hk.save(f"{path}/x.nc", {"t": a}), "another format"),
            (lambda: hk.save(f"{path}/x", a), "give a dict, as {'t': a}"),
            (lambda: hk.save(f"{path}/x", {"t": a.local}), "cannot save ndarray"),
        ]:
            raises_everywhere(comm, hk.Error, call, words)
        s.write("t", a)


@ranks(2)
def test_a_store_that_was_not_closed_says_so(comm):
    a = hk.zeros(hk.Layout(6, "(BLOCK)", comm.size))
    with folder(comm) as path:
        s = hk.open_store(f"{path}/s", "w")
        s.create("t", 6)
        s.write("t", a)
        s._core.leave()
        comm.barrier()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            again = hk.open_store(f"{path}/s", "r+")
        assert "began to write 't'" in again.unfinished
        assert len(seen) == (comm.rank == 0)
        again.write("t", a)
        again.close()
        assert hk.open_store(f"{path}/s", comm=comm).unfinished is None


@ranks(1, 3)
def test_checkpoints_go_to_other_layouts_and_old_ones_stay(comm):
    rows = hk.Layout((7, 5), "(BLOCK, *)", comm.size)
    with folder(comm) as path:
        where = f"{path}/run.zarr"
        for step in range(4):
            a = hk.from_function(lambda i, j, n=step: 100 * n + 5 * i + j, rows, "int64")
            hk.save(where, {"t": a, "g/u": a.section(np.s_[1:3])}, attributes={"n": step}, keep=2)
        if comm.rank == 0:
            assert sorted(p.name for p in Path(path).iterdir()) == [
                "run.zarr",
                "run.zarr.1",
                "run.zarr.2",
            ]
        for name, step in [(where, 3), (where + ".1", 2), (where + ".2", 1)]:
            d = hk.load(name, lambda n, s, t: hk.Layout(s, "(*, CYCLIC)", comm.size))
            assert d.attributes == {"n": step} and set(d) == {"t", "g/u"}
            wanted = (100 * step + np.arange(35)).reshape(7, 5)
            assert np.array_equal(d["t"].local, wanted[:, comm.rank :: comm.size])
            assert np.array_equal(d["g/u"].local, wanted[1:3, comm.rank :: comm.size])
        assert set(hk.load(where, names=["t"])) == {"t"}
        before = set(Path(path).iterdir()) if comm.rank == 0 else None
        raises_everywhere(comm, hk.Error, lambda: hk.save(where, {"t": a, "..": a}), "no name")
        raises_everywhere(comm, hk.Error, lambda: hk.save(path, {"t": a}), "no checkpoint")
        if comm.rank == 0:
            assert set(Path(path).iterdir()) == before
        assert hk.load(where).attributes == {"n": 3}
