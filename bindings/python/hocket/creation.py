# SPDX-License-Identifier: BSD-3-Clause
"""Functions that make distributed arrays: in new memory, in the user's memory, and from
functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi, dtypes
from hocket.arrays import Array, local_shape, require_processes, shape_of_part
from hocket.communicators import communicator
from hocket.errors import Error, LayoutError
from hocket.layouts import Layout
from hocket.local_memory import as_array, as_room, checked_room

if TYPE_CHECKING:
    from mpi4py import MPI


def empty(
    lay: Layout,
    dtype: npt.DTypeLike = "float64",
    comm: Optional[MPI.Comm] = None,
    *,
    room: int = 0,
) -> Array:
    """Allocates an array with this layout. Its elements are not initialised.

    Local, not collective.

    Parameters
    ----------
    lay : Layout
    dtype
        any fixed-size NumPy dtype, structured ones included
    comm
        communicator of at least ``lay.size`` processes; None: ``MPI.COMM_WORLD``
    room
        elements for which to reserve memory. By default hocket reserves enough for remaps by
        `remap_inplace`, at most twice an even share of the array. It takes no memory until
        it is used.

    Returns
    -------
    Array
        with a local array of shape ``lay.local_shape(rank)``, C-contiguous.

    Raises
    ------
    LayoutError
        if the communicator has fewer processes than the layout.
    Error
        for dtypes that cannot be moved, for objects that are no communicator, and for more memory
        than there is.

    Examples
    --------
    >>> a = hk.empty(hk.Layout((2, 3), "(*, *)"), "float32")
    >>> a.local[...] = 1
    >>> float(a.gather().sum())
    6.0
    """
    on = communicator(comm)
    shape, kind = local_shape(lay, on), dtypes.resolve(dtype)
    elements = as_room(room)
    count = 1
    for extent in shape:  # Python's integers do not overflow
        count *= extent
    if max(count, elements) * kind.itemsize >= 2**63:
        raise Error(
            f"a local array of shape {shape} of {kind} with room for {elements} elements has more "
            f"than 2^63 bytes; use more processes"
        )
    return _allocated(lay, kind, on, shape, elements)


def _allocated(
    layout: Layout, kind: np.dtype[Any], comm: MPI.Comm, shape: tuple[int, ...], elements: int = 0
) -> Array:
    core, whole = _mpi.Local.empty(
        layout._native, dtypes.name_of(kind), kind.itemsize, comm.handle, elements * kind.itemsize
    )
    return of_core(core, whole, layout, kind, comm, shape)


def of_core(
    core: _mpi.Local,
    whole: npt.NDArray[np.uint8],
    layout: Layout,
    kind: np.dtype[Any],
    comm: MPI.Comm,
    shape: tuple[int, ...],
) -> Array:
    """An array of the C++ library's, and its memory, as an array of this local shape."""
    array = Array(as_array(whole, shape, kind), layout, comm, whole)
    array._core = core
    return array


def empty_as(a: Array, dtype: np.dtype[Any], layout: Optional[Layout] = None) -> Array:
    """`empty` with the communicator of `a`, which needs no checks, and its layout or another."""
    if layout is None or layout is a._layout:
        return _allocated(a._layout, dtype, a._comm, a._local.shape)
    rank, size = a._rank_and_size
    if layout.size > size:
        require_processes(layout, a._comm)
    return _allocated(layout, dtype, a._comm, shape_of_part(layout, rank))


def zeros(lay: Layout, dtype: npt.DTypeLike = "float64", comm: Optional[MPI.Comm] = None) -> Array:
    """`empty`, with all elements zero. Local, not collective.

    Raises
    ------
    LayoutError, Error
        as `empty`.

    Examples
    --------
    >>> hk.zeros(hk.Layout((2, 3), "(*, *)"), "int64").local
    array([[0, 0, 0],
           [0, 0, 0]])
    """
    array = empty(lay, dtype, comm)
    array.local[...] = np.zeros((), array.dtype)
    return array


def wrap(
    local: Any,
    lay: Layout,
    comm: Optional[MPI.Comm] = None,
    *,
    room: Optional[npt.NDArray[Any]] = None,
) -> Array:
    """Gives the user's own memory a layout. Any strides; no copy.

    Local, not collective.

    Parameters
    ----------
    local
        a NumPy array, or an object with ``__dlpack__`` on the host, ``__array_interface__`` or the
        buffer protocol
    room
        all the memory of the array, if more than its local elements: a contiguous array that begins
        at the first element of `local`. `remap_inplace` may use it.

    Raises
    ------
    LayoutError
        if the shape of `local` is not the layout's local shape on this process.
    Error
        for objects without memory on the host, strides that lead out of memory, and dtypes that
        cannot be moved.

    Examples
    --------
    >>> mine = np.arange(6.0).reshape(2, 3)
    >>> a = hk.wrap(mine, hk.Layout((2, 3), "(*, *)"))
    >>> a.local is mine
    True
    """
    on = communicator(comm)
    if not isinstance(local, np.ndarray):
        local = _as_numpy(local)
    if isinstance(local, np.ma.MaskedArray):
        raise Error("a masked array would lose its mask; give its .data, and the mask on its own")
    dtypes.resolve(local.dtype)
    shape = local_shape(lay, on)
    if local.shape != shape and not (on.rank >= lay.size and local.size == 0):
        raise LayoutError(
            f"cannot wrap a local array of shape {local.shape}: on process {on.rank} of {on.size} "
            f"the layout {lay} has local shape {shape}"
        )
    whole = None if room is None else checked_room(room, local)
    array = Array(local.reshape(shape) if local.shape != shape else local, lay, on, whole)
    array._wrapped()  # checks the strides
    return array


def _as_numpy(x: Any) -> npt.NDArray[Any]:
    """The same memory as a NumPy array. Raises `Error` for objects without memory on the host."""
    if hasattr(x, "__cuda_array_interface__") or _on_device(x):
        raise Error(
            f"{type(x).__name__} lies in the memory of a GPU, which hocket cannot move yet; copy "
            "it to the host first"
        )
    try:
        if hasattr(x, "__dlpack__"):
            return np.from_dlpack(x)
        if hasattr(x, "__array_interface__"):
            return np.asarray(x)
        return np.asarray(memoryview(x))
    except (TypeError, ValueError, BufferError) as error:
        raise Error(
            f"cannot wrap {type(x).__name__}: {error}; give a numpy.ndarray, or what has "
            "__dlpack__, __array_interface__ or the buffer protocol"
        ) from None


def _on_device(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] != 1  # kDLCPU


def from_function(
    f: Callable[..., Any],
    lay: Layout,
    dtype: npt.DTypeLike = "float64",
    comm: Optional[MPI.Comm] = None,
) -> Array:
    """Makes an array with the values of ``f(i, j, …)``.

    Parameters
    ----------
    f
        function of one int64 array of global indices a dimension, which broadcast against each
        other (for explicit segments and elements: all of the local array's length). hocket calls it
        once on each process that holds elements. It returns the values: of the local shape, or of a
        shape that broadcasts to it.

    Raises
    ------
    LayoutError, Error
        as `empty`; Error also if `f` is not callable, or its values do not fit. Exceptions of `f`
        propagate.

    Examples
    --------
    >>> hk.from_function(lambda i, j: 10 * i + j, hk.Layout((2, 3), "(*, *)"), "int64").local
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    if not callable(f):
        raise Error(f"f is {f!r}; give a function of the indices, as lambda i, j: 10 * i + j")
    array = empty(lay, dtype, comm)
    if array.comm.rank < lay.size and array.local.size:
        held = lay.global_indices(array.comm.rank)
        if len(held) != lay.ndim or lay._native.is_indexed:  # a list of row-major numbers
            values = f(*np.unravel_index(held[0], lay.shape))
        else:
            values = f(*np.ix_(*held))
        try:
            if values is None:  # which NumPy takes for NaN
                raise TypeError("it has no return")
            array.local[...] = values
        except (TypeError, ValueError) as error:
            raise Error(
                f"f returned {type(values).__name__} of shape {np.shape(values)}, which does not "
                f"fill the local array, {array.dtype} {array.local.shape}: {error}; compute with "
                "the indices that f is given, as lambda i, j: 10 * i + j"
            ) from error
    return array
