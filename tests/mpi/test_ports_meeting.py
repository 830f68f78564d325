# SPDX-License-Identifier: BSD-3-Clause
"""A job that dies while it meets another: `accept` ends, and the next job gets in."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from test_ports import key_file, runtime  # noqa: F401
from test_ports_tasks import start

ACCEPTOR = """
import json, sys
import hocket as hk
from mpi4py import MPI
comm = MPI.COMM_WORLD
port = hk.open_port("meet", task="sim", **eval(sys.argv[1]))
if comm.rank == 0:
    print(json.dumps(port.address), flush=True)
a = hk.zeros(hk.Layout(4, "(BLOCK)", comm.size))
met = False
while not met:
    during = "accept"
    try:
        w = port.accept(timeout=120)
        during = "recv"
        w.recv(a, "viewer", timeout=120)
        met = True
    except hk.PeerLostError as error:
        print(json.dumps([comm.rank, during, str(error)]), flush=True)
    met = comm.allreduce(met, MPI.MIN)  # the last message may have come for one process
w.disconnect()
port.close()
"""
# Dies behind so many calls of the system that moved bytes to or from the port, or connected to it.
CONNECTOR = """
import ctypes, sys
import hocket as hk
from mpi4py import MPI
address, key, calls = sys.argv[1], sys.argv[2] or None, int(sys.argv[3])
try:
    hk.connect(address, task="sim", key=key, timeout=120)
except hk.Error as error:
    assert "both jobs call themselves 'sim'" in str(error), error
die_after = ctypes.CDLL(None).die_after
die_after(calls)
w = hk.connect(address, task="viewer", key=key, timeout=120)
die_after(0)
w.send(hk.ones(hk.Layout(4, "(*)", 1)), "sim")
w.disconnect()
"""
DYING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
static int left = 0;
void die_after(int calls) { left = calls; }
static void count(int moved) {
    if (moved && left > 0 && --left == 0) kill(getpid(), SIGKILL);
}
ssize_t send(int socket, const void* data, size_t bytes, int flags) {
    ssize_t (*next)(int, const void*, size_t, int) = dlsym(RTLD_NEXT, "send");
    const ssize_t sent = next(socket, data, bytes, flags);
    count(sent > 0);
    return sent;
}
ssize_t recv(int socket, void* data, size_t bytes, int flags) {
    ssize_t (*next)(int, void*, size_t, int) = dlsym(RTLD_NEXT, "recv");
    const ssize_t got = next(socket, data, bytes, flags);
    count(got > 0 && !(flags & MSG_PEEK));
    return got;
}
int connect(int socket, const struct sockaddr* address, socklen_t bytes) {
    int (*next)(int, const struct sockaddr*, socklen_t) = dlsym(RTLD_NEXT, "connect");
    const int failed = next(socket, address, bytes);
    count(!failed);
    return failed;
}
"""


@pytest.mark.parametrize(
    ("keyed", "step"),
    [
        (False, 3),
        (True, 7),
        pytest.param(False, 1, marks=pytest.mark.soak),
        pytest.param(True, 1, marks=pytest.mark.soak),
    ],
)
def test_a_connector_dies_while_the_jobs_meet(keyed, step, tmp_path, runtime):  # noqa: F811
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source, library = tmp_path / "dying.c", tmp_path / "dying.so"
    source.write_text(DYING, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    key = key_file(tmp_path / "run.key") if keyed else ""
    options = {"address": "127.0.0.1:0", "key": key} if keyed else {}
    sim = start(tmp_path, ACCEPTOR, "sim.py", 2, repr(options))
    assert sim.stdout is not None
    address = json.loads(sim.stdout.readline())
    program = tmp_path / "viewer.py"
    program.write_text(CONNECTOR, encoding="utf-8")

    def connect(calls: int) -> int:
        line = [sys.executable, str(program), address if keyed else "meet", key, str(calls)]
        env = {**os.environ, "LD_PRELOAD": str(library)}
        return subprocess.run(line, env=env, timeout=120, check=False).returncode

    # Each of them dies somewhat later than the one before it, until one has met and sent all.
    killed = 0
    while (code := connect(2 + killed * step)) == -signal.SIGKILL:
        killed += 1
    assert code == 0
    told = [json.loads(line) for line in sim.stdout]
    assert sim.wait(60) == 0
    in_accept = [why for _, during, why in told if during == "accept"]
    assert len(in_accept) >= killed, told  # on both processes, for half of the points at least
    assert all("is lost" in why and "within" not in why for why in in_accept), told
