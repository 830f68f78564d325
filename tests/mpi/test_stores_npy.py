# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's files of one array, written and read by several processes, held against NumPy."""

import os
import warnings
from pathlib import Path

import numpy as np
from cases import raises_everywhere, source_of, target_of, whole
from lockstep import ranks
from test_stores import folder, names_in

import hocket as hk
import random_layouts


def first_writes(comm, path, values):
    """One process writes a file by NumPy, and all wait for it."""
    if comm.rank == 0:
        np.save(path, values, allow_pickle=False)
    comm.barrier()


@ranks(1, 2, 3)
def test_random_layouts_and_regions(comm):
    rng = np.random.default_rng([7, comm.size])
    own = np.random.default_rng([8, comm.size, comm.rank])
    choose = random_layouts.from_rng(rng)
    with folder(comm) as path:
        for case in range(12):
            shape = random_layouts.any_shape(choose)
            dtype = np.dtype(["bool", "int16", "float32", "float64", "complex64"][case % 5])
            values = whole(shape, dtype, case)
            spec = random_layouts.any_layout(choose, shape, comm.size, gaps=False)
            source, _ = source_of(spec, values, comm, own)
            name = f"{path}/a{case}.npy"
            if case % 2:
                hk.save(name, {f"a{case}": source})
            else:
                with hk.open_store(name, "w", comm=comm) as s:
                    s.create(f"a{case}", shape, dtype)
                    s.write(f"a{case}", source, writers=1 + case % comm.size)
            comm.barrier()
            assert np.array_equal(np.load(name), values) and np.load(name).dtype == dtype
            start = [int(rng.integers(0, n + 1)) for n in shape]
            box = tuple(slice(a, int(rng.integers(a, n + 1))) for a, n in zip(start, shape))
            axes = [int(axis) for axis in rng.permutation(len(shape))]
            wanted = values[box].transpose(axes)
            target = random_layouts.any_layout(choose, wanted.shape, comm.size, gaps=True)
            b, _ = target_of(target, dtype, comm, own)
            hk.open_store(name, comm=comm).read(f"a{case}", b.layout, region=box, axes=axes, out=b)
            assert np.array_equal(b.local, target.local(wanted, comm.rank)), (spec, target, box)
        comm.barrier()
        assert not [name for name in names_in(path) if name[0] == "."]


@ranks(1, 2)
def test_what_numpy_writes_is_read(comm):
    rng = np.random.default_rng(3)
    values = rng.integers(-99, 99, (7, 5, 6)).astype("int32")
    turned = np.asfortranarray(values)
    with folder(comm) as path:
        for name, given in {
            "rows": values,
            "columns": turned,
            "big": values.astype(">i4"),
            "bigf": turned.astype(">f8"),
            "one": np.float32(2.5),
            "none": values[:0],
        }.items():
            first_writes(comm, f"{path}/{name}.npy", given)
            s = hk.open_store(f"{path}/{name}.npy", comm=comm)
            assert list(s) == [name] and s[name].shape == given.shape
            assert np.array_equal(s[name][...], given) and s[name].codec == "none"
            if given.ndim == 3:
                b = s.read(name, hk.Layout(given.shape, "(*, CYCLIC, BLOCK)", (comm.size, 1)))
                assert np.array_equal(b.local, given[:, comm.rank :: comm.size]), name
                part = hk.load(f"{path}/{name}.npy", comm=comm)[name]
                assert np.array_equal(part.gather(), given) or comm.rank
        # A part of it in place; what lies beside stays.
        a = hk.from_function(lambda i, j: i - j, hk.Layout((5, 6), "(BLOCK, *)", comm.size), "i4")
        with hk.open_store(f"{path}/columns.npy", "r+", comm=comm) as s:
            three = hk.from_function(
                lambda k, i, j: i - j, hk.Layout((1, 5, 6), "(*, BLOCK, *)", comm.size), "i4"
            )
            s.write("columns", three, region=np.s_[2:3])
        comm.barrier()
        wanted = values.copy()
        wanted[2] = np.subtract.outer(np.arange(5), np.arange(6))
        assert np.array_equal(np.load(f"{path}/columns.npy"), wanted)
        del a


@ranks(2)
def test_files_that_do_not_fit_are_named(comm):
    lay = hk.Layout((4, 6), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 1.0 * i + j, lay)
    with folder(comm) as path:
        for name, data, words in [
            ("text", b"no header of such a file", "does not begin"),
            ("cut", b"\x93NUMPY\1\0\xff\x7f{        }", "header says"),
            ("bytes", b"\x93NUMPY\1\0\x10\0{'descr': '\xad' }\n", "no ASCII"),
            ("version", b"\x93NUMPY\7\0\x10\0{              \n", "version 7"),
        ]:
            if comm.rank == 0:
                Path(path, f"{name}.npy").write_bytes(data)
            comm.barrier()
            raises_everywhere(
                comm, hk.Error, lambda f=f"{path}/{name}.npy": hk.open_store(f, comm=comm), words
            )
        first_writes(comm, f"{path}/s.npy", np.zeros(3, [("a", "i4"), ("b", "f8")]))
        raises_everywhere(
            comm, hk.Error, lambda: hk.open_store(f"{path}/s.npy", comm=comm), "structured"
        )
        raises_everywhere(
            comm, hk.Error, lambda: hk.open_store(f"{path}/no.npy", comm=comm), "no file"
        )
        hk.save(f"{path}/run.npy", {"run": a})
        refused = [
            (lambda: hk.save(f"{path}/x.npy", {"a": a, "b": a}), "one array"),
            (lambda: hk.save(f"{path}/x.npy", {"a": a}, attributes={"n": 1}), "no attributes"),
            (lambda: hk.open_store(f"{path}/run.npy", "w", comm=comm), "there already"),
        ]
        for call, words in refused:
            raises_everywhere(comm, hk.Error, call, words)
        with hk.open_store(f"{path}/y.npy", "w", comm=comm) as s:
            for options, words in [
                ({"chunks": (2, 3)}, "chunks"),
                ({"fill": 1}, "fill value"),
                ({"codec": "gzip"}, "compression"),
            ]:
                raises_everywhere(
                    comm, hk.Error, lambda o=options: s.create("y", (4, 6), **o), words
                )
            s.create("y", (4, 6))
            raises_everywhere(comm, hk.Error, lambda: s.append("y", a), "cannot grow")
        # A truncated file, and one that was not closed.
        comm.barrier()
        if comm.rank == 0:
            os.truncate(f"{path}/run.npy", 200)
        comm.barrier()
        raises_everywhere(comm, hk.Error, lambda: hk.load(f"{path}/run.npy"), "cut off")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = hk.open_store(f"{path}/y.npy", "r+", comm=comm)
            s.write("y", a)
            raises_everywhere(
                comm, hk.Error, lambda: hk.open_store(f"{path}/y.npy", "r+", comm=comm), "writing"
            )
            assert hk.open_store(f"{path}/y.npy", comm=comm).unfinished
            s.close()
            assert hk.open_store(f"{path}/y.npy", comm=comm).unfinished is None


@ranks(2)
def test_a_save_takes_the_place_of_the_last_one(comm):
    lay = hk.Layout(1000, "(CYCLIC)", comm.size)
    a = hk.from_function(lambda i: i, lay, "int64")
    b = hk.from_function(lambda i: -i, lay, "int64")
    with folder(comm) as path:
        hk.save(f"{path}/run.npy", {"run": a})
        old = hk.open_store(f"{path}/run.npy", comm=comm)
        hk.save(f"{path}/run.npy", {"run": b}, keep=1)
        comm.barrier()
        assert np.array_equal(old.read("run", lay).local, a.local)  # that was opened before
        assert np.array_equal(hk.load(f"{path}/run.npy", lay)["run"].local, b.local)
        assert np.array_equal(np.load(f"{path}/run.npy.1"), np.arange(1000))
        comm.barrier()
        assert names_in(path) == ["run.npy", "run.npy.1"]
