# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: local along local axes, else line by line (`line_sorting`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather, exchange
from hocket.computing.combining import added
from hocket.computing.layouts import balanced, even, is_local, one_axis
from hocket.computing.line_sorting import order_of_lines, sort_line, to
from hocket.computing.local_sorting import order_stably, sorted_stably
from hocket.computing.operands import made
from hocket.computing.rounds import elements_of_round, rounds
from hocket.errors import Error, LayoutError
from hocket.layouts import integer
from hocket.redistribution import redistribute


def along(a: Array, axis: int) -> Array:
    """`a` in a layout in which `axis` is local, if there are enough lines; else `a`. Collective."""
    if is_local(a.layout, axis):
        return a
    others = [d for d in range(a.layout.ndim) if d != axis]
    size = a.layout.size
    lines = [d for d in others if a.layout.shape[d] >= size]
    if not lines:
        return a
    return redistribute(a, balanced(a.layout.shape, size, lines[0]))


def by_lines(a: Array, axis: int, function: Any, one: Any, dtype: Any) -> Array:
    """`function` of local lines along `axis`; if these are distributed, `one` for each line."""
    lines = along(a, axis)
    if is_local(lines.layout, axis):
        local = lines.local
        result = (
            function(local)
            if local.ndim == a.layout.ndim and local.size
            else np.empty(local.shape, dtype)
        )
        found = made(result, lines.layout, a.comm)
        return found if lines is a else redistribute(found, a.layout)
    if a.layout.ndim == 1:
        alone: Array = one(a)
        return alone
    from hocket.creation import empty

    result = empty(a.layout, dtype, a.comm)
    rest = [extent for d, extent in enumerate(a.layout.shape) if d != axis]
    for place in np.ndindex(*rest):
        index = (*place[:axis], slice(None), *place[axis:])
        result[index] = one(a.section(index))
    return result


def checked(
    a: Array, axis: Any, order: Any, kind: Any = None, stable: Any = None
) -> tuple[Array, int]:
    """The array, flattened for no axis, and the axis to sort along. Collective."""
    if order is not None:
        raise TypeError("np.sort of distributed arrays takes no order=; make an array of the field")
    from hocket.computing.shapes import flattened

    with collective(a.comm, None):
        if axis is not None:
            one_axis(axis, a.layout.ndim)
        if kind is not None or stable is not None:  # NumPy checks them; every order is stable here
            terms = {} if stable is None else {"stable": stable}
            np.sort(np.empty(0, np.int8), kind=kind, **terms)
    return flattened(a, axis)


def sort(
    a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """`numpy.sort`, stable, in the layout of `a`. Collective."""
    a, at = checked(a, axis, order, kind, stable)
    return by_lines(a, at, lambda x: sorted_stably(x, at), sort_line, a.dtype)


def sort_in_place(a: Array, axis: Any, kind: Any, order: Any, stable: Any) -> None:
    """Implements `Array.sort`. Collective."""
    from hocket.computing.indexing import assign, require_writable

    with collective(a.comm, None):
        one_axis(axis, a.layout.ndim)
        require_writable(a)
    assign(a, sort(a, axis, kind, order, stable=stable))


def argsort(
    a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """`numpy.argsort`, stable. Collective."""
    a, at = checked(a, axis, order, kind, stable)
    return by_lines(
        a,
        at,
        lambda x: order_stably(x, at),
        lambda line: order_of_lines([line]),
        np.dtype(np.intp),
    )


def sort_complex(a: Array) -> Array:
    """`numpy.sort_complex`. Collective."""
    found: Array = sort(a).astype(np.sort_complex(np.empty(0, a.dtype)).dtype)
    return found


def require_places(a: Array, kth: Any, axis: Any, kind: Any) -> None:
    """Raises `Error` on every process for arguments that NumPy refuses. Collective."""
    with collective(a.comm, None):
        at = None if axis is None else one_axis(axis, a.layout.ndim)
        extent = a.size if at is None else a.shape[at]
        places = [integer(each, "kth") for each in np.ravel(kth).tolist()]
        wrong = [each for each in places if not -extent <= each < extent]
        if wrong:
            raise Error(f"kth is {wrong[0]}, outside of {extent} elements; give 0 to {extent - 1}")
        if kind not in (None, "introselect"):
            raise Error(f"kind is {kind!r}; give 'introselect', or leave it out")


def partition(a: Array, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    """`numpy.partition`, with the parts sorted, too. Collective."""
    require_places(a, kth, axis, kind)
    return sort(a, axis, order=order)


def argpartition(a: Array, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    """`numpy.argpartition`, with the parts sorted, too. Collective."""
    require_places(a, kth, axis, kind)
    return argsort(a, axis, order=order)


def lexsort(keys: Any, axis: int = -1) -> Array:
    """`numpy.lexsort` of keys of one dimension, of which the last is the most significant.
    Collective."""
    from hocket.computing.operands import as_arrays

    rows = as_arrays(*keys)
    if any(row.ndim != 1 for row in rows):
        raise TypeError("np.lexsort of distributed arrays takes keys of one dimension; give lines")
    with collective(rows[0].comm, None):
        if len({row.shape for row in rows}) != 1:
            raise LayoutError(f"keys of {' and '.join(str(row.shape) for row in rows)}; give equal")
    layout = rows[0].layout
    return order_of_lines([to(row, layout) for row in reversed(rows)])


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """`numpy.searchsorted` in a sorted array of one dimension. Collective.

    An element's position is the sum over processes of its positions among the elements there.
    """
    from hocket.computing.operands import communicator_of

    arrays = [x for x in (a, v) if isinstance(x, Array)]
    comm = communicator_of(arrays)
    with collective(comm, None):
        if np.ndim(a) != 1 if not isinstance(a, Array) else a.layout.ndim != 1:
            raise LayoutError("np.searchsorted takes a sorted array of one dimension")
        if side not in ("left", "right"):
            raise LayoutError(f"side is {side!r}; give 'left' or 'right'")
    if sorter is not None:
        a = np.take(a, sorter)
    if not isinstance(a, Array):
        return made(np.searchsorted(a, v.local, side), v.layout, comm)
    a = to(a, balanced(a.layout.shape, comm.size))
    if not isinstance(v, Array):
        counts = np.asarray(np.searchsorted(a.local, v, side))
        found = added("np.searchsorted", comm, counts)
        return found if np.ndim(v) else np.intp(found)
    begins = even(a.layout.num_elements, comm.size)
    filled = [r for r in range(comm.size) if begins[r + 1] > begins[r]]
    if not filled:
        return made(np.zeros(v.local.shape, np.intp), v.layout, comm)
    edge = a.local[-1:] if len(a.local) else np.zeros(1, a.dtype)
    lasts = allgather(comm, edge)[filled, 0]
    result = np.empty(v.local.shape, np.intp)
    for box in rounds(v.layout, comm.rank, elements_of_round(128 + 2 * v.dtype.itemsize)):
        wanted = v.local[box].reshape(-1)
        place = np.minimum(np.searchsorted(lasts, wanted, side), len(filled) - 1)
        owners = np.asarray(filled)[place]
        order = np.argsort(owners, kind="stable")
        (asked,), counts = exchange(comm, owners, wanted)
        here = begins[comm.rank] + np.searchsorted(a.local, asked, side)
        (answers,), _ = exchange(comm, np.repeat(np.arange(comm.size), counts), here)
        found = np.empty(len(wanted), np.intp)
        found[order] = answers
        result[box] = found.reshape(result[box].shape)
    return made(result, v.layout, comm)
