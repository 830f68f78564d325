# SPDX-License-Identifier: BSD-3-Clause
"""What a measurement starts ends with it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import sys
from hocket.bench import launch
launch.start([sys.executable, "-c", sys.argv[1]], 0, 1, None)
"""
SIMULATION = """
import os, pathlib, sys
from hocket.bench import simulation
os.environ["PATH"] = f"{sys.argv[2]}:{os.environ['PATH']}"
simulation.start(pathlib.Path(sys.executable), [], ["-c", sys.argv[1]], None)
"""
# As SimGrid's own: a script that has the simulator in the background.
SMPIRUN = """#!/bin/sh
trap 'kill "$pid"; trap - TERM; kill $$' TERM
"$@" &
pid=$!
wait $pid
"""
CHILD = """
import os, time
open({file!r}, "w").write(str(os.getpid()))
time.sleep(1000)
"""


def runs(number: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except FileNotFoundError:
        return False
    return state.split()[0] != "Z"


@pytest.mark.parametrize("parent_program", [PARENT, SIMULATION], ids=["program", "simulation"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_measurement_that_is_ended_takes_along_what_it_started(
    tmp_path: Path, number: signal.Signals, parent_program: str
) -> None:
    told, smpirun = tmp_path / "number", tmp_path / "smpirun"
    smpirun.write_text(SMPIRUN, encoding="utf-8")
    smpirun.chmod(0o755)
    words = [sys.executable, "-c", parent_program, CHILD.format(file=str(told)), str(tmp_path)]
    parent = subprocess.Popen(words)
    try:
        until = time.monotonic() + 200
        while not (told.exists() and told.read_text(encoding="utf-8")):
            assert time.monotonic() < until and parent.poll() is None
            time.sleep(0.01)
        child = int(told.read_text(encoding="utf-8"))
        parent.send_signal(number)
        parent.wait(200)
        while runs(child):
            assert time.monotonic() < until, f"process {child} is left behind"
            time.sleep(0.01)
    finally:
        parent.kill()
        parent.wait()
        if told.exists() and runs(int(told.read_text(encoding="utf-8") or 0)):
            os.kill(int(told.read_text(encoding="utf-8")), signal.SIGKILL)
