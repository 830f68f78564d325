# SPDX-License-Identifier: BSD-3-Clause
"""Processes that end in good order while another still waits for them: its waits end, naming them,
and nobody else's do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

# Tasks x, y and z end at once. Long after that c and d still exchange arrays, at leisure.
PROGRAM = """
import pathlib, sys, time
import hocket as hk

folder = pathlib.Path(sys.argv[1])
w = hk.tasks({name: 1 for name in "axyzcd"})
a, big = (
    hk.zeros(hk.Layout((n,), "(BLOCK)", 1), "float64", comm=w.comm) for n in (8, 1 << 20)
)
if w.name in "xyz":
    sys.exit()
if w.name in "cd":
    for k in range(4):
        if w.name == "c":
            time.sleep(0.7)
            w.send(a, "d")
        else:
            assert w.recv(a).source == 4
    folder.joinpath(w.name + ".done").touch()
    sys.exit()
time.sleep(0.2)

def persistently():
    request = w.recv_init(a, "z", tag=2)
    request.start()
    request.wait()

def flow():
    with hk.Flow() as f:
        f.recv(w, a, "z", tag=3)

for wait in (lambda: w.recv(a, "x", tag=2), lambda: w.send(big, "y"), persistently, flow):
    began = time.monotonic()
    try:
        wait()
    except hk.PeerLostError as error:
        print("after %.1f s: %s" % (time.monotonic() - began, error))
# After such an error this process ends all: the others come to their ends before.
while len(list(folder.glob("*.done"))) < 2 and time.monotonic() - began < 200:
    time.sleep(0.1)
# Open MPI's prterun may crash, or wait for ever, if a process aborts while others leave MPI.
time.sleep(1)
"""


@pytest.mark.one_host("between hosts such a wait needs a timeout, as the guide says")
def test_the_waits_for_them_end_and_no_others(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    line = [mpiexec.find(), "-n", "6", sys.executable, str(program), str(tmp_path)]
    env = mpiexec.environment(os.environ, str(tmp_path), 6, None)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, env=env)
    said = done.stdout.splitlines()
    ended = sorted(path.stem for path in tmp_path.glob("*.done"))
    assert ended == ["c", "d"], done.stdout + done.stderr
    told = [text for text in said if text.startswith("after")]
    assert len(told) == 4, done.stdout + done.stderr
    for text, (rank, name) in zip(told, [(1, "x"), (2, "y"), (3, "z"), (3, "z")]):
        assert f"rank {rank} (task '{name}', process 0) has left (MPI_Finalize)" in text
        found = re.match(r"after ([\d.]+) s", text)
        assert found is not None and float(found[1]) < 100
