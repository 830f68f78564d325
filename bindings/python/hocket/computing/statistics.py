# SPDX-License-Identifier: BSD-3-Clause
"""Means, variances, counts, and positions of extremes."""

from __future__ import annotations

import functools
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import chosen_terms
from hocket.computing.combining import combined, finish, on_grid, remain, scalar, to_out
from hocket.computing.layouts import numbers, one_axis, reduced_axes
from hocket.computing.masks import true_numbers
from hocket.computing.operands import made, without_copies
from hocket.computing.reductions import of_parts, reduce_all
from hocket.errors import LayoutError, MismatchError


def mean(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """`numpy.mean`: the exact sum, rounded, divided by the count, rounded. Collective."""
    with collective(a.comm, None):
        axes = reduced_axes(axis, a.ndim)
        dtype = chosen_terms.computed_in(a, dtype, out)
        wanted = np.mean(np.ones(1, a.dtype), dtype=dtype).dtype
    count = chosen_terms.count(a, axes, keepdims, where)
    terms: Any = None if wanted.kind == "m" else wanted  # ufuncs take the unit from the operand
    if a.dtype.kind in "biu" and a.dtype.itemsize <= 4 and a.size < 1 << 31 and wanted == "f8":
        terms = np.int64  # has the same sum, and needs no copy of another type
    total = chosen_terms.reduce(np.add, a, axis, terms, None, keepdims, None, where)
    # If float16's sum overflows, the mean need not: compute it from the sum in float32.
    if wanted == np.float16 and bool(np.any(np.isinf(total))):
        total = chosen_terms.reduce(np.add, a, axis, np.float32, None, keepdims, None, where)
        result = np.true_divide(total, as_type(count, np.float32)).astype(wanted)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            kind = {"m": np.int64, "e": np.float32}.get(wanted.char, wanted.type)
            result = np.true_divide(total, as_type(count, kind)).astype(wanted)
    return result if out is None else to_out(result, out)


def as_type(count: Any, kind: Any) -> Any:
    """A number, or an array of numbers, of that type."""
    return count.astype(kind) if isinstance(count, Array) else kind(count)


def var(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    correction: Any = None,
) -> Any:
    """`numpy.var`: the mean of squared distances from the mean. Collective."""
    with collective(a.comm, None):
        if correction is not None and ddof != 0:
            raise MismatchError(f"ddof={ddof} and correction={correction} are one; give one")
        if np.iscomplexobj(ddof) or np.iscomplexobj(correction):
            raise MismatchError(f"ddof is {correction or ddof}; give a real number")
        axes = reduced_axes(axis, a.ndim)
        dtype = chosen_terms.computed_in(a, dtype, out)
        wanted = np.var(np.ones(1, a.dtype), dtype=dtype).dtype
    count = chosen_terms.count(a, axes, keepdims, where) - (correction or ddof)
    kind = None if a.dtype.kind in "fc" and dtype is None else wanted
    # A number is faster than an array, but NumPy 1 would compute in the array's shorter type.
    centre = mean(a, axis, kind, None, len(axes) < a.ndim or dtype is not None, where=where)
    distance = np.subtract(a, centre)
    distance = np.abs(distance) if a.dtype.kind == "c" else distance
    np.square(distance, out=distance)
    total = chosen_terms.reduce(np.add, distance, axis, wanted, None, keepdims, None, where)
    with np.errstate(invalid="ignore", divide="ignore"):
        result = np.true_divide(total, as_type(np.maximum(count, 0), wanted.type)).astype(wanted)
    return result if out is None else to_out(result, out)


def std(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    correction: Any = None,
) -> Any:
    """`numpy.std`. Collective."""
    with collective(a.comm, None):
        if dtype is not None and np.dtype(dtype).kind in "iu":
            raise MismatchError(f"np.std rounds no root to {np.dtype(dtype)}; give a float")
    variance = var(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction)
    result = np.sqrt(variance).astype(variance.dtype)
    return result if out is None else to_out(result, out)


def count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`numpy.count_nonzero`. Collective."""
    if axis is None and not keepdims:
        return reduce_all(np.add, a, _COUNTING)
    with collective(a.comm, None):
        axes = reduced_axes(axis, a.ndim)
    if len(axes) == a.ndim:
        return scalar(reduce_all(np.add, a, _COUNTING), _NUMBER, keepdims, a, None)
    return of_parts("np.count_nonzero", np.add, nonzeros, a, axes, _NUMBER, None, keepdims)


def nonzeros(x: npt.NDArray[Any], axes: Any = None) -> Any:
    """``np.count_nonzero(x, axes, keepdims=True)``, or a number. Of floating-point numbers NumPy
    tests one at a time, but it compares with vectors."""
    if axes is not None:
        return np.asarray(np.count_nonzero(x, axes, keepdims=True))
    step = 1 << 16
    if x.dtype.kind not in "fc" or x.size < step or not x.flags.c_contiguous:
        return np.intp(np.count_nonzero(x))
    flat, room, found = x.reshape(-1), np.empty(step, bool), 0
    for first in range(0, flat.size, step):
        part = flat[first : first + step]
        found += int(np.count_nonzero(np.not_equal(part, 0, out=room[: part.size])))
    return np.intp(found)


_NUMBER = np.dtype(np.intp)
_COUNTING = (None, _NUMBER, _NUMBER, "np.count_nonzero", nonzeros, None)


def nonzero(a: Array) -> tuple[Array, ...]:
    """`numpy.nonzero`: indices of one dimension in row-major order and even parts. Collective."""
    with collective(a.comm, None):
        if a.ndim == 0:
            raise LayoutError("np.nonzero takes an array of one dimension or more")
    found = true_numbers(np.not_equal(a, a.dtype.type(0)))
    places = np.unravel_index(found.local, a.shape)
    return tuple(made(place, found.layout, a.comm) for place in places)


def argmin(a: Array, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """`numpy.argmin`: the first of the least elements; NaN counts as the least. Collective."""
    return extreme(np.argmin, np.less, a, axis, out, keepdims)


def argmax(a: Array, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """`numpy.argmax`: the first of the greatest elements; NaN counts as the greatest.
    Collective."""
    return extreme(np.argmax, np.greater, a, axis, out, keepdims)


def better_of(wins: Any, x: Any, y: Any) -> Any:
    """Of each two (value, index) the first: NaN first, then the better value, then the lower
    index."""
    nan_x, nan_y = x["value"] != x["value"], y["value"] != y["value"]
    same = (x["value"] == y["value"]) | (nan_x & nan_y)
    over = np.where(nan_x | nan_y, nan_y & ~nan_x, wins(y["value"], x["value"]))
    return np.where(np.where(same, y["index"] < x["index"], over), y, x)


@functools.lru_cache(maxsize=1024)
def pair_of(find: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Of an element and its index. Raises for a dtype without an order."""
    find(np.ones(1, dtype))
    return np.dtype([("value", dtype), ("index", np.int64)])


#: axes and pairs by what they depend on, of calls whose arguments passed the checks
_checked: dict[tuple[Any, ...], tuple[Optional[int], np.dtype[Any]]] = {}


def checked(find: Any, a: Array, axis: Any) -> tuple[Optional[int], np.dtype[Any]]:
    """The axis, None for all, and the dtype of `pair_of`. Collective where it raises."""
    # As reductions do: an array with elements here is not empty.
    quick = (axis is None or type(axis) is int) and a._local.size > 0
    key = (find, axis, a._local.dtype, a._layout.ndim)
    known = _checked.get(key) if quick else None
    if known is not None:
        return known
    with collective(a.comm, None):
        none = axis is None or (a.ndim == 0 and axis in (0, -1))
        d = None if none else one_axis(axis, a.ndim)
        empty = a.size == 0 if d is None else a.shape[d] == 0
        if empty:
            raise MismatchError("an empty array has no least and no greatest element")
        pair = pair_of(find, a.dtype)
    if quick and len(_checked) < 1024:
        _checked[key] = d, pair
    return d, pair


def extreme(find: Any, wins: Any, a: Array, axis: Any, out: Any, keepdims: bool) -> Any:
    d, pair = checked(find, a, axis)
    if d is not None:
        return finish(places_along(find, wins, a, d, pair, keepdims), out, np.dtype(np.intp))
    result = place_in_all(find, a, pair)
    if keepdims:
        from hocket.computing.combining import scalar

        return scalar(result, np.dtype(np.intp), True, a, out)
    return result if out is None else to_out(result, out)


def place_in_all(find: Any, a: Array, pair: np.dtype[Any]) -> Any:
    """The row-major number of the first element that `find` prefers. Collective."""
    a = without_copies(a)
    rank, local = a._rank_and_size[0], a.local.reshape(-1)
    mine = bytes(pair.itemsize - 8) + np.int64(-1).tobytes()  # of no element
    if local.size:
        if a.layout._native.is_indexed:  # lists may be in any order
            order = np.argsort(numbers(a.layout, rank), kind="stable")
            at = order[find(local[order])]
        else:
            at = find(local)
        index = np.int64(_mpi.number_of(a._layout._native, rank, int(at)))
        mine = local[at : at + 1].tobytes() + index.tobytes()
    rows = np.frombuffer(_mpi.allgather(a.comm.handle, f"np.{find.__name__}", mine), pair)
    order = rows["index"].tolist()
    if order[0] < 0 or order != sorted(order):
        rows = rows[rows["index"] >= 0]
        rows = rows[np.argsort(rows["index"])]
        order = rows["index"].tolist()
    return np.intp(order[find(rows["value"])])


def places_along(
    find: Any, wins: Any, a: Array, d: int, pair: np.dtype[Any], keepdims: bool
) -> Array:
    """For each line along axis `d`, the index that `find` prefers. Collective."""
    a = on_grid(a)
    local, rank, call = a.local, a._rank_and_size[0], f"np.{find.__name__}"
    holds = rank < a.layout.size and local.ndim == a.ndim and local.shape[d] > 0
    at = find(local, axis=d, keepdims=True) if holds else np.empty((0,) * a.ndim, np.intp)
    if remain(a.layout, (d,)):  # the lines are whole, so local indices are global ones
        return combined(call, at, a.layout, a.comm, (d,), np.minimum, 0, keepdims)
    if holds:
        partial = np.empty(at.shape, pair)
        partial["value"] = np.take_along_axis(local, at, d)
        partial["index"] = a.layout.global_indices(rank)[d][at]
    else:
        partial = np.empty((0,) * a.ndim, pair)
    combine = functools.partial(better_of, wins)
    both = combined(call, partial, a.layout, a.comm, (d,), combine, 0, keepdims)
    return made(np.ascontiguousarray(both.local["index"]), both.layout, a.comm)


def without_nan(function: Any) -> Any:
    """`numpy.nansum` and similar functions: those of the other elements."""

    def compute(a: Array, *positional: Any, where: Any = True, **options: Any) -> Any:
        if a.dtype.kind in "fc":
            kept = np.equal(a, a)
            where = kept if where is True else np.logical_and(kept, where)
        return function(a, *positional, where=where, **options)

    return compute


def extreme_number(function: Any, worst: float) -> Any:
    """`numpy.nanargmin` and `numpy.nanargmax`."""

    def compute(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        if a.dtype.kind in "fc" and a.size:
            nans = np.isnan(a)
            alone = np.any(np.all(nans, axis=axis))
            with collective(a.comm, None):
                if alone:
                    raise MismatchError("NaN alone has no least and no greatest element")
            a = np.where(nans, a.dtype.type(worst), a)
        return function(a, axis, out, keepdims=keepdims)

    return compute


def scan_without_nan(function: Any, neutral: Any) -> Any:
    """`numpy.nancumsum` and `numpy.nancumprod`."""

    def compute(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if a.dtype.kind in "fc":
            a = np.where(np.isnan(a), a.dtype.type(neutral), a)
        return function(a, axis, dtype, out)

    return compute
