# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums of local elements and products, and their accumulators, which travel between
processes.

C++ does the arithmetic: ``hocket/exact.hpp``.
"""

from __future__ import annotations

import functools
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from hocket import _pure
from hocket.local_arrays import address

AnyArray = npt.NDArray[Any]
Words = npt.NDArray[np.int64]


@functools.cache
def is_exact(dtype: np.dtype[Any]) -> bool:
    """Whether its sums are exact: binary floating point of 16, 32 and 64 bits, and complex."""
    return dtype.newbyteorder("=").str[1:] in ("f2", "f4", "f8", "c8", "c16")


def halves(x: AnyArray) -> list[AnyArray]:
    """The real and the imaginary part as arrays of real numbers; of a real array itself."""
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


@functools.cache
def real_name(dtype: np.dtype[Any]) -> str:
    """The dtype of the parts."""
    return {"c8": "float32", "c16": "float64"}.get(dtype.str[1:], str(dtype.name))


def ordered(x: AnyArray, axes: tuple[int, ...]) -> tuple[AnyArray, int]:
    """`x` with `axes` last, and the number of dimensions before them. Both groups are sorted
    from large strides to small, except kept dimensions, which have the result's order."""
    kept = [d for d in range(x.ndim) if d not in axes]
    summed = sorted(axes, key=lambda d: -abs(x.strides[d]))
    if len(axes) == x.ndim and x.flags.c_contiguous:
        return x.reshape(-1), 0
    return x.transpose([*kept, *summed]), len(kept)


def with_parts_beside(x: AnyArray, axes: tuple[int, ...]) -> Optional[AnyArray]:
    """Complex `x` as real numbers, the two parts in turn along the last axis, if that one is kept
    and dense: C++ then reads long rows."""
    last = x.ndim - 1
    if x.dtype.kind != "c" or x.ndim == 0 or last in axes or x.strides[last] != x.itemsize:
        return None
    return x.view(real_name(x.dtype))


def native(x: AnyArray) -> AnyArray:
    """In the machine's byte order, and aligned."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


class Sums:
    """Accumulators of an array of sums: one of real numbers, two of complex ones."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], products: bool) -> None:
        self.shape, self.dtype, self.products = shape, dtype, products
        self.name = real_name(dtype)
        self.parts = 2 if dtype.kind == "c" else 1
        each = _pure.exact_words(self.name, products)
        self.words: Words = np.zeros((*shape, self.parts, each), np.int64)

    def add(self, x: AnyArray, axes: tuple[int, ...]) -> None:
        """The sums of elements over `axes`."""
        x = native(x)
        beside = with_parts_beside(x, axes)
        if beside is not None:
            self._add(slice(None), beside, None, axes, negative=False)
            return
        for part, half in enumerate(halves(x)):
            self._add(part, half, None, axes, negative=False)

    def add_products(self, x: AnyArray, y: AnyArray, axes: tuple[int, ...]) -> None:
        """The sums of products x * y over `axes`; both have one shape."""
        xs, ys = halves(native(x)), halves(native(y))
        if self.parts == 1:
            self._add(0, xs[0], ys[0], axes, negative=False)
            return
        self._add(0, xs[0], ys[0], axes, negative=False)
        self._add(0, xs[1], ys[1], axes, negative=True)
        self._add(1, xs[0], ys[1], axes, negative=False)
        self._add(1, xs[1], ys[0], axes, negative=False)

    def _add(
        self,
        part: Union[int, slice],
        x: AnyArray,
        y: Optional[AnyArray],
        axes: tuple[int, ...],
        negative: bool,
    ) -> None:
        if x.size == 0:
            return
        order = [*(d for d in range(x.ndim) if d not in axes), *axes]
        a = x.transpose(order)
        b = a if y is None else y.transpose(order)
        if y is None:
            a, kept = ordered(x, axes)
        else:
            kept = x.ndim - len(axes)
        own = self.words[..., part, :]
        into = own if own.flags.c_contiguous else np.zeros(own.shape, np.int64)
        _pure.exact_add(
            self.name,
            address(a),
            0 if y is None else address(b),
            a.shape,
            a.strides,
            b.strides if y is not None else [],
            kept,
            negative,
            address(into),
        )
        if into is not own:
            own += into

    def merge(self, words: Words) -> None:
        """Adds other accumulators, of the same kind and shape."""
        count = self.words.size // self.words.shape[-1]
        other = np.ascontiguousarray(words)
        _pure.exact_merge(address(self.words), address(other), count, self.name, self.products)

    def rounded(self, dtype: np.dtype[Any]) -> AnyArray:
        """The sums, rounded once to `dtype`."""
        result = np.empty((*self.shape, self.parts), real_name(dtype))
        count = self.words.size // self.words.shape[-1]
        _pure.exact_round(
            address(self.words), count, self.name, self.products, result.dtype.name, address(result)
        )
        if self.parts == 2:
            return result.view(dtype).reshape(self.shape)
        return result.reshape(self.shape)


def local_sum(x: AnyArray, axes: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """The sums over `axes`, rounded once, if all terms are on this process."""
    x = native(x)
    kept_shape = tuple(extent for d, extent in enumerate(x.shape) if d not in axes)
    beside = with_parts_beside(x, axes)
    if beside is not None:
        return local_sum(beside, axes, np.dtype(real_name(dtype))).view(dtype)
    results = []
    for half in halves(x):
        a, kept = ordered(half, axes)
        result = np.empty(kept_shape, real_name(dtype))
        if result.size:
            _pure.exact_sum(
                real_name(half.dtype),
                address(a),
                a.shape,
                a.strides,
                kept,
                real_name(result.dtype),
                address(result),
            )
        results.append(result)
    if len(results) == 1:
        return results[0]
    whole = np.empty(kept_shape, dtype)
    whole.real, whole.imag = results
    return whole


def local_pairs(x: AnyArray, axes: tuple[int, ...]) -> tuple[npt.NDArray[np.float64], bool]:
    """The sums over `axes`, each as two numbers whose sum it is exactly, and whether all are: of
    shape (kept extents, real and imaginary part, 2)."""
    x = native(x)
    kept_shape = tuple(extent for d, extent in enumerate(x.shape) if d not in axes)
    beside = with_parts_beside(x, axes)
    if beside is not None:
        found, exact = local_pairs(beside, axes)
        return found.reshape(*kept_shape, 2, 2), exact
    parts = halves(x)
    result = np.zeros((*kept_shape, len(parts), 2))
    exact = True
    for part, half in enumerate(parts):
        a, kept = ordered(half, axes)
        into = result[..., part, :] if len(parts) == 1 else np.zeros((*kept_shape, 2))
        if a.size:
            exact &= _pure.exact_pairs(
                real_name(half.dtype), address(a), a.shape, a.strides, kept, address(into)
            )
        result[..., part, :] = into
    return result, exact


def sum_of_pairs(pairs: npt.NDArray[np.float64], dtype: np.dtype[Any]) -> AnyArray:
    """The sums of stacked `local_pairs`, rounded once to `dtype`."""
    real = np.dtype(real_name(dtype))
    found = np.empty(pairs.shape[1:-1], real)
    a, kept = ordered(pairs, (0, pairs.ndim - 1))
    if found.size:
        _pure.exact_sum("float64", address(a), a.shape, a.strides, kept, real.name, address(found))
    return found.view(dtype)[..., 0]
