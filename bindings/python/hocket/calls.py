# SPDX-License-Identifier: BSD-3-Clause
"""What every collective call does with its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Optional

from hocket import _mpi
from hocket.arguments import as_seconds
from hocket.errors import Error

if TYPE_CHECKING:
    from mpi4py import MPI


def patience(timeout: Any) -> Optional[float]:
    """The timeout of a call that is wrong in other ways; None if the timeout is wrong, too."""
    try:
        return as_seconds(timeout)
    except Error:
        return None


def kind_of(error: Exception) -> str:
    """The name of the class as which all processes of a call raise an error of one of them."""
    return type(error).__name__ if isinstance(error, Error) else "Error"


@contextmanager
def collective(comm: MPI.Comm, timeout: Optional[float]) -> Iterator[Optional[float]]:
    """Around what one process checks and prepares for a collective call on `comm`.

    Whatever goes wrong here, the other processes are told, and all raise it: none is left waiting.
    Gives the timeout, checked.
    """
    try:
        yield as_seconds(timeout)
    except Exception as error:
        words = str(error) or repr(error)
        _mpi.refuse(comm.handle, kind_of(error), words, patience(timeout))
        raise AssertionError("a refused call has ended without its error") from error
