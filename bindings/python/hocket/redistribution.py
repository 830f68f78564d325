# SPDX-License-Identifier: BSD-3-Clause
"""Moves of distributed arrays: from one process, and to another layout."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi, dtypes
from hocket.arguments import as_bytes, as_number
from hocket.arrays import Array, require_processes
from hocket.calls import collective, no_array
from hocket.communicators import communicator
from hocket.creation import empty, empty_as, wrap
from hocket.errors import Error, LayoutError, MismatchError
from hocket.layouts import Layout
from hocket.requests import ArrayRequest

if TYPE_CHECKING:
    from mpi4py import MPI


def scatter(
    array: Optional[npt.ArrayLike],
    lay: Layout,
    comm: Optional[MPI.Comm] = None,
    root: int = 0,
    *,
    timeout: Optional[float] = None,
) -> Array:
    """Distributes the array that process `root` holds. Collective.

    Parameters
    ----------
    array
        on process `root` the whole array, of shape ``lay.shape``; ignored elsewhere
    lay
        of the result
    comm
        None: ``MPI.COMM_WORLD``
    root
        rank in `comm`
    timeout
        seconds; None for no limit

    Returns
    -------
    Array
        in memory that hocket allocates, with the array's dtype.

    Raises
    ------
    MismatchError
        on every process if the array has another shape than the layout.
    LayoutError
        on every process if the communicator has fewer processes than the layout.
    Error
        on every process if there is no process `root`, for dtypes that cannot be moved, and for a
        wrong timeout.
    DeadlineError
        after `timeout` seconds. It ends the wait, not the operation.

    Examples
    --------
    On two processes:

    >>> layout = hk.Layout(4, "(CYCLIC)", 2)
    >>> a = hk.scatter(np.arange(4), layout)  # process 0's counts
    >>> a.local.tolist() == ([0, 2] if a.comm.rank == 0 else [1, 3])
    True
    """
    on = communicator(comm)
    whole: Optional[np.ndarray] = None
    name = ""
    with collective(on, timeout) as seconds:
        number = as_number(root, "root")
        require_processes(lay, on)
        if on.rank == number:
            if array is None:
                raise MismatchError(f"process {root} scatters None; give it the whole array")
            whole = np.asarray(array, order="C")
            if whole.shape != lay.shape:
                raise MismatchError(
                    f"cannot scatter an array of shape {whole.shape} with the layout {lay}; "
                    f"give one of shape {lay.shape}"
                )
            name = dtypes.name_of(dtypes.resolve(whole.dtype))
    name = _mpi.tell(on.handle, name, number, seconds)
    with collective(on, seconds):
        out = empty(lay, dtypes.from_name(name), on)
    address = whole.__array_interface__["data"][0] if whole is not None else 0
    _mpi.scatter(address, out._wrapped(), number, whole, seconds)
    return out


def _destination(
    source: Array, layout: Layout, wanted: np.dtype[Any], out: Optional[Array], converts: bool
) -> Array:
    if out is None:
        return empty_as(source, wanted, layout)
    if not isinstance(out, Array):
        raise MismatchError(
            f"out is {type(out).__name__}; give an array made by hk.empty or hk.wrap"
        )
    if out.layout != layout:
        raise MismatchError(
            f"out has the layout {out.layout}, but the result has {layout}; make out match"
        )
    if out.dtype != wanted:
        raise MismatchError(
            f"out holds {out.dtype}, but the result is {wanted}; make out match"
            + ("" if converts else f", or ask for conversion: dtype={str(out.dtype)!r}")
        )
    if not out._local.flags.writeable:
        raise Error("out is read-only; give an array that may be written")
    return out


def redistribute(
    a: Array,
    lay2: Layout,
    *,
    axes: Optional[Sequence[int]] = None,
    dtype: Optional[npt.DTypeLike] = None,
    out: Optional[Array] = None,
    timeout: Optional[float] = None,
    max_buffer: Optional[int] = None,
) -> Array:
    """Copies the elements of `a` into an array with another layout. Collective over ``a.comm``.

    Parameters
    ----------
    lay2
        of the result; may have another number of processes
    axes
        the result is ``numpy.transpose(a, axes)``
    dtype
        dtype of the result, converted as by ``numpy.ndarray.astype``
    out
        the result, with `lay2` and the result's dtype; None: a new array
    timeout
        seconds after which the wait ends with `DeadlineError`
    max_buffer
        the most bytes of message buffers on this process, 2 MiB or more; None:
        ``HOCKET_MAX_BUFFER``, else 256 MiB. (`dtype` needs a further array.)

    Raises
    ------
    LayoutError, MismatchError, Error
        on every process, if any process has wrong arguments; no element has moved then.
    DeadlineError
        after `timeout` seconds. It ends the wait, not the operation: a process that comes later
        completes it, and until then the arrays are in use.

    Examples
    --------
    On two processes:

    >>> rows, columns = hk.Layout((2, 4), "(BLOCK, *)", 2), hk.Layout((2, 4), "(*, BLOCK)", 2)
    >>> a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    >>> b = hk.redistribute(a, columns)
    >>> b.local.tolist() == ([[0, 1], [10, 11]] if b.comm.rank == 0 else [[2, 3], [12, 13]])
    True
    >>> hk.redistribute(a, hk.Layout((4, 2), "(BLOCK, *)", 2), axes=(1, 0), dtype="float32").dtype
    dtype('float32')
    """
    if axes is None and dtype is None and timeout is None and max_buffer is None:
        target = _plain_destination(a, lay2, out)
        if target is not None:
            _mpi.redistribute(a._wrapped(), target._wrapped(), [], "auto", None, None)
            return target
    move = _Move(a, lay2, axes, dtype, out, timeout, max_buffer)
    _mpi.redistribute(*move.ends, move.axes, "auto", move.seconds, move.max_buffer)
    return move.finish()


def _plain_destination(a: Any, layout: Any, out: Any) -> Optional[Array]:
    """The result of a redistribution whose arguments are so plain that `_Move` would find nothing
    to do, else None: for small arrays its checks take a third of the call."""
    if type(a) is not Array or a._home is not None or type(layout) is not Layout:
        return None
    if out is None:
        try:
            return empty_as(a, a._local.dtype, layout)
        except Exception:  # `_Move` finds it again, and raises it on all processes
            return None
    plain = (
        type(out) is Array
        and (out._layout is layout or out._layout == layout)
        and out._home is None
        and out._local.flags.writeable
        and out._local.dtype == a._local.dtype
    )
    return out if plain else None


def iredistribute(
    a: Array,
    lay2: Layout,
    *,
    axes: Optional[Sequence[int]] = None,
    dtype: Optional[npt.DTypeLike] = None,
    out: Optional[Array] = None,
    timeout: Optional[float] = None,
    max_buffer: Optional[int] = None,
) -> ArrayRequest:
    """Starts `redistribute`, which progresses in every wait, and in flows.

    Until it completes, the program must not change `a` nor touch `out`; the request keeps both
    alive. With `dtype`, this call converts elements that become shorter; `ArrayRequest.wait` and
    `ArrayRequest.test` convert others. Collective over ``a.comm``, in the order of the calls.

    Parameters
    ----------
    lay2, axes, dtype, out, max_buffer
        as for `redistribute`
    timeout
        seconds for each wait of the request that names none

    Returns
    -------
    ArrayRequest
        whose `~ArrayRequest.wait` returns the result, an Array

    Raises
    ------
    LayoutError, MismatchError, Error
        on a process with wrong arguments; `ArrayRequest.wait` raises it on all others. No element
        has moved then.

    Examples
    --------
    On two processes:

    >>> rows, columns = hk.Layout((2, 4), "(BLOCK, *)", 2), hk.Layout((2, 4), "(*, BLOCK)", 2)
    >>> a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    >>> request = hk.iredistribute(a, columns)
    >>> b = request.wait(timeout=60)
    >>> b.local.tolist() == ([[0, 1], [10, 11]] if b.comm.rank == 0 else [[2, 3], [12, 13]])
    True
    """
    move = _Move(a, lay2, axes, dtype, out, timeout, max_buffer)
    operation = _mpi.iredistribute(*move.ends, move.axes, "auto", move.max_buffer)
    return ArrayRequest(operation, move.finish, move.seconds)


class _Move:
    """A redistribution on this process: the arrays of the transfer, and their conversions."""

    def __init__(
        self,
        a: Array,
        layout: Layout,
        axes: Optional[Sequence[int]],
        dtype: Optional[npt.DTypeLike],
        out: Optional[Array],
        timeout: Optional[float],
        max_buffer: Optional[int],
    ) -> None:
        if not isinstance(a, Array):
            comm = out.comm if isinstance(out, Array) else None
            no_array(f"cannot redistribute {type(a).__name__}", timeout, comm)
        with collective(a.comm, timeout) as self.seconds:
            wanted = a.dtype if dtype is None else dtypes.resolve(dtype)
            require_processes(layout, a.comm)
            require_conversion(a.dtype, wanted)  # before any element moves
            self.axes = [] if axes is None else as_axes(axes, len(a.layout.shape))
            self._target = _destination(a, layout, wanted, out, dtype is not None)
            wire = wire_type(a.dtype, wanted)
            source = a if wire == a.dtype else wrap(_converted(a.local, wire), a.layout, a.comm)
            self._landing = self._target if wire == wanted else empty(layout, wire, a.comm)
            self.ends = source._wrapped(), self._landing._wrapped()
            self.max_buffer = None if max_buffer is None else as_bytes(max_buffer, "max_buffer")

    def finish(self) -> Array:
        """The result, after the transfer."""
        if self._landing is not self._target:
            self._target._local[...] = _converted(self._landing.local, self._target.dtype)
        self._target._settle()
        return self._target


def as_axes(axes: Sequence[int], dimensions: int) -> list[int]:
    """`axes` with non-negative numbers, as NumPy converts them."""
    try:
        order = [operator.index(axis) for axis in axes]
    except (TypeError, ValueError):
        order = []
    if sorted(a + dimensions if a < 0 else a for a in order) != list(range(dimensions)):
        raise LayoutError(
            f"axes={axes!r} is no permutation of the {dimensions} dimensions; "
            f"give each of 0 to {dimensions - 1} once"
        )
    return [a + dimensions if a < 0 else a for a in order]


def wire_type(has: np.dtype[Any], wanted: np.dtype[Any]) -> np.dtype[Any]:
    """The type for the transfer when one type is converted to the other: the one with fewer
    bytes."""
    return wanted if wanted != has and wanted.itemsize <= has.itemsize else has


def require_conversion(has: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    """Raises `MismatchError` if NumPy cannot convert between the types."""
    if has != wanted:
        _converted(np.empty(0, has), wanted)


def _converted(values: np.ndarray, wanted: np.dtype[Any]) -> np.ndarray:
    """The values as NumPy converts them. Raises `MismatchError` if it cannot."""
    try:
        return values.astype(wanted)
    except (TypeError, ValueError) as error:
        raise MismatchError(
            f"NumPy converts no {values.dtype} to {wanted} ({error}); leave dtype= out, or give "
            "one that astype() takes"
        ) from None
