# SPDX-License-Identifier: BSD-3-Clause
"""Rows of local matrices by number: gather, scatter and swap. Needs no MPI."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _pure
from .errors import Error, MismatchError
from .local_arrays import AnyArray, address, checked_array, checked_target, overlap

__all__ = ["put_rows", "swap_rows", "take_rows"]

Rows = npt.ArrayLike


def _matrix(array: AnyArray, name: str) -> AnyArray:
    if array.ndim != 2:
        raise Error(f"{name} has shape {array.shape}; give a matrix, which has two dimensions")
    return array


def _target(x: Any, name: str) -> AnyArray:
    """A matrix that is written."""
    return _matrix(checked_target(x, name), name)


def _form(array: AnyArray) -> tuple[int, tuple[int, int], tuple[int, int]]:
    """The kernel's arguments for a matrix: the address, the extents, the strides."""
    (rows, columns), (down, across) = array.shape, array.strides
    return address(array), (rows, columns), (down, across)


def _names(numbers: npt.NDArray[np.int64]) -> tuple[int, int]:
    """The address of a list, and its number of entries."""
    return address(numbers), numbers.size


def _list(rows: Rows, count: int, name: str) -> npt.NDArray[np.int64]:
    """Row numbers from 0 on, for a matrix with `count` rows."""
    try:
        given = np.asarray(rows)
    except (ValueError, TypeError) as error:
        raise Error(f"{name} is no list of row numbers: {error}; give whole numbers") from error
    if given.size == 0 and given.ndim == 1:
        return np.empty(0, np.int64)
    if given.dtype == np.bool_:
        raise Error(f"{name} is a mask; give numpy.flatnonzero({name}), the numbers of its rows")
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise Error(
            f"{name} is {given.dtype} of shape {given.shape}; give a list of whole numbers, "
            "those of the rows"
        )
    outside = (given < -count) | (given >= count)
    if outside.any():
        place = int(outside.argmax())
        raise Error(
            f"{name}[{place}] is {given[place]}, but the matrix has {count} rows; give numbers "
            f"from 0 to {count - 1}, or negative ones, which count from the last row"
        )
    numbers = given.astype(np.int64)
    numbers[numbers < 0] += count
    return numbers


def take_rows(x: npt.ArrayLike, rows: Rows, *, out: AnyArray | None = None) -> AnyArray:
    """Copies rows of a matrix out of it, as ``numpy.take(x, rows, axis=0)``.

    Optimised for few rows of a large column-major matrix, as LINPACK exchanges them: each element
    is on its own cache line, so the kernel prefetches the lines of the next column while it moves
    one.

    Parameters
    ----------
    x
        a matrix (two dimensions), any strides, any dtype of fixed size.
    rows
        integers, in any order, also repeated; negative ones count from the last row.
    out
        the matrix for the rows: shape ``(len(rows), x.shape[1])``, the dtype of `x`, any strides,
        no memory of `x`'s.

    Returns
    -------
    numpy.ndarray
        `out`, or a new matrix in the memory order of `x` (column-major if `x` is).

    Raises
    ------
    MismatchError
        `out` has another shape or dtype.
    Error
        there is no such row, `x` is no matrix, `out` is read-only or overlaps. No element has moved
        then.

    Examples
    --------
    >>> x = np.arange(6).reshape(3, 2)
    >>> hk.take_rows(x, [2, 0])
    array([[4, 5],
           [0, 1]])
    """
    array = _matrix(checked_array(x, "x"), "x")
    numbers = _list(rows, array.shape[0], "rows")
    shape = (numbers.size, array.shape[1])
    if out is None:
        by_columns = abs(array.strides[0]) < abs(array.strides[1])
        result = np.empty(shape, array.dtype, order="F" if by_columns else "C")
    else:
        result = _target(out, "out")
        _check_like(result, "out", shape, array.dtype, "rows make a matrix")
        _check_apart(array, "x", result, "out")
    if array.itemsize > 0:  # for example, an empty text has no element to move
        _pure.take_rows(_form(array), _names(numbers), array.itemsize, _form(result))
    return result


def put_rows(x: AnyArray, rows: Rows, values: npt.ArrayLike) -> None:
    """Copies a matrix into rows of another, as ``x[rows] = values``.

    Parameters
    ----------
    x
        the matrix to write: two dimensions, any strides, any dtype of fixed size.
    rows
        as in `take_rows`; if a row is repeated, its last values remain.
    values
        shape ``(len(rows), x.shape[1])``, the dtype of `x`, any strides, no memory of `x`'s.

    Raises
    ------
    MismatchError
        `values` has another shape or dtype.
    Error
        there is no such row, `x` is no matrix, is read-only, or overlaps `values`. No element has
        moved then.

    Examples
    --------
    >>> x = np.zeros((3, 2), int)
    >>> hk.put_rows(x, [2, 0], [[4, 5], [0, 1]])
    >>> x
    array([[0, 1],
           [0, 0],
           [4, 5]])
    """
    target = _target(x, "x")
    numbers = _list(rows, target.shape[0], "rows")
    source = checked_array(values, "values")
    _check_like(source, "values", (numbers.size, target.shape[1]), target.dtype, "rows of x hold")
    _check_apart(target, "x", source, "values")
    if target.itemsize > 0:
        _pure.put_rows(_form(source), _names(numbers), target.itemsize, _form(target))


def swap_rows(x: AnyArray, first: Rows, second: Rows) -> None:
    """Swaps rows ``first[i]`` and ``second[i]``, one pair after the other.

    As LAPACK's laswp, whose pivots are `second` if `first` is 0, 1, ….

    Parameters
    ----------
    x
        a matrix (two dimensions), any strides, any dtype of fixed size.
    first, second
        as `rows` in `take_rows`, equally many.

    Raises
    ------
    MismatchError
        the lists are not equally long.
    Error
        there is no such row, `x` is no matrix or is read-only. No element has moved then.

    Examples
    --------
    >>> x = np.arange(6).reshape(3, 2)
    >>> hk.swap_rows(x, [0], [2])
    >>> x
    array([[4, 5],
           [2, 3],
           [0, 1]])
    """
    target = _target(x, "x")
    a = _list(first, target.shape[0], "first")
    b = _list(second, target.shape[0], "second")
    if a.size != b.size:
        raise MismatchError(
            f"first has {a.size} rows, second has {b.size}; rows change places in pairs, so give "
            "equally many"
        )
    if target.itemsize > 0:
        _pure.swap_rows(_form(target), _names(a), _names(b), target.itemsize)


def _check_like(
    array: AnyArray, name: str, shape: tuple[int, int], dtype: np.dtype[Any], wanted: str
) -> None:
    if array.shape != shape or array.dtype != dtype:
        raise MismatchError(
            f"{name} is {array.dtype} {array.shape}, but the {wanted} {dtype} {shape}; give "
            f"{name} that shape and dtype"
        )


def _check_apart(a: AnyArray, name: str, b: AnyArray, other: str) -> None:
    if overlap(a, b):
        raise Error(f"{other} shares memory with {name}; give other memory, or a copy")
