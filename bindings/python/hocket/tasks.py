# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: named groups of processes that send whole distributed arrays to each other.

Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via the
Message Passing Interface". To other tasks a task is one rank; every verb is collective over the
calling task.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from hocket import _mpi, _pure
from hocket.arguments import as_number, as_seconds
from hocket.arrays import Array, communicator
from hocket.calls import kind_of, patience
from hocket.channels import Channel, _core_of
from hocket.errors import Error
from hocket.layouts import Layout
from hocket.many import Arrays, as_list, cores_of, settle
from hocket.requests import Request, Status

if TYPE_CHECKING:
    from mpi4py import MPI

ANY_SOURCE = -1
ANY_TAG = -1


TaskId = Union[int, str]
Given = TypeVar("Given")


class Tasks:
    """All tasks, seen from one that this process is in. Made by `tasks`.

    Attributes
    ----------
    name : name of my task; None while I am in several
    rank : index of my task
    size : number of tasks
    names : of all tasks, by index
    comm : communicator of my task's processes, for arrays and for the task's own use
    """

    __slots__ = ("_comm", "_core")

    def __init__(self, core: _mpi.Tasks) -> None:
        self._core = core
        self._comm: Optional[MPI.Comm] = None

    @property
    def name(self) -> Optional[str]:
        """Name of my task; None while I am in several."""
        return self._core.name

    @property
    def rank(self) -> int:
        """Index of my task.

        Raises
        ------
        Error
            while this process is in several; ask ``w.task(name).rank``.
        """
        return self._core.rank

    @property
    def size(self) -> int:
        """Number of tasks."""
        return self._core.size

    @property
    def names(self) -> list[str]:
        """Of all tasks, by index."""
        return list(self._core.names)

    @property
    def comm(self) -> MPI.Comm:
        """Communicator of my task's processes, in the task's order. For arrays, and for the task's
        own use: hocket itself talks on others. Lives as long as somebody holds it.

        Raises
        ------
        Error
            while this process is in several tasks; ask ``w.task(name).comm``.
        """
        if self._comm is None:
            from mpi4py import MPI

            class TaskComm(MPI.Intracomm):
                """Keeps the task, whose communicator it is."""

                core: _mpi.Tasks

            self._comm = TaskComm(MPI.Comm.fromhandle(self._core.comm))
            self._comm.core = self._core
        return self._comm

    def task(self, task: TaskId) -> Tasks:
        """The view of one of my tasks: its members speak through it when they are in several.

        Local, not collective.

        Raises
        ------
        Error
            for a task that does not exist, or that this process is not in.
        """
        return Tasks(self._core.task(_id(task)))

    def __repr__(self) -> str:
        mine = "in several" if self.name is None else f"in {self.name!r}"
        return f"<hocket.Tasks {self.names}, this process {mine}>"

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
            lambda: (cores_of(a, "send"), _id(dest), as_number(tag, "tag"), as_seconds(timeout)),
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
                _id(source),
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
            _mpi.Verb.isend, lambda: (cores_of(a, "send"), _id(dest), as_number(tag, "tag"))
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
            lambda: (cores_of(b, "receive into"), _id(source), as_number(tag, "tag")),
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
                _id(dest),
                cores_of(b, "receive into"),
                _id(source),
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
                else _core_of(bound, "send" if sending else "receive into")
            )
            times = None if count is None else as_number(count, "count")
            return core, _id(other), as_number(tag, "tag"), times, strategy

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
        return Channel(self._core.channel(name, _id(other)))

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
            lambda: (_id(source), as_number(tag, "tag"), as_seconds(timeout)),
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
        of, number = self._checked(_mpi.Verb.iprobe, lambda: (_id(source), as_number(tag, "tag")))
        found = self._core.iprobe(of, number)
        return None if found is None else Status(found)

    def profile(self) -> dict[str, float]:
        """Seconds that this process has spent so far in the six steps of a transfer: inquiry,
        call, descriptor, schedule, pack, move (the paper's section 4). Local, not collective.

        What the program itself computes between starting a request and waiting for it does not
        count. Of transfers under way at the same time each counts its own.
        """
        return self._core.profile()

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


def _id(task: TaskId) -> TaskId:
    if isinstance(task, str):
        return task
    try:
        return as_number(operator.index(task), "task")
    except TypeError:
        raise Error(f"{task!r} names no task; give a task's name or its index") from None


def tasks(
    tasks: Optional[Mapping[str, Union[int, Sequence[int]]]] = None,
    comm: Optional[MPI.Comm] = None,
) -> Tasks:
    """Divides the processes of a communicator into tasks. Collective over `comm`.

    Parameters
    ----------
    tasks : by name, in order: how many processes (the next ranks), or which ranks. Counts sum to
        the communicator's size; lists may overlap, and every rank is in one at least. None: as
        the launcher says (``hocket run rows=2:rows.py cols=2:cols.py``, `run`).
    comm : None: ``MPI.COMM_WORLD``

    Raises
    ------
    Error
        on every process, for tasks that do not fit the communicator; for None where no launcher
        named any.
    MismatchError
        on every process, if they ask for different tasks.
    """
    on = communicator(comm)
    if tasks is None:
        return Tasks(_mpi.Tasks.from_launcher(on.handle))
    names: list[str] = []
    processes: list[Union[int, list[int]]] = []
    try:
        for name, of_task in dict(tasks).items():
            if not isinstance(name, str):
                raise Error(f"{name!r} is no name of a task; use text")
            names.append(name)
            if isinstance(of_task, (str, bytes)):
                raise Error(f"task {name!r} has {of_task!r} for its processes")
            if isinstance(of_task, Iterable):
                processes.append([as_number(rank, f"a rank of task {name!r}") for rank in of_task])
            else:
                processes.append(as_number(of_task, f"the size of task {name!r}"))
    except (Error, TypeError, ValueError) as error:
        message = f"{error}; give tasks as {{'rows': 2, 'cols': 2}} or {{'all': [0, 1, 2]}}"
        _mpi.refuse(on.handle, "Error", message, None)
    return Tasks(_mpi.Tasks.make(names, processes, on.handle))
