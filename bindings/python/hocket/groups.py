# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: named groups of processes that send whole distributed arrays to each other.

Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via the
Message Passing Interface". Other tasks address a task as one rank; every verb is collective over
the calling task.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, cast

from hocket import _mpi, excepthook
from hocket import rank as started
from hocket.arguments import as_number, as_seconds, as_text, printable
from hocket.communicators import communicator
from hocket.errors import Error
from hocket.task_member import TaskId, id_of
from hocket.verbs import ANY_SOURCE as ANY_SOURCE
from hocket.verbs import ANY_TAG as ANY_TAG
from hocket.verbs import Verbs

if TYPE_CHECKING:
    from mpi4py import MPI


class _Ended:
    """Stands where the tasks were before `Tasks.disconnect`."""

    def __getattr__(self, name: str) -> Any:
        raise Error("these tasks were disconnected; meet again with hk.connect or Port.accept")


class Tasks(Verbs):
    """All tasks, as one of this process's tasks sees them. `tasks` makes it.

    Attributes
    ----------
    name
        name of this process's task; None if it is in several
    rank
        index of my task
    size
        number of tasks
    names
        of all tasks, by index
    comm
        communicator of the task's processes, for arrays and for the program's own use

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
    >>> if world.name == "rows":
    ...     world.send(a, "cols", tag=7)
    ... else:
    ...     status = world.recv(a, "rows")
    ...     assert status.tag == 7
    """

    __slots__ = ("_comm",)

    def __init__(self, core: _mpi.Tasks) -> None:
        super().__init__(core)
        self._comm: Optional[MPI.Comm] = None

    def disconnect(self, timeout: Optional[float] = None) -> None:
        """Leaves the jobs that have met (`Port.accept`, `connect`): what was sent arrives.

        Collective over my task. The tasks cannot be used any more.

        Raises
        ------
        DeadlineError
            if the other processes of my task do not come within `timeout` seconds.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.disconnect()
        """
        core, self._core = self._core, cast(_mpi.Tasks, _Ended())
        _mpi.disconnect(core, as_seconds(timeout))

    @property
    def name(self) -> Optional[str]:
        """Name of this process's task; None if it is in several.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.name == ("rows" if world.rank == 0 else "cols")
        True
        """
        return self._core.name

    @property
    def rank(self) -> int:
        """Index of this process's task.

        Raises
        ------
        Error
            if this process is in several tasks; ask ``w.task(name).rank``.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.names[world.rank] == world.name
        True
        """
        return self._core.rank

    @property
    def size(self) -> int:
        """Number of tasks.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.size
        2
        """
        return self._core.size

    @property
    def names(self) -> list[str]:
        """The names of all tasks, by index.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.names
        ['rows', 'cols']
        """
        return list(self._core.names)

    @property
    def comm(self) -> MPI.Comm:
        """Communicator of the task's processes, in the task's order, for arrays and for the
        program's own use. hocket itself communicates on other communicators. It lives as long as a
        reference to it.

        Raises
        ------
        Error
            if this process is in several tasks; ask ``w.task(name).comm``.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.comm.size
        1
        """
        if self._comm is None:
            from mpi4py import MPI

            class TaskComm(MPI.Intracomm):
                """Keeps the task, which owns the communicator, alive."""

                core: _mpi.Tasks

            self._comm = TaskComm(MPI.Comm.fromhandle(self._core.comm))
            self._comm.core = self._core
        return self._comm

    def task(self, task: TaskId) -> Tasks:
        """The tasks as the named one of this process's tasks sees them, for processes in several
        tasks.

        Local, not collective.

        Raises
        ------
        Error
            for an unknown task, and for a task without this process.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"both": [0, 1], "second": [1]})  # process 1 is in two tasks
        >>> both = world.task("both")
        >>> both.rank, both.comm.size
        (0, 2)
        """
        return Tasks(self._core.task(id_of(task)))

    def __repr__(self) -> str:
        mine = "in several" if self.name is None else f"in {self.name!r}"
        return f"<hocket.Tasks {self.names}, this process {mine}>"

    def profile(self) -> dict[str, float]:
        """Seconds that this process has spent so far in the six steps of its transfers: inquiry,
        call, descriptor, schedule, pack, move (the paper's section 4). Local, not collective.

        Excludes the program's own computation between the start of a request and the wait for it.
        Concurrent transfers each add their own seconds.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> sorted(world.profile())
        ['call', 'descriptor', 'inquiry', 'move', 'pack', 'schedule']
        """
        return self._core.profile()


def tasks(
    tasks: Optional[Mapping[str, Union[int, Sequence[int]]]] = None,
    comm: Optional[MPI.Comm] = None,
) -> Tasks:
    """Divides the processes of a communicator into tasks. Collective over `comm`.

    Parameters
    ----------
    tasks
        for each name, in order, a number of processes (the next ranks), or a list of ranks. Counts
        sum to the communicator's size; lists may overlap, and every rank is in at least one. None:
        the launcher's tasks (``hocket run rows=2:rows.py cols=2:cols.py``, `run`).
    comm
        None: ``MPI.COMM_WORLD``

    Raises
    ------
    Error
        on every process, for tasks that do not fit the communicator; for None if the launcher has
        set no tasks.
    MismatchError
        on every process, if processes ask for different tasks.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> world.names, world.comm.size
    (['rows', 'cols'], 1)
    """
    on = communicator(comm)
    if tasks is None and "HOCKET_TASKS" not in os.environ:
        tasks = started.launched
    if tasks is None:
        return _seated(_mpi.Tasks.from_launcher(on.handle))
    names: list[str] = []
    processes: list[Union[int, list[int]]] = []
    try:
        for name, of_task in dict(tasks).items():
            names.append(as_text(name, "the name of a task"))
            if isinstance(of_task, (str, bytes)):
                raise Error(f"task {name!r} has {of_task!r} for its processes")
            if isinstance(of_task, Iterable):
                processes.append([as_number(rank, f"a rank of task {name!r}") for rank in of_task])
            else:
                processes.append(as_number(of_task, f"the size of task {name!r}"))
    except Exception as error:
        words = str(error) or repr(error)
        message = f"{words}; give tasks as {{'rows': 2, 'cols': 2}} or {{'all': [0, 1, 2]}}"
        _mpi.refuse(on.handle, "Error", printable(message), None)
    return _seated(_mpi.Tasks.make(names, processes, on.handle))


def _seated(core: _mpi.Tasks) -> Tasks:
    made = Tasks(core)
    if made.name is not None:
        excepthook.sits(made.name, made.comm.rank)
    return made
