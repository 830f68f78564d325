# SPDX-License-Identifier: BSD-3-Clause
"""Open stores."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from hocket import _pure, mpiexec
from hocket.errors import Error
from hocket.stores.stored import StoredArray

if TYPE_CHECKING:
    import numpy.typing as npt
    from mpi4py import MPI

    from hocket import _mpi
    from hocket.arrays import Array
    from hocket.layouts import Layout
    from hocket.stores.requests import StoreRequest


def path_of(path: Any) -> str:
    """A path as the library takes it. Raises `Error`."""
    try:
        text = os.fsdecode(os.fspath(path))
    except TypeError:
        raise Error(f"path is {path!r}; give the path of a store, as 'run.zarr'") from None
    if text.endswith((".npz", ".h5", ".hdf5", ".nc")):
        raise Error(
            f"{text!r} is the name of one file of another format, and a store is a folder of "
            "Zarr's, or an .npy file; give a name like 'run.zarr', and read other files with NumPy "
            "or h5py"
        )
    return text


def alone() -> bool:
    """Whether this program is one process without MPI so far."""
    return "mpi4py.MPI" not in sys.modules and not any(name in os.environ for name in mpiexec.RANK)


class Store:
    """Named arrays in a folder, in the format Zarr 3; made by `open_store`.

    ``list(store)`` are the names, ``store[name]`` is a `StoredArray`. A context manager, which
    closes the store. All methods but these are collective over the communicator: an error of one
    process is raised on all.

    Examples
    --------
    On two processes:

    >>> rows, columns = hk.Layout((4, 6), "(BLOCK, *)", 2), hk.Layout((4, 6), "(*, BLOCK)", 2)
    >>> a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    >>> with hk.open_store("new.zarr", "w") as s:
    ...     s.create("t", (4, 6), "int64", chunks=(2, 3))
    ...     s.write("t", a)
    ...     b = s.read("t", columns)
    >>> b.local[1].tolist() == ([10, 11, 12] if a.comm.rank == 0 else [13, 14, 15])
    True
    """

    __slots__ = ("_comm", "_core", "_files", "_mode", "_path")

    def __init__(self, path: str, mode: str, files: Any, core: Any, comm: Any) -> None:
        self._path = path
        self._mode = mode
        self._files: _pure.StoreFiles = files
        self._core: Optional[_mpi.Store] = core
        self._comm = comm

    @property
    def path(self) -> str:
        """Where it lies.

        Examples
        --------
        >>> hk.open_store("new.zarr", "w").path
        'new.zarr'
        """
        return self._path

    @property
    def mode(self) -> str:
        """As it was opened.

        Examples
        --------
        >>> hk.open_store("new.zarr", "w").mode
        'w'
        """
        return self._mode

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of what the user has written beside the arrays; see `set_attributes`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))}, attributes={"step": 7})
        >>> hk.open_store("run.zarr").attributes
        {'step': 7}
        """
        return dict(json.loads(self._files.attributes()))

    @property
    def unfinished(self) -> Optional[str]:
        """Who began to write and never closed the store, so that arrays may be half written.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr").unfinished is None
        True
        """
        return self._files.unfinished() or None

    def __iter__(self) -> Iterator[str]:
        return iter(self._files.names())

    def __len__(self) -> int:
        return len(self._files.names())

    def __contains__(self, name: object) -> bool:
        return name in self._files.names()

    def __getitem__(self, name: str) -> StoredArray:
        return StoredArray(self._files, str(name))

    def _together(self) -> _mpi.Store:
        """As all processes have opened it: now, if this was a program of one process."""
        if self._core is None:
            from hocket.stores import together

            self._comm, self._core = together.opened(self._path, self._mode, None, None)
            self._files = self._core.files()
        return self._core

    def create(
        self,
        name: str,
        shape: Union[int, Sequence[int]],
        dtype: npt.DTypeLike = "float64",
        *,
        chunks: Optional[Sequence[int]] = None,
        shards: Optional[Sequence[int]] = None,
        codec: Optional[str] = None,
        fill: Any = 0,
        dimension_names: Optional[Sequence[str]] = None,
        attributes: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
    ) -> None:
        """A new array, whose elements all have the value `fill`. Collective.

        Parameters
        ----------
        name
            with ``/`` between the names of groups: ``"run/t"``
        chunks
            extents of what is compressed as one; None: of 1 to 2 MiB, in shards of about 128 MiB
        shards
            extents of a file: a multiple of `chunks`. None, where `chunks` are given: every chunk
            is a file
        codec
            ``"zstd"``, ``"gzip"`` or ``"none"``; None: zstd
        dimension_names
            None: ``dim_0``, ``dim_1``, …, since xarray needs names
        attributes
            what JSON can hold

        Raises
        ------
        Error
            on every process, if the name is taken or is none, if extents and values do not fit, and
            for a store that is only read.

        Examples
        --------
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("run/t", (100, 100), "float32", chunks=(10, 50), shards=(100, 100))
        ...     list(s), s["run/t"].shards
        (['run/t'], (100, 100))
        """
        from hocket.stores import together

        together.create(
            self, name, shape, dtype, chunks, shards, codec, fill, dimension_names, attributes,
            timeout,
        )  # fmt: skip

    def set_attributes(
        self, attributes: Mapping[str, Any], *, timeout: Optional[float] = None
    ) -> None:
        """Writes what belongs to all arrays beside them. Collective.

        Raises
        ------
        Error
            on every process, for what JSON does not have, and a store that is only read.

        Examples
        --------
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.set_attributes({"step": 7})
        ...     s.attributes
        {'step': 7}
        """
        from hocket.stores import together

        together.set_attributes(self, attributes, timeout)

    def write(
        self,
        name: str,
        a: Array,
        *,
        region: Any = None,
        writers: Optional[int] = None,
        max_buffer: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> None:
        """The elements of `a`, whatever its layout, to an array of the store. Collective.

        One process writes a file (a shard, or a chunk), in one piece that then takes the place of
        the old one; what a region leaves out of a file is kept. The call as a whole is not atomic:
        see `save` and `append`.

        Parameters
        ----------
        region
            slices of the stored array, as ``np.s_[2:8, :]``; None: all of it
        writers
            how many processes write; None: one a file, as many as there are processes
        max_buffer
            bytes of elements that a writer holds beside the array, one chunk at least; None:
            256 MiB. What is encoded, and messages, take up to as much again

        Raises
        ------
        MismatchError
            on every process, for another shape, dtype or communicator.
        LayoutError
            on every process, where no process holds some element, or for a region that is no box.
        Error
            on every process, for files that cannot be written, and a store that is only read.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64")
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("t", 10, "int64")
        ...     s.write("t", a, region=np.s_[3:7])
        ...     s["t"][2:8]
        array([0, 0, 1, 2, 3, 0])
        """
        self.iwrite(name, a, region=region, writers=writers, max_buffer=max_buffer).wait(timeout)

    def iwrite(
        self,
        name: str,
        a: Array,
        *,
        region: Any = None,
        writers: Optional[int] = None,
        max_buffer: Optional[int] = None,
        copy: bool = False,
    ) -> StoreRequest:
        """The same as `write`, started: `a` may not change until the request is done.

        Parameters
        ----------
        copy
            takes a copy of the local elements first, so that `a` may change at once

        Raises
        ------
        Error
            in the request's ``wait`` and ``test``, as `write`.

        Examples
        --------
        >>> a = hk.zeros(hk.Layout(4, "(*)"))
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("t", 4)
        ...     request = s.iwrite("t", a, copy=True)
        ...     a.local[...] = 1
        ...     request.wait()
        ...     s["t"][...]
        array([0., 0., 0., 0.])
        """
        from hocket.stores import together

        return together.iwrite(self, name, a, region, writers, max_buffer, copy)

    def read(
        self,
        name: str,
        lay: Optional[Layout] = None,
        *,
        region: Any = None,
        out: Optional[Array] = None,
        axes: Optional[Sequence[int]] = None,
        dtype: Optional[npt.DTypeLike] = None,
        max_buffer: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Array:
        """An array of the store in any layout. Collective.

        Each stored byte is read by one process, then sent to all that want it.

        Parameters
        ----------
        lay
            of the result; None: the first dimension ``BALANCED`` over all processes
        region
            slices of the stored array, as ``np.s_[2:8, :]``; None: all of it
        out
            the array to write into; has the layout and the dtype of the result
        axes
            the result is ``numpy.transpose(stored, axes)``
        dtype
            converts, as ``numpy.ndarray.astype`` does
        max_buffer
            as of `write`

        Raises
        ------
        MismatchError, LayoutError
            on every process, for layouts and arrays that do not fit.
        Error
            on every process, if there is no such array, and for damaged files.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((2, 3), "(*, *)"), "int64")
        >>> hk.save("run.zarr", {"t": a})
        >>> hk.open_store("run.zarr").read("t", axes=(1, 0)).local
        array([[ 0, 10],
               [ 1, 11],
               [ 2, 12]])
        """
        from hocket.stores import together

        request = together.iread(self, name, lay, region, out, axes, dtype, max_buffer)
        request.wait(timeout)
        return request.array

    def iread(
        self,
        name: str,
        lay: Optional[Layout] = None,
        *,
        region: Any = None,
        out: Optional[Array] = None,
        axes: Optional[Sequence[int]] = None,
        dtype: Optional[npt.DTypeLike] = None,
        max_buffer: Optional[int] = None,
    ) -> StoreRequest:
        """The same as `read`, started: ``request.array`` is there once ``wait`` has returned.

        Raises
        ------
        Error
            in the request's ``wait`` and ``test``, as `read`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> request = hk.open_store("run.zarr").iread("t")
        >>> request.wait()
        >>> request.array.local
        array([0., 0., 0., 0.])
        """
        from hocket.stores import together

        return together.iread(self, name, lay, region, out, axes, dtype, max_buffer)

    def append(
        self,
        name: str,
        a: Array,
        *,
        writers: Optional[int] = None,
        max_buffer: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> None:
        """Grows the stored array along its first dimension by `a`. Collective, and atomic.

        Whoever opens the store sees all of `a` or nothing of it, also where a process is killed
        meanwhile. Give chunks of extent 1 along the first dimension, or `a` several steps, so that
        no chunk is written twice.

        Raises
        ------
        MismatchError, LayoutError, Error, DeadlineError
            as `write`.

        Examples
        --------
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("t", (0, 3), chunks=(1, 3))
        ...     for step in range(2):
        ...         s.append("t", hk.zeros(hk.Layout((1, 3), "(*, *)")))
        ...     s["t"].shape
        (2, 3)
        """
        from hocket.stores import together

        together.append(self, name, a, writers, max_buffer, timeout)

    def close(self, timeout: Optional[float] = None) -> None:
        """Ends writing: the mark of an unfinished store goes. Collective.

        Raises
        ------
        Error
            on every process, where the file system refuses.

        Examples
        --------
        >>> s = hk.open_store("new.zarr", "w")
        >>> s.close()
        """
        if self._core is not None:
            self._core.close(timeout)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._core is None:
            return
        if error is None:
            self.close()
        else:  # the others may not come here
            self._core.leave()

    def __repr__(self) -> str:
        return f"<hocket.Store {self._path!r} {self._mode!r}: {', '.join(self)}>"


def open_store(
    path: Union[str, Path],
    mode: str = "r",
    *,
    comm: Optional[MPI.Comm] = None,
    timeout: Optional[float] = None,
) -> Store:
    """A folder of arrays in the format Zarr 3 (Zarr 2 is read), as other libraries read it.

    Collective over `comm`: one process reads one small file and tells the others. A program that is
    one process, and has not loaded MPI, opens a store for reading without it. Source: Zarr core
    specification, version 3.1; its codec ``sharding_indexed``, version 1.0.

    Parameters
    ----------
    path
        of the folder; or of one array in NumPy's format, which ends in ``.npy`` and has the file's
        name (NumPy Enhancement Proposal 1). It has no chunks, codec, attributes or fill value
    mode
        ``"r"`` reads; ``"r+"`` reads and writes what is there; ``"w"`` or ``"w-"`` makes a store,
        and refuses what is there, since other libraries overwrite it; ``"a"`` opens or makes one
    comm
        None: ``MPI.COMM_WORLD``

    Returns
    -------
    Store

    Raises
    ------
    Error
        on every process: there is no store, or there is one and the mode is to make it; another job
        has it open for writing, which the error names; its metadata cannot be read.

    Warns
    -----
    UserWarning
        on process 0, if somebody began to write the store and did not close it.

    Examples
    --------
    >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
    >>> list(hk.open_store("run.zarr"))
    ['t']
    """
    where = path_of(path)
    if mode == "r" and comm is None and alone():
        store = Store(where, mode, _pure.StoreFiles(where), None, None)
    else:
        from hocket.stores import together

        on, core = together.opened(where, mode, comm, timeout)
        store = Store(where, mode, core.files(), core, on)
    if store.unfinished and (store._comm is None or store._comm.rank == 0):
        warnings.warn(
            f"the store {where!r} was not closed by {store.unfinished}; what that wrote may be "
            "incomplete",
            stacklevel=2,
        )
    return store
