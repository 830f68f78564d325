# SPDX-License-Identifier: BSD-3-Clause
"""Random layouts of every kind, by one function that chooses an integer from a range.

`from_rng` makes that function of a NumPy generator, which every process of a test seeds alike;
`st.data()` of hypothesis makes one whose choices shrink.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

import holdings
import oracle
from holdings import Holding, Subscript
from oracle import Format, Index, Spec

Choose = Callable[[int, int], int]

DUMMIES = "ijklmnopqrsuvwxyz"


def from_rng(rng: np.random.Generator) -> Choose:
    """Both ends belong to the range."""
    return lambda low, high: int(rng.integers(low, high + 1))


def any_shape(choose: Choose) -> Index:
    """Up to three dimensions and a few dozen elements; extents of 0 and 1 are among them."""
    dimensions = choose(0, 3)
    side = {0: 0, 1: 24, 2: 6, 3: 4}[dimensions]
    return tuple(choose(0 if choose(0, 9) == 0 else 1, side) for _ in range(dimensions))


def any_spec(choose: Choose, shape: Index, processes: int) -> Spec:
    """BLOCK, CYCLIC, * and copies on at most so many processes."""
    procs: list[int] = []
    formats, copies = [], []
    budget = processes

    def extent_of_processes() -> int:
        nonlocal budget
        extent = choose(1, max(1, min(4, budget)))
        budget //= extent
        procs.append(extent)
        return extent

    for extent in shape:
        if choose(0, 5) == 0:
            copies.append(len(procs))
            extent_of_processes()
        kind = choose(0, 8)
        if kind <= 1:
            formats.append(Format("*"))
            continue
        p = extent_of_processes()
        if kind == 2:
            formats.append(Format("BLOCK"))
        elif kind == 3:
            formats.append(Format("BLOCK", max(1, -(-extent // p)) + choose(0, 2)))
        elif kind == 4:
            formats.append(Format("CYCLIC"))
        elif kind == 5:
            formats.append(Format("BALANCED"))
        elif kind == 6:
            formats.append(oracle.gen_block(choose, extent, p))
        elif kind == 7:
            owners = tuple(choose(0, p - 1) for _ in range(extent))
            formats.append(Format("INDIRECT", None, owners))
        else:
            formats.append(Format("CYCLIC", choose(1, extent + 1)))
    if choose(0, 5) == 0:
        copies.append(len(procs))
        extent_of_processes()
    return Spec(shape, tuple(formats), tuple(procs), tuple(copies))


def any_segments(choose: Choose, shape: Index, processes: int, gaps: bool) -> Holding:
    """Explicit segments, which leave some elements to nobody where `gaps`."""
    elements = int(np.prod(shape))
    lists: list[list[tuple[int, int]]] = [[] for _ in range(choose(1, processes))]
    place = 0
    while place < elements:
        length = min(choose(1, 5), elements - place)
        if not gaps or choose(0, 3) > 0:
            lists[choose(0, len(lists) - 1)].append((place, length))
        place += length
    for each in lists:
        if choose(0, 1):
            each.reverse()
        if choose(0, 5) == 0:
            each.append((choose(0, elements), 0))
    return holdings.indexed(shape, lists)


def any_boxes(choose: Choose, shape: Index, processes: int, gaps: bool) -> Holding:
    """A box a process: cut from the whole until there is one for each, then some left out, where
    `gaps`, and some made larger, so that they overlap."""
    whole = (tuple(0 for _ in shape), tuple(shape))
    boxes = [whole]
    count = choose(1, processes)
    while len(boxes) < count and shape:
        start, stop = boxes.pop(choose(0, len(boxes) - 1))
        d = choose(0, len(shape) - 1)
        at = choose(start[d], stop[d])
        boxes.append((start, (*stop[:d], at, *stop[d + 1 :])))
        boxes.append(((*start[:d], at, *start[d + 1 :]), stop))
    if choose(0, 2) == 0:
        for k, (start, stop) in enumerate(boxes):
            grown = [max(0, a - choose(0, 1)) for a in start]
            boxes[k] = (tuple(grown), tuple(min(n, b + choose(0, 1)) for n, b in zip(shape, stop)))
    if choose(0, 5) == 0 and len(boxes) < processes:
        boxes.append(whole)
    if gaps and len(boxes) > 1 and choose(0, 1):
        boxes[choose(0, len(boxes) - 1)] = (tuple(shape), tuple(shape)) if shape else whole
    return holdings.boxes(shape, boxes)


def any_elements(choose: Choose, shape: Index, processes: int, gaps: bool) -> Holding:
    """Lists in any order, some elements on several processes, some on none where `gaps`."""
    lists: list[list[int]] = [[] for _ in range(choose(1, processes))]
    copies = choose(0, 2) == 0
    for place in range(int(np.prod(shape))):
        if gaps and choose(0, 7) == 0:
            continue
        holders = {choose(0, len(lists) - 1) for _ in range(choose(1, 3) if copies else 1)}
        for rank in holders:
            lists[rank].insert(choose(0, len(lists[rank])) if choose(0, 1) else 0, place)
    for each in lists:
        if choose(0, 1):
            each.sort()
    return holdings.elements(shape, lists)


def linear(choose: Choose, dummy: str, stride: int, offset: int) -> str:
    """One of the ways to write stride*dummy + offset."""
    way = choose(0, 3)
    if way == 0:
        return f"{stride}*{dummy}+({offset})" if offset < 0 else f"{stride}*{dummy}+{offset}"
    if way == 1:
        return f"{offset} - {-stride}*{dummy}" if stride < 0 else f"{offset} + {dummy}*{stride}"
    if way == 2:
        return f"{stride}*({dummy}-1) + {offset + stride}"
    return f"-({-stride}*{dummy} - {offset})"


def any_alignment(choose: Choose, shape: Index, processes: int, depth: int) -> Holding:
    """Onto a template large enough, whose dimensions are in any order: offsets, strides of either
    sign, constants, and `*` on either side."""
    dimensions: list[Any] = [d for d in range(len(shape)) if choose(0, 4) > 0]
    dimensions += [choose(-2, -1) for _ in range(choose(0, 2 if len(dimensions) < 3 else 1))]
    order = []
    while dimensions:
        order.append(dimensions.pop(choose(0, len(dimensions) - 1)))
    subscripts: list[Subscript] = []
    words, target = [], []
    for d in order:
        if d == -1:
            extent = choose(1, 4)
            subscripts.append(None)
            words.append("*")
        elif d == -2:
            extent = choose(1, 5)
            subscripts.append(choose(0, extent - 1))
            words.append(str(subscripts[-1]))
        else:
            stride = choose(1, 3) * (1 if choose(0, 1) else -1)
            reach = abs(stride) * max(0, shape[d] - 1)
            offset = choose(0, 2) + (reach if stride < 0 else 0)
            extent = reach + 1 + choose(0, 2) + 2
            subscripts.append((d, stride, offset))
            words.append(linear(choose, DUMMIES[d], stride, offset))
        target.append(extent)
    used = {s[0] for s in subscripts if isinstance(s, tuple)}
    dummies = [DUMMIES[d] if d in used else "*" for d in range(len(shape))]
    text = f"A({', '.join(dummies)}) WITH T({', '.join(words)})"
    template = any_layout(choose, tuple(target), processes, depth - 1)
    return holdings.aligned(shape, subscripts, template, text)


def any_section(choose: Choose, shape: Index, processes: int, depth: int, **kinds: bool) -> Holding:
    """A section of this shape of a larger array: steps of either sign, integers between."""
    whole: list[int] = []
    slices: list[Any] = []

    def integers() -> None:
        while len(whole) < 5 and choose(0, 4) == 0:
            whole.append(choose(1, 3))
            at = choose(0, whole[-1] - 1)
            slices.append(at - whole[-1] if choose(0, 1) else at)

    for extent in shape:
        integers()
        step = choose(1, 3)
        first = choose(0, 2)
        reach = step * max(0, extent - 1)
        whole.append(first + reach + 1 + choose(0, 2))
        if extent == 0:
            slices.append(slice(first, first, step))
        elif choose(0, 1):
            slices.append(slice(first, first + reach + 1, step))
        else:
            slices.append(slice(first + reach, first - 1 if first else None, -step))
    integers()
    array = any_layout(choose, tuple(whole), processes, depth - 1, **kinds)
    return holdings.section(array, tuple(slices))


def any_layout(
    choose: Choose,
    shape: Index,
    processes: int,
    depth: int = 2,
    *,
    segments: bool = True,
    gaps: bool = False,
) -> Holding:
    """A layout of any kind on at most `processes`; alignments and sections nested `depth` deep."""
    kind = choose(0, 5)
    if depth > 0 and kind == 0:
        return any_alignment(choose, shape, processes, depth)
    if depth > 0 and kind == 1:
        return any_section(choose, shape, processes, depth, segments=segments, gaps=gaps)
    if depth > 0 and kind == 2:
        before = any_layout(choose, shape, processes, depth - 1, segments=segments, gaps=gaps)
        size = choose(before.size, max(before.size, processes))
        ranks = list(range(size))
        chosen = [ranks.pop(choose(0, len(ranks) - 1)) for _ in range(before.size)]
        return holdings.relabeled(before, chosen, size)
    if segments and kind == 3:
        kinds = [any_segments, any_boxes, any_elements]
        return kinds[choose(0, 2)](choose, shape, processes, gaps)
    return holdings.plain(any_spec(choose, shape, processes))


def any_pair(
    choose: Choose, processes: int, *, gaps: bool = True
) -> tuple[Holding, Holding, Index | None]:
    """(source, destination, axes); the destination may have gaps, and the source where `gaps`."""
    shape = any_shape(choose)
    axes: Index | None = None
    if len(shape) > 1 and choose(0, 2) == 0:
        left = list(range(len(shape)))
        axes = tuple(left.pop(choose(0, len(left) - 1)) for _ in shape)
    turned = shape if axes is None else tuple(shape[axis] for axis in axes)
    source = any_layout(choose, shape, processes, gaps=gaps)
    return source, any_layout(choose, turned, processes, gaps=True), axes
