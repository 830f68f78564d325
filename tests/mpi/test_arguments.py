# SPDX-License-Identifier: BSD-3-Clause
"""An argument that is wrong on one process is an error on all, also in the first call of all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import check_still_works, raises_everywhere
from lockstep import mpiexec, ranks

import hocket as hk
from hocket import _mpi, calls


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
@ranks(2)
def test_an_error_of_a_call_that_others_make_without_communication(comm):
    """The process raises its own error, and does not wait for ever; the others raise it in their
    next call."""
    lay, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
    a = hk.ones(lay, comm=comm)
    if comm.rank == 0:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(hk.LayoutError, match="index 9"):
            patch.setattr(calls, "TOGETHER", 0.2)
            a[9]
    else:
        assert a[1].shape == (4,)
    comm.barrier()
    if comm.rank == 1:
        with pytest.raises(hk.LayoutError, match="index 9"):
            hk.redistribute(a, columns)
    assert hk.redistribute(a, columns).gather() is None or comm.rank == 0


@ranks(2)
def test_errors_of_numpy_reach_the_others(comm):
    """Those that NumPy itself raises for an argument, on one process."""
    a = hk.ones(hk.Layout((4, 4), "(BLOCK, *)", 2), comm=comm)
    alone = comm.rank == 0
    for call in (
        lambda: a + ([[1], [1, 2]] if alone else [1, 2, 3, 4]),
        lambda: np.add([1, 2, 3, 4], [[1], [1, 2]] if alone else [1, 2, 3, 4], out=a),
        lambda: np.tile(a, "x" if alone else 2),
    ):
        # The others' call needs no communication, so they raise the error in their next one.
        raises_everywhere(comm, hk.Error, lambda call=call: (call(), a.sum()), "process 0 of 2")
    check_still_works(comm)


PROGRAM = """
from mpi4py import MPI
import numpy as np
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
to = hk.Layout((4, 4), "(CYCLIC, *)", 2)
s = hk.open_store("s.zarr", "w")
s.create("t", (4, 4), "f8")
given = lambda x, value: None if x is None else value
calls = dict(
    redistribute=lambda x: hk.redistribute(x, to),
    iredistribute=lambda x: hk.iredistribute(x, to).wait(),
    remap=lambda x: hk.remap_inplace(x, (1, 0)),
    transfer=lambda x: hk.transfer(x, to, dtype="f8"),
    save=lambda x: hk.save("x.zarr", {"t": x}),
    load=lambda x: hk.load(given(x, "s.zarr")),
    open_store=lambda x: hk.open_store(given(x, "s.zarr")),
    create=lambda x: s.create(given(x, "u"), (4, 4), "f8"),
    write=lambda x: s.write("t", x),
    replicated=lambda x: hk.replicated(x),
    eoshift=lambda x: hk.eoshift(x, 1),
    map_blocks=lambda x: hk.map_blocks(abs, x),
    tasks=lambda x: hk.tasks(given(x, {"all": 2})),
    concatenate=lambda x: np.concatenate([a, x]),
    matmul=lambda x: np.matmul(a, x),
    dot=lambda x: np.dot(a, x),
    einsum=lambda x: np.einsum("ij,jk", a, x),
    open_port=lambda x: hk.open_port(given(x, "q")),
)
for name, call in calls.items():
    try:
        call(a if rank == 0 else None)
    except (hk.Error, TypeError) as error:
        print("everywhere,", name, type(error).__name__, error, flush=True)
s.close()
assert hk.redistribute(a, lay).layout == lay
b = hk.zeros(hk.Layout(1, "(*)", 1), comm=MPI.COMM_SELF)
try:  # which no other process can know about
    rank == 1 and hk.redistribute(None, lay)
except hk.Error as error:
    print("alone:", error, flush=True)
c = hk.zeros(lay, comm=MPI.COMM_WORLD.Dup())
try:  # `out` names a communicator
    hk.redistribute(c if rank == 0 else None, lay, out=c.copy())
except hk.Error as error:
    print("everywhere, out", error, flush=True)
try:
    rank == 0 and hk.redistribute(c, lay, timeout=0.3)
except hk.DeadlineError as error:
    print("deadline:", error, flush=True)
"""


def test_no_array_at_all_on_one_process(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [mpiexec.find(), "-n", "2", sys.executable, str(program)],
        env=mpiexec.environment(os.environ, str(tmp_path), 2, None),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = re.findall(r"^    (\w+)=lambda x", PROGRAM, re.M)
    for name in [*names, "out"]:
        assert done.stdout.count(f"everywhere, {name} ") == 2, (name, done.stdout)
    assert "is not done and waits for rank 1 (task" in done.stdout, done.stdout
    assert done.stdout.count("alone: cannot redistribute NoneType") == 1, done.stdout


@ranks(2)
def test_documented_names_are_keywords(comm):
    lay, lay2 = hk.Layout((4, 6), "(BLOCK, *)", 2), hk.Layout((4, 6), "(*, BLOCK)", 2)
    a = hk.from_function(f=lambda i, j: 6 * i + j, lay=lay, dtype="int64", comm=comm)
    numbered = a.gather(root=0)
    for make in (hk.empty, hk.zeros, hk.ones):
        assert make(lay=lay, dtype="int64", comm=comm).layout == lay
    assert hk.arange(lay=lay, comm=comm).local.tolist() == a.local.tolist()
    assert hk.full(lay=lay, value=7, dtype=None, comm=comm).local.min() == 7
    assert hk.wrap(local=a.local, lay=lay, comm=comm).layout == lay
    assert hk.random(seed=1).uniform(lay=lay, comm=comm).layout == lay
    scattered = hk.scatter(numbered, lay=lay, comm=comm, root=0)
    for moved in (
        hk.redistribute(a=scattered, lay2=lay2),
        hk.iredistribute(a=scattered, lay2=lay2).wait(),
        scattered.redistribute(lay2=lay2),
    ):
        assert moved.local.tolist() == [
            [6 * i + 3 * comm.rank + j for j in range(3)] for i in range(4)
        ]
    assert hk.map_blocks(f=lambda x: x + 1, a=a, halo=0).local.min() == a.local.min() + 1
    t = hk.Team(comm=comm)
    assert t.any(f=comm.rank == 1) and not t.all(f=comm.rank == 1) and t.waitvec(f=1) == 3


@ranks(2)
def test_explain_refuses_what_it_would_explain_wrongly(comm):
    a = hk.zeros(hk.Layout((6, 4), "(BLOCK, *)", comm.size), "f8", comm)
    b = hk.zeros(hk.Layout((6, 4), "(*, BLOCK)", comm.size), "f8", comm)
    assert hk.explain(np.sum, a, 0) == hk.explain(np.sum, a, axis=0) != hk.explain(np.sum, a)
    for wrong in [(np.add, a), (None, a), ("add", a, b), (np.sort, a), (np.matmul, a, 2), (len, a)]:
        with pytest.raises(hk.Error):
            hk.explain(*wrong)


@ranks(2)
def test_random_numbers_of_no_interval(comm):
    numbers, lay = hk.random(1), hk.Layout(8, "(BLOCK)", comm.size)
    for low, high in [(0, "x"), (1, 0), (0, np.inf), (np.nan, 1), (None, 1)]:
        with pytest.raises(hk.Error):
            numbers.uniform(lay, low, high)
    with pytest.raises(hk.Error, match=r"from 1\.0000000000000002 to 1; give low <= high"):
        numbers.uniform(lay, 1 + 2**-52, 1)
    with pytest.raises(hk.Error, match=r"from -1e\+308 to 1e\+308; .* finite difference"):
        numbers.uniform(lay, -1e308, 1e308)
    for mean, deviation in [(0, -1), ("x", 1), (0, np.nan)]:
        with pytest.raises(hk.Error):
            numbers.normal(lay, mean, deviation)
    for bounds in [(0, 1.5), (None, 2), (2, 2)]:
        with pytest.raises(hk.Error):
            numbers.integers(lay, *bounds)
    with pytest.raises(hk.Error, match="float64 holds no integers"):
        _mpi.random_integers(hk.zeros(lay, comm=comm)._wrapped(), 1, 0, 9)
