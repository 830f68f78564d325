# SPDX-License-Identifier: BSD-3-Clause
"""A process of the program is killed while the others wait for it: all end within seconds, with a
message that names it, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lockstep import mpiexec
from lockstep.elsewhere import Process, with_variable
from lockstep.job import HOSTS, shared_segments

from hocket.mpiexec import flavour

SECONDS = 100.0  # generous: a machine that runs other things too; alone it is about one
MARK = "HOCKET_KILL_TEST"

# Rank 2 is task b. It is killed once all have met and say where they are.
PROGRAM = """
import os, pathlib, sys, time
import hocket as hk

def body(w, how, folder):
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    a = hk.zeros(hk.Layout((64, 64), "(BLOCK, *)", w.comm.size), comm=w.comm)
    w.send(a, "b") if w.name == "a" else w.recv(a)
    big = hk.zeros(hk.Layout((1 << 22,), "(BLOCK)", w.comm.size), comm=w.comm)
    all_of_us = hk.zeros(hk.Layout((64, 64), "(BLOCK, *)", world.size))
    team = hk.Team()
    place = pathlib.Path(folder, f"{world.rank}.pid")
    place.with_suffix(".part").write_text(f"{os.getpid()} {os.uname().nodename}")
    place.with_suffix(".part").rename(place)
    if how == "crossing":  # memory that only the kernel can copy
        big = hk.wrap(big.local.copy(), big.layout, comm=w.comm)
    if how in ("copy", "crossing"):
        while True:
            w.send(big, "b") if w.name == "a" else w.recv(big)
    if w.name == "b":
        time.sleep(1000)
    if how == "receive":
        w.recv(a, "b")
    if how == "team":
        team.reduce_add(1)
    hk.redistribute(all_of_us, hk.Layout((64, 64), "(*, BLOCK)", world.size))

if __name__ == "__main__":
    if sys.argv[1:2] == ["hk.run"]:
        hk.run(body, tasks={"a": 2, "b": 1}, args=sys.argv[2:])
    else:
        body(hk.tasks({"a": 2, "b": 1}), *sys.argv[1:])
"""


def command(way: str, program: Path, how: str, folder: Path) -> list[str]:
    python, words = sys.executable, [str(program), how, str(folder)]
    if way == "hk.run":
        return [python, str(program), "hk.run", how, str(folder)]
    if way == "hocket run":
        run = [str(Path(python).with_name("hocket")), "run"]
        return [*run, f"a=2:{program}", f"b=1:{program}", how, str(folder)]
    if way == "mpiexec":
        return [mpiexec.find(), "-n", "3", python, *words]
    return [*not_ended_by_the_launcher(), python, *words]


def processes_of(folder: Path, process: subprocess.Popen[str]) -> dict[int, Process]:
    deadline = time.monotonic() + 300
    while True:
        found = {int(path.stem): Process.read(path.read_text()) for path in folder.glob("*.pid")}
        if len(found) == 3:
            return found
        assert process.poll() is None and time.monotonic() < deadline, "the ranks did not start"
        time.sleep(0.05)


def not_ended_by_the_launcher() -> list[str]:
    """The beginning of a line that starts three processes of which only they themselves can find
    out that another has ended: the launcher sees shells, which live on. Over hosts it knows MPI's
    fault tolerance instead, which reports an end to the processes of all hosts."""
    if not HOSTS:
        return [mpiexec.find(), "-n", "3", "sh", "-c", '"$@"; sleep 1000', "sh"]
    if flavour(Path(mpiexec.find())) != "openmpi":
        pytest.skip("between hosts, only Open MPI's fault tolerance reports the end of a process")
    return [mpiexec.find(), "--with-ft", "ulfm", "-n", "3"]


WAYS = ["hk.run", "hocket run", "mpiexec", "mpiexec that does not look"]


# Each launcher and each wait once; `make soak` runs the other pairs.
CASES = [*zip(WAYS, ("redistribute", "receive", "copy", "crossing")), (WAYS[-1], "team")]
OTHERS = [(way, how) for way in WAYS for how in ("receive", "redistribute")]
OTHERS += [(way, "copy") for way in WAYS[:-1]]
CASES += [pytest.param(*case, marks=pytest.mark.soak) for case in OTHERS if case not in CASES]


@pytest.mark.parametrize(("way", "how"), CASES)
def test_a_killed_process_ends_the_program(tmp_path, way, how):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    del environment["OMPI_MCA_btl_sm_backing_directory"]  # as users have it
    environment[MARK] = str(tmp_path)
    environment["HOCKET_CROSSING"] = "always"
    process = subprocess.Popen(
        command(way, program, how, tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        ranks = processes_of(tmp_path, process)
        time.sleep(0.7)  # the others wait by now, and sleep
        segments = set().union(*(shared_segments(one.pid) for one in ranks.values() if one.here))
        began = time.monotonic()
        ranks[2].kill()
        said, _ = process.communicate(timeout=2 * SECONDS)
        seconds = time.monotonic() - began
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        for left in with_variable(f"{MARK}={tmp_path}"):
            with contextlib.suppress(ProcessLookupError):
                left.kill()
        raise
    assert seconds < SECONDS, said
    assert process.returncode != 0, said
    if way == "mpiexec":  # its own words: our processes were ended before they could speak
        lost = rf"|Peer host: +{ranks[2].host}" if not ranks[2].here else ""
        assert re.search(rf"rank 2|BAD TERMINATION|PeerLostError{lost}", said), said
    elif HOSTS and way != WAYS[-1]:  # the launcher may first see a process that notices the end
        noticed = r"a process ended without a word; rank [01] .* was the first to notice"
        assert re.search(rf"rank 2 \(task 'b', process 0\)|{noticed}", said), said
    else:
        assert "rank 2 (task 'b', process 0)" in said, said
    if way == "mpiexec that does not look":
        assert "PeerLostError" in said, said
    deadline = time.monotonic() + 60
    while with_variable(f"{MARK}={tmp_path}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not with_variable(f"{MARK}={tmp_path}"), said
    left = [path for path in segments if path.exists()]
    if way in ("hk.run", "hocket run"):
        assert not left, said
    for path in left:  # a launcher's own doing
        path.unlink(missing_ok=True)
