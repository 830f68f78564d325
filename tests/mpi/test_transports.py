# SPDX-License-Identifier: BSD-3-Clause
"""One list of cases over every way to move bytes between two processes: tests/mpi/transports.cpp.

Short messages go as texts, as payloads of flags and through slots in each way within the node."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

ONE_HOST = pytest.mark.one_host("these ways are those within a node")


@pytest.mark.parametrize(
    ("way", "settings"),
    [
        pytest.param("shared", {}, marks=ONE_HOST),
        pytest.param("user", {"HOCKET_CROSSING": "always"}, marks=ONE_HOST),
        pytest.param("user", {"HOCKET_CROSSING": "packed"}, marks=ONE_HOST),
        pytest.param("packed", {}, marks=ONE_HOST),
        ("link", {"HOCKET_NODES": "0,1"}),
        ("toy", {}),
    ],
)
def test_a_way(tmp_path: Path, way: str, settings: dict[str, str]) -> None:
    """Every case passes on both processes."""
    program = built.folder() / "tests" / "transports"
    environment = mpiexec.environment({**os.environ, **settings}, str(tmp_path), 2, None)
    if "HOCKET_NODES" not in settings:
        environment.pop("HOCKET_NODES", None)
    command = [mpiexec.find(), "-n", "2", str(program), way, str(tmp_path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"transports: {way} passed" in done.stdout
