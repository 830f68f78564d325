# SPDX-License-Identifier: BSD-3-Clause
"""Partial results of processes, combined and brought to the shape of the result.

Along a distributed axis, each process has a partial result. The partial results of one part of the
axis form an aligned array: the elements that HPF's ``A(j) WITH T(i, j)`` gives to holders of index
i. They move to the processes of the result, one part of the axis after the other.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array, local_shape
from hocket.computing.collecting import allgather
from hocket.computing.layouts import (
    Shape,
    aligned,
    balanced,
    held,
    is_grid,
    kept,
    numbers,
    parts_along,
    without,
)
from hocket.computing.operands import made
from hocket.errors import MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]


@kept
def partial_layouts(layout: Layout, axes: Shape) -> list[Layout]:
    """The layouts of partial results over `axes`, one a combination of the axes' parts; their
    shape has extent 1 in `axes`."""
    shape = tuple(1 if d in axes else extent for d, extent in enumerate(layout.shape))
    choices = [parts_along(layout, d) if d in axes else (None,) for d in range(layout.ndim)]
    own = ["*" if d in axes else f"i{d}" for d in range(layout.ndim)]
    found = []
    for place in np.ndindex(*map(len, choices)):
        at = [choices[d][place[d]] for d in range(layout.ndim)]
        template = [own[d] if at[d] is None else str(at[d]) for d in range(layout.ndim)]
        found.append(aligned(shape, own, template, layout))
    return found


def on_grid(a: Array) -> Array:
    """`a` in a layout whose parts are products of sets of indices. Collective."""
    if is_grid(a.layout):
        return a
    return redistribute(a, balanced(a.layout.shape, a.layout.size))


@kept
def leads(layout: Layout, rank: int) -> bool:
    """Whether this process is the lowest that holds its elements, in a layout on a grid."""
    if rank >= layout.size or not layout.local_elements(rank):
        return False
    if held(layout) == layout.num_elements:
        return True
    return layout.owner([int(each[0]) for each in layout.global_indices(rank)]) == rank


#: the most bytes of partial results that every process gathers, rather than only those it needs
SMALL = 1 << 18


@kept
def places(
    layout: Layout, axes: Shape, rank: int
) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The most partial results over `axes` that a process has; and, for each part of the axes and
    each element of this process in the result, the process that has its partial result, and the
    number there."""
    shapes = [layout.local_shape(r) for r in range(layout.size)]
    most = max(math.prod(e for d, e in enumerate(s) if d not in axes) for s in shapes)
    wanted = numbers(without(layout, axes, True), rank).reshape(-1)
    layouts = partial_layouts(layout, axes)
    owners, offsets = (np.empty((len(layouts), len(wanted)), np.int64) for _ in range(2))
    for part, owner, offset in zip(layouts, owners, offsets):
        part._native.locate(wanted, owner, offset)
    return most, owners, offsets


def gathered(
    partial: AnyArray, a: Any, axes: Shape, head: bool = True
) -> Optional[tuple[AnyArray, bool]]:
    """The partial results that this process needs, (parts of the axes, its elements of the result),
    and whether `head` holds everywhere; None if all partial results are too many for one message
    to everybody. Collective."""
    rank, size = a._rank_and_size
    most, owners, offsets = places(a.layout, axes, rank)
    if most * partial.itemsize * size > SMALL:
        return None
    row = np.zeros(1 + most * partial.itemsize, np.uint8)
    row[0] = head
    if partial.size:
        own = np.ascontiguousarray(partial).reshape(-1).view(np.uint8)
        row[1 : 1 + len(own)] = own
    rows = allgather(a.comm, row)
    came = np.ascontiguousarray(rows[:, 1:]).view(partial.dtype)
    return came[owners, offsets], bool(rows[:, 0].all())


def combined(
    partial: AnyArray,
    a: Any,
    axes: Shape,
    combine: Callable[[AnyArray, AnyArray], AnyArray],
    identity: Any = 0,
) -> Array:
    """Partial results over `axes`, which have extent 1 there, as one array. Collective.

    The result has the layout that the reduction leaves, ``without(a.layout, axes, True)``.
    """
    target = without(a.layout, axes, True)
    rank = a._rank_and_size[0]
    layouts = partial_layouts(a.layout, axes)
    if not layouts:  # there are no elements
        value = np.asarray(identity).astype(partial.dtype)  # -1 of bitwise_and has no sign there
        return made(np.full(local_shape(target, a.comm), value), target, a.comm)
    if len(layouts) == 1 and layouts[0] == target:
        return made(partial, target, a.comm)
    few = gathered(partial, a, axes)
    if few is not None:
        return made(functools.reduce(combine, few[0]), target, a.comm)
    result: Optional[AnyArray] = None
    nothing = partial[:0].reshape((0,) * max(1, partial.ndim))
    for layout in layouts:
        here = rank < layout.size and layout.local_elements(rank) > 0
        moved = redistribute(made(partial if here else nothing, layout, a.comm), target).local
        result = moved if result is None else combine(result, moved)
    assert result is not None
    return made(result, target, a.comm)


def finish(
    result: Array, axes: Shape, keepdims: bool, out: Any, dtype: Optional[np.dtype[Any]] = None
) -> Array:
    """Brings a result with extent 1 along `axes` to the requested shape, or to `out`.
    Collective."""
    if dtype is not None and result.dtype != dtype:
        result = made(result.local.astype(dtype), result.layout, result.comm)
    if not keepdims:
        layout = squeezed(result.layout, axes)
        local = result.local
        if local.ndim == result.layout.ndim and local.ndim:
            local = np.squeeze(local, tuple(d for d in axes if local.shape[d] == 1))
        result = made(local, layout, result.comm)
    if out is None:
        return result
    to_out(result, out)
    return out  # type: ignore[no-any-return]


@kept
def squeezed(layout: Layout, axes: Shape) -> Layout:
    """Without dimensions of extent 1."""
    left = [d for d in range(layout.ndim) if d not in axes]
    own = [f"i{d}" for d in left]
    template = ["0" if d in axes else f"i{d}" for d in range(layout.ndim)]
    return aligned(tuple(layout.shape[d] for d in left), own, template, layout)


def to_out(result: Any, out: Any, casting: Any = "same_kind") -> Any:
    """`result`, an array or a scalar, written to `out`, if NumPy's rule `casting` allows it.
    Collective."""
    from hocket.computing.indexing import put

    if not isinstance(out, Array):
        raise MismatchError(f"out is {type(out).__name__}; give an array made by hk.empty")
    shape = result.layout.shape if isinstance(result, Array) else np.shape(result)
    if out.layout.shape != shape:
        raise MismatchError(f"out has the shape {out.layout.shape}, and the result {shape}")
    has = result.dtype if isinstance(result, Array) else np.asarray(result).dtype
    if not np.can_cast(has, out.dtype, casting):
        raise MismatchError(
            f"out has elements of {out.dtype}, and the result has {has}, which does not convert by "
            f"the rule {casting!r}; give an out of {has}"
        )
    put(out, ..., result)
    return out


def scalar(value: Any, dtype: np.dtype[Any], keepdims: bool, a: Array, out: Any) -> Any:
    """A full reduction's result: a NumPy scalar, or an array for `keepdims` and `out`."""
    found = np.asarray(value).astype(dtype)[()]
    if keepdims:
        from hocket.computing.layouts import replicated_layout

        shape = (1,) * a.layout.ndim
        result = made(np.full(shape, found), replicated_layout(shape, a._rank_and_size[1]), a.comm)
        return result if out is None else to_out(result, out)
    return found if out is None else to_out(found, out)
