# SPDX-License-Identifier: BSD-3-Clause
"""Masks of an array's shape as an index. A mask chooses elements in row-major order. If the parts
of a large array are no runs of this order, it moves to even parts, one slab after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from hocket import _mpi
from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.collecting import allgather
from hocket.computing.fetching import AnyArray, apart
from hocket.computing.layouts import balanced, is_grid, kept
from hocket.computing.operands import as_array, bring, made, without_copies
from hocket.computing.rounds import Box, boxes, elements_of_round, section_for
from hocket.creation import empty, of_core
from hocket.errors import LayoutError
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI


def mask_of(a: Array, mask: Any) -> Array:
    """The mask in the layout of `a`. Collective."""
    brought = bring(mask, a.layout, a._rank_and_size[0], a.comm)
    return made(np.broadcast_to(brought, a._local.shape), a.layout, a.comm)


def in_even_parts(a: Array, dtype: np.dtype[Any], found: tuple[Any, AnyArray]) -> Array:
    """A vector of C++'s as an array over the processes of `a`."""
    layout = balanced(found[0].layout().shape, a._rank_and_size[1])
    return of_core(*found, layout, dtype, a.comm, local_shape(layout, a.comm))


@kept
def in_runs(layout: Layout) -> bool:
    """Whether processes hold runs of the row-major order, one after the other. For a layout that
    `is_grid`: the ends of each part tell."""

    def lies(number: int, rank: int, place: int) -> bool:
        index = tuple(map(int, np.unravel_index(number, layout.shape)))
        if layout._native.owners(index) != [rank]:
            return False
        shape = layout.local_shape(rank)
        return layout._native.local_index(index) == tuple(map(int, np.unravel_index(place, shape)))

    begin = 0
    for rank in range(layout.size):
        count = layout.local_elements(rank)
        end = begin + count
        if end > layout.num_elements:  # copies
            return False
        if count and not (lies(begin, rank, 0) and lies(end - 1, rank, count - 1)):
            return False
        begin = end
    return begin == layout.num_elements


def slabs_of(a: Array) -> Optional[list[Box]]:
    """Boxes of the array that move one after the other; None if it moves at once, or not at all."""
    size, most = a._rank_and_size[1], elements_of_round(4 * a.dtype.itemsize + 4)
    if a.layout.num_elements <= most * size or not is_grid(a.layout) or in_runs(a.layout):
        return None
    return list(boxes(a.layout.shape, most * size))


def chosen_by(mask: Any, slabs: Sequence[Box], comm: MPI.Comm) -> list[tuple[Box, slice]]:
    """The slabs with elements that the mask chooses, and the places of these among all chosen ones.
    All processes get the same, even if their copies of the mask differ. Collective."""
    own = without_copies(as_array(mask, comm))
    counts = np.array([np.count_nonzero(section_for(own, slab).local) for slab in slabs])
    ends = list(accumulate(allgather(comm, counts).sum(axis=0).tolist(), initial=0))
    places = map(slice, ends, ends[1:])
    return [(slab, part) for slab, part in zip(slabs, places) if part.start < part.stop]


def number_in(chosen: Sequence[tuple[Box, slice]]) -> int:
    return chosen[-1][1].stop if chosen else 0


def compress(mask: Any, a: Array) -> Array:
    """The elements where `mask` is true, in row-major order and even parts. Collective."""
    slabs = slabs_of(a)
    if slabs is None:
        return in_even_parts(a, a.dtype, _mpi.pack(a._wrapped(), mask_of(a, mask)._wrapped()))
    chosen = chosen_by(mask, slabs, a.comm)
    result = empty(balanced((number_in(chosen),), a._rank_and_size[1]), a.dtype, a.comm)
    for slab, places in chosen:
        result[places] = compress(section_for(mask, slab), a.section(slab))
    return result


def true_numbers(mask: Array) -> Array:
    """The row-major numbers of true elements, increasing, in even parts. Collective."""
    return in_even_parts(mask, np.dtype(np.int64), _mpi.true_numbers(mask._wrapped()))


def assign_masked(a: Array, mask: Any, value: Any) -> None:
    if value.shape == (1,):
        value = value.section((0,)) if isinstance(value, Array) else value.reshape(())
    if value.ndim == 0:
        rank = a._rank_and_size[0]
        one = bring(value, a.layout, rank, a.comm)
        here = np.broadcast_to(bring(mask, a.layout, rank, a.comm), a._local.shape)
        a._current()[here] = one
    else:
        with collective(a.comm, None):
            if value.ndim != 1:
                raise LayoutError(f"a mask takes a value of one dimension, not {value.shape}")
        put(a, mask, as_array(value.astype(a.dtype, copy=False), a.comm))
    a._settle()


def put(a: Array, mask: Any, vector: Array) -> None:
    """Writes a vector to the elements where `mask` is true, in row-major order. Collective."""
    slabs = slabs_of(a)
    if slabs is None:
        _mpi.put(a._wrapped(), mask_of(a, mask)._wrapped(), vector._wrapped())
        a._settle()
        return
    chosen = chosen_by(mask, slabs, a.comm)
    count = number_in(chosen)
    with collective(a.comm, None):
        if vector.shape != (count,):
            raise LayoutError(
                f"the mask chooses {count} elements, and the value has shape {vector.shape}"
            )
    mask, vector = (apart(each, a) for each in (mask, vector))
    for slab, places in chosen:
        put(a.section(slab), section_for(mask, slab), vector.section((places,)))
