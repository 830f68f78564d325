# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise operations: operands of any layouts, computed on the local parts by NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.computing.layouts import Shape, chosen
from hocket.computing.operands import (
    bring,
    broadcast_shape,
    check_alike,
    checks,
    communicator_of,
    made,
)
from hocket.creation import empty, empty_as
from hocket.errors import Error, MismatchError
from hocket.layouts import Layout

#: scalars that promote by their type alone, which they do since NumPy 2
_SCALARS = (
    (bool, float, complex, np.bool_, np.float32, np.float64, np.int64)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    else ()
)
#: dtypes of results, by ufunc, number of outputs given, and types of operands
_types: dict[tuple[Any, ...], list[np.dtype[Any]]] = {}


def of_one_layout(ufunc: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """The same for operands that need no move and no further check: arrays of one layout and
    scalars. None for others."""
    outs = options.get("out", ())
    if len(options) > ("out" in options) or ufunc.signature is not None or checks():
        return None
    key: list[Any] = [ufunc, len(outs)]
    parts: list[Any] = []
    first: Any = None
    for x in (*inputs, *outs):
        kind = type(x)
        if kind is Array:
            if first is None:
                first = x
            elif x._comm is not first._comm or (
                x._layout is not first._layout and x._layout != first._layout
            ):
                return None
            key.append(x._local.dtype)
            parts.append(x._local if x._home is None else x.local)
        elif kind in _SCALARS or (kind is int and 0 <= x < 128):
            key.append(kind)
            parts.append(x)
        else:
            return None
    if ufunc is np.power:
        return None  # an exponent may be wrong
    for out in outs:
        if type(out) is not Array or out._home is not None or not out._local.flags.writeable:
            return None
    types = _types.get(tuple(key))
    if types is None:
        with collective(first._comm, None):
            types = result_types(ufunc, inputs, {})
            for out, dtype in zip(outs, types):
                check_out(out, dtype, {})
        _types[tuple(key)] = types
    results = outs
    if len(outs) < len(types):
        results = tuple([empty_as(first, dtype) for dtype in types])
        parts[len(inputs) :] = [each._local for each in results]
    if results[0]._local.size:
        ufunc(*parts)
    return results[0] if len(results) == 1 else results


def of_ufunc(ufunc: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """``ufunc(*inputs, **options)``: an array, or a tuple of them. Collective."""
    found = of_one_layout(ufunc, inputs, options)
    if found is not None:
        return found
    if any(isinstance(x, (list, tuple)) for x in inputs):
        some = (*inputs, *(options.get("out") or ()), options.get("where"))
        with collective(communicator_of([x for x in some if isinstance(x, Array)]), None):
            inputs = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
    given = options.pop("out", None)
    outs = given if isinstance(given, tuple) else (given,) if given is not None else ()
    where = options.pop("where", True)
    if any(option in options for option in ("axes", "axis", "keepdims", "signature")):
        raise TypeError(f"np.{ufunc.__name__} of distributed arrays takes out=, where= and dtype=")
    operands = [*inputs] if where is True else [*inputs, where]
    arrays = [x for x in (*operands, *outs) if isinstance(x, Array)]
    comm = communicator_of(arrays)
    if ufunc.signature is not None:
        raise TypeError(f"np.{ufunc.__name__} is no elementwise function; use np.matmul")
    with collective(comm, None):
        target = layout_of(operands, outs)
        types = result_types(ufunc, inputs, options)
        for out, dtype in zip(outs, types):
            check_out(out, dtype, options)
    check_alike(operands, comm)
    rank = arrays[0]._rank_and_size[0]
    locals_ = [bring(x, target, rank, comm) for x in operands]
    if where is not True:
        options["where"] = locals_.pop()
    if ufunc is np.power and types[0].kind in "iu":
        require_exponents(locals_[1], comm)
    results = list(outs) or [empty(target, dtype, comm) for dtype in types]
    results = [empty(target, t, comm) if r is None else r for r, t in zip(results, types)]
    if results[0]._local.size:
        ufunc(*locals_, out=tuple(each._current() for each in results), **options)
    for each in results:
        each._settle()
    return results[0] if len(results) == 1 else tuple(results)


def require_exponents(exponent: Any, comm: Any) -> None:
    """Raises `Error` on every process if integers have negative exponents on one. Collective."""
    from hocket.computing.collecting import allgather

    if (
        np.asarray(exponent).dtype.kind == "i"
        and allgather(comm, np.asarray(np.any(exponent < 0))).any()
    ):
        raise Error("integers to negative integer powers have no integer values; give floats")


def layout_of(operands: Sequence[Any], outs: Sequence[Any] = ()) -> Layout:
    """The shape of the result. Raises if shapes do not fit."""
    first = next((x for x in outs if isinstance(x, Array)), None)
    if first is None and len(operands) == 1:
        return operands[0]._layout  # type: ignore[no-any-return]
    arrays = [x for x in operands if isinstance(x, Array)]
    if first is None:
        first = arrays[0]
        if all(x is first or np.ndim(x) == 0 for x in operands if not isinstance(x, Array)) and all(
            x._layout is first._layout for x in arrays
        ):
            return first._layout
    shape = broadcast_shape([*operands, *(x for x in outs if x is not None)])
    for out in outs:
        if out is not None and not isinstance(out, Array):
            raise MismatchError(f"out is {type(out).__name__}; give an array made by hk.empty")
        if out is not None and out._layout.shape != shape:
            raise MismatchError(
                f"out has the shape {out._layout.shape}, but the result has {shape}"
            )
    if any(out is not None for out in outs):
        return first._layout
    return chosen(shape, tuple((x._layout, x.dtype.itemsize) for x in arrays))


def result_types(
    function: Callable[..., Any], inputs: Sequence[Any], options: dict[str, Any]
) -> list[np.dtype[Any]]:
    """Dtypes of the results, by NumPy's rules. Raises `MismatchError`."""
    examples = [np.empty(0, x.dtype) if isinstance(x, (Array, np.ndarray)) else x for x in inputs]
    examples = [x[:0].reshape(-1) if isinstance(x, np.ndarray) else x for x in examples]
    try:
        found = function(*examples, **options)
    except (TypeError, ValueError, OverflowError) as error:
        names = " and ".join(str(getattr(x, "dtype", type(x).__name__)) for x in inputs)
        raise MismatchError(
            f"{getattr(function, '__name__', function)} does not combine {names}: {error}"
        ) from None
    types = [each.dtype for each in (found if isinstance(found, tuple) else (found,))]
    if any(dtype.hasobject for dtype in types):
        raise MismatchError(
            f"{getattr(function, '__name__', function)} makes Python objects, which cannot move; "
            "use hk.map_blocks(np.vectorize(f, otypes=[dtype]), a)"
        )
    return types


def check_out(out: Any, dtype: np.dtype[Any], options: dict[str, Any]) -> None:
    if not isinstance(out, Array):
        if out is None:
            return
        raise MismatchError(f"out is {type(out).__name__}; give an array made by hk.empty")
    if not np.can_cast(dtype, out.dtype, options.get("casting", "same_kind")):
        raise MismatchError(f"the result is {dtype}, which out, {out.dtype}, does not take")
    if out._home is None and not out._local.flags.writeable:
        raise Error("out is read-only; give an array that may be written")


def of_function(function: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> Any:
    """``function(*inputs, **options)`` of a function that NumPy computes element by element."""
    arrays = [x for x in inputs if isinstance(x, Array)]
    comm = communicator_of(arrays)
    with collective(comm, None):
        inputs = [x if isinstance(x, Array) or np.ndim(x) == 0 else np.asarray(x) for x in inputs]
        target = layout_of(inputs)
        (dtype,) = result_types(function, inputs, options)
    check_alike(inputs, comm)
    rank = arrays[0]._rank_and_size[0]
    parts = [bring(x, target, rank, comm) for x in inputs]
    found = by_rows(function, parts, local_shape(target, comm), options)
    # NumPy's results without dimensions forget the byte order, which processes without them have.
    return made(found.astype(dtype, copy=False), target, comm)


def by_rows(
    function: Callable[..., Any], parts: Sequence[Any], shape: Shape, options: dict[str, Any]
) -> npt.NDArray[Any]:
    """``function(*parts, **options)``, of this shape, in new memory, some rows at a time: NumPy's
    functions make temporary arrays, of float64 for int8."""
    most = 1 << 16
    if math.prod(shape) <= most or any(np.ndim(x) for x in options.values()):
        found = np.asarray(function(*parts, **options))
        shared = any(isinstance(x, np.ndarray) and np.may_share_memory(found, x) for x in parts)
        return found.copy() if shared else found
    rows = most // math.prod(shape[1:])
    result: Optional[npt.NDArray[Any]] = None
    for first in range(0, shape[0], max(1, rows)):
        # A row that is too long is computed in parts, too.
        here = slice(first, first + rows) if rows else first
        broadcast = slice(None) if rows else 0
        some = by_rows(
            function,
            [
                x if np.ndim(x) < len(shape) else x[here if x.shape[0] == shape[0] else broadcast]
                for x in parts
            ],
            (min(rows, shape[0] - first), *shape[1:]) if rows else shape[1:],
            options,
        )
        result = np.empty(shape, some.dtype) if result is None else result
        result[here] = some
    assert result is not None
    return result
