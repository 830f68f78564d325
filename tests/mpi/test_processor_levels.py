# SPDX-License-Identifier: BSD-3-Clause
"""The copies of each level of the processor, asked for by `HOCKET_CPU`, beside the oracle: layouts
of every kind, and sums."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

TESTS = Path(__file__).resolve().parents[1]

PROGRAM = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / "mpi")!r}]
import numpy as np
from mpi4py import MPI
from fractions import Fraction
import hocket as hk
from computing import rounded
from test_layout_kinds import private, random_move

comm = MPI.COMM_WORLD
rng, own = np.random.default_rng(5), private(comm, 5)
for case in range(60):
    random_move(comm, rng, own, case, gaps=bool(case % 3 == 0))
for dtype in ("f4", "f8"):
    x = rng.normal(size=(300, 48)).astype(dtype) * np.logspace(0, 9, 300, dtype=dtype)[:, None]
    for dist in ("(CYCLIC(7), *)", "(*, BALANCED)"):
        a = hk.scatter(x, hk.Layout(x.shape, dist, comm.size))
        found = hk.replicated(a.sum(axis=0))
        exact = [sum((Fraction(float(v)) for v in column), Fraction(0)) for column in x.T]
        np.testing.assert_array_equal(found, [rounded(each, dtype) for each in exact])
if comm.rank == 0:
    print("as the oracle")
"""


@pytest.mark.parametrize("level", ["portable", pytest.param("avx2", marks=pytest.mark.soak)])
def test_every_level_moves_every_layout(tmp_path, level):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    outer = {**os.environ, "HOCKET_CPU": level}
    done = subprocess.run(
        [mpiexec.find(), "-n", "3", sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=200,
        env=mpiexec.environment(outer, str(tmp_path), 3, None),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "as the oracle"
