# SPDX-License-Identifier: BSD-3-Clause
"""Processes that die at a chosen call of the system (strace's injection), and systems that refuse
one: no step, no checkpoint and no file is ever half there."""

import os
import platform
import resource
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import mpiexec, ranks
from test_kill_waits import errors_of_others
from test_stores import folder, names_in

import hocket as hk

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None or platform.machine() != "x86_64",
    reason="needs strace, and x86-64's names of calls",
)

APPENDS = """
a = hk.zeros(hk.Layout((1, 600), "(*, *)"), "int64")
with hk.open_store(path, "r+") as s:
    for step in range(s["t"].shape[0], 8):
        a.local[...] = step
        s.append("t", a)
        print(step + 1, flush=True)
"""
WRITES = """
with hk.open_store(path, "r+") as s:
    for step in range(1, 5):
        s.write("t", hk.full(hk.Layout((64, 600), "(*, *)"), step, "int64"))
        print(step, flush=True)
"""
SAVES = """
a = hk.zeros(hk.Layout(600, "(*)"), "int64")
for step in range(1, 4):
    a.local[...] = step
    hk.save(path, {"t": a}, attributes={"step": step})
    print(step, flush=True)
"""
# All three processes call the same again and again, until one of them is gone.
TOGETHER = """
import os, pathlib, sys, time
import hocket as hk
from mpi4py import MPI

folder, call, rank = pathlib.Path(sys.argv[1]), sys.argv[2], MPI.COMM_WORLD.rank

def tell(name, text):
    folder.joinpath(name + ".part").write_text(text)
    folder.joinpath(name + ".part").rename(folder / name)

a = hk.zeros(hk.Layout((32, 600), "(BLOCK, *)", 3), "int64")
s = hk.open_store(folder / "store", "w")
s.create("t", (32, 600), "int64", chunks=(4, 100), shards=(8, 600))
s.create("u", (0, 600), "int64", chunks=(32, 600))
step = 0
try:
    while True:
        step += 1
        a.local[...] = step
        if call == "save":
            hk.save(folder / "run", {"t": a, "u": a}, attributes={"step": step})
        elif call == "append":
            s.append("u", a)
        else:
            s.write("t", a)
            assert (s.read("t", a.layout).local == step).all()
        if step == 1:
            tell(f"{rank}.pid", f"{os.getpid()} {os.uname().nodename}")
except hk.Error as error:
    tell(f"{rank}.said", f"{step} {type(error).__name__}: {error}")
    time.sleep(1000)  # the others shall name the one that was killed, too
"""
LOADS = "print(hk.load(path).attributes['step'])"


def run(path: Path, program: str, *trace: str) -> tuple[int, list[int]]:
    """A program of one process, its calls traced; its exit status, and the numbers it printed."""
    words = ["strace", "-f", "-qq", "-o", os.devnull, *trace] if trace else []
    text = f"import sys\nimport hocket as hk\npath = {str(path)!r}\n{program}"
    env = mpiexec.environment(os.environ, str(path.parent), 1, None)
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["HOCKET_THREADS"] = "1"  # strace counts the calls of each thread
    command = [*words, sys.executable, "-c", text]
    ended = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, timeout=120)
    return ended.returncode, [int(word) for word in ended.stdout.split()]


def killed_at(call: str, when: int, *more: str) -> list[str]:
    """Of strace: the process dies as it makes that call for the nth time."""
    return ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}", *more]


def made(path: Path, shape: tuple[int, ...], **extents: tuple[int, ...]) -> None:
    options = ", ".join(f"{key}={value}" for key, value in extents.items())
    program = f"with hk.open_store(path, 'w') as s:\n    s.create('t', {shape}, 'int64', {options})"
    assert run(path, program)[0] == 0


def left_in(path: Path) -> list[str]:
    """The names there, without files of Open MPI that a killed process leaves."""
    return [name for name in names_in(path) if not name.startswith("sm_segment")]


def opened(path: Path) -> hk.Store:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it was not closed
        return hk.open_store(path)


def appending_dies(path: Path, call: str, when: int) -> None:
    made(path, (0, 600), chunks=(1, 600))
    status, told = run(path, APPENDS, *killed_at(call, when))
    assert status != 0, "it was not killed"
    steps = opened(path)["t"][...]
    assert len(steps) - len(told) in (0, 1), (call, when)
    assert (steps == np.arange(len(steps))[:, None]).all(), (call, when)
    # The next job goes on there.
    assert run(path, APPENDS)[0] == 0
    assert np.array_equal(opened(path)["t"][:, 0], np.arange(8))


def writing_dies(path: Path, call: str, when: int) -> None:
    made(path, (64, 600), chunks=(4, 600), shards=(32, 600))
    status, told = run(path, WRITES, *killed_at(call, when))
    assert status != 0, "it was not killed"
    s = opened(path)
    if told or s["t"][...].any():  # else it may have died before it began to write
        assert "process" in (s.unfinished or "")
    for shard in (s["t"][:32], s["t"][32:]):  # each is the old one or the new one
        step = shard[0, 0]
        assert (shard == step).all() and step - len(told) in (0, 1), (call, when)
    assert run(path, WRITES)[0] == 0
    assert opened(path).unfinished is None


@needs_strace
def test_a_step_that_is_appended_is_there_or_not(tmp_path):
    for k, (call, when) in enumerate([("pwritev", 5), ("renameat", 7)]):
        appending_dies(tmp_path / f"run{k}", call, when)


@needs_strace
def test_a_file_that_is_written_is_old_or_new(tmp_path):
    for k, (call, when) in enumerate([("pwritev", 9), ("renameat2", 4)]):
        writing_dies(tmp_path / f"run{k}", call, when)


@pytest.mark.soak
@needs_strace
def test_each_call_of_the_system_may_be_the_last(tmp_path):
    for call in ("pwritev", "renameat", "fsync", "openat2"):
        for when in range(3, 27, 4):
            appending_dies(tmp_path / f"a{call}{when}", call, when)
            if call in ("pwritev", "openat2"):
                writing_dies(tmp_path / f"w{call}{when}", call, when)
    for when in range(1, 9):
        writing_dies(tmp_path / f"x{when}", "renameat2", when)


@pytest.mark.parametrize(("call", "victim"), [("save", 0), ("append", 2), ("write", 0)])
def test_processes_whose_peer_dies_name_it_and_files_are_whole(tmp_path, call, victim):
    told = errors_of_others(tmp_path, TOGETHER, [call], victim)
    for rank, text in told.items():
        assert f"PeerLostError: rank {victim}" in text, (rank, text)
    last = int(told[1].split()[0])
    if call == "save":
        s = hk.open_store(tmp_path / "run")
        step = s.attributes["step"]
        assert step in (last - 1, last)
        assert (s["t"][...] == step).all() and (s["u"][...] == step).all()
        return
    s = opened(tmp_path / "store")
    if call == "append":
        steps = s["u"][...].reshape(-1, 32 * 600)
        assert len(steps) in (last - 1, last)
        assert (steps == np.arange(1, len(steps) + 1)[:, None]).all()
        return
    assert "began to write 't'" in (s.unfinished or "")
    for shard in range(0, 32, 8):
        found = s["t"][shard : shard + 8]
        assert (found == found[0, 0]).all() and found[0, 0] in (last - 1, last)


@needs_strace
def test_where_folders_cannot_be_exchanged_the_previous_one_is_found(tmp_path):
    refused = ["-e", "trace=renameat2", "-e", "inject=renameat2:error=EINVAL"]
    assert run(tmp_path / "run", SAVES, *refused) == (0, [1, 2, 3])
    assert left_in(tmp_path) == ["run"]
    # Killed between the two renames of the second save.
    path = tmp_path / "other"
    fresh = str(tmp_path / ".other.new")
    both = ["-e", "trace=renameat2,rename", "-e", "inject=renameat2:error=EINVAL", "-P", fresh]
    status, told = run(path, SAVES, *both, "-e", "inject=rename:signal=KILL:when=2")
    assert status != 0 and told == [1]
    assert left_in(tmp_path) == [".other.hocket-lock", ".other.new", ".other.old", "run"]
    assert run(path, LOADS) == (0, [1])
    assert run(path, SAVES) == (0, [1, 2, 3])
    assert left_in(tmp_path) == ["other", "run"]


@ranks(2)
def test_no_more_open_files_is_named(comm):
    lay = hk.Layout((64, 8), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 8 * i + j, lay)
    with folder(comm) as path:
        hk.save(f"{path}/run", {"t": a})
        s = hk.open_store(f"{path}/run", comm=comm)
        b = -a
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        comm.barrier()
        if comm.rank == comm.size - 1:
            with Path(os.devnull).open() as free:  # the next one that is opened is one too many
                lowest = free.fileno()
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        comm.barrier()
        try:
            raises_everywhere(comm, hk.Error, lambda: hk.save(f"{path}/run", {"t": b}), "ulimit -n")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        comm.barrier()
        assert np.array_equal(s.read("t", lay).local, a.local)
        assert np.array_equal(hk.load(f"{path}/run", lay)["t"].local, a.local)


@pytest.mark.one_host("the file system is one of rank 0's host alone")
@ranks(2)
def test_a_folder_that_is_only_read_is_named(comm):
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a tmpfs")
    a = hk.from_function(lambda i: i, hk.Layout(100, "(BLOCK)", comm.size), "int64")

    def mounted(path, *options):
        done = None
        if comm.rank == 0:
            done = subprocess.run(["mount", *options, path]).returncode == 0
        return comm.bcast(done)

    with folder(comm) as path:
        if not mounted(path, "-t", "tmpfs", "-o", "size=1m", "x"):
            pytest.skip("this machine lets nobody mount a tmpfs")
        try:
            hk.save(f"{path}/run", {"t": a}, attributes={"step": 1})
            assert mounted(path, "-o", "remount,ro")
            for call in (
                lambda: hk.save(f"{path}/run", {"t": -a}),
                lambda: hk.open_store(f"{path}/run", "r+", comm=comm),
                lambda: hk.open_store(f"{path}/other", "w", comm=comm),
                lambda: hk.save(f"{path}/run.npy", {"run": a}),
            ):
                raises_everywhere(comm, hk.Error, call, "Read-only file system")
            d = hk.load(f"{path}/run", a.layout)
            assert d.attributes == {"step": 1}
            assert np.array_equal(d["t"].local, a.local)
            del d
        finally:
            comm.barrier()
            if comm.rank == 0:
                subprocess.run(["umount", "-l", path], check=True)
            comm.barrier()
