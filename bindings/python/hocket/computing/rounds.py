# SPDX-License-Identifier: BSD-3-Clause
"""Divides work on large arrays into rounds, which need small temporary arrays only. All processes
make the same rounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from hocket import _mpi
from hocket.arrays import Array, shape_of_part
from hocket.computing.layouts import Shape, balanced, kept
from hocket.layouts import Layout

#: one slice of each dimension, with both ends
Box = tuple[slice, ...]

#: bytes of temporary arrays of a round on a process, if HOCKET_MAX_BUFFER is not less
PANEL = 64 << 20


def elements_of_round(each: int) -> int:
    """How many elements a process has in a round, with `each` bytes of temporary arrays for one.
    It is the same on all processes."""
    return max(1, _mpi.within_buffers(PANEL) // each)


def boxes(shape: Shape, most: int) -> Iterator[Box]:
    """Boxes of at most `most` elements that fill the shape, in row-major order."""
    cut, rows = cut_of(shape, most)
    whole = [slice(0, extent) for extent in shape]
    if math.prod(shape) == 0:
        return
    if cut < 0:
        yield tuple(whole)
        return
    for place in itertools.product(*(range(extent) for extent in shape[:cut])):
        for first in range(0, shape[cut], rows):
            part = slice(first, min(first + rows, shape[cut]))
            yield (*(slice(k, k + 1) for k in place), part, *whole[cut + 1 :])


def cut_of(shape: Shape, most: int) -> tuple[int, int]:
    """The dimension of which a box has a part, and the part's extent; -1 if one box suffices."""
    cut, inner = len(shape) - 1, 1
    while cut >= 0 and inner * shape[cut] <= most:
        inner *= shape[cut]
        cut -= 1
    return cut, max(1, most // max(inner, 1))


@kept
def number_of_rounds(layout: Layout, most: int) -> int:
    """The most boxes of a process's part."""

    def count(shape: Shape) -> int:
        cut, rows = cut_of(shape, most)
        if math.prod(shape) == 0:
            return 0
        return 1 if cut < 0 else math.prod(shape[:cut]) * -(-shape[cut] // rows)

    return max(count(layout.local_shape(rank)) for rank in range(layout.size))


def rounds(layout: Layout, rank: int, most: int) -> Iterator[Box]:
    """Boxes of the local array of process `rank`, some of them empty."""
    shape = shape_of_part(layout, rank)
    mine = boxes(shape, most)
    for _ in range(number_of_rounds(layout, most)):
        yield next(mine, (slice(0, 0),) * len(shape))


def slabs(layout: Layout, size: int, most: int) -> Iterator[tuple[Box, Layout]]:
    """Boxes of the global array in row-major order, and a layout of each that divides it evenly
    among `size` processes: its section, or even parts."""
    for box in boxes(layout.shape, most * size):
        if all(part.stop - part.start == extent for part, extent in zip(box, layout.shape)):
            part = layout
        else:
            part = layout.section(box)
        largest = max(part.local_elements(rank) for rank in range(part.size))
        yield box, part if largest <= 2 * most else balanced(part.shape, size)


def section_for(x: Any, box: Box) -> Any:
    """The part of an operand that is broadcast to the elements of a box."""
    shape = x.layout.shape if isinstance(x, Array) else getattr(x, "shape", ())
    index = tuple(
        slice(0, 1) if extent == 1 else each
        for extent, each in zip(shape, box[len(box) - len(shape) :])
    )
    whole = all(part.stop - part.start == extent for part, extent in zip(index, shape))
    if whole:
        return x
    return x.section(index) if isinstance(x, Array) else x[index]
