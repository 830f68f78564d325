# SPDX-License-Identifier: BSD-3-Clause
"""A type checker reads the package's types in a program that lies elsewhere: `py.typed`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

SOUND = """
from typing import Any

import hocket as hk
import numpy as np
import numpy.typing as npt
from mpi4py import MPI


def program(comm: MPI.Comm) -> hk.Array:
    rows = hk.Layout((6, 6), "(BLOCK, *)", comm.size)
    seconds: float = hk.plan(rows, rows).predict()["direct"]
    a = hk.from_function(lambda i, j: i + j + seconds, rows, "float64", comm)
    return hk.redistribute(a, hk.Layout((6, 6), "(*, BLOCK)", comm.size), timeout=60.0)


@hk.step(inputs=["x"], outputs=["y"])
def twice(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
    np.multiply(x, 2, out=y)


def exchange(world: hk.Tasks, a: hk.Array) -> int:
    with hk.Flow(workers=2) as f:
        f.task(twice, inputs=[a.local])
    status: hk.Status = world.isend(a, "cols").wait(timeout=1.0)
    return status.tag


print(hk.__version__.split("."), hk.ANY_TAG + 1)
"""

#: a wrong line, and the code of mypy's error
WRONG = {
    "hk.Layout((8,), 3.5, 2)": "arg-type",
    "hk.plan(hk.Layout(8, '(BLOCK)', 2), 'columns')": "arg-type",
    "hk.no_such_name": "attr-defined",
    "hk.Layout((8,), '(BLOCK)', 2).owner((3,)).upper()": "attr-defined",
}


def test_types_are_checked_outside_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_text(SOUND, encoding="utf-8")
    wrong = "\n".join(["import hocket as hk", *WRONG])
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "sound.py", "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    found = re.findall(r"^(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    expected = [("wrong.py", str(line), code) for line, code in enumerate(WRONG.values(), 2)]
    assert found == expected, done.stdout + done.stderr
