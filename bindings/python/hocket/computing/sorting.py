# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: local along local axes. Else hocket divides numbers at exact places, so that each moves
once, and other elements by samples (Shi, Schaeffer, "Parallel sorting by regular sampling", 1992),
with the element's number as the second key, so that the order is stable."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.computing.collecting import allgather, exchange
from hocket.computing.layouts import balanced, even, is_local, kept, numbers, one_axis
from hocket.computing.local_sorting import (
    all_alike,
    from_keys,
    order_stably,
    sort_alike,
    sorted_stably,
    to_keys,
)
from hocket.computing.operands import made, without_copies
from hocket.creation import empty_as
from hocket.errors import Error, LayoutError
from hocket.formats import gen_block
from hocket.layouts import Layout, integer
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]

#: bytes of numbers that every process sorts, rather than some of all
FEW = 2048


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
    """The order of rows by their keys."""
    first, *others = keys
    if not others or (len(others) == 1 and bool((others[0][1:] > others[0][:-1]).all())):
        return order_stably(first)  # a second key that increases only
    if len(others) == 1 and first.dtype.kind in "biuf":
        order = np.argsort(first, kind="stable")  # merges the runs that came from each process
        value, second = first[order], others[0][order]
        if (value[1:] > value[:-1])[second[1:] < second[:-1]].all():
            return order
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
    (values, _), _ = sample_sort(a.comm, [a.local.reshape(-1), mine])
    return spread(a.comm, values, layout)


def argsort_line(a: Array) -> Array:
    """The indices that sort the elements of one dimension. Collective."""
    layout = a.layout
    a = without_copies(a)
    mine = numbers(a.layout, a._rank_and_size[0]).reshape(-1)
    (_, places), _ = sample_sort(a.comm, [a.local.reshape(-1), mine])
    return spread(a.comm, places.astype(np.intp, copy=False), layout)


@kept
def counts_of(layout: Layout) -> tuple[int, ...]:
    """The number of elements of each process."""
    return tuple(layout.local_elements(rank) for rank in range(layout.size))


def sort_few(a: Array, layout: Layout) -> Optional[Array]:
    """`sort_numbers` on every process, of all numbers: few take less time than their ways.
    Collective."""
    counts = counts_of(a.layout)
    rows = np.zeros(1, [("alike", np.bool_), ("values", a.dtype, max(counts))])
    local = np.sort(a.local.reshape(-1))
    rows["values"][0, : len(local)] = local
    rows["alike"] = all_alike(local)
    found = allgather(a.comm, rows, "a sort")[:, 0]
    if not found["alike"].all():
        return None
    everything = np.concatenate([row[:count] for row, count in zip(found["values"], counts)])
    sort_alike(everything)
    result = empty_as(a, a.dtype, layout)
    result._local[...] = everything[numbers(layout, a._rank_and_size[0])]
    return result


def sort_numbers(a: Array, layout: Layout) -> Optional[Array]:
    """The sorted elements of `a`, which has no copies, as an array of `layout`. None if equal ones
    differ (`all_alike`). Collective."""
    if not (a.dtype.kind in "biuf" and a.dtype.itemsize <= 8 and a.dtype.isnative):
        return None
    counts_here = counts_of(a.layout)
    if sum(counts_here) == layout.shape[0] and 0 < max(counts_here) <= FEW // (
        a.dtype.itemsize * a._rank_and_size[1]
    ):
        return sort_few(a, layout)
    comm, sources = a.comm, empty_as(a, a.dtype)  # peers read its memory
    local = sources._local.reshape(-1)
    local[...] = a.local.reshape(-1)
    sort_alike(local)
    ends = to_keys(local[[0, -1]]) if len(local) else np.zeros(2, np.uint64)
    row = np.asarray([len(local), *ends, all_alike(local)], np.uint64)
    all_rows = allgather(comm, row)
    counts = all_rows[:, 0].astype(np.int64)
    if not all_rows[:, 3].all() or counts.sum() != layout.shape[0]:
        return None
    if counts.sum() == 0:
        return empty_as(a, a.dtype, layout)
    target = layout if in_rank_order(layout) else balanced(layout.shape, layout.size)
    begins = np.cumsum([0, *(target.local_elements(rank) for rank in range(target.size))])
    filled = all_rows[counts > 0]
    cuts = divide(comm, local, begins[1:-1], filled[:, 1].min(), filled[:, 2].max())
    cuts = np.column_stack([np.zeros(len(counts), np.int64), cuts, counts])
    shares = np.diff(cuts)  # elements of each process for each part of the target
    firsts = begins[:-1] + np.cumsum(shares, axis=0) - shares
    runs = [
        [(int(first), int(share)) for first, share in zip(*rows) if share]
        for rows in zip(firsts, shares)
    ]
    result = redistribute(sources._remapped(Layout.indexed(layout.shape, runs)), target)
    sort_alike(result._local, runs=int((shares > 0).sum(axis=0).max()))
    return result if target is layout else redistribute(result, layout)


@kept
def in_rank_order(layout: Layout) -> bool:
    """Whether each process holds one run, after those of the processes before it."""
    counts = [layout.local_elements(rank) for rank in range(layout.size)]
    begins = np.cumsum([0, *counts]).tolist()
    if begins[-1] != layout.shape[0]:
        return False
    runs = [[(first, count)] if count else [] for first, count in zip(begins, counts)]
    return layout == Layout.indexed(layout.shape, runs) or (
        layout == Layout(layout.shape, [gen_block(counts)], layout.size)
    )


def divide(
    comm: Any, local: AnyArray, wanted: npt.NDArray[np.int64], least: Any, most: Any
) -> npt.NDArray[np.int64]:
    """For each process (a row) and each of `wanted`: how many of its sorted elements belong to the
    first `wanted` of all. Of equal elements, those of lower processes come first. Collective.

    Narrows an interval of keys for each of `wanted`, by the numbers of elements before equally
    spaced keys. `least` and `most`: the first and the last key of all processes.
    """
    count = len(wanted)
    if count == 0:
        return np.empty((communicator(comm).size, 0), np.int64)
    # Invariant: the greatest key with at most `wanted` elements before it is in [low, high],
    # because none is before `least`.
    low, high = np.full(count, least, np.uint64), np.full(count, most, np.uint64)
    parts = min(256, max(2, (1 << 16) // (count * communicator(comm).size)))
    numbered, each = np.arange(1, parts + 1, dtype=np.uint64), np.arange(count)
    while (low < high).any():
        steps = np.maximum((high - low) // np.uint64(parts), 1)[:, None]
        keys = low[:, None] + np.minimum(steps * numbered, (high - low)[:, None])
        keys[:, -1] = high
        before = np.searchsorted(local, from_keys(keys, local.dtype).reshape(-1))
        total = allgather(comm, before).sum(axis=0).reshape(keys.shape)
        fits = (total <= wanted[:, None]).sum(axis=1)  # keys increase, and so do their numbers
        found = (fits > 0) & (total[each, np.maximum(fits, 1) - 1] == wanted)
        last = np.where(fits > 0, keys[each, np.maximum(fits, 1) - 1], low)
        following = keys[each, np.minimum(fits, parts - 1)] - np.uint64(1)
        low, high = last, np.where(found | (fits == parts), last, np.maximum(following, last))
    values = from_keys(low, local.dtype)
    sides = [np.searchsorted(local, values, side) for side in ("left", "right")]
    both = allgather(comm, np.asarray(sides))
    before, equal = both[:, 0], both[:, 1] - both[:, 0]
    of_equal = wanted - before.sum(axis=0) - (np.cumsum(equal, axis=0) - equal)
    return before + np.clip(of_equal, 0, equal)  # type: ignore[no-any-return]


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
