# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays: local NumPy arrays with a layout."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

import numpy as np
import numpy.typing as npt

from hocket import _mpi, dtypes
from hocket.arguments import as_number, slices_of
from hocket.calls import collective
from hocket.computing.methods import Methods
from hocket.errors import Error, LayoutError
from hocket.halos import Halo
from hocket.layouts import Layout
from hocket.local_memory import as_array, memory

if TYPE_CHECKING:
    from mpi4py import MPI


def require_processes(layout: Layout, comm: MPI.Comm) -> int:
    """This process's rank. Raises `LayoutError` for no layout, and for one of more processes."""
    if not isinstance(layout, Layout):
        raise LayoutError(
            f"{layout!r} is no layout; make one, as hk.Layout((8, 8), '(BLOCK, *)', 4)"
        )
    rank, size = _mpi.rank_and_size(comm.handle)
    if size < layout.size:
        raise LayoutError(
            f"the layout {layout} needs {layout.size} processes, but the communicator has "
            f"{size}; start more processes, or give the layout fewer"
        )
    return rank


def local_shape(layout: Layout, comm: MPI.Comm) -> tuple[int, ...]:
    return shape_of_part(layout, require_processes(layout, comm))


def shape_of_part(layout: Layout, rank: int) -> tuple[int, ...]:
    # NumPy's 0-d arrays have one element, so a process that does not hold it gets a 1-d array.
    if rank < layout.size and (layout.shape or layout.local_elements(rank)):
        return layout.local_shape(rank)
    return (0,) * max(1, len(layout.local_shape(0)))


#: the latest sections of layouts, by the layouts' identities; an entry goes with its layout
_sections: dict[Any, tuple[Any, Layout, Optional[tuple[Any, ...]]]] = {}


def section_of(layout: Layout, slices: Any, rank: int) -> tuple[Layout, Optional[tuple[Any, ...]]]:
    """`Layout.section`, and `Layout.local_section` of this process or None. A program takes the
    same few sections in every step."""
    given = slices_of(slices, layout.shape)
    key = (id(layout), rank, *given)
    found = _sections.get(key)
    if found is None:

        def forget(_: Any) -> None:
            _sections.pop(key, None)

        native = layout._native
        where = native.local_section(given, rank) if rank < layout.size else None
        if len(_sections) >= 64:
            _sections.clear()
        kept = weakref.ref(layout, forget)
        found = _sections[key] = kept, Layout._of(native.section(given)), where
    return found[1:]


class Array(Methods):
    """One process's part of a distributed array.

    `empty`, `zeros`, `wrap`, `from_function` and `scatter` make arrays.

    Attributes
    ----------
    local : numpy.ndarray
        this process's elements, of shape ``layout.local_shape(rank)``; empty on a process beyond
        ``layout.size``.
    layout : Layout
    comm : mpi4py.MPI.Comm
        Process ``r`` of the layout is rank ``r``.
    dtype : numpy.dtype

    Examples
    --------
    On two processes:

    >>> rows = hk.Layout((4, 6), "(BLOCK, *)", 2)
    >>> a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    >>> a.local.shape, a.layout == rows, a.comm.size, a.dtype
    ((2, 6), True, 2, dtype('int64'))
    """

    __slots__ = ("_comm", "_core", "_home", "_layout", "_local", "_rank_and_size", "_room")

    def __init__(
        self,
        local: npt.NDArray[Any],
        layout: Layout,
        comm: MPI.Comm,
        room: Optional[npt.NDArray[np.uint8]] = None,
    ) -> None:
        self._local = local
        # All memory of the array, from the first element of `local` on.
        self._room = room
        self._layout = layout
        self._comm = comm
        # This process's rank, and the number of processes, for calls after MPI_Finalize.
        self._rank_and_size = _mpi.rank_and_size(comm.handle)
        self._core: Optional[_mpi.Local] = None
        # For a section that is not a view: its array, that array's memory and the index of the
        # section.
        self._home: Optional[tuple[Array, npt.NDArray[Any], Any]] = None

    # These attributes cannot be assigned. Write into the local elements: a.local[...] = values.
    @property
    def local(self) -> npt.NDArray[Any]:
        """This process's elements, of shape ``layout.local_shape(rank)``.

        Examples
        --------
        On two processes:

        >>> a = hk.zeros(hk.Layout((4, 6), "(BLOCK, *)", 2))
        >>> a.local[...] = a.comm.rank
        >>> a.local.shape
        (2, 6)
        """
        if self._home is None:
            return self._local
        copy: npt.NDArray[Any] = self._current().view()
        copy.flags.writeable = False
        return copy

    def _current(self) -> npt.NDArray[Any]:
        """The memory that hocket reads and writes; for a section that is not a view, a copy."""
        if self._home is not None:
            home, memory, index = self._home
            home._current()
            if memory is not self._local:
                self._local[...] = memory[index]
        return self._local

    @property
    def layout(self) -> Layout:
        """The distribution of the global array over processes.

        Examples
        --------
        On two processes:

        >>> a = hk.zeros(hk.Layout((4, 6), "(BLOCK, *)", 2))
        >>> a.layout
        Layout.parse('(4, 6) (BLOCK, *) @ (2)')
        """
        return self._layout

    @property
    def comm(self) -> MPI.Comm:
        """The communicator: process ``r`` of the layout is its rank ``r``.

        Examples
        --------
        On two processes:

        >>> a = hk.zeros(hk.Layout((4, 6), "(BLOCK, *)", 2))
        >>> a.comm.size
        2
        """
        return self._comm

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements.

        Examples
        --------
        >>> hk.zeros(hk.Layout(4, "(*)"), "int32").dtype
        dtype('int32')
        """
        return self._local.dtype

    def _wrapped(self) -> _mpi.Local:
        """The same array for the C++ library."""
        local = self._local if self._home is None else self._current()
        core = self._core
        if core is None or core.writable() != local.flags.writeable:
            self._core = core = _mpi.Local.wrap(
                self._address(),
                self.layout._native,
                dtypes.name_of(self.dtype),
                self.dtype.itemsize,
                self.comm.handle,
                local.strides if local.size else (0,) * len(self.layout.local_shape(0)),
                local,
                local.flags.writeable,
                0 if self._room is None else self._room.size,
            )
        return core

    def _address(self) -> int:
        start = self._local if self._room is None else self._room
        return int(start.__array_interface__["data"][0])

    @property
    def room(self) -> int:
        """Bytes of memory, from the first local element on, that `remap_inplace` may use.

        Examples
        --------
        >>> a = hk.empty(hk.Layout(4, "(*)"), "int32", room=100)
        >>> a.room >= 400
        True
        """
        return self._wrapped().room()

    def _remapped(self, layout: Layout) -> Array:
        """The same memory with another layout: the result of `remap_inplace`."""
        shape = local_shape(layout, self._comm)
        start = self._room
        if start is None:
            start = self._local.reshape(-1).view(np.uint8) if self._local.size else None
        nothing = np.empty(0, np.uint8)
        local = as_array(nothing if start is None else start, shape, self.dtype)
        return Array(local, layout, self._comm, self._room)

    def gather(self, root: int = 0, *, timeout: Optional[float] = None) -> Optional[np.ndarray]:
        """Collects the whole array on process `root`; returns None elsewhere. Collective.

        Returns
        -------
        numpy.ndarray
            of shape ``layout.shape``

        Raises
        ------
        LayoutError
            on every process, if no process holds some element (a gap between boxes, segments or
            elements); names the first such element.
        Error
            on every process, if there is no process `root`, or for a wrong timeout.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation: a process that comes
            later completes it.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i * i, hk.Layout(4, "(CYCLIC)", 2), "int64")
        >>> whole = a.gather(root=1)
        >>> whole is None if a.comm.rank == 0 else whole.tolist() == [0, 1, 4, 9]
        True
        """
        whole: Optional[np.ndarray] = None
        address = 0
        with collective(self.comm, timeout) as seconds:
            core, number = self._wrapped(), as_number(root, "root")
            if self._rank_and_size[0] == number:
                whole = memory(self.layout.shape, self.dtype)
                address = whole.__array_interface__["data"][0]
        _mpi.gather(core, address, number, whole, seconds)
        return whole

    def section(self, slices: Any) -> Array:
        """The elements ``a[slices]`` as an array, with the layout ``a.layout.section(slices)``.

        Local, not collective. All functions that accept arrays accept sections, and move only their
        elements.

        Parameters
        ----------
        slices
            NumPy's basic index: integers, slices of any step, ``...``

        Returns
        -------
        Array
            ``.local`` is a view of this array's memory if strides can describe it. Otherwise (a
            stride through ``CYCLIC(k)``) it is a read-only copy, made at each access. hocket writes
            received elements to this array; ``section[...] = values`` does so too.

        Raises
        ------
        LayoutError
            for slices that do not fit the shape.

        Examples
        --------
        >>> a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((3, 4), "(*, *)"), "int64")
        >>> a.section((slice(None), slice(1, None, 2))).gather()
        array([[ 1,  3],
               [11, 13],
               [21, 23]])
        """
        layout, where = section_of(self._layout, slices, self._rank_and_size[0])
        if where is None:
            nothing = np.empty(local_shape(layout, self.comm), self.dtype)
            return Array(nothing, layout, self.comm)
        if all(isinstance(part, (int, slice)) for part in where):
            everything = (*where, ...)
            part = Array(self._current()[everything], layout, self.comm)
            if self._home is not None:  # a view of a copy
                part._home = (self, part._local, ...)
            return part
        fixed = tuple(part if isinstance(part, int) else slice(None) for part in where)
        memory = self._current()[fixed]
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

    def halo(
        self, width: Union[int, Sequence[int]], *, periodic: Union[bool, Sequence[bool]] = False
    ) -> Halo[Array]:
        """Copies the array into new memory with a border of elements that neighbours hold. Local.

        hocket allocates the memory as a dense local array, in which a border surrounds the
        elements. Afterwards use ``halo.array``, the distributed array within the border, instead of
        this array, which does not change. `Halo.exchange` fills the border.

        Parameters
        ----------
        width
            elements on each side of every dimension, or one number a dimension; 0: no border
        periodic
            whether the dimensions go round, or one flag a dimension

        Raises
        ------
        LayoutError
            for explicit segments, for wrong widths, and if a process holds several intervals of a
            dimension with a border (``CYCLIC``).

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> halo.exchange()
        >>> halo.local.tolist() == ([5, 0, 1, 2, 3] if a.comm.rank == 0 else [2, 3, 4, 5, 0])
        True
        """
        return Halo(self, width, periodic)

    def _require_home(self) -> None:
        """Refuses sections that have no memory of their own.

        Raises
        ------
        Error
            for a section that is not a view of its array.
        """
        if self._home is not None:
            raise Error(
                "a section whose elements are a copy has no memory of its own to be remapped in; "
                "copy it into an array from hk.empty"
            )

    def _settle(self) -> None:
        """After a receive into a section that is not a view: copies the elements to its array."""
        if self._home is not None:
            array, memory, index = self._home
            if memory is not self._local:
                memory[index] = self._local
            array._settle()

    def __reduce__(self) -> NoReturn:
        """Refuses pickling and copying: a copy would have another communicator or memory.

        Raises
        ------
        Error
            always.
        """
        raise Error(
            "a distributed array cannot leave its processes, nor be copied by copy or pickle; use "
            "a.gather(), its part a.local, or hk.wrap(a.local.copy(), a.layout, a.comm)"
        )

    def __repr__(self) -> str:
        rank, size = self._rank_and_size
        return (
            f"<hocket.Array {self.dtype} {self.layout}, "
            f"local {self.local.shape} on process {rank} of {size}>"
        )
