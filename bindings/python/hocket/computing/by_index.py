# SPDX-License-Identifier: BSD-3-Clause
"""Masks and arrays of integers as an index: each element's owner reads and writes it."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.collecting import exchange
from hocket.computing.elementwise import result_types
from hocket.computing.indexing import as_value, is_basic
from hocket.computing.layouts import Shape, balanced, held, is_local, numbers
from hocket.computing.operands import (
    as_array,
    bring,
    broadcast_shape,
    check_alike,
    communicator_of,
    made,
    without_copies,
)
from hocket.computing.shapes import expand_dims
from hocket.creation import of_core
from hocket.errors import Error, LayoutError, MismatchError
from hocket.local_arrays import address
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


def fetch(a: Array, wanted: Numbers) -> AnyArray:
    """The elements of these row-major numbers, which may be any on any process. Collective."""
    found = np.empty(len(wanted), a.dtype)
    _mpi.fetch(a._wrapped(), np.ascontiguousarray(wanted), address(found))
    return found


def store(
    a: Array, wanted: Numbers, values: AnyArray, order: Numbers, combine: Optional[np.ufunc] = None
) -> None:
    """Writes values to the elements of these numbers; of several values for one, the one with the
    highest `order`. With `combine`, all are combined with the element.

    Collective.
    """
    if held(a.layout) != a.layout.num_elements:
        alone = without_copies(a)
        store(alone, wanted, values, order, combine)
        redistribute(alone, a.layout, out=a)
        return
    wanted = np.ascontiguousarray(wanted)
    if combine is None:
        values = np.ascontiguousarray(values)
        _mpi.store(a._wrapped(), wanted, address(values), np.ascontiguousarray(order))
    else:
        owners, offsets = np.empty_like(wanted), np.empty_like(wanted)
        _mpi.locate(a.layout._native, wanted, address(owners), address(offsets))
        (places, arrived, turns), _ = exchange(a.comm, owners, offsets, values, order)
        by_turn = np.argsort(turns, kind="stable")
        local = a._current()
        combine.at(local, np.unravel_index(places[by_turn], local.shape), arrived[by_turn])
    a._settle()


def is_mask(item: Any) -> bool:
    return (
        item.dtype if isinstance(item, (Array, np.ndarray)) else np.asarray(item).dtype
    ).kind == "b"


def without_masks(a: Array, items: tuple[Any, ...]) -> tuple[Array, Any, tuple[Any, ...]]:
    """The mask, if the index is one of the array's shape; else None, and the items, with arrays of
    integers for masks of some dimensions. The array has a dimension of extent 1 for each None, for
    which a slice stands. Collective."""
    with collective(a.comm, None):
        shape = a.layout.shape
        items = tuple(
            item
            if isinstance(item, (slice, Array)) or item is Ellipsis or item is None
            else np.asarray(item)
            for item in items
        )
        found: list[tuple[int, Any]] = []  # masks, and their places among the items
        dimensions = sum(
            item.ndim if is_array(item) and is_mask(item) else 1
            for item in items
            if item is not None and item is not Ellipsis
        )
        d = 0
        for place, item in enumerate(items):
            if item is Ellipsis:
                d += len(shape) - dimensions
            elif is_array(item) and is_mask(item):
                found.append((place, item))
                if item.shape != shape[d : d + item.ndim] or (item.ndim == 0 and shape):
                    raise LayoutError(
                        f"the mask has shape {item.shape}, but the array {shape}; give a mask of "
                        "the shape of the dimensions that it stands for"
                    )
                d += item.ndim
            elif item is not None:
                d += 1
        if len(found) == 1 == len(items) and found[0][1].ndim == len(shape):
            return a, found[0][1], items
    for place, mask in reversed(found):
        chosen = np.nonzero(mask)
        items = (*items[:place], *chosen, *items[place + 1 :])
    dots = next((place for place, item in enumerate(items) if item is Ellipsis), len(items))
    rest = len(shape) - sum(item is not None and item is not Ellipsis for item in items)
    for place, item in enumerate(items):
        if item is None:
            a = expand_dims(a, place if place < dots else place - 1 + rest)
    return a, None, tuple(slice(None) if item is None else item for item in items)


def is_array(item: Any) -> bool:
    return isinstance(item, (Array, np.ndarray))


def chosen(a: Array, items: tuple[Any, ...]) -> Array:
    """``a[mask]`` and ``a[rows, columns]``. Collective."""
    a, mask, items = without_masks(a, items)
    with collective(a.comm, None):
        plan = None if mask is not None else Selection(a, items)
    if mask is not None:
        check_alike([mask], a.comm)
        return compress(mask, a)
    assert plan is not None
    check_alike([index for index in plan.arrays if isinstance(index, np.ndarray)], a.comm)
    wanted = plan.numbers()
    found = fetch(without_copies(plan.rows), wanted)
    return made(found.view(a.dtype), plan.layout, a.comm)


def mask_of(a: Array, mask: Any) -> Array:
    """The mask in the layout of `a`. Collective."""
    brought = bring(mask, a.layout, a._rank_and_size[0], a.comm)
    return made(np.broadcast_to(brought, a._local.shape), a.layout, a.comm)


def in_even_parts(a: Array, dtype: np.dtype[Any], found: tuple[Any, AnyArray]) -> Array:
    """A vector of C++'s as an array over the processes of `a`."""
    layout = balanced(found[0].layout().shape, a._rank_and_size[1])
    return of_core(*found, layout, dtype, a.comm, local_shape(layout, a.comm))


def compress(mask: Any, a: Array) -> Array:
    """The elements where `mask` is true, in row-major order and even parts. Collective."""
    return in_even_parts(a, a.dtype, _mpi.pack(a._wrapped(), mask_of(a, mask)._wrapped()))


def true_numbers(mask: Array) -> Array:
    """The row-major numbers of true elements, increasing, in even parts. Collective."""
    return in_even_parts(mask, np.dtype(np.int64), _mpi.true_numbers(mask._wrapped()))


def assign_chosen(
    a: Array, items: tuple[Any, ...], value: Any, combine: Optional[np.ufunc] = None
) -> None:
    """``a[mask] = value`` and ``a[rows, columns] = value``. Collective."""
    a, mask, items = without_masks(a, items)
    with collective(a.comm, None):
        if not a._local.flags.writeable:
            raise Error("the array is read-only; assign to one that may be written")
        plan = None if mask is not None else Selection(a, items, combine is None)
        value = as_value(value, a.dtype)
        if (
            plan is not None
            and broadcast_shape([value, np.broadcast_to(0, plan.shape)]) != plan.shape
        ):
            raise LayoutError(f"a value of shape {value.shape} does not fit {plan.shape}")
    rank = a._rank_and_size[0]
    if mask is not None:
        assign_masked(a, mask, value if combine is None else combine(compress(mask, a), value))
        return
    assert plan is not None
    values = np.broadcast_to(bring(value, plan.layout, rank, a.comm), plan.local_shape())
    with collective(a.comm, None):  # text of one process may be no number
        values = np.ascontiguousarray(values, a.dtype).reshape(-1).view(plan.rows.dtype)
    order = numbers(plan.row_layout, rank).reshape(-1)
    store(plan.rows, plan.numbers(), values, order, combine)
    plan.settle()


def combine_at(ufunc: np.ufunc, a: Array, index: Any, value: Any) -> None:
    """``ufunc.at(a, index, value)``: once for each time that the index names an element.
    Collective."""
    items = index if isinstance(index, tuple) else (index,)
    with collective(a.comm, None):
        value = np.asarray(value) if isinstance(value, (list, tuple)) else value
        (dtype,) = result_types(ufunc, [a, value], {})
        if not np.can_cast(dtype, a.dtype, "same_kind"):
            raise MismatchError(f"the result is {dtype}, which the array, {a.dtype}, does not take")
    if is_basic(items):
        a[index] = ufunc(a[index], value)
    else:
        assign_chosen(a, items, value, ufunc)


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
        vector = as_array(value.astype(a.dtype, copy=False), a.comm)
        _mpi.put(a._wrapped(), mask_of(a, mask)._wrapped(), vector._wrapped())
    a._settle()


class Selection:
    """An index with arrays of integers: the shape and layout of the result, and what it reads.

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
        self.layout = (
            only.layout
            if isinstance(only, Array) and held(only.layout) == only.layout.num_elements
            else balanced(self.shape, a._rank_and_size[1])
        )
        self.rows, self.row_shape, self.row_layout = a, self.shape, self.layout
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
            self._require_inside(part, d, extent)
        return part

    def _require_inside(self, index: AnyArray, d: int, extent: int) -> None:
        wrong = index[(index < -extent) | (index >= extent)]
        if wrong.size:
            raise LayoutError(
                f"index {wrong.flat[0]} lies outside the shape {self.a.layout.shape} in dimension "
                f"{d} (on process {self.a._rank_and_size[0]})"
            )

    def local_shape(self) -> Shape:
        rank = self.a._rank_and_size[0]
        return self.layout.local_shape(rank) if rank < self.layout.size else (0,)

    def numbers(self) -> Numbers:
        """Row-major numbers in the array of this process's part of the result. Collective."""
        a, rank, shape = self.a, self.a._rank_and_size[0], self.row_shape
        own = numbers(self.row_layout, rank).reshape(-1)
        places: Any = ()
        if shape and not all(self._is_full(part) for part in self.parts):
            places = np.unravel_index(own, shape)
        brought = {}
        for d, part in enumerate(self.parts):
            if self._is_full(part):
                brought[d] = bring(part, self.row_layout, rank, a.comm).reshape(-1)
            elif isinstance(part, Array):
                brought[d] = self._broadcast(part)
        result = np.zeros(len(own), np.int64)
        with collective(a.comm, None):
            sliced = 0
            for d, (part, extent) in enumerate(zip(self.parts, a.layout.shape)):
                if isinstance(part, range):
                    axis = sliced if sliced < self.first else sliced + self.inner
                    index = part.start + part.step * places[axis]
                    sliced += 1
                else:
                    index = brought.get(d)
                    if index is None:
                        within = self._within(part.shape, places, len(own))
                        index = part.reshape(-1)[within]
                    self._require_inside(index, d, extent)
                    index = index.astype(np.int64, copy=False)
                    if index.size and index.min() < 0:
                        index = np.where(index < 0, index + extent, index)
                result *= extent
                result += index
        return result

    def _is_full(self, part: Any) -> bool:
        """Whether it is a distributed array of one index for each row."""
        return isinstance(part, Array) and part.layout.shape == self.row_shape

    def _broadcast(self, part: Array) -> AnyArray:
        """The numbers for this process's rows in an index that is broadcast, each fetched once. The
        rows are on a grid of processes. Collective."""
        layout, rank = self.row_layout, self.a._rank_and_size[0]
        here = rank < layout.size
        indices = layout.global_indices(rank) if here else [np.empty(0, np.int64)] * layout.ndim
        end = self.first + self.inner
        wanted = np.zeros((), np.int64)
        for extent, index in zip(part.layout.shape, indices[end - part.layout.ndim : end]):
            wanted = wanted[..., None] * extent + (index if extent != 1 else np.zeros(1, np.int64))
        values = fetch(without_copies(part), wanted.reshape(-1)).reshape(wanted.shape)
        rows = values.reshape(values.shape + (1,) * (layout.ndim - end))
        return np.broadcast_to(rows, [len(index) for index in indices]).reshape(-1)

    def _within(self, shape: Shape, places: Any, count: int) -> Numbers:
        """Row-major numbers in an index of this shape, which is broadcast to `inner` dimensions."""
        result = np.zeros(count, np.int64)
        for extent, place in zip(shape, places[self.first + self.inner - len(shape) :]):
            if extent > 1:
                result = result * extent + place
        return result
