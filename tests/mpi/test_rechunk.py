# SPDX-License-Identifier: BSD-3-Clause
"""hk.rechunk: the same elements in other chunks, whatever fits into memory; `hocket rechunk`."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from hocket.cli.main import main
from lockstep import ranks
from test_stores import folder

import hocket as hk
from hocket.stores import rechunking

SHAPE = (37, 21, 5)
WHOLE = np.arange(np.prod(SHAPE)).reshape(SHAPE)


def made(path, comm):
    lay = hk.Layout(SHAPE, "(BLOCK, *, *)", comm.size)
    a = hk.from_function(lambda i, j, k: (i * 21 + j) * 5 + k, lay, "int64")
    with hk.open_store(path, "w", comm=comm) as s:
        s.create("g/t", SHAPE, "int64", chunks=(4, 21, 5), shards=(8, 21, 5), fill=-1,
                 dimension_names=["time", "y", "x"], attributes={"unit": "K"})  # fmt: skip
        s.write("g/t", a)
        s.create("n", (3, 2, 2), "float32", fill=np.nan)
        s.set_attributes({"title": "here"})


@ranks(1, 3)
def test_other_chunks_and_axes_within_little_memory(comm):
    with folder(comm) as path:
        made(f"{path}/in", comm)
        for number, (chunks, shards, axes, most) in enumerate(
            [
                ((37, 3, 5), None, None, None),
                ((2, 37, 4), (4, 74, 8), (2, 0, 1), 1 << 14),
                (None, None, (1, 2, 0), 1 << 30),
            ]
        ):
            out = f"{path}/out{number}"
            hk.rechunk(f"{path}/in", out, chunks=chunks, shards=shards, axes=axes, max_memory=most)
            s = hk.open_store(out, comm=comm)
            order = axes or (0, 1, 2)
            assert np.array_equal(s["g/t"][...], WHOLE.transpose(order))
            assert chunks is None or s["g/t"].chunks == chunks
            names = ("time", "y", "x")
            assert s["g/t"].dimension_names == tuple(names[axis] for axis in order)
            assert s["g/t"].attributes == {"unit": "K"} and s.attributes == {"title": "here"}
            assert np.isnan(s["n"][...]).all() and s.unfinished is None
            comm.barrier()
            assert not Path(out, rechunking.PROGRESS).exists()


@ranks(2)
def test_what_was_ended_goes_on(comm):
    with folder(comm) as path:
        made(f"{path}/in", comm)
        seen = []

        def stop(name, done, blocks):
            seen.append((done, blocks))
            if done == 2:
                raise KeyboardInterrupt

        asked = ((2, 21, 5), None, None, 1 << 14, comm, None)
        with pytest.raises(KeyboardInterrupt):
            rechunking.copy(f"{path}/in", f"{path}/out", *asked, stop)
        assert seen[-1][1] > 2
        comm.barrier()
        raises_everywhere(
            comm, hk.Error, lambda: hk.rechunk(f"{path}/in", f"{path}/out"), "was begun with"
        )
        comm.barrier()
        progress = Path(path, "out", rechunking.PROGRESS)
        kept = progress.read_bytes()
        comm.barrier()
        if comm.rank == 0:
            progress.write_bytes(b"\xff")
        raises_everywhere(comm, hk.Error, lambda: hk.rechunk(f"{path}/in", f"{path}/out"), "utf-8")
        if comm.rank == 0:
            progress.write_bytes(kept)
        comm.barrier()
        before = hk.open_store(f"{path}/out", "r+", comm=comm)
        assert before.unfinished
        before._core.leave()
        comm.barrier()
        again = []
        rechunking.copy(f"{path}/in", f"{path}/out", *asked, lambda *told: again.append(told))
        copied = hk.open_store(f"{path}/out", comm=comm)
        assert np.array_equal(copied["g/t"][...], WHOLE) and copied.unfinished is None
        raises_everywhere(
            comm, hk.Error, lambda: hk.rechunk(f"{path}/in", f"{path}/out"), "is there already"
        )


def after_another_file(function, path, comm):
    """The function, of arguments for which another program first makes this file."""

    def both(*given):
        if comm.rank == 0:
            np.save(path, [1])
        return function(*given)

    return both


@ranks(1, 3)
def test_options_are_for_arrays_with_so_many_dimensions(comm):
    """Coordinates have fewer."""
    with folder(comm) as path:
        with hk.open_store(f"{path}/in", "w") as s:
            s.create("t", (4, 6), "int64", dimension_names=["y", "x"])
            s.create("x", 6, "int64", dimension_names=["x"])
            s.write(
                "t",
                hk.from_function(
                    lambda i, j: 6 * i + j, hk.Layout((4, 6), "(BLOCK, *)", comm.size), "int64"
                ),
            )
            s.write(
                "x", hk.from_function(lambda i: -i, hk.Layout(6, "(BLOCK)", comm.size), "int64")
            )
        hk.rechunk(f"{path}/in", f"{path}/out", chunks=(3, 2), axes=(1, 0))
        s = hk.open_store(f"{path}/out", comm=comm)
        assert np.array_equal(s["t"][...], np.arange(24).reshape(4, 6).T) and s["t"].chunks == (
            3,
            2,
        )
        assert np.array_equal(s["x"][...], -np.arange(6)) and s["x"].dimension_names == ("x",)
        # Refused calls leave nothing in the way, also where the first array could be made.
        for chunks in ((1, 1, 1), (0,)):
            refused = functools.partial(hk.rechunk, f"{path}/in", f"{path}/no", chunks=chunks)
            raises_everywhere(comm, hk.Error, refused, "chunks")
        hk.rechunk(f"{path}/in", f"{path}/no", chunks=(2, 3))
        assert hk.open_store(f"{path}/no", comm=comm)["t"].chunks == (2, 3)
        one, npy = f"{path}/t.zarr", f"{path}/t.npy"
        hk.save(one, {"t": hk.load(f"{path}/in", names=["t"], comm=comm)["t"]})
        raises_everywhere(comm, hk.Error, lambda: hk.rechunk(one, npy, chunks=(1, 1)), "no chunks")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rechunking, "_made", after_another_file(rechunking._made, npy, comm))
            raises_everywhere(comm, hk.Error, lambda: hk.rechunk(one, npy), "File exists")
        comm.barrier()
        assert np.load(npy).tolist() == [1]  # a file that the refused call did not make
        comm.barrier()
        if comm.rank == 0:
            Path(npy).unlink()
        hk.rechunk(one, npy)
        assert np.array_equal(hk.open_store(npy, comm=comm)["t"][...], np.arange(24).reshape(4, 6))
        for axes in ((0, 0), 3):
            call = functools.partial(hk.rechunk, f"{path}/in", f"{path}/none", axes=axes)
            raises_everywhere(comm, hk.Error, call, "axes")
        assert not Path(path, "none").exists()


def test_blocks_cover_each_element_once():
    for shape, tiles, other, most in [
        ((10, 7), (3, 2), (4, 7), 30),
        ((10, 7), (3, 2), (4, 7), 1),
        ((), (), (), 5),
        ((0, 4), (1, 4), (2, 2), 8),
    ]:
        seen = np.zeros(shape, int)
        for box in rechunking.blocks(shape, tiles, other, most):
            seen[box] += 1
            assert all(s.start % n == 0 for s, n in zip(box, tiles))
            assert np.prod([s.stop - s.start for s in box]) <= max(most, np.prod(tiles))
        assert (seen == 1).all()


def test_the_command_copies_and_tells(tmp_path, capfd):
    a = np.arange(24.0).reshape(4, 6)

    def make(comm):
        whole = hk.wrap(a.copy(), hk.Layout((4, 6), "(*, *)"), comm=comm)
        hk.save(tmp_path / "in.zarr", {"t": whole}, attributes={"step": 7})

    hk.run(make, ranks=1)
    words = [str(tmp_path / "in.zarr"), str(tmp_path / "out.zarr")]
    assert main(["rechunk", *words, "--chunks", "3,2", "--axes", "1,0", "--procs", "2"]) == 0
    assert "t: block 1 of 1" in "".join(capfd.readouterr())
    assert np.array_equal(hk.open_store(tmp_path / "out.zarr")["t"][...], a.T)
    assert main(["info", words[1]]) == 0
    assert "t: float64 (6, 4), chunks (3, 2), zstd, 192 bytes" in capfd.readouterr().out
    assert main(["info", words[1], "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["attributes"] == {"step": 7}
    capfd.readouterr()
    assert main(["rechunk", *words, "--chunks", "3,2"]) == 1
    said = capfd.readouterr().err
    assert said.startswith("hocket: ") and words[1] in said and "Traceback" not in said
    assert main(["rechunk", *words, "--chunks", "3x2"]) == 2
    assert "3x2" in capfd.readouterr().err
    assert main(["rechunk", f"{words[0]}-missing", words[1]]) == 1
    said = capfd.readouterr().err
    assert said.startswith("hocket: cannot open the store") and "Traceback" not in said
