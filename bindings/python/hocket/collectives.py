# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls between tasks: every process of every task makes them, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from hocket import _mpi
from hocket.arguments import as_seconds, as_text
from hocket.array_lists import cores_of
from hocket.arrays import Array
from hocket.channels import core_of
from hocket.persistent import PersistentVerbs
from hocket.task_member import TaskId, id_of


class Collectives(PersistentVerbs):
    """Collective calls of all tasks. Each task passes an array of the same shape and dtype, in
    any layout."""

    __slots__ = ()

    def _is_root(self, root: TaskId) -> bool:
        """Whether this task is the one at which a result arrives; only it reads what it gives."""
        named = id_of(root)
        return named in (self._core.rank, self._core.name)

    def bcast(self, a: Array, root: TaskId, timeout: Optional[float] = None) -> None:
        """Copies the root task's array into the arrays of all other tasks.

        Parameters
        ----------
        a
            what the root sends, and what the others receive into
        root
            a task's name or index
        timeout
            seconds

        Raises
        ------
        MismatchError
            on every process of all tasks, if shapes, dtypes or roots differ, or if tasks make
            different calls; no element has moved then.
        LayoutError, Error
            on every process of all tasks, for a wrong argument on one of them; also if two tasks
            share a process, which cannot block in both: use `isend` and `irecv`, or `sendrecv`.
        DeadlineError
            after `timeout` seconds; no further message passes between this task and the others.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> a.local[...] += 10 * world.rank
        >>> world.bcast(a, root="cols")
        >>> a.local.tolist()
        [10, 11, 12, 13]
        """
        array, to, seconds = self._checked(
            "collective",
            lambda: (core_of(a, "broadcast"), id_of(root), as_seconds(timeout)),
            timeout,
        )
        self._core.bcast(array, to, seconds)
        a._settle()

    def reduce(
        self, a: Array, b: Optional[Array], op: str, root: TaskId, timeout: Optional[float] = None
    ) -> None:
        """Combines all tasks' arrays element by element, into the root's `b`.

        hocket combines elements in the order of tasks, so the result has the same bits for all
        layouts. Integers wrap, NaN wins in min and max, bool adds as or and multiplies as and.

        Parameters
        ----------
        a
            this task's array, of a bool, integer, floating or complex dtype
        b
            of the same shape and dtype; only the root uses it
        op
            ``"add"`` ``"mul"`` ``"min"`` ``"max"``; for integers and bool also ``"and"`` ``"or"``
            (bitwise)
        root
            a task's name or index
        timeout
            seconds

        Raises
        ------
        MismatchError, LayoutError, Error, DeadlineError
            as `bcast`; Error also for an unknown operation, and for one that the dtype does not
            have.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> b = hk.empty(a.layout, "int64", world.comm) if world.name == "cols" else None
        >>> world.reduce(a, b, "add", root="cols")
        >>> b is None or b.local.tolist() == [0, 2, 4, 6]
        True
        """

        def read() -> tuple[_mpi.Local, Optional[_mpi.Local], str, TaskId, Optional[float]]:
            into = core_of(b, "reduce into") if b is not None and self._is_root(root) else None
            return (
                core_of(a, "reduce"),
                into,
                as_text(op, "op", "add"),
                id_of(root),
                as_seconds(timeout),
            )

        self._core.reduce(*self._checked("collective", read, timeout))
        if isinstance(b, Array) and self._is_root(root):
            b._settle()

    def allreduce(self, a: Array, b: Array, op: str, timeout: Optional[float] = None) -> None:
        """Combines all tasks' arrays into the `b` of every task. All tasks get the same bits.

        Raises
        ------
        MismatchError, LayoutError, Error, DeadlineError
            as `reduce`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> b = hk.empty(a.layout, "int64", world.comm)
        >>> world.allreduce(a, b, "add")
        >>> b.local.tolist()
        [0, 2, 4, 6]
        """
        array, result, name, seconds = self._checked(
            "collective",
            lambda: (
                core_of(a, "reduce"),
                core_of(b, "reduce into"),
                as_text(op, "op", "add"),
                as_seconds(timeout),
            ),
            timeout,
        )
        self._core.allreduce(array, result, name, seconds)
        b._settle()

    def gather(
        self,
        a: Array,
        b: Optional[Sequence[Array]],
        root: TaskId,
        timeout: Optional[float] = None,
    ) -> None:
        """Copies every task's array to the root.

        Parameters
        ----------
        a
            this task's array, of any shape and dtype
        b
            on the root one array a task, in the order of tasks; ignored elsewhere
        root
            a task's name or index
        timeout
            seconds

        Raises
        ------
        MismatchError, LayoutError, Error, DeadlineError
            as `bcast`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> a.local[...] += 10 * world.rank
        >>> of_each = [hk.empty(a.layout, "int64", world.comm) for _ in world.names]
        >>> world.gather(a, of_each if world.name == "rows" else None, root="rows")
        >>> world.name != "rows" or of_each[1].local.tolist() == [10, 11, 12, 13]
        True
        """

        def read() -> tuple[_mpi.Local, list[_mpi.Local], TaskId, Optional[float]]:
            into = cores_of(b, "gather into") if b is not None and self._is_root(root) else []
            return core_of(a, "gather"), into, id_of(root), as_seconds(timeout)

        self._core.gather(*self._checked("collective", read, timeout))
        if b is not None and self._is_root(root):
            for array in [b] if isinstance(b, Array) else b:
                array._settle()

    def barrier(self, timeout: Optional[float] = None) -> None:
        """Waits until all processes of all tasks have called it.

        Raises
        ------
        MismatchError, Error, DeadlineError
            as `bcast`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> world.barrier(timeout=60)
        """
        seconds = self._checked("collective", lambda: as_seconds(timeout), timeout)
        self._core.barrier(seconds)
