# SPDX-License-Identifier: BSD-3-Clause
"""Explains the moves of an operation, before it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.computing.elementwise import layout_of
from hocket.computing.layouts import aligned_with, moved, normal_axes, parts_along, without
from hocket.computing.panels import operand_layouts, product_layout
from hocket.errors import Error
from hocket.layouts import Layout

_REDUCTIONS = {np.sum, np.prod, np.min, np.max, np.mean, np.any, np.all, np.var, np.std}
_PRODUCTS = {np.matmul, np.dot}
#: besides ufuncs
_ELEMENTWISE = {
    *(np.where, np.clip, np.round, np.real, np.imag, np.angle, np.sinc, np.fix, np.i0),
    *(np.isneginf, np.isposinf, np.isreal, np.iscomplex, np.isclose, np.nan_to_num),
}


def explain(function: Any, *operands: Any, **options: Any) -> str:
    """Describes the layout of an operation's result, and the elements that would move. Local.

    Parameters
    ----------
    function
        a ufunc or elementwise function, `numpy.matmul`, or a reduction such as `numpy.sum`
    operands
        distributed arrays, NumPy arrays and scalars
    options
        ``axis=`` of a reduction, ``out=`` of an elementwise operation

    Returns
    -------
    str
        one line for the result, and one for each distributed operand

    Raises
    ------
    LayoutError, Error
        in the cases of the operation itself, for another function, and if no operand is
        distributed.

    Examples
    --------
    On two processes:

    >>> a = hk.ones(hk.Layout((4, 4), "(BLOCK, *)", 2))
    >>> b = hk.ones(hk.Layout((4, 4), "(*, BLOCK)", 2))
    >>> print(hk.explain(np.add, a, b))
    result: (4, 4) (BLOCK, *) @ (2)
    operand 0: (4, 4) (BLOCK, *) @ (2), nothing moves
    operand 1: (4, 4) (*, BLOCK) @ (2), 64 bytes move
    """
    arrays = [x for x in operands if isinstance(x, Array)]
    if not arrays:
        raise Error("no operand is a distributed array; give one made by hk.empty, hk.wrap, …")
    require_known(function, operands)
    if function in _REDUCTIONS:
        axis = operands[1] if len(operands) > 1 else options.get("axis")
        return of_reduction(arrays[0], axis)
    if function in _PRODUCTS:
        a, b = arrays
        target = product_layout(a.layout, b.layout, (a.dtype.itemsize, b.dtype.itemsize))
        needed: tuple[Layout, ...] = operand_layouts(target, a.shape, b.shape)
    else:
        out = options.get("out")
        target = layout_of(operands, (out,) if out is not None else ())
        needed = tuple(aligned_with(x.shape, target) for x in arrays)
    lines = [f"result: {target}"]
    for place, (x, layout) in enumerate(zip(arrays, needed)):
        lines.append(
            f"operand {place}: {x.layout}, {amount(moved(x.layout, layout) * x.dtype.itemsize)}"
        )
    return "\n".join(lines)


def require_known(function: Any, operands: tuple[Any, ...]) -> None:
    """Raises `Error` for a function that `explain` would explain wrongly."""
    if not callable(function):
        raise Error(f"{function!r} is no function; give one of NumPy's, as np.add")
    name = getattr(function, "__name__", repr(function))
    if function in _REDUCTIONS and isinstance(operands[0], Array) and len(operands) <= 2:
        return
    if function in _PRODUCTS:
        if len(operands) == 2 and all(isinstance(x, Array) and x.ndim == 2 for x in operands):
            return
        raise Error(f"{name}: explain describes the product of two distributed matrices")
    if isinstance(function, np.ufunc) and function.signature is None:
        if len(operands) == function.nin:
            return
        raise Error(f"{name} has {function.nin} operands, and {len(operands)} were given")
    if function not in _ELEMENTWISE:
        raise Error(
            f"{name} is unknown to explain; give a ufunc, as np.add, another function of elements, "
            "np.matmul, or a reduction, as np.sum"
        )


def amount(count: int) -> str:
    """The explanation as text."""
    return f"{count} bytes move" if count else "nothing moves"


def of_reduction(a: Array, axis: Any) -> str:
    axes = normal_axes(axis, a.ndim)
    if len(axes) == a.ndim:
        return (
            "result: a scalar on every process\n"
            f"operand 0: {a.layout}, one partial result a process"
        )
    parts = 1
    for d in axes:
        parts *= len(parts_along(a.layout, d))
    moves = f"{parts} partial results an element" if parts > 1 else "nothing moves"
    return f"result: {without(a.layout, axes, False)}\noperand 0: {a.layout}, {moves}"
