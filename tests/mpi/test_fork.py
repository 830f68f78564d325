# SPDX-License-Identifier: BSD-3-Clause
"""Processes that a process of an MPI program makes: a fork has private copies of its arrays, and
what communicates is an error there. So do the children of multiprocessing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

PROGRAM = """
import multiprocessing, os, sys, time
import numpy as np
import hocket as hk

N = 40_000


def whole(a):
    return a.layout.global_indices(a.comm.rank)[0]


def refused(call):
    try:
        call()
    except hk.Error as error:
        assert "cannot communicate: MPI does not know it" in str(error), error
        return
    raise AssertionError("no error")


def child(a, small, team, flow, out, go, done):
    refused(lambda: hk.redistribute(a, out))
    refused(lambda: a.gather())
    refused(lambda: hk.tasks({"all": 2}))
    refused(lambda: team.reduce_add(1))
    refused(hk.Team)
    refused(flow.wait)
    mine = a.local.copy()
    small.local[...] = -1
    a.local[: N // 4] = -1
    os.write(go[1], b"x")  # the parent changes all of it now
    os.read(done[0], 1)
    assert (a.local[: N // 4] == -1).all()
    assert (a.local[N // 4 :] == mine[N // 4 :]).all(), "the parent's changes are seen"
    turned = hk.permute(np.arange(600.0).reshape(20, 30), (1, 0), threads=4)
    assert turned[3, 2] == 63
    fresh = hk.zeros(small.layout)
    assert (fresh.local == 0).all()
    grandchild = os.fork()
    if grandchild == 0:
        os._exit(0 if (a.local[: N // 4] == -1).all() and (small.local == -1).all() else 1)
    assert os.waitpid(grandchild, 0)[1] == 0


def forks():
    a = hk.from_function(lambda i: i, hk.Layout(2 * N, "(BLOCK)", 2), "int64")
    small = hk.zeros(hk.Layout(10, "(BLOCK)", 2))
    out = hk.Layout(2 * N, "(CYCLIC)", 2)
    team, flow = hk.Team(), hk.Flow(workers=2)
    b = hk.redistribute(a, out)
    go, done = os.pipe(), os.pipe()
    id = os.fork()
    if id == 0:
        status = 1
        try:
            child(a, small, team, flow, out, go, done)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.read(go[0], 1)
    assert (a.local == whole(a)).all() and (small.local == 0).all(), "the child's changes are seen"
    a.local[...] = 2 * whole(a)
    os.write(done[1], b"x")
    assert os.waitpid(id, 0)[1] == 0
    flow.wait()
    b = hk.redistribute(a, out, out=b)
    assert (b.local == 2 * whole(b)).all() and team.reduce_add(1) == 2


def total(values):
    return int(values.sum()), isinstance(values, np.ndarray)


def communicates(_):
    refused(lambda: hk.zeros(hk.Layout(4, "(BLOCK)", 2)).gather())


def pools(method):
    a = hk.from_function(lambda i: i, hk.Layout(2 * N, "(BLOCK)", 2), "int64")
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        pool.map(communicates, [0, 0], chunksize=1)
        parts = pool.map(total, np.array_split(a.local, 4), chunksize=1)
    assert parts == [total(part) for part in np.array_split(a.local, 4)]
    process = context.Process(target=total, args=(a.local,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert hk.redistribute(a, hk.Layout(2 * N, "(CYCLIC)", 2)).layout.size == 2


if __name__ == "__main__":
    forks() if sys.argv[1] == "os" else pools(sys.argv[1])
    print("done", flush=True)
"""


@pytest.mark.parametrize("way", ["os", "fork", "spawn"])
def test_children_have_memory_of_their_own(tmp_path: Path, way: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [mpiexec.find(), "-n", "2", sys.executable, str(program), way],
        env=mpiexec.environment(os.environ, str(tmp_path), 2, None),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["done"] * 2
