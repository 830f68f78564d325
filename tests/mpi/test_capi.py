# SPDX-License-Identifier: BSD-3-Clause
"""The C program of tests/capi, which uses hocket.h alone, on several processes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest
from lockstep import mpiexec


def program() -> Path:
    """The C program, in the build folder that this Python's extensions lie in."""
    spec = importlib.util.find_spec("hocket._mpi")
    assert spec is not None and spec.origin is not None, "hocket is built without MPI"
    build = Path(spec.origin).resolve().parents[2]
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip("hocket is installed, not built here: there is no C program to run")
    return build / "tests" / "test_capi"


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_c_program(ranks: int, tmp_path: Path) -> None:
    command = [mpiexec.find(), "-n", str(ranks), str(program())]
    environment = mpiexec.environment(os.environ, str(tmp_path), ranks, None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(rf"^capi: (\d+) checks on {ranks} processes$", done.stdout, re.MULTILINE)
    assert said is not None, done.stdout + done.stderr
    assert int(said[1]) > 1000 * ranks
