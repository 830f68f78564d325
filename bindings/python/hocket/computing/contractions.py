# SPDX-License-Identifier: BSD-3-Clause
"""Sums of products: exact ones of vectors; over named dimensions, einsum and tensordot."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from hocket import _mpi
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.combining import combined, grid_of, on_grid, remain, to_out
from hocket.computing.elementwise import result_types
from hocket.computing.filling import arange
from hocket.computing.indexing import element
from hocket.computing.layouts import (
    aligned,
    balanced,
    chosen,
    held,
    is_local,
    normal_axes,
    one_axis,
    stretched,
    transposed,
    without,
)
from hocket.computing.operands import as_array, as_arrays, made
from hocket.computing.panels import moves_less, product
from hocket.computing.reductions import by_ufunc, is_exact, reduce_all, terms_of
from hocket.computing.rounds import elements_of_round
from hocket.computing.shapes import concatenate, moveaxis, transpose
from hocket.creation import empty, zeros
from hocket.errors import LayoutError, MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute


def inner(a: Array, b: Array, conjugate: bool = False) -> Any:
    """The sum of products of two vectors: exact, rounded once. Collective."""
    with collective(a.comm, None):
        if a.shape != b.shape:
            raise LayoutError(f"the shapes {a.shape} and {b.shape} differ")
        (dtype,) = result_types(np.multiply, [a, b], {})
    if dtype.kind == "b" or not is_exact(dtype):
        if conjugate:
            a = np.conjugate(a)  # type: ignore[assignment]
        products: Any = np.logical_and(a, b) if dtype.kind == "b" else np.multiply(a, b)
        add = np.logical_or if dtype.kind == "b" else np.add
        return reduce_all(
            add, products, (None, dtype, dtype, "np.vdot", by_ufunc(add, dtype, True), None)
        )
    layout = a._layout
    if b._layout is not layout:
        layout = chosen(a.shape, ((layout, a.dtype.itemsize), (b._layout, b.dtype.itemsize)))
    x, y = (
        terms_of(each if each._layout == layout else redistribute(each, layout), dtype)
        for each in (a, b)
    )
    if dtype.kind == "c" and not conjugate:
        x = made(x.local.conj(), layout, a.comm)  # C++ conjugates the first factor
    _, memory = _mpi.dot_product(x._wrapped(), y._wrapped())
    return memory[: dtype.itemsize].view(dtype)[0]


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """`numpy.tensordot`. Collective."""
    a, b = as_arrays(a, b)
    if isinstance(axes, (int, np.integer)):
        ours, theirs = list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))
    else:
        ours, theirs = (list(np.atleast_1d(each)) for each in axes)
    with collective(a.comm, None):
        ours, theirs = [one_axis(d, a.ndim) for d in ours], [one_axis(d, b.ndim) for d in theirs]
        normal_axes(ours, a.ndim), normal_axes(theirs, b.ndim)
        if [a.shape[d] for d in ours] != [b.shape[d] for d in theirs]:
            raise LayoutError(f"axes {axes} of shapes {a.shape} and {b.shape} do not agree")
    labels = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    first = [next(labels) for _ in range(a.ndim)]
    second = [first[ours[theirs.index(d)]] if d in theirs else next(labels) for d in range(b.ndim)]
    left = [x for d, x in enumerate(first) if d not in ours]
    right = [x for d, x in enumerate(second) if d not in theirs]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(left + right)}", a, b)


def einsum(subscripts: Any, *operands: Any, out: Any = None, optimize: Any = None) -> Any:
    """`numpy.einsum`: operands are contracted from the left to the right, two at a time.
    Collective."""
    if not isinstance(subscripts, str) or not operands:
        raise TypeError("np.einsum of distributed arrays takes subscripts as text, and operands")
    arrays = as_arrays(*operands)
    with collective(arrays[0].comm, None):
        parts, result = parsed(subscripts, arrays)
    terms = [distinct_labels(part, x) for part, x in zip(parts, arrays)]
    while len(terms) > 2:
        (first, a), (second, b) = terms[:2]
        later = "".join(part for part, _ in terms[2:]) + result
        kept = "".join(dict.fromkeys(x for x in first + second if x in later))
        terms[:2] = [(kept, as_array(contract(first, a, second, b, kept), a.comm))]
    if len(terms) == 1:
        found = einsum_of_one(*terms[0], result)
    else:
        found = contract(*terms[0], *terms[1], result)
    return found if out is None else to_out(found, out)


def distinct_labels(part: str, x: Array) -> tuple[str, Array]:
    """Diagonals of dimensions that have one label. Collective."""
    for label in part:
        while part.count(label) > 1:
            d = part.index(label)
            e = part.index(label, d + 1)
            with collective(x.comm, None):
                if x.shape[d] != x.shape[e]:
                    raise LayoutError(
                        f"einsum's {label!r} stands for extents {x.shape[d]} and {x.shape[e]} of "
                        f"one operand of shape {x.shape}; give each dimension a label of its own"
                    )
            x = diagonal(x, 0, d, e)
            part = part[:d] + part[d + 1 : e] + part[e + 1 :] + label
    return part, x


def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """`numpy.diagonal`, as a copy. Collective."""
    with collective(a.comm, None):
        if a.ndim < 2:
            raise LayoutError(f"an array of shape {a.shape} has no diagonals; give two dimensions")
        d, e = one_axis(axis1, a.ndim), one_axis(axis2, a.ndim)
        if d == e:
            raise LayoutError(f"axis1 and axis2 are one dimension, {d}; give two")
        down, right = max(-offset, 0), max(offset, 0)
        count = max(0, min(a.shape[d] - down, a.shape[e] - right))
    front = moveaxis(a, (d, e), (0, 1))
    step: Any = arange(balanced((count,), a.layout.size), comm=a.comm)
    return moveaxis(front[step + down, step + right], 0, -1)


def contract(first: str, a: Array, second: str, b: Array, result: str) -> Any:
    """A contraction of two operands. The larger one stays; the other one moves to it, aligned by
    common subscripts. Collective."""
    with collective(a.comm, None):
        extents: dict[str, int] = {}
        for labels, x in ((first, a), (second, b)):
            for label, extent in zip(labels, x.shape):
                if extents.setdefault(label, extent) != extent:
                    raise LayoutError(f"'{label}' is {extents[label]} and {extent} long")
        (dtype,) = result_types(np.multiply, [a, b], {})
        if dtype.kind not in "biufc":
            raise MismatchError(f"np.einsum adds no {dtype}; use np.sum of np.multiply")
    if first == second and not result:
        return inner(a, b)
    if a.size == 0 or b.size == 0:
        shape = tuple(extents[x] for x in result)
        return zeros(balanced(shape, a.comm.size), dtype, a.comm) if shape else dtype.type(0)
    if a.nbytes < b.nbytes or (a.layout.size > 1 and held(a.layout) != a.layout.num_elements):
        a, b, first, second = b, a, second, first
    own = [x for x in second if x not in first]
    gone = tuple(d for d, x in enumerate(first) if x not in result)
    most = elements_of_round(dtype.itemsize)
    if len(result) == 2 and len(first) == len(second) == 2 and len(own) == len(gone) == 1:
        matrices = as_matrices(first, a, second, b, result)
        if matrices and moves_less(*matrices, a, b, needed_of(first, a, second, b), gone, dtype):
            return product(*matrices, dtype)
    a = on_grid(a)
    needed = needed_of(first, a, second, b)
    whole = [(b.shape[d], d) for d in range(b.ndim) if b.shape[d] > 1 and is_local(needed, d)]
    here_at_most = max(needed.local_elements(rank) for rank in range(needed.size))
    if b.layout != needed and whole and here_at_most > most:
        label = second[max(whole)[1]]
        return in_parts(first, a, second, b, result, label, -(-here_at_most // most))
    b = b if b.layout == needed else redistribute(b, needed)
    if not result:
        return element(summed(first, a, second, b, result, dtype))
    return in_panels(first, a, second, b, result, dtype)


def in_panels(
    first: str, a: Array, second: str, b: Array, result: str, dtype: np.dtype[Any]
) -> Array:
    """`summed`, a panel of the result after the other if a process's partial results are large.
    Collective."""
    full, gone, middle = partial_layout(first, a, second, b, result)
    sizes = [full.local_shape(rank) for rank in range(full.size)]
    kept = [d for d in range(full.ndim) if d not in gone]
    largest = max(math.prod(shape[d] for d in kept) for shape in sizes)
    parts = -(-largest // elements_of_round(6 * dtype.itemsize))
    if parts == 1 or remain(full, gone):
        return summed(first, a, second, b, result, dtype)
    # Along a dimension that is not distributed, if there is one; every process has work in a panel.
    local = [d for d in kept if is_local(full, d)]
    label = middle[kept.index(max(local or kept, key=lambda d: min(full.shape[d], parts)))]
    layout = transposed(without(full, gone, False), tuple(middle.index(x) for x in result))
    whole = empty(layout, dtype, a.comm)
    extent = whole.shape[result.index(label)]
    step = -(-extent // parts)
    for k in range(0, extent, step) if local else range(-(-extent // step)):
        cut = slice(k, min(k + step, extent)) if local else slice(k, None, -(-extent // step))
        x, y, panel = (
            panel_of(labels, each, label, cut, bool(local))
            for labels, each in ((first, a), (second, b), (result, whole))
        )
        found = summed(first, x, second, y, result, dtype)
        if not local:
            panel[...] = found
        elif found.local.size:
            panel.local[...] = found.local
    return whole


def panel_of(labels: str, x: Array, label: str, cut: slice, local: bool) -> Array:
    """A part of the dimension of a label. If that is not distributed, all panels have one layout,
    for which hocket keeps one plan."""
    if label not in labels:
        return x
    d = labels.index(label)
    index = tuple(cut if each == label else slice(None) for each in labels)
    if not local:
        return x.section(index)
    mine = x.local[index] if x.local.size else x.local
    return made(mine, stretched(x.layout, d, cut.stop - cut.start), x.comm)


def partial_layout(
    first: str, a: Array, second: str, b: Array, result: str
) -> tuple[Layout, tuple[int, ...], str]:
    """Of partial results: the layout, in which the dimensions that are added have not gone yet;
    these; and the labels of the others, which are those of the first operand, and then those of
    the second alone."""
    gone = tuple(d for d, x in enumerate(first) if x not in result)
    own = [x for x in second if x not in first and x in result]
    full = like_with(a, [b.shape[second.index(x)] for x in own])
    return full, gone, "".join(x for x in first if x in result) + "".join(own)


def summed(first: str, a: Array, second: str, b: Array, result: str, dtype: np.dtype[Any]) -> Array:
    """The contraction of aligned operands. Collective."""
    here, there = a.local, b.local
    full, gone, middle = partial_layout(first, a, second, b, result)
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
    found = combined("a product", partial, full, a.comm, gone, combine)
    return transpose(found, [middle.index(x) for x in result])


def needed_of(first: str, a: Array, second: str, b: Array) -> Layout:
    """The layout of `b` that is aligned with `a` by common subscripts."""
    names = [f"i{first.index(x)}" if x in first else "*" for x in second]
    template = [f"i{d}" if x in second else "*" for d, x in enumerate(first)]
    return aligned(b.shape, names, template, grid_of(a.layout))


def as_matrices(
    first: str, a: Array, second: str, b: Array, result: str
) -> Optional[tuple[Array, Array]]:
    """The factors whose matrix product is this contraction of two matrices; None for any other
    contraction."""
    if result[0] not in first:
        first, a, second, b = second, b, first, a
    if result[0] in second or result[1] in first:
        return None
    left = a if first[0] == result[0] else transpose(a)
    return left, b if second[1] == result[1] else transpose(b)


def in_parts(
    first: str, a: Array, second: str, b: Array, result: str, label: str, parts: int
) -> Any:
    """`contract`, so many parts of the dimension of one label after the other. Collective."""

    def part(labels: str, x: Array, begin: int) -> Array:
        here = slice(begin, begin + step)
        return x.section(tuple(here if each == label else slice(None) for each in labels))

    extent = b.shape[second.index(label)]
    step = -(-extent // parts)
    found = (
        contract(first, part(first, a, begin), second, part(second, b, begin), result)
        for begin in range(0, extent, step)
    )
    if label in result:
        return concatenate(list(found), result.index(label))
    add: Any = np.logical_or if a.dtype.kind == b.dtype.kind == "b" else np.add
    total: Any = next(found)
    for each in found:
        total = add(total, each, out=total) if isinstance(total, Array) else add(total, each)
        del each  # before the next one is made
    return total


def einsum_of_one(labels: str, a: Array, result: str) -> Any:
    """A sum over axes, then a transposition. Collective."""
    gone = tuple(d for d, x in enumerate(labels) if x not in result)
    if gone:
        a = np.any(a, axis=gone) if a.dtype.kind == "b" else np.sum(a, axis=gone, dtype=a.dtype)
    if not result:
        return a
    left = [x for x in labels if x in result]
    return transpose(a, [left.index(x) for x in result])


def like_with(a: Array, extents: list[int]) -> Layout:
    """The layout of `a` with further dimensions, which are not distributed."""
    names = [f"i{d}" for d in range(a.ndim)]
    return aligned((*a.shape, *extents), [*names, *["*"] * len(extents)], names, a.layout)


def parsed(subscripts: str, operands: Sequence[Array]) -> tuple[list[str], str]:
    """The subscripts of the operands and of the result, in which labels stand for each ``...``.
    Raises `LayoutError`."""
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    parts = inputs.split(",")
    named = [part.replace("...", "") for part in (*parts, result)]
    if len(parts) != len(operands) or not all(part.isalpha() or not part for part in named):
        raise LayoutError(
            f"einsum: {subscripts!r} for {len(operands)} operands; give labels of each, as "
            "'ij,jk->ik' or 'ij->i'"
        )
    free = [x for x in string.ascii_letters if x not in text]
    most = max(x.ndim - len(name) for name, x in zip(named, operands))
    dots = "".join(free[: max(most, 0)])
    for k, (part, name, x) in enumerate(zip(parts, named, operands)):
        count = x.ndim - len(name)
        if count < 0 or (count > 0 and "..." not in part):
            raise LayoutError(f"einsum: '{part}' for shape {x.shape}; give each dimension a label")
        parts[k] = part.replace("...", dots[len(dots) - count :] if count else "")
    if arrow:
        result = result.replace("...", dots if any("..." in p for p in inputs.split(",")) else "")
    else:
        both = "".join(named[:-1])
        result = dots + "".join(sorted(x for x in set(both) if both.count(x) == 1))
    if len(set(result)) != len(result) or not set(result) <= set("".join(parts)):
        raise LayoutError(f"einsum: the result '{result}' has labels of no operand, or one twice")
    return parts, result
