# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives between tasks that are prepared once and started again and again."""

from __future__ import annotations

from typing import Optional, Union

from hocket import _mpi, _pure
from hocket.arguments import as_number, as_text
from hocket.arrays import Array
from hocket.channels import core_of
from hocket.layouts import Layout
from hocket.requests import Request
from hocket.task_member import TaskId, TaskMember, id_of
from hocket.transfer_options import positive


class PersistentVerbs(TaskMember):
    """The verbs that make persistent requests."""

    __slots__ = ()

    def send_init(
        self,
        a: Union[Array, Layout],
        dest: TaskId,
        tag: int = 0,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
        stages: Optional[int] = None,
    ) -> Request:
        """Prepares a send that is started again and again, by `Request.start`.

        Descriptors are exchanged, the plan is made and lanes are laid once, in the background; each
        start then costs the moving of data alone. A persistent send meets persistent receives only,
        in the order in which both are made, per pair of tasks and tag.

        Parameters
        ----------
        a
            the array that a start without an array sends, or a layout: then each start names an
            array, the first of which settles the dtype
        dest
            the receiving task's name or index
        tag
            0 or more
        count
            how often it will be started, as far as that is known; 1 says that preparing does not
            pay, so that the first start computes its schedule while it sends
        strategy, stages
            as for `send`

        Returns
        -------
        Request
            At once: what is wrong on either side (also MismatchError, for shapes and dtypes that
            differ) is raised by `Request.start` and `Request.wait`, on every process of both tasks.

        Raises
        ------
        Error
            on this process, for arguments that cannot be read; every other process of the task
            raises it when it starts the request or waits for it.

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
        return self._init("send_init", a, dest, tag, count, strategy, stages)

    def recv_init(
        self,
        b: Union[Array, Layout],
        source: TaskId,
        tag: int = 0,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
        stages: Optional[int] = None,
    ) -> Request:
        """Prepares a receive that is started again and again. No wildcards; else as `send_init`.

        Raises
        ------
        Error
            as `send_init`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> if world.name == "rows":
        ...     request = world.send_init(a.layout, "cols")  # start(a) names the array
        ... else:
        ...     request = world.recv_init(a.layout, "rows")
        >>> request.start(a)
        >>> status = request.wait()
        >>> request.free()
        """
        return self._init("recv_init", b, source, tag, count, strategy, stages)

    def _init(
        self,
        verb: str,
        bound: Union[Array, Layout],
        other: TaskId,
        tag: int,
        count: Optional[int],
        strategy: str,
        stages: Optional[int],
    ) -> Request:
        sending = verb == "send_init"

        def read() -> tuple[Union[_mpi.Local, _pure.Layout], TaskId, int, Optional[int], str, int]:
            named = as_text(strategy, "strategy", "direct")
            core = (
                bound._native
                if isinstance(bound, Layout)
                else core_of(bound, "send" if sending else "receive into")
            )
            times = None if count is None else as_number(count, "count")
            staged = positive(stages, "stages")
            return core, id_of(other), as_number(tag, "tag"), times, named, staged

        given = self._checked(verb, read)
        core = self._core.send_init(*given) if sending else self._core.recv_init(*given)
        array = bound if isinstance(bound, Array) else None
        received = [] if sending or array is None else [array]
        return Request(core, received, array, receiving=not sending)
