# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that were started separately become tasks of each other."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lockstep import mpiexec
from test_ports import key_file, runtime  # noqa: F401

import hocket as hk

# Both jobs send an array of one layout and receive into another; the elements say where they are.
COMMON = """
import json, os, sys, time
import numpy as np
import hocket as hk
from mpi4py import MPI
comm = MPI.COMM_WORLD
mine = hk.Layout((12, 10), "(BLOCK, CYCLIC(2))", (comm.size, 1))
other = hk.Layout((12, 10), "(*, CYCLIC)", comm.size)

def numbered(layout, first):
    return hk.from_function(lambda i, j: first + 100.0 * i + j, layout)

def exchange(w, me, peer, first):
    b = hk.zeros(other)
    for step in range(3):
        if me == 0:
            w.send(numbered(mine, first + step), peer, tag=step)
            st = w.recv(b, peer)
        else:
            st = w.recv(b, hk.ANY_SOURCE)
            w.send(numbered(mine, first + step), peer, tag=step)
        assert st.source == peer and st.tag == step, (st.source, st.tag)
        wrong = b.local != numbered(other, 5000 - first + step).local
        assert not wrong.any()
    long = hk.zeros(hk.Layout(2000000, "(BLOCK)", comm.size))
    if me == 0:
        w.send(hk.arange(long.layout, "float64"), peer)
    else:
        w.recv(long, peer)
        assert long.sum() == 1999999 * 1000000
    w.barrier()
"""
ACCEPTOR = (
    COMMON
    + """
options = eval(sys.argv[2])
port = hk.open_port(sys.argv[1], task="sim", **options)
pids = comm.gather(os.getpid())
if comm.rank == 0:
    print(json.dumps([port.address, pids]), flush=True)
for turn in range(int(sys.argv[3])):
    w = port.accept(timeout=60)
    assert (w.name, w.rank, w.size, list(w.names)) == ("sim", 0, 2, ["sim", "viewer"]), w.names
    exchange(w, 0, "viewer", 0)
    w.disconnect()
if len(sys.argv) > 4:  # the other job is killed while this one waits for it
    w = port.accept(timeout=60)
    began = time.monotonic()
    try:
        # The first process comes no more, as if it had found the loss in an earlier call.
        if comm.rank > 0 or sys.argv[4] != "leave":
            w.recv(hk.zeros(other), "viewer", timeout=60)
            raise SystemExit("the loss went unnoticed")
    except hk.PeerLostError as error:
        assert "viewer" in str(error), error
        if sys.argv[4] == "raise":
            raise
    last = comm.allreduce(time.time(), MPI.MAX)
    if comm.rank == 0:
        print("lost", last, flush=True)
port.close()
"""
)
CONNECTOR = (
    COMMON
    + """
w = hk.connect(sys.argv[1], task="viewer", key=sys.argv[2] or None, timeout=60)
assert (w.name, w.rank, w.size) == ("viewer", 1, 2)
if len(sys.argv) > 3:
    print(json.dumps(os.getpid()), flush=True)
    time.sleep(60)
exchange(w, 1, "sim", 5000)
w.disconnect()
try:
    w.barrier()
except hk.Error as error:
    assert "disconnected" in str(error)
"""
)


def start(folder: Path, code: str, name: str, processes: int, *words: str) -> subprocess.Popen:
    program = folder / name
    program.write_text(code, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(folder), processes, None)
    line = [mpiexec.find(), "-n", str(processes), sys.executable, str(program), *words]
    return subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)


@pytest.mark.parametrize(("acceptors", "connectors"), [(1, 1), (3, 2)])
def test_two_jobs_exchange_arrays(acceptors, connectors, tmp_path, runtime):  # noqa: F811
    """Twice: a port accepts one job after the other."""
    sim = start(tmp_path, ACCEPTOR, "sim.py", acceptors, "meet", "{}", "2")
    for turn in range(2):
        viewer = start(tmp_path, CONNECTOR, f"viewer{turn}.py", connectors, "meet", "")
        assert viewer.wait(90) == 0
    assert sim.wait(60) == 0


def test_two_jobs_with_a_key(tmp_path, runtime):  # noqa: F811
    key = key_file(tmp_path / "run.key")
    options = {"address": "127.0.0.1:0", "key": key}
    sim = start(tmp_path, ACCEPTOR, "sim.py", 2, "keyed", repr(options), "1")
    assert sim.stdout is not None
    address, _ = json.loads(sim.stdout.readline())
    other = key_file(tmp_path / "other.key")
    with pytest.raises(hk.Error, match="another key"):
        hk.observe(address, key=other, timeout=10)
    viewer = start(tmp_path, CONNECTOR, "viewer.py", 2, address, key)
    assert viewer.wait(90) == 0
    assert sim.wait(60) == 0


@pytest.mark.parametrize(
    ("then", "limit"),  # seconds, on a loaded machine and on a quiet one
    [("catch", 10), ("leave", 10), ("raise", 10), pytest.param("catch", 2, marks=pytest.mark.soak)],
)
def test_a_job_that_is_killed_is_told_within_two_seconds(
    then,
    limit,
    tmp_path,
    runtime,  # noqa: F811
):
    """The other one ends with status 0 if it catches the error, and with another if not."""
    sim = start(tmp_path, ACCEPTOR, "sim.py", 2, "kill", "{}", "0", then)
    assert sim.stdout is not None
    sim.stdout.readline()
    viewer = start(tmp_path, CONNECTOR, "viewer.py", 1, "kill", "", "sleep")
    assert viewer.stdout is not None
    process = json.loads(viewer.stdout.readline())
    time.sleep(0.5)
    killed = time.time()
    os.kill(process, signal.SIGKILL)
    if then != "raise":
        word, _, when = sim.stdout.readline().partition(" ")
        assert word == "lost" and float(when) - killed < limit
    viewer.wait(60)
    assert (sim.wait(60) == 0) == (then != "raise")


ONE_HOST = pytest.mark.one_host("by TCP, between hosts, all connections open in the meeting")
# Process r of either job sends to process r of the other, then all to all. A connection is a socket
# of this process more.
PAIRS = """
import os, stat, sys, time
import hocket as hk
from mpi4py import MPI
side, where, key = sys.argv[1:4]
comm = MPI.COMM_WORLD
def sockets():
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += stat.S_ISSOCK(os.stat(f"/proc/self/fd/{name}").st_mode)
        except OSError:
            pass
    return comm.allreduce(count)
rows, columns = (hk.Layout((8, 8), of, comm.size) for of in ("(BLOCK, *)", "(*, BLOCK)"))
a, b = hk.full(rows, 1.0 + comm.rank), hk.zeros(rows)
across = hk.zeros(columns)
comm.barrier()
before = sockets()
if side == "sim":
    options = {"address": "127.0.0.1:0", "key": key} if key else {}
    port = hk.open_port("pairs", task="sim", **options)
    if comm.rank == 0:
        print(port.address or "pairs", flush=True)
    w, peer = port.accept(timeout=60), "viewer"
else:
    began = time.monotonic()
    w, peer = hk.connect(where, task="viewer", key=key or None, timeout=60), "sim"
    if comm.rank == 0:
        print(time.monotonic() - began, flush=True)
    met = sockets() - before
    assert met == (comm.size**2 if key else comm.size), met  # by TCP all stand
def exchange(out, into):
    # The accepting job sends first: it has no other way than to ask.
    if side == "sim":
        w.isend(out, peer).wait(timeout=30)
        w.recv(into, peer, timeout=30)
    else:
        w.recv(into, peer, timeout=30)
        w.isend(out, peer).wait(timeout=30)
exchange(a, b)
assert (b.local == a.local).all()
if side == "viewer":
    paired = sockets() - before
    assert paired == met, paired
exchange(a, across)
assert (across.local.ravel() == [1 + k // 2 for k in range(8) for j in range(2)]).all()
if side == "sim":
    port.close()  # those who have met go on
w.barrier()
if side == "viewer":
    # Through shared memory, only a wait for a process opens a connection to it.
    last = sockets() - before
    assert last == comm.size**2 if key else comm.size <= last <= comm.size**2, last
w.disconnect()
"""


@pytest.mark.parametrize("limit", [20, pytest.param(1, marks=pytest.mark.soak)])  # loaded; quiet
@pytest.mark.parametrize("keyed", [pytest.param(False, marks=ONE_HOST), True])
def test_connections_open_at_their_first_use(keyed, limit, tmp_path, runtime):  # noqa: F811
    key = key_file(tmp_path / "run.key") if keyed else ""
    sim = start(tmp_path, PAIRS, "sim.py", 4, "sim", "", key)
    assert sim.stdout is not None
    where = sim.stdout.readline().strip()
    viewer = start(tmp_path, PAIRS, "viewer.py", 4, "viewer", where, key)
    took = float(viewer.communicate(timeout=90)[0])
    assert (viewer.returncode, sim.wait(60)) == (0, 0)
    assert took < limit  # seconds


STOPPED_BY = """
import os, signal, sys
import hocket as hk
port = hk.open_port(sys.argv[1], task="sim", **eval(sys.argv[2]))
print(port.address, flush=True)
w = port.accept(timeout=60)
a = hk.zeros(hk.Layout(4, "(*)", 1), "int64")
w.recv(a, "viewer")
os.kill(int(a.local[0]), signal.SIGSTOP)
try:
    (w.send if sys.argv[3] == "send" else w.recv)(a, "viewer", timeout=1.2)
except hk.DeadlineError as error:
    print(error, flush=True)
os.kill(int(a.local[0]), signal.SIGKILL)
"""
STOPPED = """
import os, sys
import hocket as hk
w = hk.connect(sys.argv[1], task="viewer", timeout=60, **eval(sys.argv[2]))
w.send(hk.full(hk.Layout(4, "(*)", 1), os.getpid(), "int64"), "sim")
w.recv(hk.zeros(hk.Layout(5, "(*)", 1)), "sim", tag=3)
"""


@pytest.mark.parametrize("verb", ["send", "recv"])
@pytest.mark.parametrize("options", [{}, {"address": "127.0.0.1:0", "secure": False}])
def test_the_deadline_tells_when_a_stopped_job_was_heard(
    verb,
    options,
    tmp_path,
    runtime,  # noqa: F811
):
    """A stopped process looks like one that computes: only the deadline ends the wait for it."""
    sim = start(tmp_path, STOPPED_BY, "sim.py", 1, "stopped", repr(options), verb)
    assert sim.stdout is not None
    address = sim.stdout.readline().strip()
    dial = {"secure": False} if options else {}
    viewer = start(tmp_path, STOPPED, "viewer.py", 1, address if options else "stopped", repr(dial))
    assert re.search(
        r"process 0 of 'viewer' was last heard \d+\.\d+ s ago", sim.communicate(timeout=90)[0]
    )
    viewer.wait(60)
