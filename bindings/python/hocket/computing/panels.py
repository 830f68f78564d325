# SPDX-License-Identifier: BSD-3-Clause
"""Matrix products by panels, with the local BLAS.

As in R. van de Geijn, J. Watts, "SUMMA: scalable universal matrix multiplication" (1997): for each
panel of the inner dimension, two aligned layouts give every process the rows and columns that its
part of the result needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.computing.combining import grid_of, remain
from hocket.computing.layouts import (
    Shape,
    aligned,
    balanced,
    held,
    is_grid,
    kept,
    like,
    moved,
    parts_along,
)
from hocket.computing.rounds import elements_of_round
from hocket.creation import empty
from hocket.layouts import Layout
from hocket.redistribution import redistribute


@kept
def product_layout(a: Layout, b: Layout, sizes: tuple[int, int]) -> Layout:
    """The layout of a matrix product: that of `a`, or of `b`, or along rows, whichever moves the
    fewest bytes."""
    shape = (a.shape[0], b.shape[1])
    if 0 in shape:
        return balanced(shape, max(a.size, b.size))
    candidates = [like(a, shape), like(b, shape), balanced(shape, max(a.size, b.size), 0)]
    grids = [layout for layout in candidates if is_grid(layout)]
    alone = [layout for layout in grids if held(layout) == layout.num_elements]
    return min(alone, key=lambda layout: bytes_moved(layout, a, b, sizes))


def bytes_moved(result: Layout, a: Layout, b: Layout, sizes: tuple[int, int]) -> int:
    """For a product of matrices in this layout."""
    rows, columns = operand_layouts(result, a.shape, b.shape)
    return moved(a, rows) * sizes[0] + moved(b, columns) * sizes[1]


@kept
def operand_layouts(result: Layout, a: Shape, b: Shape) -> tuple[Layout, Layout]:
    """Whole rows of the first and whole columns of the second operand, aligned with the
    result's."""
    if result.num_elements == 0:
        return balanced(a, result.size), balanced(b, result.size)
    return (
        aligned(a, ["i", "*"], ["i", "*"], result),
        aligned(b, ["*", "j"], ["*", "j"], result),
    )


@kept
def longest_side(layout: Layout) -> int:
    """The largest extent of a process's part of a matrix, 1 at least."""
    return max(1, *(layout.local_shape(r)[d] for r in range(layout.size) for d in (0, 1)))


def moves_less(
    left: Array,
    right: Array,
    a: Array,
    b: Array,
    needed: Layout,
    gone: Shape,
    dtype: np.dtype[Any],
) -> bool:
    """Whether the product of two matrices, which are `a` and `b` in either order, moves fewer bytes
    by panels than `b` to the layout `needed`, aligned with `a`, and partial results over the
    dimension `gone` of `a`. Also if a process's partial results are larger than a panel."""
    layout = grid_of(a.layout)
    stays = 1 - gone[0]
    of_b = left.shape[0] * right.shape[1] // layout.shape[stays]
    partial = [of_b * layout.local_shape(rank)[stays] for rank in range(layout.size)]
    parts = 1 if remain(layout, gone) else len(parts_along(layout, gone[0]))
    if parts > 1 and max(partial) > elements_of_round(dtype.itemsize):
        return True
    # Each process gets the others' partial results for its share, and then the others' shares.
    others = 2 * sum(partial) * (parts - 1) // parts * dtype.itemsize
    others += (
        moved(a.layout, layout) * a.dtype.itemsize + moved(b.layout, needed) * b.dtype.itemsize
    )
    sizes = left.dtype.itemsize, right.dtype.itemsize
    best = product_layout(left.layout, right.layout, sizes)
    return bytes_moved(best, left.layout, right.layout, sizes) < others


def product(a: Array, b: Array, dtype: np.dtype[Any]) -> Array:
    """A product of matrices. Collective."""
    layout = product_layout(a.layout, b.layout, (a.dtype.itemsize, b.dtype.itemsize))
    result = empty(layout, dtype, a.comm)
    depth = a.shape[1]
    width = longest_side(layout)
    step = max(1, elements_of_round(dtype.itemsize) // width)
    if depth == 0:
        result._local[...] = np.zeros((), dtype)
    if result.size == 0:
        return result
    room = None
    for first in range(0, depth, step):
        part = slice(first, min(first + step, depth))
        left, right = a, b
        if step < depth:
            left, right = a.section((slice(None), part)), b.section((part, slice(None)))
        needed = operand_layouts(layout, left.shape, right.shape)
        x = left if left.layout == needed[0] else redistribute(left, needed[0])
        y = right if right.layout == needed[1] else redistribute(right, needed[1])
        if not result._local.size:
            continue
        p, q = x.local.astype(dtype, copy=False), y.local.astype(dtype, copy=False)
        if first == 0:
            np.matmul(p, q, out=result._local)
        else:
            room = np.matmul(p, q, out=room)
            np.add(result._local, room, out=result._local)
    return result
