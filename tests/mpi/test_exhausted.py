# SPDX-License-Identifier: BSD-3-Clause
"""A process that may open no more files, or map no more memory: what needs more is an error on all
that says so, and the rest goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

# From some time on rank 1 may have no more than it has.
PROGRAM = """
import importlib, os, resource, sys
import numpy.ma
from mpi4py import MPI
import hocket as hk

# Before there are no files for them.
for module in ("groups", "creation", "redistribution", "teams"):
    importlib.import_module("hocket." + module)
rank, N = MPI.COMM_WORLD.rank, 2_000_000
lay, onto = (hk.Layout(N, f"({form})", 2) for form in ("BLOCK", "CYCLIC"))
a, b = hk.from_function(lambda i: i, lay, "int64"), hk.zeros(onto, "int64")
expected = b.layout.global_indices(rank)[0]
hk.redistribute(a, lay)


def limit(what, most):
    resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def moves():
    global b
    b.local[...] = 0
    b = hk.redistribute(a, onto, out=b)
    assert (b.local == expected).all()


def files():
    limit(resource.RLIMIT_NOFILE, max(map(int, os.listdir("/proc/self/fd"))) + 1)
    try:
        while True:
            os.dup(0)
    except OSError:
        return


def memory():
    pages = int(open("/proc/self/statm").read().split()[0])
    limit(resource.RLIMIT_AS, pages * resource.getpagesize() + (4 << 20))  # for NumPy


if rank == 1:
    globals()[sys.argv[1]]()
moves()
if sys.argv[1] == "files":
    assert hk.Team().reduce_add(1) == 2
    w = hk.tasks({"a": 1, "b": 1})
    mine = hk.zeros(hk.Layout(N, "(BLOCK)", 1), comm=w.comm)  # private memory on rank 1
    for _ in range(3):
        w.send(mine, "b") if w.name == "a" else w.recv(mine)
else:
    try:
        hk.redistribute(a, onto, dtype="complex128")  # into new memory
    except hk.Error as error:
        assert "there is no memory for" in str(error), error
    else:
        raise AssertionError("there was memory")
moves()
print("done", flush=True)
"""


ONE_HOST = pytest.mark.one_host("between hosts, MPI takes the memory that is left for NumPy here")


@pytest.mark.parametrize("what", ["files", pytest.param("memory", marks=ONE_HOST)])
def test_a_process_without_any_left(tmp_path: Path, what: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [mpiexec.find(), "-n", "2", sys.executable, str(program), what],
        env=mpiexec.environment(os.environ, str(tmp_path), 2, None),
        capture_output=True,
        text=True,
        timeout=300,
    )
    # MPICH may need files, too, and say that it has none.
    assert done.stdout.splitlines().count("done") == 2, done.stdout + done.stderr
