# SPDX-License-Identifier: BSD-3-Clause
"""Forked children of an MPI process, which are not processes of the MPI program. Modules that
load `hocket._mpi` refuse to do so in them. A loaded `hocket._mpi` detects forks by itself."""

from __future__ import annotations

import os
import sys
from typing import Any

from hocket import mpiexec
from hocket.errors import Error

_parent = 0  # the process from which this one was forked while MPI was running; 0: none


def _before() -> None:
    global _parent
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        _parent = os.getpid()


os.register_at_fork(before=_before)


def spawned() -> bool:
    """Whether multiprocessing has started this process."""
    process: Any = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def require_none() -> None:
    """Called before loads of `hocket._mpi`.

    Raises
    ------
    Error
        in a forked child of a process that runs MPI, and in a child of multiprocessing that would
        initialise MPI with its parent's rank.
    """
    if _parent not in (0, os.getpid()):
        how, parent = "was forked from", _parent
    elif spawned() and mpiexec.world_rank() is not None and "mpi4py.MPI" not in sys.modules:
        how, parent = "was made by multiprocessing in", os.getppid()
    else:
        return
    raise Error(
        f"this process, {os.getpid()}, {how} process {parent} of an MPI program, and cannot "
        f"communicate: MPI does not know it; communicate in process {parent}"
    )
