# SPDX-License-Identifier: BSD-3-Clause
"""The guide's recipe for the signal that Slurm sends before the time limit, as it stands there."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from lockstep import mpiexec
from lockstep.elsewhere import Process

import hocket as hk

GUIDE = Path(__file__).parents[2] / "docs/guide/stores.md"
AROUND = """
import os
import pathlib
import sys
import time

def advance(a):
    a.local[...] += 1
    pathlib.Path(f"pid{a.comm.rank}").write_text(f"{os.getpid()} {os.uname().nodename}")
    time.sleep(0.005)
    return a

import hocket as hk

first, last = 1, 20000  # minutes, unless the signal comes
a = hk.zeros(hk.Layout(100, "(BLOCK)", 2), "int64")
"""
# A signal that comes while Python ends would end the process.
AFTER = """
while not pathlib.Path("sent").exists():
    time.sleep(0.01)
"""


def test_a_job_saves_when_slurm_announces_its_end(tmp_path):
    blocks = re.findall(r"```python no-run\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    (recipe,) = [block for block in blocks if "SIGUSR2" in block]
    program = tmp_path / "job.py"
    program.write_text(AROUND + recipe + AFTER, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(tmp_path), 2, None)
    line = [mpiexec.find(), "-n", "2", sys.executable, str(program)]
    with subprocess.Popen(line, env=env, cwd=tmp_path) as job:
        try:
            files = [tmp_path / f"pid{rank}" for rank in range(2)]
            end = time.monotonic() + 60
            while not all(file.is_file() and len(file.read_text().split()) == 2 for file in files):
                assert time.monotonic() < end and job.poll() is None
                time.sleep(0.01)
            for file in files:  # not at the same time
                Process.read(file.read_text()).kill(signal.SIGUSR2)
                time.sleep(0.05)
            (tmp_path / "sent").touch()
            assert job.wait(60) == 0
        finally:
            job.kill()
    s = hk.open_store(tmp_path / "run.zarr")
    assert 1 <= s.attributes["step"] < 19999
    assert (s["t"][...] == s.attributes["step"]).all()
