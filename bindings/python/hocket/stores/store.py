# SPDX-License-Identifier: BSD-3-Clause
"""Open stores."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
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
    """A path for the C++ library. Raises `Error`."""
    try:
        text = os.fsdecode(os.fspath(path))
    except TypeError:
        raise Error(f"path is {path!r}; give the path of a store, as 'run.zarr'") from None
    if text.endswith((".npz", ".nc")):
        raise Error(
            f"{text!r} is the name of one file of another format, and a store is a folder of "
            "Zarr's, an .npy file or an HDF5 file in .h5; give a name like 'run.zarr', and read "
            "other files with NumPy or xarray"
        )
    if _original(text).endswith((".h5", ".hdf5")):
        offer_hdf5()
    return text


def is_file(path: str) -> bool:
    """Whether the path names a store in one file: NumPy's or HDF5."""
    return _original(path).endswith((".npy", ".h5", ".hdf5"))


def _original(path: str) -> str:
    """The path without what `hk.save` adds to that of an old checkpoint."""
    return re.sub(r"\.(new|old|[0-9]+)$", "", path)


@functools.cache
def offer_hdf5() -> None:
    """Tells the C++ library where h5py, if it is installed, has HDF5's library."""
    found = importlib.util.find_spec("h5py")
    for folder in (found.submodule_search_locations or []) if found else []:
        for path in sorted(Path(folder).parent.glob("h5py.libs/libhdf5-*")):
            _pure.StoreFiles.offer_hdf5(str(path))


def alone() -> bool:
    """Whether this program has been one process without MPI so far."""
    return "mpi4py.MPI" not in sys.modules and not any(name in os.environ for name in mpiexec.RANK)


class Store:
    """Named arrays in a folder, in the format Zarr 3; `open_store` makes it.

    ``list(store)`` are the names, ``store[name]`` is a `StoredArray`. A context manager, which
    closes the store. All other methods are collective over the communicator: an error on one
    process raises on all.

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
        """The path of the store.

        Examples
        --------
        >>> hk.open_store("new.zarr", "w").path
        'new.zarr'
        """
        return self._path

    @property
    def mode(self) -> str:
        """The mode in which it was opened.

        Examples
        --------
        >>> hk.open_store("new.zarr", "w").mode
        'w'
        """
        return self._mode

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the user's attributes; see `set_attributes`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))}, attributes={"step": 7})
        >>> hk.open_store("run.zarr").attributes
        {'step': 7}
        """
        return dict(json.loads(self._files.attributes()))

    @property
    def unfinished(self) -> Optional[str]:
        """The job that left arrays incomplete: it never closed the store, or a write failed.

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
        """Opens the store on all processes, if this program was one process before."""
        if self._core is None:
            from hocket.stores import together

            self._comm, _, self._core = together.opened(lambda: self._path, self._mode, None, None)
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
        """Adds an array, whose elements all have the value `fill`. Collective.

        Parameters
        ----------
        name
            with ``/`` between the names of groups: ``"run/t"``
        chunks
            extents of the unit of compression; None: of 1 to 2 MiB, in shards of about 128 MiB
        shards
            extents of a file: a multiple of `chunks`. None, if `chunks` are given: every chunk is a
            file
        codec
            ``"zstd"``, ``"gzip"`` or ``"none"``; None: zstd, and no codec in ``.npy`` and
            ``.h5`` files
        dimension_names
            None: ``dim_0``, ``dim_1``, …, because xarray needs names
        attributes
            what JSON can hold

        Raises
        ------
        Error
            on every process, if the name is taken or invalid, for invalid extents and values, and
            for a read-only store.

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
        """Writes attributes of the whole store. Collective.

        Raises
        ------
        Error
            on every process, for values that JSON cannot express, and a read-only store.

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
        """Writes the elements of `a`, whatever its layout and order of bytes, to an array of the
        store. Collective.

        One process writes a file (a shard, or a chunk), in one piece that then replaces the old
        one, and keeps elements outside of the region. The call as a whole is not atomic: see `save`
        and `append`.

        Parameters
        ----------
        region
            slices of the stored array, as ``np.s_[2:8, :]``; None: all of it
        writers
            the number of writing processes; None: one a file, as many as there are processes
        max_buffer
            the most bytes of elements that a writer holds beside the array, one chunk at least;
            None: 256 MiB. Encoded chunks and messages take up to as much again

        Raises
        ------
        MismatchError
            on every process, for another shape, dtype or communicator.
        LayoutError
            on every process, if no process holds some element, or for a region that is no box.
        Error
            on every process, if hocket cannot write a file, and for a read-only store.
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
        request = self.iwrite(
            name, a, region=region, writers=writers, max_buffer=max_buffer, timeout=timeout
        )
        request.wait()

    def iwrite(
        self,
        name: str,
        a: Array,
        *,
        region: Any = None,
        writers: Optional[int] = None,
        max_buffer: Optional[int] = None,
        copy: bool = False,
        timeout: Optional[float] = None,
    ) -> StoreRequest:
        """Starts `write`; the program may not change `a` until the request completes.

        Parameters
        ----------
        copy
            copies the local elements first, so that the program may change `a` at once
        timeout
            seconds for each wait of the request that names none

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
        ...     written = request.wait()
        ...     s["t"][...]
        array([0., 0., 0., 0.])
        """
        from hocket.stores import together

        return together.iwrite(self, name, a, region, writers, max_buffer, copy, timeout)

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
        """Reads an array of the store into any layout. Collective.

        One process reads each stored byte, then sends it to all that need it.

        Parameters
        ----------
        lay
            of the result; None: the first dimension ``BALANCED`` over all processes
        region
            slices of the stored array, as ``np.s_[2:8, :]``; None: all of it
        out
            the array for the result; has the result's layout and dtype
        axes
            the result is ``numpy.transpose(stored, axes)``
        dtype
            dtype of the result, converted as by ``numpy.ndarray.astype``
        max_buffer
            as for `write`

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

        request = together.iread(self, name, lay, region, out, axes, dtype, max_buffer, timeout)
        request.wait()
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
        timeout: Optional[float] = None,
    ) -> StoreRequest:
        """Starts `read`; ``request.array`` is the result once ``wait`` has returned. `timeout` as
        `iwrite`.

        Raises
        ------
        Error
            in the request's ``wait`` and ``test``, as `read`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> request = hk.open_store("run.zarr").iread("t")
        >>> array = request.wait()
        >>> request.array.local
        array([0., 0., 0., 0.])
        """
        from hocket.stores import together

        return together.iread(self, name, lay, region, out, axes, dtype, max_buffer, timeout)

    def append(
        self,
        name: str,
        a: Array,
        *,
        writers: Optional[int] = None,
        max_buffer: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> None:
        """Extends the stored array along its first dimension by `a`. Collective, and atomic.

        A reader that opens the store sees all of `a` or nothing of it, even if a process is killed
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
        """Completes started reads and writes, and removes the mark of an unfinished store.

        Regions whose write failed, and those of an earlier job that was killed, stay in the mark,
        until later writes, in this job or another, complete them. Collective.

        Raises
        ------
        Error
            on every process, if the file system refuses, and the error of a started read or write
            that fails meanwhile; the store is open then.

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
    """Opens a folder of arrays in the format Zarr 3 (Zarr 2 is read-only), which other libraries
    read.

    Collective over `comm`: one process reads one small file and sends it to the others. A program
    of one process that has not loaded MPI opens a store for reading without it. Source: Zarr core
    specification, version 3.1; its codec ``sharding_indexed``, version 1.0.

    Parameters
    ----------
    path
        of the folder; or of one array in NumPy's format, which ends in ``.npy`` and has the file's
        name (NumPy Enhancement Proposal 1). It has no chunks, codec, attributes or fill value. A
        path that ends in ``.h5`` or ``.hdf5`` is an HDF5 file (The HDF Group's file format
        specification, version 3.0), which has chunks, gzip and attributes
    mode
        ``"r"`` reads; ``"r+"`` reads and writes an existing store; ``"w"`` or ``"w-"`` makes a
        store, and refuses an existing path, which other libraries would overwrite; ``"a"`` opens or
        makes one
    comm
        None: ``MPI.COMM_WORLD``

    Returns
    -------
    Store

    Raises
    ------
    Error
        on every process: there is no store, or there is one and the mode makes a new one; another
        job has it open for writing, which the error names; its metadata is unreadable; there is no
        library of HDF5 for an ``.h5`` file.

    Warns
    -----
    UserWarning
        on process 0, if a job began to write the store and did not close it.

    Examples
    --------
    >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
    >>> list(hk.open_store("run.zarr"))
    ['t']
    """
    if mode == "r" and comm is None and alone():
        where = path_of(path)
        store = Store(where, mode, _pure.StoreFiles(where), None, None)
    else:
        from hocket.stores import together

        on, where, core = together.opened(lambda: path_of(path), mode, comm, timeout)
        store = Store(where, mode, core.files(), core, on)
    if store.unfinished and (store._comm is None or store._comm.rank == 0):
        warnings.warn(
            f"the store {where!r} was left incomplete by {store.unfinished}; write that again",
            stacklevel=2,
        )
    return store
