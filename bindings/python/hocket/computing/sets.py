# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as sets of their elements. All are collective."""

from __future__ import annotations

from typing import Any

from hocket.arrays import Array
from hocket.computing.collecting import allgather
from hocket.computing.layouts import balanced, even
from hocket.computing.local_sorting import distinct
from hocket.computing.merging import merged
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import as_arrays, made, without_copies
from hocket.computing.shapes import ravel
from hocket.computing.sorting import argsort, searchsorted
from hocket.creation import empty, from_function
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute


def unique(
    a: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """`numpy.unique`: the distinct values in order, in even parts; the index of the first of each;
    for each element, the number of its value; and how often each value occurs."""
    if axis is not None:
        raise TypeError(
            "np.unique of distributed arrays takes no axis=; it is that of all elements"
        )
    by_order = return_inverse and not equal_nan
    values, counts = counted(a, equal_nan, return_counts or return_index or by_order)
    found: list[Any] = [values]
    flat: Any = ravel(a) if return_index or by_order else None
    order: Any = None if flat is None else argsort(flat, 0)
    if return_index:
        firsts = order[np.subtract(np.cumsum(counts), counts)]
        if a.dtype.kind in "fc":  # equal elements may differ: zeros have signs, NaN payloads
            found[0] = values = flat[firsts]
        found.append(firsts)
    if return_inverse and not by_order:
        number = searchsorted(values, a)
        if a.dtype.kind == "c":  # NaN that are in order after the one that remains
            number = np.minimum(number, values.size - 1)
        found.append(number if _SHAPED else ravel(number))
    elif return_inverse:  # two NaN have different numbers, by their places in the order
        ends = np.cumsum(counts)
        place = from_function(lambda i: i, order.layout, np.int64, a.comm)
        number = empty(order.layout, np.intp, a.comm)
        number[order] = searchsorted(ends, place, "right")
        found.append(np.reshape(number, a.shape) if _SHAPED else number)
    if return_counts:
        found.append(counts)
    return tuple(found) if len(found) > 1 else values


#: since NumPy 2, return_inverse has the shape of the array
_SHAPED = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def counted(a: Array, equal_nan: bool = True, counts: bool = True) -> tuple[Array, Any]:
    """The distinct values in order, and how often each occurs if that is asked for, in even
    parts."""
    a = without_copies(a)
    columns = distinct_of_all(a, equal_nan, counts)
    of_all = lengths(a, sum(map(len, columns[0])))
    source = Layout((int(of_all.sum()),), [gen_block(of_all)], len(of_all))

    def in_even_parts(column: Any) -> Array:
        whole = np.concatenate(column)
        column.clear()
        return redistribute(made(whole, source, a.comm), balanced(source.shape, len(of_all)))

    values = in_even_parts(columns[0])
    return values, in_even_parts(columns[1]) if counts else None


def distinct_of_all(a: Array, equal_nan: bool, counts: bool) -> tuple[list[Any], list[Any]]:
    """This process's share of the distinct values, and how often each occurs, in order: arrays one
    after the other."""
    mine, often = distinct(a.local.reshape(-1), equal_nan, counts)
    key = mine
    if equal_nan and mine.dtype.kind == "c":  # all NaN are one value, the first of them in order
        key = np.where(np.isnan(mine), mine.dtype.type(complex(np.nan, np.nan)), mine)
    held = lengths(a, len(mine))

    def take(rows: Any) -> Any:
        return [key[rows], mine[rows], *([] if often is None else [often[rows]])]

    ends = np.asarray(even(int(held.sum()), len(held))[1:])
    found: Any = [np.empty(0, mine.dtype)], [np.empty(0, np.intp)]
    for _, values, *numbers in merged(a.comm, [key], take, held, ends, together=True):
        values, place = np.unique(values, return_inverse=True, equal_nan=equal_nan)
        found[0].append(values)
        if numbers:
            found[1].append(np.zeros(len(values), np.intp))
            np.add.at(found[1][-1], place, *numbers)
    return found  # type: ignore[no-any-return]


def lengths(a: Array, count: int) -> Any:
    """Each process's `count`. Collective."""
    return allgather(a.comm, np.asarray([count]))[:, 0]


def unique_all(x: Array) -> Any:
    """`numpy.unique_all`."""
    return type(np.unique_all(np.empty(0)))(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Array) -> Any:
    """`numpy.unique_counts`."""
    return type(np.unique_counts(np.empty(0)))(*counted(x, False))


def unique_inverse(x: Array) -> Any:
    """`numpy.unique_inverse`."""
    found = unique(x, return_inverse=True, equal_nan=False)
    return type(np.unique_inverse(np.empty(0)))(*found)


def unique_values(x: Array) -> Any:
    """`numpy.unique_values`, in order."""
    return counted(x, False, False)[0]


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """`numpy.isin`."""
    element, test_elements = as_arrays(element, test_elements)
    values = counted(test_elements, counts=False)[0]
    if values.size == 0:
        return np.full_like(element, invert, dtype=bool)
    kind = np.result_type(element.dtype, values.dtype)
    element = element.astype(kind, copy=False)
    place = np.minimum(searchsorted(values.astype(kind, copy=False), element), values.size - 1)
    return (np.not_equal if invert else np.equal)(values[place], element)


def union1d(ar1: Any, ar2: Any) -> Any:
    """`numpy.union1d`."""
    return np.unique(np.concatenate([ar1, ar2], axis=None))


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """`numpy.intersect1d`."""
    if return_indices:
        raise TypeError(
            "np.intersect1d of distributed arrays takes no return_indices=; use np.isin"
        )
    ar1, ar2 = as_arrays(ar1, ar2)
    kind = np.result_type(ar1.dtype, ar2.dtype)
    values = counted(ar1.astype(kind, copy=False), counts=False)[0]
    return values[isin(values, ar2)]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`numpy.setdiff1d`."""
    ar1, ar2 = as_arrays(ar1, ar2)
    values = ravel(ar1) if assume_unique else counted(ar1, counts=False)[0]
    return values[isin(values, ar2, invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`numpy.setxor1d`."""
    return np.sort(np.concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))
