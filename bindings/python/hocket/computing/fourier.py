# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms: local ones of SciPy or NumPy along local axes, between transfers."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

import numpy as np

from hocket.arguments import integers
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.layouts import balanced, is_local, like, one_axis, stretched
from hocket.computing.operands import made
from hocket.computing.shapes import roll
from hocket.creation import zeros
from hocket.errors import LayoutError, MismatchError
from hocket.redistribution import redistribute


def fftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`numpy.fft.fftn`, in the layout of `a`. Collective."""
    return transform(np.fft.fft, a, s, axes, norm)


def ifftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`numpy.fft.ifftn`, in the layout of `a`. Collective."""
    return transform(np.fft.ifft, a, s, axes, norm)


def fft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.fft`, in the layout of `a`. Collective."""
    return transform(np.fft.fft, a, n, (axis,), norm)


def ifft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.ifft`, in the layout of `a`. Collective."""
    return transform(np.fft.ifft, a, n, (axis,), norm)


def fft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`numpy.fft.fft2`, in the layout of `a`. Collective."""
    return transform(np.fft.fft, a, s, axes, norm)


def ifft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`numpy.fft.ifft2`, in the layout of `a`. Collective."""
    return transform(np.fft.ifft, a, s, axes, norm)


def rfft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`numpy.fft.rfft2`. Collective."""
    return rfftn(a, s, axes, norm)


def irfft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`numpy.fft.irfft2`. Collective."""
    return irfftn(a, s, axes, norm)


def hfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.hfft`. Collective."""
    return irfft(a.conj(), n, axis, OPPOSITE.get(norm, norm))


def ihfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.ihfft`. Collective."""
    return rfft(a, n, axis, OPPOSITE.get(norm, norm)).conj()


#: scales of a transform that goes the other way
OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward"}


def fftshift(x: Array, axes: Any = None, sign: int = 1) -> Array:
    """`numpy.fft.fftshift`. Collective."""
    with collective(x.comm, None):
        given = range(x.ndim) if axes is None else integers(axes, "axes")
        order = [one_axis(d, x.ndim) for d in given]
    return roll(x, [sign * (x.shape[d] // 2) for d in order], order)


def ifftshift(x: Array, axes: Any = None) -> Array:
    """`numpy.fft.ifftshift`. Collective."""
    return fftshift(x, axes, -1)


def resized(a: Array, s: Any, axes: Any, norm: Any) -> tuple[Array, list[int]]:
    """`a` cut, or filled up with zeros, to the extents `s` of `axes`; and the axes. Collective."""
    with collective(a.comm, None):
        if norm not in (None, "backward", "ortho", "forward"):
            raise LayoutError(f"norm is {norm!r}; give 'backward', 'ortho' or 'forward'")
        given = None if s is None else integers(s, "s")
        if given is not None and axes is None:
            if len(given) > a.ndim:
                raise LayoutError(f"s={s!r} has more extents than the shape {a.shape}")
            axes = range(a.ndim - len(given), a.ndim)
        order = axes_of(axes, a.ndim)
        if given is None:
            return a, order
        if len(given) != len(order):
            raise LayoutError(f"s={s!r} for the axes {order}; give one extent each")
        wrong = [extent for extent in given if extent < 1 and extent != -1]
        if wrong:
            raise LayoutError(f"a transform of {wrong[0]} elements; give 1 or more")
        shape = list(a.shape)
        for d, extent in zip(order, given):
            shape[d] = a.shape[d] if extent == -1 else extent
    if tuple(shape) == a.shape:
        return a, order
    both = tuple(slice(0, min(old, new)) for old, new in zip(a.shape, shape))
    result = zeros(like(a.layout, tuple(shape)), a.dtype, comm=a.comm)
    result[both] = a[both]
    return result, order


def rfftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`numpy.fft.rfftn`: the last axis real. Collective."""
    with collective(a.comm, None):
        if a.dtype.kind == "c":
            raise MismatchError(f"a real transform takes no {a.dtype}; use np.fft.fftn, or a.real")
    a, order = resized(a, s, axes, norm)
    half = lines(np.fft.rfft, a, order[-1], norm, a.shape[order[-1]] // 2 + 1)
    result = transform(np.fft.fft, half, None, order[:-1], norm) if order[:-1] else half
    return in_layout_like(a, result)


def rfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.rfft`. Collective."""
    return rfftn(a, n, (axis,), norm)


def irfftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`numpy.fft.irfftn`: the last axis becomes real. Collective."""
    with collective(a.comm, None):
        given = None if s is None else list(integers(s, "s"))
        last = one_axis(-1 if axes is None else list(axes)[-1], a.ndim)
        extent = 2 * (a.shape[last] - 1) if given is None else given[-1]
        extent = a.shape[last] if extent == -1 else extent
        if extent < 1:
            raise LayoutError(f"a transform of {extent} elements; give 1 or more")
    half, order = resized(a, given and [*given[:-1], extent // 2 + 1], axes, norm)
    others = order[:-1]
    result = transform(np.fft.ifft, half, None, others, norm) if others else half
    function = functools.partial(np.fft.irfft, n=extent)
    return in_layout_like(a, lines(function, result, order[-1], norm, extent))


def irfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`numpy.fft.irfft`. Collective."""
    return irfftn(a, n, (axis,), norm)


def in_layout_like(a: Array, result: Array) -> Array:
    """The result in the layout of `a`, with its own extents. Collective."""
    target = like(a.layout, result.layout.shape)
    return result if result.layout == target else redistribute(result, target)


def axes_of(axes: Any, ndim: int) -> list[int]:
    """The axes in the given order, each once. Raises `LayoutError`."""
    found = [one_axis(d, ndim) for d in (range(ndim) if axes is None else axes)]
    if len(set(found)) != len(found):
        raise LayoutError(f"axes={axes!r} names a dimension twice")
    return found


def transform(function: Any, a: Array, s: Any, axes: Any, norm: Any) -> Array:
    """`function` along each axis, local axes first. Collective."""
    a, order = resized(a, s, axes, norm)
    with collective(a.comm, None):
        if any(a.shape[d] == 0 for d in order):
            raise LayoutError(f"a transform of shape {a.shape} has no elements")
    layout = a.layout
    left = sorted(order, key=lambda d: not is_local(layout, d))
    while left:
        here = [d for d in left if is_local(a.layout, d)]
        for d in here:
            a = lines(function, a, d, norm)
        left = [d for d in left if d not in here]
        if not left:
            break
        others = [d for d in range(a.ndim) if d != left[0]]
        if others and max(a.shape[d] for d in others) > 1:
            # The dimension to distribute: one that is done, or else the longest.
            done = [d for d in others if d not in left] or others
            a = redistribute(a, balanced(a.shape, layout.size, max(done, key=lambda d: a.shape[d])))
        else:
            a = long_line(function, a, left.pop(0), norm)
    return a if a.layout == layout else redistribute(a, layout)


def lines(function: Any, a: Array, axis: int, norm: Any, extent: Any = None) -> Array:
    """Transforms along one axis, after making it local. A real transform's result has `extent`
    elements along it. Collective."""
    if not is_local(a.layout, axis):
        others = [d for d in range(a.ndim) if d != axis]
        if others and max(a.shape[d] for d in others) > 1:
            a = redistribute(
                a, balanced(a.shape, a.layout.size, max(others, key=lambda d: a.shape[d]))
            )
        elif extent is not None:
            return real_line(function, a, axis, norm, extent)
        else:
            return long_line(function, a, axis, norm)
    local = a.local
    extent = a.shape[axis] if extent is None else extent
    shape = tuple(extent if d == axis else e for d, e in enumerate(a.shape))
    layout = a.layout if shape == a.shape else stretched(a.layout, axis, extent)
    if local.ndim != a.ndim or not local.size:
        kind = function(np.ones(2, a.dtype)).dtype
        rank = a._rank_and_size[0]
        mine = layout.local_shape(rank) if rank < layout.size else (0,)
        return made(np.empty(mine, kind), layout, a.comm)
    return made(locally(function, local, axis, norm), layout, a.comm)


#: element types of which SciPy's results have NumPy's
_ALIKE = ("d", "D") if np.lib.NumpyVersion(np.__version__) < "2.0.0" else ("d", "D", "f", "F")


@functools.cache
def scipy_fft() -> Any:
    """The module; None if SciPy is not installed."""
    try:
        return importlib.import_module("scipy.fft")
    except ImportError:
        return None


def locally(function: Any, local: Any, axis: int, norm: Any) -> Any:
    """NumPy's `function` of a local array, by SciPy if it is installed: its transforms use the
    processor's vectors, and take a quarter to a half of the time."""
    if local.dtype.char not in _ALIKE or not local.dtype.isnative or scipy_fft() is None:
        return function(local, axis=axis, norm=norm)
    base, more = function, {}
    if isinstance(function, functools.partial):
        base, more = function.func, function.keywords
    return getattr(scipy_fft(), base.__name__)(local, axis=axis, norm=norm, **more)


def real_line(function: Any, a: Array, axis: int, norm: Any, extent: int) -> Array:
    """One line that is distributed, by the complex transform: of a real line, or of the whole
    spectrum, in which element n - k is the conjugate of element k. Collective."""

    def part(x: Array, begin: int, end: int) -> Array:
        return x.section(
            tuple(slice(begin, end) if d == axis else slice(None) for d in range(x.ndim))
        )

    with np.errstate(all="ignore"):
        if function is np.fft.rfft:
            return part(transform(np.fft.fft, a, None, (axis,), norm), 0, extent)
        mirrored = np.flip(np.conjugate(part(a, 1, extent - a.shape[axis] + 1)), axis)
        whole: Any = np.concatenate([a, mirrored], axis)  # NumPy states an ndarray
        found: Array = transform(np.fft.ifft, whole, None, (axis,), norm).real
    return found.astype(function(np.ones(2, a.dtype)).dtype, copy=False)


#: lines of fewer elements than this have a chirp's phases in 64 bits
CHIRPS = 1 << 31


def long_line(function: Any, a: Array, axis: int, norm: Any) -> Array:
    """One line that is distributed, as a matrix (W. M. Gentleman, G. Sande, "Fast Fourier
    transforms: for fun and profit", 1966): columns, twiddle factors, rows. Collective."""
    from hocket.computing.random import with_numbers
    from hocket.computing.shapes import reshape, transpose

    n, shape = a.shape[axis], a.shape
    rows = max(d for d in range(1, math.isqrt(n) + 1) if n % d == 0)
    if rows == 1 or (2 * rows <= a.layout.size and n < CHIRPS):
        return reshape(indivisible_line(function, reshape(a, (n,)), norm), shape)
    columns = n // rows
    sign = -2j if function is np.fft.fft else 2j
    matrix = lines(function, reshape(a, (rows, columns)), 0, norm)
    k, m = with_numbers(matrix)
    twiddle = np.exp(sign * np.pi / n * (k * m % n))
    matrix = made((matrix.local * twiddle).astype(matrix.dtype), matrix.layout, a.comm)
    matrix = lines(function, matrix, 1, norm)
    return reshape(transpose(matrix), shape)


def indivisible_line(function: Any, line: Array, norm: Any) -> Array:
    """One line with too few factors for the processes, as a convolution with a chirp (L. I.
    Bluestein, "A linear filtering approach to the computation of discrete Fourier transform",
    1970), which transforms lines of a power of two. Collective."""
    from hocket.computing.random import with_numbers

    n, processes, forward = line.size, line.layout.size, function is np.fft.fft
    with collective(line.comm, None):
        if n >= CHIRPS:
            raise LayoutError(
                f"a distributed line of {n} elements, a prime, has no parts to be transformed; "
                "choose a length with factors, or one below 2^31"
            )
    kind = function(np.ones(2, line.dtype)).dtype
    wide = np.result_type(kind, np.complex128)

    def chirp(k: Any) -> Any:
        phase = (k * k % (2 * n)).astype(wide) * ((-1j if forward else 1j) / n)
        return np.exp(np.pi * phase)

    # Long enough for the convolution, and for as many rows as there are processes.
    length = 1 << max((2 * n - 2).bit_length(), 2 * (processes - 1).bit_length())
    layout = balanced((length,), processes)
    (k,) = with_numbers(line)
    own = chirp(k)
    padded: Any = zeros(layout, wide, comm=line.comm)
    padded[:n] = made(line.local * own, line.layout, line.comm)
    padded = fftn(padded)
    window = zeros(layout, wide, comm=line.comm)
    (k,) = with_numbers(window)
    k = np.minimum(k, length - k)
    window.local[...] = np.where(k < n, chirp(k).conj(), 0)
    padded *= fftn(window)
    del window
    found = redistribute(ifftn(padded).section((slice(0, n),)), line.layout)
    scale = n**-0.5 if norm == "ortho" else 1 / n if (norm == "forward") == forward else 1.0
    return made((found.local * own * scale).astype(kind), line.layout, line.comm)
