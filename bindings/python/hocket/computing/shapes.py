# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other shapes: views if a layout can express them, else one or two moves."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arguments import as_flag
from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.computing.indexing import as_value, assign
from hocket.computing.layouts import (
    balanced,
    extended,
    flat,
    like,
    normal_axes,
    numbers,
    one_axis,
    reduced_axes,
    transposed,
)
from hocket.computing.operands import bring, broadcast_shape, communicator_of, made
from hocket.creation import empty, of_core
from hocket.errors import Error, LayoutError, MismatchError
from hocket.local_arrays import address
from hocket.redistribution import as_axes, redistribute


def astype(a: Array, dtype: npt.DTypeLike, *, casting: Any = "unsafe", copy: bool = True) -> Array:
    """Implements `Array.astype`."""
    from hocket import dtypes

    with collective(a.comm, None):
        wanted = dtypes.resolve(dtype)
        copied = as_flag(copy, "copy")
    if not copied and wanted == a.dtype:
        return a
    result = empty(a.layout, wanted, a.comm)
    try:
        # NumPy's newer rule "same_value" is one of astype alone.
        new = casting not in ("no", "equiv", "safe", "same_kind", "unsafe")
        local = a.local.astype(wanted, casting=casting) if new else a.local
        np.copyto(result._local, local, "unsafe" if new else casting)
    except (TypeError, ValueError) as error:
        raise MismatchError(f"NumPy converts no {a.dtype} to {wanted}: {error}") from None
    return result


def transpose(a: Array, axes: Any = None) -> Array:
    """`numpy.transpose`: a view, in an aligned layout."""
    with collective(a.comm, None):
        order = as_axes(range(a.layout.ndim)[::-1] if axes is None else axes, a.layout.ndim)
    return view(a, transposed(a.layout, tuple(order)), lambda x: x.transpose(order), order)


def view(a: Array, layout: Any, change: Any, order: Sequence[int] = ()) -> Array:
    """The same local elements with another layout. For lists, whose order may change, a copy."""
    rank = a._rank_and_size[0]
    if a._home is not None:  # a section that is a copy, which the view reads and writes through
        part = view(Array(a._current(), a.layout, a.comm), layout, change, order)
        part._home = (a, part._local, ...)
        return part
    local = a._local
    if rank >= a.layout.size:
        return made(local, layout, a.comm)
    if not a.layout._native.is_indexed:
        return made(change(local) if local.ndim == a.ndim else local, layout, a.comm)
    if list(order) == sorted(order):
        return made(local, layout, a.comm)
    before, after = numbers(a.layout, rank), numbers(layout, rank)
    places = np.unravel_index(before, a.layout.shape)
    before = np.ravel_multi_index([places[d] for d in order], layout.shape)
    by = np.argsort(before)
    copy = local[by[np.searchsorted(before[by], after)]]
    # Writes would not reach the array. This holds on every process, also on one whose order is
    # the same.
    copy.flags.writeable = False
    return made(copy, layout, a.comm)


def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    """`numpy.swapaxes`: a view."""
    with collective(a.comm, None):
        order = list(range(a.layout.ndim))
        x, y = one_axis(axis1, a.layout.ndim), one_axis(axis2, a.layout.ndim)
        order[x], order[y] = y, x
    return transpose(a, order)


def moveaxis(a: Array, source: Any, destination: Any) -> Array:
    """`numpy.moveaxis`: a view."""
    with collective(a.comm, None):
        try:
            dummy = np.moveaxis(np.empty((1,) * a.layout.ndim), source, destination)
        except (ValueError, TypeError) as error:
            raise LayoutError(str(error)) from None
        del dummy
        shape = np.moveaxis(np.empty(tuple(range(2, 2 + a.layout.ndim)), bool), source, destination)
        order = [extent - 2 for extent in shape.shape]
    return transpose(a, order)


def rollaxis(a: Array, axis: int, start: int = 0) -> Array:
    """`numpy.rollaxis`: a view."""
    with collective(a.comm, None):
        d = one_axis(axis, a.ndim)
        place = start + a.ndim if start < 0 else start
        if not 0 <= place <= a.ndim:
            raise LayoutError(f"start is {start}; give one from {-a.ndim} to {a.ndim}")
    return moveaxis(a, d, place - (d < place))


def matrix_transpose(x: Array) -> Array:
    """`numpy.matrix_transpose`: a view."""
    return swapaxes(x, -1, -2)


def expand_dims(a: Array, axis: Any) -> Array:
    """`numpy.expand_dims`: a view."""
    from hocket.arguments import integers

    with collective(a.comm, None):
        given = integers(axis, "axis")
        ndim = a.layout.ndim + len(given)
        new = normal_axes(given, ndim)
        left = iter(a.layout.shape)
        shape = tuple(1 if d in new else next(left) for d in range(ndim))
    names = [f"i{d}" for d in range(ndim) if d not in new]
    from hocket.computing.layouts import aligned

    own = ["*" if d in new else f"i{d}" for d in range(ndim)]
    layout = aligned(shape, own, names, a.layout)
    return view(a, layout, lambda x: np.expand_dims(x, new))


def squeeze(a: Array, axis: Any = None) -> Array:
    """`numpy.squeeze`: a view."""
    with collective(a.comm, None):
        shape = a.layout.shape
        if axis is None:
            axes = tuple(d for d, extent in enumerate(shape) if extent == 1)
        else:
            axes = reduced_axes(axis, len(shape))
        wrong = [d for d in axes if shape[d] != 1]
        if wrong:
            raise LayoutError(f"axis {wrong[0]} of shape {shape} has an extent other than 1")
    ones = tuple(0 if d in axes else slice(None) for d in range(a.layout.ndim))
    return a.section((*ones, ...)) if ones else a


def reshape(a: Array, shape: Any, order: str = "C", **options: Any) -> Array:
    """`numpy.reshape` in row-major order, in even parts. Collective."""
    with collective(a.comm, None):
        if order not in ("C", "F", "A") or options.get("copy") is False:
            raise LayoutError(
                "np.reshape of distributed arrays is a copy, of order 'C' or 'F'; give no others"
            )
        try:
            given: tuple[int, ...] = (operator.index(shape),)
        except TypeError:
            given = tuple(operator.index(extent) for extent in shape)
        if given.count(-1) == 1:
            rest = -math.prod(given)
            given = tuple(
                a.size // rest if extent == -1 and rest else max(extent, 0) for extent in given
            )
        if math.prod(given) != a.size or any(extent < 0 for extent in given):
            raise LayoutError(f"an array of shape {a.layout.shape} has no shape {shape}")
    if order == "F":
        return transpose(reshape(transpose(a), given[::-1]))
    if given == a.layout.shape:
        return redistribute(a, a.layout)
    size = a.layout.size
    runs = redistribute(a, flat(a.layout.shape, size))
    target = balanced(given, size)
    if len(given) == 1:
        return made(runs.local, target, a.comm)
    return redistribute(made(runs.local, flat(given, size), a.comm), target)


def ravel(a: Array, order: str = "C") -> Array:
    """`numpy.ravel` in row-major order, in even parts. Collective."""
    return reshape(a, (a.size,), "C" if order == "K" else order)


def flattened(a: Array, axis: Any) -> tuple[Array, int]:
    """The array, in one dimension if there is no axis, and the axis. Collective."""
    none = axis is None or (a.ndim == 0 and axis in (0, -1))
    with collective(a.comm, None):
        d = 0 if none else one_axis(axis, a.ndim)
    return (ravel(a), 0) if none else (a, d)


def broadcast_to(a: Array, shape: Any, subok: bool = False) -> Array:
    """`numpy.broadcast_to`, as a copy; new dimensions are not distributed."""
    with collective(a.comm, None):
        try:
            wanted = (operator.index(shape),)
        except TypeError:
            wanted = tuple(shape)
        if (
            broadcast_shape(
                [
                    a,
                    np.empty(wanted, bool)
                    if math.prod(wanted) < 1 << 20
                    else np.broadcast_to(np.empty((), bool), wanted),
                ]
            )
            != wanted
        ):
            raise LayoutError(f"the shape {a.layout.shape} does not broadcast to {wanted}")
    layout = extended(a.layout, wanted)
    result = empty(layout, a.dtype, a.comm)
    result._local[...] = bring(a, layout, a._rank_and_size[0], a.comm)
    return result


def flip(a: Array, axis: Any = None) -> Array:
    """`numpy.flip`: a section with negative steps."""
    with collective(a.comm, None):
        axes = normal_axes(axis, a.layout.ndim)
    back = slice(None, None, -1)
    return a.section(tuple(back if d in axes else slice(None) for d in range(a.layout.ndim)))


def at(axis: int, part: slice, ndim: int) -> tuple[slice, ...]:
    """`part` along one axis, everything along the others."""
    return tuple(part if d == axis else slice(None) for d in range(ndim))


def roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """`numpy.roll`: HPF's CSHIFT, in the layout of `a`. Collective."""
    from hocket.arguments import integers

    with collective(a.comm, None):
        shifts = integers(shift, "shift")
        axes = None if axis is None else [one_axis(d, a.ndim) for d in integers(axis, "axis")]
        if axes is None and len(shifts) != 1:
            raise LayoutError("several shifts need several axes")
        if axes is not None and len(axes) != len(shifts):
            pairs = np.broadcast_arrays(shifts, axes)
            shifts, axes = [int(x) for x in pairs[0]], [int(x) for x in pairs[1]]
    if axes is None:
        if a.layout.ndim == 1:
            return roll(a, shifts[0], 0)
        return redistribute(reshape(roll(ravel(a), shifts[0], 0), a.shape), a.layout)
    result = a
    for amount, d in zip(shifts, axes):
        found = _mpi.cshift(result._wrapped(), -amount % max(1, a.shape[d]), d)
        result = of_core(*found, a.layout, a.dtype, a.comm, a._local.shape)
    return result if result is not a else redistribute(a, a.layout)


def eoshift(a: Array, shift: int, axis: int = 0, fill: Any = 0) -> Array:
    """Shifts the array along an axis, off one end; `fill` comes in at the other. Collective.

    HPF's and Fortran's ``EOSHIFT``, as in C++, C and Fortran: element i of the result is
    ``a[i + shift]``. This sign is the opposite of `numpy.roll`'s.

    Parameters
    ----------
    a : Array
    shift
        positions, of either sign
    axis
        the dimension
    fill
        a scalar

    Returns
    -------
    Array
        in the layout of `a`

    Raises
    ------
    LayoutError, Error
        on every process, for an axis that does not exist, and if `fill` is neither a scalar nor an
        array.

    Examples
    --------
    On two processes:

    >>> a = hk.arange(hk.Layout(4, "(BLOCK)", 2))
    >>> hk.replicated(hk.eoshift(a, 1, 0, fill=-1))
    array([ 1,  2,  3, -1])
    """
    if not isinstance(a, Array):
        no_array(f"cannot shift {type(a).__name__}", None)
    from hocket.arguments import integer

    with collective(a.comm, None):
        d, by = one_axis(axis, a.layout.ndim), integer(shift, "shift")
        if np.ndim(fill) != 0 or isinstance(fill, Array):
            raise Error(f"fill has shape {np.shape(fill)}; give a scalar")
        value = as_value(fill[()] if isinstance(fill, np.ndarray) else fill, a.dtype)
    by = max(-a.shape[d], min(a.shape[d], by))
    found = _mpi.eoshift(a._wrapped(), by, address(value), d)
    return of_core(*found, a.layout, a.dtype, a.comm, a._local.shape)


def concatenate(
    arrays: Sequence[Any],
    axis: Any = 0,
    out: Any = None,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Array:
    """`numpy.concatenate`: with the formats of the first array, if they fit. Collective."""
    first = next(x for x in arrays if isinstance(x, Array))
    with collective(first.comm, None):
        communicator_of([x for x in arrays if isinstance(x, Array)])
        arrays = [x if isinstance(x, Array) else np.asarray(x) for x in arrays]
    if axis is None:
        arrays, axis = [ravel(x) if isinstance(x, Array) else x.reshape(-1) for x in arrays], 0
        first = next(x for x in arrays if isinstance(x, Array))
    with collective(first.comm, None):
        d = one_axis(axis, first.layout.ndim)
        rest = {(*x.shape[:d], *x.shape[d + 1 :]) for x in arrays}
        if len(rest) != 1 or any(x.ndim != first.ndim for x in arrays):
            raise LayoutError(
                f"the shapes {' and '.join(str(x.shape) for x in arrays)} differ beside axis {d}"
            )
        kind = np.result_type(*(x.dtype for x in arrays)) if dtype is None else np.dtype(dtype)
        total = sum(x.shape[d] for x in arrays)
        shape = (*first.shape[:d], total, *first.shape[d + 1 :])
        if out is not None and (not isinstance(out, Array) or out.shape != shape):
            raise MismatchError(f"out is {out!r:.80}; give a distributed array of shape {shape}")
        kind = kind if out is None else out.dtype
        wrong = [x.dtype for x in arrays if not np.can_cast(x.dtype, kind, casting)]
        if wrong:
            raise MismatchError(f"{wrong[0]} does not convert to {kind} by the rule {casting!r}")
    result = empty(like(first.layout, shape), kind, first.comm) if out is None else out
    begin = 0
    for x in arrays:
        part = result.section(at(d, slice(begin, begin + x.shape[d]), len(shape)))
        assign(part, x)
        begin += x.shape[d]
    return result


def stack(
    arrays: Sequence[Any],
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Array:
    """`numpy.stack`. Collective."""
    first = next(x for x in arrays if isinstance(x, Array))
    with collective(first.comm, None):
        if len({x.shape if isinstance(x, Array) else np.shape(x) for x in arrays}) != 1:
            raise LayoutError("np.stack takes arrays of one shape")
    parts = [
        expand_dims(x, axis) if isinstance(x, Array) else np.expand_dims(x, axis) for x in arrays
    ]
    return concatenate(parts, axis, out, dtype, casting)
