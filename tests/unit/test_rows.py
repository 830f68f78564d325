# SPDX-License-Identifier: BSD-3-Clause
"""Rows of matrices by number, against NumPy's own indexing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk

DTYPES = ("i1", "<f4", "f8", "c16", "S3", "V7", ">i2", [("a", "i1"), ("b", "f8")], "S0", "V40")
GUARD = 64


def contents(dtype, size, seed):
    """Random bytes as elements, so that NaNs and padding count, too."""
    count = size * dtype.itemsize
    random = np.random.default_rng(seed).integers(0, 256, count, np.uint8)
    return np.frombuffer(random.tobytes(), dtype) if count else np.zeros(size, dtype)


@st.composite
def matrices(draw, rows, columns, dtype):
    """A view with such extents and any strides, and the memory around it."""
    steps = draw(st.tuples(*[st.sampled_from((-2, -1, 1, 1, 1, 3))] * 2))
    by_columns = draw(st.booleans())
    extents = (rows * abs(steps[0]), columns * abs(steps[1]))
    whole = extents[::-1] if by_columns else extents
    size = whole[0] * whole[1]
    memory = contents(dtype, size + 2 * GUARD, draw(st.integers(0, 99))).copy()
    inside = memory[GUARD : GUARD + size].reshape(whole)
    inside = inside.T if by_columns else inside
    return inside[:: steps[0], :: steps[1]], memory


@st.composite
def cases(draw):
    """A matrix, numbers of its rows, and a matrix of such rows; of both also the memory."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    rows, columns = draw(st.integers(1, 30)), draw(st.integers(0, 20))
    numbers = draw(st.lists(st.integers(-rows, rows - 1), max_size=40))
    x, memory = draw(matrices(rows, columns, dtype))
    y, other = draw(matrices(len(numbers), columns, dtype))
    return x, memory, numbers, y, other


def expected(view, memory, change):
    """The memory as NumPy leaves it when `change` is done to the same view of a copy of it."""
    copy = memory.copy()
    if view.itemsize:
        begins = [array.__array_interface__["data"][0] for array in (view, memory)]
        first = begins[0] - begins[1] if view.size else 0
        change(np.ndarray(view.shape, view.dtype, copy.view(np.uint8), first, view.strides))
    return copy.tobytes()


@settings(max_examples=200, deadline=None)
@given(case=cases())
def test_take_rows_is_numpy_take(case):
    x, _, numbers, y, memory = case
    index = np.array(numbers, dtype=np.int64)
    wanted = expected(y, memory, lambda view: view.__setitem__(..., x[index]))
    assert hk.take_rows(x, numbers, out=y) is y
    assert memory.tobytes() == wanted
    taken = hk.take_rows(x, index)
    assert taken.shape == (len(numbers), x.shape[1]) and taken.tobytes() == x[index].tobytes()


@settings(max_examples=200, deadline=None)
@given(case=cases())
def test_put_rows_is_assignment(case):
    x, memory, numbers, y, _ = case

    def assign(view):
        for i, row in enumerate(numbers):
            view[row] = y[i]

    wanted = expected(x, memory, assign)
    assert hk.put_rows(x, numbers, y) is None
    assert memory.tobytes() == wanted


@settings(max_examples=200, deadline=None)
@given(case=cases(), seed=st.integers(0, 99))
def test_swap_rows_is_one_exchange_after_the_other(case, seed):
    x, memory, numbers, _, _ = case
    second = np.random.default_rng(seed).integers(-len(x), len(x), len(numbers), np.int16)

    def exchange(view):
        for a, b in zip(numbers, second):
            view[[a, b]] = view[[b, a]]

    wanted = expected(x, memory, exchange)
    hk.swap_rows(x, numbers, second)
    assert memory.tobytes() == wanted


def test_the_order_of_memory_stays():
    x = np.arange(12.0).reshape(3, 4)
    assert hk.take_rows(x, [2, 0]).flags.c_contiguous
    assert hk.take_rows(np.asfortranarray(x), [2, 0]).flags.f_contiguous


def test_pivots_of_lapack():
    """laswp: row i and row pivots[i] change places."""
    x = np.asfortranarray(np.arange(40.0).reshape(8, 5))
    before = x.copy()
    order = list(range(8))
    pivots = [3, 1, 7, 7]
    for i, p in enumerate(pivots):
        order[i], order[p] = order[p], order[i]
    hk.swap_rows(x, range(4), pivots)
    assert (x == before[order]).all()


class TestRefused:
    """Errors that name the values, before anything moves."""

    @pytest.fixture
    def x(self):
        return np.asfortranarray(np.arange(30.0).reshape(6, 5))

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            ([0, 6], r"rows\[1\] is 6, but the matrix has 6 rows"),
            ([0, 2, -7], r"rows\[2\] is -7"),
            (np.array([2**63 + 5], np.uint64), "9223372036854775813"),
            ([10**30], "whole numbers"),
            ([0.0, 1.0], "float64"),
            ([[0, 1]], r"\(1, 2\)"),
            (3, "list"),
            (["a"], "whole numbers"),
            ([[0], [1, 2]], "whole numbers"),
            (np.array([True, False] * 3), "flatnonzero"),
            (None, "whole numbers"),
        ],
    )
    def test_rows(self, x, rows, words):
        before = x.copy()
        for call in (
            lambda: hk.take_rows(x, rows),
            lambda: hk.put_rows(x, rows, np.zeros((2, 5))),
        ):
            with pytest.raises(hk.Error, match=words):
                call()
        with pytest.raises(hk.Error, match=words.replace("rows\\[", "second\\[")):
            hk.swap_rows(x, [0], rows)
        assert (x == before).all()

    def test_shapes_and_dtypes(self, x):
        before = x.copy()
        for y in (np.zeros((3, 5)), np.zeros((2, 4)), np.zeros((2, 5), "f4"), np.zeros(10)):
            with pytest.raises(hk.MismatchError, match=r"float64 \(2, 5\)"):
                hk.put_rows(x, [0, 1], y)
            if y.ndim == 2:
                with pytest.raises(hk.MismatchError, match=r"float64 \(2, 5\)"):
                    hk.take_rows(x, [0, 1], out=y)
        with pytest.raises(hk.MismatchError, match="1 rows, second has 2"):
            hk.swap_rows(x, [0], [1, 2])
        assert (x == before).all()

    def test_what_is_no_matrix(self):
        for call in (
            lambda: hk.take_rows(np.zeros(4), [0]),
            lambda: hk.put_rows(np.zeros((2, 2, 2)), [0], np.zeros((1, 2))),
            lambda: hk.swap_rows(np.zeros(4), [0], [1]),
        ):
            with pytest.raises(hk.Error, match="two dimensions"):
                call()
        with pytest.raises(hk.Error, match="of type list"):
            hk.put_rows([[1.0]], [0], np.zeros((1, 1)))
        with pytest.raises(hk.Error, match="Python objects"):
            hk.take_rows(np.zeros((2, 2), object), [0])
        with pytest.raises(hk.Error, match="masked"):
            hk.swap_rows(np.ma.zeros((2, 2)), [0], [1])

    def test_read_only_and_overlapping(self, x):
        before = x.copy()
        with pytest.raises(hk.Error, match="out shares memory with x"):
            hk.take_rows(x, [0, 1], out=x[2:4])
        with pytest.raises(hk.Error, match="values shares memory with x"):
            hk.put_rows(x, [0, 1], x[2:4])
        with pytest.raises(hk.Error, match="overlap each other"):
            hk.put_rows(np.lib.stride_tricks.as_strided(x, (3, 5), (0, 8)), [0], np.zeros((1, 5)))
        x.flags.writeable = False
        for call in (
            lambda: hk.put_rows(x, [0], np.zeros((1, 5))),
            lambda: hk.swap_rows(x, [0], [1]),
            lambda: hk.take_rows(np.zeros((6, 5)), [0], out=x[:1]),
        ):
            with pytest.raises(hk.Error, match="read-only"):
                call()
        assert (x == before).all()
