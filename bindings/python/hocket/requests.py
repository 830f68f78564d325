# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives between tasks that are under way, and what they found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Callable, NoReturn, Optional

from hocket import _mpi, dtypes
from hocket.arguments import as_number, as_seconds
from hocket.array_lists import settle
from hocket.arrays import Array
from hocket.errors import Error
from hocket.layouts import Layout


class TaskIndex(int):
    """The index of a task; equal to the task's name, too. As a key of a dict it is the index."""

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
    """What a receive or a probe found.

    Attributes
    ----------
    source
        index of the sending task; equal to its name, too
    tag : int
    layout
        the sender's Layout; a tuple of them where the message has several arrays
    dtype
        numpy.dtype; a tuple of them where the message has several arrays

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
    """A send or a receive that was started, or one that can be started again and again.

    Its methods are collective over the task. Made by `Tasks.isend` and `Tasks.irecv`, and, to be
    started by `start`, by `Tasks.send_init` and `Tasks.recv_init`. Dropping it does not stop the
    operation.

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

    __slots__ = ("_bound", "_core", "_received", "_receiving")

    def __init__(
        self,
        core: _mpi.Request,
        received: Sequence[Array] = (),
        bound: Optional[Array] = None,
        receiving: bool = False,
    ) -> None:
        self._core = core
        self._received = received
        self._receiving = receiving
        self._bound = bound  # persistent: what a start without an array sends or receives

    @property
    def persistent(self) -> bool:
        """Whether it can be started again and again.

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
        """Sends or receives `a`, or the array that a persistent request was made with.

        Any array of the request's layout and type. Nothing is allocated, planned or agreed on:
        every process of the task must start it alike. Between processes of one node a message of
        less than 32 KiB costs flags in shared memory only, and the sender's array may be changed
        at once.

        Raises
        ------
        Error
            if the request is not persistent, was freed, or is under way, and what an earlier start
            failed with. Nothing is started then; other processes that did start it wait for this
            one, until their deadline.
        LayoutError, MismatchError
            for an array of another layout or type; here, too, nothing is started.

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
        """Ends a persistent request. Local, not collective.

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

    def wait(self, timeout: Optional[float] = None) -> Status:
        """Blocks until the operation is done. A deadline ends the wait, not the operation.

        Raises
        ------
        MismatchError
            on every process of both tasks if shape or dtype differ; nothing has moved then.
        DeadlineError
            after `timeout` seconds; the request can be waited for again.
        Error
            for a wrong timeout, a persistent request that was not started, and what the other
            task could not do.

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
        status = Status(self._core.wait(as_seconds(timeout)))
        self._settle()
        return status

    def pieces(self, timeout: Optional[float] = None) -> int:
        """In how many pieces the array travels. Local; waits until both sides have agreed on it.

        Raises
        ------
        Error
            for a persistent request, which has none; and what `wait` would raise.
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
        return self._core.pieces(as_seconds(timeout))

    def wait_piece(self, piece: int, timeout: Optional[float] = None) -> tuple[slice, ...]:
        """Waits until this process's part of a piece has come; of a send, until it may be changed.

        Pieces come in order. Local to the process, so that each may go on as soon as it can.

        Parameters
        ----------
        piece
            0 to ``pieces() - 1``
        timeout
            seconds

        Returns
        -------
        tuple[slice, ...]
            Which part of the array it is, as slices of its global indices: all of each dimension
            but the one that is cut.

        Raises
        ------
        Error
            for a piece that there is not, a persistent request, and what `wait` would raise.
        DeadlineError
            after `timeout` seconds; the request can be waited for again.

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
        dimension, first, last = self._core.wait_piece(number, as_seconds(timeout))
        self._settle()
        return (*[slice(None)] * dimension, slice(first, last))

    def test(self) -> bool:
        """True on all processes of the task or on none.

        Raises
        ------
        MismatchError, Error
            as `wait`, once the operation has failed; Error also for a persistent request that was
            not started, or was freed.
        PeerLostError
            as `wait`, where it is asked again and again.

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
        """What was found, once `test` was true or `wait` returned. Local, not collective.

        Raises
        ------
        Error
            before; and what the operation failed with.

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
    """An array on its way, whose `wait` returns it; made by `iredistribute`.

    `waitall` takes it, and a flow's `comm` step may return it. Dropping it does not stop the
    operation, but nobody converts or returns the result then.

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

    def __init__(self, operation: _mpi.Operation, finish: Callable[[], Array]) -> None:
        self._operation = operation
        self._finish: Optional[Callable[[], Array]] = finish
        self._result: Optional[Array] = None

    @property
    def persistent(self) -> bool:
        """False: it cannot be started again; a `Transfer` can.

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

    def _take(self) -> Array:
        """The result of an operation that is done."""
        if self._result is None:
            assert self._finish is not None
            self._result, self._finish = self._finish(), None
        return self._result

    def wait(self, timeout: Optional[float] = None) -> Array:  # type: ignore[override]
        """The array, once it has come.

        Raises
        ------
        LayoutError, MismatchError, Error
            what is wrong with the call on any process; Error also for a wrong timeout.
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
        seconds = as_seconds(timeout)
        if self._result is None:
            self._operation.wait(seconds)
        return self._take()

    def test(self) -> bool:
        """Whether it has come on this process. Never waits.

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
    """`requests` as a list. Raises `Error` for what is none."""
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
    """Waits for all, `timeout` seconds at most in all, and gives their statuses in order.

    Raises
    ------
    DeadlineError
        when `timeout` seconds have passed; all can be waited for again.
    MismatchError, Error
        of the first request that failed; also for a wrong timeout, and what is no request.

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
    """Waits for one, and gives its index: the same on every process of the task.

    A request that was waited for stays done: leave it out of the next call.

    Raises
    ------
    DeadlineError
        on every process of the task, when `timeout` seconds have passed.
    MismatchError
        where this process gives another number of requests than the task's lowest one does.
    MismatchError, Error
        what the request that is done failed with; Error also for a wrong timeout, for what is no
        request, and for none at all.

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
    index = _mpi.wait_any([request._core for request in listed], as_seconds(timeout))
    listed[index]._settle()
    return index
