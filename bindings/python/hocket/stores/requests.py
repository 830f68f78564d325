# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes of stores that are under way."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Callable, Optional

from hocket import _mpi
from hocket.arguments import as_seconds
from hocket.arrays import Array
from hocket.errors import Error

__all__ = ["StoreRequest"]


class StoreRequest:
    """A started read or write; `Store.iread` and `Store.iwrite` make it.

    A flow's `comm` step may return it. Dropping it does not stop the operation.

    Attributes
    ----------
    array : Array
        what is read, or written

    Examples
    --------
    >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
    >>> request = hk.open_store("run.zarr").iread("t")
    >>> request.wait(timeout=60).shape
    (4,)
    """

    __slots__ = ("_array", "_core", "_settle", "_timeout")

    def __init__(
        self,
        core: _mpi.Operation,
        array: Array,
        settle: Optional[Callable[[], Any]] = None,
        timeout: Optional[float] = None,
    ) -> None:
        self._core = core
        self._array = array
        self._settle = settle
        self._timeout = timeout  # of waits that name none

    def __await__(self) -> Generator[Any, None, None]:
        """In an ``async def`` step of a flow: gives the worker back until it is done."""
        yield self

    @property
    def array(self) -> Array:
        """The array that was read, once `wait` has returned.

        Raises
        ------
        Error
            while a read is under way.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> request = hk.open_store("run.zarr").iread("t")
        >>> array = request.wait()
        >>> request.array.local.size
        4
        """
        if self._settle is not None:
            raise Error("this read is under way; wait for it first, by request.wait()")
        return self._array

    def wait(self, timeout: Optional[float] = None) -> Array:
        """Waits until the operation completes. Without `timeout`, that of the call that made the
        request holds.

        Returns
        -------
        Array
            what was read, or written.

        Raises
        ------
        Error, MismatchError, LayoutError
            on every process, for an error on any of them.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr").iread("t").wait(timeout=60).shape
        (4,)
        """
        self._core.wait(self._timeout if timeout is None else as_seconds(timeout))
        self._finish()
        return self._array

    def test(self) -> bool:
        """Whether the operation is complete. Never waits for other processes; may read or write a
        file.

        Raises
        ------
        Error, MismatchError, LayoutError
            as `wait`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> request = hk.open_store("run.zarr").iread("t")
        >>> while not request.test():
        ...     pass  # something else is done meanwhile
        """
        done = self._core.test()
        if done:
            self._finish()
        return bool(done)

    def _finish(self) -> None:
        if self._settle is not None:
            settle, self._settle = self._settle, None
            settle()
