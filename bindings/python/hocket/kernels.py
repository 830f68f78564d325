# SPDX-License-Identifier: BSD-3-Clause
"""Permutations of local arrays, out of place and in place. Needs no MPI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _pure
from .arguments import as_text, as_threads
from .errors import Error, LayoutError, MismatchError
from .layouts import integer, integers
from .local_arrays import (
    AnyArray,
    address,
    check_writeable,
    checked_array,
    checked_target,
    overlap,
)

__all__ = [
    "cycle_path",
    "cycles",
    "explain_permute",
    "permute",
    "permute_inplace",
    "permute_two_arrays",
]

Axes = Union[int, Iterable[int]]

_NOTHING: AnyArray = np.empty(0, np.uint8)


def _axes(axes: Axes, shape: Sequence[int]) -> list[int]:
    """Converts axes as `numpy.transpose` does: negative ones count from the last dimension."""
    given = integers(axes, "axes")
    dimensions = len(shape)
    positive = [axis + dimensions if axis < 0 else axis for axis in given]
    if sorted(positive) != list(range(dimensions)):
        raise LayoutError(
            f"axes {tuple(given)} are no permutation of the {dimensions} dimensions of shape "
            f"{tuple(shape)}; name each of {tuple(range(dimensions))} once"
        )
    return positive


def _text(value: Any, what: str) -> str:
    text = as_text(value, what)
    if "\0" in text:  # an error message would end at this character
        raise Error(f"{what} is {value!r}; there is none with a zero byte")
    return text


def _permute_into(
    x: AnyArray, axes: list[int], out: AnyArray, threads: int, schedule: str, cached: bool
) -> None:
    if x.itemsize == 0:  # for example an empty text: no element to move
        x, axes, out = _NOTHING, [0], _NOTHING
    _pure.permute(
        address(x),
        x.shape,
        x.strides,
        x.itemsize,
        axes,
        address(out),
        out.strides,
        threads,
        schedule,
        cached,
    )


def _checked_out(x: AnyArray, shape: tuple[int, ...], given: Any) -> AnyArray:
    out = checked_target(given, "out")
    if out.shape != shape or out.dtype != x.dtype:
        raise MismatchError(
            f"out is {out.dtype} {out.shape}, but the permuted array is {x.dtype} {shape}; "
            f"give out that shape and dtype, or leave it away"
        )
    if overlap(x, out):
        raise Error(
            "out overlaps the array that is permuted; give other memory, or use permute_inplace"
        )
    return out


def permute(
    x: npt.ArrayLike,
    axes: Axes,
    *,
    out: AnyArray | None = None,
    threads: int | None = None,
    schedule: str = "auto",
) -> AnyArray:
    """Copies a local array with its dimensions permuted, as ``numpy.transpose(x, axes).copy()``.

    Parameters
    ----------
    x
        any strides, any dtype of fixed size, structured ones included.
    axes
        dimension ``k`` of the result is dimension ``axes[k]`` of `x`.
    out
        the array for the result: its shape and dtype, any strides, no memory of `x`'s.
    threads
        the largest number of threads; None: ``HOCKET_THREADS``, else the available cores.
    schedule
        the assignment of iterations of the result's first dimension to threads: ``"auto"``,
        ``"static"``, ``"guided[,n]"``, ``"dynamic[,n]"`` or ``"affinity[,n]"`` (He and Ding,
        section 4.1).

    Returns
    -------
    numpy.ndarray
        `out`, or a new C-contiguous array.

    Raises
    ------
    LayoutError
        `axes` is no permutation of the dimensions.
    MismatchError
        `out` has another shape or dtype.
    Error
        `out` is read-only or overlaps, the dtype holds objects, the schedule is unknown.

    Examples
    --------
    >>> x = np.arange(6).reshape(2, 3)
    >>> hk.permute(x, (1, 0))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    array = checked_array(x, "x")
    order = _axes(axes, array.shape)
    shape = tuple(array.shape[axis] for axis in order)
    count = as_threads(threads)
    result = np.empty(shape, array.dtype) if out is None else _checked_out(array, shape, out)
    _permute_into(array, order, result, count, _text(schedule, "schedule"), False)
    return result


def _check_in_place(x: Any) -> AnyArray:
    if not isinstance(x, np.ndarray):
        raise Error(f"cannot permute {type(x).__name__} in place; give a NumPy array")
    array = checked_array(x, "x")
    check_writeable(array, "x")
    if not array.flags.c_contiguous:
        raise Error(
            f"cannot permute in place: an array of shape {array.shape} with strides "
            f"{array.strides} is not C-contiguous; use permute, or numpy.ascontiguousarray first"
        )
    return array


def permute_inplace(
    x: AnyArray,
    axes: Axes,
    *,
    threads: int | None = None,
    schedule: str = "auto",
    method: str = "auto",
    cap: int | None = None,
) -> AnyArray:
    """Permutes the dimensions of a local array within its own memory.

    Parameters
    ----------
    x
        a C-contiguous, writeable array of any dtype of fixed size. hocket permutes its contents;
        read them through the result.
    axes
        dimension ``k`` of the result is dimension ``axes[k]`` of `x`.
    threads
        the largest number of threads; None: ``HOCKET_THREADS``, else the available cores.
    schedule
        the assignment of cycles to threads: ``"auto"``, ``"static"``, ``"static,balanced"``,
        ``"guided[,n]"``, ``"dynamic[,n][,largest]"`` or ``"affinity[,n]"`` (He and Ding, section
        4.1).
    method
        ``"auto"``, ``"cycles"`` (the paper's vacancy tracking), ``"slab"``, ``"square"``,
        ``"tiles"`` or ``"panels"``; see `explain_permute`.
    cap
        the most bytes of memory beside the array; None: 1 % of it and 4 MiB a thread for
        ``"auto"``, and as many as a named method needs.

    Returns
    -------
    numpy.ndarray
        The same memory with the new shape.

    Raises
    ------
    LayoutError
        `axes` is no permutation of the dimensions.
    Error
        `x` is read-only or not C-contiguous, its dtype holds objects, the method does not apply, or
        the cap is too small. No element has moved then.

    Examples
    --------
    >>> x = np.arange(6).reshape(2, 3)
    >>> y = hk.permute_inplace(x, (1, 0))
    >>> y
    array([[0, 3],
           [1, 4],
           [2, 5]])
    >>> np.shares_memory(x, y)
    True
    """
    array = _check_in_place(x)
    order = _axes(axes, array.shape)
    shape = tuple(array.shape[axis] for axis in order)
    moved, order = (_NOTHING, [0]) if array.itemsize == 0 else (array, order)
    _pure.permute_inplace(
        address(moved),
        moved.shape,
        moved.itemsize,
        order,
        as_threads(threads),
        _text(schedule, "schedule"),
        _text(method, "method"),
        None if cap is None else integer(cap, "cap"),
    )
    return array.reshape(shape)


def permute_two_arrays(
    x: AnyArray,
    axes: Axes,
    out: AnyArray,
    *,
    copy_back: bool = False,
    threads: int | None = None,
    schedule: str = "auto",
) -> AnyArray:
    """The two-array method of He and Ding (equations 1 and 2), with which they compare vacancy
    tracking.

    Uses ordinary stores only, which do not bypass the caches.

    Parameters
    ----------
    x
        as in `permute`; with `copy_back` as in `permute_inplace`.
    out
        the auxiliary array, as in `permute`.
    copy_back
        copy the result back into the memory of `x`.

    Returns
    -------
    numpy.ndarray
        `out`; with `copy_back` the memory of `x` with the new shape.

    Raises
    ------
    LayoutError, MismatchError, Error
        as `permute` and `permute_inplace`.
    """
    array = _check_in_place(x) if copy_back else checked_array(x, "x")
    order = _axes(axes, array.shape)
    shape = tuple(array.shape[axis] for axis in order)
    count, text = as_threads(threads), _text(schedule, "schedule")
    _permute_into(array, order, _checked_out(array, shape, out), count, text, True)
    if not copy_back:
        return out
    back = array.reshape(shape)
    _permute_into(out, list(range(out.ndim)), back, count, text, True)
    return back


def cycles(shape: Axes, axes: Axes) -> list[tuple[int, int]]:
    """The vacancy-tracking cycles longer than 1 that permute a C-contiguous array in place.

    Parameters
    ----------
    shape
        of the C-contiguous array; extents of 1 are ignored.
    axes
        as in `permute_inplace`.

    Returns
    -------
    list[tuple[int, int]]
        ``[(start, length), …]`` sorted; `start` is the smallest position of its cycle. Positions
        count units of the contiguous block that moves: the trailing dimensions that stay last.

    Raises
    ------
    LayoutError
        `axes` is no permutation of the dimensions.

    Examples
    --------
    >>> hk.cycles((2, 3), (1, 0))
    [(1, 4)]
    """
    extents = integers(shape, "shape")
    return _pure.cycles(extents, _axes(axes, extents))


def cycle_path(shape: Axes, axes: Axes, start: int) -> list[int]:
    """The successive vacancies of one cycle, as He and Ding print them.

    ``cycle_path((2, 3), (1, 0), 1)`` is ``[1, 3, 4, 2, 1]``: the element at position 3 moves to
    position 1, the element at 4 moves to 3, and so on until the first vacancy.

    Parameters
    ----------
    shape, axes
        as in `cycles`.
    start
        the first vacancy, which is also the last entry of the result.

    Raises
    ------
    LayoutError
        there is no such position, or as `cycles`.

    Examples
    --------
    >>> hk.cycle_path((2, 3), (1, 0), 1)  # what lies at 3 moves to 1, what lies at 4 to 3, …
    [1, 3, 4, 2, 1]
    """
    extents = integers(shape, "shape")
    return _pure.cycle_path(extents, _axes(axes, extents), integer(start, "start"))


def explain_permute(
    shape: Axes,
    axes: Axes,
    itemsize: int = 8,
    *,
    threads: int | None = None,
    method: str = "auto",
    cap: int | None = None,
) -> str:
    """Explains how `permute_inplace` would proceed with an array: its passes and their cost.

    Parameters
    ----------
    shape, axes, threads, method, cap
        as in `permute_inplace`.
    itemsize
        bytes of one element.

    Raises
    ------
    LayoutError, Error
        as `permute_inplace`.

    Examples
    --------
    >>> print(hk.explain_permute((64, 64), (1, 0), threads=1))
    shape (64, 64) of 8-byte elements, axes (1, 0)
    fused: (64, 64) axes (1, 0) of blocks of 8 bytes
    1. squares of 64 x 64 blocks of 8 bytes: pairs of tiles change places (cost ...)
    total cost ..., where 1 reads and writes the array once; ...
    """
    extents = integers(shape, "shape")
    return _pure.explain_permute(
        extents,
        _axes(axes, extents),
        integer(itemsize, "itemsize"),
        as_threads(threads),
        _text(method, "method"),
        None if cap is None else integer(cap, "cap"),
    )
