# SPDX-License-Identifier: BSD-3-Clause
"""The memory of local arrays: allocated by hocket, or given by the user."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.errors import Error, LayoutError

_MOST_DIMENSIONS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


def as_array(
    room: npt.NDArray[np.uint8], shape: Sequence[int], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """The first elements in `room` as an array of this shape."""
    if len(shape) > _MOST_DIMENSIONS:
        raise LayoutError(
            f"a local array of {len(shape)} dimensions: NumPy's arrays have at most "
            f"{_MOST_DIMENSIONS}; join dimensions that are not distributed"
        )
    array: npt.NDArray[Any] = np.ndarray(tuple(shape), dtype, room)
    return array


def memory(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised array in memory that hocket allocates."""
    count = 1
    for extent in shape:  # Python's integers do not overflow
        count *= extent
    return as_array(_mpi.allocate(count * dtype.itemsize), shape, dtype)


def as_room(room: Any) -> int:
    """A number of elements. Raises `Error`."""
    try:
        elements = operator.index(room)
    except TypeError:
        raise Error(f"room is {room!r}; give a number of elements") from None
    if elements < 0:
        raise Error(f"room is {elements}; give a number of elements that is not negative")
    return elements


def checked_room(room: Any, local: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """All memory of a wrapped array, as bytes. Raises `Error`."""
    if not (isinstance(room, np.ndarray) and room.flags.c_contiguous and room.flags.writeable):
        raise Error("room is no writable, contiguous NumPy array")
    begins = [a.__array_interface__["data"][0] for a in (room, local)]
    if local.size and (begins[0] != begins[1] or not local.flags.c_contiguous):
        raise Error(
            "the local array does not lie at the beginning of room, dense and row-major; make it "
            "from there, as room[:n].reshape(shape)"
        )
    if room.nbytes < local.nbytes:
        raise Error(f"room has {room.nbytes} bytes, and the local array alone {local.nbytes}")
    if room.dtype.hasobject:
        raise Error(f"room holds Python objects ({room.dtype}); give plain memory")
    return room.reshape(-1).view(np.uint8)
