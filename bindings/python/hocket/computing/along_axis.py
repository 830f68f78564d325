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
from hocket.computing.fetching import (
    apart,
    elements_of_fetch,
    elements_of_store,
    fetch,
    settle_copies,
    store,
)
from hocket.computing.indexing import as_value, require_writable
from hocket.computing.layouts import (
    Shape,
    balanced,
    held,
    indices_along,
    is_local,
    numbers,
    one_axis,
)
from hocket.computing.operands import as_arrays, bring, broadcast_shape, made, without_copies
from hocket.computing.rounds import Box, rounds, section_for, slabs
from hocket.computing.shapes import flattened
from hocket.creation import empty
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
        return made(found, layout, arr.comm)
    here = own_indices(arr, indices, d, layout)
    source, numbers = without_copies(arr), NumbersAlong(arr, d, layout)
    result = empty(layout, arr.dtype, arr.comm)
    for box in rounds(layout, numbers.rank, elements_of_fetch(arr.dtype)):
        part = here[box]
        result._local[box] = fetch(source, numbers.of(part, box)).reshape(part.shape)
    return result


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
        value = values.astype(arr.dtype) if values.dtype.kind in "OSU" else values  # may raise
    if arr.layout == layout and is_local(layout, d):
        given = value_in(value, layout, arr)
        here = own_indices(arr, indices, d, layout)
        if here.size:
            np.put_along_axis(arr._current(), here, given, d)
            arr._settle()
        return
    require_inside(arr, indices.local, d)
    size, most, alone = arr._rank_and_size[1], elements_of_store(arr.dtype), without_copies(arr)
    if layout.num_elements > most * size:
        indices, value = (apart(x, arr) for x in (indices, value))
    for box, part in slabs(layout, size, most):
        here = in_layout(section_for(indices, box), part, arr)
        numbers_of = NumbersAlong(arr, d, part, tuple(each.start for each in box))
        wanted = numbers_of.of(here, tuple(slice(0, extent) for extent in here.shape))
        given = value_in(section_for(value, box), part, arr)
        store(alone, wanted, given.reshape(-1), numbers(part, numbers_of.rank).reshape(-1))
    settle_copies(arr, alone)


def in_layout(x: Any, layout: Layout, a: Array) -> npt.NDArray[Any]:
    """The operand's elements for this process's part of a layout. Collective."""
    brought = bring(x, layout, a._rank_and_size[0], a.comm)
    return np.broadcast_to(brought, local_shape(layout, a.comm))


def value_in(value: Any, layout: Layout, a: Array) -> npt.NDArray[Any]:
    """As `in_layout`, in the dtype of `a`, and in other memory."""
    given = in_layout(value, layout, a)
    return given.astype(a.dtype, copy=np.may_share_memory(given, a._local))


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


def own_indices(a: Array, indices: Array, d: int, layout: Layout) -> npt.NDArray[Any]:
    """The indices for this process's part of the result. Collective."""
    here = in_layout(indices, layout, a)
    require_inside(a, here, d)
    return here


def require_inside(a: Array, here: npt.NDArray[Any], d: int) -> None:
    """Raises `LayoutError` on every process for an index beyond the extent. Collective."""
    extent = a.shape[d]
    with collective(a.comm, None):
        ends = (int(here.min()), int(here.max())) if here.size else (0, -1)
        if ends[0] < -extent or ends[1] >= extent:
            wrong = ends[0] if ends[0] < -extent else ends[1]
            raise LayoutError(
                f"index {wrong} lies outside the shape {a.shape} in dimension {d} (on process "
                f"{a._rank_and_size[0]})"
            )


class NumbersAlong:
    """Row-major numbers in `a` of elements at some indices along axis `d`; the others are those of
    a layout's elements, counted from `origin`."""

    def __init__(self, a: Array, d: int, layout: Layout, origin: Shape = ()) -> None:
        self.rank, self.d, self.shape = a._rank_and_size[0], d, a.shape
        self.origin = origin or (0,) * a.ndim
        self.steps = [math.prod(a.shape[e + 1 :]) for e in range(a.ndim)]
        self.listed = layout.shape if layout._native.is_indexed else None
        if self.listed is not None:
            self.own = numbers(layout, self.rank)
        elif self.rank < layout.size:
            self.along = indices_along(layout, self.rank)

    def of(self, indices: npt.NDArray[Any], box: Box) -> npt.NDArray[np.int64]:
        """For the elements of a box of the local array."""
        index = np.array(indices, np.int64, order="C")
        index[index < 0] += self.shape[self.d]
        if index.size == 0:
            return index.reshape(-1)
        others = [e for e in range(len(self.shape)) if e != self.d and self.shape[e] > 1]
        index *= self.steps[self.d]
        if self.listed is not None:
            places = np.unravel_index(self.own[box], self.listed)
            for e in others:
                index += (places[e] + self.origin[e]) * self.steps[e]
            return index
        for e in others:
            place = (self.along[e](box[e].start, box[e].stop) + self.origin[e]) * self.steps[e]
            index += place.reshape((-1,) + (1,) * (len(self.shape) - 1 - e))
        return index.reshape(-1)
