# SPDX-License-Identifier: BSD-3-Clause
"""Channels: named streams of arrays between two tasks.

As in Figure 3 of Foster, Kohr, Krishnaiyer, Choudhary: "A Data Transfer Library for Communicating
Data-Parallel Tasks", which takes channels from Fortran M.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, TypeVar

from hocket import _mpi
from hocket.arguments import as_seconds, printable
from hocket.arrays import Array
from hocket.calls import kind_of, patience
from hocket.errors import Error
from hocket.requests import Status

Given = TypeVar("Given")


class Channel:
    """A stream of arrays between this task and another. `Tasks.channel` makes channels.

    The other task receives, in order, the arrays that this task sends, separately from all other
    messages. Each direction is a separate stream. The methods are collective over the task.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> frames = world.channel("frames", 1 - world.rank)
    >>> if world.name == "rows":
    ...     frames.send(a)
    ... else:
    ...     status = frames.recv(a)
    """

    __slots__ = ("_core", "_timeout")

    def __init__(self, core: _mpi.Channel, timeout: Optional[float] = None) -> None:
        self._core = core
        self._timeout = timeout  # of calls that name none

    @property
    def sent(self) -> int:
        """Number of the last frame that this task has sent, counted from 1; 0: none.

        Only channels that keep frames (``keep=``) count. It is the value for ``resume=`` of
        `connect` and `Port.accept`, if the program saves its state now.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.zeros(hk.Layout(4, "(*)"), comm=world.comm)
        >>> frames = world.channel("frames", 1 - world.rank, keep=2)
        >>> if world.name == "rows":
        ...     frames.send(a)
        ...     assert frames.sent == 1
        ... else:
        ...     status = frames.recv(a)
        """
        return self._core.sent()

    @property
    def received(self) -> int:
        """Number of the last frame that this task has received, counted from 1; 0: none.

        As `sent`, for the task that receives.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.zeros(hk.Layout(4, "(*)"), comm=world.comm)
        >>> frames = world.channel("frames", 1 - world.rank, keep=2)
        >>> if world.name == "rows":
        ...     frames.send(a)
        ... else:
        ...     status = frames.recv(a)
        ...     assert frames.received == 1
        """
        return self._core.received()

    @property
    def name(self) -> str:
        """The name that both tasks have given the channel.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> frames = world.channel("frames", 1 - world.rank)
        >>> frames.name
        'frames'
        """
        return self._core.name

    def __repr__(self) -> str:
        return f"<hocket.Channel {self.name!r}>"

    def send(self, a: Array, timeout: Optional[float] = None) -> None:
        """Sends the array; returns when the program may change it again.

        Raises
        ------
        Error
            after this task has closed the channel, and as `Tasks.send`.
        MismatchError, LayoutError, DeadlineError
            as `Tasks.send`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> frames = world.channel("frames", 1 - world.rank)
        >>> if world.name == "rows":
        ...     frames.send(a, timeout=60)
        ... else:
        ...     status = frames.recv(a)
        """
        limit = self._timeout if timeout is None else timeout
        core, seconds = self._checked(True, lambda: (core_of(a, "send"), as_seconds(limit)), limit)
        self._core.send(core, seconds)

    def recv(self, b: Array, timeout: Optional[float] = None) -> Status:
        """Receives the next array of the stream into `b`, whatever the sender's layout.

        Raises
        ------
        EndOfStream
            from then on, once the sender has closed the channel and this task has received all
            arrays.
        MismatchError, LayoutError, DeadlineError, Error
            as `Tasks.recv`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> frames = world.channel("frames", 1 - world.rank)
        >>> if world.name == "rows":
        ...     frames.send(a)
        ... else:
        ...     assert frames.recv(a, timeout=60).source == "rows"
        """
        limit = self._timeout if timeout is None else timeout
        core, seconds = self._checked(
            False, lambda: (core_of(b, "receive into"), as_seconds(limit)), limit
        )
        status = Status(self._core.recv(core, seconds))
        b._settle()
        return status

    def close(self, timeout: Optional[float] = None) -> None:
        """Ends the stream that this task sends: after the last array the other task gets
        `EndOfStream`.

        Raises
        ------
        Error
            the second time.
        DeadlineError
            as `Tasks.send`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> frames = world.channel("frames", 1 - world.rank)
        >>> frames.close()
        >>> try:
        ...     status = frames.recv(a)
        ... except hk.EndOfStream:
        ...     print("the other task has closed its side, too")
        the other task has closed its side, too
        """
        limit = self._timeout if timeout is None else timeout
        self._core.close(self._checked(True, lambda: as_seconds(limit), limit))

    def _checked(self, sending: bool, read: Callable[[], Given], timeout: Any) -> Given:
        """Checks a call's arguments by `read`, whose errors all processes of the task raise."""
        try:
            return read()
        except Exception as error:
            words = printable(str(error) or repr(error))
            self._core.refuse(sending, kind_of(error), words, patience(timeout))
            raise AssertionError("a refused call has ended without its error") from error


def core_of(array: Any, what: str) -> _mpi.Local:
    if not isinstance(array, Array):
        raise Error(
            f"cannot {what} {type(array).__name__}: give an array made by hk.empty, hk.wrap, …"
        )
    return array._wrapped()
