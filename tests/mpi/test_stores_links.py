# SPDX-License-Identifier: BSD-3-Clause
"""Symbolic links to stores, and in stores."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks
from test_stores import folder, names_in

import hocket as hk


def on_first(comm, call):
    comm.barrier()
    if comm.rank == 0:
        call()
    comm.barrier()


@ranks(1, 3)
def test_a_save_to_a_link_replaces_the_checkpoint_where_it_leads(comm):
    a = hk.from_function(lambda i: i, hk.Layout(7, "(BLOCK)", comm.size), "int64")
    with folder(comm) as path:

        def made():
            Path(path, "disk/deep").mkdir(parents=True)
            Path(path, "latest").symlink_to("disk/link")
            Path(path, "disk/link").symlink_to(f"{path}/disk/deep/run")
            Path(path, "one.npy").symlink_to("disk/t.npy")

        on_first(comm, made)
        for step in range(3):
            hk.save(f"{path}/latest", {"t": a}, attributes={"step": step}, keep=1)
            d = hk.load(f"{path}/latest", comm=comm)
            assert d.attributes == {"step": step} and d["t"].layout.shape == (7,)
            del d
        assert names_in(f"{path}/disk/deep") == ["run", "run.1"]
        # Between two renames of a file system that exchanges no names.
        on_first(comm, lambda: Path(path, "disk/deep/run").rename(f"{path}/disk/deep/.run.old"))
        assert hk.load(f"{path}/latest/", comm=comm).attributes == {"step": 2}
        on_first(comm, lambda: Path(path, "disk/deep/.run.old").rename(f"{path}/disk/deep/run"))
        with hk.open_store(f"{path}/latest", "r+") as s:
            s.write("t", a)
        assert Path(path, "latest").is_symlink() and Path(path, "disk/link").is_symlink()
        hk.save(f"{path}/one.npy", {"t": a})
        if comm.rank == 0:
            assert np.array_equal(np.load(f"{path}/disk/t.npy"), np.arange(7))
        call = lambda: hk.save(f"{path}/one.npy", {"t": a, "u": a})  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "one array")
        assert names_in(path) == ["disk", "latest", "one.npy"]


@ranks(1, 3)
def test_a_link_whose_target_ends_in_a_slash_is_a_link(comm):
    a = hk.from_function(lambda i: i, hk.Layout(7, "(BLOCK)", comm.size), "int64")
    with folder(comm) as path:

        def made():
            Path(path, "real").mkdir()
            Path(f"{path}/l1").symlink_to("real/ck.zarr/")
            Path(f"{path}/l2").symlink_to("l1/")

        on_first(comm, made)
        for step in range(2):  # at first there is nothing behind the links
            hk.save(f"{path}/l2", {"t": a}, attributes={"step": step})
            assert hk.load(f"{path}/l2", comm=comm).attributes == {"step": step}
            assert Path(f"{path}/l1").readlink() == Path("real/ck.zarr")
            assert Path(f"{path}/l2").readlink() == Path("l1")
        assert names_in(path) == ["l1", "l2", "real"]
        assert names_in(f"{path}/real") == ["ck.zarr"]


@ranks(1, 3)
def test_a_loop_of_links_is_named_on_every_process(comm):
    a = hk.from_function(lambda i: i, hk.Layout(7, "(BLOCK)", comm.size), "int64")
    with folder(comm) as path:

        def made():
            Path(f"{path}/one").symlink_to("two/")
            Path(f"{path}/two").symlink_to("one")
            Path(f"{path}/one.npy").symlink_to("two.npy")
            Path(f"{path}/two.npy").symlink_to("one.npy")
            Path(f"{path}/run.1").symlink_to("run.1")

        on_first(comm, made)
        for name in ("one", "one.npy"):
            for call in (
                lambda n=name: hk.save(f"{path}/{n}", {"t": a}),
                lambda n=name: hk.load(f"{path}/{n}", comm=comm),
                lambda n=name: hk.open_store(f"{path}/{n}", comm=comm),
                lambda n=name: hk.open_store(f"{path}/{n}", "r+", comm=comm),
            ):
                raises_everywhere(
                    comm, hk.Error, call, "loop of symbolic links", "correct the link"
                )
        # A kept checkpoint that is none.
        call = lambda: hk.save(f"{path}/run", {"t": a}, keep=1)  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "is no checkpoint")
        assert names_in(path) == ["one", "one.npy", "run.1", "two", "two.npy"]
        # A loop within a store.
        with hk.open_store(f"{path}/s", "w", comm=comm) as s:
            s.create("t", 7, "int64", chunks=7)
        on_first(comm, lambda: Path(f"{path}/s/t/c").symlink_to("c"))
        s = hk.open_store(f"{path}/s", comm=comm)
        raises_everywhere(comm, hk.Error, lambda: s.read("t", a.layout), "correct the link")


@ranks(1, 3)
def test_a_link_to_a_store_of_another_kind_is_refused(comm):
    a = hk.from_function(lambda i: i, hk.Layout(7, "(BLOCK)", comm.size), "int64")
    with folder(comm) as path:
        hk.save(f"{path}/t.npy", {"t": a})
        hk.save(f"{path}/folder", {"t": a})

        def made():
            Path(f"{path}/latest").symlink_to("t.npy")
            Path(f"{path}/u.npy").symlink_to("folder")
            Path(f"{path}/v.h5").symlink_to("t.npy")
            Path(f"{path}/w.h5").symlink_to("folder")

        on_first(comm, made)
        for link, kinds in [
            ("latest", ("of a folder of Zarr's", "of an .npy file")),
            ("u.npy", ("of an .npy file", "of a folder of Zarr's")),
            ("v.h5", ("of an HDF5 file", "of an .npy file")),
            ("w.h5", ("of an HDF5 file", "of a folder of Zarr's")),
        ]:
            call = lambda n=link: hk.save(f"{path}/{n}", {"t": -a})  # noqa: E731
            raises_everywhere(comm, hk.Error, call, *kinds, "correct the link")
        for call in (
            lambda: hk.open_store(f"{path}/latest", comm=comm),
            lambda: hk.load(f"{path}/latest", comm=comm),
        ):
            raises_everywhere(comm, hk.Error, call, "is a file", ".npy, .h5")
        call = lambda: hk.open_store(f"{path}/t.npy/s", comm=comm)  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "Not a directory")
        assert np.array_equal(hk.load(f"{path}/t.npy", a.layout)["t"].local, a.local)
        assert np.array_equal(hk.load(f"{path}/folder", a.layout)["t"].local, a.local)
        assert names_in(path) == ["folder", "latest", "t.npy", "u.npy", "v.h5", "w.h5"]


@ranks(2)
def test_a_link_out_of_a_store_is_refused_and_what_it_names_stays(comm):
    a = hk.from_function(lambda i: i, hk.Layout(8, "(BLOCK)", comm.size), "int64")
    with folder(comm) as path:
        hk.save(f"{path}/other", {"t": a})
        with hk.open_store(f"{path}/s", "w") as s:
            for name in ("t", "u", "v"):
                s.create(name, 8, "int64", chunks=2, codec="none")
                s.write(name, a)

        def linked():
            shutil.move(f"{path}/s/t/c", f"{path}/s/moved")
            Path(path, "s/t/c").symlink_to("../moved")  # within the store
            shutil.move(f"{path}/s/u/c", f"{path}/outside")
            Path(path, "s/u/c").symlink_to("../../outside")
            Path(path, "s/v/c/1").unlink()
            Path(path, "s/v/c/1").symlink_to("/etc/passwd")

        on_first(comm, linked)
        before = {name: Path(path, "outside", name).read_bytes() for name in "0123"}
        with hk.open_store(f"{path}/s", "r+", comm=comm) as s:
            s.write("t", a)
            assert np.array_equal(s.read("t", a.layout).local, a.local)
            for name in ("u", "v"):
                call = lambda n=name: s.read(n, a.layout)  # noqa: E731
                raises_everywhere(comm, hk.Error, call, "leads out of its store")
                if comm.rank == 0:
                    with pytest.raises(hk.Error, match="leads out of its store"):
                        s[name][...]
            raises_everywhere(comm, hk.Error, lambda: s.write("u", a), "leads out of its store")
        assert {name: Path(path, "outside", name).read_bytes() for name in "0123"} == before
        # A save removes links of the last checkpoint, not what they name.
        on_first(comm, lambda: Path(path, "other/x").symlink_to("../outside"))
        hk.save(f"{path}/other", {"t": a})
        assert {name: Path(path, "outside", name).read_bytes() for name in "0123"} == before
        assert not os.path.lexists(f"{path}/other/x")
