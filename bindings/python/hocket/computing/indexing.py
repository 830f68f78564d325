# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes parts of an array by NumPy's basic index, which is a section of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.layouts import aligned_with, replicated_layout
from hocket.computing.methods.base import importing
from hocket.computing.operands import bring, broadcast_shape, check_alike, shape_of
from hocket.errors import Error, LayoutError
from hocket.redistribution import redistribute, wire_type


def is_basic(items: tuple[Any, ...]) -> bool:
    """Integers, slices, ``...`` and None only."""
    return all(
        item is None or item is Ellipsis or isinstance(item, slice) or is_integer(item)
        for item in items
    )


def is_integer(item: Any) -> bool:
    """NumPy's integers, too; booleans are masks."""
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


def get(a: Array, index: Any) -> Any:
    """``a[index]``: a section, an element, or the elements that masks and lists of integers
    select; of a name, that field of all elements."""
    if isinstance(index, str):
        return field(a, index)
    items = index if isinstance(index, tuple) else (index,)
    if not is_basic(items):
        return importing("by_index").chosen(a, items)
    with collective(a.comm, None):
        part = a.section(tuple(item for item in items if item is not None))
    if part.layout.shape == () and Ellipsis not in items and len(items) == a.layout.ndim:
        return element(part)
    return expanded(part, items)


def field(a: Array, name: str) -> Array:
    """``a[name]`` of structured elements: the same memory."""
    with collective(a.comm, None):
        if name not in (a.dtype.names or ()) or a.dtype[name].shape:
            raise LayoutError(f"{a.dtype} has no field {name!r} of one element each")
    found = Array(a._current()[name], a.layout, a.comm)
    if a._home is not None:  # a view of a copy
        found._home = (a, found._local, ...)
    return found


def expanded(part: Array, items: tuple[Any, ...]) -> Array:
    """A dimension of extent 1 for each None. It has the memory of `part`."""
    if all(item is not None for item in items):
        return part
    expand_dims = importing("shapes").expand_dims
    place = 0
    for number, item in enumerate(items):
        if item is None:
            part = expand_dims(part, place)
            place += 1
        elif item is Ellipsis:
            rest = items[number + 1 :]
            place = part.layout.ndim - sum(isinstance(x, slice) for x in rest)
        elif isinstance(item, slice):
            place += 1
    return part


def element(part: Array) -> Any:
    """The one element, as a NumPy scalar, on every process. Collective."""
    shape = part.layout.shape
    if part._rank_and_size[1] == 1 and part.local.size:
        return part.local.reshape(())[()]
    found = redistribute(part, replicated_layout(shape, part._rank_and_size[1]))
    return found.local.reshape(())[()]


def item(a: Array, index: tuple[Any, ...]) -> Any:
    """Implements `Array.item`."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    with collective(a.comm, None):
        if not index and a.layout.num_elements != 1:
            raise LayoutError(
                f"an array of shape {a.layout.shape} is no single element; give an index, or use "
                "any() or all()"
            )
        if len(index) == 1 and a.layout.ndim != 1:
            place = index[0] + a.size if -a.size <= index[0] < 0 else index[0]
            index = tuple(int(each) for each in np.unravel_index(place, a.layout.shape))
        if index and len(index) != a.layout.ndim:
            raise LayoutError(f"{len(index)} indices for shape {a.layout.shape}")
        part = a.section(index) if index else a
    return element(part).item()


def fill(a: Array, value: Any) -> None:
    """Implements `Array.fill`."""
    if np.ndim(value) != 0 or isinstance(value, Array):
        raise Error(f"value has shape {shape_of(value)}; give a scalar, or assign to a[...]")
    require_writable(a)
    a._local[...] = as_value(value, a.dtype)
    a._settle()


def require_writable(a: Array) -> None:
    """Raises `Error` for read-only memory."""
    if not a._local.flags.writeable:
        raise Error("the array is read-only; assign to one that may be written")


def as_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """An array as it is; Python's numbers and lists as elements of `dtype`.

    Raises
    ------
    Error
        for numbers that the type cannot hold, as NumPy does: 300 as uint8, 1j as float64.
    """
    if isinstance(value, Array) or (
        isinstance(value, np.ndarray) and value.dtype.kind not in "OSU"
    ):
        return value
    one = isinstance(value, tuple) and dtype.names is not None
    try:
        found = np.empty(() if one else np.shape(value), dtype)
        found[...] = value
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{value!r:.80} is no {dtype}: {error}") from None
    return found


def put(a: Array, index: Any, value: Any) -> None:
    """``a[index] = value``."""
    if isinstance(index, str):
        assign(field(a, index), value)
        return
    items = index if isinstance(index, tuple) else (index,)
    if not is_basic(items):
        importing("by_index").assign_chosen(a, items, value)
        return
    with collective(a.comm, None):
        part = a.section(tuple(each for each in items if each is not None))
    assign(expanded(part, items), value)


def assign(part: Array, value: Any) -> None:
    """Writes `value`, broadcast, to all of `part`. Collective if `value` is on other processes."""
    with collective(part.comm, None):
        require_writable(part)
        value = as_value(value, part.dtype)
        while value.ndim > part.layout.ndim and value.shape[0] == 1:
            value = value.section((0, ...)) if isinstance(value, Array) else value[0]
        if not isinstance(value, Array):
            pass
        elif value.comm is not part.comm and value.comm != part.comm:
            raise Error("the array and the value are over different communicators")
        shape = shape_of(value)
        if shape != part.layout.shape and broadcast_shape([value, part]) != part.layout.shape:
            raise LayoutError(f"a value of shape {shape} does not fit {part.layout.shape}")
        if not np.can_cast(value.dtype, part.dtype, "unsafe"):
            raise Error(f"{value.dtype} does not convert to {part.dtype}")
    check_alike([value], part.comm)
    if isinstance(value, Array):
        needed = aligned_with(shape, part.layout)
        if value.layout != needed:
            # One process may find shared memory where another one does not; their calls agree,
            # because both move elements of this type: the shorter, as those of `redistribute`.
            value = value.astype(wire_type(value.dtype, part.dtype), copy=False)
            if shape == part.layout.shape and not np.may_share_memory(value._local, part._local):
                other = None if value.dtype == part.dtype else part.dtype
                redistribute(value, needed, dtype=other, out=part)
                return
    part._local[...] = bring(value, part.layout, part._rank_and_size[0], part.comm)
    part._settle()
