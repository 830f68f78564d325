# SPDX-License-Identifier: BSD-3-Clause
"""Steps that call blocking functions of MPI: programs in C and Fortran, linked with libhocket-mpi.

Of tests/blocking/. They would not end if such a call held its worker.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

RAW = """
import sys, time
import numpy as np
from mpi4py import MPI
import hocket as hk
comm, b = MPI.COMM_WORLD, np.zeros(1)
def raw():
    if comm.rank == 0:
        comm.Recv(b, 1)
    else:
        time.sleep(0.05)
        comm.Send(b, 0)
    comm.Barrier()
for _ in range(2):
    with hk.Flow(1, agent="steps") as f:
        f.task(raw, inouts=["message"], name="raw exchange")
"""


@pytest.mark.parametrize("program", ["test_blocking", "test_blocking_large"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_c(ranks: int, program: str, tmp_path: Path) -> None:
    printed = built.start(built.folder() / "tests" / program, ranks, tmp_path)
    if "no large counts" in printed:
        pytest.skip("this MPI has no functions with large counts")
    said = re.search(rf"^blocking: (\d+) checks on {ranks} processes$", printed, re.MULTILINE)
    assert said is not None, printed
    assert int(said[1]) > 1000 * ranks


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(module: str, tmp_path: Path) -> None:
    program = built.folder() / "tests" / f"test_blocking_{module}"
    if not program.is_file():
        pytest.skip(f"this MPI has no module {module} for the Fortran compiler here")
    for ranks in (1, 2, 3):
        assert "blocking: 0 wrong" in built.start(program, ranks, tmp_path)


def test_hocket_run_names_a_step_that_blocks(tmp_path: Path) -> None:
    program = tmp_path / "raw.py"
    program.write_text(RAW, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "hocket", "run", f"2:{program}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    said = re.findall(r"step 'raw exchange' has blocked its worker in (\w+) for", done.stderr)
    # Each process names it once; process 1 may wait for nobody.
    assert said.count("MPI_Recv") == 1, done.stderr
    assert len(said) <= 2, done.stderr
