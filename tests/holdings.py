# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of layout by brute force: alignments, sections, segments, relabelings, copies.

A `Holding` lists what each process holds, and each way to make a new one follows the words of the
standard (High Performance Fortran 1.0, chapter 3) for every index of every process. Beside it lies
what to ask of the library for the same. Nothing here looks at the library's algebra.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

import numpy as np

from oracle import Index, Spec

#: A subscript of an alignment: (array dimension, stride, offset), a constant, or `*`.
Subscript = Union[tuple[int, int, int], int, None]
#: For each dimension the indices that a process holds; None: it takes no part.
Part = Optional[list[np.ndarray]]


@dataclass(frozen=True)
class Holding:
    """The indices of every process. `flat`: one list of row-major numbers, in the order of the
    local array (explicit segments, elements); else one list a dimension. `ask` makes the
    library's layout, given the package."""

    shape: Index
    parts: tuple[Part, ...]
    flat: bool
    name: str
    ask: Callable[[Any], Any]
    kind: str = ""  # "elements", which equal only their own kind, or "boxes"

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def ordered(self) -> bool:
        """True where the user gives the order of the local arrays."""
        return self.kind == "elements"

    def layout(self, hk: Any) -> Any:
        return self.ask(hk)

    def local_shape(self, rank: int) -> Index:
        part = self.parts[rank] if rank < self.size else None
        if part is None:
            return (0,) if self.flat else (0,) * len(self.shape)
        return tuple(len(held) for held in part)

    def holds(self, rank: int) -> np.ndarray:
        """bool of `shape`: what this process holds."""
        held = np.zeros(self.shape, dtype=bool)
        part = self.parts[rank]
        if part is not None and self.flat:
            held.reshape(-1)[part[0]] = True
        elif part is not None:
            held[np.ix_(*part)] = True
        return held

    def mask(self) -> np.ndarray:
        """bool (size, *shape)."""
        return np.array([self.holds(rank) for rank in range(self.size)])

    def local(self, whole: np.ndarray, rank: int) -> np.ndarray:
        """The local array of a process, given the whole one."""
        part = self.parts[rank] if rank < self.size else None
        if part is None:  # without dimensions an array of shape () would hold an element
            return np.empty(self.local_shape(rank) or (0,), dtype=whole.dtype)
        picked = whole.reshape(-1)[part[0]] if self.flat else whole[np.ix_(*part)]
        return np.ascontiguousarray(picked).reshape(self.local_shape(rank))


def plain(spec: Spec) -> Holding:
    """An array distributed by itself."""
    parts: list[Part] = [spec.indices(rank) for rank in range(spec.size)]
    return Holding(spec.shape, tuple(parts), False, str(spec), spec.layout)


def indexed(shape: Index, lists: Sequence[Sequence[tuple[int, int]]]) -> Holding:
    """Explicit segments of the flattened array."""
    parts: list[Part] = []
    for segments in lists:
        places = [place for first, length in segments for place in range(first, first + length)]
        parts.append([np.array(sorted(places), dtype=np.int64)])
    name = f"Layout.indexed({shape}, {lists})"
    return Holding(shape, tuple(parts), True, name, lambda hk: hk.Layout.indexed(shape, lists))


def boxes(shape: Index, pairs: Sequence[tuple[Index, Index]]) -> Holding:
    """A box a process."""
    parts: list[Part] = [
        [np.arange(start, stop, dtype=np.int64) for start, stop in zip(*pair)] for pair in pairs
    ]
    name = f"Layout.boxes({shape}, {pairs})"
    ask = lambda hk: hk.Layout.boxes(shape, pairs)  # noqa: E731
    return Holding(shape, tuple(parts), False, name, ask, "boxes")


def elements(shape: Index, lists: Sequence[Sequence[int]]) -> Holding:
    """Listed elements."""
    parts: list[Part] = [[np.array(each, dtype=np.int64)] for each in lists]
    name = f"Layout.elements({shape}, {lists})"
    ask = lambda hk: hk.Layout.elements(shape, lists)  # noqa: E731
    return Holding(shape, tuple(parts), True, name, ask, "elements")


def aligned_lists(
    shape: Index, subscripts: Sequence[Subscript], target: Holding
) -> tuple[tuple[Part, ...], bool]:
    """The parts of an array that is aligned with lists, and whether they are elements: in the order
    of the template's, but increasing where `*` stands for several positions."""
    several = any(s is None and n > 1 for s, n in zip(subscripts, target.shape))
    ordered = target.ordered or several
    parts: list[Part] = []
    for part in target.parts:
        found: list[int] = []
        where = {int(place): k for k, place in enumerate(part[0] if part else ())}
        keyed = []
        for number, index in enumerate(np.ndindex(*shape)):
            positions = [
                range(n)
                if s is None
                else [s]
                if isinstance(s, int)
                else [s[1] * index[s[0]] + s[2]]
                for s, n in zip(subscripts, target.shape)
            ]
            places = [
                int(np.ravel_multi_index(at, target.shape)) if at else 0
                for at in itertools.product(*positions)
            ]
            locals_ = [where[place] for place in places if place in where]
            if locals_:
                keyed.append((locals_[0] if target.ordered and not several else 0, number))
        found = [number for _, number in sorted(keyed)]
        parts.append([np.array(found, dtype=np.int64)])
    return tuple(parts), ordered


def aligned(shape: Index, subscripts: Sequence[Subscript], target: Holding, text: str) -> Holding:
    """Element i of the array lies where its position of the template lies; `text` says the same as
    `subscripts`, one a dimension of the template."""
    if target.flat:
        lists, ordered = aligned_lists(shape, subscripts, target)
        ask_target = target.ask
        return Holding(
            shape,
            lists,
            True,
            f"Layout.aligned({shape}, {text!r}, {target})",
            lambda hk: hk.Layout.aligned(shape, text, ask_target(hk)),
            "elements" if ordered else "",
        )

    def part_of(part: Part) -> Part:
        if part is None:
            return None
        result = [np.arange(extent) for extent in shape]
        for held, subscript in zip(part, subscripts):
            if isinstance(subscript, tuple):
                d, stride, offset = subscript
                mine = [i for i in range(shape[d]) if stride * i + offset in held]
                result[d] = np.array(mine, dtype=np.int64)
            elif (subscript is None and not len(held)) or (
                isinstance(subscript, int) and subscript not in held
            ):
                return None
        return result

    parts = tuple(part_of(part) for part in target.parts)
    name = f"Layout.aligned({shape}, {text!r}, {target})"
    ask = target.ask
    return Holding(
        shape, parts, False, name, lambda hk: hk.Layout.aligned(shape, text, ask(hk)), target.kind
    )


def section(whole: Holding, slices: tuple[Any, ...]) -> Holding:
    """The elements that NumPy selects by `slices`: one integer or slice a dimension."""
    ask, name = whole.ask, f"{whole}.section({slices})"
    shape = np.empty(whole.shape, dtype=np.int8)[slices].shape
    if whole.flat:
        # Which element of the section each element of the array is; -1: none.
        numbers = np.full(whole.shape, -1)
        numbers[slices] = np.arange(int(np.prod(shape))).reshape(shape)
        flat: list[Part] = []
        for part in whole.parts:
            held = numbers.reshape(-1)[part[0]] if part else np.empty(0, dtype=np.int64)
            held = held[held >= 0]
            flat.append([held if whole.ordered else np.sort(held)])
        return Holding(
            shape, tuple(flat), True, name, lambda hk: ask(hk).section(slices), whole.kind
        )
    parts: list[Part] = []
    for part in whole.parts:
        kept: Part = None if part is None else []
        for d, each in enumerate(slices):
            if part is None or kept is None:
                continue
            if isinstance(each, slice):
                selected = np.arange(whole.shape[d])[each]
                kept.append(np.flatnonzero(np.isin(selected, part[d])))
            elif each % whole.shape[d] not in part[d]:
                kept = None
        parts.append(kept)
    return Holding(shape, tuple(parts), False, name, lambda hk: ask(hk).section(slices), whole.kind)


def relabeled(before: Holding, ranks: Sequence[int], size: int) -> Holding:
    """Process ranks[r] holds what process r held, the others nothing."""
    parts: list[Part] = [None] * size
    for old, new in enumerate(ranks):
        parts[new] = before.parts[old]
    ask, name = before.ask, f"{before}.relabeled({list(ranks)}, {size})"
    return Holding(
        before.shape,
        tuple(parts),
        before.flat,
        name,
        lambda hk: ask(hk).relabeled(ranks, size),
        before.kind,
    )


def check_layout(hk: Any, holding: Holding, lay: Any) -> None:
    """Everything that a layout says of itself, element by element."""
    assert lay.shape == holding.shape and lay.size == holding.size
    held = holding.mask()
    for rank in range(holding.size):
        assert lay.local_shape(rank) == holding.local_shape(rank)
        assert lay.local_elements(rank) == np.count_nonzero(held[rank])
        part = holding.parts[rank]
        indices = lay.global_indices(rank)
        if part is not None:
            assert len(indices) == len(part)
            for got, expected in zip(indices, part):
                np.testing.assert_array_equal(got, expected)
    places = np.arange(held[0].size).reshape(holding.shape)
    check_slices(lay, holding, places)
    for index in np.ndindex(*holding.shape):
        owners = np.flatnonzero(held[(slice(None), *index)]).tolist()
        assert lay.owners(index) == owners
        if not owners:
            continue
        assert lay.owner(index) == owners[0]
        local = holding.local(places, owners[0])
        there = lay.local_index(index)
        assert local[there] == places[index]


def check_slices(lay: Any, holding: Holding, whole: np.ndarray) -> None:
    """Slices where there are any, boxes where all have a step of 1; else an error."""
    boxes = True
    for rank in range(holding.size):
        part = [] if holding.parts[rank] is None else holding.parts[rank]
        equal = all(len(set(np.diff(each).tolist())) <= 1 for each in part)
        boxes &= equal and all(set(np.diff(each).tolist()) <= {1} for each in part)
        try:
            slices = lay.slices(rank)
        except ValueError:
            assert holding.flat or not equal
            continue
        assert equal and not holding.flat
        if holding.parts[rank] is not None:
            np.testing.assert_array_equal(whole[slices], holding.local(whole, rank))
    try:
        pairs = lay.to_boxes()
    except ValueError:
        assert holding.flat or not boxes
        return
    assert boxes and not holding.flat
    if holding.shape:
        again = type(lay).boxes(holding.shape, pairs)
        assert [again.local_elements(r) for r in range(lay.size)] == [
            lay.local_elements(r) for r in range(lay.size)
        ]
        assert again.local_shape(0) == lay.local_shape(0)
        assert again.to_boxes() == pairs


def common(source: Holding, destination: Holding, axes: Index | None) -> np.ndarray:
    """int64 (source.size, destination.size): how many elements both hold."""
    have = source.mask()
    if axes is not None:
        have = have.transpose((0, *(axis + 1 for axis in axes)))
    have = have.reshape(source.size, -1).astype(np.int64)
    want = destination.mask().reshape(destination.size, -1).astype(np.int64)
    return np.asarray(have @ want.T)


def missing(source: Holding, destination: Holding, axes: Index | None) -> Index | None:
    """The first element, in the destination's order, that it holds and the source lacks."""
    have = source.mask().any(axis=0)
    have = have if axes is None else have.transpose(axes)
    lacking = np.argwhere(destination.mask().any(axis=0) & ~have)
    return tuple(int(i) for i in lacking[0]) if len(lacking) else None


def check_plan(plan: Any, source: Holding, destination: Holding, axes: Index | None) -> np.ndarray:
    """Carries out a plan by its boxes in memory: both sides tell the same, nobody sends what it
    does not hold, and every element that a destination process holds comes to its place exactly
    once. Returns who sends how much to whom."""
    whole = np.arange(int(np.prod(source.shape)), dtype=np.int64).reshape(source.shape) + 1
    turned = whole if axes is None else whole.transpose(axes)
    by_source, by_destination = {}, {}
    for rank in range(source.size):
        for peer, boxes in plan.boxes("src", rank):
            by_source[rank, peer] = boxes
    for rank in range(destination.size):
        for peer, boxes in plan.boxes("dst", rank):
            by_destination[peer, rank] = boxes
    assert by_source == by_destination, "the two sides disagree"
    sent = np.zeros((source.size, destination.size), dtype=np.int64)
    received = [np.zeros(destination.local_shape(r), np.int64) for r in range(destination.size)]
    for (s, d), boxes in by_source.items():
        local = source.local(whole, s)
        for source_first, destination_first, loops in boxes:
            for steps in np.ndindex(*(loop[0] for loop in loops)):
                here, there = list(source_first), list(destination_first)
                for k, (_, a, by, b, to) in zip(steps, loops):
                    here[a] += k * by
                    there[b] += k * to
                assert min(here, default=0) >= 0 and min(there, default=0) >= 0
                assert received[d][tuple(there)] == 0, "an element arrives twice"
                received[d][tuple(there)] = local[tuple(here)]
                sent[s, d] += 1
    for rank, part in enumerate(destination.parts):
        if part is None:  # of no dimensions, the shape does not say that nothing is held
            assert not sent[:, rank].any()
            continue
        np.testing.assert_array_equal(received[rank], destination.local(turned, rank))
    for rank in range(source.size):
        assert plan.sends(rank) == [(d, n) for d, n in enumerate(sent[rank].tolist()) if n]
    for rank in range(destination.size):
        assert plan.recvs(rank) == [(s, n) for s, n in enumerate(sent[:, rank].tolist()) if n]
    return sent
