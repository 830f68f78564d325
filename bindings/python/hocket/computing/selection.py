# SPDX-License-Identifier: BSD-3-Clause
"""An index with arrays of integers: which elements it names, and where the result lies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np

from hocket.arrays import Array, local_shape
from hocket.computing.fetching import AnyArray, Numbers, elements_of_fetch, fetch
from hocket.computing.layouts import Shape, balanced, held, is_local
from hocket.computing.operands import (
    bring,
    broadcast_shape,
    communicator_of,
    made,
    without_copies,
)
from hocket.computing.rounds import Box, number_of_rounds, rounds, section_for
from hocket.errors import LayoutError
from hocket.layouts import Layout


class Selection:
    """An index with arrays of integers: the shape and layout of the result, and the elements that
    it reads.

    If it takes the last dimensions whole, and processes hold them whole, the elements that move are
    the `rows` of these dimensions."""

    def __init__(self, a: Array, items: tuple[Any, ...], by_rows: bool = True) -> None:
        shape = a.layout.shape
        dots = [k for k, item in enumerate(items) if item is Ellipsis]
        missing = len(shape) - len(items) + len(dots)
        if missing < 0 or len(dots) > 1:
            raise LayoutError(f"{len(items)} indices for the shape {shape}")
        at = dots[0] if dots else len(items)
        parts = [*items[:at], *[slice(None)] * missing, *items[at + len(dots) :]]
        self.a = a
        self.parts = [self._checked(part, d, shape[d]) for d, part in enumerate(parts)]
        self.arrays = [part for part in self.parts if not isinstance(part, range)]
        communicator_of([a, *(part for part in self.arrays if isinstance(part, Array))])
        inner = broadcast_shape(self.arrays)
        where = [d for d, part in enumerate(self.parts) if not isinstance(part, range)]
        together = where[-1] - where[0] + 1 == len(where)
        self.first = where[0] if together else 0  # of the arrays' dimensions in the result
        sliced = [len(part) for part in self.parts if isinstance(part, range)]
        self.inner = len(inner)
        self.shape: Shape = (*sliced[: self.first], *inner, *sliced[self.first :])
        only = self.arrays[0] if len(self.arrays) == 1 == len(self.parts) else None
        # The only index, if the result lies in its layout.
        self.own: Optional[Array] = None
        self.layout = balanced(self.shape, a._rank_and_size[1])
        if isinstance(only, Array) and held(only.layout) == only.layout.num_elements:
            self.own, self.layout = only, only.layout
        self.rows, self.row_shape, self.row_layout = a, self.shape, self.layout
        self._alone: dict[int, Array] = {}  # broadcast indices without copies
        whole = self._whole_dimensions() if by_rows else 0
        if whole:
            lead = a.layout.ndim - whole
            width = math.prod(a.layout.shape[lead:])
            row = np.dtype((np.void, width * a.dtype.itemsize))
            layout = a.layout.section((slice(None),) * lead + (0,) * whole)
            local = np.ascontiguousarray(a._current()).reshape(-1).view(row)
            self.rows = made(local, layout, a.comm)
            self.row_shape = self.shape[:-whole]
            self.row_layout = balanced(self.row_shape, a._rank_and_size[1])
            self.parts = self.parts[:lead]

    def _whole_dimensions(self) -> int:
        """How many of the last dimensions move whole: each process holds them whole, in the array
        and in the result."""
        layout, last = self.a.layout, len(self.parts)
        while isinstance(self.parts[last - 1], range):
            if self.parts[last - 1] != range(layout.shape[last - 1]):
                break
            if not is_local(layout, last - 1):
                break
            last -= 1
        most = 2**31 - 1  # bytes of a dtype of NumPy
        while math.prod(layout.shape[last:]) * self.a.dtype.itemsize > most and last < len(
            self.parts
        ):
            last += 1
        whole = len(self.parts) - last
        rest = self.shape[: len(self.shape) - whole]
        even = any(extent >= self.a._rank_and_size[1] for extent in rest)
        return whole if even and layout.num_elements else 0

    def settle(self) -> None:
        """After writes into `rows`, whose memory may be a copy."""
        local = self.a._local
        if self.rows is not self.a and not np.may_share_memory(local, self.rows._local):
            local[...] = self.rows._local.view(self.a.dtype).reshape(local.shape)
        self.a._settle()

    def _checked(self, part: Any, d: int, extent: int) -> Any:
        if isinstance(part, slice):
            return range(*part.indices(extent))
        if not isinstance(part, Array):
            part = np.asarray(part)
        if part.dtype.kind not in "iu" and part.size:
            raise LayoutError(f"an index of {part.dtype}; give integers or a mask")
        if not isinstance(part, Array):
            part = part.astype(np.int64)
        self._require_inside(part.local if isinstance(part, Array) else part, d, extent)
        return part

    def _require_inside(self, index: AnyArray, d: int, extent: int) -> None:
        ends = (int(index.min()), int(index.max())) if index.size else (0, -1)
        if ends[0] < -extent or ends[1] >= extent:
            raise LayoutError(
                f"index {ends[0] if ends[0] < -extent else ends[1]} lies outside the shape "
                f"{self.a.layout.shape} in dimension {d} (on process {self.a._rank_and_size[0]})"
            )

    def in_one_round(self) -> bool:
        """Whether each process's rows make one round."""
        return number_of_rounds(self.row_layout, elements_of_fetch(self.rows.dtype)) == 1

    def rounds(self) -> Iterator[tuple[Box, Numbers]]:
        """The `numbers` of this process's rows, a box of the local rows after the other.
        Collective."""
        layout, rank = self.row_layout, self.a._rank_and_size[0]
        most = elements_of_fetch(self.rows.dtype)
        if self.own is not None:
            for box in rounds(layout, rank, most):
                yield box, self._joined([self.own.local[box].reshape(-1)])
        elif not any(map(self._is_full, self.parts)):
            firsts = corner(layout, rank)
            for box in rounds(layout, rank, most):
                places = [np.arange(k + x.start, k + x.stop) for k, x in zip(firsts, box)]
                yield box, self._numbers_at(places, tuple(map(len, places)), [])
        else:  # an index comes from any processes, which need the layout of all boxes
            corners = [corner(layout, p) for p in range(layout.size)]
            for all_boxes in zip(*(rounds(layout, p, most) for p in range(layout.size))):
                ends = [
                    tuple(tuple(map(sum, zip(firsts, end))) for end in ends_of(box))
                    for firsts, box in zip(corners, all_boxes)
                ]
                box = all_boxes[rank] if rank < layout.size else (slice(0, 0),) * layout.ndim
                yield box, self.numbers(Layout.boxes(layout.shape, ends))

    def numbers(self, layout: Layout, slab: Optional[Box] = None) -> Numbers:
        """Row-major numbers in the array of this process's rows in a layout of all rows, or of a
        slab of them. Collective."""
        rank, comm = self.a._rank_and_size[0], self.a.comm
        full = [part for part in self.parts if self._is_full(part)]
        places: list[Numbers] = [np.empty(0, np.int64)] * layout.ndim
        if rank < layout.size and len(full) < len(self.parts):
            places = layout.global_indices(rank)
            if slab is not None:
                places = [own + part.start for own, part in zip(places, slab)]
        here = [x if slab is None else section_for(x, slab) for x in full]
        brought = [bring(x, layout, rank, comm) for x in here]
        return self._numbers_at(places, local_shape(layout, comm), brought)

    def _numbers_at(
        self, places: Sequence[Numbers], shape: Shape, full: Sequence[AnyArray]
    ) -> Numbers:
        """Those of the rows at these places, a list for each dimension; `full`: the elements there
        of the indices that are full. Collective if an index is distributed."""
        found, sliced, end, of_full = [], 0, self.first + self.inner, iter(full)
        for part in self.parts:
            if isinstance(part, range):
                axis = sliced if sliced < self.first else sliced + self.inner
                index = part.start + part.step * places[axis]
                found.append(index.reshape((-1,) + (1,) * (len(shape) - 1 - axis)))
                sliced += 1
            elif self._is_full(part):
                found.append(next(of_full))
            else:
                index = self._broadcast(part, places[end - part.ndim : end])
                found.append(index.reshape(index.shape + (1,) * (len(shape) - end)))
        if 0 in shape:
            return np.empty(0, np.int64)
        return np.broadcast_to(self._joined(found), shape).reshape(-1)

    def _joined(self, indices: Sequence[AnyArray]) -> Numbers:
        """The row-major numbers of one index for each dimension."""
        result = np.zeros((), np.int64)
        for index, extent in zip(indices, self.a.layout.shape):
            index = index.astype(np.int64, copy=False)
            result = result * extent + np.where(index < 0, index + extent, index)
        return result

    def _is_full(self, part: Any) -> bool:
        """Whether it is a distributed array of one index for each row."""
        return isinstance(part, Array) and part.layout.shape == self.row_shape

    def _broadcast(self, part: Any, places: Sequence[Numbers]) -> AnyArray:
        """The elements at these places of an index that is broadcast. Collective, if it is
        distributed."""
        shape = part.layout.shape if isinstance(part, Array) else part.shape
        lists = [own if n != 1 else np.zeros(1, np.int64) for n, own in zip(shape, places)]
        if not isinstance(part, Array):
            found: AnyArray = part[np.ix_(*lists)]
            return found
        if id(part) not in self._alone:
            self._alone[id(part)] = without_copies(part)
        wanted = np.zeros((), np.int64)
        for extent, index in zip(shape, lists):
            wanted = wanted[..., None] * extent + index
        return fetch(self._alone[id(part)], wanted.reshape(-1)).reshape(wanted.shape)


def ends_of(box: Box) -> tuple[Shape, Shape]:
    """The indices where a box starts, and where it stops."""
    return tuple(part.start for part in box), tuple(part.stop for part in box)


def corner(layout: Layout, rank: int) -> Shape:
    """The index of the first element of a process whose elements are a box."""
    if rank >= layout.size:
        return (0,) * layout.ndim
    return tuple(first for first, *_ in layout._native.slices(rank))
