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
            Path(path, "one").symlink_to("disk/t.npy")
            Path(path, "loop").symlink_to("loop")

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
        hk.save(f"{path}/one", {"t": a})
        if comm.rank == 0:
            assert np.array_equal(np.load(f"{path}/disk/t.npy"), np.arange(7))
        call = lambda: hk.save(f"{path}/one", {"t": a, "u": a})  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "one array")
        call = lambda: hk.save(f"{path}/loop", {"t": a})  # noqa: E731
        raises_everywhere(comm, hk.Error, call, "symbolic link")
        raises_everywhere(comm, hk.Error, lambda: hk.load(f"{path}/loop", comm=comm), "loop")
        assert names_in(path) == ["disk", "latest", "loop", "one"]


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
