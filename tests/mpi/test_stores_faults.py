# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of stores where files are damaged, disks are full and jobs are killed."""

import contextlib
import functools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import mpiexec, ranks
from test_stores import folder, names_in

import hocket as hk

SAVES = """
import sys
import hocket as hk
lay = hk.Layout((int(sys.argv[4]), 300), "(BLOCK, *)", int(sys.argv[2]))
a = hk.zeros(lay, "int64")
for step in range(1, int(sys.argv[3])):
    a.local[...] = step
    hk.save(sys.argv[1], {"t": a, "u": a}, attributes={"step": step})
    if a.comm.rank == 0:
        with open(sys.argv[1] + ".told", "a") as told:
            print(step, file=told)
"""


def started(
    path: Path, processes: int, steps: int, rows: int = 64
) -> tuple[list[str], dict[str, str]]:
    """The command line of a job that saves, and its environment."""
    program = path.parent / "saves.py"
    program.write_text(SAVES, encoding="utf-8")
    words = [str(program), str(path), str(processes), str(steps), str(rows)]
    env = mpiexec.environment(os.environ, str(path.parent), processes, None)
    return [mpiexec.find(), "-n", str(processes), sys.executable, *words], env


def end_all(path: Path) -> None:
    """Every process that has this path on its command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{path}\0".encode() in (entry / "cmdline").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)


def killed_once(path: Path, seed: int) -> None:
    """A job saves again and again until it is killed; the checkpoint is one of those, whole."""
    line, env = started(path, 2, 1000000)
    told = path.with_name(f"{path.name}.told")  # mpiexec, which is killed too, would lose lines
    told.write_text("", encoding="utf-8")
    job = subprocess.Popen(line, env=env)
    end = time.monotonic() + 180  # a busy machine starts jobs slowly
    while not told.read_text(encoding="utf-8"):
        assert time.monotonic() < end and job.poll() is None
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0, 0.2))
    end_all(path)
    job.kill()
    job.wait()
    last = int(told.read_text(encoding="utf-8").split()[-1])
    s = hk.open_store(path)
    step = s.attributes["step"]
    assert step in (last, last + 1), seed
    for name in ("t", "u"):
        assert (s[name][...] == step).all(), seed


def test_a_job_that_is_killed_leaves_one_checkpoint_whole(tmp_path):
    for seed in range(2):
        killed_once(tmp_path / f"run{seed}", seed)
    # And what it left beside does not keep the next one from saving.
    assert_saves(tmp_path / "run0")


def assert_saves(path: Path) -> None:
    line, env = started(path, 1, 2)
    subprocess.run(line, env=env, check=True, timeout=120)
    assert hk.open_store(path).attributes == {"step": 1}
    assert [p.name for p in path.parent.glob(f".{path.name}*")] == []


@ranks(2)
def test_two_jobs_that_save_to_one_path_never_mix(comm):
    """One is refused while the other saves; a reader sees one checkpoint, whole."""
    alone, lay = comm.Split(comm.rank), hk.Layout(1000, "(BLOCK)", 1)
    saved = 0
    with folder(comm) as path:
        a = hk.full(lay, 0, "int64", comm=alone)
        if comm.rank == 0:
            hk.save(f"{path}/run", {"t": a, "u": a}, attributes={"step": 0})
        comm.barrier()
        for step in range(comm.rank, 40, 2):
            a.local[...] = step
            try:
                hk.save(f"{path}/run", {"t": a, "u": a}, attributes={"step": step})
                saved += 1
            except hk.Error as error:
                # The other job may end its save before this one reads its process number.
                holders = ("process ", "another job")
                assert any(f"is open for writing by {x}" in str(error) for x in holders), error
            d = hk.load(f"{path}/run", lay, comm=alone)
            for name in "tu":
                assert (d[name].local == d.attributes["step"]).all(), (d[name].local, d.attributes)
        assert comm.allreduce(saved) >= 2
        # One that writes into the checkpoint would lose it.
        with hk.open_store(f"{path}/run", "r+"):
            b = hk.zeros(hk.Layout(6, "(BLOCK)", comm.size))
            raises_everywhere(
                comm, hk.Error, lambda: hk.save(f"{path}/run", {"t": b}), "open for writing by"
            )
        hk.save(f"{path}/run", {"t": b})
        assert names_in(path) == ["run"]
    alone.Free()


@ranks(2)
def test_a_program_goes_on_reading_a_checkpoint_that_is_replaced(comm):
    lay = hk.Layout((4, 6), "(BLOCK, *)", comm.size)
    a = hk.full(lay, 1, "int64")
    with folder(comm) as path:
        hk.save(f"{path}/run", {"t": a})
        s = hk.open_store(f"{path}/run", comm=comm)
        for step in range(3):
            a.local[...] = step + 2
            hk.save(f"{path}/run", {"t": a})
            assert (s.read("t", lay).local == 1).all() and (s["t"][...] == 1).all()
        assert names_in(path) == [".run.read1", "run"]
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(f"{path}/.run.read1")
        comm.barrier()
        # Its missing files are no fill values.
        if comm.rank == 0:
            with pytest.raises(hk.Error, match="replaced and removed"):
                s["t"][...]
        read = functools.partial(s.read, "t", lay)
        raises_everywhere(comm, hk.Error, read, "replaced and removed")
        del read, s
        comm.barrier()
        hk.save(f"{path}/run", {"t": a})
        assert names_in(path) == ["run"]


@pytest.mark.soak
def test_two_hundred_killed_jobs_leave_checkpoints_whole(tmp_path, soak_seed):
    for seed in range(200):
        killed_once(tmp_path / "run", soak_seed + seed)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def calls_in(traced: Path) -> list[tuple[float, float, str]]:
    """All calls in the files of strace -ff -ttt -T: begin, end and text of each, in order."""
    found = []
    for file in traced.parent.glob(f"{traced.name}.*"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if call := re.fullmatch(r"(\d+\.\d+) (.*) <(\d+\.\d+)>", line):
                begin = float(call[1])
                found.append((begin, begin + float(call[3]), f"{file.suffix} {call[2]}"))
    return sorted(found)


def test_files_are_on_the_disk_before_the_folders_are_exchanged(tmp_path):
    """A kill cannot show this order, but a loss of power would."""
    traced = tmp_path / "calls"
    names = "fsync,renameat2,rename,renameat,unlinkat,unlink,rmdir"
    # Two shards: of fewer, one process would write all.
    line, env = started(tmp_path / "run", 2, 3, rows=1 << 16)
    strace = ["strace", "-ff", "-ttt", "-T", "-y", "-e", f"trace={names}", "-o", str(traced)]
    env["HOCKET_NODES"] = "0,1"
    subprocess.run([*line[:3], *strace, *line[3:]], check=True, timeout=120, env=env)
    calls = [call for call in calls_in(traced) if str(tmp_path) in call[2]]
    exchange = next(k for k, call in enumerate(calls) if "RENAME_EXCHANGE" in call[2])
    first = next(k for k, call in enumerate(calls) if f'rename("{tmp_path}/.run.new' in call[2])
    before, after = calls[first + 1 : exchange], calls[exchange + 1 :]
    synced = [
        (begin, end, found[1], found[2])
        for begin, end, text in before
        if (found := re.match(r"(\S+) fsync\(\d+<([^>]*)>", text))
    ]
    paths = [path for _, _, _, path in synced]
    new = f"{tmp_path}/.run.new"
    files = [one for one in synced if re.match(rf"{re.escape(new)}/[tu]/c/\d/", one[3])]
    folders = [
        one for one in synced if re.fullmatch(rf"{re.escape(new)}(/[tu](/c(/\d)?)?)?", one[3])
    ]
    # Both processes write, one syncs the folders, and only then.
    assert len({process for _, _, process, _ in files}) == 2, synced
    assert len({process for _, _, process, _ in folders}) == 1, synced
    last = {folder: begin for begin, _, _, folder in folders}  # some are made, and synced, early
    assert len(last) == 9, last
    assert max(end for _, end, _, _ in files) < min(last.values())
    assert max(end for _, end, _, _ in synced) < calls[exchange][0]
    for name in ("t", "u"):
        assert any(one[3].startswith(f"{new}/{name}/") for one in files), paths
        assert paths.index(f"{new}/{name}/c/0") < paths.index(f"{new}/{name}/c")
        assert paths.index(f"{new}/{name}/c") < len(paths) - 1 - paths[::-1].index(f"{new}/{name}")
    assert paths[-1] == new
    assert re.search(rf"fsync\(\d+<{re.escape(str(tmp_path))}>", after[0][2]), after[:3]
    gone = [text for _, _, text in before if "unlink" in text or "rmdir" in text]
    assert all(".hocket-lock" in text for text in gone), gone
    assert any("unlink" in text and "zarr.json" in text for _, _, text in after)  # of the old one


@ranks(2)
def test_damaged_files_are_named_on_every_process(comm):
    lay = hk.Layout((16, 8), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 8.0 * i + j, lay)
    with folder(comm) as path:
        with hk.open_store(f"{path}/s", "w") as s:
            s.create("t", (16, 8), chunks=(4, 8), shards=(8, 8))
            s.create("u", (16, 8), chunks=(8, 8), codec="none")
            s.write("t", a)
            s.write("u", a)
        shard, plain = Path(path, "s/t/c/1/0"), Path(path, "s/u/c/1/0")
        good, raw = shard.read_bytes(), plain.read_bytes()
        s = hk.open_store(f"{path}/s", comm=comm)

        def broken(file, data, words, name):
            comm.barrier()
            if comm.rank == 0:
                file.write_bytes(data)
            comm.barrier()
            raises_everywhere(comm, hk.Error, lambda: s.read(name, lay), words)

        broken(shard, good[:-7], "checksum", "t")
        broken(shard, good[:10], "cut off", "t")
        broken(shard, b"", "cut off", "t")
        broken(shard, bytes([good[0] ^ 255]) + good[1:], "zstd", "t")
        broken(plain, raw[:100], "instead of", "u")
        broken(plain, raw + b"x", "instead of", "u")
        comm.barrier()
        if comm.rank == 0:
            shard.write_bytes(good)
            plain.unlink()
        comm.barrier()
        assert np.array_equal(s.read("t", lay).local, a.local)
        assert (s["u"][8:] == 0).all()  # a file that is not there was never written


@ranks(1, 3)
@pytest.mark.parametrize("closed", [True, False])
def test_a_failed_write_leaves_a_mark_until_its_region_is_written(comm, closed):
    a = hk.from_function(lambda i, j: 6 * i + j, hk.Layout((8, 6), "(BLOCK, *)", comm.size))
    with folder(comm) as path:

        def unfinished():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return hk.open_store(f"{path}/s", comm=comm).unfinished

        def opened():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return hk.open_store(f"{path}/s", "r+", comm=comm)

        def fails(s):
            """A file stands where the writer needs a folder."""
            comm.barrier()
            if comm.rank == 0:
                shutil.rmtree(f"{path}/s/a\nb/c/1", ignore_errors=True)
                Path(path, "s/a\nb/c").mkdir(exist_ok=True)
                Path(path, "s/a\nb/c/1").write_text("")
            comm.barrier()
            raises_everywhere(comm, hk.Error, lambda: s.write("a\nb", a), "a\nb")
            if comm.rank == 0:
                Path(path, "s/a\nb/c/1").unlink()
            comm.barrier()

        s = hk.open_store(f"{path}/s", "w")
        s.create("a\nb", (8, 6), chunks=(2, 3))
        s.create("u", (8, 6), chunks=(2, 3))
        s.write("u", a)
        fails(s)
        s.write("u", a)
        s.write("a\nb", a)
        s.close()
        assert unfinished() is None  # the write was repeated
        s = opened()
        fails(s)
        s.close() if closed else s._core.leave()
        comm.barrier()
        assert unfinished().endswith("whose write of 'a\nb' failed")
        part = hk.zeros(hk.Layout((8, 5), "(BLOCK, *)", comm.size))
        with opened() as s:
            s.write("u", a)
            s.write("a\nb", part, region=np.s_[:, 1:])
        assert unfinished().endswith("whose write of 'a\nb' failed")
        s = opened()
        s.write("a\nb", a)
        assert "began to write" in unfinished()
        s.close()
        assert unfinished() is None
        with hk.open_store(f"{path}/s", "r+", comm=comm) as s:
            raises_everywhere(comm, hk.Error, lambda: s.write("u", part), "shape")
        assert unfinished() is None  # that changed nothing


@ranks(2)
def test_metadata_that_cannot_be_is_named(comm):
    with folder(comm) as path:
        for text, words in [
            ('{"zarr_format": 4, "node_type": "group"}', "zarr_format is 4"),
            ("{", "no JSON"),
            ("[]", "no object"),
            ('{"zarr_format": 3}', "node_type"),
        ]:
            comm.barrier()
            if comm.rank == 0:
                Path(path, "zarr.json").write_text(text)
            comm.barrier()
            raises_everywhere(comm, hk.Error, lambda: hk.open_store(path, comm=comm), words)
        comm.barrier()
        if comm.rank == 0:
            Path(path, "zarr.json").unlink()
        comm.barrier()
        raises_everywhere(comm, hk.Error, lambda: hk.open_store(path, comm=comm), "no store")


@ranks(1)
def test_files_that_a_killed_process_of_the_same_id_left_disturb_nobody(comm):
    """Hosts and containers number their processes alike."""
    a = hk.from_function(lambda i: i, hk.Layout(100, "(BLOCK)", 1), "int64", comm)
    with folder(comm) as path, hk.open_store(f"{path}/s", "w", comm=comm) as s:
        s.create("t", 100, "int64", chunks=100)
        (Path(path) / "s/t/c").mkdir()
        for number in range(2000):
            (Path(path) / f"s/t/c/0.{os.getpid()}-{number}~").touch()
        s.write("t", a)
        assert (s["t"][...] == a.local).all()


@pytest.mark.one_host("the small file system is one of rank 0's host alone")
@ranks(2)
def test_a_full_disk_is_named_and_nothing_old_is_lost(comm):
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small tmpfs")
    a = hk.from_function(lambda i: i * 7919 % 10007, hk.Layout(1 << 18, "(BLOCK)", 2), "int64")
    few = hk.from_function(lambda i: i, hk.Layout(100, "(BLOCK)", 2), "int64")
    with folder(comm) as path:
        mounted = None
        if comm.rank == 0:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "x", path])
            mounted = mounted.returncode == 0
        if not comm.bcast(mounted):
            pytest.skip("this machine lets nobody mount a tmpfs")
        try:
            hk.save(f"{path}/run", {"t": few}, attributes={"step": 1})
            for _ in range(2):
                raises_everywhere(
                    comm,
                    hk.Error,
                    lambda: hk.save(f"{path}/run", {"t": a}, codec="none"),
                    "No space left",
                )
            d = hk.load(f"{path}/run")
            assert d.attributes == {"step": 1} and d["t"].layout.shape == (100,)
            del d
            with hk.open_store(f"{path}/s", "w") as s:
                s.create("t", 1 << 18, "int64", chunks=1 << 10, codec="none")
                s.create("u", 0, "int64", chunks=100)
                s.write("t", few, region=np.s_[:100])
                s.append("u", few)
                large = {"x": (1 << 18) * "y"}
                for call in (
                    lambda: s.write("t", a),
                    lambda: s.append("u", a),
                    lambda: s.create("v", 3, attributes=large),
                    lambda: s.set_attributes(large),
                ):
                    raises_everywhere(comm, hk.Error, call, "No space left")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                left = hk.open_store(f"{path}/s", comm=comm)
            assert left.unfinished.endswith("whose write of 't' failed")
            assert list(left) == ["t", "u"] and left.attributes == {}
            assert left["t"][99] in (99, 99 * 7919 % 10007)  # a file is the old or the new one
            assert np.array_equal(left["u"][...], np.arange(100))
            assert not list(Path(path).rglob("*~"))
            del left
        finally:
            comm.barrier()
            if comm.rank == 0:
                subprocess.run(["umount", "-l", path], check=True)
            comm.barrier()
