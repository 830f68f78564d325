# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of NumPy's functions that are computed twice: by NumPy on whole arrays, and by hocket
on distributed ones. Each takes the arrays, and a function that chooses an integer from a range."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Choose = Callable[[int, int], int]
Expression = Callable[[Any, Any, Choose], Any]


def axis_of(x: Any, choose: Choose) -> Any:
    """None, an axis of either sign, or several."""
    if x.ndim == 0 or choose(0, 3) == 0:
        return None
    if x.ndim > 1 and choose(0, 3) == 0:
        return (0, x.ndim - 1)
    return choose(-x.ndim, x.ndim - 1)


def one_axis(x: Any, choose: Choose) -> int:
    return choose(-x.ndim, x.ndim - 1)


def slices(x: Any, choose: Choose) -> tuple[Any, ...]:
    """A basic index."""
    found: list[Any] = []
    for extent in x.shape:
        kind = choose(0, 4)
        if kind == 0 and extent:
            found.append(choose(-extent, extent - 1))
        elif kind == 1:
            found.append(slice(None, None, choose(1, 3)))
        elif kind == 2:
            found.append(slice(None, None, -1))
        else:
            found.append(slice(choose(0, extent), choose(0, extent)))
    if choose(0, 3) == 0:
        return (*found[: choose(0, len(found))], ...)
    return tuple(found)


def reduction(function: Any) -> Expression:
    def reduce(x: Any, y: Any, choose: Choose) -> Any:
        return function(x, axis=axis_of(x, choose), keepdims=choose(0, 1) == 1)

    return reduce


def indices(x: Any, choose: Choose) -> tuple[Any, ...]:
    """An integer array a dimension."""
    count = choose(0, 6)
    return tuple(
        np.array([choose(-extent, extent - 1) for _ in range(count)], np.int64)
        for extent in x.shape
    )


def assigned(x: Any, y: Any, choose: Choose) -> Any:
    x = x.copy()
    x[slices(x, choose)] = choose(0, 1)
    return x


def assigned_by_section(x: Any, y: Any, choose: Choose) -> Any:
    x = x.copy()
    cut = [choose(0, extent) for extent in x.shape]
    x[tuple(slice(c, None) for c in cut)] = y[tuple(slice(0, e - c) for c, e in zip(cut, x.shape))]
    return x


def assigned_by_mask(x: Any, y: Any, choose: Choose) -> Any:
    x = x.copy()
    x[y > 0] = choose(0, 1)
    return x


def assigned_values_by_mask(x: Any, y: Any, choose: Choose) -> Any:
    x = x.copy()
    mask = y > 0
    x[mask] = np.arange(int(np.count_nonzero(mask)))
    return x


def assigned_by_index(x: Any, y: Any, choose: Choose) -> Any:
    """Also one element several times: the last value stays."""
    x = x.copy()
    index = indices(x, choose)
    x[index] = np.arange(len(index[0]))
    return x


def rolled(x: Any, y: Any, choose: Choose) -> Any:
    return np.roll(x, choose(-5, 5), None if choose(0, 2) == 0 else one_axis(x, choose))


def in_place(x: Any, y: Any, choose: Choose) -> Any:
    x = x.copy()
    x += y
    return np.multiply(x, y, out=x)


def sorted_in_place(x: Any, y: Any, choose: Choose) -> Any:
    """Also a section of the array, which writes to it."""
    x = x.copy()
    part = x[::2] if choose(0, 1) else x
    part.sort(one_axis(x, choose))
    return x


def chosen_lines(x: Any, y: Any, choose: Choose) -> Any:
    """The lines along an axis, or the flattened elements, at which a condition is true."""
    axis = None if choose(0, 1) else one_axis(x, choose)
    extent = x.size if axis is None else x.shape[axis]
    return x.compress(np.arange(choose(0, extent)) % 3 == choose(0, 2), axis)


def of_chosen(function: Any, initial: bool) -> Expression:
    """A reduction of the elements of a mask, which may be of one line."""

    def reduce(x: Any, y: Any, choose: Choose) -> Any:
        where = y > 0
        if x.ndim and x.shape[0] and choose(0, 2) == 0:
            where = where[0]
        options = {"initial": choose(0, 1)} if initial else {}
        axis = axis_of(x, choose)
        return function(x, axis=axis, keepdims=choose(0, 1) == 1, where=where, **options)

    return reduce


def stacks(x: Any, y: Any, choose: Choose) -> Any:
    """Products of stacks of matrices, of matrices, of a vector."""
    if x.ndim < 3:
        return x + y
    turned = np.swapaxes(y, -1, -2)
    return [
        lambda: x @ turned,
        lambda: x[:1] @ turned,
        lambda: x @ turned[0] if len(y) else x + y,
        lambda: x @ y[0, 0] if len(y) and y.shape[1] else x + y,
    ][choose(0, 3)]()


def fft_of_extents(x: Any, y: Any, choose: Choose) -> Any:
    if not x.size or not x.ndim:
        return x + y
    s = tuple(choose(1, 7) for _ in range(choose(1, x.ndim)))
    real = x.real
    return [
        lambda: np.fft.fft(x, choose(1, 9), one_axis(x, choose)),
        lambda: np.fft.fftn(x, s, tuple(range(x.ndim - len(s), x.ndim))),
        lambda: np.fft.rfftn(real, s, tuple(range(len(s)))),
        lambda: np.fft.irfftn(x, s, tuple(range(len(s)))) if s[-1] > 1 else x,
        lambda: np.fft.irfft(x, choose(1, 9), one_axis(x, choose)),
        lambda: np.fft.rfft(real, choose(1, 9), one_axis(x, choose)),
        lambda: np.fft.fft2(x) if x.ndim > 1 else np.fft.ifft(x, 3),
    ][choose(0, 6)]()


def norms(x: Any, y: Any, choose: Choose) -> Any:
    order = [None, 1, 2, 3, np.inf, -np.inf, 0][choose(0, 6)]
    if x.ndim == 2 and choose(0, 1) and x.size:
        return np.linalg.norm(x, ["fro", 1, -1, np.inf, -np.inf][choose(0, 4)])
    return np.linalg.norm(x, order, one_axis(x, choose)) if x.size else x + y


def masks_of_dimensions(x: Any, y: Any, choose: Choose) -> Any:
    """A mask of one dimension beside slices and an integer."""
    if x.ndim < 2 or not x.size:
        return x + y
    rows = y[(slice(None), *[0] * (y.ndim - 1))] > 0
    last = y[(*[0] * (y.ndim - 1), slice(None))] > 0
    kind = choose(0, 3)
    if kind == 3:
        x = x.copy()
        x[rows] = 1
        return x
    return [lambda: x[rows], lambda: x[..., last], lambda: x[rows, 0]][kind]()


def summed_over_labels(x: Any, y: Any, choose: Choose) -> Any:
    """einsum of three operands, of diagonals, and with an ellipsis."""
    square = x @ y.T
    return [
        lambda: np.einsum("ij,kj,kl->il", x, y, x),
        lambda: np.einsum("ii->i", square),
        lambda: np.einsum("ii", square),
        lambda: np.einsum("...j,kj->k...", x, y),
        lambda: np.diagonal(square, choose(-2, 2)),
        lambda: np.inner(x, y),
    ][choose(0, 5)]()


#: of two arrays of one shape
ANY: dict[str, Expression] = {
    "add": lambda x, y, c: x + y,
    "scalars": lambda x, y, c: 2 * x - y,
    "negative": lambda x, y, c: -x,
    "power": lambda x, y, c: x**2,
    "less": lambda x, y, c: x < y,
    "equal": lambda x, y, c: x == y,
    "where": lambda x, y, c: np.where(x > y, x, y),
    "where argument": lambda x, y, c: np.add(x, y, where=x > 0, out=x.copy()),
    "in place": in_place,
    "maximum": lambda x, y, c: np.maximum(x, y),
    "clip": lambda x, y, c: np.clip(x, -1, 1),
    "round": lambda x, y, c: np.round(x, 1),
    "isclose": lambda x, y, c: np.isclose(x, y),
    "allclose": lambda x, y, c: np.allclose(x, x),
    "array_equal": lambda x, y, c: np.array_equal(x, y),
    "sum": reduction(np.sum),
    "prod": reduction(np.prod),
    "mean": reduction(np.mean),
    "var": reduction(np.var),
    "std": reduction(np.std),
    "any": reduction(np.any),
    "all": reduction(np.all),
    "count_nonzero": reduction(np.count_nonzero),
    "min": reduction(np.min),
    "max": reduction(np.max),
    "sum where": of_chosen(np.sum, True),
    "prod where": of_chosen(np.prod, False),
    "max where": of_chosen(np.max, True),
    "min where": of_chosen(np.min, True),
    "any where": of_chosen(np.any, False),
    "all where": of_chosen(np.all, False),
    "mean where": of_chosen(np.mean, False),
    "var where": of_chosen(np.var, False),
    "max initial": lambda x, y, c: np.max(x, axis=axis_of(x, c), initial=1),
    "stacks": stacks,
    "fft of extents": fft_of_extents,
    "transpose": lambda x, y, c: x.T + 1,
    "ravel": lambda x, y, c: np.ravel(x),
    "reshape": lambda x, y, c: x.reshape(-1, 1),
    "expand_dims": lambda x, y, c: np.expand_dims(x, c(0, x.ndim)) * 1,
    "squeeze": lambda x, y, c: np.squeeze(np.expand_dims(x, 0), 0) * 1,
    "broadcast_to": lambda x, y, c: np.broadcast_to(x, (2, *x.shape)) * 1,
    "flip": lambda x, y, c: np.flip(x) * 1,
    "flatten": lambda x, y, c: x.flatten("CF"[c(0, 1)]),
    "extract": lambda x, y, c: np.extract(y > 0, x),
    "vdot": lambda x, y, c: np.vdot(x, y),
    "norm": lambda x, y, c: np.linalg.norm(x),
    "section": lambda x, y, c: x[slices(x, c)],
    "assigned": assigned,
    "assigned by section": assigned_by_section,
    "assigned by mask": assigned_by_mask,
    "assigned values by mask": assigned_values_by_mask,
    "mask": lambda x, y, c: x[y > 0],
    "unique": lambda x, y, c: np.unique(x),
    "how often": lambda x, y, c: np.unique(x, return_counts=True)[c(0, 1)],
    "searchsorted": lambda x, y, c: np.searchsorted(np.sort(x.ravel()), y),
    "zeros_like": lambda x, y, c: np.zeros_like(x) + y,
    "vstack": lambda x, y, c: np.vstack([x, y]),
    "hstack": lambda x, y, c: np.hstack([x, y]),
    "dstack": lambda x, y, c: np.dstack([x, y]),
    "tile": lambda x, y, c: np.tile(x, [(2,), (1, 3), (2, 1, 2), (0, 2)][c(0, 3)]),
    "average": lambda x, y, c: np.average(x) if x.size else x + y,
    "order F": lambda x, y, c: x.reshape((-1, 1), order="F"),
    "all of both": lambda x, y, c: np.concatenate([x, y], axis=None),
    "unique with indices": lambda x, y, c: np.unique(x, return_index=True, return_inverse=True),
    "sum from": lambda x, y, c: np.sum(x, axis=axis_of(x, c), initial=2),
    "nansum": lambda x, y, c: np.nansum(x / y) if x.size else x + y,
}
#: of arrays with one dimension or more
AXIS: dict[str, Expression] = {
    "cumsum": lambda x, y, c: np.cumsum(x, one_axis(x, c)),
    "cumprod": lambda x, y, c: np.cumprod(x, one_axis(x, c)),
    "cumsum of all": lambda x, y, c: np.cumsum(x),
    "maximum.accumulate": lambda x, y, c: np.maximum.accumulate(x, axis=one_axis(x, c)),
    "add.reduce": lambda x, y, c: np.add.reduce(x),
    "moveaxis": lambda x, y, c: np.moveaxis(x, one_axis(x, c), 0) * 1,
    "swapaxes": lambda x, y, c: np.swapaxes(x, 0, one_axis(x, c)) * 1,
    "concatenate": lambda x, y, c: np.concatenate([x, y], one_axis(x, c)),
    "stack": lambda x, y, c: np.stack([x, y], c(0, x.ndim)),
    "roll": rolled,
    "diff": lambda x, y, c: np.diff(x, axis=one_axis(x, c)),
    "diff of ends": lambda x, y, c: np.diff(x, axis=one_axis(x, c), prepend=0, append=y),
    "norms": norms,
    "masks of dimensions": masks_of_dimensions,
    "indices of true": lambda x, y, c: np.argwhere(x),
    "sort": lambda x, y, c: np.sort(x, one_axis(x, c)),
    "argsort": lambda x, y, c: np.argsort(x, one_axis(x, c), kind="stable"),
    "sort in place": sorted_in_place,
    "compress": chosen_lines,
    "searchsorted by order": lambda x, y, c: x.ravel().searchsorted(
        y, "right", x.ravel().argsort(kind="stable")
    ),
    "nonzero": lambda x, y, c: np.nonzero(x),
    "average with weights": lambda x, y, c: np.average(x, one_axis(x, c), abs(y) + 1),
    "nanmean": lambda x, y, c: np.nanmean(x / y, one_axis(x, c)) if x.size else x + y,
    "repeat": lambda x, y, c: np.repeat(x, 2, one_axis(x, c)),
    "column_stack": lambda x, y, c: np.column_stack([x, y]) if x.ndim < 3 else x + y,
    "tensordot": lambda x, y, c: np.tensordot(x, y, ([x.ndim - 1], [x.ndim - 1])),
}
#: of arrays with elements in every dimension
FULL: dict[str, Expression] = {
    "argmin": lambda x, y, c: np.argmin(x, axis=one_axis(x, c)),
    "argmax": lambda x, y, c: np.argmax(x),
    "element": lambda x, y, c: x[tuple(c(0, n - 1) for n in x.shape)],
    "indices": lambda x, y, c: x[indices(x, c)],
    "rows": lambda x, y, c: x[[c(0, x.shape[0] - 1) for _ in range(3)]],
    "take": lambda x, y, c: np.take(x, [c(0, x.shape[-1] - 1), 0], axis=-1),
    "take with mode": lambda x, y, c: np.take(x, [-9, 1, 7], 0, mode=["wrap", "clip"][c(0, 1)]),
    "assigned by index": assigned_by_index,
    "ptp": lambda x, y, c: np.ptp(x, one_axis(x, c)) if x.dtype.kind in "if" else x + y,
    "fftn": lambda x, y, c: np.fft.fftn(x),
    "ifftn": lambda x, y, c: np.fft.ifftn(x),
}
#: of matrices
MATRIX: dict[str, Expression] = {
    "matmul": lambda x, y, c: x @ y.T,
    "matrix and vector": lambda x, y, c: x @ y[0] if len(y) else x + y,
    "einsum": lambda x, y, c: np.einsum("ij,kj->ki", x, y),
    "transposed matrices": lambda x, y, c: (x.mT if hasattr(x, "mT") else x.T) + 1,
    "trace of products": lambda x, y, c: (x @ y.T).trace(c(-1, 1)),
    "einsum of one": lambda x, y, c: np.einsum(["ij->ji", "ij->j", "ij->i"][c(0, 2)], x),
    "labels": summed_over_labels,
    "dot": lambda x, y, c: np.dot(x.ravel(), y.ravel()),
    "outer": lambda x, y, c: np.outer(x[:, 0], y[0]) if x.size else x + y,
    "rot90": lambda x, y, c: np.rot90(x, c(-2, 3)) * 1,
    "fliplr": lambda x, y, c: np.fliplr(x) * 1,
    "tril": lambda x, y, c: np.tril(x, c(-2, 2)),
    "triu": lambda x, y, c: np.triu(x, c(-2, 2)),
    "trace": lambda x, y, c: np.trace(x, c(-1, 1)),
    "rfftn": lambda x, y, c: np.fft.rfftn(x.real) if x.size else x + y,
    "broadcast rows": lambda x, y, c: x + y[:1] if len(y) else x + y,
    "broadcast columns": lambda x, y, c: x[:, :1] * y[:1],
}


def expressions(shape: tuple[int, ...]) -> dict[str, Expression]:
    """Those for this shape."""
    found = dict(ANY)
    if shape:
        found |= AXIS
    if shape and min(shape) > 0:
        found |= FULL
    if len(shape) == 2:
        found |= MATRIX
    return found


def values_of(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> np.ndarray:
    """Small numbers, many of them equal."""
    return np.asarray(numbers_of(shape, dtype, rng))


def numbers_of(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> Any:
    found = rng.integers(-4, 5, shape) * rng.choice([1.0, 0.5, 1e-3], shape)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return (found + 1j * rng.integers(-2, 3, shape)).astype(dtype)
    if dtype.kind in "iub":
        return rng.integers(-4 if dtype.kind == "i" else 0, 5, shape).astype(dtype)
    return found.astype(dtype)


def rounded(exact: Fraction, dtype: Any) -> Any:
    """The nearest number of the dtype, ties to even."""
    dtype = np.dtype(dtype)
    bits, least, most = {2: (11, -24, 15), 4: (24, -149, 127), 8: (53, -1074, 1023)}[dtype.itemsize]
    size = abs(exact)
    if size == 0:
        return dtype.type(0)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    last = max(exponent - bits + 1, least)
    scaled = size / Fraction(2) ** last
    count = math.floor(scaled)
    rest = scaled - count
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and count % 2):
        count += 1
    found = Fraction(count) * Fraction(2) ** last
    value = math.inf if found >= Fraction(2) ** (most + 1) else float(found)
    return dtype.type(value if exact > 0 else -value)
