# SPDX-License-Identifier: BSD-3-Clause
"""The mark of a store: which arrays and regions stay in it after a job, and what removes them."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks
from test_stores import folder

import hocket as hk

MARK = ".hocket-unfinished"


class Marked:
    """A store of two arrays, `t` and `u`, of 8 rows."""

    def __init__(self, path, comm):
        self.path, self.comm = Path(path, "s"), comm
        self.whole = hk.ones(hk.Layout((8, 6), "(BLOCK, *)", comm.size), comm=comm)
        with hk.open_store(self.path, "w", comm=comm) as s:
            for name in ("t", "u"):
                s.create(name, (8, 6), chunks=(2, 6))

    def open(self, mode="r+"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return hk.open_store(self.path, mode, comm=self.comm)

    def unfinished(self):
        return self.open("r").unfinished

    def rows(self, count):
        return hk.ones(hk.Layout((count, 6), "(BLOCK, *)", self.comm.size), comm=self.comm)

    def killed(self, *writes):
        """A job writes these (name, first row, end), and ends without closing the store."""
        s = self.open()
        for name, first, end in writes:
            s.write(name, self.rows(end - first), region=np.s_[first:end])
        s._core.leave()
        self.comm.barrier()

    def on_first(self, call):
        self.comm.barrier()
        if self.comm.rank == 0:
            call()
        self.comm.barrier()

    def mark(self):
        """The regions in the mark."""
        self.comm.barrier()
        fields = (self.path / MARK).read_text("utf-8").split("\0")
        self.comm.barrier()
        assert len(fields) % 3 == 1, fields
        return [(name, *bounds.split()) for name, bounds in zip(fields[1::3], fields[2::3])]


@ranks(1, 3)
def test_a_later_job_that_writes_another_array_leaves_the_mark_of_a_killed_one(comm):
    with folder(comm) as path:
        store = Marked(path, comm)
        store.killed(("t", 0, 8))
        with store.open() as s:
            s.write("u", store.whole)
        assert store.unfinished().endswith("began to write 't'")
        store.killed(("u", 2, 4))
        with store.open():
            pass
        assert "began to write 't'" in store.unfinished()
        with store.open() as s:
            s.write("t", store.whole)
        assert store.unfinished().endswith("began to write 'u'")
        with store.open() as s:
            s.write("u", store.rows(2), region=np.s_[2:4])
        assert store.unfinished() is None


@ranks(2)
def test_a_region_may_be_written_again_part_by_part(comm):
    with folder(comm) as path:
        store = Marked(path, comm)
        store.killed(("t", 0, 8))
        for first, end, left in [(6, 8, "0 6"), (3, 4, "0 6"), (0, 4, "4 6"), (4, 6, None)]:
            with store.open() as s:
                s.write("t", store.rows(end - first), region=np.s_[first:end])
            assert left is None or store.mark() == [("t", *left.split(), "0", "6")]
        assert store.unfinished() is None


@ranks(2)
def test_a_job_that_writes_row_after_row_announces_few_regions(comm):
    """Each of them costs a file that is synchronised to the disk."""
    with folder(comm) as path:
        store = Marked(path, comm)
        s = store.open()
        seen = set()
        for row in range(2, 8):
            s.write("t", store.rows(1), region=np.s_[row : row + 1])
            seen.add((store.path / MARK).stat().st_mtime_ns)
            comm.barrier()
        assert len(seen) == 2
        s._core.leave()
        comm.barrier()
        with store.open() as s:  # of a killed job it is not known which rows are whole
            s.write("t", store.rows(1), region=np.s_[7:8])
        assert store.mark() == [("t", "2", "7", "0", "6")]
        with store.open() as s:
            s.write("t", store.rows(6), region=np.s_[2:8])
        assert store.unfinished() is None


@ranks(2)
def test_the_mark_of_a_job_that_writes_many_arrays_is_short(comm):
    with folder(comm) as path:
        store = Marked(path, comm)
        s = store.open()
        requests = []
        for number in range(50):
            s.create(f"step{number}", (8, 6), chunks=(2, 6))
            if number < 3:  # these go on
                requests.append(s.iwrite(f"step{number}", store.whole))
            else:
                s.write(f"step{number}", store.whole)
        assert len(store.mark()) <= 17 and store.mark()[-1][0].startswith("step")
        assert "'step49'" in store.unfinished()
        for request in requests:
            request.wait()
        s._core.leave()
        comm.barrier()
        with store.open() as s:
            for name in sorted({region[0] for region in store.mark()}):
                s.write(name, store.whole)
        assert store.unfinished() is None


@ranks(2)
@pytest.mark.parametrize("text", [b"", b"\xff", b"by hand"])
def test_a_mark_without_regions_goes_with_the_next_write(comm, text):
    with folder(comm) as path:
        store = Marked(path, comm)
        store.on_first(lambda: (store.path / MARK).write_bytes(text))
        assert store.unfinished() == ("by hand" if text == b"by hand" else "another program")
        with store.open():
            pass
        assert store.unfinished() is not None
        with store.open() as s:
            s.write("t", store.whole)
        assert store.unfinished() is None


@ranks(2)
@pytest.mark.parametrize("bounds", ["0 8 0 6", "0 99999999999999999999 0 6", "5 3 0 6", "x", "0 8"])
def test_a_mark_can_be_cleared_whatever_its_regions(comm, bounds):
    with folder(comm) as path:
        store = Marked(path, comm)
        store.killed(("t", 0, 8))

        def damaged():
            fields = (store.path / MARK).read_text("utf-8").split("\0")
            fields[2] = bounds
            (store.path / MARK).write_text("\0".join(fields), encoding="utf-8")

        store.on_first(damaged)
        with store.open() as s:
            s.write("t", store.whole)
        assert store.unfinished() is None


@ranks(2)
@pytest.mark.parametrize("shape", [(5, 6), (0, 6)])
def test_a_mark_can_be_cleared_after_its_array_was_shrunk(comm, shape):
    with folder(comm) as path:
        store = Marked(path, comm)
        store.killed(("t", 2, 8))

        def shrunk():  # as by zarr-python's resize
            for file, keys in [
                ("t/zarr.json", ()),
                ("zarr.json", ("consolidated_metadata", "metadata", "t")),
            ]:
                text = json.loads((store.path / file).read_text("utf-8"))
                array = text
                for key in keys:
                    array = array[key]
                array["shape"] = list(shape)
                (store.path / file).write_text(json.dumps(text), encoding="utf-8")

        store.on_first(shrunk)
        with store.open() as s:
            if shape[0]:
                s.write("t", store.rows(shape[0] - 2), region=np.s_[2:])
        assert store.unfinished() is None


@ranks(2)
def test_a_mark_has_each_failed_region_once_and_no_old_text(comm):
    with folder(comm) as path:
        store = Marked(path, comm)

        def hindered():  # a file stands where writers need a folder
            shutil.rmtree(store.path / "t/c", ignore_errors=True)
            (store.path / "t/c").write_text("")

        store.on_first(hindered)
        s = store.open()
        for first, end in [(4, 6), (2, 8), (2, 8), (3, 5), (0, 1)]:
            part = store.rows(end - first)
            call = lambda a=part, box=np.s_[first:end]: s.write("t", a, region=box)  # noqa: E731
            raises_everywhere(comm, hk.Error, call, "/t/c")
        s.close()
        assert store.mark() == [("t", "2", "8", "0", "6"), ("t", "0", "1", "0", "6")]
        # hocket writes the mark in place, because it can make no file beside it.
        store.on_first(lambda: (store.path / f"{MARK}.new~").mkdir())
        store.on_first(lambda: (store.path / "t/c").unlink())
        with store.open() as s:
            s.write("t", store.rows(6), region=np.s_[2:8])
        assert store.mark() == [("t", "0", "1", "0", "6")]
        with store.open() as s:
            s.write("t", store.whole)
        assert store.unfinished() is None
