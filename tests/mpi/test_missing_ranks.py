# SPDX-License-Identifier: BSD-3-Clause
"""The very first collective call, which some processes never make: the error of those that wait
in it names processes that have ended, and after a while those that have not come."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lockstep import mpiexec

pytestmark = pytest.mark.one_host("who is missing is known on its own host only")

# Rank 1 of 3 never makes the call; or late.
PROGRAM = """
import os, pathlib, signal, sys, time
from mpi4py import MPI

how, rank = sys.argv[1], MPI.COMM_WORLD.rank
import hocket as hk

if rank == 1 and how == "imported":
    sys.exit()
lay = hk.Layout(12, "(BLOCK)", 3)
a = hk.zeros(lay)
if rank == 1 and how == "killed":
    time.sleep(2)
    os.kill(os.getpid(), signal.SIGKILL)
while rank == 1 and how == "late" and not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
if rank != 1 or how == "late":
    calls = [lambda: hk.redistribute(a, hk.Layout(12, "(CYCLIC)", 3)), hk.Team]
    try:
        calls[rank // 2]() if how == "killed" else calls[0]()
    except hk.PeerLostError as error:
        print("rank %d is told: %s" % (rank, error), flush=True)
        time.sleep(1)  # the other is told, too, before this one ends all
"""
# The launcher sees a shell, which lives on: only the processes themselves can find out.
SHELL = ["sh", "-c", '"$@"; sleep 1000', "sh"]


def start(folder: Path, how: str, *words: str, shell: bool = False) -> subprocess.Popen[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), how, *words]
    return subprocess.Popen(
        [mpiexec.find(), "-n", "3", *(SHELL if shell else []), *command],
        env=mpiexec.environment(os.environ, str(folder), 3, None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("how", [pytest.param("made an array", marks=pytest.mark.soak), "imported"])
def test_a_process_that_leaves_without_the_first_call_is_named(tmp_path, how):
    with start(tmp_path, how) as job:
        said, _ = job.communicate(timeout=300)
    assert job.returncode != 0
    for rank in (0, 2):
        assert f"rank {rank} is told: rank 1 has left (MPI_Finalize), but" in said, said


def test_so_is_one_that_was_killed(tmp_path):
    with start(tmp_path, "killed", shell=True) as job:
        said, _ = job.communicate(timeout=300)
    for rank in (0, 2):
        assert f"rank {rank} is told: rank 1 has ended, but" in said, said


def test_whoever_has_not_come_after_ten_seconds_is_named_once(tmp_path):
    go = tmp_path / "go"
    with start(tmp_path, "late", str(go)) as job:
        begun = time.monotonic()
        line = job.stderr.readline()
        assert time.monotonic() - begun > 8
        go.touch()
        said, more = job.communicate(timeout=300)
    assert job.returncode == 0, said + more
    assert line == (
        "hocket: rank 0 has been waiting for 10 s for a collective call of 3 processes to begin; "
        "rank 1 has not made it yet\n"
    )
    assert "hocket" not in more + said
