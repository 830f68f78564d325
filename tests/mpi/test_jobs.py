# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were started separately are tasks by a toy transport: tests/mpi/jobs.cpp."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

SECONDS = 60


def run(folder: Path, sizes: tuple[int, int], case: str, host: str, **more: str) -> None:
    """Starts both jobs, of which one of a single process has no MPI, and waits for their ends."""
    program = built.folder() / "tests" / "separate_jobs"
    words = [str(folder), f"{sizes[0]},{sizes[1]}", case, host]
    jobs = []
    for job, size in enumerate(sizes):
        own = folder / str(job)  # a session folder of its own
        own.mkdir()
        command = [mpiexec.find(), "-n", str(size)] if size > 1 else []
        environment = mpiexec.environment({**os.environ, **more}, str(own), 2, None)
        environment.pop("HOCKET_NODES", None)
        jobs.append(
            subprocess.Popen(
                [*command, str(program), str(job), *words],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    try:
        printed = [job.communicate(timeout=SECONDS)[0] for job in jobs]
    finally:
        for job in jobs:
            job.kill()
    for job in range(1 if case == "lost" else 2):
        assert jobs[job].returncode == 0, printed
        assert f"job {job}: {case} passed" in printed[job], printed


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (1, 2)])
@pytest.mark.parametrize("host", ["", "far"])
def test_verbs(tmp_path: Path, sizes: tuple[int, int], host: str) -> None:
    """All verbs of tasks, with messages by shared memory, and by the toy alone."""
    run(tmp_path, sizes, "verbs", host)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 2)])
def test_redistribute(tmp_path: Path, sizes: tuple[int, int]) -> None:
    """One array over the processes of both jobs."""
    run(tmp_path, sizes, "redistribute", "far")


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2)])
@pytest.mark.parametrize("host", ["", "far"])
def test_a_lost_job(tmp_path: Path, sizes: tuple[int, int], host: str) -> None:
    """Every wait for it ends, on all processes; the others go on."""
    run(tmp_path, sizes, "lost", host)
