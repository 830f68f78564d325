# SPDX-License-Identifier: BSD-3-Clause
"""What tasks do with arrays: MPI's verbs, between tasks."""

from __future__ import annotations

import operator
import time
from typing import Any, Callable, Optional, TypeVar, Union

from hocket import _mpi, _pure
from hocket.arguments import as_number, as_seconds
from hocket.arrays import Array
from hocket.calls import kind_of, patience
from hocket.channels import Channel, core_of
from hocket.errors import Error
from hocket.layouts import Layout
from hocket.many import Arrays, as_list, cores_of, settle
from hocket.requests import Request, Status

ANY_SOURCE = -1
ANY_TAG = -1

TaskId = Union[int, str]
Given = TypeVar("Given")


class Verbs:
    """The verbs of one task. Every one is collective over it: all of its processes make the same
    call."""

    __slots__ = ("_core",)

    def __init__(self, core: _mpi.Tasks) -> None:
        self._core = core

    def send(self, a: Arrays, dest: TaskId, tag: int = 0, timeout: Optional[float] = None) -> None:
        """Sends the array; returns when it may be changed again.

        Parameters
        ----------
        a : any array over this task's communicator; or a list of them, which travel as one message
            (described and matched once) and meet a receive of as many
        dest : the receiving task's name or index
        tag : 0 or more
        timeout : seconds

        Raises
        ------
        MismatchError
            on every process of both tasks if the receiver's shape or dtype differ; nothing has
            moved then.
        DeadlineError
            after which no further message passes between the two tasks.
        LayoutError, Error
            on every process of this task, for an array of another communicator, a task that does
            not exist or shares a process with this one, a wrong tag or timeout; if that is so on
            some processes only, on every process of the other task, too.
        """
        core, to, number, seconds = self._checked(
            _mpi.Verb.send,
            lambda: (cores_of(a, "send"), id_of(dest), as_number(tag, "tag"), as_seconds(timeout)),
            timeout,
        )
        self._core.send(core, to, number, seconds)

    def recv(
        self,
        b: Arrays,
        source: TaskId = ANY_SOURCE,
        tag: int = ANY_TAG,
        timeout: Optional[float] = None,
    ) -> Status:
        """Receives an array into `b`, whatever the sender's layout; or several into a list.

        Raises
        ------
        MismatchError, DeadlineError, LayoutError, Error
            as `send`; Error also where `b` is read-only or its elements overlap. A deadline with
            a wildcard breaks nothing.
        """
        core, of, number, seconds = self._checked(
            _mpi.Verb.recv,
            lambda: (
                cores_of(b, "receive into"),
                id_of(source),
                as_number(tag, "tag"),
                as_seconds(timeout),
            ),
            timeout,
        )
        status = Status(self._core.recv(core, of, number, seconds))
        settle(b)
        return status

    def isend(self, a: Arrays, dest: TaskId, tag: int = 0) -> Request:
        """Starts a send; the array may not change until the request is done.

        Raises
        ------
        LayoutError, Error
            for arguments that are wrong before there is an array: at once. All else, as `send`
            would raise it: by the request.
        """
        core, to, number = self._checked(
            _mpi.Verb.isend, lambda: (cores_of(a, "send"), id_of(dest), as_number(tag, "tag"))
        )
        return Request(self._core.isend(core, to, number))

    def irecv(self, b: Arrays, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Starts a receive; the array may not be used until the request is done.

        Raises
        ------
        LayoutError, Error
            for arguments that are wrong before there is an array: at once. All else, as `recv`
            would raise it: by the request.
        """
        core, of, number = self._checked(
            _mpi.Verb.irecv,
            lambda: (cores_of(b, "receive into"), id_of(source), as_number(tag, "tag")),
        )
        return Request(self._core.irecv(core, of, number), as_list(b))

    def sendrecv(
        self,
        a: Arrays,
        dest: TaskId,
        b: Arrays,
        source: TaskId,
        sendtag: int = 0,
        recvtag: int = ANY_TAG,
        timeout: Optional[float] = None,
    ) -> Status:
        """Sends and receives at the same time, so that two tasks may face each other.

        Raises
        ------
        MismatchError, DeadlineError, LayoutError, Error
            as `send` and `recv`; both have ended then.
        """
        sent, to, received, of, numbers, seconds = self._checked(
            _mpi.Verb.sendrecv,
            lambda: (
                cores_of(a, "send"),
                id_of(dest),
                cores_of(b, "receive into"),
                id_of(source),
                (as_number(sendtag, "sendtag"), as_number(recvtag, "recvtag")),
                as_seconds(timeout),
            ),
            timeout,
        )
        status = Status(self._core.sendrecv(sent, to, received, of, *numbers, seconds))
        settle(b)
        return status

    def send_init(
        self,
        a: Union[Array, Layout],
        dest: TaskId,
        tag: int = 0,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
    ) -> Request:
        """Prepares a send that is started again and again, by `Request.start`.

        Descriptors are exchanged, the plan is made and lanes are laid once, in the background; each
        start then costs the moving of data alone. A persistent send meets persistent receives only,
        in the order in which both are made, per pair of tasks and tag.

        Parameters
        ----------
        a : the array that a start without an array sends, or a layout: then each start names an
            array, the first of which settles the dtype
        dest : the receiving task's name or index
        tag : 0 or more
        count : how often it will be started, as far as that is known; 1 says that preparing does
            not pay, so that the first start computes its schedule while it sends
        strategy : as for `plan`

        Returns
        -------
        At once: what is wrong on either side (also MismatchError, for shapes and dtypes that
        differ) is raised by `Request.start` and `Request.wait`, on every process of both tasks.

        Raises
        ------
        Error
            on this process, for arguments that cannot be read; every other process of the task
            raises it when it starts the request or waits for it.
        """
        return self._init(_mpi.Verb.send_init, a, dest, tag, count, strategy)

    def recv_init(
        self,
        b: Union[Array, Layout],
        source: TaskId,
        tag: int = 0,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
    ) -> Request:
        """Prepares a receive that is started again and again. No wildcards; else as `send_init`.

        Raises
        ------
        Error
            as `send_init`.
        """
        return self._init(_mpi.Verb.recv_init, b, source, tag, count, strategy)

    def _init(
        self,
        verb: _mpi.Verb,
        bound: Union[Array, Layout],
        other: TaskId,
        tag: int,
        count: Optional[int],
        strategy: str,
    ) -> Request:
        sending = verb == _mpi.Verb.send_init

        def read() -> tuple[Union[_mpi.Local, _pure.Layout], TaskId, int, Optional[int], str]:
            if not isinstance(strategy, str):
                raise Error(f"strategy is {strategy!r}; give its name, as 'auto' or 'direct'")
            core = (
                bound._native
                if isinstance(bound, Layout)
                else core_of(bound, "send" if sending else "receive into")
            )
            times = None if count is None else as_number(count, "count")
            return core, id_of(other), as_number(tag, "tag"), times, strategy

        given = self._checked(verb, read)
        core = self._core.send_init(*given) if sending else self._core.recv_init(*given)
        array = bound if isinstance(bound, Array) else None
        received = [] if sending or array is None else [array]
        return Request(core, received, array, receiving=not sending)

    def channel(self, name: str, other: TaskId) -> Channel:
        """A named stream of arrays between this task and another, apart from all other messages.

        Local, not collective; both tasks give it the same name.

        Raises
        ------
        Error
            for a task that does not exist, and an empty name.
        """
        if not isinstance(name, str):
            raise Error(f"a channel's name is text, not {name!r}")
        return Channel(self._core.channel(name, id_of(other)))

    def probe(
        self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG, timeout: Optional[float] = None
    ) -> Status:
        """Waits for a message, and says what the next matching receive would find.

        Raises
        ------
        DeadlineError
            on every process of this task, if nothing was sent within `timeout` seconds. Breaks
            nothing.
        Error
            on every process of this task, for a task that does not exist, a wrong tag or timeout;
            and what the sender could not do.
        """
        of, number, seconds = self._checked(
            _mpi.Verb.probe,
            lambda: (id_of(source), as_number(tag, "tag"), as_seconds(timeout)),
            timeout,
        )
        return Status(self._core.probe(of, number, seconds))

    def iprobe(self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG) -> Optional[Status]:
        """The same at once; None if there is no message yet. Alike on all of the task.

        Raises
        ------
        Error
            as `probe`.
        """
        of, number = self._checked(_mpi.Verb.iprobe, lambda: (id_of(source), as_number(tag, "tag")))
        found = self._core.iprobe(of, number)
        return None if found is None else Status(found)

    def _checked(self, verb: _mpi.Verb, read: Callable[[], Given], timeout: Any = None) -> Given:
        """A verb's arguments as the library takes them, from `read`. What it raises, because they
        are wrong on this process, all processes of the task raise."""
        start = time.perf_counter()
        try:
            given = read()
        except Exception as error:
            words = str(error) or repr(error)
            self._core.refuse(verb, kind_of(error), words, patience(timeout))
            raise AssertionError("a refused call has ended without its error") from error
        self._core.add_call_seconds(time.perf_counter() - start)
        return given


def id_of(task: TaskId) -> TaskId:
    if isinstance(task, str):
        return task
    try:
        return as_number(operator.index(task), "task")
    except TypeError:
        raise Error(f"{task!r} names no task; give a task's name or its index") from None
