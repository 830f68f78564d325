# SPDX-License-Identifier: BSD-3-Clause
"""Processes that MPI's Spawn starts, merged with those that started them, are tasks as any others:
docs/guide/running.md as it stands, and two processes that start three."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from lockstep import mpiexec

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/running.md"
SECONDS = 100

PROGRAM = """
import sys

import hocket as hk
import numpy as np
from mpi4py import MPI

WHOLE = np.arange(7 * 5).reshape(7, 5)
parent = MPI.Comm.Get_parent()
first = parent == MPI.COMM_NULL
link = MPI.COMM_WORLD.Spawn(sys.executable, sys.argv, maxprocs=3) if first else parent
merged = link.Merge(high=not first)
assert merged.size == 5 and (merged.rank < 2) == first

world = hk.tasks({"old": 2, "new": 3}, comm=merged)
assert world.name == ("old" if first else "new")
if FAILS and first:
    raise ValueError("no more")
dist, other = ("(BLOCK, *)", "new") if first else ("(*, CYCLIC)", "old")
layout = hk.Layout((7, 5), dist, world.comm.size)
mine = hk.from_function(lambda i, j: 5 * i + j, layout, "int64", world.comm)
into = hk.zeros(mine.layout, "int64", world.comm)
for step in range(3):
    world.sendrecv(mine, other, into, other, timeout=60)
    assert (into.local == mine.local).all()
assert int(hk.Team(merged).reduce_add(merged.rank)) == 10

a = hk.scatter(WHOLE, hk.Layout((7, 5), "(CYCLIC, *)", 5), merged)
b = hk.redistribute(a, hk.Layout((7, 5), "(*, BLOCK)", 4), timeout=60)
whole = b.gather()
assert (whole == WHOLE).all() if merged.rank == 0 else whole is None
merged.Free()
link.Disconnect()
if first:
    print("all is well\\n", end="")  # in one write, as both print at once
"""


def started(folder: Path, ranks: int, program: str) -> subprocess.CompletedProcess[str]:
    environment = mpiexec.environment(os.environ, str(folder), 2, None)
    environment.pop("HOCKET_NODES", None)  # which names as many as were started at first
    command = [mpiexec.find(), "-n", str(ranks), sys.executable, program]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )


def test_the_guides_programs(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    files = re.findall(r"^```python file=(\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in files] == ["main.py", "helper.py"]
    for name, content in files:
        (tmp_path / name).write_text(content, encoding="utf-8")
    promised = re.search(r"python main.py\n```\n```output\n(.*?)^```", text, re.M | re.S)
    assert promised is not None
    done = started(tmp_path, 1, "main.py")
    assert (done.returncode, done.stdout) == (0, promised[1]), done.stderr


def test_two_processes_that_start_three(tmp_path):
    (tmp_path / "both.py").write_text(f"FAILS = False\n{PROGRAM}", encoding="utf-8")
    done = started(tmp_path, 2, "both.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all is well\n" * 2


def test_an_exception_ends_both_sides(tmp_path):
    (tmp_path / "both.py").write_text(f"FAILS = True\n{PROGRAM}", encoding="utf-8")
    done = started(tmp_path, 2, "both.py")
    assert done.returncode != 0
    assert "(task 'old', process 0) ends all processes" in done.stderr and "no more" in done.stderr
