# SPDX-License-Identifier: BSD-3-Clause
"""Products: exact dot products; matrix products by panels, with the local BLAS.

Panels as in R. van de Geijn, J. Watts, "SUMMA: scalable universal matrix multiplication" (1997):
for each panel of the inner dimension, two aligned layouts give every process the rows and columns
that its part of the result needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.elementwise import result_types
from hocket.computing.exact import Sums, is_exact
from hocket.computing.layouts import (
    Shape,
    aligned,
    balanced,
    chosen,
    is_grid,
    kept,
    like,
    moved,
    replicated_layout,
)
from hocket.computing.operands import bring, communicator_of, made, without_copies
from hocket.computing.reductions import combined, finish, leads, on_grid, reduce_all, total_of
from hocket.creation import empty
from hocket.errors import LayoutError
from hocket.layouts import Layout
from hocket.redistribution import redistribute

#: bytes of one operand's panel on a process
PANEL = 64 << 20


def as_arrays(a: Any, b: Any) -> tuple[Array, Array]:
    """Both as distributed arrays; NumPy's become replicated."""
    comm = communicator_of([x for x in (a, b) if isinstance(x, Array)])
    return tuple(  # type: ignore[return-value]
        x
        if isinstance(x, Array)
        else made(np.asarray(x), replicated_layout(np.shape(x), comm.size), comm)
        for x in (a, b)
    )


def inner(a: Array, b: Array, conjugate: bool = False) -> Any:
    """The sum of products of two vectors: exact, rounded once. Collective."""
    with collective(a.comm, None):
        if a.shape != b.shape:
            raise LayoutError(f"the shapes {a.shape} and {b.shape} differ")
        (dtype,) = result_types(np.multiply, [a, b], {})
    if dtype.kind == "b" or not is_exact(dtype):
        if conjugate:
            a = np.conjugate(a)  # type: ignore[assignment]
        product: Any = np.logical_and(a, b) if dtype.kind == "b" else np.multiply(a, b)
        return reduce_all(np.logical_or if dtype.kind == "b" else np.add, product, dtype)
    layout = chosen(a.shape, ((a.layout, a.dtype.itemsize), (b.layout, b.dtype.itemsize)))
    rank = a._rank_and_size[0]
    first = a if a.layout == layout else redistribute(a, layout)
    if not is_grid(layout):
        first = without_copies(first)
        layout = first.layout
    x = first.local.astype(dtype, copy=False)
    y = bring(b, layout, rank, a.comm).astype(dtype, copy=False)
    mine = Sums((), dtype, products=True)
    if x.size and (not is_grid(layout) or leads(layout, rank)):
        mine.add_products(
            x.conj() if conjugate and dtype.kind == "c" else x, y, tuple(range(x.ndim))
        )
    return dtype.type(total_of(mine, first, dtype))


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`numpy.dot`: exact for vectors; else `matmul`, or a product with a scalar. Collective."""
    if np.ndim(a) == 0 if not isinstance(a, Array) else a.ndim == 0:
        return np.multiply(a, b)
    if np.ndim(b) == 0 if not isinstance(b, Array) else b.ndim == 0:
        return np.multiply(a, b)
    a, b = as_arrays(a, b)
    if a.ndim == 1 and b.ndim == 1:
        return inner(a, b)
    if b.ndim <= 2:
        return matmul(a, b, out)
    return tensordot(a, b, ([a.ndim - 1], [b.ndim - 2]))


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
        return inner(a, b)
    if a.ndim > 2 or b.ndim > 2:
        result = stacks(a, b)
    elif a.ndim == 1 or b.ndim == 1:
        letters = "j,jk->k" if a.ndim == 1 else "ij,j->i"
        result = einsum(letters, a, b)
    else:
        result = panels(a, b, dtype)
    if out is None:
        return result
    from hocket.computing.reductions import to_out

    return to_out(result, out)


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


@kept
def product_layout(a: Layout, b: Layout, sizes: tuple[int, int]) -> Layout:
    """The layout of a matrix product: that of `a`, or of `b`, or along rows, whichever moves the
    fewest bytes."""
    shape = (a.shape[0], b.shape[1])
    candidates = [like(a, shape), like(b, shape), balanced(shape, max(a.size, b.size), 0)]

    def cost(layout: Layout) -> int:
        rows, columns = operand_layouts(layout, a.shape, b.shape)
        return moved(a, rows) * sizes[0] + moved(b, columns) * sizes[1]

    even = [layout for layout in candidates if is_grid(layout) and no_copies(layout)]
    return min(even, key=cost)


def no_copies(layout: Layout) -> bool:
    from hocket.computing.layouts import held

    return held(layout) == layout.num_elements


def operand_layouts(result: Layout, a: Shape, b: Shape) -> tuple[Layout, Layout]:
    """Whole rows of the first and whole columns of the second operand, aligned with the
    result's."""
    return (
        aligned(a, ["i", "*"], ["i", "*"], result),
        aligned(b, ["*", "j"], ["*", "j"], result),
    )


def panels(a: Array, b: Array, dtype: np.dtype[Any]) -> Array:
    """A product of matrices. Collective."""
    layout = product_layout(a.layout, b.layout, (a.dtype.itemsize, b.dtype.itemsize))
    result = empty(layout, dtype, a.comm)
    depth = a.shape[1]
    width = max(layout.local_shape(r)[d] for r in range(layout.size) for d in (0, 1)) or 1
    rows, columns = operand_layouts(layout, a.shape, b.shape)
    whole = a.layout == rows or b.layout == columns
    step = max(1, PANEL // (width * dtype.itemsize))
    if whole and depth * width * dtype.itemsize <= 4 * PANEL:
        step = max(1, depth)
    result._local[...] = np.zeros((), dtype)
    room = None
    for first in range(0, depth, step):
        part = slice(first, min(first + step, depth))
        left, right = a.section((slice(None), part)), b.section((part, slice(None)))
        needed = operand_layouts(layout, left.shape, right.shape)
        x = left if left.layout == needed[0] else redistribute(left, needed[0])
        y = right if right.layout == needed[1] else redistribute(right, needed[1])
        if not result._local.size:
            continue
        p, q = x.local.astype(dtype, copy=False), y.local.astype(dtype, copy=False)
        if first == 0:
            np.matmul(p, q, out=result._local)
        else:
            room = np.matmul(p, q, out=room)
            np.add(result._local, room, out=result._local)
    return result


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """`numpy.tensordot`. Collective."""
    a, b = as_arrays(a, b)
    if isinstance(axes, (int, np.integer)):
        ours, theirs = list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))
    else:
        ours, theirs = (list(np.atleast_1d(each)) for each in axes)
    with collective(a.comm, None):
        from hocket.computing.layouts import normal_axes, one_axis

        ours, theirs = [one_axis(d, a.ndim) for d in ours], [one_axis(d, b.ndim) for d in theirs]
        normal_axes(ours, a.ndim), normal_axes(theirs, b.ndim)
        if [a.shape[d] for d in ours] != [b.shape[d] for d in theirs]:
            raise LayoutError(f"axes {axes} of shapes {a.shape} and {b.shape} do not agree")
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    first = [next(letters) for _ in range(a.ndim)]
    second = [first[ours[theirs.index(d)]] if d in theirs else next(letters) for d in range(b.ndim)]
    left = [x for d, x in enumerate(first) if d not in ours]
    right = [x for d, x in enumerate(second) if d not in theirs]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(left + right)}", a, b)


def einsum(subscripts: Any, *operands: Any, **options: Any) -> Any:
    """`numpy.einsum` of one or two operands with named subscripts. Collective.

    The larger operand stays; the other one moves to it, aligned by common subscripts.
    """
    if not 1 <= len(operands) <= 2 or not isinstance(subscripts, str) or options:
        raise TypeError(
            "np.einsum takes subscripts and one or two operands here; contract more of them one "
            "after the other"
        )
    if len(operands) == 1:
        return einsum_of_one(subscripts, *operands)
    a, b = as_arrays(*operands)
    with collective(a.comm, None):
        first, second, result = parsed(subscripts, a, b)
        extents: dict[str, int] = {}
        for letters, x in ((first, a), (second, b)):
            for letter, extent in zip(letters, x.shape):
                if extents.setdefault(letter, extent) != extent:
                    raise LayoutError(f"'{letter}' is {extents[letter]} and {extent} long")
        (dtype,) = result_types(np.multiply, [a, b], {})
    if first == second and not result:
        return inner(a, b)
    if a.nbytes < b.nbytes or (a.layout.size > 1 and not no_copies(a.layout)):
        a, b, first, second = b, a, second, first
    a = on_grid(a)
    names = [f"i{first.index(x)}" if x in first else "*" for x in second]
    template = [f"i{d}" if x in second else "*" for d, x in enumerate(first)]
    needed = aligned(b.shape, names, template, a.layout)
    b = b if b.layout == needed else redistribute(b, needed)
    # Partial results have the subscripts of the first operand, and then those of the second alone.
    own = [x for x in second if x not in first]
    gone = tuple(d for d, x in enumerate(first) if x not in result)
    here, there = a.local, b.local
    middle = "".join(x for x in first if x in result) + "".join(
        own_kept := [x for x in own if x in result]
    )
    full = like_with(a, [extents[x] for x in own_kept])
    if here.size and here.ndim == len(first) and there.ndim == len(second):
        partial = np.einsum(
            f"{first},{second}->{middle}",
            here.astype(dtype, copy=False),
            there.astype(dtype, copy=False),
            optimize=True,
        )
        partial = np.expand_dims(partial, gone)
    else:
        partial = np.empty((0,) * full.ndim, dtype)
    combine = np.logical_or if dtype.kind == "b" else np.add
    whole = Summand(full, a.comm, dtype)
    summed = finish(combined(partial, whole, gone, combine), gone, False, None)
    if not result:
        return (
            summed.local.reshape(-1)[0] if not summed.shape and summed.local.size else summed.item()
        )
    from hocket.computing.shapes import transpose

    return transpose(summed, [middle.index(x) for x in result])


def einsum_of_one(subscripts: str, a: Array) -> Any:
    """`numpy.einsum` of one operand: a sum over axes, then a transposition. Collective."""
    with collective(a.comm, None):
        letters, result = parsed(subscripts, a)
    gone = tuple(d for d, x in enumerate(letters) if x not in result)
    if gone:
        a = np.any(a, axis=gone) if a.dtype.kind == "b" else np.sum(a, axis=gone, dtype=a.dtype)
    if not result:
        return a
    from hocket.computing.shapes import transpose

    left = [x for x in letters if x in result]
    return transpose(a, [left.index(x) for x in result])


def like_with(a: Array, extents: list[int]) -> Layout:
    """The layout of `a` with further dimensions, which are not distributed."""
    names = [f"i{d}" for d in range(a.ndim)]
    return aligned((*a.shape, *extents), [*names, *["*"] * len(extents)], names, a.layout)


class Summand:
    """The attributes that `combined` reads of an array that need not exist."""

    def __init__(self, layout: Layout, comm: Any, dtype: Any) -> None:
        self.layout, self.comm, self.dtype = layout, comm, dtype
        self._rank_and_size = (comm.rank, comm.size)


def parsed(subscripts: str, *operands: Array) -> tuple[str, ...]:
    """The subscripts of the operands and of the result. Raises `LayoutError`."""
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(operands) or not all(part.isalpha() or not part for part in parts):
        raise LayoutError(
            f"einsum: {subscripts!r} for {len(operands)} operands; give letters of each, as "
            "'ij,jk->ik' or 'ij->i'"
        )
    if not arrow:
        both = "".join(parts)
        result = "".join(sorted(x for x in set(both) if both.count(x) == 1))
    for part, x in zip(parts, operands):
        if len(part) != x.ndim or len(set(part)) != len(part):
            raise LayoutError(f"einsum: '{part}' for shape {x.shape}; give each dimension a letter")
    if len(set(result)) != len(result) or not set(result) <= set("".join(parts)):
        raise LayoutError(f"einsum: the result '{result}' has letters of no operand, or one twice")
    return (*parts, result)


def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`numpy.linalg.norm` of vectors: the exact sum of squares, rounded, and its root."""
    with collective(x.comm, None):
        if ord not in (None, 2, "fro") or (ord == 2 and x.ndim != 1 and axis is None):
            raise TypeError(
                "np.linalg.norm takes the Euclidean norm here; write others with np.sum"
            )
        if ord == "fro" and x.ndim != 2:
            raise LayoutError("the Frobenius norm is that of a matrix")
    wanted = np.dtype(np.float64) if x.dtype.kind in "bui" else x.dtype
    if x.dtype != wanted:
        x = x.astype(wanted)
    if axis is None and is_exact(wanted):
        total = inner(x, x, conjugate=True).real
        found = np.sqrt(total)
        return found if not keepdims else np.sqrt(np.sum(np.abs(x) ** 2, keepdims=True))
    return np.sqrt(np.sum((x * np.conjugate(x)).real, axis=axis, keepdims=keepdims))
