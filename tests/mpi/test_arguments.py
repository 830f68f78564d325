# SPDX-License-Identifier: BSD-3-Clause
"""An argument that is wrong on one process is an error on all, also in the first call of all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import check_still_works, raises_everywhere
from lockstep import mpiexec, ranks

import hocket as hk


class Odd:
    """An integer that cannot be read."""

    def __index__(self) -> int:
        raise RuntimeError("odd")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("odd")


CALLS = {
    "gather": lambda a, wrong: a.gather(Odd() if wrong else 0),
    "scatter": lambda a, wrong: hk.scatter(
        np.zeros(a.layout.shape), a.layout, a.comm, Odd() if wrong else 0
    ),
    "remap": lambda a, wrong: hk.remap_inplace(a, None if wrong else (1, 0)),
    "tasks": lambda a, wrong: hk.tasks({"a": Odd() if wrong else a.comm.size}, a.comm),
    "half a character": lambda a, wrong: hk.tasks(
        {"\ud800" if wrong else "a": a.comm.size}, a.comm
    ),
    "half in an error": lambda a, wrong: hk.Team(a.comm, timeout="\ud800" if wrong else None),
    "team": lambda a, wrong: hk.Team(a.comm, timeout=Odd() if wrong else None),
}


@pytest.mark.parametrize("call", CALLS)
@ranks(3)
def test_one_wrong_argument(comm, call):
    fresh = comm.Dup()
    a = hk.zeros(hk.Layout((6, 6), "(BLOCK, *)", comm.size), comm=fresh)
    raises_everywhere(comm, hk.Error, lambda: CALLS[call](a, comm.rank == 1), "process 1 of 3")
    assert hk.Team(fresh).reduce_add(1) == comm.size
    check_still_works(fresh)
    fresh.Free()


# Nothing but MPI.COMM_WORLD is in use any more, so a call without an array is one on it.
PROGRAM = """
from mpi4py import MPI
import hocket as hk

rank = MPI.COMM_WORLD.rank
lay = hk.Layout((4, 4), "(BLOCK, *)", 2)
a = hk.zeros(lay)
other = MPI.COMM_WORLD.Dup()
hk.Team(other).wait()
other.Free()
tasks = hk.tasks({"all": 2})
hk.redistribute(hk.zeros(lay, comm=tasks.comm), lay)
del tasks
for call in (
    lambda x: hk.redistribute(x, hk.Layout((4, 4), "(CYCLIC, *)", 2)),
    lambda x: hk.remap_inplace(x, (1, 0)),
):
    try:
        call(a if rank == 0 else None)
    except hk.Error as error:
        print(error, flush=True)
assert hk.redistribute(a, lay).layout == lay
b = hk.zeros(hk.Layout(1, "(*)", 1), comm=MPI.COMM_SELF)
try:  # which no other process can know about
    rank == 1 and hk.redistribute(None, lay)
except hk.Error as error:
    print("alone:", error, flush=True)
"""


def test_no_array_at_all_on_one_process(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [mpiexec.find(), "-n", "2", sys.executable, str(program)],
        env=mpiexec.environment(os.environ, str(tmp_path), 2, None),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for what in ("redistribute", "remap"):
        assert done.stdout.count(f"process 1 of 2: cannot {what} NoneType") == 2, done.stdout
    assert done.stdout.count("alone: cannot redistribute NoneType") == 1, done.stdout
