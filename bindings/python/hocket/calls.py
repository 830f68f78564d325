# SPDX-License-Identifier: BSD-3-Clause
"""Argument checks and deadlines that all collective calls share."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from hocket import _mpi
from hocket.arguments import as_seconds, printable
from hocket.errors import DeadlineError, Error, PeerLostError

if TYPE_CHECKING:
    from mpi4py import MPI

#: seconds in which the other processes must make a call that this process refuses; after that it
#: raises its error without them
TOGETHER = 10.0

#: the communicators other than ``MPI.COMM_WORLD`` of this process's arrays and calls, by identity
_others: dict[int, weakref.ref[MPI.Comm]] = {}


def patience(timeout: Any) -> Optional[float]:
    """The timeout of a call with other wrong arguments; None if the timeout is wrong, too."""
    try:
        return as_seconds(timeout)
    except Exception:
        return None


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Within this context, all calls of this thread have `seconds` seconds together.

    A call that must still wait then raises an error: operators and NumPy's functions of arrays,
    which take no timeout, and the calls of hocket whose ``timeout`` is None. A call with a timeout
    of its own keeps that. Within another deadline, the earlier one counts. Steps of flows, `tasks`
    and observers (`observe`) do not follow it.

    A deadline ends the wait, not the operation. Calls by several steps, as a sort, may be left
    half-way: the arrays that they write may hold anything, and their communicator is of no use for
    further calls. A call between two tasks breaks their order, as one with a timeout does. Give all
    processes a deadline: one without it waits for those that gave up.

    Raises
    ------
    Error
        for a negative number, and for anything else that is no number of seconds
    DeadlineError
        by a call within, on this process

    Examples
    --------
    >>> a = hk.ones(hk.Layout(4, "(*)"))
    >>> with hk.deadline(60):
    ...     total = np.sum(a)
    >>> float(total)
    4.0
    """
    limit = as_seconds(seconds, "the deadline", "math.inf for no end")
    if limit is None:
        raise Error("the deadline is None; give seconds, or math.inf for no end")
    before = _mpi.set_deadline(_mpi.Deadline())
    try:
        _mpi.set_deadline(_mpi.Deadline.after(limit).sooner(before))
        yield
    finally:
        _mpi.set_deadline(before)


def kind_of(error: Exception) -> str:
    """The name of the error class for all processes of a call, for an error on one of them."""
    return type(error).__name__ if isinstance(error, Error) else "Error"


def use_another(comm: MPI.Comm) -> None:
    """Notes that this process uses a communicator other than ``MPI.COMM_WORLD``."""
    number = id(comm)
    if number not in _others:
        _others[number] = weakref.ref(comm, lambda _: _others.pop(number, None))


def _default_only() -> bool:
    """Whether no other communicator is in use: each was freed, or nothing refers to it."""
    from mpi4py import MPI

    used = [reference() for reference in list(_others.values())]
    return all(comm is None or comm == MPI.COMM_NULL for comm in used)


def no_array(words: str, timeout: Any, comm: Optional[MPI.Comm] = None) -> NoReturn:
    """Refuses a collective call whose array, which would name the communicator, is no array.

    Raises `Error` on this process, and on all others if another argument names `comm`. Without it
    the others' call is known only if this process uses no other communicator than
    ``MPI.COMM_WORLD``: they raise the error, too.
    """
    from mpi4py import MPI

    error = Error(f"{words}: give an array made by hk.empty, hk.wrap, …")
    if comm is not None:
        with collective(comm, timeout):
            raise error
    if _default_only():
        given = patience(timeout)
        seconds = TOGETHER if given is None else min(given, TOGETHER)
        with suppress(DeadlineError, PeerLostError):
            _mpi.refuse(MPI.COMM_WORLD.handle, "Error", str(error), seconds)
    raise error


class collective:  # noqa: N801 - used as a call
    """A context for the checks and preparations of a collective call on `comm`. (A generator would
    take a microsecond more.)

    An exception in the context reaches all processes of the call, which raise it, so that none
    waits for ever. So does Ctrl-C, for which this process does not wait. Gives the checked timeout.
    """

    __slots__ = ("_comm", "_timeout")

    def __init__(self, comm: MPI.Comm, timeout: Optional[float]) -> None:
        self._comm, self._timeout = comm, timeout

    def __enter__(self) -> Optional[float]:
        try:
            return as_seconds(self._timeout)
        except Exception as error:
            self._refuse(error)

    def __exit__(self, kind: object, error: Optional[BaseException], where: object) -> None:
        if isinstance(error, Exception):
            self._refuse(error)
        if isinstance(error, KeyboardInterrupt):
            # The others need not come here for this process to leave.
            with suppress(Error):
                _mpi.refuse(self._comm.handle, "Error", "Ctrl-C has ended the call", 0)

    def _refuse(self, error: Exception) -> NoReturn:
        words = printable(str(error) or repr(error))
        given = patience(self._timeout)
        seconds = TOGETHER if given is None else min(given, TOGETHER)
        try:
            _mpi.refuse(self._comm.handle, kind_of(error), words, seconds)
        except (DeadlineError, PeerLostError):
            # The others' arguments may need no communication. They raise the error in their next
            # collective call.
            raise (error if isinstance(error, Error) else Error(words)) from None
        raise AssertionError("a refused call has ended without its error") from error
