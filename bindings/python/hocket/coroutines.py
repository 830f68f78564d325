# SPDX-License-Identifier: BSD-3-Clause
"""Steps of flows that wait in their middle: ``async def`` functions."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Callable, Optional

from hocket import _mpi
from hocket.errors import Error
from hocket.operations import operations_of
from hocket.requests import ArrayRequest, Request
from hocket.team_requests import TeamRequest

Coro = Coroutine[Any, Any, Any]


class completion:  # noqa: N801 - it is called like a function
    """Awaits operations in a step of a flow: ``await hk.completion(comm.Irecv(b, 0), request)``.

    A step may be an ``async def`` function. At each ``await`` it gives its worker back, and goes on
    once the awaited operations are done. Requests of hocket can be awaited themselves
    (``await w.irecv(a, "ocean")``); this call awaits requests of mpi4py and several operations at
    once. The result of the ``await`` is a list of theirs: the `Status` of a send or receive, the
    array of `iredistribute`, the value of a team's operation, None of others.

    Parameters
    ----------
    *started
        operations: all that the function of `Flow.comm` may return

    Raises
    ------
    Error
        for anything else. In the ``await``: the first error of the operations, after the end of all
        of them.

    Examples
    --------
    On two processes:

    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD.Dup()
    >>> mine, theirs = np.array([comm.rank]), np.array([-1])
    >>> async def swap():
    ...     other = 1 - comm.rank
    ...     await hk.completion(comm.Irecv(theirs, other), comm.Isend(mine, other))
    ...     np.add(mine, theirs, out=mine)
    >>> with hk.Flow(workers=1) as f:
    ...     f.task(swap, inouts=[mine], outputs=[theirs])
    >>> mine.tolist()
    [1]
    """

    __slots__ = ("_operations", "_started")

    def __init__(self, *started: Any) -> None:
        self._started = started
        self._operations = operations_of(started)

    def __await__(self) -> Generator[Any, None, list[Any]]:
        yield self._operations
        return [_result_of(each) for each in self._started]


def _result_of(started: Any) -> Any:
    if isinstance(started, (list, tuple)):
        return [_result_of(each) for each in started]
    if isinstance(started, ArrayRequest):
        return started._take()
    if isinstance(started, Request):
        return started.status
    if isinstance(started, TeamRequest):
        return started.value()
    return None


def advance(coroutine: Coro, thrown: Optional[_mpi.Thrown]) -> Optional[list[_mpi.Operation]]:
    """Runs a step to its next await, and returns the awaited operations; None at its end.

    `thrown`: the error of those awaited before.
    """
    error: Optional[BaseException] = None
    try:
        if thrown is not None:
            thrown.raise_again()
    except BaseException as raised:
        error = raised
    finally:
        del thrown  # as in `flow_steps.raise_thrown`
    try:
        return _next(coroutine, error)
    except StopIteration:
        return None


def _next(coroutine: Coro, error: Optional[BaseException]) -> list[_mpi.Operation]:
    """Raises `StopIteration` at the end, with the result."""
    while True:
        awaited = coroutine.send(None) if error is None else coroutine.throw(error)
        try:
            return operations_of(awaited)
        except Error as wrong:
            error = wrong


def run(fn: Callable[..., Coro], *args: Any, **kwargs: Any) -> Any:
    """An ordinary call of a coroutine function, outside of flows: waits at each await."""
    coroutine = fn(*args, **kwargs)
    error: Optional[BaseException] = None
    try:
        while True:
            operations = _next(coroutine, error)
            error = None
            for operation in operations:
                try:
                    operation.wait(None)
                except Exception as failed:
                    error = error or failed
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
