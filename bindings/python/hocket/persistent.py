# SPDX-License-Identifier: BSD-3-Clause
"""Persistent sends and receives between tasks: prepared once, started again and again."""

from __future__ import annotations

from typing import Optional, Union

from hocket import _mpi, _pure
from hocket.arguments import as_number, as_seconds, as_text, printable
from hocket.arrays import Array
from hocket.calls import kind_of
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
        timeout: Optional[float] = None,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
        stages: Optional[int] = None,
    ) -> Request:
        """Prepares a send that `Request.start` starts again and again.

        The processes exchange descriptors, make the plan and connect once, in the background; each
        start then only moves data. A persistent send matches persistent receives only, in the order
        in which both are made, for each pair of tasks and each tag.

        Parameters
        ----------
        a
            the array that a start without an array sends; or a layout: then each start names an
            array, and the first array sets the dtype
        dest
            the receiving task's name or index
        tag
            0 or more
        count
            the number of starts, if known. With 1, hocket prepares nothing: the first start
            computes its schedule while it sends
        timeout
            seconds for each wait of the request that names none
        strategy, stages
            as for `send`

        Returns
        -------
        Request
            At once. `Request.start` and `Request.wait` raise the errors that the two sides find
            (also MismatchError, for shapes and dtypes that differ), on every process of both tasks.

        Raises
        ------
        Error
            on this process, for arguments of a wrong type; every other process of both tasks
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
        return self._init("send_init", a, dest, tag, timeout, count, strategy, stages)

    def recv_init(
        self,
        b: Union[Array, Layout],
        source: TaskId,
        tag: int = 0,
        timeout: Optional[float] = None,
        *,
        count: Optional[int] = None,
        strategy: str = "auto",
        stages: Optional[int] = None,
    ) -> Request:
        """Prepares a receive that `Request.start` starts again and again. No wildcards; otherwise
        as `send_init`.

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
        return self._init("recv_init", b, source, tag, timeout, count, strategy, stages)

    def _init(
        self,
        verb: str,
        bound: Union[Array, Layout],
        other: TaskId,
        tag: int,
        timeout: Optional[float],
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

        try:
            to = id_of(other), as_number(tag, "tag")
        except Exception:  # `read` raises it again; then no other task can learn of it
            to = -1, 0
        try:
            given, seconds = read(), as_seconds(timeout)
        except Exception as error:
            words = printable(str(error) or repr(error))
            self._core.refuse_init(sending, *to, kind_of(error), words)
            raise AssertionError("a refused call has ended without its error") from error
        core = self._core.send_init(*given) if sending else self._core.recv_init(*given)
        array = bound if isinstance(bound, Array) else None
        received = [] if sending or array is None else [array]
        return Request(core, received, array, receiving=not sending, timeout=seconds)
