# SPDX-License-Identifier: BSD-3-Clause
"""Sorting of distributed lines, which have one dimension. Each process sorts its elements; hocket
divides them at exact places, so that each moves once. The order is stable where processes hold runs
of the line one after the other, because equal elements keep the order of their processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.computing.collecting import allgather
from hocket.computing.dividing import Column, InOrder, Numbers, divide, shares_of, source_of
from hocket.computing.layouts import balanced, kept
from hocket.computing.local_sorting import all_alike, order_stably, sort_alike, sorted_stably
from hocket.computing.merging import merged
from hocket.computing.operands import without_copies
from hocket.creation import empty, empty_as
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]


@kept
def counts_of(layout: Layout) -> tuple[int, ...]:
    """The number of elements of each process."""
    return tuple(layout.local_elements(rank) for rank in range(layout.size))


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


def runs_like(layout: Layout) -> Layout:
    """`layout`, or even parts if it is not in the order of the processes."""
    return layout if in_rank_order(layout) else balanced(layout.shape, layout.size)


def to(a: Array, layout: Layout) -> Array:
    """`a` in a layout; `a` itself if it has this layout. Collective."""
    return a if a.layout == layout else redistribute(a, layout)


def rows_of(a: Array) -> Numbers:
    """The number of elements of each process of the communicator."""
    counts = np.zeros(a._rank_and_size[1], np.int64)
    counts[: a.layout.size] = counts_of(a.layout)
    return counts


def sorted_alike(a: Array) -> Optional[Array]:
    """Each process's elements, sorted in new memory, of an array without copies; None if equal
    elements differ (`all_alike`). Collective."""
    if not (a.dtype.kind in "biuf" and a.dtype.itemsize <= 8 and a.dtype.isnative):
        return None
    found = empty_as(a, a.dtype)  # peers read its memory
    found._local[...] = a.local
    local = found._local.reshape(-1)
    sort_alike(local)
    return found if allgather(a.comm, np.asarray([all_alike(local)])).all() else None


def sort_line(a: Array) -> Array:
    """The sorted elements of one dimension. Collective."""
    layout, target = a.layout, runs_like(a.layout)
    a = without_copies(a)
    sources = sorted_alike(a)
    alike = sources is not None
    if sources is None:
        a = to(a, target)
        sources = empty_as(a, a.dtype)
        sources._local[...] = sorted_stably(a.local)
    if a.size == 0:
        return empty_as(a, a.dtype, layout)
    counts, ends = rows_of(sources), np.cumsum(counts_of(target))
    shares = shares_of(counts, divide(a.comm, [sources._local.reshape(-1)], counts, ends[:-1]))
    result = redistribute(sources._remapped(source_of(shares)), target)
    del sources
    if alike:
        sort_alike(result._local, runs=int((shares > 0).sum(axis=0).max()))
    else:
        result._local[...] = sorted_stably(result._local)
    return to(result, layout)


def order_of_lines(lines: Sequence[Array]) -> Array:
    """The indices that sort lines of one layout together, the first as the most significant.
    Collective."""
    layout = lines[0].layout
    target = runs_like(layout)
    return to(order_of_runs([to(line, target) for line in lines]), layout)


def order_of_runs(lines: Sequence[Array]) -> Array:
    """`order_of_lines` of a layout in the order of the processes. Collective."""
    target = lines[0].layout
    rank, comm = lines[0]._rank_and_size[0], lines[0].comm
    local = [line.local.reshape(-1) for line in lines]
    order = order_stably(local[0]) if len(local) == 1 else np.lexsort(local[::-1])
    keys: list[Column] = [InOrder(column, order) for column in local]
    counts = rows_of(lines[0])
    before = int(counts[:rank].sum())

    def take(rows: Numbers) -> list[AnyArray]:
        here = order[rows]
        return [*(column[here] for column in local), here + before]

    result, first = empty(target, np.intp, comm), 0
    for *_, numbers in merged(comm, keys, take, counts, np.cumsum(counts_of(target))):
        result._local[first : first + len(numbers)] = numbers
        first += len(numbers)
    return result


class SortedElements:
    """The sorted elements of an array, which processes know by their places; they do not move."""

    ndim = 1

    def __init__(self, a: Array, parts: Array) -> None:
        self.shape, self.comm, self.counts = (a.size,), a.comm, rows_of(a)
        self.local = parts._local.reshape(-1)
        self.found: dict[int, AnyArray] = {}

    def find(self, places: Iterable[int]) -> None:
        """Brings the elements at these places to every process. Collective."""
        missing = sorted(set(places) - set(self.found))
        if not missing:
            return
        cuts = divide(self.comm, [self.local], self.counts, missing)
        here = cuts[self.comm.rank]
        mine = np.zeros(len(missing), self.local.dtype)
        mine[here < len(self.local)] = self.local[here[here < len(self.local)]]
        rows = allgather(self.comm, mine)
        for k, place in enumerate(missing):
            self.found[place] = np.sort(rows[cuts[:, k] < self.counts, k])[:1]

    def __getitem__(self, index: Any) -> AnyArray:
        """The element at ``(..., slice(place, place + 1))``, on every process. Collective."""
        place = index[-1].start
        self.find([place])
        return self.found[place]
