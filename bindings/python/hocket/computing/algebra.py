# SPDX-License-Identifier: BSD-3-Clause
"""Products, differences and moments that are compositions of a few functions. All are
collective."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import contractions, products, shapes
from hocket.computing.combining import to_out
from hocket.computing.layouts import balanced, even, one_axis
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import as_arrays, made
from hocket.creation import from_function
from hocket.errors import LayoutError, MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """`numpy.outer`."""
    rows, columns = np.expand_dims(np.ravel(a), 1), np.ravel(b)
    return np.multiply(rows, columns, **({} if out is None else {"out": out}))


def vector_outer(x1: Any, x2: Any) -> Any:
    """`numpy.linalg.outer`."""
    x1, x2 = as_arrays(x1, x2)
    with collective(x1.comm, None):
        if x1.ndim != 1 or x2.ndim != 1:
            raise LayoutError(f"shapes {x1.shape} and {x2.shape}; give vectors, or use np.outer")
    return outer(x1, x2)


def outer_of(ufunc: Any, a: Any, b: Any, **options: Any) -> Any:
    """``ufunc.outer(a, b)``."""
    a, b = as_arrays(a, b)
    return ufunc(shapes.expand_dims(a, range(a.ndim, a.ndim + b.ndim)), b, **options)


def inner(a: Any, b: Any) -> Any:
    """`numpy.inner`."""
    a, b = as_arrays(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    return np.dot(a, b) if a.ndim == b.ndim == 1 else np.tensordot(a, b, (-1, -1))


def kron(a: Any, b: Any) -> Any:
    """`numpy.kron`."""
    a, b = as_arrays(a, b)
    ndim = max(a.ndim, b.ndim)
    a, b = (shapes.expand_dims(x, range(ndim - x.ndim)) for x in (a, b))
    shape = [x * y for x, y in zip(a.shape, b.shape)]
    left = shapes.expand_dims(a, range(1, 2 * ndim, 2))
    return np.reshape(left * shapes.expand_dims(b, range(0, 2 * ndim, 2)), shape)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """`numpy.cross` of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_arrays(a, b)
    a, b = shapes.moveaxis(a, axisa, -1), shapes.moveaxis(b, axisb, -1)
    with collective(a.comm, None):
        if a.shape[-1] != 3 or b.shape[-1] != 3:
            raise LayoutError(f"vectors of {a.shape[-1]} and {b.shape[-1]} elements; give three")
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axisc)


def vecdot(x1: Any, x2: Any, out: Any = None, *, axis: int = -1) -> Any:
    """`numpy.vecdot`."""
    x1, x2 = as_arrays(x1, x2)
    require_dimensions((x1, 1), (x2, 1))
    x1, x2 = shapes.moveaxis(x1, axis, -1), shapes.moveaxis(x2, axis, -1)
    if x1.ndim == x2.ndim == 1:
        return products.vdot(x1, x2)
    rows, column = shapes.expand_dims(x1.conj(), -2), shapes.expand_dims(x2, -1)
    found = shapes.squeeze(products.matmul(rows, column), (-2, -1))
    return found if out is None else to_out(found, out)


def matvec(x1: Any, x2: Any, out: Any = None) -> Any:
    """`numpy.matvec`."""
    x1, x2 = as_arrays(x1, x2)
    require_dimensions((x1, 2), (x2, 1))
    found = shapes.squeeze(products.matmul(x1, shapes.expand_dims(x2, -1)), -1)
    return found if out is None else to_out(found, out)


def vecmat(x1: Any, x2: Any, out: Any = None) -> Any:
    """`numpy.vecmat`."""
    x1, x2 = as_arrays(x1, x2)
    require_dimensions((x1, 1), (x2, 2))
    found = shapes.squeeze(products.matmul(shapes.expand_dims(x1.conj(), -2), x2), -2)
    return found if out is None else to_out(found, out)


def require_dimensions(*pairs: tuple[Array, int]) -> None:
    """Raises `LayoutError` on every process for an array with fewer dimensions."""
    with collective(pairs[0][0].comm, None):
        for a, count in pairs:
            if a.ndim < count:
                raise LayoutError(f"an array of shape {a.shape}; give one of {count} dimensions")


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """`numpy.linalg.multi_dot`, from the left to the right."""
    found = functools.reduce(products.dot, arrays)
    return found if out is None else to_out(found, out)


def matrix_power(a: Array, n: int) -> Any:
    """`numpy.linalg.matrix_power` of a power that is not negative."""
    if operator.index(n) < 0:
        raise TypeError("np.linalg.matrix_power of distributed arrays takes no n < 0: no inverses")
    with collective(a.comm, None):
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise LayoutError(f"an array of shape {a.shape} is no square matrix")
    if n == 0:
        return from_function(lambda *i: i[-1] == i[-2], a.layout, a.dtype, a.comm)
    half = matrix_power(a, n // 2) if n > 1 else None
    if half is None:
        return a.copy()
    return half @ half @ a if n % 2 else half @ half


def trace(
    a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """`numpy.trace`."""
    return np.sum(contractions.diagonal(a, offset, axis1, axis2), -1, dtype, out)


def matrix_trace(x: Array, *, offset: int = 0, dtype: Any = None) -> Any:
    """`numpy.linalg.trace`."""
    return trace(x, offset, -2, -1, dtype)


def matrix_diagonal(x: Array, *, offset: int = 0) -> Any:
    """`numpy.linalg.diagonal`."""
    return contractions.diagonal(x, offset, -2, -1)


def matrix_norm(x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`numpy.linalg.matrix_norm`."""
    return products.norm(x, ord, (-2, -1), keepdims)


def vector_norm(x: Array, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`numpy.linalg.vector_norm`."""
    if ord == 2:
        return products.norm(x, None, axis, keepdims)
    if axis is None and not keepdims:
        return products.norm(shapes.ravel(x), ord, 0)
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(
            f"np.linalg.vector_norm of distributed arrays takes no ord={ord!r} with axis={axis!r} "
            f"and keepdims={keepdims}; use np.sum and np.abs"
        )
    return products.norm(x, ord, axis, keepdims)


def average(
    a: Array, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: Any = False
) -> Any:
    """`numpy.average`."""
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        total: Any = np.multiply(np.ones_like(mean), a.size / max(np.size(mean), 1))
        return (mean, total) if returned else mean
    a, weights = as_arrays(a, weights)
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


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """`numpy.cov`, without weights."""

    def rows(x: Any) -> Any:
        with collective(x.comm, None):
            if x.ndim > 2:
                raise LayoutError(f"variables of shape {x.shape}; give two dimensions at most")
        return x.T if x.ndim == 2 and not rowvar and x.shape[0] != 1 else atleast_rows(x)

    given = as_arrays(m) if y is None else as_arrays(m, y)
    kind = np.result_type(*(x.dtype for x in given), np.float64) if dtype is None else dtype
    parts = [rows(x).astype(kind, copy=False) for x in given]
    x = np.concatenate(parts, 0) if len(parts) > 1 else parts[0]
    count = x.shape[1] - (int(not bias) if ddof is None else ddof)
    x = x - np.mean(x, 1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.squeeze(np.true_divide(x @ x.T.conj(), max(count, 0)))


def atleast_rows(x: Array) -> Array:
    """A vector as a matrix of one row."""
    return shapes.expand_dims(x, range(2 - x.ndim))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """`numpy.corrcoef`."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.real(contractions.diagonal(c)))
    c = c / shapes.expand_dims(deviation, 1) / deviation
    if c.dtype.kind != "c":
        return np.clip(c, -1, 1)
    return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)


def convolve(a: Any, v: Any, mode: str = "full", later: int = 0) -> Any:
    """`numpy.convolve` of a distributed array and one that every process has: each process takes
    the elements that its part of the result needs. `later`: the middle of an even number."""
    if not isinstance(a, Array):
        a, v = v, a
    if isinstance(v, Array):
        raise TypeError("np.convolve of two distributed arrays is not there; give hk.replicated(v)")
    v, size = np.asarray(v), a.layout.size
    with collective(a.comm, None):
        if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
            raise LayoutError(f"shapes {a.shape} and {v.shape}; give vectors with elements")
        least = min(a.size, v.size)
        starts = {"full": 0, "same": (least - 1 + later) // 2, "valid": least - 1}
        if mode not in starts:
            raise LayoutError(f"mode is {mode!r}; give 'full', 'same' or 'valid'")
        first, whole = starts[mode], a.size + v.size - 1
        last = whole - {"full": 0, "same": (least - later) // 2, "valid": least - 1}[mode]
        ends = [first + end for end in even(last - first, size)]
        needed = [
            ((max(0, b - v.size + 1),), (max(0, min(a.size, e)),)) if b < e else ((0,), (0,))
            for b, e in zip(ends[:-1], ends[1:])
        ]
    here = redistribute(a, Layout.boxes(a.shape, needed)).local
    rank = a._rank_and_size[0]
    found = np.empty(0, np.result_type(a.dtype, v.dtype))
    if here.size:
        low = needed[rank][0][0]
        found = np.convolve(here, v)[ends[rank] - low : ends[rank + 1] - low]
    return made(found, balanced((last - first,), size), a.comm)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """`numpy.correlate`, as `convolve`."""
    return convolve(a, np.conjugate(np.flip(v)), mode, int(np.size(a) < np.size(v)))


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`numpy.trapezoid`."""
    y = as_arrays(y)[0] if x is None else as_arrays(y, x)[0]
    d = one_axis(axis, y.ndim)
    if x is not None:
        dx = np.diff(x, axis=axis if np.ndim(x) > 1 else -1)
        if np.ndim(x) == 1:
            dx = np.reshape(dx, (-1, *(1,) * (y.ndim - 1 - d)))
    above = y.section(shapes.at(d, slice(1, None), y.ndim))
    below = y.section(shapes.at(d, slice(None, -1), y.ndim))
    return np.sum(np.multiply(dx, np.add(above, below)) / 2.0, axis)


def diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """`numpy.diff`. Collective."""
    with collective(a.comm, None):
        d = one_axis(axis, a.layout.ndim)
        if n < 0:
            raise LayoutError(f"n is {n}; give 0 or more")
    line = (*a.shape[:d], 1, *a.shape[d + 1 :])
    ends = [
        np.broadcast_to(x, line) if x is not None and np.ndim(x) == 0 else x
        for x in (prepend, append)
    ]
    if n and any(x is not None for x in ends):
        a = shapes.concatenate([x for x in (ends[0], a, ends[1]) if x is not None], d)
    function: Any = np.not_equal if a.dtype.kind == "b" else np.subtract
    for _ in range(n):
        last = max(a.layout.shape[d], 1)
        ndim = a.layout.ndim
        above, below = (
            a.section(shapes.at(d, slice(1, last), ndim)),
            a.section(shapes.at(d, slice(0, last - 1), ndim)),
        )
        a = function(above, below)
    return a


def gradient(f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`numpy.gradient`, of points with equal distances."""
    with collective(f.comm, None):
        axes = [
            one_axis(d, f.ndim) for d in (range(f.ndim) if axis is None else np.atleast_1d(axis))
        ]
        steps = [1.0] * len(axes) if not varargs else list(varargs)
        steps = steps * len(axes) if len(steps) == 1 else steps
        if len(steps) != len(axes) or edge_order not in (1, 2):
            raise LayoutError(f"{len(varargs)} distances for axes {axes}, edge_order={edge_order}")
        if any(f.shape[d] < edge_order + 1 for d in axes):
            raise LayoutError(f"shape {f.shape} has too few points; give {edge_order + 1} or more")
        if f.dtype.kind == "b":
            raise MismatchError("np.gradient takes no bool, which does not subtract; use f.astype")
    if any(np.ndim(step) for step in steps):
        raise TypeError("np.gradient of distributed arrays takes numbers as distances; use np.diff")
    f = f if f.dtype.kind in "fc" else f.astype(np.float64)
    found = [slope(f, d, step, edge_order) for d, step in zip(axes, steps)]
    return found[0] if len(found) == 1 else tuple(found)


def slope(f: Array, d: int, step: Any, edge_order: int) -> Any:
    """Central differences along one axis, one-sided ones at its ends."""

    def part(begin: Any, end: Any) -> Any:
        return f.section(shapes.at(d, slice(begin, end), f.ndim))

    result: Any = np.empty_like(f)
    result[shapes.at(d, slice(1, -1), f.ndim)] = (part(2, None) - part(None, -2)) / (2.0 * step)
    first, last = (part(1, 2) - part(0, 1)) / step, (part(-1, None) - part(-2, -1)) / step
    if edge_order == 2:
        first = (-1.5 / step) * part(0, 1) + (2.0 / step) * part(1, 2) + (-0.5 / step) * part(2, 3)
        last = part(-3, -2) * (0.5 / step) + part(-2, -1) * (-2.0 / step)
        last = last + part(-1, None) * (1.5 / step)
    result[shapes.at(d, slice(0, 1), f.ndim)] = first
    result[shapes.at(d, slice(-1, None), f.ndim)] = last
    return result
