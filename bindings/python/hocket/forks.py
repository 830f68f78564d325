# SPDX-License-Identifier: BSD-3-Clause
"""Children of a process of an MPI program, which are no processes of the program themselves: what
loads `hocket._mpi` is an error there. Once it is loaded, it knows of forks by itself."""

from __future__ import annotations

import os
import sys
from typing import Any

from hocket import mpiexec
from hocket.errors import Error

_parent = 0  # the process that this one was forked from, where MPI was running there


def _before() -> None:
    global _parent
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        _parent = os.getpid()


os.register_at_fork(before=_before)


def spawned() -> bool:
    """Whether multiprocessing has made this process."""
    process: Any = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def require_none() -> None:
    """For what loads `hocket._mpi`.

    Raises
    ------
    Error
        in a forked child of a process that runs MPI, and in a child of multiprocessing that would
        start MPI as the rank that its parent is.
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
