# SPDX-License-Identifier: BSD-3-Clause
"""What every collective call does with its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Optional

from hocket import _mpi
from hocket.arguments import as_seconds
from hocket.errors import Error

if TYPE_CHECKING:
    from mpi4py import MPI


@contextmanager
def collective(comm: MPI.Comm, timeout: Optional[float]) -> Iterator[Optional[float]]:
    """Around what one process checks and prepares for a collective call on `comm`.

    Whatever goes wrong here, the other processes are told, and all raise it: none is left waiting.
    Gives the timeout, checked.
    """
    try:
        yield as_seconds(timeout)
    except Exception as error:
        kind = type(error).__name__ if isinstance(error, Error) else "Error"
        _mpi.refuse(comm.handle, kind, str(error) or repr(error), None)
        raise AssertionError("a refused call has ended without its error") from error
