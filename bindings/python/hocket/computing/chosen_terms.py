# SPDX-License-Identifier: BSD-3-Clause
"""Reductions with NumPy's `where=` and `initial=`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import reductions
from hocket.computing.combining import to_out
from hocket.computing.elementwise import of_function
from hocket.computing.indexing import as_value
from hocket.computing.layouts import reduced_axes
from hocket.computing.operands import broadcast_shape
from hocket.errors import LayoutError, MismatchError


def reduce(
    ufunc: np.ufunc,
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``ufunc.reduce`` over global axes, of the elements at which `where` is true; `initial` is
    combined with the result. Collective."""
    if ufunc in (np.add, np.multiply):
        dtype = computed_in(a, dtype, out)
    if initial is None and where is True:
        return reductions.reduce(ufunc, a, axis, dtype, out, keepdims)
    with collective(a.comm, None):
        axes = reduced_axes(axis, a.ndim)
        if initial is not None and np.ndim(initial):
            raise MismatchError(f"initial has shape {np.shape(initial)}; give one number")
        if initial is not None:
            kind = reductions.reduced_type(
                ufunc, a.dtype, None if dtype is None else np.dtype(dtype)
            )
            initial = as_value(initial, kind)  # which raises if it does not fit
        if where is not True:
            check_mask(a, where)
            if ufunc.identity is None and initial is None:
                raise MismatchError(
                    f"np.{ufunc.__name__} has no identity; give initial= together with where="
                )
        none = ufunc.identity is None and any(a.shape[d] == 0 for d in axes)
    if where is not True:
        if ufunc.identity is not None and not np.isfinite(ufunc.identity) and a.dtype.kind in "iub":
            a = a.astype(reductions.reduced_type(ufunc, a.dtype, dtype))  # which holds infinity
        a = of_function(np.where, (where, a, neutral(ufunc, a.dtype)))
    if initial is None:
        result: Any = reductions.reduce(ufunc, a, axis, dtype, None, keepdims)
    elif none:
        start = np.asarray(initial).astype(kind)[()]
        # There are no elements, of whatever type: False has the result's shape.
        none_of_them: Any = np.equal(a, a)
        falses = reductions.reduce(np.logical_or, none_of_them, axis, None, None, keepdims)
        if isinstance(falses, Array):
            result = of_function(np.where, (falses, start, start)).astype(kind)
        else:
            result = start
    else:
        result = reductions.reduce(ufunc, a, axis, dtype, None, keepdims)
        start = np.asarray(initial).astype(result.dtype)[()]
        result = ufunc(start, result).astype(result.dtype)
    return result if out is None else to_out(result, out)


def computed_in(a: Array, dtype: Any, out: Any) -> Any:
    """`dtype`; if it is None, one that holds what `a` and a floating-point `out` hold, as integers
    would wrap around. Raises `TypeError`."""
    if dtype is not None and np.dtype(dtype).hasobject:
        raise TypeError("Python objects cannot move; give a dtype of a fixed size")
    if dtype is not None or not isinstance(out, Array) or out.dtype.kind not in "fc":
        return dtype
    if a.dtype.kind in "biu":
        return np.result_type(out.dtype, np.float64)
    wider = np.result_type(a.dtype, out.dtype) if a.dtype.kind in "fc" else None
    return wider if wider is not None and wider.kind == out.dtype.kind else None


def check_mask(a: Array, where: Any) -> None:
    """Raises `LayoutError`, `MismatchError`."""
    kind = where.dtype if isinstance(where, Array) else np.asarray(where).dtype
    if kind.kind != "b":
        raise MismatchError(f"where= holds {kind}; give booleans")
    if broadcast_shape([a, where]) != a.shape:
        shape = where.shape if isinstance(where, Array) else np.shape(where)
        raise LayoutError(f"where= has shape {shape}, which does not fit the array's {a.shape}")


def neutral(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """An element that changes no result."""
    if ufunc.identity is not None:
        return np.asarray(ufunc.identity).astype(dtype)[()]
    least = ufunc in (np.maximum, np.fmax)
    if not least and ufunc not in (np.minimum, np.fmin):
        raise TypeError(f"np.{ufunc.__name__} of distributed arrays takes no where=")
    if dtype.kind in "fc":
        return dtype.type(-math.inf if least else math.inf)
    if dtype.kind == "b":
        return np.bool_(not least)
    if dtype.kind in "mM":  # NaT is the least integer
        number = np.iinfo(np.int64).min + 1 if least else np.iinfo(np.int64).max
        return np.asarray(number).astype(dtype)[()]
    return dtype.type(np.iinfo(dtype).min if least else np.iinfo(dtype).max)


def count(a: Array, axes: tuple[int, ...], keepdims: bool, where: Any) -> Any:
    """How many elements take part in each result. Collective unless `where` is True."""
    if where is True:
        return math.prod(a.shape[d] for d in axes)
    with collective(a.comm, None):
        check_mask(a, where)
    ones = of_function(np.where, (where, np.ones_like(a, np.int64), np.int64(0)))
    return reductions.reduce(np.add, ones, axes, np.int64, None, keepdims)
