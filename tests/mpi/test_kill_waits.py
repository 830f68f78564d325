# SPDX-License-Identifier: BSD-3-Clause
"""A process is killed while others wait for it in every other way than `test_kill.py` tries, or
look again and again whether something has come: each finds out by itself, and names it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from lockstep import mpiexec
from lockstep.elsewhere import with_variable
from test_kill import MARK, not_ended_by_the_launcher, processes_of

SECONDS = 100.0  # generous; alone it is about one

# Rank 2 is task b, which is killed. Ranks 0 and 1 wait for it, each in its own way.
PROGRAM = """
import os, pathlib, sys, time
import hocket as hk
from mpi4py import MPI

w = hk.tasks({"x": 1, "y": 1, "b": 1})
rank, folder = MPI.COMM_WORLD.rank, pathlib.Path(sys.argv[1])
a, big = (hk.zeros(hk.Layout((n,), "(BLOCK)", 1), comm=w.comm) for n in (8, 1 << 20))
x = hk.transfer(*(hk.Layout(1 << 18, text, 3) for text in ("(BLOCK)", "(CYCLIC)")))
ends = hk.zeros(x._source), hk.zeros(x._destination)
MPI.COMM_WORLD.barrier()

def tell(name, text):
    folder.joinpath(name + ".part").write_text(text)
    folder.joinpath(name + ".part").rename(folder / name)

def send():
    w.send(big, "b")

def persistent():
    request = w.recv_init(a, "b")
    request.start()
    request.wait()

def persistent_send():
    request = w.send_init(big, "b")
    request.start()
    hk.waitall([request])

def waitany():
    hk.waitany([w.irecv(a, "b", tag=tag) for tag in (1, 2)])

def channel():
    w.channel("c", "b").recv(a)

def probe():
    w.probe("b")

def barrier():
    w.barrier()

def test():
    request = w.irecv(a, "b")
    while not request.test():
        pass

def iprobe():
    while w.iprobe("b") is None:
        pass

def transfer():
    x(*ends)

def transfer_test():
    x.start(*ends)
    while not x.test():
        pass

def flow():
    with hk.Flow() as f:
        f.recv(w, a, "b")

tell(f"{rank}.pid", f"{os.getpid()} {os.uname().nodename}")
if w.name == "b":
    time.sleep(1000)
try:
    globals()[sys.argv[2 + rank]]()
except hk.Error as error:
    tell(f"{rank}.said", f"{type(error).__name__}: {error}")
time.sleep(1000)
"""


def errors_of_others(
    folder: Path, text: str, words: Sequence[str], victim: int = 2
) -> dict[int, str]:
    """The errors that two processes of a program tell once the third is killed; "": none."""
    program = folder / "program.py"
    program.write_text(text)
    environment = {**mpiexec.environment(os.environ, str(folder), 3, None), MARK: str(folder)}
    process = subprocess.Popen(
        [*not_ended_by_the_launcher(), sys.executable, str(program), str(folder), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    places = {rank: folder / f"{rank}.said" for rank in range(3) if rank != victim}
    try:
        ranks = processes_of(folder, process)
        time.sleep(0.7)  # the others wait by now, and sleep
        began = time.monotonic()
        ranks[victim].kill()
        told = places.values()
        while not all(each.exists() for each in told) and time.monotonic() < began + SECONDS:
            time.sleep(0.05)
        return {rank: each.read_text() if each.exists() else "" for rank, each in places.items()}
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for left in with_variable(f"{MARK}={folder}"):
            with contextlib.suppress(ProcessLookupError):
                left.kill()
        process.wait()


@pytest.mark.parametrize(
    "waits",
    [
        ("send", "persistent"),
        ("waitany", "channel"),
        ("probe", "persistent_send"),
        ("barrier", "flow"),
        ("test", "iprobe"),
        ("transfer", "transfer_test"),
    ],
    ids="-".join,
)
def test_every_wait_finds_out(tmp_path: Path, waits: tuple[str, str]) -> None:
    for rank, text in errors_of_others(tmp_path, PROGRAM, waits).items():
        way = waits[rank]
        assert text, f"{way}: nothing was said within {SECONDS} s"
        assert "rank 2 (task 'b', process 0)" in text, f"{way}: {text}"
        assert "PeerLostError" in text or way == "flow", f"{way}: {text}"
