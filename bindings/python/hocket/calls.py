# SPDX-License-Identifier: BSD-3-Clause
"""What every collective call does with its arguments."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Optional

from hocket import _mpi
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


def as_number(value: Any, what: str) -> int:
    """`value` as C's int. Raises `Error`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{what} is {value!r}; give an integer") from None
    if not -(2**31) <= number < 2**31:
        raise Error(f"{what} is {number}; give one of at most 31 bits")
    return number


def as_seconds(timeout: Any) -> Optional[float]:
    """A timeout: seconds, or None. Raises `Error`."""
    if timeout is None:
        return None
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        raise Error(
            f"timeout is {timeout!r}; give seconds, or None to wait as long as it takes"
        ) from None
    if not seconds >= 0:
        raise Error(f"timeout is {timeout!r}; give seconds that are not negative, or None")
    return seconds
