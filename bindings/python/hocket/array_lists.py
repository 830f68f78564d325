# SPDX-License-Identifier: BSD-3-Clause
"""One array, or several arrays in one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from hocket import _mpi
from hocket.arrays import Array
from hocket.errors import Error

#: the arrays of a message
Arrays = Union[Array, Sequence[Array]]


def as_list(arrays: Arrays) -> list[Array]:
    """The arrays, in order."""
    return [arrays] if isinstance(arrays, Array) else list(arrays)


def cores_of(arrays: Any, what: str) -> list[_mpi.Local]:
    """The arrays for the C++ library. Raises `Error` for an entry that is no array, naming its
    position."""
    if isinstance(arrays, Array):
        return [arrays._wrapped()]
    if not isinstance(arrays, (list, tuple)):
        raise Error(
            f"cannot {what} {type(arrays).__name__}: give an array made by hk.empty, hk.wrap, …, "
            "or a list of them"
        )
    if not arrays:
        raise Error(f"there is no array to {what} in an empty list; give one array or more")
    for place, array in enumerate(arrays):
        if not isinstance(array, Array):
            raise Error(
                f"cannot {what} {type(array).__name__}, number {place} of {len(arrays)}: give "
                "arrays made by hk.empty, hk.wrap, …"
            )
    return [array._wrapped() for array in arrays]


def settle(arrays: Arrays) -> None:
    """After a receive: see `Array._settle`."""
    for array in as_list(arrays):
        array._settle()
