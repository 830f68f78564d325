# SPDX-License-Identifier: BSD-3-Clause
"""After MPI_Finalize every call that communicates raises, and so do waits for older requests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import hocket as hk

world = MPI.COMM_WORLD
n, lay = world.size, hk.Layout((4, 4), "(BLOCK, *)", world.size)
a = hk.zeros(lay)
made = hk.zeros(lay)
flow = hk.Flow(1)
if sys.argv[1] == "used":
    hk.redistribute(made, lay)
    made.gather()
    halo = made.halo(1)
    x = hk.transfer(made, hk.zeros(lay))
    x(made, hk.zeros(lay))
    halo.exchange()
    team = hk.Team()
    total = team.start("reduce_add", np.int64(1))
    total.wait()
    w, v = (hk.tasks({"x": 1, "y": 1}) for _ in range(2))
    mine, other = ("x", "y") if world.rank == 0 else ("y", "x")
    b, c = (hk.zeros(hk.Layout((5,), "(BLOCK)", 1), comm=w.comm) for _ in range(2))
    channel = w.channel("stream", other)
    hk.waitall([w.irecv(b, other, tag=1), w.isend(c, other, tag=1)])
    received = w.irecv(b, other, tag=1)
    w.send(c, other, tag=1)
    received.wait()
    waiting, later = w.irecv(b, other, tag=7), w._irecv_later(b, other, tag=9)
    kept, started = w.send_init(b, other, tag=8), w.recv_init(c, other, tag=10)
    started.start()
    flow.comm(lambda: w.irecv(b, other, tag=11))
    flow.give_way()
MPI.Finalize()

CALLS = {
    "empty": lambda: hk.empty(lay),
    "zeros": lambda: hk.zeros(lay, comm=world),
    "wrap": lambda: hk.wrap(a.local, lay),
    "from_function": lambda: hk.from_function(lambda i, j: i, lay),
    "scatter": lambda: hk.scatter(np.zeros((4, 4)), lay),
    "redistribute": lambda: hk.redistribute(a, lay),
    "iredistribute": lambda: hk.iredistribute(a, lay).wait(),
    "transfer": lambda: hk.transfer(lay, lay),
    "redistribute, out": lambda: hk.redistribute(made, lay, out=a),
    "gather": lambda: a.gather(),
    "gather again": lambda: made.gather(),
    "section": lambda: a.section((0, 0)).gather(),
    "halo": lambda: a.halo(1).exchange(),
    "remap_inplace": lambda: hk.remap_inplace(a, (1, 0)),
    "tasks": lambda: hk.tasks({"a": n}),
    "Team": lambda: hk.Team(),
}
USED = {
    "transfer.start": lambda: x.start(made, a),
    "transfer.wait": lambda: x.wait(),
    "transfer.free": lambda: x.free(),
    "halo.exchange": lambda: halo.exchange(),
    "halo.iexchange": lambda: halo.iexchange(),
    "comm of a task": lambda: v.task(mine).comm,
    "send": lambda: w.send(b, other),
    "recv": lambda: w.recv(b, other),
    "isend": lambda: w.isend(b, other).wait(),
    "irecv": lambda: w.irecv(b, other).wait(),
    "sendrecv": lambda: w.sendrecv(b, other, c, other),
    "probe": lambda: w.probe(other),
    "iprobe": lambda: w.iprobe(other),
    "send_init": lambda: w.send_init(b, other).wait(),
    "recv_init": lambda: w.recv_init(b, other).start(),
    "bcast": lambda: w.bcast(b, "x"),
    "reduce": lambda: w.reduce(b, c, "add", "x"),
    "allreduce": lambda: w.allreduce(b, c, "add"),
    "tasks.gather": lambda: w.gather(b, [b, c], "x"),
    "barrier": lambda: w.barrier(),
    "channel.send": lambda: channel.send(b),
    "channel.recv": lambda: channel.recv(b),
    "channel.close": lambda: channel.close(),
    "wait": lambda: waiting.wait(),
    "test": lambda: waiting.test(),
    "pieces": lambda: waiting.pieces(),
    "wait_piece": lambda: waiting.wait_piece(0),
    "start": lambda: kept.start(),
    "wait for a start": lambda: started.wait(),
    "start later": lambda: (later.start(), later.wait()),
    "waitall": lambda: hk.waitall([waiting, started]),
    "waitany": lambda: hk.waitany([waiting]),
    "team.wait": lambda: team.wait(),
    "team.any": lambda: team.any(True),
    "team.waitvec": lambda: team.waitvec(True),
    "team.reduce_add": lambda: team.reduce_add(1),
    "team.gather": lambda: team.gather(1),
    "team.reduce": lambda: team.reduce(1, max),
    "team.putget": lambda: team.putget(1, 0),
    "team.vote": lambda: team.vote(0),
    "team of one": lambda: team.enqueue(1 << team.process).reduce_add(1),
    "team.start": lambda: team.start("wait").wait(),
    "team.exit": lambda: team.exit(),
    "team.error": lambda: team.error("late"),
    "flow.send": lambda: flow.send(w, b, other),
    "flow.exchange": lambda: flow.exchange(halo),
    "flow.wait": lambda: flow.wait(),  # for the receive under way
    "flow.transfer": lambda: (flow.transfer(x, made, a), flow.wait()),
}
if sys.argv[1] == "used":
    CALLS.update(USED)
wrong = {}
for name, call in CALLS.items():
    print(name, file=sys.stderr, flush=True)  # should it end the process
    try:
        wrong[name] = call()
    except hk.Error as error:
        if "MPI has ended" not in str(error):
            wrong[name] = error
# Needs no MPI.
seen = []
with hk.Flow(2) as f:
    f.task(lambda: seen.append(1))
assert seen == [1] and "on process" in repr(a)
if sys.argv[1] == "used":
    assert received.wait().tag == 1
    kept.free()
# In one write, as the other process prints, too.
print(f"{len(CALLS)} calls, wrong: {wrong}\\n", end="", flush=True)
"""


@pytest.mark.parametrize(("how", "size", "calls"), [("unused", 1, 16), ("used", 2, 64)])
def test_every_call_after_mpi_has_ended_raises(
    tmp_path: Path, how: str, size: int, calls: int
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [mpiexec.find(), "-n", str(size), sys.executable, str(program), how],
        env=mpiexec.environment(os.environ, str(tmp_path), size, None),
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert said == [f"{calls} calls, wrong: {{}}"] * size, done.stdout + done.stderr
