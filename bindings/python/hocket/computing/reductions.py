# SPDX-License-Identifier: BSD-3-Clause
"""Reductions over global axes: each process reduces its part, and then processes combine partial
results."""

from __future__ import annotations

import functools
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather
from hocket.computing.combining import combined, finish, on_grid, scalar
from hocket.computing.exact import is_exact
from hocket.computing.exact_sums import exact_sum
from hocket.computing.layouts import (
    reduced_axes,
)
from hocket.computing.operands import without_copies
from hocket.errors import MismatchError

AnyArray = npt.NDArray[Any]


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


def loop_type(dtype: np.dtype[Any]) -> Any:
    """`dtype` as a ufunc takes it: dates and durations without a unit, which the operands have."""
    return dtype.type if dtype.kind in "mM" else dtype


@functools.lru_cache(maxsize=1024)
def reduced_type(
    ufunc: np.ufunc, dtype: np.dtype[Any], wanted: Any, axes: int = 1
) -> np.dtype[Any]:
    """The dtype of a reduction over so many axes. Raises as NumPy."""
    wanted = None if wanted is None else np.dtype(wanted).newbyteorder("=")
    one = np.ones((1,) * max(axes, 1), dtype)
    return ufunc.reduce(one, None, dtype=wanted).dtype  # type: ignore[no-any-return]


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
            kind = None if dtype is None else np.dtype(dtype)
            wanted = reduced_type(ufunc, a.dtype, kind, len(axes))
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
            partial = ufunc.reduce(local, axis=axes, dtype=loop_type(wanted), keepdims=True)
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
        mine = np.asarray(ufunc.reduce(local, axis=None, dtype=loop_type(wanted)))
    else:
        mine = np.zeros((), wanted)
    # Another process may call another function, whose values have as many bytes.
    code = 2 * (zlib.crc32(ufunc.__name__.encode()) % 128)
    flags = np.asarray(code + (local.size > 0), np.uint8)
    found = allgather(a.comm, np.frombuffer(flags.tobytes() + mine.tobytes(), np.uint8))
    others = np.flatnonzero(found[:, 0] & 0xFE != code)
    if len(others):
        raise MismatchError(
            f"process {others[0]} computes another reduction than process {a.comm.rank}, which "
            f"computes np.{ufunc.__name__}; make the same call everywhere"
        )
    values = np.frombuffer(found[found[:, 0] & 1 != 0, 1:].tobytes(), wanted)
    return ufunc.reduce(values, dtype=loop_type(wanted))
