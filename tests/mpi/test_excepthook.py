# SPDX-License-Identifier: BSD-3-Clause
"""An exception that nobody catches, in programs started by a plain mpiexec."""

import os
import subprocess
import sys
import textwrap
import time

import pytest
from lockstep import mpiexec

BEGIN = """
import sys
import hocket as hk
from mpi4py import MPI

comm = MPI.COMM_WORLD
"""


def start(tmp_path, size, text, *before):
    """Runs a program on `size` ranks."""
    program = tmp_path / "program.py"
    program.write_text(BEGIN + textwrap.dedent(text))
    return subprocess.run(
        [mpiexec.find(), "-n", str(size), sys.executable, *before, str(program)],
        env=mpiexec.environment(os.environ, str(tmp_path), size, None),
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_it_ends_processes_that_wait_for_the_one_that_failed(tmp_path):
    begun = time.monotonic()
    done = start(
        tmp_path,
        3,
        """
        lay = hk.Layout((6,), "(BLOCK)", comm.size)
        a = hk.zeros(lay)
        if comm.rank == 1:
            raise KeyError("no such photograph")
        hk.redistribute(a, lay)
        """,
    )
    assert time.monotonic() - begun < 200
    assert done.returncode != 0
    assert "rank 1 ends all processes, by an exception:" in done.stderr
    assert done.stderr.count("KeyError: 'no such photograph'") == 1
    assert "Traceback" in done.stderr


def test_it_names_the_task(tmp_path):
    done = start(
        tmp_path,
        3,
        """
        w = hk.tasks({"rows": 1, "cols": 2})
        if comm.rank == 2:
            raise RuntimeError("full")
        w.recv(hk.zeros(hk.Layout(3, "(BLOCK)", w.comm.size), comm=w.comm))
        """,
    )
    assert done.returncode != 0
    assert "rank 2 (task 'cols', process 1) ends all processes" in done.stderr
    assert "RuntimeError: full" in done.stderr


@pytest.mark.parametrize("before", [[], ["-m", "mpi4py"]])
def test_the_programs_own_hook_is_asked_first(tmp_path, before):
    done = start(
        tmp_path,
        2,
        """
        sys.excepthook = lambda *_: print("my hook", flush=True)
        hk.zeros(hk.Layout(3, "(BLOCK)", 2))
        if comm.rank == 0:
            raise RuntimeError
        comm.barrier()
        """,
        *before,
    )
    assert done.returncode != 0
    assert done.stdout.split() == ["my", "hook"]


def test_one_process_and_caught_exceptions_are_left_alone(tmp_path):
    done = start(
        tmp_path,
        1,
        """
        hk.zeros(hk.Layout(3, "(BLOCK)", 1))
        raise RuntimeError("alone")
        """,
    )
    assert done.returncode != 0
    assert "ends all" not in done.stderr and "RuntimeError: alone" in done.stderr
    done = start(
        tmp_path,
        2,
        """
        a = hk.zeros(hk.Layout(4, "(BLOCK)", 2))
        try:
            raise RuntimeError
        except RuntimeError:
            pass
        hk.redistribute(a, hk.Layout(4, "(CYCLIC)", 2))
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
