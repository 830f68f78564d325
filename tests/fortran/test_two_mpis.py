# SPDX-License-Identifier: BSD-3-Clause
"""A model in Fortran and its analysis in Python, each with an MPI of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import numpy as np
from test_fortran import program

ROOT = Path(__file__).resolve().parents[2]


def other_python() -> Path:
    """The Python of Open MPI where this one is MPICH's, which is tested after it; else this one."""
    other = ROOT / ".env/openmpi/bin/python"
    built = ROOT / "build/openmpi/src/libhocket.so"
    both = Path(sys.prefix).name == "mpich" and other.exists() and built.exists()
    return other if both else Path(sys.executable)


def days() -> list[str]:
    """The lines that the analysis prints."""
    i, j = np.ogrid[1:49, 1:33]
    t = np.where((i - 20) ** 2 + (j - 12) ** 2 < 36, 30.0, 10.0)
    lines = []
    for day in range(4):
        place = np.unravel_index(t.argmax(), t.shape)
        lines.append(
            f"day {day}: mean {t.mean():.6f}, warmest {t.max():.6f} at {place[0]},{place[1]}"
        )
        for _ in range(10):
            around = sum(np.roll(t, by, axis) for by in (1, -1) for axis in (0, 1))
            t = t + 0.1 * (around - 4 * t) + 0.3 * (np.roll(t, 1, 1) - t)
    return lines


def test_a_model_in_fortran_and_an_analysis_in_python() -> None:
    name = f"sea-{os.getpid()}"
    jobs = [(sys.executable, f"model=2:{program('ocean')} {name}")]
    jobs.append((str(other_python()), f"analysis=3:{ROOT}/examples/24_analysis.py {name}"))
    started = [
        subprocess.Popen([python, "-m", "hocket", "run", job], stdout=PIPE, stderr=PIPE, text=True)
        for python, job in jobs
    ]
    model, analysis = [one.communicate(timeout=120) for one in started]
    assert [one.returncode for one in started] == [0, 0], (model, analysis)
    assert analysis[0].splitlines() == [f"analysis[0] | {line}" for line in days()]
