# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: local along local axes. Else each process sorts an even share. Numbers move once if no
program can tell equal ones apart (`number_sorting`); others move with the element's number as the
second key, so that the order is stable."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather, exchange
from hocket.computing.combining import added
from hocket.computing.dividing import divide, sources_of
from hocket.computing.layouts import balanced, even, is_local, numbers, one_axis
from hocket.computing.local_sorting import order_stably, sorted_stably
from hocket.computing.number_sorting import counts_of, in_rank_order, sort_numbers
from hocket.computing.operands import made, without_copies
from hocket.creation import empty
from hocket.errors import Error, LayoutError
from hocket.formats import gen_block
from hocket.layouts import Layout, integer
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]


def sort_rows(
    comm: Any,
    keys: list[AnyArray],
    *columns: AnyArray,
    counts: npt.NDArray[np.int64],
    target: Optional[Layout] = None,
) -> list[AnyArray]:
    """Sorts rows of all processes by `keys`, of which the first is the most significant. `counts`:
    the rows of each process. Each gets its share in `target`, whose processes have one run each, in
    their order; without it about as many as others, and equal rows go to one process. Returns keys
    and columns of this process's share. Collective."""
    size = _mpi.rank_and_size(comm.handle)[1]
    rows = in_order([*keys, *columns], len(keys))
    total = int(counts.sum())
    if size == 1 or total == 0:
        return rows
    ends = even(total, size)[1:] if target is None else np.cumsum(counts_of(target))
    cuts = divide(comm, rows[: len(keys)], counts, ends[:-1], target is None)
    source, sent = sources_of(counts, cuts)
    names = [f"f{k}" for k in range(len(rows))]
    kind = np.dtype([(name, row.dtype) for name, row in zip(names, rows)])
    records = empty(source, f"V{kind.itemsize}", comm)  # peers read its memory
    for name, row in zip(names, rows):
        records._local.view(kind)[name] = row
    del row, rows
    if target is None:
        target = Layout((total,), [gen_block(sent.sum(axis=0))], size)
    came = redistribute(records, target)._local.view(kind)
    del records
    first = names[: len(keys)]
    return in_order(
        [np.ascontiguousarray(came[n]) if n in first else came[n] for n in names], len(first)
    )


def sort_lines(a: Array, keys: list[AnyArray], column: int, layout: Layout) -> Array:
    """Sorts `keys` of the elements of `a`, which has one dimension and no copies, as `sort_rows`:
    a column of them, as an array of `layout`. Collective."""
    counts = np.zeros(a._rank_and_size[1], np.int64)
    counts[: a.layout.size] = counts_of(a.layout)
    target = layout if in_rank_order(layout) else balanced(layout.shape, layout.size)
    found = sort_rows(a.comm, keys, counts=counts, target=target)[column]
    result = made(found, target, a.comm)
    return result if target is layout else redistribute(result, layout)


def in_order(rows: list[AnyArray], keys: int) -> list[AnyArray]:
    """The columns of rows, sorted by the first `keys` of them."""
    first, *others = rows[:keys]
    if not others or (keys == 2 and bool((others[0][1:] > others[0][:-1]).all())):
        order = order_stably(first)  # a second key that increases only
    elif keys == 2 and first.dtype.kind in "biuf":
        order = np.argsort(first, kind="stable")  # merges the runs that came from each process
        found = [column[order] for column in rows]
        value, second = found[:2]
        if not (~(value[1:] > value[:-1]) & (second[1:] < second[:-1])).any():
            return found
        order = np.lexsort(rows[keys - 1 :: -1])
    else:
        order = np.lexsort(rows[keys - 1 :: -1])
    return [column[order] for column in rows]


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
        argsort_line,
        np.dtype(np.intp),
    )


def sort_line(a: Array) -> Array:
    """The sorted elements of one dimension. Collective."""
    layout = a.layout
    a = without_copies(a)
    found = sort_numbers(a, layout)
    if found is not None:
        return found
    mine = numbers(a.layout, a._rank_and_size[0]).reshape(-1)
    return sort_lines(a, [a.local.reshape(-1), mine], 0, layout)


def argsort_line(a: Array) -> Array:
    """The indices that sort the elements of one dimension. Collective."""
    layout = a.layout
    a = without_copies(a)
    mine = numbers(a.layout, a._rank_and_size[0]).reshape(-1)
    return sort_lines(a, [a.local.reshape(-1), mine], 1, layout)


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
    first = without_copies(rows[0])
    mine = [row if row.layout == first.layout else redistribute(row, first.layout) for row in rows]
    places = numbers(first.layout, first._rank_and_size[0]).reshape(-1)
    return sort_lines(first, [*(row.local for row in reversed(mine)), places], -1, layout)


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
        found = added("np.searchsorted", comm, counts)
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
