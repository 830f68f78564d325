# SPDX-License-Identifier: BSD-3-Clause
"""Masks and arrays of integers as an index: each element's owner reads and writes it."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather, exchange
from hocket.computing.elementwise import result_types
from hocket.computing.indexing import as_value, is_basic
from hocket.computing.layouts import Shape, balanced, chosen_numbers, held, numbers
from hocket.computing.operands import (
    bring,
    broadcast_shape,
    check_alike,
    communicator_of,
    made,
    replicated,
    without_copies,
)
from hocket.computing.shapes import expand_dims
from hocket.computing.sorting import sample_sort
from hocket.errors import Error, LayoutError, MismatchError
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


def locate(layout: Layout, wanted: Numbers) -> tuple[Numbers, Numbers]:
    """The owner of each row-major number, and the local index at the owner."""
    owners, offsets = np.empty_like(wanted), np.empty_like(wanted)
    layout._native.locate(np.ascontiguousarray(wanted), owners, offsets)
    return owners, offsets


def flat_local(a: Array) -> AnyArray:
    """The local elements in one dimension: a view where strides allow."""
    return a._current().reshape(-1)


def fetch(a: Array, wanted: Numbers) -> AnyArray:
    """The elements of these row-major numbers, which may be any on any process. Collective."""
    owners, offsets = locate(a.layout, wanted)
    order = np.argsort(owners, kind="stable")
    (asked,), counts = exchange(a.comm, owners, offsets)
    values = flat_local(a)[asked]
    back = np.repeat(np.arange(a._rank_and_size[1]), counts)
    (answers,), _ = exchange(a.comm, back, values)
    result = np.empty(len(wanted), a.dtype)
    result[order] = answers
    return result


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
    owners, offsets = locate(a.layout, wanted)
    (places, arrived, turns), _ = exchange(a.comm, owners, offsets, values, order)
    by_turn = np.argsort(turns, kind="stable")
    local = a._current()
    if combine is not None:
        combine.at(local, np.unravel_index(places[by_turn], local.shape), arrived[by_turn])
    elif local.flags.c_contiguous:
        local.reshape(-1)[places[by_turn]] = arrived[by_turn]
    elif local.size:
        local[np.unravel_index(places[by_turn], local.shape)] = arrived[by_turn]
    a._settle()


def packed(comm: Any, local: AnyArray) -> Array:
    """Rows of each process, one process after the other, as an array in even parts. Collective."""
    counts = allgather(comm, np.asarray([len(local)]))[:, 0]
    source = Layout((int(counts.sum()),), [gen_block(counts)], comm.size)
    return redistribute(made(local, source, comm), balanced((int(counts.sum()),), comm.size))


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
    return made(fetch(without_copies(a), wanted), plan.layout, a.comm)


def compress(mask: Any, a: Array) -> Array:
    """The elements where `mask` is true, in row-major order and even parts. Collective."""
    a = without_copies(a)
    rank = a._rank_and_size[0]
    here = np.broadcast_to(bring(mask, a.layout, rank, a.comm), a.local.shape)
    (_, values), _ = sample_sort(a.comm, [chosen_numbers(a.layout, rank, here)], a.local[here])
    return packed(a.comm, values)


def true_numbers(mask: Array) -> Array:
    """The row-major numbers of true elements, increasing, in even parts. Collective."""
    mask = without_copies(mask)
    here = chosen_numbers(mask.layout, mask._rank_and_size[0], mask.local)
    (found,), _ = sample_sort(mask.comm, [here])
    return packed(mask.comm, found)


def assign_chosen(
    a: Array, items: tuple[Any, ...], value: Any, combine: Optional[np.ufunc] = None
) -> None:
    """``a[mask] = value`` and ``a[rows, columns] = value``. Collective."""
    a, mask, items = without_masks(a, items)
    with collective(a.comm, None):
        if not a._local.flags.writeable:
            raise Error("the array is read-only; assign to one that may be written")
        plan = None if mask is not None else Selection(a, items)
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
    order = numbers(plan.layout, rank).reshape(-1)
    store(a, plan.numbers(), values.reshape(-1).astype(a.dtype), order, combine)


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
    rank = a._rank_and_size[0]
    here = np.broadcast_to(bring(mask, a.layout, rank, a.comm), a._local.shape)
    if value.ndim == 0:
        one = bring(value, a.layout, rank, a.comm)
        a._current()[here] = one
        a._settle()
        return
    alone = without_copies(a)
    if alone is not a:
        assign_masked(alone, mask, value)
        redistribute(alone, a.layout, out=a)
        return
    mine = chosen_numbers(a.layout, rank, here)
    # The number of each true element among all: they are sorted, numbered, and sent back.
    slots = np.arange(len(mine))
    (_, origin, slot), _ = sample_sort(a.comm, [mine], np.full(len(mine), rank), slots)
    counts = allgather(a.comm, np.asarray([len(slot)]))[:, 0]
    with collective(a.comm, None):
        total = int(counts.sum())
        if value.shape != (total,) and value.shape != (1,):
            raise LayoutError(
                f"the mask chooses {total} elements, and the value has shape {value.shape}"
            )
    places = int(counts[:rank].sum()) + np.arange(len(slot))
    (slot, places), _ = exchange(a.comm, origin, slot, places)
    position = np.empty(len(mine), np.int64)
    position[slot] = places
    if value.shape == (1,):
        position[...] = 0
    found = fetch(without_copies(value), position) if isinstance(value, Array) else value[position]
    a._current()[here] = found
    a._settle()


class Selection:
    """An index with arrays of integers: the shape and layout of the result, and what it reads."""

    def __init__(self, a: Array, items: tuple[Any, ...]) -> None:
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
        a, rank = self.a, self.a._rank_and_size[0]
        own = numbers(self.layout, rank).reshape(-1)
        places = np.unravel_index(own, self.shape) if self.shape else ()
        brought = {}
        for d, part in enumerate(self.parts):
            if isinstance(part, Array) and part.layout.shape == self.shape:
                brought[d] = bring(part, self.layout, rank, a.comm).reshape(-1)
            elif isinstance(part, Array):  # broadcast, and therefore small beside the result
                brought[d] = replicated(part)
        result = np.zeros(len(own), np.int64)
        with collective(a.comm, None):
            sliced = 0
            for d, (part, extent) in enumerate(zip(self.parts, a.layout.shape)):
                if isinstance(part, range):
                    axis = sliced if sliced < self.first else sliced + self.inner
                    index = part.start + part.step * places[axis]
                    sliced += 1
                else:
                    values = brought.get(d, part)
                    if isinstance(part, Array) and part.layout.shape == self.shape:
                        index = values
                    else:
                        index = self._picked(values, places)
                    self._require_inside(index, d, extent)
                    index = np.where(index < 0, index + extent, index)
                result = result * extent + index
        return result

    def _picked(self, values: AnyArray, places: Any) -> AnyArray:
        inner = places[self.first : self.first + self.inner]
        offset = self.inner - values.ndim
        at = tuple(
            inner[offset + d] if extent > 1 else np.zeros_like(inner[offset + d])
            for d, extent in enumerate(values.shape)
        )
        return values[at] if at else np.full(len(places[0]) if places else 1, values)
