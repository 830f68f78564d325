# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays: a local NumPy array with a layout, and how it moves to another layout."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import numpy as np
import numpy.typing as npt

from hocket import _mpi, dtypes
from hocket.errors import Error, LayoutError, MismatchError
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI


def _world() -> MPI.Intracomm:
    from mpi4py import MPI

    return MPI.COMM_WORLD


@contextmanager
def collective(comm: MPI.Comm, timeout: Optional[float]) -> Iterator[Optional[float]]:
    """Around what one process checks and prepares for a collective call on `comm`.

    Whatever goes wrong here, the other processes are told, and all raise it: none is left waiting.
    Gives the timeout, checked.
    """
    try:
        yield as_seconds(timeout)
    except Exception as error:
        kind = type(error).__name__ if isinstance(error, Error) else "Error"
        _mpi.refuse(comm.handle, kind, str(error) or repr(error), None)
        raise AssertionError("a refused call has ended without its error") from error


def as_number(value: Any, what: str) -> int:
    """`value` as C's int. Raises `Error`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{what} is {value!r}; give an integer") from None
    if not -(2**31) <= number < 2**31:
        raise Error(f"{what} is {number}; give one of at most 31 bits")
    return number


def as_seconds(timeout: Any) -> Optional[float]:
    """A timeout: seconds, or None. Raises `Error`."""
    if timeout is None:
        return None
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        raise Error(f"timeout is {timeout!r}; give seconds, or None to wait as long as it takes") from None
    if not seconds >= 0:
        raise Error(f"timeout is {timeout!r}; give seconds that are not negative, or None")
    return seconds


class Array:
    """One process's part of a distributed array.

    Made by `empty`, `zeros`, `wrap`, `from_function` and `scatter`.

    Attributes
    ----------
    local : numpy.ndarray
        This process's elements, of shape ``layout.local_shape(rank)``; on a process beyond
        ``layout.size`` it is empty.
    layout : Layout
    comm : mpi4py.MPI.Comm
        Process ``r`` of the layout is rank ``r``.
    dtype : numpy.dtype
    """

    __slots__ = ("_comm", "_core", "_home", "_layout", "_local")

    def __init__(self, local: npt.NDArray[Any], layout: Layout, comm: MPI.Comm) -> None:
        self._local = local
        self._layout = layout
        self._comm = comm
        self._core: Optional[_mpi.Local] = None
        # Where a section's elements belong that are no view of its array: the array, the memory
        # and the index in it.
        self._home: Optional[tuple[Array, npt.NDArray[Any], Any]] = None

    # All four are fixed: write into the local elements, as a.local[...] = values.
    @property
    def local(self) -> npt.NDArray[Any]:
        return self._local

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def comm(self) -> MPI.Comm:
        return self._comm

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._local.dtype

    def core(self) -> _mpi.Local:
        """The same array as the C++ library sees it."""
        if self._core is None:
            local = self.local
            self._core = _mpi.Local.wrap(
                local.__array_interface__["data"][0],
                self.layout._native,
                dtypes.name_of(self.dtype),
                self.dtype.itemsize,
                self.comm.handle,
                local.strides if local.size else (0,) * len(self.layout.local_shape(0)),
                local,
                local.flags.writeable,
            )
        return self._core

    def gather(self, root: int = 0, *, timeout: Optional[float] = None) -> Optional[np.ndarray]:
        """The whole array, on process `root`; elsewhere None. Collective.

        Raises `Error` on every process if there is no process `root`.
        """
        whole: Optional[np.ndarray] = None
        address = 0
        if self.comm.rank == root:
            whole = _memory(self.layout.shape, self.dtype)
            address = whole.__array_interface__["data"][0]
        with collective(self.comm, timeout) as seconds:
            core, number = self.core(), as_number(root, "root")
        _mpi.gather(core, address, number, whole, seconds)
        return whole

    def section(self, slices: Any) -> Array:
        """``a[slices]`` as an array of its own, with the layout ``a.layout.section(slices)``.

        Local, not collective. Accepted wherever an array is: only its elements move.

        Parameters
        ----------
        slices : NumPy's basic index: integers, slices of any step, ``...``

        Returns
        -------
        Array
            ``.local`` is a view of this array's memory where strides allow. Else (a stride through
            ``CYCLIC(k)``) it is a copy, taken now; what hocket receives into it is written to this
            array, too.
        """
        layout = self.layout.section(slices)
        rank = self.comm.rank
        where = None if rank >= self.layout.size else self.layout.local_section(slices, rank)
        if where is None:
            nothing = np.empty(_local_shape(layout, self.comm), self.dtype)
            return Array(nothing, layout, self.comm)
        if all(isinstance(part, (int, slice)) for part in where):
            return Array(self.local[(*where, ...)], layout, self.comm)
        fixed = tuple(part if isinstance(part, int) else slice(None) for part in where)
        memory = self.local[fixed]
        kept = [part for part in where if not isinstance(part, int)]
        index = np.ix_(
            *(
                np.arange(extent)[part] if isinstance(part, slice) else part
                for part, extent in zip(kept, memory.shape)
            )
        )
        part = Array(memory[index], layout, self.comm)
        part._home = (self, memory, index)
        return part

    def settle(self) -> None:
        """Writes what was received into a section that is no view to the array it is of."""
        if self._home is not None:
            array, memory, index = self._home
            memory[index] = self.local
            array.settle()

    def __repr__(self) -> str:
        return (
            f"<hocket.Array {self.dtype} {self.layout}, "
            f"local {self.local.shape} on process {self.comm.rank} of {self.comm.size}>"
        )


def _local_shape(layout: Layout, comm: MPI.Comm) -> tuple[int, ...]:
    if not isinstance(layout, Layout):
        raise LayoutError(
            f"{layout!r} is no layout; make one, as hk.Layout((8, 8), '(BLOCK, *)', 4)"
        )
    if comm.size < layout.size:
        raise LayoutError(
            f"the layout {layout} needs {layout.size} processes, but the communicator has "
            f"{comm.size}; start more processes, or give the layout fewer"
        )
    # NumPy's 0-d arrays have one element, so a process without it gets a 1-d array.
    if comm.rank < layout.size and (layout.shape or layout.local_elements(comm.rank)):
        return layout.local_shape(comm.rank)
    return (0,) * max(1, len(layout.local_shape(0)))


def _memory(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    count = 1
    for extent in shape:  # Python's integers do not overflow
        count *= extent
    return _mpi.allocate(count * dtype.itemsize).view(dtype)[:count].reshape(shape)


def empty(layout: Layout, dtype: npt.DTypeLike = "float64", comm: Optional[MPI.Comm] = None) -> Array:
    """An array of this layout in memory of hocket's own, its elements not set.

    Local, not collective.

    Parameters
    ----------
    layout : Layout
    dtype : any fixed-size NumPy dtype, structured ones included
    comm : communicator of at least ``layout.size`` processes; None: ``MPI.COMM_WORLD``

    Raises
    ------
    LayoutError
        if the communicator has fewer processes than the layout.
    """
    on = _world() if comm is None else comm
    return Array(_memory(_local_shape(layout, on), dtypes.resolve(dtype)), layout, on)


def zeros(layout: Layout, dtype: npt.DTypeLike = "float64", comm: Optional[MPI.Comm] = None) -> Array:
    """`empty`, with every element zero."""
    array = empty(layout, dtype, comm)
    array.local[...] = np.zeros((), array.dtype)
    return array


def wrap(local: npt.NDArray[Any], layout: Layout, comm: Optional[MPI.Comm] = None) -> Array:
    """The user's own memory as an array of this layout. Any strides; nothing is copied.

    Local, not collective.

    Raises
    ------
    LayoutError
        if the shape of `local` is not the layout's local shape on this process.
    Error
        for what is no NumPy array, and dtypes that cannot be moved.
    """
    on = _world() if comm is None else comm
    if not isinstance(local, np.ndarray):
        if hasattr(local, "__cuda_array_interface__") or _on_device(local):
            raise Error(
                f"{type(local).__name__} lies in the memory of a GPU, which hocket cannot move "
                "yet; copy it to the host first"
            )
        raise Error(f"cannot wrap {type(local).__name__}: give a numpy.ndarray")
    if isinstance(local, np.ma.MaskedArray):
        raise Error("a masked array would lose its mask; give its .data, and the mask on its own")
    dtypes.resolve(local.dtype)
    shape = _local_shape(layout, on)
    if local.shape != shape and not (on.rank >= layout.size and local.size == 0):
        raise LayoutError(
            f"cannot wrap a local array of shape {local.shape}: on process {on.rank} of {on.size} "
            f"the layout {layout} has local shape {shape}"
        )
    return Array(local.reshape(shape) if local.shape != shape else local, layout, on)


def _on_device(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] != 1  # kDLCPU


def from_function(
    f: Callable[..., Any],
    layout: Layout,
    dtype: npt.DTypeLike = "float64",
    comm: Optional[MPI.Comm] = None,
) -> Array:
    """An array filled from ``f(i, j, …)``.

    Parameters
    ----------
    f : called once on each process that holds elements, with one int64 array of global indices a
        dimension, shaped so that they broadcast against each other; returns the values.
    """
    array = empty(layout, dtype, comm)
    if array.comm.rank < layout.size and array.local.size:
        array.local[...] = f(*np.ix_(*layout.global_indices(array.comm.rank)))
    return array


def scatter(
    array: Optional[npt.ArrayLike],
    layout: Layout,
    comm: Optional[MPI.Comm] = None,
    root: int = 0,
    *,
    timeout: Optional[float] = None,
) -> Array:
    """The array that process `root` holds whole, laid out. Collective.

    Parameters
    ----------
    array : on process `root` the whole array, of shape ``layout.shape``; ignored elsewhere.

    Raises
    ------
    MismatchError
        on every process if the array has another shape than the layout.
    """
    on = _world() if comm is None else comm
    whole: Optional[np.ndarray] = None
    name = ""
    with collective(on, timeout) as seconds:
        number = as_number(root, "root")
        _local_shape(layout, on)
        if on.rank == number:
            if array is None:
                raise MismatchError(f"process {root} scatters None; give it the whole array")
            whole = np.asarray(array, order="C")
            if whole.shape != layout.shape:
                raise MismatchError(
                    f"cannot scatter an array of shape {whole.shape} with the layout {layout}; "
                    f"give one of shape {layout.shape}"
                )
            name = dtypes.name_of(dtypes.resolve(whole.dtype))
    name = _mpi.tell(on.handle, name, number, seconds)
    out = empty(layout, dtypes.from_name(name), on)
    address = whole.__array_interface__["data"][0] if whole is not None else 0
    _mpi.scatter(address, out.core(), number, whole, seconds)
    return out


def _destination(
    source: Array, layout: Layout, wanted: np.dtype[Any], out: Optional[Array], converts: bool
) -> Array:
    if out is None:
        return empty(layout, wanted, source.comm)
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
    if not out.local.flags.writeable:
        raise Error("out is read-only; give an array that may be written")
    return out


def redistribute(
    a: Array,
    layout: Layout,
    *,
    axes: Optional[Sequence[int]] = None,
    dtype: npt.DTypeLike = None,
    out: Optional[Array] = None,
    timeout: Optional[float] = None,
) -> Array:
    """The elements of `a` in another layout. Collective over ``a.comm``.

    Parameters
    ----------
    layout : of the result; may have another number of processes
    axes : the result is ``numpy.transpose(a, axes)``
    dtype : convert to it, as ``numpy.ndarray.astype`` does
    out : write here; has `layout` and the result's dtype
    timeout : seconds after which the wait ends with `DeadlineError`

    Raises
    ------
    LayoutError, MismatchError, Error
        on every process, whichever of them has wrong arguments; nothing has moved then.
    """
    if not isinstance(a, Array):
        raise Error(f"cannot redistribute {type(a).__name__}: give an array made by hk.empty, …")
    with collective(a.comm, timeout) as seconds:
        wanted = a.dtype if dtype is None else dtypes.resolve(dtype)
        _local_shape(layout, a.comm)
        order = [] if axes is None else _axes(axes, len(a.layout.shape))
        target = _destination(a, layout, wanted, out, dtype is not None)
        # Convert where fewer bytes travel.
        narrow = wanted != a.dtype and wanted.itemsize <= a.dtype.itemsize
        source = wrap(a.local.astype(wanted), a.layout, a.comm) if narrow else a
        direct = wanted == source.dtype
        landing = target if direct else empty(layout, source.dtype, a.comm)
        ends = source.core(), landing.core()
    _mpi.redistribute(*ends, order, "auto", seconds)
    if not direct:
        target.local[...] = landing.local.astype(wanted)
    target.settle()
    return target


def _axes(axes: Sequence[int], dimensions: int) -> list[int]:
    """`axes` with negative ones counted from the end, as NumPy does."""
    try:
        order = [int(axis) for axis in axes]
    except (TypeError, ValueError):
        order = []
    if sorted(a + dimensions if a < 0 else a for a in order) != list(range(dimensions)):
        raise LayoutError(
            f"axes={axes!r} is no permutation of the {dimensions} dimensions; "
            f"give each of 0 to {dimensions - 1} once"
        )
    return [a + dimensions if a < 0 else a for a in order]
