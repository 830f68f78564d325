# SPDX-License-Identifier: BSD-3-Clause
"""What was built beside the Python that runs the tests, and how its programs are started."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Optional

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "mpi"))

from lockstep import mpiexec

#: where the environment's cmake and ninja are
BIN = Path(sys.executable).parent


def folder() -> Path:
    """The build that this Python's extensions lie in; skips where hocket is installed."""
    spec = importlib.util.find_spec("hocket._mpi")
    assert spec is not None and spec.origin is not None, "hocket is built without MPI"
    build = Path(spec.origin).resolve().parents[2]
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip("hocket is installed, not built here: there are no programs of the build")
    return build


def run(command: list[str], where: Optional[Path] = None, limit: float = 300, **more: str) -> str:
    """The output of a command; fails with all of it if the command fails, or after `limit`
    seconds."""
    done = subprocess.run(
        command,
        cwd=where,
        capture_output=True,
        text=True,
        timeout=limit,
        env={**os.environ, **more},
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def start(program: Path, ranks: int, scratch: Path, *arguments: str, **more: str) -> str:
    """The output of a compiled program. No variable names the folder of its libraries."""
    inner = {**mpiexec.environment(os.environ, str(scratch), ranks, None), **more}
    inner.pop("LD_LIBRARY_PATH", None)
    command = [mpiexec.find(), "-n", str(ranks), str(program), *arguments]
    done = subprocess.run(
        command, env=inner, cwd=scratch, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
