# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's functions that choose, place and turn elements, as compositions of a few others. All are
collective."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Callable

from hocket.arguments import integers
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import shapes
from hocket.computing.combining import to_out
from hocket.computing.contractions import diagonal
from hocket.computing.elementwise import of_function
from hocket.computing.filling import arange
from hocket.computing.indexing import as_value
from hocket.computing.layouts import balanced, like, one_axis
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import as_arrays, shape_of
from hocket.creation import empty, from_function, zeros
from hocket.errors import LayoutError, MismatchError


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


def ptp(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """`numpy.ptp`."""
    most = np.max(a, axis, keepdims=keepdims)
    return np.subtract(
        most, np.min(a, axis, keepdims=keepdims), **({} if out is None else {"out": out})
    )


def _band(a: Array, below: bool, k: int) -> Array:
    """Whether each element is on diagonal k, or on the requested side of it."""
    return from_function(
        lambda *index: index[-1] <= index[-2] + k if below else index[-1] >= index[-2] + k,
        a.layout,
        np.bool_,
        a.comm,
    )


def tril(m: Array, k: int = 0) -> Any:
    """`numpy.tril`, of a vector that of a matrix whose rows are equal."""
    return _side(m, True, k)


def triu(m: Array, k: int = 0) -> Any:
    """`numpy.triu`, of a vector that of a matrix whose rows are equal."""
    return _side(m, False, k)


def _side(m: Array, below: bool, k: int) -> Any:
    with collective(m.comm, None):
        if m.ndim == 0:
            raise LayoutError("an array without dimensions has no diagonals; give one dimension")
    m = shapes.broadcast_to(m, m.shape * 2) if m.ndim == 1 else m
    return np.where(_band(m, below, k), m, m.dtype.type(0))


def diag(v: Array, k: int = 0) -> Any:
    """`numpy.diag`."""
    with collective(v.comm, None):
        if v.ndim not in (1, 2):
            raise LayoutError(f"np.diag takes one dimension or two, not the shape {v.shape}")
    if v.ndim == 2:
        return diagonal(v, k)
    count = v.shape[0] + abs(k)
    result = zeros(balanced((count, count), v.layout.size), v.dtype, v.comm)
    index = arange(balanced(v.shape, v.layout.size), comm=v.comm)
    result[index + max(-k, 0), index + max(k, 0)] = v
    return result


def diagflat(v: Array, k: int = 0) -> Any:
    """`numpy.diagflat`."""
    return diag(shapes.ravel(v), k)


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """`numpy.fill_diagonal`."""
    if wrap or np.ndim(val):
        raise TypeError("np.fill_diagonal of distributed arrays takes a number, and no wrap=")
    with collective(a.comm, None):
        if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
            raise LayoutError(f"shape {a.shape}; give a matrix, or equal extents")
    a[(arange(balanced((min(a.shape),), a.layout.size), comm=a.comm),) * a.ndim] = val


def argwhere(a: Array) -> Any:
    """`numpy.argwhere`."""
    if a.ndim == 0:
        return argwhere(shapes.ravel(a))[:, :0]
    return np.stack(np.nonzero(a), 1)


def flatnonzero(a: Array) -> Any:
    """`numpy.flatnonzero`."""
    return np.nonzero(np.ravel(a))[0]


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """`numpy.compress`."""
    a = as_arrays(a, condition)[0]
    a, d = shapes.flattened(a, axis)
    with collective(a.comm, None):
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


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`numpy.copyto`."""
    if not isinstance(dst, Array):
        raise TypeError("np.copyto writes to a distributed array only; use a.gather(), a.local")
    with collective(dst.comm, None):
        source = src if isinstance(src, Array) else np.asarray(src)
        weak = type(src) is int and dst.dtype.kind in "iufc"
        if not weak and not np.can_cast(source.dtype, dst.dtype, casting):
            raise MismatchError(f"{src!r:.80} does not convert to {dst.dtype} by {casting!r}")
        src = as_value(src, dst.dtype)
    dst[...] = src if where is True else np.where(where, src, dst)


def putmask(a: Array, mask: Any, values: Any) -> None:
    """`numpy.putmask` of a number, or of an array of the same shape."""
    if shape_of(values) not in ((), a.shape):
        raise TypeError(
            "np.putmask of distributed arrays takes a number or as many values; a[mask]"
        )
    with collective(a.comm, None):
        values = as_value(values, a.dtype)
    a[...] = np.where(mask, values, a).astype(a.dtype)


def dtype_of(x: Any) -> Any:
    """That of an array or a sequence."""
    return x.dtype if isinstance(x, Array) else np.asarray(x).dtype


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """`numpy.select`."""
    if len(condlist) != len(choicelist):
        raise LayoutError(f"{len(condlist)} conditions and {len(choicelist)} choices; give equal")
    given = [*choicelist, default]
    kind = np.result_type(*(x if type(x) in (int, float, complex) else dtype_of(x) for x in given))
    if type(default) in (int, float, complex):  # NumPy combines it with all choices at once
        default = kind.type(default)
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        default = np.where(condition, choice, default)
    return default


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """`numpy.choose`."""
    last = len(choices) - 1
    index = np.mod(a, last + 1) if mode == "wrap" else np.clip(a, 0, last) if mode == "clip" else a
    if mode == "raise" and np.any(np.logical_or(np.less(a, 0), np.greater(a, last))):
        raise LayoutError(f"an index of np.choose lies outside 0 to {last}; give mode=")
    found = select([np.equal(index, k) for k in range(last)], choices[:-1], choices[-1])
    found = np.broadcast_arrays(found, index)[0]
    return found if out is None else to_out(found, out)


def unravel_index(indices: Array, shape: Any) -> tuple[Any, ...]:
    """`numpy.unravel_index`."""
    count = len(np.atleast_1d(shape))
    require_inside([indices], [int(np.prod(shape))])
    return tuple(
        of_function(lambda i, d=d: np.unravel_index(i, shape)[d], [indices]) for d in range(count)
    )


def require_inside(indices: Sequence[Any], extents: Sequence[int]) -> None:
    """Raises `LayoutError` on every process for an index outside its extent on one."""
    for index, extent in zip(indices, extents):
        if np.size(index) and (np.min(index) < 0 or np.max(index) >= extent):
            raise LayoutError(f"an index from {np.min(index)} to {np.max(index)} beyond {extent}")


def ravel_multi_index(multi_index: Sequence[Any], dims: Any, mode: Any = "raise") -> Any:
    """`numpy.ravel_multi_index`."""
    if mode == "raise":
        require_inside(multi_index, dims)
    return of_function(lambda *i: np.ravel_multi_index(i, dims, mode), as_arrays(*multi_index))


def interp(
    x: Array, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """`numpy.interp` between points that every process has."""
    if isinstance(xp, Array) or isinstance(fp, Array):
        raise TypeError("np.interp of distributed arrays takes NumPy's points, hk.replicated(xp)")
    xp, fp = np.asarray(xp), np.asarray(fp)
    return of_function(lambda at: np.interp(at, xp, fp, left, right, period), [x])


def polyval(p: Any, x: Any) -> Any:
    """`numpy.polyval` of coefficients that every process has."""
    if isinstance(p, Array):
        raise TypeError(
            "np.polyval of distributed arrays takes NumPy's coefficients, hk.replicated(p)"
        )
    return of_function(lambda at: np.polyval(p, at), [x])


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """`numpy.nan_to_num`, in place without `copy`."""
    options = {"nan": nan, "posinf": posinf, "neginf": neginf}
    found = of_function(np.nan_to_num, [x], **options)
    return found if copy else to_out(found, x)


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`numpy.isclose`."""
    return of_function(np.isclose, (a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """`numpy.allclose`."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    """`numpy.array_equal`."""
    if shape_of(a) != shape_of(b):
        return False
    same = np.equal(a, b)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.not_equal(a, a), np.not_equal(b, b)))
    return bool(np.all(same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """`numpy.array_equiv`."""
    a1, a2 = as_arrays(a1, a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool(np.all(np.equal(a1, a2)))


def cumulative(scan: Any) -> Any:
    """`numpy.cumulative_sum` and `numpy.cumulative_prod`."""

    def compute(
        x: Array,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        with collective(x.comm, None):
            if axis is None and x.ndim != 1:
                raise LayoutError(f"an array of shape {x.shape}; give axis=")
            d = 0 if axis is None else one_axis(axis, x.ndim)
        found = scan(x, d, dtype)
        if include_initial:
            line = (*x.shape[:d], 1, *x.shape[d + 1 :])
            first = np.broadcast_to(found.dtype.type(scan is not np.cumsum), line)
            found = np.concatenate([first, found], d)
        return found if out is None else to_out(found, out)

    return compute


def filled(value: Any) -> Callable[..., Any]:
    """`numpy.zeros_like` and similar functions. `value` makes one element."""

    def similar(a: Array, dtype: Any = None, *, shape: Any = None) -> Array:
        with collective(a.comm, None):
            extents = a.shape if shape is None else tuple(integers(shape, "shape"))
            result = empty(like(a.layout, extents), a.dtype if dtype is None else dtype, a.comm)
        if value is not None:
            result.fill(value((), result.dtype)[()])
        return result

    return similar


def full_like(a: Array, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """`numpy.full_like`."""
    result: Array = filled(None)(a, dtype, shape=shape)
    result[...] = fill_value
    return result
