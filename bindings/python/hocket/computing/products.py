# SPDX-License-Identifier: BSD-3-Clause
"""Products: exact dot products, products of vectors, matrices and stacks of them, and norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.combining import to_out
from hocket.computing.contractions import einsum, inner, tensordot
from hocket.computing.elementwise import result_types
from hocket.computing.layouts import Shape, normal_axes
from hocket.computing.operands import as_arrays
from hocket.computing.panels import product
from hocket.computing.reductions import is_exact
from hocket.errors import LayoutError


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`numpy.dot`: exact for vectors; else `matmul`, or a product with a scalar. Collective."""
    # NumPy makes arrays of scalars, whose dtypes count in full.
    given: list[Any] = [x if isinstance(x, Array) else np.asarray(x) for x in (a, b)]
    a, b = as_arrays(*given)
    if a.ndim == 0 or b.ndim == 0:
        result = np.multiply(*(x[()] if isinstance(x, np.ndarray) else x for x in given))
        return result if out is None else to_out(result, out, "no")
    if a.ndim == 1 and b.ndim == 1:
        found = inner(a, b)
    elif b.ndim <= 2:
        found = matmul(a, b)
    else:
        found = tensordot(a, b, ([a.ndim - 1], [b.ndim - 2]))
    return found if out is None else to_out(found, out, "no")


def vdot(a: Any, b: Any) -> Any:
    """`numpy.vdot`: exact; `a` conjugated, both flattened. Collective."""
    from hocket.computing.shapes import ravel

    a, b = as_arrays(a, b)
    if a.shape != b.shape:
        a, b = ravel(a), ravel(b)
    return inner(a, b, conjugate=True)


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """`numpy.matmul` of vectors and matrices. Collective."""
    a, b = as_arrays(a, b)
    with collective(a.comm, None):
        if a.ndim == 0 or b.ndim == 0:
            raise TypeError(
                f"np.matmul takes vectors, matrices and stacks of them, not shapes {a.shape} and "
                f"{b.shape}; use np.multiply"
            )
        if a.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
            raise LayoutError(f"shapes {a.shape} and {b.shape} do not multiply")
        check_stacks(a.shape[:-2], b.shape[:-2])
        (dtype,) = result_types(np.multiply, [a, b], {})
    if a.ndim == 1 and b.ndim == 1:
        result = inner(a, b)
    elif a.ndim > 2 or b.ndim > 2:
        result = stacks(a, b)
    elif a.ndim == 1 or b.ndim == 1:
        letters = "j,jk->k" if a.ndim == 1 else "ij,j->i"
        result = einsum(letters, a, b)
    else:
        result = product(a, b, dtype)
    return result if out is None else to_out(result, out)


def check_stacks(first: Shape, second: Shape) -> None:
    """Raises `LayoutError`."""
    for x, y in zip(first[::-1], second[::-1]):
        if x != y and 1 not in (x, y):
            raise LayoutError(f"stacks of shapes {first} and {second} do not broadcast to one")


def stacks(a: Array, b: Array) -> Any:
    """Products of matrices in stacks; each dimension is one character of einsum. Collective."""
    letters = "abcdefghijklmnopqrstuvw"
    depth = max(a.ndim, b.ndim) - 2
    operands: list[Any] = []
    texts = []
    for x, other, own in ((a, b, "xy"), (b, a, "yz")):
        names = own if x.ndim > 1 else "y"
        ours = x.shape[: -len(names)]
        theirs = other.shape[:-2]
        gone = []  # one matrix for all of the other's
        for d, extent in enumerate(ours):
            place = len(theirs) - len(ours) + d
            if extent == 1 and place >= 0 and theirs[place] != 1:
                gone.append(d)
        batch = [each for d, each in enumerate(letters[depth - len(ours) : depth]) if d not in gone]
        operands.append(np.squeeze(x, tuple(gone)) if gone else x)
        texts.append("".join(batch) + names)
    left = "x" if a.ndim > 1 else ""
    right = "z" if b.ndim > 1 else ""
    return einsum(f"{texts[0]},{texts[1]}->{letters[:depth]}{left}{right}", *operands)


def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`numpy.linalg.norm` of vectors and matrices. A Euclidean norm is the exact sum of squares,
    rounded, and its root. Collective."""
    with collective(x.comm, None):
        axes = normal_axes(axis, x.ndim)
        if ord is not None and len(axes) not in (1, 2):
            raise LayoutError(
                f"a norm of order {ord!r} over the dimensions {axes}; give one or two"
            )
        if ord == "fro" and len(axes) != 2:
            raise LayoutError("the Frobenius norm is that of a matrix; give two axes")
    matrix = len(axes) == 2
    if (isinstance(ord, str) and ord != "fro") or (matrix and ord in (2, -2)):
        raise TypeError(f"np.linalg.norm of order {ord!r} needs singular values; use ScaLAPACK")
    if x.dtype.kind in "bui":
        x = x.astype(np.float64)
    if ord in (None, "fro") or (ord == 2 and not matrix):
        if axis is None and is_exact(x.dtype) and not keepdims:
            return np.sqrt(inner(x, x, conjugate=True).real)
        return np.sqrt(np.sum((x * np.conjugate(x)).real, axis=axis, keepdims=keepdims))
    size: Any = np.abs(x)
    if matrix:  # sums of columns, or of rows
        if abs(ord) not in (1, math.inf):
            raise LayoutError(f"a matrix has no norm of order {ord!r}; give 'fro', 1 or np.inf")
        first = list(normal_axes(axis, x.ndim) if axis is None else np.atleast_1d(axis))
        along = first[0] if abs(ord) == 1 else first[1]
        sums = np.sum(size, axis=along, keepdims=True)
        found = (np.max if ord > 0 else np.min)(sums, axis=axes, keepdims=keepdims)
    elif abs(ord) == math.inf:
        found = (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    elif ord == 0:
        found = np.sum(np.not_equal(x, 0), axis=axis, keepdims=keepdims).astype(size.dtype)
    elif ord == 1:
        found = np.sum(size, axis=axis, keepdims=keepdims)
    else:
        total = np.sum(np.power(size, ord), axis=axis, keepdims=keepdims)
        found = np.power(total, np.reciprocal(size.dtype.type(ord)))
    return found
