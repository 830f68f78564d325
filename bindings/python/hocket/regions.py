# SPDX-License-Identifier: BSD-3-Clause
"""Regions that a step of a flow may access: memory, or keys."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from hocket import _mpi
from hocket.arrays import Array
from hocket.errors import Error

#: arrays (hocket's, NumPy's, or objects with Python's buffer interface), or keys
Touched = Any
Key = Union[str, bytes, int, tuple[Any, ...]]


def key_bytes(key: Any) -> bytes:
    """A key as bytes, equal for equal keys: as Python prints it, because messages show it.

    Raises `Error` for other objects than str, bytes, int, and tuples of these.
    """
    if isinstance(key, str):
        return str.__repr__(key).encode()
    if isinstance(key, bytes):
        return bytes.__repr__(key).encode()
    if isinstance(key, (int, np.integer, np.bool_)):
        return b"%d" % int(key)
    if isinstance(key, tuple):
        return b"(" + b", ".join(map(key_bytes, key)) + b")"
    raise Error(
        f"{key!r} of type {type(key).__name__} is neither memory nor a key; name an array (any "
        "that NumPy can view), or a str, bytes, int, or tuple of these"
    )


def regions_of(touched: Touched) -> list[_mpi.Region]:
    """The regions of one argument.

    Raises `Error` for objects that are neither memory nor a key.
    """
    if isinstance(touched, Array):
        regions = [memory_of(touched._local)]
        if touched._home is not None:  # a receive into the section writes this memory, too
            home, memory, _ = touched._home
            regions += [*regions_of(home), memory_of(memory)]
        return regions
    if isinstance(touched, np.ndarray):
        return [memory_of(touched)]
    if isinstance(touched, (str, bytes, int, tuple, np.integer, np.bool_)):
        return [_mpi.Region.key(key_bytes(touched))]
    try:
        if isinstance(touched, np.generic):  # its memory is a copy
            raise TypeError
        return [_mpi.Region.of(touched)]
    except (TypeError, BufferError, ValueError):
        return [_mpi.Region.key(key_bytes(touched))]


def memory_of(array: np.ndarray) -> _mpi.Region:
    """An array's elements, whatever their type."""
    try:
        return _mpi.Region.of(array)
    except (ValueError, BufferError):  # types without a buffer format, as datetime64
        return _mpi.Region.of(array.view(f"V{array.dtype.itemsize}"))
