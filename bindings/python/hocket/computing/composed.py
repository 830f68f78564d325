# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's functions that are compositions of a few others. All are collective."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import shapes
from hocket.computing.contractions import diagonal
from hocket.computing.layouts import one_axis
from hocket.computing.operands import as_arrays
from hocket.computing.reductions import to_out
from hocket.creation import empty, from_function
from hocket.errors import LayoutError


def atleast(n: int, a: Any) -> Any:
    """`numpy.atleast_1d` to `numpy.atleast_3d`, which add dimensions where NumPy does."""
    while a.ndim < n:
        a = np.expand_dims(a, a.ndim if a.ndim == 2 else 0)
    return a


def vstack(tup: Sequence[Any], dtype: Any = None) -> Any:
    """`numpy.vstack`."""
    return np.concatenate([atleast(2, a) for a in tup], 0, dtype=dtype)


def hstack(tup: Sequence[Any], dtype: Any = None) -> Any:
    """`numpy.hstack`."""
    parts = [atleast(1, a) for a in tup]
    return np.concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype)


def dstack(tup: Sequence[Any]) -> Any:
    """`numpy.dstack`."""
    return np.concatenate([atleast(3, a) for a in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """`numpy.column_stack`."""
    return np.concatenate([np.expand_dims(a, 1) if a.ndim == 1 else a for a in tup], 1)


def flipud(m: Array) -> Array:
    """`numpy.flipud`."""
    return shapes.flip(m, 0)


def fliplr(m: Array) -> Array:
    """`numpy.fliplr`."""
    return shapes.flip(m, 1)


def rot90(m: Array, k: int = 1, axes: Any = (0, 1)) -> Array:
    """`numpy.rot90`: an aligned layout of the same memory."""
    with collective(m.comm, None):
        first, second = (one_axis(axis, m.ndim) for axis in axes)
        if first == second:
            raise LayoutError(f"np.rot90 turns two different axes, not {tuple(axes)}; name two")
    turns = operator.index(k) % 4
    if turns == 2:
        return shapes.flip(m, (first, second))
    if turns == 1:
        return shapes.swapaxes(shapes.flip(m, second), first, second)
    if turns == 3:
        return shapes.flip(shapes.swapaxes(m, first, second), second)
    return m


def tile(A: Array, reps: Any) -> Any:
    """`numpy.tile`."""
    counts = tuple(map(operator.index, np.atleast_1d(reps).tolist()))
    result: Any = A
    while result.ndim < len(counts):
        result = np.expand_dims(result, 0)
    for axis, count in zip(range(result.ndim)[-len(counts) :], counts):
        if count == 0:
            result = result[shapes.at(axis, slice(0, 0), result.ndim)]
        elif count > 1:
            result = np.concatenate([result] * count, axis)
    return result.copy() if max(counts, default=1) < 2 else result


def repeat(a: Array, repeats: Any, axis: Any = None) -> Any:
    """`numpy.repeat`."""
    with collective(a.comm, None):
        d = 0 if axis is None else one_axis(axis, a.ndim)
        extent = a.size if axis is None else a.shape[d]
        index = np.repeat(np.arange(extent), repeats)
    return np.take(a, index, axis=axis)


def ptp(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """`numpy.ptp`."""
    most = np.max(a, axis, keepdims=keepdims)
    return np.subtract(
        most, np.min(a, axis, keepdims=keepdims), **({} if out is None else {"out": out})
    )


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """`numpy.outer`."""
    rows, columns = np.expand_dims(np.ravel(a), 1), np.ravel(b)
    return np.multiply(rows, columns, **({} if out is None else {"out": out}))


def average(
    a: Array, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: Any = False
) -> Any:
    """`numpy.average`."""
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        total: Any = np.multiply(np.ones_like(mean), a.size / max(np.size(mean), 1))
        return (mean, total) if returned else mean
    if weights.shape != a.shape and weights.ndim == 1 and axis is not None:
        d = one_axis(axis, a.ndim)
        weights = weights.reshape((-1, *(1,) * (a.ndim - 1 - d)))
    kind = np.result_type(a.dtype, weights.dtype, *(["f8"] if a.dtype.kind in "biu" else []))
    spread = np.broadcast_to(weights, a.shape).astype(kind)
    total = np.sum(spread, axis, keepdims=keepdims)
    if np.any(np.equal(total, 0)):
        raise ZeroDivisionError("the weights of np.average add up to 0; give others")
    mean = np.true_divide(np.sum(np.multiply(a, spread), axis, keepdims=keepdims), total)
    return (mean, total) if returned else mean


def _band(a: Array, below: bool, k: int) -> Array:
    """Whether each element is on diagonal k, or on the requested side of it."""
    with collective(a.comm, None):
        if a.ndim < 2:
            raise LayoutError(f"an array of shape {a.shape} has no diagonals; give two dimensions")
    return from_function(
        lambda *index: index[-1] <= index[-2] + k if below else index[-1] >= index[-2] + k,
        a.layout,
        np.bool_,
        a.comm,
    )


def tril(m: Array, k: int = 0) -> Any:
    """`numpy.tril`."""
    return np.where(_band(m, True, k), m, m.dtype.type(0))


def triu(m: Array, k: int = 0) -> Any:
    """`numpy.triu`."""
    return np.where(_band(m, False, k), m, m.dtype.type(0))


def trace(
    a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """`numpy.trace`."""
    return np.sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


def argwhere(a: Array) -> Any:
    """`numpy.argwhere`."""
    found = np.nonzero(a)
    return np.stack(found, 1)


def flatnonzero(a: Array) -> Any:
    """`numpy.flatnonzero`."""
    return np.nonzero(np.ravel(a))[0]


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """`numpy.compress`."""
    a = as_arrays(a, condition)[0]
    if axis is None:
        a, axis = shapes.ravel(a), 0
    with collective(a.comm, None):
        d = one_axis(axis, a.ndim)
        mask = condition if isinstance(condition, Array) else np.asarray(condition)
        if mask.ndim != 1:
            raise LayoutError(f"a condition of shape {mask.shape}; give one of one dimension")
    count = mask.shape[0]
    mask = np.not_equal(mask, mask.dtype.type(0))
    beyond = np.any(mask[a.shape[d] :])
    with collective(a.comm, None):
        if beyond:
            raise LayoutError(f"the condition chooses elements beyond the {a.shape[d]} of axis {d}")
    mask = mask[: a.shape[d]]
    found = a[shapes.at(d, slice(0, count), a.ndim)][(slice(None),) * d + (mask,)]
    return found if out is None else to_out(found, out)


def extract(condition: Any, arr: Any) -> Any:
    """`numpy.extract`."""
    return compress(np.ravel(condition), np.ravel(arr))


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`numpy.append`."""
    return np.concatenate([arr, values], axis)


def inner(a: Any, b: Any) -> Any:
    """`numpy.inner`."""
    a, b = as_arrays(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    return np.dot(a, b) if a.ndim == b.ndim == 1 else np.tensordot(a, b, (-1, -1))


def without_nan(function: Any, neutral: Any) -> Any:
    """`numpy.nansum` and similar functions: NaNs count as the neutral element."""

    def compute(
        a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        kept = a if a.dtype.kind not in "fc" else np.where(np.isnan(a), a.dtype.type(neutral), a)
        return function(kept, axis, dtype=dtype, out=out, keepdims=keepdims)

    return compute


def nanmean(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """`numpy.nanmean`."""
    if a.dtype.kind not in "fc":
        return np.mean(a, axis, dtype, out, keepdims)
    count = np.count_nonzero(np.equal(a, a), axis, keepdims=keepdims)
    total = np.nansum(a, axis, dtype, None, keepdims)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.true_divide(total, count).astype(total.dtype)
    return mean if out is None else to_out(mean, out)


def filled(value: Any) -> Callable[..., Any]:
    """`numpy.zeros_like` and similar functions."""

    def like(a: Array, dtype: Any = None) -> Array:
        with collective(a.comm, None):
            result = empty(a.layout, a.dtype if dtype is None else dtype, a.comm)
        if value is not None:
            result.fill(result.dtype.type(value))
        return result

    return like


def full_like(a: Array, fill_value: Any, dtype: Any = None) -> Array:
    """`numpy.full_like`."""
    result: Array = filled(None)(a, dtype)
    result[...] = fill_value
    return result
