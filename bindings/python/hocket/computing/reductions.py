# SPDX-License-Identifier: BSD-3-Clause
"""Reductions over global axes: each process reduces its part, and then processes combine partial
results.

Along a distributed axis, each process has a partial result. The partial results of one part of the
axis form an aligned array: the elements that HPF's ``A(j) WITH T(i, j)`` gives to holders of index
i. They move to the processes of the result, one part of the axis after the other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.collecting import allgather
from hocket.computing.exact import Sums, is_exact, local_pairs, local_sum, sum_of_pairs
from hocket.computing.layouts import (
    Shape,
    aligned,
    balanced,
    held,
    is_grid,
    kept,
    parts_along,
    reduced_axes,
    without,
)
from hocket.computing.operands import made, without_copies
from hocket.creation import empty
from hocket.errors import MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]

#: the most bytes of accumulators of a reduction at a time
TILE = 32 << 20


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


#: each process reduces its part, and then all combine theirs
ASSOCIATIVE = frozenset(
    [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.gcd, np.lcm]
).union(
    [np.logical_and, np.logical_or, np.logical_xor, np.logaddexp, np.logaddexp2],
    [np.bitwise_and, np.bitwise_or, np.bitwise_xor],
)


def require_associative(ufunc: np.ufunc, method: str) -> None:
    """Raises `TypeError` for others, whose result would depend on the layout."""
    if ufunc not in ASSOCIATIVE:
        raise TypeError(
            f"np.{ufunc.__name__}.{method} of distributed arrays: {ufunc.__name__} is not "
            "associative; use np.add, a.local or hk.map_blocks"
        )


@functools.lru_cache(maxsize=1024)
def reduced_type(ufunc: np.ufunc, dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """The dtype of a reduction's result. Raises as NumPy."""
    return ufunc.reduce(np.ones(1, dtype), dtype=wanted).dtype  # type: ignore[no-any-return]


def reduce(
    ufunc: np.ufunc,
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
) -> Any:
    """``ufunc.reduce(a, axis)`` over global axes; sums of floating-point numbers are exact.
    Collective."""
    require_associative(ufunc, "reduce")
    with collective(a.comm, None):
        axes = reduced_axes(axis, a.layout.ndim)
        try:
            wanted = reduced_type(ufunc, a.dtype, None if dtype is None else np.dtype(dtype))
            if ufunc.identity is None and any(a.layout.shape[d] == 0 for d in axes):
                raise ValueError("no elements to reduce, and no identity")
        except (TypeError, ValueError) as error:
            raise MismatchError(f"np.{ufunc.__name__} does not reduce {a.dtype}: {error}") from None
    if ufunc is np.add and is_exact(wanted):
        return exact_sum(a, axes, wanted, out, keepdims)
    if len(axes) == a.layout.ndim:
        return scalar(reduce_all(ufunc, a, wanted), wanted, keepdims, a, out)
    a = on_grid(a)
    local = a.local
    partial = local
    if local.ndim == a.layout.ndim and a._rank_and_size[0] < a.layout.size:
        if all(local.shape[d] for d in axes) or ufunc.identity is not None:
            partial = ufunc.reduce(local, axis=axes, dtype=wanted, keepdims=True)
    else:
        partial = local.astype(wanted)
    return finish(
        combined(partial, a, axes, ufunc, ufunc.identity or 0), axes, keepdims, out, wanted
    )


def reduce_all(ufunc: np.ufunc, a: Array, wanted: np.dtype[Any]) -> Any:
    """The reduction over all elements. Collective."""
    a = without_copies(a)
    local = a.local
    if local.size:
        mine = np.asarray(ufunc.reduce(local, axis=None, dtype=wanted))
    else:
        mine = np.zeros((), wanted)
    flags = np.asarray(local.size > 0)
    found = allgather(a.comm, np.frombuffer(flags.tobytes() + mine.tobytes(), np.uint8))
    values = np.frombuffer(found[found[:, 0] != 0, 1:].tobytes(), wanted)
    return ufunc.reduce(values, dtype=wanted)


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
    if 32 * target.num_elements * len(layouts) <= TILE:
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
    if not allgather(a.comm, np.asarray(exact)).all():
        return None
    rank = a._rank_and_size[0]
    element = np.dtype((np.void, pairs.shape[-2] * 16))
    shape = tuple(1 if d in axes else extent for d, extent in enumerate(local.shape))
    mine = pairs.reshape(-1).view(element).reshape(shape)
    nothing = np.empty((0,) * max(1, len(shape)), element)
    came = []
    for layout in layouts:
        here = rank < layout.size and layout.local_elements(rank) > 0
        moved = redistribute(made(mine if here else nothing, layout, a.comm), target).local
        came.append(moved.view(np.float64).reshape(*moved.shape, pairs.shape[-2], 2))
    return made(sum_of_pairs(np.stack(came), wanted), target, a.comm)


def tiles(target: Layout, wanted: np.dtype[Any]) -> Iterator[tuple[slice, ...]]:
    """Sections of the result whose accumulators fit `TILE`; equal on all processes."""
    each = Sums((), wanted, products=False).words.nbytes
    most = max(1, TILE // each)
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
