# SPDX-License-Identifier: BSD-3-Clause
"""The memory of an array goes while a persistent request copies it: an error on both sides, which
the request keeps, and neither is left waiting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

PROGRAM = """
import ctypes, mmap
import numpy as np
from mpi4py import MPI
import hocket as hk

w = hk.tasks({"from": 1, "to": 1})
layout = hk.Layout((1 << 20,), "(BLOCK)", 1)
page, length = mmap.PAGESIZE, 8 << 20
memory = np.frombuffer(mmap.mmap(-1, length), "float64")
memory[...] = 1.0 if w.name == "from" else 0.0
libc = ctypes.CDLL(None, use_errno=True)

def protect(rights):
    # All but the first page: the first byte can still be read, as the receiver tries.
    at = ctypes.c_void_p(memory.ctypes.data + page)
    assert libc.mprotect(at, ctypes.c_size_t(length - page), rights) == 0

a = hk.wrap(memory, layout, comm=w.comm)
request = w.send_init(a, "to") if w.name == "from" else w.recv_init(a, "from")
request.start()
request.wait()
assert (memory == 1.0).all()
MPI.COMM_WORLD.barrier()
if w.name == "from":
    protect(0)
said = []
for _ in range(2):
    try:
        request.start()
        request.wait(timeout=100)
    except hk.DeadlineError:
        raise
    except hk.Error as error:
        said.append(str(error))
assert len(said) == 2 and said[0] == said[1], said
assert "cannot be copied across processes any more" in said[0], said
request.free()
if w.name == "from":
    protect(mmap.PROT_READ | mmap.PROT_WRITE)
for _ in range(2):
    w.send(a, "to") if w.name == "from" else w.recv(a, "from")
MPI.COMM_WORLD.barrier()
if w.name == "to":
    print("told, and on it went")
"""


@pytest.mark.one_host("between hosts, Open MPI's TCP reads the memory, and ends the program")
def test_it_is_an_error_on_both_sides_that_the_request_keeps(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = mpiexec.environment(os.environ, str(tmp_path), 2, None)
    env["HOCKET_CROSSING"] = "always"
    command = [mpiexec.find(), "-n", "2", sys.executable, str(program)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("told, and on it went") == 1
