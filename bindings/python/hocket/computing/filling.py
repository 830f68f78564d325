# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays of one value, and of their elements' numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.computing.layouts import number_blocks
from hocket.creation import empty
from hocket.errors import Error
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI


def full(
    lay: Layout,
    value: Any,
    dtype: Optional[npt.DTypeLike] = None,
    comm: Optional[MPI.Comm] = None,
) -> Array:
    """An array with every element `value`. Local, not collective.

    Parameters
    ----------
    lay : Layout
    value
        a scalar
    dtype
        None: that of `value`, by NumPy's rules
    comm
        None: ``MPI.COMM_WORLD``

    Raises
    ------
    LayoutError, Error
        as `empty`; `Error` also if `value` is no scalar of this dtype.

    Examples
    --------
    >>> hk.full(hk.Layout((2, 3), "(*, *)"), 7).local
    array([[7, 7, 7],
           [7, 7, 7]])
    """
    if np.ndim(value) != 0:
        raise Error(f"value has shape {np.shape(value)}; give a scalar, or use hk.scatter")
    array = empty(lay, np.asarray(value).dtype if dtype is None else dtype, comm)
    try:
        array.local[...] = value
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{value!r} is no {array.dtype}: {error}") from None
    return array


def ones(lay: Layout, dtype: npt.DTypeLike = "float64", comm: Optional[MPI.Comm] = None) -> Array:
    """An array with every element one. Local, not collective.

    Raises
    ------
    LayoutError, Error
        as `empty`.

    Examples
    --------
    >>> hk.ones(hk.Layout(3, "(*)"), "int32").local
    array([1, 1, 1], dtype=int32)
    """
    return full(lay, 1, dtype, comm)


def arange(lay: Layout, dtype: npt.DTypeLike = "int64", comm: Optional[MPI.Comm] = None) -> Array:
    """An array in which each element is its row-major number. Local, not collective.

    Equals ``numpy.arange(n).reshape(layout.shape)``.

    Raises
    ------
    LayoutError, Error
        as `empty`; `Error` also for a dtype without numbers.

    Examples
    --------
    On two processes:

    >>> a = hk.arange(hk.Layout((2, 3), "(BLOCK, *)", 2))
    >>> a.local.tolist() == ([[0, 1, 2]] if a.comm.rank == 0 else [[3, 4, 5]])
    True
    """
    array = empty(lay, dtype, comm)
    if array.dtype.kind not in "iufc":
        raise Error(f"{array.dtype} does not count; give a dtype of numbers")
    local = array.local
    for index, block in number_blocks(lay, array._rank_and_size[0]):
        local[index] = block
    return array
