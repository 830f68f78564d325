# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: several arrays under one name, replaced in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

import numpy as np

from hocket import _mpi
from hocket.arguments import as_number, as_text
from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.communicators import communicator
from hocket.errors import Error
from hocket.layouts import Layout
from hocket.stores import together
from hocket.stores.store import open_store, path_of
from hocket.stores.stored import as_json

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Checkpoint", "load", "save"]

LayoutOf = Callable[[str, tuple[int, ...], "np.dtype[Any]"], Layout]


class Checkpoint(dict[str, Array]):
    """The arrays of a checkpoint by name, and its attributes; `load` makes it.

    Attributes
    ----------
    attributes : dict
    dimension_names : dict
        for each array the names of its dimensions, None for each without one. xarray's coordinates
        are the arrays with the name of a dimension

    Examples
    --------
    >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))}, attributes={"step": 7})
    >>> d = hk.load("run.zarr")
    >>> list(d), d.attributes, d.dimension_names
    (['t'], {'step': 7}, {'t': ('dim_0',)})
    """

    def __init__(
        self,
        arrays: Mapping[str, Array],
        attributes: dict[str, Any],
        dimension_names: Optional[dict[str, tuple[Optional[str], ...]]] = None,
    ) -> None:
        super().__init__(arrays)
        self.attributes = attributes
        self.dimension_names = dimension_names or {}


def save(
    path: Union[str, Path],
    arrays: Mapping[str, Array],
    *,
    attributes: Optional[Mapping[str, Any]] = None,
    codec: Optional[str] = None,
    keep: int = 0,
    max_buffer: Optional[int] = None,
    timeout: Optional[float] = None,
) -> None:
    """Writes a checkpoint of these arrays, which replaces the last one in one step. Collective.

    A checkpoint is a store, which `open_store`, zarr-python and xarray read. hocket writes it
    beside `path`; once all of it is on the disk, it exchanges the two folders. A job that is killed
    at any moment leaves the old checkpoint or the new one, whole. Readers with the old one open
    continue with it. A path that ends in ``.npy`` becomes a file of one array, which NumPy loads,
    and one in ``.h5`` an HDF5 file.

    Parameters
    ----------
    arrays
        by name; all on one communicator
    attributes
        values that JSON can express: the step, the time, parameters
    codec
        ``"zstd"``, ``"gzip"`` or ``"none"``; None: zstd, and no codec in ``.npy`` and ``.h5`` files
    keep
        the number of earlier checkpoints to keep, as ``path.1`` (the latest), ``path.2``, …
    max_buffer
        as for `Store.write`

    Raises
    ------
    Error, MismatchError, LayoutError
        on every process; the old checkpoint is intact.
    DeadlineError
        after `timeout` seconds; the old checkpoint is intact.

    Examples
    --------
    On two processes:

    >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
    >>> hk.save("run.zarr", {"t": a}, attributes={"step": 7})
    >>> b = hk.load("run.zarr", hk.Layout(6, "(CYCLIC)", 2))["t"]
    >>> b.local.tolist() == ([0, 2, 4] if a.comm.rank == 0 else [1, 3, 5])
    True
    """
    given = list(arrays.values()) if isinstance(arrays, Mapping) else [arrays]
    if not given or not isinstance(given[0], Array):
        kind = type(given[0]).__name__ if given else "no array"
        no_array(f"cannot save {kind}", timeout)
    with collective(given[0].comm, timeout) as seconds:
        if not isinstance(arrays, Mapping):
            raise Error("an array is saved by a name; give a dict, as {'t': a}")
        for name, each in arrays.items():
            if not isinstance(each, Array):
                raise Error(f"{name!r} is {type(each).__name__}; give arrays, as of hk.empty")
        own = {name: together.in_own_order(each) for name, each in arrays.items()}
        arguments = (
            as_text(path_of(path), "path", "run.zarr"),
            [(as_text(name, "a name"), each._wrapped()) for name, each in own.items()],
            as_json(attributes, "attributes"),
            as_text("" if codec is None else codec, "codec", "zstd"),
            as_number(keep, "keep"),
            together.bound(max_buffer),
            seconds,
        )
    _mpi.save(*arguments)


def load(
    path: Union[str, Path],
    lay: Union[Layout, Mapping[str, Layout], LayoutOf, None] = None,
    *,
    names: Optional[Sequence[str]] = None,
    comm: Optional[MPI.Comm] = None,
    max_buffer: Optional[int] = None,
    timeout: Optional[float] = None,
) -> Checkpoint:
    """Reads the arrays of a checkpoint, or of any store, on any number of processes. Collective.

    Parameters
    ----------
    lay
        one layout for all arrays, or one for each name, or a function of (name, shape, dtype) that
        returns it; None: the first dimension ``BALANCED`` over all processes of `comm`
    names
        None: those that `lay` names, else all
    comm
        None: ``MPI.COMM_WORLD``

    Returns
    -------
    Checkpoint
        a dict of arrays, in new memory, with ``attributes``

    Raises
    ------
    Error
        on every process, if there is no store or no such array, and for damaged files.
    LayoutError, MismatchError
        on every process, for layouts that do not fit.

    Examples
    --------
    >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout((4, 3), "(*, *)"))})
    >>> hk.load("run.zarr")["t"].layout.dist
    '(BALANCED, *)'
    >>> hk.load("run.zarr", lambda name, shape, dtype: hk.Layout(shape, "(*, *)"))["t"].local.shape
    (4, 3)
    """
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        where = as_text(path_of(path), "path", "run.zarr")
    store = open_store(_mpi.checkpoint_path(where, on.handle, seconds), comm=on, timeout=timeout)
    wanted = list(names) if names is not None else list(lay) if isinstance(lay, Mapping) else store
    found: dict[str, Array] = {}
    for name in wanted:
        with collective(on, seconds):
            stored = store[name]
            layout: Any = lay
            if isinstance(lay, Mapping):
                layout = lay.get(name)
            elif callable(lay):
                layout = lay(name, stored.shape, stored.dtype)
        found[name] = store.read(name, layout, max_buffer=max_buffer, timeout=seconds)
    return Checkpoint(
        found, store.attributes, {name: store[name].dimension_names for name in found}
    )
