# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays with a border (halo) of the elements that neighbours hold."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Optional, Protocol, TypeVar, Union

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arguments import as_seconds
from hocket.calls import collective
from hocket.errors import Error, LayoutError
from hocket.layouts import Layout, integer, integers
from hocket.local_memory import as_array

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Halo", "HaloRequest"]


class _Array(Protocol):
    """The type of arrays. (Its module imports this one.)"""

    def __init__(self, local: npt.NDArray[Any], layout: Layout, comm: MPI.Comm) -> None: ...
    @property
    def local(self) -> npt.NDArray[Any]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def comm(self) -> MPI.Comm: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def _wrapped(self) -> _mpi.Local: ...


_Its = TypeVar("_Its", bound=_Array)


class HaloRequest:
    """A started exchange of borders; `Halo.iexchange` makes it.

    A flow's `comm` step may return it. Dropping it does not stop the exchange.

    Examples
    --------
    On two processes:

    >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
    >>> halo = a.halo(1, periodic=True)
    >>> request = halo.iexchange()
    >>> inner = halo.local[2:-2].sum()  # needs no border
    >>> request.wait()
    """

    __slots__ = ("_core",)

    def __init__(self, core: _mpi.Operation) -> None:
        self._core = core

    def __await__(self) -> Generator[Any, None, None]:
        """In an ``async def`` step of a flow: gives the worker back until it is done."""
        yield self

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the exchange has filled the border.

        Raises
        ------
        MismatchError, DeadlineError
            as `Halo.exchange`.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> halo.iexchange().wait(timeout=60)
        """
        self._core.wait(as_seconds(timeout))

    def test(self) -> bool:
        """Whether the exchange has filled the border. Never waits.

        Raises
        ------
        MismatchError
            as `Halo.exchange`, after the exchange has failed.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> request = halo.iexchange()
        >>> while not request.test():
        ...     pass  # something else is done meanwhile
        """
        return self._core.test()


class Halo(Generic[_Its]):
    """One process's part of an array with a border around it, in new memory; see `Array.halo`.

    Attributes
    ----------
    array : Array
        the array within the border; write its local elements, ``halo.array.local[...] = values``
    local : numpy.ndarray
        the local elements with their border, ``2*width[d]`` longer in dimension ``d``; empty on a
        process without elements
    width : tuple of int
    edges : tuple of (bool, bool)
        for each dimension, whether the border below and the one above is the edge of the array

    Examples
    --------
    On two processes:

    >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
    >>> halo = a.halo(1, periodic=True)
    >>> halo.array.local[...] += 10
    >>> halo.exchange()
    >>> halo.local.tolist() == ([15, 10, 11, 12, 13] if a.comm.rank == 0 else [12, 13, 14, 15, 10])
    True
    """

    __slots__ = ("_array", "_core", "_local", "_width")

    def __init__(self, a: _Its, width: Any, periodic: Any = False) -> None:
        if not hasattr(a, "_wrapped"):
            raise Error(
                f"cannot make a halo of {type(a).__name__}: give an array, as hk.zeros(lay)"
            )
        ndim = len(a.layout.shape)
        self._width = widths(width, ndim)
        self._core = _mpi.Halo(a._wrapped(), list(self._width), flags(periodic, ndim))
        memory: npt.NDArray[np.uint8] = self._core.memory()
        self._local = as_array(memory, self._core.local_shape(), a.dtype)
        inside = tuple(
            slice(w, max(w, extent - w)) for w, extent in zip(self._width, self._local.shape)
        )
        empty = np.empty(a.local.shape, a.dtype)
        within = self._local[inside] if self._local.size else empty
        self._array = type(a)(within, a.layout, a.comm)

    @property
    def array(self) -> _Its:
        """The array within the border.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> halo.array.layout == a.layout, np.shares_memory(halo.array.local, halo.local)
        (True, True)
        """
        return self._array

    @property
    def local(self) -> npt.NDArray[Any]:
        """The local elements with their border.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> halo.local.shape, halo.array.local.shape
        ((5,), (3,))
        """
        return self._local

    @property
    def width(self) -> tuple[int, ...]:
        """The width of the border on each side, one number a dimension.

        Examples
        --------
        >>> hk.zeros(hk.Layout((4, 4), "(*, *)")).halo((1, 0)).width
        (1, 0)
        """
        return self._width

    @property
    def edges(self) -> tuple[tuple[bool, bool], ...]:
        """For each dimension, whether this process's border below and above its part is the edge of
        the array, which `exchange` does not change.

        False for a periodic dimension, and on a process without elements.

        Examples
        --------
        >>> hk.zeros(hk.Layout((4, 4), "(*, *)")).halo((1, 1), periodic=(False, True)).edges
        ((True, True), (False, False))
        """
        return self._core.edges()

    def exchange(self, *, timeout: Optional[float] = None) -> None:
        """Fills the border, corners included, from the owners of its elements.

        Does not change elements beyond the edges of the array, except in periodic dimensions.
        Collective over the array's communicator.

        Raises
        ------
        MismatchError
            on every process, if the processes differ in layout, type, widths or periodic
            dimensions.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the exchange.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> halo.exchange(timeout=60)
        >>> int(halo.local[0]) == (5 if a.comm.rank == 0 else 2)
        True
        """
        with collective(self._array.comm, timeout) as seconds:
            core = self._core
        core.exchange(seconds)

    def iexchange(self) -> HaloRequest:
        """Starts `exchange`, which progresses in every wait, and in flows.

        Until it completes, the program must not touch the border, nor change elements within
        `width` of it; it may change all other elements. Collective over the array's communicator,
        in the order of the calls.

        Raises
        ------
        Error
            if MPI's thread level does not let this thread communicate.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> request = halo.iexchange()
        >>> inner = halo.local[2:-2].sum()  # needs no border
        >>> request.wait()
        >>> int(halo.local[-1]) == (3 if a.comm.rank == 0 else 0)
        True
        """
        return HaloRequest(self._core.iexchange())

    def __repr__(self) -> str:
        return f"<hocket.Halo of width {self._width} around {self._array!r}>"


def widths(width: Union[int, Sequence[int]], ndim: int) -> tuple[int, ...]:
    """One width a dimension. Raises `LayoutError`."""
    if isinstance(width, (int, np.integer)):
        found = (integer(width, "width"),) * ndim
    else:
        found = tuple(integers(width, "width"))
    if len(found) != ndim or any(one < 0 for one in found):
        raise LayoutError(
            f"width is {width!r}; give a number of 0 or more, or one for each of {ndim} dimensions"
        )
    return found


def flags(periodic: Union[bool, Sequence[bool]], ndim: int) -> list[bool]:
    """One flag a dimension. Raises `LayoutError`."""
    if isinstance(periodic, (bool, np.bool_)):
        return [bool(periodic)] * ndim
    found = list(periodic) if isinstance(periodic, (list, tuple)) else []
    if len(found) != ndim or not all(isinstance(one, (bool, np.bool_)) for one in found):
        raise LayoutError(
            f"periodic is {periodic!r}; give True or False, or one for each of {ndim} dimensions"
        )
    return [bool(one) for one in found]
