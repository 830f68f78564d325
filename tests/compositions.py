# SPDX-License-Identifier: BSD-3-Clause
"""More expressions for `computing`: of functions that hocket composes of a few others."""

from __future__ import annotations

from typing import Any

import numpy as np

import computing
from computing import Choose, Expression, axis_of, one_axis


def quantiles(x: Any, y: Any, choose: Choose) -> Any:
    """Of all elements, of lines and of planes; also of NaN."""
    if x.dtype.kind not in "iuf" or not x.size:
        return x + y
    x = x / y if choose(0, 3) == 0 else x
    axis, keepdims = axis_of(x, choose), choose(0, 1) == 1
    method = ["linear", "lower", "higher", "midpoint", "nearest"][choose(0, 4)]
    q = [0.3, 0, 1.0, np.array([[0.25, 0.5]])][choose(0, 3)]
    return [
        lambda: np.median(x, axis, keepdims=keepdims),
        lambda: np.quantile(x, q, axis, method=method, keepdims=keepdims),
        lambda: np.percentile(x, 100 * q, axis),
        lambda: np.nanmedian(x),
    ][choose(0, 3)]()


def histograms(x: Any, y: Any, choose: Choose) -> Any:
    if x.dtype.kind not in "iuf":
        return x + y
    return [
        lambda: np.histogram(x, choose(1, 5)),
        lambda: np.histogram(x, [-3, -1, 0.5, 4], weights=abs(y)),
        lambda: np.histogram(x, 4, (-1, 2.5)),
        lambda: np.digitize(x, [[-2, 0, 1.5], [3, 0, -1]][choose(0, 1)], choose(0, 1) == 1),
        lambda: np.bincount(abs(x.ravel()).astype(int), minlength=choose(0, 9)),
        lambda: np.bincount(abs(x.ravel()).astype(int), abs(y.ravel())),
        lambda: np.interp(x, [-2.0, 0.0, 3.0], [1.0, 5.0, 2.0]),
    ][choose(0, 6)]()


def without_nan(x: Any, y: Any, choose: Choose) -> Any:
    """Reductions and scans that ignore NaN."""
    names = ["nanmin", "nanmax", "nansum", "nanprod", "nanmean", "nanvar", "nanstd"]
    scans = ["nancumsum", "nancumprod", "nanargmin", "nanargmax"]
    name = (names + scans)[choose(0, len(names + scans) - 1)]
    if not x.size or (x.dtype.kind in "cb" and name not in ("nansum", "nanprod", "nanmean")):
        return x + y
    values = x / y
    if name in scans:
        return getattr(np, name)(values, one_axis(x, choose))
    return getattr(np, name)(values, axis=axis_of(x, choose), keepdims=choose(0, 1) == 1)


def split(x: Any, y: Any, choose: Choose) -> Any:
    axis = one_axis(x, choose)
    if choose(0, 1):
        return tuple(np.array_split(x, choose(1, 4), axis))
    return tuple(np.split(x, [choose(0, 3), choose(0, 5)], axis))


def padded(x: Any, y: Any, choose: Choose) -> Any:
    mode = ["constant", "edge", "reflect", "symmetric", "wrap"][choose(0, 4)]
    width: Any = [2, (1, 2), [(choose(0, 2), choose(0, 3)) for _ in x.shape]][choose(0, 2)]
    options = {"constant_values": (1, 2)} if mode == "constant" and choose(0, 1) else {}
    return np.pad(x, width, mode, **options)


def deleted(x: Any, y: Any, choose: Choose) -> Any:
    axis = one_axis(x, choose)
    extent = x.shape[axis]
    if not extent:
        return np.delete(x, slice(0, 1), axis)
    chosen = [choose(-extent, extent - 1) for _ in range(3)]
    return np.delete(x, [chosen, chosen[0], slice(choose(0, 2), None, 2)][choose(0, 2)], axis)


def convolved(x: Any, y: Any, choose: Choose) -> Any:
    mode = ["full", "same", "valid"][choose(0, 2)]
    kernel = np.arange(1.0, choose(2, 9))
    if x.ndim != 1 or not x.size:
        return x + y
    return [lambda: np.convolve(x, kernel, mode), lambda: np.correlate(kernel, x, mode)][
        choose(0, 1)
    ]()


def stacks_of_matrices(x: Any, y: Any, choose: Choose) -> Any:
    if x.ndim != 3 or not x.size or x.dtype.kind == "b":
        return x + y
    square = x @ np.swapaxes(x.conj(), 1, 2) + 9 * np.eye(x.shape[1])
    return [
        lambda: np.linalg.det(square),
        lambda: np.linalg.inv(square),
        lambda: np.linalg.solve(square, y),
        lambda: tuple(np.linalg.slogdet(square)),
        lambda: np.linalg.svd(x, compute_uv=False),
    ][choose(0, 4)]()


def sets(x: Any, y: Any, choose: Choose) -> Any:
    if x.dtype.kind == "c":
        return x + y
    return [
        lambda: np.isin(x, y),
        lambda: np.isin(x, [0, 1, 0.5], invert=True),
        lambda: np.union1d(x, y),
        lambda: np.intersect1d(x, y),
        lambda: np.setdiff1d(x, y),
        lambda: np.setxor1d(x, y),
        lambda: np.unique(x / y, return_counts=True, equal_nan=False)[1],
    ][choose(0, 6)]()


def products(x: Any, y: Any, choose: Choose) -> Any:
    """Of vectors, matrices and stacks."""
    square = x @ y.T
    return [
        lambda: np.kron(x, y[:2]),
        lambda: np.multiply.outer(x, y[0]) if len(y) else x + y,
        lambda: (
            np.subtract.outer(x[:, 0], y).astype(float) if x.dtype.kind == "i" and x.size else x
        ),
        lambda: np.cov(x) if x.shape[1] > 1 and x.shape[0] else x,
        lambda: np.linalg.matrix_power(square, choose(0, 3)),
        lambda: np.linalg.multi_dot([x, y.T, x]) if x.size else x,
        lambda: np.diag(x[:, 0], choose(-2, 2)) if x.shape[1] else x,
        lambda: np.diag(x, choose(-1, 1)),
    ][choose(0, 7)]()


def crossed(x: Any, y: Any, choose: Choose) -> Any:
    if not x.size or x.dtype.kind == "b":
        return x + y
    axis = one_axis(x, choose)
    return np.cross(np.take(x, [0, -1, 0], axis), np.take(y, [-1, 0, 0], axis), axis=axis)


def differences(x: Any, y: Any, choose: Choose) -> Any:
    axis = one_axis(x, choose)
    if x.dtype.kind == "b" or x.shape[axis] < 3:
        return x
    return [
        lambda: np.gradient(x, 0.5, axis=axis, edge_order=choose(1, 2)),
        lambda: np.average(x, axis, [1.0] * x.shape[axis]),
    ][choose(0, 1)]()


def by_number(x: Any, y: Any, choose: Choose) -> Any:
    """Elements by index arrays beside new dimensions; and written where indices repeat."""
    rows = [choose(-x.shape[0], x.shape[0] - 1) for _ in range(4)]
    z = x.copy()
    if x.dtype.kind == "b":
        return x[rows, None]
    if choose(0, 2) == 0:
        np.add.at(z, rows, y[0])
    elif choose(0, 1):
        z[rows, ..., None] = 1
    else:
        return [
            lambda: x[None, rows],
            lambda: x[..., None, rows] if x.ndim == 1 else x[rows, None],
        ][choose(0, 1)]()
    return z


def along(x: Any, y: Any, choose: Choose) -> Any:
    axis = one_axis(x, choose)
    order = np.argsort(y, axis, kind="stable")
    if choose(0, 1):
        return np.take_along_axis(x, order, axis)
    z = x.copy()
    np.put_along_axis(z, order, y, axis)
    return z


def written(x: Any, y: Any, choose: Choose) -> Any:
    z = x.copy()
    kind = choose(0, 3)
    if kind == 0:
        np.copyto(z, y, where=y > 0)
    elif kind == 1:
        np.putmask(z, x > y, y)
    elif kind == 2 and x.dtype.kind == "f":
        z = x / y
        np.nan_to_num(z, copy=False, nan=2)
    elif kind == 3 and x.dtype.kind == "f":
        np.fix(y, out=z)
    return z


def numbered(x: Any, y: Any, choose: Choose) -> Any:
    """np.choose, np.select, and indices of one dimension and of several."""
    picked = (y > 0).astype(int)
    return [
        lambda: np.choose(picked, [x, y]),
        lambda: np.choose(picked + 2, [x, y, x], mode=["wrap", "clip"][choose(0, 1)]),
        lambda: np.select([x > y, x > 0], [x, y]),
        lambda: np.unravel_index(picked, (2, 3)),
        lambda: np.ravel_multi_index((picked, picked), (2, 3)),
        lambda: np.atleast_3d(x),
        lambda: np.broadcast_arrays(x, picked),
        lambda: np.isreal(x),
    ][choose(0, 7)]()


#: of two arrays of one shape
ANY: dict[str, Expression] = {
    "quantiles": quantiles,
    "histograms": histograms,
    "sets": sets,
    "written": written,
    "stacks of matrices": stacks_of_matrices,
    "numbered": numbered,
    "zeros of a shape": lambda x, y, c: np.zeros_like(x, shape=(c(0, 3), 2)),
    "array_equiv": lambda x, y, c: np.array_equiv(x, y),
}
#: of arrays with one dimension or more
AXIS: dict[str, Expression] = {
    "without nan": without_nan,
    "split": split,
    "convolved": convolved,
    "padded": padded,
    "deleted": deleted,
    "differences": differences,
    "triangle of rows": lambda x, y, c: np.tril(x[(0,) * (x.ndim - 1)], 1) if x.size else x,
    "rollaxis": lambda x, y, c: np.rollaxis(x, one_axis(x, c), c(-x.ndim, x.ndim)) * 1,
    "fftshift": lambda x, y, c: np.fft.ifftshift(np.fft.fftshift(x), one_axis(x, c)),
    "along": along,
    "partition": lambda x, y, c: (
        np.partition(x, 0, one_axis(x, c)).take([0], 0) if x.ndim == 1 and x.size else x
    ),
    "lexsort": lambda x, y, c: np.lexsort((x.ravel(), y.ravel())),
    "block": lambda x, y, c: np.block([[x, y], [y, x]]),
    "repeats of an array": lambda x, y, c: np.repeat(
        x, np.abs(y[(slice(None), *[0] * (x.ndim - 1))]) > 1, 0
    ),
    "repeats": lambda x, y, c: np.repeat(x, [c(0, 3) for _ in range(x.shape[0])], 0),
}
#: of arrays with elements in every dimension
FULL: dict[str, Expression] = {
    "by number": by_number,
    "cross": crossed,
}
#: of matrices
MATRIX: dict[str, Expression] = {
    "products": products,
    "rfft2": lambda x, y, c: np.fft.irfft2(np.fft.rfft2(x.real)) if min(x.shape) > 1 else x,
}


def expressions(shape: tuple[int, ...]) -> dict[str, Expression]:
    """Those for this shape, and those of `computing`."""
    found = computing.expressions(shape) | ANY
    if shape:
        found |= AXIS
    if shape and min(shape) > 0:
        found |= FULL
    if len(shape) == 2:
        found |= MATRIX
    return found
