# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise operations: operands of any layouts, computed on the local parts by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.layouts import chosen
from hocket.computing.operands import (
    bring,
    broadcast_shape,
    check_alike,
    communicator_of,
    made,
)
from hocket.creation import empty
from hocket.errors import Error, MismatchError
from hocket.layouts import Layout


def of_ufunc(ufunc: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """``ufunc(*inputs, **options)``: an array, or a tuple of them. Collective."""
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
    results = list(outs) or [empty(target, dtype, comm) for dtype in types]
    results = [empty(target, t, comm) if r is None else r for r, t in zip(results, types)]
    if results[0]._local.size:
        ufunc(*locals_, out=tuple(each._current() for each in results), **options)
    for each in results:
        each._settle()
    return results[0] if len(results) == 1 else tuple(results)


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
    return [each.dtype for each in (found if isinstance(found, tuple) else (found,))]


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
        result_types(function, inputs, options)
    check_alike(inputs, comm)
    rank = arrays[0]._rank_and_size[0]
    return made(function(*(bring(x, target, rank, comm) for x in inputs), **options), target, comm)
