# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums over global axes, rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array, local_shape
from hocket.computing.collecting import allgather
from hocket.computing.combining import (
    finish,
    gathered,
    leads,
    on_grid,
    partial_layouts,
    scalar,
)
from hocket.computing.exact import Sums, local_pairs, local_sum, sum_of_pairs
from hocket.computing.layouts import Shape, is_grid, without
from hocket.computing.operands import made, without_copies
from hocket.creation import empty
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]

#: the most bytes of accumulators of a reduction at a time, if HOCKET_MAX_BUFFER is not less
TILE = 32 << 20


def exact_sum(a: Array, axes: Shape, wanted: np.dtype[Any], out: Any, keepdims: bool) -> Any:
    """The exact sum over `axes`, rounded once to `wanted`. Collective."""
    local = a.local if a.dtype == wanted else a.local.astype(wanted)
    if len(axes) == a.layout.ndim:
        return scalar(exact_total(a, local, wanted), wanted, keepdims, a, out)
    if not is_grid(a.layout):
        a = on_grid(a)
        local = a.local if a.dtype == wanted else a.local.astype(wanted)
    target = without(a.layout, axes, True)
    rank = a._rank_and_size[0]
    layouts = partial_layouts(a.layout, axes)
    if local.ndim != a.layout.ndim or rank >= a.layout.size:
        local = np.empty(
            a.layout.local_shape(rank) if rank < a.layout.size else (0,) * a.layout.ndim, wanted
        )
    if not layouts:
        zeros = np.zeros(local_shape(target, a.comm), wanted)
        return finish(made(zeros, target, a.comm), axes, keepdims, out)
    if len(layouts) == 1 and layouts[0] == target:
        sums = local_sum(local, axes, wanted)
        return finish(made(np.expand_dims(sums, axes), target, a.comm), axes, keepdims, out)
    if 32 * target.num_elements * len(layouts) <= _mpi.within_buffers(TILE):
        found = sum_by_pairs(a, local, axes, layouts, target, wanted)
        if found is not None:
            return finish(found, axes, keepdims, out)
    result = empty(target, wanted, a.comm)
    for tile in tiles(target, wanted):
        exact_tile(a, local, axes, result, layouts, tile)
    return finish(result, axes, keepdims, out)


def sum_by_pairs(
    a: Array,
    local: AnyArray,
    axes: Shape,
    layouts: list[Layout],
    target: Layout,
    wanted: np.dtype[Any],
) -> Optional[Array]:
    """The sums, if two numbers have each process's part of each sum exactly, as they do for
    numbers of similar size: a thirtieth of an accumulator's bytes. Else None. Collective."""
    pairs, exact = local_pairs(local, axes)
    rank, parts = a._rank_and_size[0], pairs.shape[-2]
    element = np.dtype((np.void, parts * 16))
    shape = tuple(1 if d in axes else extent for d, extent in enumerate(local.shape))
    mine = pairs.reshape(-1).view(element).reshape(shape)
    few = gathered(mine, a, axes, exact)
    if few is not None:
        if not few[1]:
            return None
        all_pairs = few[0].view(np.float64).reshape(*few[0].shape, parts, 2)
        return made(sum_of_pairs(all_pairs, wanted), target, a.comm)
    if not allgather(a.comm, np.asarray(exact)).all():
        return None
    nothing = np.empty((0,) * max(1, len(shape)), element)
    came = []
    for layout in layouts:
        here = rank < layout.size and layout.local_elements(rank) > 0
        moved = redistribute(made(mine if here else nothing, layout, a.comm), target).local
        came.append(moved.view(np.float64).reshape(*moved.shape, parts, 2))
    return made(sum_of_pairs(np.stack(came), wanted), target, a.comm)


def tiles(target: Layout, wanted: np.dtype[Any]) -> Iterator[tuple[slice, ...]]:
    """Sections of the result whose accumulators fit `TILE`; equal on all processes."""
    each = Sums((), wanted, products=False).words.nbytes
    most = max(1, _mpi.within_buffers(TILE) // each)
    whole = [slice(0, extent) for extent in target.shape]
    axis = int(np.argmax(target.shape))
    share = max(1, most // max(1, math.prod(target.shape) // max(1, target.shape[axis])))
    for first in range(0, max(1, target.shape[axis]), share):
        whole[axis] = slice(first, min(first + share, target.shape[axis]))
        yield tuple(whole)


def exact_tile(
    a: Array,
    local: AnyArray,
    axes: Shape,
    result: Array,
    layouts: list[Layout],
    tile: tuple[slice, ...],
) -> None:
    """One tile of the result: moves its accumulators, merges and rounds them. Collective."""
    rank = a._rank_and_size[0]
    part = result.section(tile)
    of_terms = tuple(slice(None) if d in axes else each for d, each in enumerate(tile))
    where = a.layout.local_section(of_terms, rank) if rank < a.layout.size else None
    terms = local if where is None else chosen(local, where)
    shape = tuple(1 if d in axes else extent for d, extent in enumerate(terms.shape))
    mine = Sums(tuple(e for d, e in enumerate(terms.shape) if d not in axes), result.dtype, False)
    mine.add(terms, axes)
    element = np.dtype((np.void, mine.words.shape[-1] * mine.parts * 8))
    mine_local = mine.words.reshape(-1).view(element).reshape(shape)
    total: Optional[Sums] = None
    for layout in layouts:
        section = layout.section(tile)
        here = rank < section.size and section.local_elements(rank) > 0
        nothing = np.empty((0,) * len(shape), element)
        source = made(mine_local if here else nothing, section, a.comm)
        found = redistribute(source, part.layout).local
        words = np.ascontiguousarray(found).view(np.int64)
        if total is None:
            total = Sums(found.shape, result.dtype, False)
        total.merge(words.reshape(total.words.shape))
    assert total is not None
    if part._local.size:
        part._local[...] = total.rounded(result.dtype).reshape(part._local.shape)
        part._settle()


def chosen(local: AnyArray, where: Sequence[Any]) -> AnyArray:
    """The elements at these slices and indices of each dimension; a view if all are slices."""
    if all(isinstance(each, slice) for each in where):
        view: AnyArray = local[tuple(where)]
        return view
    listed = [
        np.arange(extent)[each] if isinstance(each, slice) else np.atleast_1d(each)
        for each, extent in zip(where, local.shape)
    ]
    copy: AnyArray = local[np.ix_(*listed)]
    return copy


def exact_total(a: Array, local: AnyArray, wanted: np.dtype[Any]) -> Any:
    """The exact sum of all elements. Collective."""
    if a._rank_and_size[1] == 1:
        return local_sum(local, tuple(range(local.ndim)), wanted)[()]
    if is_grid(a.layout):
        mine = Sums((), wanted, products=False)
        if leads(a.layout, a._rank_and_size[0]):
            mine.add(local, tuple(range(local.ndim)))
    else:
        a = without_copies(a)
        mine = Sums((), wanted, products=False)
        mine.add(a.local.astype(wanted, copy=False), tuple(range(a.local.ndim)))
    return total_of(mine, a, wanted)


def total_of(mine: Sums, a: Array, wanted: np.dtype[Any]) -> Any:
    """All processes' accumulators as one rounded sum. Collective."""
    found = allgather(a.comm, mine.words)
    total = Sums((), mine.dtype, mine.products)
    for words in found:
        total.merge(words)
    return total.rounded(wanted)[()]
