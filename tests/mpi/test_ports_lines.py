# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts: network namespaces with a line between them, which goes down while one side waits."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hocket.bench.shaped_link import ShapedLink
from lockstep import mpiexec
from test_ports import key_file, runtime  # noqa: F401
from test_ports_tasks import ACCEPTOR, CONNECTOR

import hocket as hk

PROGRAM = """
import sys, time
import hocket as hk
from mpi4py import MPI
side, key, case = sys.argv[1:]
comm = MPI.COMM_WORLD
secure = dict(key=key) if key else dict(secure=False)
if side == "sim":
    port = hk.open_port("line", task="sim", address="10.77.0.1:4711", **secure)
    print("open", flush=True)
    w, peer = port.accept(timeout=60), "viewer"
else:
    w, peer = hk.connect("10.77.0.1:4711", task="viewer", timeout=60, **secure), "sim"
a = hk.arange(hk.Layout(300000, "(BLOCK)", comm.size), "float64")
b = hk.zeros(hk.Layout(300000, "(CYCLIC)", comm.size))
if side == "sim":
    w.send(a, peer)
    w.recv(b, peer)
else:
    w.recv(b, peer)
    w.send(a, peer)
assert b.sum() == 299999 * 150000
if comm.rank == 0:
    print("waits", flush=True)
try:
    if case == "sends":  # more than the buffers of the system hold
        big = hk.ones(hk.Layout(200000000 // 8, "(BLOCK)", comm.size))
        while True:
            (w.send if side == "sim" else w.recv)(big, peer, timeout=30)
    else:
        w.recv(b, peer, timeout=30)
except hk.PeerLostError as error:
    assert peer in str(error), error
    last = comm.allreduce(time.time(), MPI.MAX)
    if comm.rank == 0:
        print("lost", last, flush=True)
"""


@pytest.fixture
def line():
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(ShapedLink("10gbit"))
        except hk.Error as error:
            pytest.skip(f"no network namespaces here: {error}")
        yield made


def start(node: str, folder: Path, side: str, *words: str) -> subprocess.Popen:
    """A job of two processes behind that end of the line."""
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(folder), 2, None)
    env["XDG_RUNTIME_DIR"] = str(folder)  # the two hosts share no folder
    job = [mpiexec.find(), "-n", "2", sys.executable, str(program), side, *words]
    return subprocess.Popen(
        ["ip", "netns", "exec", node, *job], stdout=subprocess.PIPE, env=env, text=True
    )


@pytest.mark.parametrize("limit", [6, pytest.param(2.5, marks=pytest.mark.soak)])  # loaded; quiet
@pytest.mark.parametrize("case", ["waits", "sends"])
@pytest.mark.parametrize("encrypted", [True, False])
def test_a_line_that_goes_down_ends_every_wait_within_two_seconds(
    case,
    encrypted,
    limit,
    line,
    tmp_path,
    runtime,  # noqa: F811
):
    key = key_file(tmp_path / "run.key") if encrypted else ""
    # The sockets' paths must be short.
    folders = [runtime / side for side in ("sim", "viewer")]
    sim = start(line.nodes[0], folders[0], "sim", key, case)
    jobs = [sim]
    try:
        assert sim.stdout is not None and sim.stdout.readline() == "open\n"
        viewer = start(line.nodes[1], folders[1], "viewer", key, case)
        jobs.append(viewer)
        for job in jobs:
            assert job.stdout is not None
            while (word := job.stdout.readline()) != "waits\n":
                assert word == "open\n"
        time.sleep(0.5)
        down = time.time()
        subprocess.run(["ip", "-n", line.nodes[0], "link", "set", "v0", "down"], check=True)
        for job in jobs:
            assert job.stdout is not None
            word, when = job.stdout.readline().split()
            assert word == "lost" and float(when) - down < limit, float(when) - down
            assert job.wait(60) == 0
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


def test_hosts_that_are_containers_share_memory_or_send(tmp_path, runtime):  # noqa: F811
    """Another namespace of process ids: the Unix socket connects, and its user is ours, but
    /proc/PID leads nowhere; descriptors are passed over a socket."""
    unshare = ["unshare", "--pid", "--mount-proc", "--fork"]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root makes a namespace of process ids, with util-linux's unshare")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this system allows no namespace of process ids")
    jobs = []
    log = "import logging\nlogging.basicConfig(level=logging.DEBUG)\n"
    for name, code, begin, words in (
        ("sim", ACCEPTOR, [], ["contained", "{}", "1"]),
        ("viewer", CONNECTOR, unshare, ["contained", ""]),
    ):
        program = tmp_path / f"{name}.py"
        program.write_text(log + code, encoding="utf-8")
        env = mpiexec.environment(os.environ, str(tmp_path), 2, None)
        job = [mpiexec.find(), "-n", "2", sys.executable, str(program), *words]
        jobs.append(
            subprocess.Popen(
                [*begin, *job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True
            )
        )
    try:
        for job in jobs:
            _, said = job.communicate(timeout=90)
            assert job.returncode == 0, said
            assert "hand each other descriptors" in said or "travel there as messages" in said
    finally:
        for job in jobs:
            job.kill()
