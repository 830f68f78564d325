# SPDX-License-Identifier: BSD-3-Clause
"""Operations that a communication step may return."""

from __future__ import annotations

import inspect
from typing import Any

from hocket import _mpi
from hocket.errors import Error
from hocket.halos import HaloRequest
from hocket.requests import ArrayRequest, Request
from hocket.stores.requests import StoreRequest
from hocket.team_requests import TeamRequest


def operations_of(started: Any) -> list[_mpi.Operation]:
    """None, one operation, or several, for the C++ library.

    Raises `Error` for anything else, naming it.
    """
    if started is None:
        return []
    if isinstance(started, (list, tuple)):
        return [operation for each in started for operation in operations_of(each)]
    return [_operation_of(started)]


def _operation_of(started: Any) -> _mpi.Operation:
    from mpi4py import MPI

    if isinstance(started, _mpi.Operation):
        return started
    if isinstance(started, ArrayRequest):
        return _mpi.then(started._operation, started._take)
    if isinstance(started, Request):
        return _mpi.then(started._core.operation(), started._settle)
    if isinstance(started, TeamRequest):
        return started._core.operation()
    if isinstance(started, HaloRequest):
        return started._core
    if isinstance(started, StoreRequest):
        return _mpi.then(started._core, started._finish)
    if isinstance(started, MPI.Request):
        # The library polls it without the interpreter's lock; mpi4py completes it, so that its own
        # object notes the completion.
        return _mpi.then(_mpi.watched(started.handle), started.Test)
    if inspect.iscoroutine(started):
        started.close()
        raise Error(
            "a communication step gave a coroutine that has not run; give the async function "
            "itself, as functools.partial(exchange, a)"
        )
    poll = getattr(started, "poll", None)
    if callable(poll):
        return _mpi.polled(poll, repr(started))
    raise Error(
        f"a step gave {started!r} of type {type(started).__name__}, which is no "
        "operation; return or await what isend, irecv or mpi4py's Isend, Ireduce, … return, an "
        "object with a poll() that says whether it is done, a list of these, or None"
    )
