# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of dates and durations, whose dtypes have a unit, and of texts; sizes of axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

VALUES = np.array([[3, 0, 8, 1], [2, 9, 4, 0], [7, 5, 6, 2]])


def greatest_of_some(x: Any, axis: Any) -> Any:
    return np.max(x, axis, where=VALUES < 7, initial=VALUES.astype(x.dtype)[0, 3])


def least_of_some(x: Any, axis: Any) -> Any:
    return np.min(x, axis, where=VALUES > 2, initial=VALUES.astype(x.dtype)[1, 1])


def greatest_of_none(x: Any, axis: Any) -> Any:
    return np.max(x[:, 4:], axis, initial=VALUES.astype(x.dtype)[0, 3])


ORDER = [np.max, np.min, np.ptp, np.count_nonzero, np.maximum.reduce, np.fmin.reduce]
ORDER += [greatest_of_some, least_of_some, greatest_of_none]


@ranks(1, 2)
def test_dates_durations_and_texts_reduce_as_in_numpy(comm: Any) -> None:
    lay = hk.Layout((3, 4), "(BLOCK, *)", comm.size)
    for whole, calls in (
        (VALUES.astype("m8[s]"), [*ORDER, np.sum, np.mean, np.cumsum]),
        (VALUES.astype("M8[ms]"), ORDER),
        (VALUES.astype("S1"), [np.count_nonzero]),
        (np.where(VALUES, "0", ""), [np.count_nonzero]),
    ):
        a = hk.scatter(whole if comm.rank == 0 else None, lay, comm)
        for call, axis in itertools.product(calls, (0, 1, None)):
            found, expected = call(a, axis), np.asarray(call(whole, axis))
            found = np.asarray(hk.replicated(found) if isinstance(found, hk.Array) else found)
            assert found.dtype == expected.dtype, (call, axis)
            np.testing.assert_array_equal(found, expected, f"{call.__name__} of {whole.dtype}")


@ranks(1, 2)
def test_the_size_of_an_axis(comm: Any) -> None:
    a = hk.zeros(hk.Layout((3, 4), "(BLOCK, *)", comm.size), "f8", comm)
    assert [np.size(a), np.size(a, 0), np.size(a, axis=-1)] == [12, 3, 4]
    with pytest.raises(hk.Error):
        np.size(a, 2)
