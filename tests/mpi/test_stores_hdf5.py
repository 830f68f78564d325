# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files, written and read by several processes, held against h5py."""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere, source_of, target_of, whole
from lockstep import ranks
from test_stores import DTYPES, box_in, folder, names_in

import hocket as hk
import random_layouts
from hocket import _mpi

h5py = pytest.importorskip("h5py", reason="HDF5 files are held against h5py, which is not here")


def first_does(comm, call):
    """One process does something, and all wait for it."""
    if comm.rank == 0:
        call()
    comm.barrier()


@ranks(1, 2, 3)
def test_random_layouts_chunks_and_regions(comm):
    rng = np.random.default_rng([11, comm.size])
    own = np.random.default_rng([12, comm.size, comm.rank])
    choose = random_layouts.from_rng(rng)
    with folder(comm) as path:
        for case in range(14):
            shape = random_layouts.any_shape(choose)
            dtype = np.dtype(DTYPES[case % len(DTYPES)])
            chunks = [None, tuple(int(rng.integers(1, n + 2)) for n in shape)][case % 2]
            codec = ["none", "none", "none", "gzip"][case % 4]
            region, box = box_in(rng, shape)
            part = tuple(s.stop - s.start for s in box)
            spec = random_layouts.any_layout(choose, part, comm.size, gaps=False)
            values = whole(part, dtype, case)
            source, _ = source_of(spec, values, comm, own)
            wanted = np.full(shape, 1, dtype)
            wanted[box] = values
            name = f"{path}/a{case}.h5"
            with hk.open_store(name, "w", comm=comm) as s:
                s.create("g/t", shape, dtype, chunks=chunks, codec=codec, fill=1)
                s.write("g/t", source, region=region, writers=1 + case % comm.size)
                assert np.array_equal(s["g/t"][...], wanted)
            comm.barrier()
            with h5py.File(name) as f:
                assert np.array_equal(f["g/t"][()], wanted), (spec, shape, chunks, codec)
                assert f["g/t"].dtype == dtype and (f["g/t"].compression == "gzip") == (
                    codec == "gzip" and bool(shape)
                )
            axes = [int(axis) for axis in rng.permutation(len(shape))]
            expected = wanted[box].transpose(axes)
            target = random_layouts.any_layout(choose, expected.shape, comm.size, gaps=True)
            b, _ = target_of(target, dtype, comm, own)
            hk.open_store(name, comm=comm).read("g/t", b.layout, region=box, axes=axes, out=b)
            assert np.array_equal(b.local, target.local(expected, comm.rank)), (spec, target, box)
        comm.barrier()
        assert not [name for name in names_in(path) if name[0] == "."]


def write_by_h5py(path, given):
    """Datasets of every kind, attributes, links."""
    with h5py.File(path, "w") as f:
        for name, values in given.items():
            f[name] = values
        grid = np.arange(70).reshape(7, 10)
        f.create_dataset("chunks", data=grid.astype("i4"), chunks=(3, 4))
        f.create_dataset(
            "zip", data=grid.astype(">f4"), chunks=(3, 4), compression="gzip", shuffle=True
        )
        f.create_dataset("sums", data=grid.astype("u2"), chunks=(2, 10), fletcher32=True)
        f.create_dataset("lzf", data=grid, chunks=(3, 4), compression="lzf")
        f.create_dataset("sparse", (7, 10), "f8", chunks=(3, 4), fillvalue=7)[4, 4] = 1
        f.create_dataset("unwritten", (7, 10), "f8", fillvalue=3)
        f["words"] = np.array(["a", "b"], dtype=object)
        f["pairs"] = np.zeros(2, [("a", "i4"), ("b", "f8")])
        f["soft"] = h5py.SoftLink("/chunks")
        f["outside"] = h5py.ExternalLink("/etc/passwd", "/x")
        f["again"] = f["/"]  # a circle
        f.attrs.update(ok=True, names=["a", "b"], empty=h5py.Empty("f4"))
        f["chunks"].attrs.update(unit="K", n=3, span=[1.5, 2.0], z=1j, text=np.bytes_(b"fixed"))
        f["chunks"].dims[0].label = "time"


@ranks(1, 2)
def test_files_of_h5py_are_read(comm):
    given = {
        "rows": np.arange(30.0).reshape(5, 6),
        "big": np.arange(30).reshape(5, 6).astype(">i4"),
        "run/flags": np.array([True, False, True]),
        "half": np.arange(3, dtype="f2"),
        "raw": np.array([b"abc", b"defg"], "V4"),
        "waves": np.arange(6).reshape(2, 3) * (1 + 2j),
        "one": np.float32(2.5),
        "none": np.zeros((0, 3)),
    }
    with folder(comm) as path:
        name = f"{path}/theirs.h5"
        first_does(comm, lambda: write_by_h5py(name, given))
        s = hk.open_store(name, comm=comm)
        more = ["chunks", "lzf", "sparse", "sums", "unwritten", "zip"]
        assert sorted(s) == sorted([*given, *more])
        assert s.attributes == {"ok": True, "names": ["a", "b"]}
        assert s["chunks"].attributes == {
            "unit": "K", "n": 3, "span": [1.5, 2.0], "z": [0.0, 1.0], "text": "fixed",
        }  # fmt: skip
        assert s["chunks"].dimension_names == ("time", None) and s["chunks"].chunks == (3, 4)
        assert s["zip"].codec == "shuffle+gzip" and s["rows"].chunks == (5, 6)
        with h5py.File(name) as f:
            wanted = {each: f[each][()] for each in s if each != "lzf"}
        for each, values in wanted.items():
            stored = s[each]
            assert stored.shape == values.shape and stored.dtype == values.dtype.newbyteorder("=")
            assert np.array_equal(stored[...], values), each
            got = hk.load(name, names=[each], comm=comm)[each].gather()
            assert comm.rank or np.array_equal(got, values), each
        for each, words in [
            ("words", "texts"),
            ("pairs", "compounds"),
            ("soft", "no array"),
            ("outside", "no array"),
        ]:
            raises_everywhere(comm, hk.Error, lambda n=each: s.read(n), words)
        # Elements in place, those that HDF5's library has to write, and those it cannot.
        with hk.open_store(name, "r+", comm=comm) as s:
            for each in ["rows", "chunks", "sparse", "unwritten", "zip"]:
                lay = hk.Layout((2, 3), "(*, BLOCK)", comm.size)
                part = hk.from_function(lambda i, j: 60 + i - j, lay, s[each].dtype, comm)
                s.write(each, part, region=np.s_[3:5, 1:4], writers=comm.size)
                wanted[each][3:5, 1:4] = np.subtract.outer([60, 61], [0, 1, 2])
                assert np.array_equal(s[each][...], wanted[each]), each
            big = hk.zeros(hk.Layout((5, 6), "(BLOCK, *)", comm.size), "i4", comm)
            raises_everywhere(comm, hk.Error, lambda: s.write("big", big), "order of bytes")
        comm.barrier()
        with h5py.File(name) as f:
            for each, values in wanted.items():
                assert np.array_equal(f[each][()], values), each


@ranks(2, 3)
def test_checkpoints_attributes_and_series(comm):
    lay = hk.Layout((40, 6), "(CYCLIC, *)", comm.size)
    a = hk.from_function(lambda i, j: 10 * i + j, lay, "int64", comm)
    attributes = {"step": 7, "x": 1.5, "name": "é", "on": [True, False], "big": 2**64 - 1}
    with folder(comm) as path:
        name = f"{path}/run.h5"
        hk.save(name, {"t": a, "run/u": a}, attributes=attributes)
        old = hk.open_store(name, comm=comm)
        with h5py.File(name) as f:
            assert f["run/u"].chunks is None and f["t"][39, 5] == 395
            assert f.attrs["step"] == 7 and f.attrs["name"] == "é" and f.attrs["on"][0]
        comm.barrier()
        b = hk.from_function(lambda i, j: -i, lay, "int64", comm)
        hk.save(name, {"t": b}, keep=1, codec="gzip")
        assert np.array_equal(old.read("t", lay).local, a.local)  # that was opened before
        d = hk.load(name, comm=comm)
        assert d["t"].local[0, 0] == -d["t"].layout.global_indices(comm.rank)[0][0]
        comm.barrier()
        assert names_in(path) == ["run.h5", "run.h5.1"]
        series = f"{path}/series.h5"
        with hk.open_store(series, "w", comm=comm) as s:
            s.create("t", (0, 6), "int64", chunks=(3, 4), dimension_names=["time", "x"])
            s.create("z", (0, 6), "int64", chunks=(3, 4), codec="gzip")
            s.create("fixed", (40, 6), "int64")
            for step in range(4):
                for each in "tz":
                    s.append(each, a.section(np.s_[7 * step : 7 * step + 7]))
            raises_everywhere(comm, hk.Error, lambda: s.append("fixed", a), "cannot grow")
            wrong = hk.zeros(hk.Layout((1, 5), "(*, BLOCK)", comm.size), "int64", comm)
            raises_everywhere(comm, hk.MismatchError, lambda: s.append("t", wrong), "shape")
            assert s["t"].shape == (28, 6)
            s.set_attributes({"steps": 4})
        comm.barrier()
        with h5py.File(series) as f:
            wanted = 10 * np.arange(28)[:, None] + np.arange(6)
            assert np.array_equal(f["t"][()], wanted) and np.array_equal(f["z"][()], wanted)
            assert f["t"].dims[0].label == "time" and dict(f.attrs) == {"steps": 4}
        comm.barrier()
        hk.rechunk(series, f"{path}/copy.zarr", chunks=(5, 6), comm=comm)
        with hk.open_store(f"{path}/copy.zarr", "a", comm=comm) as s:
            s.set_attributes({"seed": 2**64})
        copy = functools.partial(hk.rechunk, f"{path}/copy.zarr", f"{path}/copy.h5", comm=comm)
        raises_everywhere(comm, hk.Error, lambda: copy(chunks=(7, 6)), "64 bits")
        with hk.open_store(f"{path}/copy.zarr", "a", comm=comm) as s:
            s.set_attributes({"steps": 4})
        copy(chunks=(6, 6))
        assert np.array_equal(hk.open_store(f"{path}/copy.h5", comm=comm)["z"][...], wanted)


@ranks(2)
def test_bytes_are_read_once_and_written_by_all(comm):
    lay = hk.Layout((256, 512), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 1.0 * i - j, lay, comm=comm)
    with folder(comm) as path, hk.open_store(f"{path}/a.h5", "w", comm=comm) as s:
        for name, chunks in [("plain", None), ("chunks", (32, 512))]:
            s.create(name, lay.shape, chunks=chunks)
            before = _mpi.store_counts()
            s.write(name, a)
            between = _mpi.store_counts()
            b = s.read(name, hk.Layout(lay.shape, "(*, *)"))
            after = _mpi.store_counts()
            wrote = comm.allgather(between["bytes_written"] - before["bytes_written"])
            read = comm.allgather(after["bytes_read"] - between["bytes_read"])
            assert comm.rank or b.local[200, 3] == 197
            # The first write leaves a mark beside the file.
            assert 0 <= sum(wrote) - lay.num_elements * 8 < 400  # the mark
            assert sum(read) == lay.num_elements * 8
            assert name == "plain" or min(wrote) >= lay.num_elements * 4


@ranks(2)
def test_files_and_options_that_do_not_fit_are_named(comm):
    a = hk.from_function(lambda i, j: i + j, hk.Layout((4, 6), "(BLOCK, *)", comm.size), "i4", comm)
    with folder(comm) as path:
        good = f"{path}/good.h5"
        hk.save(good, {"t": a})

        def damage():
            data = Path(good).read_bytes()
            Path(path, "text.h5").write_bytes(b"no such file" * 99)
            Path(path, "cut.h5").write_bytes(data[: len(data) // 2])
            Path(path, "empty.h5").write_bytes(b"")
            with h5py.File(f"{path}/virtual.h5", "w") as f:
                there = h5py.VirtualLayout((4,), "i4")
                there[:] = h5py.VirtualSource("/etc/passwd", "t", (4,))
                f.create_virtual_dataset("v", there)
                f.create_dataset("e", (4,), "i4", external=[(f"{path}/raw", 0, 16)])
                f.create_dataset("x", data=np.zeros(4, np.longdouble))

        first_does(comm, damage)
        for name in ["text", "cut", "empty"]:
            raises_everywhere(
                comm, hk.Error, lambda n=name: hk.open_store(f"{path}/{n}.h5", comm=comm), "HDF5"
            )
        raises_everywhere(comm, hk.Error, lambda: hk.load(f"{path}/no.h5", comm=comm), "no file")
        other = hk.open_store(f"{path}/virtual.h5", comm=comm)
        for name, words in [("v", "virtual"), ("e", "other files"), ("x", "16 bytes")]:
            raises_everywhere(comm, hk.Error, lambda n=name: other.read(n), words)
        raises_everywhere(
            comm, hk.Error, lambda: hk.open_store(good, "w", comm=comm), "there already"
        )
        with hk.open_store(f"{path}/new.h5", "w", comm=comm) as s:
            for options, words in [
                ({"chunks": (2, 3), "shards": (4, 6)}, "shards"),
                ({"codec": "zstd"}, "zstd"),
                ({"attributes": {"a": {"b": 1}}}, "'a'"),
                ({"attributes": {"a": [1, "b"]}}, "'a'"),
                ({"attributes": {"a": None}}, "'a'"),
                ({"attributes": {"a": [1, 2**64]}}, "64 bits"),
            ]:
                raises_everywhere(
                    comm, hk.Error, lambda o=options: s.create("y", (4, 6), "i4", **o), words
                )
            assert list(s) == []
            raises_everywhere(
                comm, hk.Error, lambda: hk.open_store(f"{path}/new.h5", "a", comm=comm), "writing"
            )
            s.create("y", (4, 6), "i4", chunks=(2, 3))
            s.write("y", a)
            assert hk.open_store(f"{path}/good.h5", comm=comm).unfinished is None
        first_does(comm, lambda: os.truncate(good, Path(good).stat().st_size - 32))
        raises_everywhere(comm, hk.Error, lambda: hk.load(good, comm=comm), "truncated")


def write_odd_things(path):
    """Writes datasets by h5py that few programs expect."""
    with h5py.File(path, "w") as f:
        f.create_dataset("rows", (512, 1024), "f8")  # no space in the file yet
        f.create_dataset("chunks", (64, 64), "f8", chunks=(64, 64), compression="gzip")
        f.create_dataset("fixed", (2, 3), "i4", chunks=(2, 3), maxshape=(2, 3))
        kind = h5py.h5t.create(h5py.h5t.OPAQUE, 4)
        kind.set_tag(b"a tag")
        shuffled = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        shuffled.set_chunk((2,))
        shuffled.set_deflate(4)
        space = h5py.h5s.create_simple((2,))
        tagged = h5py.h5d.create(f.id, b"tagged", kind, space, shuffled)
        tagged.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"abcd", b"efgh"], "V4"), kind)
        h5py.h5d.create(f.id, b"\xff\xfe", h5py.h5t.STD_I32LE, space)
        f.attrs.update(a=1, b=h5py.Empty("f4"), c=3)


@ranks(1, 2)
def test_small_buffers_readers_and_names_of_others(comm):
    lay = hk.Layout((64, 64), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 64.0 * i + j, lay, comm=comm)
    wanted = np.arange(4096.0).reshape(64, 64)
    with folder(comm) as path:
        name = f"{path}/odd.h5"
        first_does(comm, lambda: write_odd_things(name))
        # HDF5's lock of a reader in another program, which keeps the file open, stops nobody.
        reader = os.open(name, os.O_RDONLY)
        fcntl.flock(reader, fcntl.LOCK_SH)
        with hk.open_store(name, "r+", comm=comm) as s:
            rows = s["rows"]
            s.write("chunks", a)
            large = hk.Layout(rows.shape, "(BLOCK, *)", comm.size)
            b = hk.from_function(lambda i, j: 1024.0 * i + j, large, comm=comm)
            s.write("rows", b, max_buffer=1 << 20)
            assert np.array_equal(s.read("rows", large, max_buffer=1 << 20).local, b.local)
            assert s["rows"][511, 1023] == 2**19 - 1
            s.create("u", (64, 64), codec="gzip")
            s.create("v", (64, 64), chunks=(8, 8))
            moves = [s.iwrite("u", a), s.iwrite("v", a)]
            for _ in range(5):  # while process 0 writes
                assert np.array_equal(s["chunks"][...], wanted)
            for each in moves:
                each.wait()
            assert bytes(s["tagged"][...]) == b"abcdefgh" and rows.shape == (512, 1024)
            small = hk.zeros(hk.Layout((2, 3), "(*, BLOCK)", comm.size), "i4", comm)
            raises_everywhere(comm, hk.Error, lambda: s.append("fixed", small), "HDF5")
            s.set_attributes({"b": 2})
        comm.barrier()
        os.close(reader)
        assert names_in(path) == ["odd.h5"]  # no chunks of Zarr, no mark
        with h5py.File(name) as f:
            for each in ["chunks", "u", "v"]:
                assert np.array_equal(f[each][()], wanted), each
            assert np.array_equal(f["rows"][()].reshape(-1), np.arange(2.0**19))
            assert dict(f.attrs) == {"b": 2}
        comm.barrier()
        # A save waits for no writer, an old handle reads the old file, and writes nothing into the
        # next one.
        for end, arrays in [("h5", ["t", "z"]), ("npy", ["t"])]:
            run = f"{path}/t.{end}"
            codec = {"codec": "gzip"} if end == "h5" else {}
            hk.save(run, dict.fromkeys(arrays, -a), **codec)
            with hk.open_store(run, comm=comm) as old:
                hk.save(run, dict.fromkeys(arrays, a))
                assert np.array_equal(old.read("t", a.layout).local, -a.local)
            with hk.open_store(run, "r+", comm=comm) as old:
                raises_everywhere(
                    comm,
                    hk.Error,
                    lambda r=run: hk.save(r, {"t": a}),
                    "open for writing by process",
                )
                first_does(comm, lambda r=run: Path(shutil.copy(r, f"{r}.x")).replace(r))
                raises_everywhere(comm, hk.Error, lambda h=old: h.write("t", a), "replaced")
            assert np.array_equal(hk.load(run, comm=comm)["t"].local, a.local)
            assert np.array_equal(hk.load(run, comm=comm)["t"].local, a.local)


@pytest.mark.one_host("the small file system is one of rank 0's host alone")
@ranks(2)
def test_a_full_disk_leaves_a_file_as_it_was(comm):
    """HDF5 changes its metadata in place."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small tmpfs")
    few = hk.from_function(lambda i: i, hk.Layout(100, "(BLOCK)", 2), "int64")
    more = hk.from_function(lambda i: i, hk.Layout(2000, "(BLOCK)", 2), "int64")
    text = {"a": "x" * 60000}
    with folder(comm) as path:
        made = ["mount", "-t", "tmpfs", "-o", "size=4m", "x", path]
        if not comm.bcast(comm.rank == 0 and subprocess.run(made).returncode == 0):
            pytest.skip("this machine lets nobody mount a tmpfs")
        try:
            fill = Path(path, "fill")
            with hk.open_store(f"{path}/a.h5", "w", comm=comm) as s:
                s.create("t", 0, "int64", chunks=10)
                s.create("z", 0, "int64", chunks=10, codec="gzip")
                for name in "tz":
                    s.append(name, few)
                s.set_attributes({"step": 1})
                for left in (0, 1 << 16):
                    first_does(comm, lambda left=left: fill_disk(fill, left))
                    for call in (
                        lambda: s.append("t", few),
                        lambda: s.append("z", few),
                        lambda: s.set_attributes(text),
                        lambda: s.create("v", 3, attributes=text),
                    ):
                        raises_everywhere(comm, hk.Error, call, "No space left")
                first_does(comm, lambda: fill_disk(fill, 3 << 19))  # no page for each small chunk
                s.append("t", more)
                first_does(comm, fill.unlink)
            found = hk.open_store(f"{path}/a.h5", comm=comm)
            assert (
                list(found) == ["t", "z"]
                and found.attributes == {"step": 1}
                and found.unfinished is None
            )
            assert np.array_equal(found["t"][...], [*range(100), *range(2000)])
            assert np.array_equal(found["z"][...], np.arange(100))
            assert Path(path, "a.h5").stat().st_size < 1 << 16
            del found
        finally:
            comm.barrier()
            if comm.rank == 0:
                subprocess.run(["umount", "-l", path], check=True)
            comm.barrier()


def fill_disk(file, left):
    """Writes until the disk is full, then gives back the last bytes."""
    with file.open("wb", buffering=0) as f:
        with suppress(OSError):
            while True:
                f.write(bytes(4096))
        f.truncate(max(0, f.tell() - left))


@ranks(2)
def test_attributes_change_whole_or_not_at_all(comm):
    with folder(comm) as path:
        name = f"{path}/a.h5"
        with hk.open_store(name, "w", comm=comm) as s:
            good = {"i": [1, 2**64 - 1], "j": [-1, 2**63 - 1], "text": "x" * 100000}
            s.set_attributes(good)
            labels = {"DIMENSION_LABELS": ["a", "b"]}
            for wrong, words in [
                ({"i": [-1, 2**63]}, "negative"),
                ({"i": [0.5] * 8192}, "bytes"),
                (labels, "dimension_names"),
            ]:
                raises_everywhere(comm, hk.Error, lambda a=wrong: s.set_attributes(a), words)
                raises_everywhere(
                    comm, hk.Error, lambda a=wrong: s.create("t", (2, 3), attributes=a), words
                )
            s.create("t", (2, 3), dimension_names=["a", "b"])
            assert s.attributes == good and list(s) == ["t"]
        comm.barrier()
        with h5py.File(name) as f:
            assert f.attrs["i"].tolist() == good["i"] and f.attrs["j"].tolist() == good["j"]
            assert f.attrs["text"] == good["text"] and list(f) == ["t"]


def test_without_hdf5_an_error_says_how_to_get_it(tmp_path):
    program = "import sys, hocket as hk; hk.open_store(sys.argv[1], 'w')"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.h5")],
        env={**os.environ, "HOCKET_HDF5": "none"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode != 0 and "libhdf5-103-1 or the Python package h5py" in ended.stderr


def test_the_library_of_h5py_serves_too(tmp_path):
    """Another version of HDF5 than the system's, in one process with h5py."""
    libraries = sorted(Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*"))
    if not libraries:
        pytest.skip("this h5py uses the system's HDF5")
    program = (
        "import resource, sys, h5py, hocket as hk\n"
        "a = hk.from_function(lambda i: i, hk.Layout(50, '(*)'), 'int32')\n"
        "hk.save(sys.argv[1], {'t': a}, attributes={'n': 1})\n"
        "with h5py.File(sys.argv[1]) as f: assert f['t'][49] == 49\n"
        "assert hk.load(sys.argv[1])['t'].local[49] == 49\n"
        "with hk.open_store(sys.argv[1], 'a') as s:\n"
        "    s.create('z', 50, 'int32', chunks=20, codec='gzip'); s.write('z', a)\n"
        "assert h5py.File(sys.argv[1])['z'][49] == 49\n"
        # A file that cannot be closed, as the disk is full, does not end the program.
        "limit = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))\n"
        "try: hk.save(sys.argv[1] + '.h5', {'t': a})\n"
        "except hk.Error as error: assert 'too large' in str(error), error\n"
        "else: raise AssertionError('it was saved')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, limit)\n"
    )
    for each in [str(libraries[0]), None]:
        env = {**os.environ, "HOCKET_HDF5": each or ""}
        path = tmp_path / f"a{each is None}.h5"
        subprocess.run([sys.executable, "-c", program, str(path)], env=env, check=True, timeout=120)
