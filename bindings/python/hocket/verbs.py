# SPDX-License-Identifier: BSD-3-Clause
"""Verbs of tasks: MPI's point-to-point calls, between tasks."""

from __future__ import annotations

from typing import Optional

from hocket import _mpi
from hocket.arguments import as_number, as_seconds, as_text
from hocket.array_lists import Arrays, as_list, cores_of, settle
from hocket.channels import Channel
from hocket.collectives import Collectives
from hocket.requests import Request, Status
from hocket.task_member import TaskId, id_of
from hocket.transfer_options import options_of

ANY_SOURCE = -1
ANY_TAG = -1


class Verbs(Collectives):
    """The verbs of one task. Every verb is collective over it: all of its processes make the
    same call."""

    __slots__ = ()

    def send(
        self,
        a: Arrays,
        dest: TaskId,
        tag: int = 0,
        timeout: Optional[float] = None,
        *,
        strategy: str = "auto",
        stages: Optional[int] = None,
        pieces: Optional[int] = None,
    ) -> None:
        """Sends the array; returns when the program may change it again.

        Parameters
        ----------
        a
            any array over this task's communicator; or a list of arrays, which travel as one
            message (described and matched once) to a receive of as many
        dest
            the receiving task's name or index
        tag
            0 or more
        timeout
            seconds
        strategy, stages
            as for `plan`. Either side may set them. If neither sets a strategy, the sender's model
            selects it
        pieces
            the number of pieces, which travel one after the other; see `Request.wait_piece`

        Raises
        ------
        MismatchError
            on every process of both tasks if the receiver's shape or dtype differ, or both sides
            set a strategy, stages or pieces to different values; no element has moved then.
        DeadlineError
            after `timeout` seconds; no further message passes between the two tasks.
        LayoutError, Error
            on every process of this task, for an array of another communicator, a task that does
            not exist or shares a process with this one, a wrong tag or timeout; if only some
            processes have it, on every process of the other task, too.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     world.send(a, "cols", tag=7, timeout=60)
        ... else:
        ...     status = world.recv(a)
        """
        core, to, number, seconds, options = self._checked(
            "send",
            lambda: (
                cores_of(a, "send"),
                id_of(dest),
                as_number(tag, "tag"),
                as_seconds(timeout),
                options_of(strategy, stages, pieces),
            ),
            timeout,
        )
        self._core.send(core, to, number, seconds, options)

    def recv(
        self,
        b: Arrays,
        source: TaskId = ANY_SOURCE,
        tag: int = ANY_TAG,
        timeout: Optional[float] = None,
        *,
        strategy: str = "auto",
        stages: Optional[int] = None,
        pieces: Optional[int] = None,
    ) -> Status:
        """Receives an array into `b`, whatever the sender's layout; or several into a list.

        Raises
        ------
        MismatchError, DeadlineError, LayoutError, Error
            as `send`; Error also if `b` is read-only or its elements overlap. A deadline with a
            wildcard breaks nothing.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     world.send(a, "cols")
        ... else:
        ...     b = hk.empty(hk.Layout(4, "(*)"), "int64", world.comm)
        ...     status = world.recv(b, source="rows")
        ...     assert b.local.tolist() == [0, 1, 2, 3] and status.source == "rows"
        """
        core, of, number, seconds, options = self._checked(
            "recv",
            lambda: (
                cores_of(b, "receive into"),
                id_of(source),
                as_number(tag, "tag"),
                as_seconds(timeout),
                options_of(strategy, stages, pieces),
            ),
            timeout,
        )
        status = Status(self._core.recv(core, of, number, seconds, options))
        settle(b)
        return status

    def isend(
        self,
        a: Arrays,
        dest: TaskId,
        tag: int = 0,
        timeout: Optional[float] = None,
        *,
        strategy: str = "auto",
        stages: Optional[int] = None,
        pieces: Optional[int] = None,
    ) -> Request:
        """Starts a send; the program may not change the array until the request completes. Options
        as `send`; `timeout` holds for each wait of the request that names none.

        Raises
        ------
        LayoutError, Error
            at once for wrong arguments without an array. The request raises all other errors of
            `send`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.isend(a, "cols")
        ...     status = request.wait()  # then `a` may change
        ... else:
        ...     status = world.recv(a)
        """
        core, to, number, seconds, options = self._checked(
            "isend",
            lambda: (
                cores_of(a, "send"),
                id_of(dest),
                as_number(tag, "tag"),
                as_seconds(timeout),
                options_of(strategy, stages, pieces),
            ),
            timeout,
        )
        return Request(self._core.isend(core, to, number, options), timeout=seconds)

    def irecv(
        self,
        b: Arrays,
        source: TaskId = ANY_SOURCE,
        tag: int = ANY_TAG,
        timeout: Optional[float] = None,
        *,
        strategy: str = "auto",
        stages: Optional[int] = None,
        pieces: Optional[int] = None,
    ) -> Request:
        """Starts a receive; the program may not use the array, or a piece of it, until it has
        arrived. `timeout` as `isend`.

        Raises
        ------
        LayoutError, Error
            at once for wrong arguments without an array. The request raises all other errors of
            `recv`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     world.send(a, "cols")
        ... else:
        ...     request = world.irecv(a, "rows")
        ...     assert request.wait(timeout=60).source == "rows"
        """
        core, of, number, seconds, options = self._checked(
            "irecv",
            lambda: (
                cores_of(b, "receive into"),
                id_of(source),
                as_number(tag, "tag"),
                as_seconds(timeout),
                options_of(strategy, stages, pieces),
            ),
            timeout,
        )
        return Request(self._core.irecv(core, of, number, options), as_list(b), timeout=seconds)

    def _isend_later(self, a: Arrays, dest: TaskId, tag: int = 0) -> Request:
        """A send that takes its position among the calls of the task now, and begins at the one
        start of its request (`Request.start`). If dropped before, it fails on both sides.

        So the processes of a task may begin these calls in different orders, as flows do.

        Raises
        ------
        LayoutError, Error
            as `isend`.
        """
        core, to, number = self._checked(
            "isend", lambda: (cores_of(a, "send"), id_of(dest), as_number(tag, "tag"))
        )
        return Request(self._core.isend(core, to, number, _mpi.MessageOptions(later=True)))

    def _irecv_later(self, b: Arrays, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """A receive that begins later, as `_isend_later`.

        Raises
        ------
        LayoutError, Error
            as `irecv`.
        """
        core, of, number = self._checked(
            "irecv",
            lambda: (cores_of(b, "receive into"), id_of(source), as_number(tag, "tag")),
        )
        return Request(
            self._core.irecv(core, of, number, _mpi.MessageOptions(later=True)), as_list(b)
        )

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
        """Sends and receives at the same time, so that two tasks can exchange arrays.

        Raises
        ------
        MismatchError, DeadlineError, LayoutError, Error
            as `send` and `recv`; both have ended then.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> other = 1 - world.rank
        >>> b = hk.empty(a.layout, "int64", world.comm)
        >>> world.sendrecv(a, other, b, other).source == other
        True
        >>> b.local.tolist()
        [0, 1, 2, 3]
        """
        sent, to, received, of, numbers, seconds = self._checked(
            "sendrecv",
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

    def channel(
        self,
        name: str,
        peer: TaskId,
        keep: int = 0,
        backpressure: str = "block",
        timeout: Optional[float] = None,
    ) -> Channel:
        """A named stream of arrays between this task and another, separate from all other messages.

        Local, not collective; both tasks give it the same name.

        Parameters
        ----------
        name
            of the stream.
        peer
            the task at its other end.
        keep
            so many frames the sender keeps copies of; both tasks give it, else the calls of both
            raise MismatchError. 0: none. With `keep`,
            frames have the numbers 1, 2, … Between jobs that met by a port, each of them arrives
            exactly once, also after either job was restarted (`connect`, ``resume=``) or the line
            was cut (``reconnect=``).
        backpressure
            if the sender is faster than the receiver; both tasks give it. ``"block"``: a
            send waits until the receiver takes the array. ``"latest"``: a send never waits; if the
            receiver waits for no array, the sender keeps a copy of this one, which replaces the
            copy before. The receiver gets the newest array, and at the end the last.
            ``"every N"``: the first of each N sends waits as with ``"block"``, the others send
            nothing.
        timeout
            seconds for each call of the channel that names none.

        Raises
        ------
        Error
            for a task that does not exist, an empty name, a negative `keep`, another
            `backpressure`, ``"latest"`` together with `keep`, and a wrong timeout.

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
        given = as_text(name, "the channel's name")
        how, seconds = as_text(backpressure, "backpressure"), as_seconds(timeout)
        core = self._core.channel(given, id_of(peer), as_number(keep, "keep"), how)
        return Channel(core, seconds)

    def probe(
        self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG, timeout: Optional[float] = None
    ) -> Status:
        """Waits for a message, and describes the one that the next matching receive would find.

        Raises
        ------
        DeadlineError
            on every process of this task, if no task sends within `timeout` seconds. Breaks
            nothing.
        Error
            on every process of this task, for a task that does not exist or shares a process with
            this one, for any source if every task does, and for a wrong tag or timeout; and the
            sender's errors.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     world.send(a, "cols")
        ... else:
        ...     status = world.probe()
        ...     b = hk.empty(status.layout, status.dtype, world.comm)
        ...     status = world.recv(b, status.source, status.tag)
        """
        of, number, seconds = self._checked(
            "probe",
            lambda: (id_of(source), as_number(tag, "tag"), as_seconds(timeout)),
            timeout,
        )
        return Status(self._core.probe(of, number, seconds))

    def iprobe(
        self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG, timeout: Optional[float] = None
    ) -> Optional[Status]:
        """Describes a message that has arrived; None if there is none. All processes of the task
        get the same answer; `timeout` limits the wait for them, not for a message.

        Raises
        ------
        Error, PeerLostError
            as `probe`; PeerLostError if a program probes again and again.
        DeadlineError
            if the task's other processes do not make the call within `timeout` seconds.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     world.send(a, "cols")
        ... else:
        ...     while world.iprobe("rows") is None:
        ...         pass  # something else is done meanwhile
        ...     status = world.recv(a, "rows")
        """
        of, number, seconds = self._checked(
            "iprobe",
            lambda: (id_of(source), as_number(tag, "tag"), as_seconds(timeout)),
            timeout,
        )
        found = self._core.iprobe(of, number, seconds)
        return None if found is None else Status(found)
