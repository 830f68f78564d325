# SPDX-License-Identifier: BSD-3-Clause
"""Systems that really forbid what hocket shares memory by, in programs started by a plain mpiexec:
what travels arrives, whatever way is left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

PROGRAM = """
import ctypes, os, resource, sys
libc = ctypes.CDLL(None, use_errno=True)

def bar(which):
    if which == "hidden":
        # No other process may look into this one: not by /proc, not by the kernel's copy. Root has
        # a capability for that; it is given up.
        class Header(ctypes.Structure):
            _fields_ = [("version", ctypes.c_uint32), ("process", ctypes.c_int)]
        class Sets(ctypes.Structure):
            _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32),
                        ("inheritable", ctypes.c_uint32)]
        header, sets = Header(0x20080522, 0), (Sets * 2)()
        assert libc.capget(ctypes.byref(header), sets) == 0
        CAP_SYS_PTRACE, PR_SET_DUMPABLE = 19, 4
        sets[0].effective &= ~(1 << CAP_SYS_PTRACE)
        sets[0].permitted &= ~(1 << CAP_SYS_PTRACE)
        assert libc.capset(ctypes.byref(header), sets) == 0
        assert libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    elif which == "short":
        # Files, and so memory that is one, of up to 5 MB.
        resource.setrlimit(resource.RLIMIT_FSIZE, (5 << 20, resource.RLIM_INFINITY))

from mpi4py import MPI
import numpy as np
import hocket as hk

comm = MPI.COMM_WORLD
bar(sys.argv[1])
processes = comm.allgather(os.getpid())
try:
    if sys.argv[1] == "hidden":
        os.readlink(f"/proc/{processes[comm.rank - 1]}/fd/0")
    elif sys.argv[1] == "short":
        os.ftruncate(os.memfd_create("long"), 6 << 20)
except OSError:
    pass
else:
    assert sys.argv[1] == "nothing", "this is not forbidden at all"

def value(i, j):
    return 3.0 * i - j

for shape in [(6, 5), (400, 300), (1500, 1200)]:
    rows = hk.Layout(shape, "(BLOCK, *)", comm.size)
    cols = hk.Layout(shape, "(*, CYCLIC(2))", comm.size)
    a = hk.from_function(value, rows, comm=comm)
    i, j = np.ix_(*cols.global_indices(comm.rank))
    expected = value(i, j)
    for wrapped in (False, True):
        if wrapped:
            a = hk.wrap(a.local.copy(), rows, comm=comm)
        b = hk.redistribute(a, cols)
        np.testing.assert_array_equal(b.local, expected)
        out = hk.wrap(np.empty(expected.shape), cols, comm=comm)
        hk.redistribute(a, cols, out=out)
        np.testing.assert_array_equal(out.local, expected)
w = hk.tasks({"left": 1, "right": comm.size - 1})
if w.name == "left":
    whole = hk.from_function(value, hk.Layout(shape, "(BLOCK, *)", 1), comm=w.comm)
    request = w.send_init(whole, "right")
else:
    part = hk.zeros(hk.Layout(shape, "(*, BLOCK)", w.comm.size), comm=w.comm)
    request = w.recv_init(part, "left")
for _ in range(3):
    request.start()
    request.wait()
if w.name == "right":
    i, j = np.ix_(*part.layout.global_indices(w.comm.rank))
    np.testing.assert_array_equal(part.local, value(i, j))
assert hk.Team(comm).reduce_add(np.int64(comm.rank + 1)) == comm.size * (comm.size + 1) // 2
if comm.rank == 0:
    print("all arrived")
"""

# MPI's own ways must not be those that are barred: it looks for them before the bar is up.
WITHOUT = {"OMPI_MCA_smsc": "^cma", "MPIR_CVAR_CH4_CMA_ENABLE": "0"}


def start(tmp_path: Path, which: str, *before: str) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    command = [*before, mpiexec.find(), "-n", "3", sys.executable, str(program), which]
    return subprocess.run(
        command, env={**env, **WITHOUT}, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("which", ["hidden", "short"])
def test_everything_arrives(tmp_path: Path, which: str) -> None:
    done = start(tmp_path, which)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all arrived") == 1


def test_a_tiny_dev_shm_is_enough(tmp_path: Path) -> None:
    """Arrays and flags do not lie in /dev/shm: what is there does not bound them."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount a /dev/shm of its own, with util-linux's unshare")
    mount = "mount -t tmpfs -o size=256k tmpfs /dev/shm && "
    tried = subprocess.run(["unshare", "-m", "sh", "-c", mount + "true"], capture_output=True)
    if tried.returncode != 0:
        pytest.skip("this system lets not even root mount a file system")
    alone = tmp_path / "alone.py"
    alone.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.allreduce(1)\n")
    inside = ("unshare", "-m", "sh", "-c", mount + 'exec "$@"', "sh")
    env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    command = [*inside, mpiexec.find(), "-n", "3", sys.executable, str(alone)]
    mpi = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    if mpi.returncode != 0:
        pytest.skip("this MPI itself does not start with so small a /dev/shm")
    done = start(tmp_path, "nothing", *inside)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all arrived") == 1
