# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of a part over its first axes, several rows at a time: NumPy reads and writes the
results for each row."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.computing.layouts import Shape
from hocket.local_arrays import address

AnyArray = npt.NDArray[Any]

#: as the extension numbers them
_FOLDS: dict[np.ufunc, int] = {
    np.add: 0,
    np.minimum: 1,
    np.logical_and: 1,
    np.maximum: 2,
    np.logical_or: 2,
}

_KINDS: dict[np.ufunc, str] = {np.add: "iu", np.minimum: "biuf", np.maximum: "biuf"}


def fold_of(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Optional[int]:
    """The number of the extension's reduction to results of this dtype; None if it has none."""
    kinds = _KINDS.get(ufunc, "b")
    sizes = (4, 8) if dtype.kind == "f" else (1, 2, 4, 8)
    known = dtype.kind in kinds and dtype.itemsize in sizes and dtype.isnative
    return _FOLDS.get(ufunc) if known else None


def folded(fold: int, x: AnyArray, axes: Shape) -> Optional[AnyArray]:
    """The results of columns, with extent 1 along `axes`; None if these are not the first axes, if
    rows are short, or if the elements do not lie at regular distances."""
    count = len(axes)
    if axes != tuple(range(count)) or not x.flags.aligned:
        return None
    rows = regular(x.shape[:count], x.strides[:count])
    each = regular(x.shape[count:], x.strides[count:])
    if rows is None or each is None or each[0] < 16 or abs(each[1]) > abs(rows[1]):
        return None
    found: AnyArray = x[(slice(0, 1),) * count].copy()
    second = address(x) + rows[1]
    _mpi.fold_columns(
        fold,
        x.dtype.kind,
        x.itemsize,
        address(found),
        second,
        rows[0] - 1,
        each[0],
        rows[1],
        each[1],
    )
    return found


def regular(shape: Shape, strides: Shape) -> Optional[tuple[int, int]]:
    """The number of elements, and their one distance in bytes; None if they have several."""
    extent, distance = 1, 0
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length == 1:
            continue
        if extent > 1 and stride != extent * distance:
            return None
        if extent == 1:
            distance = stride
        extent *= length
    return extent, distance
