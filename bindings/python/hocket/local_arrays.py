# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of kernels: arrays of this process, checked before any element moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import Error

AnyArray = npt.NDArray[Any]


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise Error(
            f"cannot move elements of {dtype}: they hold references to Python objects; "
            "convert them to a dtype of fixed size"
        )


def check_writeable(array: AnyArray, name: str) -> None:
    if not array.flags.writeable:
        raise Error(
            f"cannot write to {name}: it is read-only; pass a copy, or set its writeable flag"
        )


def _overlaps_itself(array: AnyArray) -> bool:
    """Whether two elements may share memory: the extent of one dimension exceeds another's
    stride."""
    if array.size == 0:
        return False
    reach = array.itemsize
    for stride, extent in sorted(
        (abs(stride), extent) for stride, extent in zip(array.strides, array.shape) if extent > 1
    ):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


def overlap(a: AnyArray, b: AnyArray) -> bool:
    """Whether two arrays share memory; also True if the answer would take too long."""
    if not np.may_share_memory(a, b):
        return False
    limit: Any = 100_000  # candidates: the exact answer may take exponential time
    try:
        return np.shares_memory(a, b, max_work=limit)
    except Exception:  # it took too long; this exception is in another module since NumPy 2
        return True


def checked_array(x: Any, name: str) -> AnyArray:
    """An array that kernels can read."""
    if isinstance(x, np.ma.MaskedArray):
        raise Error(f"{name} is a masked array; pass its .data and its .mask")
    try:
        array: AnyArray = np.asarray(x)
    except (TypeError, ValueError) as error:  # for example rows of different lengths
        raise Error(f"{name} is no array: {error}") from error
    _check_dtype(array.dtype)
    return array


def address(array: AnyArray) -> int:
    """The address of its first element."""
    return int(array.__array_interface__["data"][0])


def checked_target(x: Any, name: str) -> AnyArray:
    """An array that kernels can write."""
    if not isinstance(x, np.ndarray):
        raise Error(f"{name} is of type {type(x).__name__}; give a NumPy array")
    array = checked_array(x, name)
    check_writeable(array, name)
    if _overlaps_itself(array):
        raise Error(f"elements of {name} overlap each other (strides {x.strides}); pass a copy")
    return array
