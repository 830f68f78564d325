# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes along one axis, by an index for each element of the result. All are
collective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.by_index import fetch, store
from hocket.computing.indexing import as_value, require_writable
from hocket.computing.layouts import balanced, held, is_local, numbers, one_axis
from hocket.computing.operands import as_arrays, bring, broadcast_shape, made, without_copies
from hocket.computing.shapes import flattened
from hocket.errors import LayoutError
from hocket.layouts import Layout


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """`numpy.take_along_axis`, in the layout of `indices`."""
    arr, indices = as_arrays(arr, indices)
    if axis is None:
        arr, axis = flattened(arr, axis)
    d, layout = of_result(arr, indices, axis)
    if arr.layout == layout and is_local(layout, d):
        here = own_indices(arr, indices, d, layout)
        found = np.take_along_axis(arr.local, here, d) if here.size else here.astype(arr.dtype)
    else:
        found = fetch(without_copies(arr), numbers_along(arr, indices, d, layout))
    return made(found, layout, arr.comm)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`numpy.put_along_axis`."""
    if axis is None:
        raise TypeError("np.put_along_axis of distributed arrays takes an axis; assign to a[mask]")
    if not isinstance(arr, Array):
        raise TypeError("np.put_along_axis writes to a distributed array only; use a.local")
    arr, indices = as_arrays(arr, indices)
    d, layout = of_result(arr, indices, axis)
    with collective(arr.comm, None):
        require_writable(arr)
        values = as_value(values, arr.dtype)
        if broadcast_shape([values, np.broadcast_to(0, layout.shape)]) != layout.shape:
            raise LayoutError(f"a value of shape {values.shape} does not fit {layout.shape}")
    rank = arr._rank_and_size[0]
    given = np.broadcast_to(bring(values, layout, rank, arr.comm), local_shape(layout, arr.comm))
    with collective(arr.comm, None):  # text of one process may be no number
        given = given.astype(arr.dtype, copy=np.may_share_memory(given, arr._local))
    if arr.layout == layout and is_local(layout, d):
        here = own_indices(arr, indices, d, layout)
        if here.size:
            np.put_along_axis(arr._current(), here, given, d)
            arr._settle()
    else:
        wanted = numbers_along(arr, indices, d, layout)
        store(arr, wanted, given.reshape(-1), numbers(layout, rank).reshape(-1))


def of_result(a: Array, indices: Array, axis: Any) -> tuple[int, Layout]:
    """The axis, and the layout of the result: that of the indices, if these have its shape."""
    with collective(a.comm, None):
        d = one_axis(axis, a.ndim)
        if indices.ndim != a.ndim or indices.dtype.kind not in "iu":
            raise LayoutError(
                f"indices of {indices.dtype} and shape {indices.shape} for an array of {a.shape}; "
                "give integers, with as many dimensions"
            )
        lines = (*a.shape[:d], indices.shape[d], *a.shape[d + 1 :])
        shape = broadcast_shape([np.broadcast_to(0, lines), indices])
    alone = indices.shape == shape and held(indices.layout) == indices.layout.num_elements
    return d, indices.layout if alone else balanced(shape, a._rank_and_size[1])


def own_indices(a: Array, indices: Array, d: int, layout: Layout) -> npt.NDArray[np.int64]:
    """The indices for this process's part of the result, from 0 on."""
    brought = bring(indices, layout, a._rank_and_size[0], a.comm)
    here = np.broadcast_to(brought, local_shape(layout, a.comm)).astype(np.int64, copy=False)
    extent = a.shape[d]
    with collective(a.comm, None):
        wrong = here[(here < -extent) | (here >= extent)]
        if wrong.size:
            raise LayoutError(
                f"index {wrong.flat[0]} lies outside the shape {a.shape} in dimension {d} (on "
                f"process {a._rank_and_size[0]})"
            )
    return np.where(here < 0, here + extent, here) if here.min(initial=0) < 0 else here


def numbers_along(a: Array, indices: Array, d: int, layout: Layout) -> npt.NDArray[np.int64]:
    """The row-major numbers in `a` of the elements at these indices along axis `d`, for this
    process's part of the result. Collective."""
    rank = a._rank_and_size[0]
    here = own_indices(a, indices, d, layout)
    if here.size == 0:
        return np.empty(0, np.int64)
    if layout._native.is_indexed:
        places = np.unravel_index(numbers(layout, rank), layout.shape)
    else:
        places = np.ix_(*layout.global_indices(rank))
    steps = [math.prod(a.shape[e + 1 :]) for e in range(a.ndim)]
    result = here * steps[d]
    del here  # it may be a copy
    for e, place in enumerate(places):
        if e != d and a.shape[e] > 1:
            result += place * steps[e]
    return result.reshape(-1)
