# SPDX-License-Identifier: BSD-3-Clause
"""Running sums, products and similar scans along an axis: first local, then combined with
earlier processes' results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather
from hocket.computing.layouts import balanced, is_local, one_axis
from hocket.computing.operands import made
from hocket.computing.reductions import loop_type, require_associative
from hocket.computing.sorting import along
from hocket.dtypes import resolve
from hocket.errors import MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]


def accumulate(ufunc: np.ufunc, a: Array, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate(a, axis)``, in the layout of `a`. Collective."""
    require_associative(ufunc, "accumulate")
    with collective(a.comm, None):
        d = one_axis(axis, a.layout.ndim)
        try:
            example = ufunc.accumulate(np.ones((1,) * a.layout.ndim, a.dtype), d, dtype)
        except (TypeError, ValueError) as error:
            raise MismatchError(f"np.{ufunc.__name__}: {error}") from None
        wanted = resolve(example.dtype)
    lines = along(a, d)
    if is_local(lines.layout, d):
        if lines is a and may_take(out, a, wanted):
            ufunc.accumulate(lines.local, d, loop_type(wanted), out._local)
            return out
        result = made(
            local_scan(ufunc, lines.local, d, wanted, a.layout.ndim), lines.layout, a.comm
        )
    else:
        result = in_order(ufunc, a, d, wanted)
    if result.layout != a.layout:
        result = redistribute(result, a.layout)
    if out is None:
        return result
    from hocket.computing.combining import to_out

    return to_out(result, out)


def may_take(out: Any, a: Array, dtype: Any) -> bool:
    """Whether the scan of this process's elements may go to `out` at once, without a copy."""
    return (
        type(out) is Array
        and out._home is None
        and out._comm is a._comm
        and out._layout == a._layout
        and out._local.dtype == dtype
        and out._local.flags.writeable
        and out._local.size > 0
    )


def local_scan(ufunc: np.ufunc, local: AnyArray, axis: int, dtype: Any, ndim: int) -> AnyArray:
    if local.ndim != ndim or not local.size:
        return local.astype(dtype)
    return ufunc.accumulate(local, axis, loop_type(dtype))


def in_order(ufunc: np.ufunc, a: Array, axis: int, dtype: Any) -> Array:
    """Few lines: each process has consecutive parts of all of them. Collective."""
    rank, size = a._rank_and_size
    layout: Layout = balanced(a.layout.shape, size, axis)
    parts = redistribute(a, layout)
    local = local_scan(ufunc, parts.local, axis, dtype, a.layout.ndim)
    rest = tuple(extent for d, extent in enumerate(a.layout.shape) if d != axis)
    filled = bool(local.size)
    last = local.take(-1, axis) if filled else np.zeros(rest, dtype)
    ends = allgather(a.comm, last.astype(dtype).reshape(math.prod(rest)))
    held = allgather(a.comm, np.asarray([filled]))[:, 0]
    before = ends[:rank][held[:rank]]
    if filled and len(before):
        offset = ufunc.reduce(before, axis=0, dtype=loop_type(dtype)).reshape(rest)
        local = ufunc(np.expand_dims(offset, axis), local, dtype=loop_type(dtype))
    return made(local, layout, a.comm)


def cumulative(ufunc: np.ufunc) -> Any:
    """`numpy.cumsum` and `numpy.cumprod`, which flatten the array without an axis."""

    def scan(a: Array, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if dtype is None and a.dtype.kind in "bui":
            dtype = np.add.reduce(np.empty(0, a.dtype)).dtype
        from hocket.computing.shapes import ravel

        if axis is None or (a.ndim == 0 and axis in (0, -1)):
            return accumulate(ufunc, ravel(a) if a.ndim != 1 else a, 0, dtype, out)
        return accumulate(ufunc, a, axis, dtype, out)

    return scan
