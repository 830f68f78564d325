# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles, which are elements of sorted arrays, and histograms. All are collective."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.by_index import combine_at
from hocket.computing.combining import added, scalar, to_out
from hocket.computing.elementwise import of_function
from hocket.computing.layouts import balanced, normal_axes
from hocket.computing.line_sorting import SortedElements, sorted_alike
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import bring, check_alike, first_communicator, without_copies
from hocket.creation import zeros
from hocket.errors import Error, LayoutError, MismatchError

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@contextmanager
def types_checked(*operands: Any) -> Iterator[None]:
    """As `collective`; the process that gave arguments of wrong types raises its `TypeError`."""
    try:
        yield
    except TypeError as error:
        with suppress(Error), collective(first_communicator(operands), None):
            raise
        raise error


def sorted_lines(a: Array, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """The elements of the axes sorted, in a dimension at the end; and the axes."""
    with collective(a.comm, None):
        axes = normal_axes(axis, a.ndim)
    if len(axes) == a.ndim:
        alone = without_copies(a)
        parts = sorted_alike(alone)
        return np.sort(a, None) if parts is None else SortedElements(alone, parts), axes
    if len(axes) == 1:
        return np.moveaxis(np.sort(a, axes[0]), axes[0], -1), axes
    moved = np.moveaxis(a, axes, range(-len(axes), 0))
    return np.sort(np.reshape(moved, (*moved.shape[: a.ndim - len(axes)], -1)), -1), axes


def between(function: Any, lines: Any, low: int, high: int) -> Any:
    """A function of two elements of each sorted line; NaN for a line with NaN, which is last."""

    def compute(first: Any, second: Any, last: Any) -> Any:
        found = function(np.stack([first, second]))
        return np.where(last != last, last, found).astype(found.dtype)[()]

    places = (low, high, lines.shape[-1] - 1)
    if isinstance(lines, SortedElements):
        lines.find(places)
    parts = [lines[(..., slice(k, k + 1))] for k in places]
    if lines.ndim == 1:
        return compute(*(part[0] for part in parts))
    return of_function(compute, [np.squeeze(part, -1) for part in parts])


def finished(found: Any, axes: tuple[int, ...], a: Array, keepdims: bool, out: Any) -> Any:
    """The result with the dimensions and in the array that were asked for."""
    if keepdims and not isinstance(found, Array):
        return scalar(found, found.dtype, True, a, out)
    if keepdims:
        found = np.expand_dims(found, axes)
    return found if out is None else to_out(found, out)


def quantile(
    a: Array,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """`numpy.quantile`, by five of its methods."""
    with types_checked(a, q):
        require_local(np.quantile, q)
        if method not in METHODS:
            raise TypeError(
                f"np.quantile of distributed arrays takes no method={method!r}; give one of "
                f"{METHODS}, or take elements of np.sort(a, axis=None)"
            )
    with collective(a.comm, None):
        q = np.asarray(q) if not isinstance(q, (int, float)) else q
        kind = np.quantile(np.ones(2, a.dtype), q, method=method).dtype
    lines, axes = sorted_lines(a, axis)
    with collective(a.comm, None):
        if lines.shape[-1] == 0:
            raise MismatchError(f"axis={axis} of shape {a.shape} has no elements, so no quantiles")

    last = lines.shape[-1] - 1

    def ends(each: Any) -> tuple[int, int, Any]:
        place = last * each
        low = int(np.floor(place))
        high = min(low + 1, last)
        rest = type(each)(place - low)
        if method == "nearest":  # to even
            low = high = int(np.rint(place))
        elif method == "lower":
            high = low
        elif method == "higher" and rest:
            low = high
        return low, high, rest

    def one(each: Any) -> Any:
        low, high, rest = ends(each)

        def compute(x: Any) -> Any:
            if method in ("lower", "higher", "nearest"):
                return x[0].astype(kind)
            return np.quantile(x, rest, axis=0, method=method).astype(kind)

        return between(compute, lines, low, high)

    if np.ndim(q) == 0:
        return finished(one(q if isinstance(q, float) else float(q)), axes, a, keepdims, out)
    every = q.reshape(-1)
    if isinstance(lines, SortedElements):
        lines.find([last, *(place for each in every for place in ends(each)[:2])])
    found = [finished(one(each), axes, a, keepdims, None) for each in every]
    if not isinstance(found[0], Array):
        whole: Any = np.array(found).reshape(q.shape)
    else:
        whole = np.reshape(np.stack(found), (*q.shape, *found[0].shape))
    return whole if out is None else to_out(whole, out)


def require_local(function: Any, q: Any) -> None:
    """Raises `TypeError` for probabilities in a distributed array."""
    if isinstance(q, Array):
        raise TypeError(
            f"np.{function.__name__} of distributed arrays takes NumPy's q=: hk.replicated(q)"
        )


def percentile(a: Array, q: Any, *positional: Any, **options: Any) -> Any:
    """`numpy.percentile`, by five of its methods."""
    with types_checked(a, q):
        require_local(np.percentile, q)
    q = np.true_divide(q, a.dtype.type(100) if a.dtype.kind == "f" else 100)
    return quantile(a, q, *positional, **options)


def median(
    a: Array,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """`numpy.median`."""
    lines, axes = sorted_lines(a, axis)
    with collective(a.comm, None):
        count = lines.shape[-1]
        if count == 0:
            raise MismatchError(f"axis={axis} of shape {a.shape} has no elements, so no median")
    middle = slice(None) if count % 2 == 0 else slice(0, 1)
    found = between(lambda x: np.mean(x[middle], 0), lines, (count - 1) // 2, count // 2)
    return finished(found, axes, a, keepdims, out)


def of_numbers(function: Any) -> Any:
    """`numpy.nanmedian` and similar functions, of all elements."""

    def compute(a: Array, *positional: Any, axis: Any = None, **options: Any) -> Any:
        if axis is not None or options.get("keepdims"):
            raise TypeError(
                f"np.nan{function.__name__} of distributed arrays takes no axis= and no keepdims=; "
                f"use np.{function.__name__} of lines without NaN"
            )
        return function(a[np.equal(a, a)], *positional, **options)

    return compute


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """`numpy.histogram`: each process counts its elements."""
    with types_checked(a, bins, weights):
        if isinstance(bins, str):
            raise TypeError(
                f"np.histogram of distributed arrays takes no bins={bins!r}; give a number, or "
                "edges"
            )
        if isinstance(bins, Array):
            raise TypeError(
                "np.histogram of distributed arrays takes NumPy's edges: hk.replicated(bins)"
            )
    with collective(a.comm, None):
        shape = a.shape if weights is None else np.shape(weights)
        shape = weights.shape if isinstance(weights, Array) else shape
        if shape != a.shape:
            raise LayoutError(f"weights= has shape {shape}, and the array {a.shape}")
        if a.dtype.kind == "c":
            raise MismatchError(f"bins of {a.dtype} have no order; give a.real or np.abs(a)")
    check_alike([bins], a.comm)
    a = without_copies(a.astype(np.uint8) if a.dtype.kind == "b" else a)
    if np.ndim(bins) == 0 and range is None:
        range = (a.min(), a.max()) if a.size else (0, 1)
    with collective(a.comm, None):
        edges = np.histogram_bin_edges(np.empty(0, a.dtype), bins, range)
    local = a.local.reshape(-1)
    if weights is not None:
        weights = np.broadcast_to(bring(weights, a.layout, a.comm.rank, a.comm), a.local.shape)
        weights = weights.reshape(-1)
    counts = np.histogram(local, bins, range, weights=weights)[0]
    found = added("np.histogram", a.comm, counts)
    return (found / np.diff(edges) / found.sum() if density else found), edges


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """`numpy.bincount`, in even parts."""
    with collective(x.comm, None):
        if x.ndim != 1 or x.dtype.kind not in "biu":
            raise LayoutError(f"bins of {x.dtype} and shape {x.shape}; give integers in a row")
        if minlength < 0:
            raise LayoutError(f"minlength is {minlength}; give 0 or more")
    low, high = (x.min(), x.max()) if x.size else (0, -1)
    with collective(x.comm, None):
        if low < 0:
            raise LayoutError(f"there is no bin {low}; give integers of 0 or more")
    layout = balanced((max(int(high) + 1, minlength),), x.layout.size)
    plain = weights is None or x.size == 0  # NumPy's result without elements is of integers
    found = zeros(layout, np.intp if plain else np.float64, x.comm)
    if x.size or (weights is not None and np.shape(weights) != x.shape):  # which is refused
        combine_at(np.add, found, x.astype(np.intp), 1 if weights is None else weights)
    return found


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """`numpy.digitize`."""
    steps: Any = np.diff(bins)
    side = "left" if right else "right"
    if np.all(np.greater_equal(steps, 0)):
        return np.searchsorted(bins, x, side)
    if np.all(np.less_equal(steps, 0)):
        return len(bins) - np.searchsorted(np.flip(bins), x, side)
    raise LayoutError("the edges of bins increase and decrease; sort them")
