# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: named groups of processes that send whole distributed arrays to each other.

Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via the
Message Passing Interface". To other tasks a task is one rank; every verb is collective over the
calling task.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from hocket import _mpi, dtypes
from hocket.arguments import as_number, as_seconds
from hocket.arrays import Array, world
from hocket.errors import Error
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI

ANY_SOURCE = -1
ANY_TAG = -1


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
    source : index of the sending task; equal to its name, too
    tag : int
    layout : the sender's Layout
    dtype : numpy.dtype
    """

    __slots__ = ("dtype", "layout", "source", "tag")

    def __init__(self, core: _mpi.Status) -> None:
        self.source = TaskIndex(core.source, core.source_name)
        self.tag: int = core.tag
        self.layout = Layout._of(core.layout)
        self.dtype: np.dtype[Any] = dtypes.from_name(core.dtype)

    def __repr__(self) -> str:
        return f"<hocket.Status source={self.source!r} tag={self.tag} {self.dtype} {self.layout}>"


class Request:
    """A send or a receive that was started. Its methods are collective over the task."""

    __slots__ = ("_core", "_received")

    def __init__(self, core: _mpi.Request, received: Optional[Array] = None) -> None:
        self._core = core
        self._received = received

    def _settle(self) -> None:
        if self._received is not None:
            self._received.settle()

    def wait(self, timeout: Optional[float] = None) -> Status:
        """Blocks until the operation is done. A deadline ends the wait, not the operation."""
        status = Status(self._core.wait(as_seconds(timeout)))
        self._settle()
        return status

    def test(self) -> bool:
        """True on all processes of the task or on none."""
        done = self._core.test()
        if done:
            self._settle()
        return done

    @property
    def status(self) -> Status:
        """What was found, once `test` was true or `wait` returned."""
        return Status(self._core.status())


def waitall(requests: Sequence[Request], timeout: Optional[float] = None) -> list[Status]:
    """Waits for all, `timeout` seconds at most in all, and gives their statuses in order."""
    seconds = as_seconds(timeout)
    end = None if seconds is None else time.monotonic() + seconds
    return [
        request.wait(None if end is None else max(0.0, end - time.monotonic()))
        for request in requests
    ]


def waitany(requests: Sequence[Request], timeout: Optional[float] = None) -> int:
    """Waits for one, and gives its index: the same on every process of the task.

    A request that was waited for stays done: leave it out of the next call.
    """
    index = _mpi.wait_any([request._core for request in requests], as_seconds(timeout))
    requests[index]._settle()
    return index


TaskId = Union[int, str]


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
        return self._core.name

    @property
    def rank(self) -> int:
        return self._core.rank

    @property
    def size(self) -> int:
        return self._core.size

    @property
    def names(self) -> list[str]:
        return list(self._core.names)

    @property
    def comm(self) -> MPI.Comm:
        if self._comm is None:
            from mpi4py import MPI

            class TaskComm(MPI.Intracomm):
                """Keeps the task, whose communicator it is."""

                core: _mpi.Tasks

            self._comm = TaskComm(MPI.Comm.fromhandle(self._core.comm))
            self._comm.core = self._core
        return self._comm

    def task(self, task: TaskId) -> Tasks:
        """The view of one of my tasks: its members speak through it when they are in several."""
        return Tasks(self._core.task(_id(task)))

    def __repr__(self) -> str:
        mine = "in several" if self.name is None else f"in {self.name!r}"
        return f"<hocket.Tasks {self.names}, this process {mine}>"

    def send(self, a: Array, dest: TaskId, tag: int = 0, timeout: Optional[float] = None) -> None:
        """Sends the array; returns when it may be changed again.

        Parameters
        ----------
        dest : the receiving task's name or index
        timeout : seconds

        Raises
        ------
        MismatchError
            on every process of both tasks if the receiver's shape or dtype differ; nothing has
            moved then.
        DeadlineError
            after which no further message passes between the two tasks.
        """
        core, to, number, seconds = self._checked(a, dest, tag, timeout, True)
        self._core.send(core, to, number, seconds)

    def recv(
        self,
        b: Array,
        source: TaskId = ANY_SOURCE,
        tag: int = ANY_TAG,
        timeout: Optional[float] = None,
    ) -> Status:
        """Receives an array into `b`, whatever the sender's layout. Raises as `send` does."""
        core, of, number, seconds = self._checked(b, source, tag, timeout, False)
        status = Status(self._core.recv(core, of, number, seconds))
        b.settle()
        return status

    def isend(self, a: Array, dest: TaskId, tag: int = 0) -> Request:
        """Starts a send; the array may not change until the request is done."""
        core, to, number, _ = self._checked(a, dest, tag, None, True)
        return Request(self._core.isend(core, to, number))

    def irecv(self, b: Array, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Starts a receive; the array may not be used until the request is done."""
        core, of, number, _ = self._checked(b, source, tag, None, False)
        return Request(self._core.irecv(core, of, number), b)

    def sendrecv(
        self,
        a: Array,
        dest: TaskId,
        b: Array,
        source: TaskId,
        sendtag: int = 0,
        recvtag: int = ANY_TAG,
        timeout: Optional[float] = None,
    ) -> Status:
        """Sends and receives at the same time, so that two tasks may face each other."""
        sent, to, send_number, seconds = self._checked(a, dest, sendtag, timeout, True)
        received, of, receive_number, _ = self._checked(b, source, recvtag, None, False)
        status = Status(
            self._core.sendrecv(sent, to, received, of, send_number, receive_number, seconds)
        )
        b.settle()
        return status

    def probe(
        self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG, timeout: Optional[float] = None
    ) -> Status:
        """Waits for a message, and says what the next matching receive would find."""
        return Status(self._core.probe(_id(source), as_number(tag, "tag"), as_seconds(timeout)))

    def iprobe(self, source: TaskId = ANY_SOURCE, tag: int = ANY_TAG) -> Optional[Status]:
        """The same at once; None if there is no message yet. Alike on all of the task."""
        found = self._core.iprobe(_id(source), as_number(tag, "tag"))
        return None if found is None else Status(found)

    def profile(self) -> dict[str, float]:
        """Seconds that this process has spent so far in the six steps of a transfer: inquiry,
        call, descriptor, schedule, pack, move (the paper's section 4)."""
        return self._core.profile()

    def _checked(
        self, array: Array, task: TaskId, tag: int, timeout: Optional[float], sending: bool
    ) -> tuple[_mpi.Local, TaskId, int, Optional[float]]:
        """A verb's arguments as the library takes them. What is wrong with them on this process
        only, all processes of the task raise."""
        start = time.perf_counter()
        try:
            if not isinstance(array, Array):
                raise Error(
                    f"cannot {'send' if sending else 'receive into'} {type(array).__name__}: "
                    "give an array made by hk.empty, hk.wrap, …"
                )
            checked = array.core(), _id(task), as_number(tag, "tag"), as_seconds(timeout)
        except Exception as error:
            kind = type(error).__name__ if isinstance(error, Error) else "Error"
            self._core.refuse(sending, kind, str(error) or repr(error), None)
            raise AssertionError("a refused call has ended without its error") from error
        self._core.add_call_seconds(time.perf_counter() - start)
        return checked


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
        on every process, for tasks that do not fit the communicator.
    MismatchError
        on every process, if they ask for different tasks.
    """
    on = world() if comm is None else comm
    if tasks is None:
        return Tasks(_mpi.Tasks.from_launcher(on.handle))
    names: list[str] = []
    processes: list[Union[int, list[int]]] = []
    try:
        for name, of_task in dict(tasks).items():
            if not isinstance(name, str):
                raise Error(f"{name!r} is no name of a task; use text")
            names.append(name)
            if isinstance(of_task, (int, np.integer)):
                processes.append(int(of_task))
            else:
                processes.append([int(rank) for rank in of_task])
    except (Error, TypeError, ValueError) as error:
        message = f"{error}; give tasks as {{'rows': 2, 'cols': 2}} or {{'all': [0, 1, 2]}}"
        _mpi.refuse(on.handle, "Error", message, None)
    return Tasks(_mpi.Tasks.make(names, processes, on.handle))
