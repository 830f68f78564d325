# SPDX-License-Identifier: BSD-3-Clause
"""Channels with kept frames: each frame arrives once, also after either job was restarted."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from test_ports import key_file, runtime  # noqa: F401
from test_ports_tasks import start

# Frame k is full of k, so its elements say which one it is. `role` is independent of the side
# that has the port.
PROGRAM = """
import json, os, sys, time
import hocket as hk
from mpi4py import MPI
comm = MPI.COMM_WORLD
role, side, name, last, options = sys.argv[1], sys.argv[2], sys.argv[3], *map(eval, sys.argv[4:])
resume = None if last is None else {"frames": last}
if side == "accept":
    port = hk.open_port(name, task=role, **options.pop("port", {}))
    if comm.rank == 0:
        print(json.dumps(port.address), flush=True)
    w = port.accept(timeout=180, resume=resume)
else:
    key = options.pop("key", None)
    w = hk.connect(name, task=role, key=key, timeout=180, reconnect=120, resume=resume)
frames, step, count = options["frames"], options.get("step", 0.01), options.get("count", 1000)
if role == "writer":
    a = hk.zeros(hk.Layout((count, 6), "(BLOCK, *)", comm.size))
    c = w.channel("frames", "reader", keep=options.get("keep", 4))
    while c.sent < frames:
        a.local[...] = c.sent + 1
        c.send(a, timeout=180)
        time.sleep(step)
    time.sleep(options.get("linger", 0))
    c.close(timeout=180)
else:
    b = hk.zeros(hk.Layout((count, 6), "(*, CYCLIC)", comm.size))
    c = w.channel("frames", "writer", keep=1)
    try:
        while True:
            c.recv(b, timeout=180)
            assert (b.local == b.local.flat[0]).all() if b.local.size else True
            value = comm.bcast(int(b.local.flat[0]) if comm.rank == 0 else None)
            if comm.rank == 0:
                print(value, c.received, time.time(), os.getpid(), flush=True)
    except hk.EndOfStream:
        if comm.rank == 0:
            print("end", flush=True)
w.disconnect()
if side == "accept":
    port.close()
"""


class Reader:
    """Collects what a reading job prints, in a thread."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process
        self.rows: list[list[str]] = []
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.rows.append(line.split())

    def frames(self) -> list[int]:
        return [int(row[0]) for row in self.rows if len(row) == 4]

    def wait_for(self, frame: int) -> None:
        until = time.monotonic() + LONG
        while not self.frames() or self.frames()[-1] < frame:
            assert time.monotonic() < until and self.process.poll() is None
            time.sleep(0.002)

    def first_after(self, moment: float) -> float:
        """Seconds from that moment to the first frame that came then."""
        return next(float(r[2]) for r in self.rows if len(r) == 4 and float(r[2]) > moment) - moment

    def end(self) -> None:
        assert self.process.wait(LONG) == 0
        self.thread.join()
        assert self.rows[-1] == ["end"]


def job(folder: Path, role: str, side: str, name: str, processes: int, last, **options):
    words = [role, side, name, repr(last), repr(options)]
    return start(folder, PROGRAM, f"{role}{side}.py", processes, *words)


def kill(process: subprocess.Popen) -> None:
    """Every process of a job at once, as the end of a node does. MPICH's are grandchildren."""
    job = [process.pid]
    for parent in job:
        found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, check=False)
        job.extend(map(int, found.stdout.split()))
    for each in reversed(job):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    process.wait(LONG)


#: who has the port, and the number of processes of each job
SIDES = [("accept", 1), ("connect", 2)]
#: in soak only
OTHERS = [("accept", 2), ("connect", 1)]
EVERY = [*SIDES, *(pytest.param(*each, marks=pytest.mark.soak) for each in OTHERS)]
#: seconds after which a wait has failed, on a machine with much else to do
LONG = 180


@pytest.mark.parametrize(("side", "processes"), EVERY)
def test_a_writer_is_killed_and_restarted(side, processes, tmp_path, runtime):  # noqa: F811
    """With `resume=` it goes on where it says; what the reader has is not sent again."""
    other = "connect" if side == "accept" else "accept"
    reader = Reader(job(tmp_path, "reader", other, "kept", processes, None, frames=40))
    writer = job(tmp_path, "writer", side, "kept", processes, None, frames=40)
    reader.wait_for(10)
    kill(writer)
    restarted = time.time()
    writer = job(tmp_path, "writer", side, "kept", processes, 8, frames=40)
    assert writer.wait(LONG) == 0
    reader.end()
    assert reader.frames() == list(range(1, 41))
    if (side, processes) in OTHERS:  # which run without other work beside them
        assert reader.first_after(restarted) < 2 + START


def test_a_writer_is_restarted_before_it_closes(tmp_path, runtime):  # noqa: F811
    """The reader has all frames already, and acknowledges none again."""
    reader = Reader(job(tmp_path, "reader", "connect", "closing", 1, None, frames=20))
    writer = job(tmp_path, "writer", "accept", "closing", 1, None, frames=20, linger=60)
    reader.wait_for(20)
    kill(writer)
    writer = job(tmp_path, "writer", "accept", "closing", 1, 17, frames=20)
    assert writer.wait(LONG) == 0
    reader.end()
    assert reader.frames() == list(range(1, 21))


#: seconds that a job may take to start on a busy machine, before hocket is at work
START = 3.0


@pytest.mark.parametrize(("side", "processes"), EVERY)
def test_a_reader_is_killed_and_restarted(side, processes, tmp_path, runtime):  # noqa: F811
    other = "connect" if side == "accept" else "accept"
    writer = job(tmp_path, "writer", other, "kept", processes, None, frames=40)
    reader = Reader(job(tmp_path, "reader", side, "kept", processes, None, frames=40))
    reader.wait_for(10)
    kill(reader.process)
    reader.thread.join()
    had = reader.frames()
    again = Reader(job(tmp_path, "reader", side, "kept", processes, had[-1], frames=40))
    assert writer.wait(LONG) == 0
    again.end()
    assert had + again.frames() == list(range(1, 41))


class Proxy:
    """A line that can be cut, and that loses all but the first bytes of each connection."""

    def __init__(self, host: str, port: int, first: float = float("inf")) -> None:
        self.first, self.lost = first, 0
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets: list[socket.socket] = []
        self.connections = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                here, _ = self.listener.accept()
                there = socket.create_connection(self.target)
            except OSError:
                return
            self.sockets += [here, there]
            self.connections += 1
            for a, b, left in ((here, there, float("inf")), (there, here, self.first)):
                threading.Thread(target=self.pump, args=(a, b, left), daemon=True).start()

    def pump(self, a: socket.socket, b: socket.socket, left: float) -> None:
        with contextlib.suppress(OSError):
            while data := a.recv(4096):
                if left >= len(data):
                    b.sendall(data)
                else:
                    self.lost += len(data)
                left -= len(data)
        for end in (a, b):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.sockets.clear()


def test_a_line_is_cut(tmp_path, runtime):  # noqa: F811
    """Both jobs live; the one that has connected connects again, through the same address."""
    key = key_file(tmp_path / "run.key")
    options = {"port": {"address": "127.0.0.1:0", "key": key}}
    writer = job(tmp_path, "writer", "accept", "cut", 1, None, frames=60, **options)
    assert writer.stdout is not None
    host, _, port = json.loads(writer.stdout.readline()).rpartition(":")
    proxy = Proxy(host, int(port))
    dialled = {"key": key}
    reader = Reader(
        job(tmp_path, "reader", "connect", proxy.address, 1, None, frames=60, **dialled)
    )
    for frame in (10, 25, 40):
        reader.wait_for(frame)
        proxy.cut()
    assert writer.wait(LONG) == 0
    reader.end()
    assert reader.frames() == list(range(1, 61))
    assert proxy.connections >= 2 * 4  # each meeting: one of the job, one of its process


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_the_first_frame_is_lost_on_its_way(processes, tmp_path, runtime):  # noqa: F811
    """The writer has sent it, the reader has nothing: it comes again after the reunion."""
    key = key_file(tmp_path / "run.key")
    options = {"port": {"address": "127.0.0.1:0", "key": key}, "count": 4000}
    writer = job(tmp_path, "writer", "accept", "first", processes, None, frames=5, **options)
    assert writer.stdout is not None
    host, _, port = json.loads(writer.stdout.readline()).rpartition(":")
    proxy = Proxy(host, int(port), 50000)
    dialled = {"key": key, "count": 4000}
    reader = Reader(
        job(tmp_path, "reader", "connect", proxy.address, processes, None, frames=5, **dialled)
    )
    until = time.monotonic() + LONG
    while proxy.lost < 100000 // processes:
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.3)
    proxy.first = float("inf")
    proxy.cut()
    assert writer.wait(LONG) == 0
    reader.end()
    assert reader.frames() == list(range(1, 6))


GAP = """
import sys, time
import hocket as hk
w = hk.connect("gap", task="reader", timeout=180, resume={"frames": 2})
b = hk.zeros(hk.Layout((4,), "(*)"))
c = w.channel("frames", "writer", keep=1)
try:
    c.recv(b, timeout=180)
except hk.MismatchError as error:
    assert "frames 3 to 6 are lost" in str(error), error
    assert c.received == 2
else:
    raise SystemExit(3)
wrong = hk.zeros(hk.Layout((5,), "(*)"))
try:
    c.recv(wrong, timeout=180)
except hk.MismatchError:
    assert c.received == 2
c.recv(b, timeout=180)
assert b.local[0] == c.received == 7
w.disconnect()
"""
GAP_WRITER = """
import hocket as hk
with hk.open_port("gap", task="writer") as port:
    w = port.accept(timeout=180, resume={"frames": 6})
    a = hk.zeros(hk.Layout((4,), "(*)"))
    c = w.channel("frames", "reader", keep=1)
    a.local[...] = 7
    try:
        c.send(a, timeout=180)
    except hk.MismatchError as error:
        assert "frames 3 to 6 are lost" in str(error), error
    try:
        c.close(timeout=180)
    except hk.MismatchError as error:  # of the reader's wrong array
        assert "(5)" in str(error), error
        c.close(timeout=180)
    w.disconnect()
"""


def test_a_gap_is_named_on_both_sides(tmp_path, runtime):  # noqa: F811
    writer = start(tmp_path, GAP_WRITER, "writer.py", 1)
    reader = start(tmp_path, GAP, "reader.py", 1)
    assert reader.wait(LONG) == 0
    assert writer.wait(LONG) == 0
