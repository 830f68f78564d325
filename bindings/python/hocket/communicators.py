# SPDX-License-Identifier: BSD-3-Clause
"""Checks of communicators of mpi4py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket import _mpi, excepthook, logs
from hocket.calls import use_another
from hocket.errors import Error

if TYPE_CHECKING:
    from mpi4py import MPI


def communicator(comm: Any) -> MPI.Comm:
    """The communicator of a call; None: all processes.

    Raises `Error` for other objects, for an intercommunicator, and while MPI does not run.
    """
    from mpi4py import MPI

    logs.heed()
    given: MPI.Comm = MPI.COMM_WORLD if comm is None else comm
    if not isinstance(given, MPI.Comm) or given == MPI.COMM_NULL:
        what = "MPI.COMM_NULL (or was freed)" if isinstance(given, MPI.Comm) else repr(given)
        raise Error(f"comm is {what}; give a communicator of mpi4py, as MPI.COMM_WORLD")
    _, size = _mpi.rank_and_size(given.handle)
    excepthook.watch(size)  # more than COMM_WORLD's if the program has spawned processes
    if given != MPI.COMM_WORLD:
        use_another(given)
    return given
