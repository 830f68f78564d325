# SPDX-License-Identifier: BSD-3-Clause
"""Sorting of numbers of one dimension: hocket divides them at exact places, so that each moves
once."""

from __future__ import annotations

from typing import Optional

import numpy as np

from hocket.arrays import Array
from hocket.computing.collecting import allgather
from hocket.computing.dividing import divide, sources_of
from hocket.computing.layouts import balanced, kept
from hocket.computing.local_sorting import all_alike, sort_alike
from hocket.creation import empty_as
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute


@kept
def counts_of(layout: Layout) -> tuple[int, ...]:
    """The number of elements of each process."""
    return tuple(layout.local_elements(rank) for rank in range(layout.size))


def sort_numbers(a: Array, layout: Layout) -> Optional[Array]:
    """The sorted elements of `a`, which has no copies, as an array of `layout`. None if equal ones
    differ (`all_alike`). Collective."""
    if not (a.dtype.kind in "biuf" and a.dtype.itemsize <= 8 and a.dtype.isnative):
        return None
    comm, sources = a.comm, empty_as(a, a.dtype)  # peers read its memory
    local = sources._local.reshape(-1)
    local[...] = a.local.reshape(-1)
    sort_alike(local)
    counts, alike = allgather(comm, np.asarray([len(local), all_alike(local)])).T
    if not alike.all() or counts.sum() != layout.shape[0]:
        return None
    if counts.sum() == 0:
        return empty_as(a, a.dtype, layout)
    target = layout if in_rank_order(layout) else balanced(layout.shape, layout.size)
    cuts = divide(comm, [local], counts, np.cumsum(counts_of(target))[:-1])
    source, shares = sources_of(counts, cuts)
    result = redistribute(sources._remapped(source), target)
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
