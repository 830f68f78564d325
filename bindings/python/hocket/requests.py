# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives between tasks that are under way, and the messages that they have found."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any, Callable, NoReturn, Optional

from hocket import _mpi, dtypes
from hocket.arguments import as_number, as_seconds
from hocket.array_lists import settle
from hocket.arrays import Array
from hocket.errors import Error
from hocket.layouts import Layout


class TaskIndex(int):
    """The index of a task. It also equals the task's name. As a key of a dict it is the index."""

    name: str

    def __new__(cls, index: int, name: str) -> TaskIndex:
        made = super().__new__(cls, index)
        made.name = name
        return made

    def __eq__(self, other: object) -> bool:
        return self.name == other if isinstance(other, str) else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return TaskIndex, (int(self), self.name)

    def __repr__(self) -> str:
        return f"{int(self)} ({self.name!r})"


class Status:
    """The message that a receive or a probe has found.

    Attributes
    ----------
    source
        index of the sending task; also equals its name
    tag : int
    layout
        the sender's Layout; a tuple of layouts if the message has several arrays
    dtype
        numpy.dtype; a tuple of dtypes if the message has several arrays

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> if world.name == "rows":
    ...     world.send(a, "cols", tag=7)
    ... else:
    ...     status = world.recv(a)
    ...     assert status.source == 0 and status.source == "rows" and status.tag == 7
    ...     assert status.layout == a.layout and status.dtype == "int64"
    """

    __slots__ = ("dtype", "layout", "source", "tag")

    def __init__(self, core: _mpi.Status) -> None:
        self.source = TaskIndex(core.source, core.source_name)
        self.tag: int = core.tag
        # Any: a program knows whether it sends one array or several.
        self.layout: Any = Layout._of(core.layout)
        self.dtype: Any = dtypes.from_name(core.dtype)
        if core.further:
            self.layout = (self.layout, *(Layout._of(layout) for layout, _ in core.further))
            self.dtype = (self.dtype, *(dtypes.from_name(name) for _, name in core.further))

    def __repr__(self) -> str:
        what = f"{self.dtype} {self.layout}"
        if isinstance(self.layout, tuple):
            what = ", ".join(f"{each} {lay}" for each, lay in zip(self.dtype, self.layout))
        return f"<hocket.Status source={self.source!r} tag={self.tag} {what}>"


class Request:
    """A started send or receive, or a persistent one.

    Its methods are collective over the task. `Tasks.isend` and `Tasks.irecv` start requests;
    `Tasks.send_init` and `Tasks.recv_init` make persistent ones for `start`. Dropping a request
    does not stop the operation.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> if world.name == "rows":
    ...     request = world.isend(a, "cols")
    ... else:
    ...     request = world.irecv(a, "rows")
    >>> status = request.wait(timeout=60)
    """

    __slots__ = ("_bound", "_core", "_received", "_receiving", "_timeout")

    def __init__(
        self,
        core: _mpi.Request,
        received: Sequence[Array] = (),
        bound: Optional[Array] = None,
        receiving: bool = False,
        timeout: Optional[float] = None,
    ) -> None:
        self._core = core
        self._timeout = timeout  # of waits that name none
        self._received = received
        self._receiving = receiving
        self._bound = bound  # persistent: the array of a start without an array

    @property
    def persistent(self) -> bool:
        """Whether `start` can start it again and again.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols")
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> request.persistent
        False
        >>> status = request.wait()
        """
        return self._core.persistent

    def start(self, a: Optional[Array] = None) -> None:
        """Sends or receives `a`, or the array of a persistent request.

        Any array of the request's layout and type. A start does not allocate, plan or agree: every
        process of the task must start the request with an array of the same global array. Within a
        node, a message of less than 32 KiB needs only flags in shared memory, and the sender may
        change its array at once.

        Raises
        ------
        Error
            if the request is not persistent, was freed, or is under way, until a wait or a test has
            seen its end; the error of an earlier start. Nothing starts then; other processes that
            have started it wait for this one, until their deadline.
        LayoutError, MismatchError
            for an array of another layout or type; nothing starts then.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.send_init(a, "cols")
        ... else:
        ...     request = world.recv_init(a, "rows")
        >>> for step in range(3):
        ...     request.start()
        ...     status = request.wait()
        >>> request.free()
        """
        if a is None:
            self._core.start()
            bound = self._bound
        elif isinstance(a, Array):
            self._core.start(a._wrapped())
            bound = a
        else:
            raise Error(f"start: {type(a).__name__} is no array made by hk.empty, hk.wrap, …")
        if self._receiving and self.persistent:
            self._received = [] if bound is None else [bound]

    def free(self) -> None:
        """Frees a persistent request. Local, not collective.

        Raises
        ------
        Error
            if it is not persistent, was freed before, or is under way: wait for it first.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.send_init(a, "cols")
        ... else:
        ...     request = world.recv_init(a, "rows")
        >>> for step in range(3):
        ...     request.start()
        ...     status = request.wait()
        >>> request.free()
        """
        self._core.free()
        self._bound = None

    def _settle(self) -> None:
        settle(self._received)

    def _seconds(self, timeout: Optional[float]) -> Optional[float]:
        return self._timeout if timeout is None else as_seconds(timeout)

    def __await__(self) -> Generator[Any, None, Any]:
        """In an ``async def`` step of a flow: gives the worker back until it is done."""
        yield self
        return self.status

    def wait(self, timeout: Optional[float] = None) -> Status:
        """Blocks until the operation completes. A deadline ends the wait, not the operation.

        Without `timeout`, that of the call that made the request holds.

        Raises
        ------
        MismatchError
            on every process of both tasks if shape or dtype differ; no element has moved then.
        DeadlineError
            after `timeout` seconds; the program can wait again.
        Error
            for a wrong timeout, a persistent request that was not started, and errors of the other
            task.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols")
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> request.wait(timeout=60).tag
        0
        """
        status = Status(self._core.wait(self._seconds(timeout)))
        self._settle()
        return status

    def pieces(self, timeout: Optional[float] = None) -> int:
        """The number of pieces of the array. Local; waits until both sides have agreed on it.

        Raises
        ------
        Error
            for a persistent request, which has no pieces; and as `wait`.
        DeadlineError
            after `timeout` seconds.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols", pieces=2)
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> request.pieces()
        2
        >>> status = request.wait()
        """
        return self._core.pieces(self._seconds(timeout))

    def wait_piece(self, piece: int, timeout: Optional[float] = None) -> tuple[slice, ...]:
        """Waits until this process's part of a piece has arrived (may be changed, for a send).

        Pieces arrive in order. Local to the process, so that each process can go on at once.

        Parameters
        ----------
        piece
            0 to ``pieces() - 1``
        timeout
            seconds

        Returns
        -------
        tuple[slice, ...]
            The piece as slices of global indices: all of each dimension except the one that is
            divided.

        Raises
        ------
        Error
            for a piece that does not exist, a persistent request, and as `wait`.
        DeadlineError
            after `timeout` seconds; the program can wait again.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols", pieces=2)
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> request.wait_piece(0)
        (slice(0, 2, None),)
        >>> status = request.wait()
        """
        number = as_number(piece, "piece")
        dimension, first, last = self._core.wait_piece(number, self._seconds(timeout))
        self._settle()
        return (*[slice(None)] * dimension, slice(first, last))

    def test(self) -> bool:
        """Whether the operation is complete. All processes of the task get the same answer.

        Raises
        ------
        MismatchError, Error
            as `wait`, after the operation has failed; Error also for a persistent request that was
            not started, or was freed.
        PeerLostError
            as `wait`, if a program tests again and again.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols")
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> while not request.test():
        ...     pass  # something else is done meanwhile
        """
        done = self._core.test()
        if done:
            self._settle()
        return done

    @property
    def status(self) -> Status:
        """The message that was found, after `test` was true or `wait` has returned. Local, not
        collective.

        Raises
        ------
        Error
            before; and the error of the operation.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols")
        ... else:
        ...     request = world.irecv(a, "rows")
        >>> status = request.wait()
        >>> request.status.tag == status.tag
        True
        """
        return Status(self._core.status())


class ArrayRequest(Request):
    """A started redistribution, whose `wait` returns the array; `iredistribute` makes it.

    `waitall` accepts it, and a flow's `comm` step may return it. Dropping it does not stop the
    operation, but then the result is neither converted nor returned.

    Examples
    --------
    On two processes:

    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(BLOCK)", 2), "int64")
    >>> request = hk.iredistribute(a, hk.Layout(4, "(CYCLIC)", 2))
    >>> b = request.wait(timeout=60)
    >>> b.local.tolist() == ([0, 2] if b.comm.rank == 0 else [1, 3])
    True
    """

    __slots__ = ("_finish", "_operation", "_result")

    def __init__(
        self,
        operation: _mpi.Operation,
        finish: Callable[[], Array],
        timeout: Optional[float] = None,
    ) -> None:
        self._operation = operation
        self._timeout = timeout
        self._finish: Optional[Callable[[], Array]] = finish
        self._result: Optional[Array] = None

    @property
    def persistent(self) -> bool:
        """Always False: only a `Transfer` can start again.

        Examples
        --------
        >>> a = hk.zeros(hk.Layout(4, "(*)"))
        >>> hk.iredistribute(a, a.layout).persistent
        False
        """
        return False

    @property
    def _core(self) -> NoReturn:  # type: ignore[override]
        raise Error(
            "the request of iredistribute is no send or receive: it has wait, which returns the "
            "array, and test; start a hk.transfer again and again instead"
        )

    def __await__(self) -> Generator[Any, None, Array]:
        """In an ``async def`` step of a flow: gives the worker back until it is done."""
        yield self
        return self._take()

    def _take(self) -> Array:
        """The result of a complete operation."""
        if self._result is None:
            assert self._finish is not None
            self._result, self._finish = self._finish(), None
        return self._result

    def wait(self, timeout: Optional[float] = None) -> Array:  # type: ignore[override]
        """Waits until the redistribution completes, and returns the array.

        Raises
        ------
        LayoutError, MismatchError, Error
            the error of the call on any process; Error also for a wrong timeout.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(BLOCK)", 2), "int64")
        >>> request = hk.iredistribute(a, hk.Layout(4, "(CYCLIC)", 2))
        >>> b = request.wait()
        >>> request.wait() is b
        True
        """
        seconds = self._seconds(timeout)
        if self._result is None:
            self._operation.wait(seconds)
        return self._take()

    def test(self) -> bool:
        """Whether the array has arrived on this process. Never waits.

        Raises
        ------
        LayoutError, MismatchError, Error
            as `wait`.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(BLOCK)", 2), "int64")
        >>> request = hk.iredistribute(a, hk.Layout(4, "(CYCLIC)", 2))
        >>> while not request.test():
        ...     pass  # something else is done meanwhile
        """
        if self._result is None and self._operation.test():
            self._take()
        return self._result is not None


def _all_requests(requests: Any) -> list[Request]:
    """`requests` as a list. Raises `Error` for anything else."""
    try:
        listed = list(requests)
    except TypeError:
        listed = [requests]
    wrong = [each for each in listed if not isinstance(each, Request)]
    if wrong or isinstance(requests, Request):
        what = repr(wrong[0]) if wrong else "one request"
        raise Error(f"{what} is no list of requests; give those of isend and irecv, as [r, s]")
    return listed


def waitall(requests: Sequence[Request], timeout: Optional[float] = None) -> list[Status]:
    """Waits for all requests, at most `timeout` seconds together, and returns their statuses in
    order. Without `timeout`, each request has its own.

    Raises
    ------
    DeadlineError
        after `timeout` seconds; the program can wait for all again.
    MismatchError, Error
        of the first request that failed; also for a wrong timeout, and for objects that are no
        requests.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> b, other = hk.empty(a.layout, "int64", world.comm), 1 - world.rank
    >>> statuses = hk.waitall([world.isend(a, other), world.irecv(b, other)], timeout=60)
    >>> len(statuses)
    2
    """
    listed, seconds = _all_requests(requests), as_seconds(timeout)
    end = None if seconds is None else time.monotonic() + seconds
    return [
        request.wait(None if end is None else max(0.0, end - time.monotonic()))
        for request in listed
    ]


def waitany(requests: Sequence[Request], timeout: Optional[float] = None) -> int:
    """Waits for any of the requests, and returns its index: the same on every process of the task.

    A request that has been waited for stays complete: omit it from the next call. Without
    `timeout`, the longest of the requests' own holds, if each has one. Requests of `iredistribute`
    belong to no task: in a list of these alone, each process gets its own first one.

    Raises
    ------
    DeadlineError
        on every process of the task, after `timeout` seconds.
    MismatchError
        if this process passes another number of requests than the task's lowest process.
    MismatchError, Error
        the error of the complete request; Error also for a wrong timeout, for objects that are no
        requests, for an empty list, and for requests of `iredistribute` beside others.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> b, other = hk.empty(a.layout, "int64", world.comm), 1 - world.rank
    >>> requests = [world.isend(a, other), world.irecv(b, other)]
    >>> while requests:
    ...     status = requests.pop(hk.waitany(requests)).status
    """
    listed = _all_requests(requests)
    seconds = as_seconds(timeout)
    if seconds is None and all(request._timeout is not None for request in listed):
        seconds = max((request._timeout or 0.0 for request in listed), default=None)
    moves = [request for request in listed if isinstance(request, ArrayRequest)]
    if not moves:
        index = _mpi.wait_any([request._core for request in listed], seconds)
        listed[index]._settle()
        return index
    if len(moves) < len(listed):
        raise Error(
            "waitany was given requests of iredistribute beside those of a task, whose lowest "
            "process decides; wait for the two kinds one after the other"
        )
    for index, move in enumerate(moves):
        if move._result is not None:
            return index
    index = _mpi.wait_first([move._operation for move in moves], seconds)
    moves[index].wait()
    return index
