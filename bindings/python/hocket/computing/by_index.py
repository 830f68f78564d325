# SPDX-License-Identifier: BSD-3-Clause
"""Masks and arrays of integers as an index: each element's owner reads and writes it."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.elementwise import result_types
from hocket.computing.fetching import (
    apart,
    elements_of_store,
    fetch,
    settle_copies,
    store,
)
from hocket.computing.indexing import as_value, element, is_basic
from hocket.computing.layouts import Shape, aligned, numbers
from hocket.computing.masks import assign_masked, compress
from hocket.computing.operands import (
    bring,
    broadcast_shape,
    check_alike,
    made,
    without_copies,
)
from hocket.computing.rounds import section_for, slabs
from hocket.computing.selection import Selection
from hocket.computing.shapes import expand_dims
from hocket.creation import empty
from hocket.errors import Error, LayoutError, MismatchError
from hocket.layouts import Layout


def is_mask(item: Any) -> bool:
    return (
        item.dtype if isinstance(item, (Array, np.ndarray)) else np.asarray(item).dtype
    ).kind == "b"


def without_masks(a: Array, items: tuple[Any, ...]) -> tuple[Array, Any, tuple[Any, ...]]:
    """The mask, if the index is one of the array's shape; else None, and the items, with arrays of
    integers for masks of some dimensions. The array has a dimension of extent 1 for each None, for
    which a slice stands. Collective."""
    with collective(a.comm, None):
        shape = a.layout.shape
        items = tuple(
            item
            if isinstance(item, (slice, Array)) or item is Ellipsis or item is None
            else np.asarray(item)
            for item in items
        )
        found: list[tuple[int, Any]] = []  # masks, and their places among the items
        dimensions = sum(
            item.ndim if is_array(item) and is_mask(item) else 1
            for item in items
            if item is not None and item is not Ellipsis
        )
        d = 0
        for place, item in enumerate(items):
            if item is Ellipsis:
                d += len(shape) - dimensions
            elif is_array(item) and is_mask(item):
                found.append((place, item))
                if item.shape != shape[d : d + item.ndim] or (item.ndim == 0 and shape):
                    raise LayoutError(
                        f"the mask has shape {item.shape}, but the array {shape}; give a mask of "
                        "the shape of the dimensions that it stands for"
                    )
                d += item.ndim
            elif item is not None:
                d += 1
        if len(found) == 1 == len(items) and found[0][1].ndim == len(shape):
            return a, found[0][1], items
    for place, mask in reversed(found):
        chosen = np.nonzero(mask)
        items = (*items[:place], *chosen, *items[place + 1 :])
    dots = next((place for place, item in enumerate(items) if item is Ellipsis), len(items))
    rest = len(shape) - sum(item is not None and item is not Ellipsis for item in items)
    for place, item in enumerate(items):
        if item is None:
            a = expand_dims(a, place if place < dots else place - 1 + rest)
    return a, None, tuple(slice(None) if item is None else item for item in items)


def is_array(item: Any) -> bool:
    return isinstance(item, (Array, np.ndarray))


def chosen(a: Array, items: tuple[Any, ...]) -> Any:
    """``a[mask]`` and ``a[rows, columns]``. Collective."""
    a, mask, items = without_masks(a, items)
    with collective(a.comm, None):
        plan = None if mask is not None else Selection(a, items)
    if mask is not None:
        check_alike([mask], a.comm)
        return compress(mask, a)
    assert plan is not None
    check_alike([index for index in plan.arrays if isinstance(index, np.ndarray)], a.comm)
    rows = without_copies(plan.rows)
    if plan.in_one_round():  # whose elements are the result
        found = fetch(rows, plan.numbers(plan.row_layout))
    else:
        found = empty(plan.row_layout, rows.dtype, a.comm)._local
        for box, wanted in plan.rounds():
            shape = [part.stop - part.start for part in box]
            found[box] = fetch(rows, wanted).reshape(shape)
    result = made(found.view(a.dtype), plan.layout, a.comm)
    if plan.shape == () and not any(item is Ellipsis for item in items):
        return element(result)  # as of NumPy's integers
    return result


def assign_chosen(
    a: Array, items: tuple[Any, ...], value: Any, combine: Optional[np.ufunc] = None
) -> None:
    """``a[mask] = value`` and ``a[rows, columns] = value``. Collective."""
    a, mask, items = without_masks(a, items)
    with collective(a.comm, None):
        if not a._local.flags.writeable:
            raise Error("the array is read-only; assign to one that may be written")
        plan = None if mask is not None else Selection(a, items, combine is None)
        value = as_value(value, a.dtype)
        if (
            plan is not None
            and broadcast_shape([value, np.broadcast_to(0, plan.shape)]) != plan.shape
        ):
            raise LayoutError(f"a value of shape {value.shape} does not fit {plan.shape}")
    rank = a._rank_and_size[0]
    if mask is not None:
        assign_masked(a, mask, value if combine is None else combine(compress(mask, a), value))
        return
    assert plan is not None
    with collective(a.comm, None):  # text of one process may be no number
        value = value.astype(a.dtype) if value.dtype.kind in "OSU" else value
    size, most = a._rank_and_size[1], elements_of_store(plan.rows.dtype)
    if plan.row_layout.num_elements > most * size:
        value, *plan.parts = (apart(x, a) for x in (value, *plan.parts))
    alone = without_copies(plan.rows)
    for box, part in slabs(plan.row_layout, size, most):
        whole = plan.shape[len(box) :]
        layout = plan.layout if part is plan.row_layout else with_whole(part, whole)
        given = bring(
            section_for(value, (*box, *(slice(0, n) for n in whole))), layout, rank, a.comm
        )
        values = np.ascontiguousarray(np.broadcast_to(given, local_shape(layout, a.comm)), a.dtype)
        order = numbers(part, rank).reshape(-1)
        wanted = plan.numbers(part, box)
        store(alone, wanted, values.reshape(-1).view(plan.rows.dtype), order, combine)
    settle_copies(plan.rows, alone)
    plan.settle()


def with_whole(layout: Layout, extents: Shape) -> Layout:
    """The layout with further dimensions at the end, which are not distributed."""
    if not extents:
        return layout
    names = [f"i{d}" for d in range(layout.ndim)]
    return aligned((*layout.shape, *extents), [*names, *["*"] * len(extents)], names, layout)


def combine_at(ufunc: np.ufunc, a: Array, index: Any, value: Any) -> None:
    """``ufunc.at(a, index, value)``: once for each time that the index names an element.
    Collective."""
    items = index if isinstance(index, tuple) else (index,)
    with collective(a.comm, None):
        value = np.asarray(value) if isinstance(value, (list, tuple)) else value
        (dtype,) = result_types(ufunc, [a, value], {})
        if not np.can_cast(dtype, a.dtype, "same_kind"):
            raise MismatchError(f"the result is {dtype}, which the array, {a.dtype}, does not take")
    if is_basic(items):
        a[index] = ufunc(a[index], value)
    else:
        assign_chosen(a, items, value, ufunc)
