# SPDX-License-Identifier: BSD-3-Clause
"""What every collective call does with its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from hocket import _mpi
from hocket.arguments import as_seconds, printable
from hocket.errors import DeadlineError, Error, PeerLostError

if TYPE_CHECKING:
    from mpi4py import MPI

#: seconds in which the other processes make a call that this one could not name a communicator for
TOGETHER = 10.0

_default_only = True


def patience(timeout: Any) -> Optional[float]:
    """The timeout of a call that is wrong in other ways; None if the timeout is wrong, too."""
    try:
        return as_seconds(timeout)
    except Exception:
        return None


def kind_of(error: Exception) -> str:
    """The name of the class as which all processes of a call raise an error of one of them."""
    return type(error).__name__ if isinstance(error, Error) else "Error"


def use_another() -> None:
    """This process has met another communicator than ``MPI.COMM_WORLD``."""
    global _default_only
    _default_only = False


def no_array(words: str, timeout: Any) -> NoReturn:
    """For a collective call whose array, by which it would know its communicator, is none.

    Raises `Error` on this process. While it has met no other communicator, the others must be in a
    call on ``MPI.COMM_WORLD``: they raise the error, too.
    """
    from mpi4py import MPI

    error = Error(f"{words}: give an array made by hk.empty, hk.wrap, …")
    if _default_only:
        given = patience(timeout)
        seconds = TOGETHER if given is None else min(given, TOGETHER)
        with suppress(DeadlineError, PeerLostError):
            _mpi.refuse(MPI.COMM_WORLD.handle, "Error", str(error), seconds)
    raise error


@contextmanager
def collective(comm: MPI.Comm, timeout: Optional[float]) -> Iterator[Optional[float]]:
    """Around what one process checks and prepares for a collective call on `comm`.

    Whatever goes wrong here, the other processes are told, and all raise it: none is left waiting.
    Gives the timeout, checked.
    """
    try:
        yield as_seconds(timeout)
    except Exception as error:
        words = printable(str(error) or repr(error))
        _mpi.refuse(comm.handle, kind_of(error), words, patience(timeout))
        raise AssertionError("a refused call has ended without its error") from error
