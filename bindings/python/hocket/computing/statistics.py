# SPDX-License-Identifier: BSD-3-Clause
"""Means, variances, counts, and positions of extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import chosen_terms
from hocket.computing.collecting import allgather
from hocket.computing.combining import combined, finish, on_grid, to_out
from hocket.computing.layouts import number_of, numbers, one_axis, reduced_axes
from hocket.computing.operands import made, without_copies
from hocket.computing.reductions import reduce
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
    terms = None if wanted.kind == "m" else wanted  # ufuncs take the unit from the operand
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
    centre = mean(a, axis, kind, None, keepdims=True, where=where)
    distance = np.subtract(a, centre)
    square = np.square(np.abs(distance)) if a.dtype.kind == "c" else np.square(distance)
    total = chosen_terms.reduce(np.add, square, axis, wanted, None, keepdims, None, where)
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
    zero: Any = np.zeros((), a.dtype)[()]
    return reduce(np.add, np.not_equal(a, zero), axis, np.intp, None, keepdims)


def nonzero(a: Array) -> tuple[Array, ...]:
    """`numpy.nonzero`: indices of one dimension in row-major order and even parts. Collective."""
    from hocket.computing.by_index import true_numbers

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


def better(wins: Any, x: Any, y: Any) -> Any:
    """Whether (value, index) `y` precedes `x`: NaN first, then the better value, then the lower
    index."""
    nan_x, nan_y = x["value"] != x["value"], y["value"] != y["value"]
    same = (x["value"] == y["value"]) | (nan_x & nan_y)
    over = np.where(nan_x | nan_y, nan_y & ~nan_x, wins(y["value"], x["value"]))
    return np.where(same, y["index"] < x["index"], over)


def extreme(find: Any, wins: Any, a: Array, axis: Any, out: Any, keepdims: bool) -> Any:
    with collective(a.comm, None):
        none = axis is None or (a.ndim == 0 and axis in (0, -1))
        d = None if none else one_axis(axis, a.ndim)
        empty = a.size == 0 if d is None else a.shape[d] == 0
        if empty:
            raise MismatchError("an empty array has no least and no greatest element")
        find(np.ones(1, a.dtype))  # raises for a dtype without an order
        pair = np.dtype([("value", a.dtype), ("index", np.intp)])
    if d is None:
        a = without_copies(a)
        rank = a._rank_and_size[0]
        row = np.zeros((), pair)
        row["index"] = -1
        local = a.local.reshape(-1)
        if local.size:
            if a.layout._native.is_indexed:  # lists may be in any order
                order = np.argsort(numbers(a.layout, rank), kind="stable")
                at = order[find(local[order])]
            else:
                at = find(local)
            row["value"], row["index"] = local[at], number_of(a.layout, rank, at)
        rows = [x for x in allgather(a.comm, row.reshape(1))[:, 0] if x["index"] >= 0]
        best = rows[0]
        for other in rows[1:]:
            if better(wins, best, other):
                best = other
        result = np.intp(best["index"])
        if keepdims:
            from hocket.computing.combining import scalar

            return scalar(result, np.dtype(np.intp), True, a, out)
        return result if out is None else to_out(result, out)
    a = on_grid(a)
    local, rank = a.local, a._rank_and_size[0]
    if rank < a.layout.size and local.ndim == a.ndim and local.shape[d]:
        at = find(local, axis=d, keepdims=True)
        partial = np.empty(at.shape, pair)
        partial["value"] = np.take_along_axis(local, at, d)
        partial["index"] = a.layout.global_indices(rank)[d][at]
    else:
        partial = np.empty((0,) * a.ndim, pair)
    both = combined(
        partial, a.layout, a.comm, (d,), lambda x, y: np.where(better(wins, x, y), y, x)
    )
    indices = made(np.ascontiguousarray(both.local["index"]), both.layout, a.comm)
    return finish(indices, (d,), keepdims, out)


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
