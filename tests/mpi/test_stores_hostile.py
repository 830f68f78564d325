# SPDX-License-Identifier: BSD-3-Clause
"""Stores with contents that no program should write, and calls that no program should make: an
error on every process, at once, and the store is as it was."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks
from test_stores import folder, names_in

import hocket as hk

zarr = pytest.importorskip("zarr")


def written(comm, path):
    """A store with an array in several files, and the array."""
    lay = hk.Layout((8, 6), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 6.0 * i + j, lay)
    with hk.open_store(path, "w") as s:
        s.create("t", (8, 6), chunks=(2, 3))
        s.write("t", a)
    return a


def on_first(comm, call):
    comm.barrier()
    if comm.rank == 0:
        call()
    comm.barrier()


@ranks(2)
def test_pipes_in_a_store_are_named_and_awaited_by_nobody(comm):
    with folder(comm) as path:
        a = written(comm, f"{path}/s")

        def replaced(file):
            Path(path, file).unlink(missing_ok=True)
            os.mkfifo(Path(path, file))

        on_first(comm, lambda: replaced("s/t/c/0/0"))
        s = hk.open_store(f"{path}/s", comm=comm)
        raises_everywhere(comm, hk.Error, lambda: s.read("t", a.layout), "is a pipe")
        if comm.rank == 0:
            with pytest.raises(hk.Error, match="is a pipe"):
                s["t"][:2]
        with hk.open_store(f"{path}/s", "r+") as s:
            s.write("t", a)  # puts a file in its place
            assert np.array_equal(s.read("t", a.layout).local, a.local)
        for file in ("s/zarr.json", "a.npy", "a.h5"):
            on_first(comm, lambda name=file: replaced(name))
            store = f"{path}/{file.removesuffix('/zarr.json')}"
            raises_everywhere(
                comm, hk.Error, lambda at=store: hk.open_store(at, comm=comm), "is a pipe"
            )


LEASES = """
import fcntl, os, signal, sys
file = os.open(sys.argv[1], os.O_RDWR)
given_back = lambda *_: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
signal.signal(signal.SIGIO, given_back)
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError as error:
    print("this file system has no leases:", error, flush=True)
else:
    print("ready", flush=True)
while True:
    signal.pause()
"""


@ranks(2)
def test_a_lease_of_a_file_server_is_awaited(comm):
    with folder(comm) as path:
        a = written(comm, f"{path}/s")
        s = hk.open_store(f"{path}/s", comm=comm)
        told = None
        if comm.rank == 0:
            command = [sys.executable, "-c", LEASES, f"{path}/s/t/c/0/0"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
                try:
                    told = server.stdout.readline()
                    assert np.array_equal(s["t"][:2, :3], [[0, 1, 2], [6, 7, 8]])
                finally:
                    server.kill()
        if (told := comm.bcast(told)) != "ready\n":
            pytest.skip(told)
        comm.barrier()
        assert np.array_equal(s.read("t", a.layout).local, a.local)


@ranks(2)
def test_metadata_of_any_depth_ends_no_process(comm):
    with folder(comm) as path:
        written(comm, f"{path}/s")
        file = Path(path, "s/zarr.json")
        deep = '"attributes":{"a":' + 10**6 * "[" + 10**6 * "]" + "}"
        on_first(
            comm, lambda: file.write_text(file.read_text().replace('"attributes":{}', deep, 1))
        )
        call = lambda: hk.open_store(f"{path}/s", comm=comm)  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "1000002 deep")
        few = many = json.loads(200 * "[" + 200 * "]")
        for _ in range(100):
            many = [many]
        with hk.open_store(f"{path}/u", "w") as s:
            raises_everywhere(comm, hk.Error, lambda: s.set_attributes({"a": many}), "301 deep")
            s.set_attributes({"a": few, "b": '[{"' * 10**4})
        assert hk.open_store(f"{path}/u", comm=comm).attributes["a"] == few
        names = {f"name {k}": k for k in range(10**5)}  # each is found without all others
        with hk.open_store(f"{path}/u", "r+", comm=comm) as s:
            s.set_attributes(names)
        file = Path(path, "u/zarr.json")
        twice = '"name 0":0,"name 1":-1,"name 0":7'  # the last one counts
        on_first(comm, lambda: file.write_text(file.read_text().replace('"name 0":0', twice, 1)))
        found = hk.open_store(f"{path}/u", comm=comm).attributes
        assert found == names | {"name 0": 7} and list(found) == list(names)


@ranks(2)
def test_texts_that_are_no_json_are_shown(comm):
    with folder(comm) as path:
        a = written(comm, f"{path}/s")
        file = Path(path, "s/zarr.json")
        good = file.read_bytes()
        for text, words in [
            (b"\xff\xfe{\0\n", "is no JSON, or has a number that is too large: ??{??"),
            (good.replace(b'"fill_value":0.0', b'"fill_value":"x"'), "of 't'"),
            (
                good.replace(b'"fill_value":0.0', b'"fill_value":1e999'),
                "a number that is too large",
            ),
        ]:
            on_first(comm, lambda new=text: file.write_bytes(new))
            call = lambda: hk.open_store(f"{path}/s", comm=comm)  # noqa: E731
            raises_everywhere(comm, hk.Error, call, words)
        on_first(comm, lambda: file.write_bytes(good))
        assert np.array_equal(hk.load(f"{path}/s", a.layout)["t"].local, a.local)


@ranks(2)
def test_names_and_notes_that_are_no_utf8_are_passed_over(comm):
    with folder(comm) as path:
        written(comm, f"{path}/s")
        odd = b"\xff\xfe"

        def spoiled():
            Path(path, "s/.hocket-unfinished").write_bytes(odd)
            Path(path, "g").mkdir()
            Path(path, "g/zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
            shutil.copytree(Path(path, "s/t"), Path(path, "g/t"))
            shutil.copytree(Path(path, "s/t"), Path(path, "g", os.fsdecode(odd)))

        on_first(comm, spoiled)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = hk.open_store(f"{path}/s", comm=comm)
            assert s.unfinished == "another program"
        assert list(hk.open_store(f"{path}/g", comm=comm)) == ["t"]
        held = os.open(f"{path}/s/.hocket-lock", os.O_RDWR | os.O_CREAT)
        if comm.rank == 0:
            os.write(held, odd)
            fcntl.flock(held, fcntl.LOCK_EX)
        call = lambda: hk.open_store(f"{path}/s", "r+", comm=comm)  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "open for writing by another job")
        os.close(held)


@ranks(1, 3)
def test_names_that_other_readers_could_not_find_are_refused(comm):
    with folder(comm) as path, hk.open_store(f"{path}/s", "w") as s:
        s.create("t", 3)
        s.create("g/u", 3)
        for name, words in [
            ("t/u", "has an array 't'"),
            ("g", "has a group 'g'"),
            ("g/u/v", "has an array 'g/u'"),
            ("a\\b", "backslash"),
            ("a\0b", "no name"),
        ]:
            raises_everywhere(comm, hk.Error, lambda n=name: s.create(n, 3), words)
        for odd in ("a\nb", "é", "a,b", "'", '"'):
            s.create(odd, 3)
        if comm.rank == 0:
            assert sorted(zarr.open_group(f"{path}/s", mode="r")) == sorted(
                ["t", "g", "a\nb", "é", "a,b", "'", '"']
            )
        a = hk.zeros(hk.Layout(3, "(BLOCK)", comm.size))
        raises_everywhere(comm, hk.Error, lambda: hk.save(f"{path}/r", {"t": a, "t/u": a}), "'t/u'")
        assert names_in(path) == ["s"]
        nul = f"{path}/r\0.zarr"
        for call in (
            lambda: hk.save(nul, {"t": a}),
            lambda: hk.load(nul),
            lambda: hk.open_store(nul, "w", comm=comm),
        ):
            raises_everywhere(comm, hk.Error, call, "NUL")


@ranks(1, 3)
def test_extents_that_no_reader_would_take_are_refused(comm):
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            for shape, options, words in [
                ((2**40, 2**40), {"chunks": (1, 1)}, "more than 2^63 bytes"),
                ((2**40,), {"chunks": (1,), "shards": (2**30,)}, "more than 2^28 chunks"),
                ((2**63 - 1,), {"chunks": (2**62 + 1,), "dtype": "int8"}, "more than 2^63"),
            ]:
                raises_everywhere(
                    comm, hk.Error, lambda n=shape, o=options: s.create("t", n, **o), words
                )
            s.create("t", 2**60 - 1, chunks=(4,))
            ones = hk.ones(hk.Layout(1, "(BLOCK)", comm.size))
            raises_everywhere(comm, hk.Error, lambda: s.append("t", ones), "more than 2^63 bytes")
            s.create("u", 2**40, chunks=(2**38,))
        s = hk.open_store(f"{path}/s", comm=comm)
        assert s["t"].shape == (2**60 - 1,)
        # A few bytes that claim to be a chunk of 2 TiB.
        if comm.rank == 0:
            file = Path(path, "s/u/c/0")
            file.parent.mkdir()
            file.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(10))
            with pytest.raises(hk.Error, match="the chunk at"):
                s["u"][:2]


@ranks(1, 3)
def test_a_store_that_is_one_array_keeps_its_attributes_and_grows(comm):
    with folder(comm) as path:
        if comm.rank == 0:
            made = zarr.create_array(
                f"{path}/s", shape=(4,), chunks=(2,), dtype="int64", attributes={"k": 1},
                serializer=zarr.codecs.BytesCodec(endian="big"),
            )  # fmt: skip
            made[:] = np.arange(4)
        comm.barrier()
        a = hk.from_function(lambda i: 4 + i, hk.Layout(3, "(BLOCK)", comm.size), "int64")
        with hk.open_store(f"{path}/s", "r+", comm=comm) as s:
            raises_everywhere(comm, hk.Error, lambda: s.create("u", 3), "single array")
            s.set_attributes({"n": 2})
            s.append("", a)
            assert s.attributes == s[""].attributes == {"n": 2}
        if comm.rank == 0:
            found = zarr.open_array(f"{path}/s", mode="r")
            assert np.array_equal(found[...], np.arange(7)) and dict(found.attrs) == {"n": 2}
            assert json.loads(Path(path, "s/zarr.json").read_text())["attributes"] == {"n": 2}


@ranks(2)
def test_a_save_removes_nothing_but_checkpoints(comm):
    a = hk.zeros(hk.Layout(4, "(BLOCK)", comm.size))
    with folder(comm) as path:
        on_first(comm, lambda: Path(path, "run.2/results").mkdir(parents=True))
        call = lambda: hk.save(f"{path}/run", {"t": a}, keep=2)  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "run.2' is there and is no checkpoint")
        for step in range(3):
            hk.save(f"{path}/run", {"t": a}, attributes={"step": step}, keep=1)
        assert names_in(path) == ["run", "run.1", "run.2"] and names_in(f"{path}/run.2")
        # The number of checkpoints that are there counts, not the largest possible one.
        for step in range(3, 6):
            hk.save(f"{path}/u", {"t": a}, attributes={"step": step}, keep=2**31 - 1)
        steps = [hk.load(f"{path}/u{n}").attributes["step"] for n in ("", ".1", ".2")]
        assert steps == [5, 4, 3] and "u.3" not in names_in(path)
