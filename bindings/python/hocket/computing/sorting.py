# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: local along local axes, else by samples (Shi, Schaeffer, "Parallel sorting by regular
sampling", 1992), with the element's number as the second key, so that the order is stable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.computing.collecting import allgather, exchange
from hocket.computing.layouts import balanced, even, numbers, one_axis
from hocket.computing.operands import made, without_copies
from hocket.errors import LayoutError
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]


def sample_sort(
    comm: Any, keys: list[AnyArray], *columns: AnyArray
) -> tuple[list[AnyArray], npt.NDArray[np.int64]]:
    """Sorts rows of all processes by `keys`, of which the first is the most significant: each
    process gets a share, one after the other. Collective.

    Returns
    -------
    (columns, counts)
        keys and columns of this process's share; as `exchange`
    """
    size = communicator(comm).size
    order = ordering(keys)
    keys = [key[order] for key in keys]
    columns = tuple(column[order] for column in columns)
    if size == 1:
        return [*keys, *columns], np.asarray([len(order)])
    count = len(order)
    picks = np.minimum(even(count, size)[1:-1], max(0, count - 1)).astype(np.int64)
    samples = []
    for key in keys:
        mine = key[picks] if count else np.zeros(size - 1, key.dtype)
        samples.append(allgather(comm, mine).reshape(-1))
    counts = allgather(comm, np.asarray([count]))[:, 0]
    real = np.repeat(counts > 0, size - 1)
    samples = [sample[real] for sample in samples]
    to = np.zeros(count, np.int64)
    if real.any():
        by_key = np.lexsort(samples[::-1])
        at = np.minimum(even(len(by_key), size)[1:-1], len(by_key) - 1)
        begins = [place_of(keys, [sample[by_key[k]] for sample in samples]) for k in at]
        to = np.repeat(np.arange(size), np.diff([0, *begins, count]))
    found, came = exchange(comm, to, *keys, *columns)
    order = ordering(found[: len(keys)])
    return [column[order] for column in found], came


def ordering(keys: list[AnyArray]) -> npt.NDArray[np.intp]:
    """The order of rows by their keys. A second key that increases only keeps it stable."""
    if len(keys) == 1 or (len(keys) == 2 and bool((keys[1][1:] > keys[1][:-1]).all())):
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])


def place_of(keys: list[AnyArray], splitter: list[Any]) -> int:
    """The number of rows, which are sorted, before the splitter."""
    first, last = 0, len(keys[0])
    for key, value in zip(keys, splitter):
        part = key[first:last]
        begin = first
        first = begin + int(np.searchsorted(part, value, "left"))
        last = begin + int(np.searchsorted(part, value, "right"))
    return first


def spread(comm: Any, local: AnyArray, layout: Layout) -> Array:
    """Rows of each process, one process after the other, as an array of `layout`. Collective."""
    counts = allgather(comm, np.asarray([len(local)]))[:, 0]
    source = Layout((int(counts.sum()),), [gen_block(counts)], comm.size)
    return redistribute(made(local, source, comm), layout)


def is_local(layout: Layout, axis: int) -> bool:
    """Whether every process has whole lines along `axis`."""
    from hocket.computing.layouts import is_grid, parts_along

    return is_grid(layout) and (layout.num_elements == 0 or len(parts_along(layout, axis)) == 1)


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
            function(local) if local.ndim == a.layout.ndim and local.size else local.astype(dtype)
        )
        found = made(result, lines.layout, a.comm)
        return found if lines is a else redistribute(found, a.layout)
    from hocket.creation import empty

    result = empty(a.layout, dtype, a.comm)
    rest = [extent for d, extent in enumerate(a.layout.shape) if d != axis]
    for place in np.ndindex(*rest):
        index = (*place[:axis], slice(None), *place[axis:])
        result[index] = one(a.section(index))
    return result


def checked(a: Array, axis: Any, order: Any) -> tuple[Array, int]:
    """The array, flattened for no axis, and the axis to sort along. Collective."""
    if order is not None:
        raise TypeError("np.sort of distributed arrays takes no order=; make an array of the field")
    from hocket.computing.shapes import flattened

    with collective(a.comm, None):
        if axis is not None:
            one_axis(axis, a.layout.ndim)
    return flattened(a, axis)


def sort(
    a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """`numpy.sort`, stable, in the layout of `a`. Collective."""
    a, at = checked(a, axis, order)
    return by_lines(
        a, at, lambda x: np.sort(x, at, kind="stable"), lambda line: sort_line(line)[0], a.dtype
    )


def sort_in_place(a: Array, axis: Any, kind: Any, order: Any, stable: Any) -> None:
    """Implements `Array.sort`. Collective."""
    from hocket.computing.indexing import assign, require_writable

    with collective(a.comm, None):
        one_axis(axis, a.layout.ndim)
        require_writable(a)
    assign(a, np.sort(a, axis, kind=kind, order=order))


def argsort(
    a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """`numpy.argsort`, stable. Collective."""
    a, at = checked(a, axis, order)
    return by_lines(
        a,
        at,
        lambda x: np.argsort(x, at, kind="stable"),
        lambda line: sort_line(line)[1],
        np.dtype(np.intp),
    )


def sort_line(a: Array) -> tuple[Array, Array]:
    """The sorted elements of one dimension, and their indices. Collective."""
    layout = a.layout
    a = without_copies(a)
    rank = a._rank_and_size[0]
    mine = numbers(a.layout, rank).reshape(-1)
    (values, places), _ = sample_sort(a.comm, [a.local.reshape(-1), mine])
    return spread(a.comm, values, layout), spread(a.comm, places.astype(np.intp), layout)


def sort_complex(a: Array) -> Array:
    """`numpy.sort_complex`. Collective."""
    found: Array = sort(a).astype(np.sort_complex(np.empty(0, a.dtype)).dtype)
    return found


def partition(a: Array, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    """`numpy.partition`, with the parts sorted, too. Collective."""
    return sort(a, axis, order=order)


def argpartition(a: Array, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    """`numpy.argpartition`, with the parts sorted, too. Collective."""
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
    first = without_copies(rows[0])
    mine = [row if row.layout == first.layout else redistribute(row, first.layout) for row in rows]
    places = numbers(first.layout, first._rank_and_size[0]).reshape(-1)
    found, _ = sample_sort(first.comm, [*(row.local for row in reversed(mine)), places])
    return spread(first.comm, found[-1].astype(np.intp), layout)


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
    a = redistribute(a, balanced(a.layout.shape, comm.size))
    if not isinstance(v, Array):
        counts = np.asarray(np.searchsorted(a.local, v, side))
        found = allgather(comm, counts).sum(axis=0).reshape(np.shape(v))
        return found if np.ndim(v) else np.intp(found)
    begins = even(a.layout.num_elements, comm.size)
    filled = [r for r in range(comm.size) if begins[r + 1] > begins[r]]
    if not filled:
        return made(np.zeros(v.local.shape, np.intp), v.layout, comm)
    edge = a.local[-1:] if len(a.local) else np.zeros(1, a.dtype)
    lasts = allgather(comm, edge)[filled, 0]
    wanted = v.local.reshape(-1)
    to = np.asarray(filled)[np.minimum(np.searchsorted(lasts, wanted, side), len(filled) - 1)]
    order = np.argsort(to, kind="stable")
    (asked,), counts = exchange(comm, to, wanted)
    here = begins[comm.rank] + np.searchsorted(a.local, asked, side)
    (answers,), _ = exchange(comm, np.repeat(np.arange(comm.size), counts), here)
    result = np.empty(len(wanted), np.intp)
    result[order] = answers
    return made(result, v.layout, comm)
