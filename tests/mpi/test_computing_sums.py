# SPDX-License-Identifier: BSD-3-Clause
"""Sums and dot products: exact, rounded once, for every layout and number of processes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from lockstep import ranks
from test_computing import distributed

import hocket as hk
import random_layouts
from computing import rounded


def exact_sum(values):
    return sum((Fraction(float(value)) for value in values.ravel()), Fraction(0))


def wild(rng, shape, dtype):
    """Numbers of all sizes that a dtype has."""
    bits = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8)
    found = bits.view(dtype).reshape(shape).copy()
    found[~np.isfinite(found)] = 1
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return found
    if kind == 1:
        return rng.normal(size=shape).astype(dtype)
    if kind == 2:  # overflows on the way
        found[...] = np.finfo(dtype).max
        found.reshape(-1)[::2] *= -1
        return found
    return (rng.integers(0, 5, shape) * np.finfo(dtype).smallest_subnormal).astype(dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@ranks(1, 2, 3, 4, 6)
def test_sums_and_dot_products_are_exact_and_rounded_once(comm, dtype):
    rng = np.random.default_rng([comm.size, np.dtype(dtype).itemsize])
    for case in range(12):
        choose = random_layouts.from_rng(rng)
        shape = (choose(0, 9), choose(1, 9))
        x, y = wild(rng, shape, dtype), wild(rng, shape, dtype)
        first = random_layouts.any_layout(choose, shape, comm.size, depth=1)
        second = random_layouts.any_layout(choose, shape, comm.size, depth=1)
        a, b = distributed(x, first, comm), distributed(y, second, comm)
        what = f"case {case}: {dtype} {shape}, {first} and {second}"
        with np.errstate(over="ignore", invalid="ignore"):
            assert a.sum() == rounded(exact_sum(x), dtype), what
            columns = [rounded(exact_sum(x[:, j]), dtype) for j in range(shape[1])]
            np.testing.assert_array_equal(hk.replicated(a.sum(axis=0)), columns, what)
            rows = [rounded(exact_sum(x[i]), dtype) for i in range(shape[0])]
            np.testing.assert_array_equal(hk.replicated(a.sum(axis=1)), np.array(rows, dtype), what)
            pairs = zip(x.ravel(), y.ravel())
            product = sum((Fraction(float(p)) * Fraction(float(q)) for p, q in pairs), Fraction(0))
            assert np.vdot(a, b) == rounded(product, dtype), what


@ranks(1, 2, 3)
def test_sums_of_whole_blocks_keep_every_bit(comm):
    for count in (4096, 12289):
        x = np.random.default_rng(count).uniform(1, 2, count)
        a = hk.scatter(x, hk.Layout(count, "(BLOCK)", comm.size), comm=comm)
        assert a.sum() == rounded(exact_sum(x), "f8")
        y = np.random.default_rng(1).normal(size=count)  # whose products differ by up to 2^40
        b = hk.scatter(y, a.layout, comm=comm)
        squares = sum(Fraction(each) ** 2 for each in y.tolist())
        assert np.vdot(b, b) == rounded(squares, "f8")


@ranks(1, 2, 3)
def test_integers_of_long_columns_wrap_and_zeros_of_either_sign_do_not_count(comm):
    rng = np.random.default_rng(5)
    x = rng.integers(-(2**63), 2**63 - 1, (301, 8, 20))
    for dist in ("(BLOCK, *, *)", "(CYCLIC(7), *, *)", "(*, BLOCK, *)"):
        for axis in (0, (0, 1)):
            a = hk.scatter(x, hk.Layout(x.shape, dist, comm.size), comm)
            np.testing.assert_array_equal(hk.replicated(a.sum(axis)), x.sum(axis))
    y = np.where(rng.random(400_001) < 0.5, rng.normal(size=400_001), -0.0)
    b = hk.scatter(y, hk.Layout(y.shape, "(BLOCK)", comm.size), comm)
    assert np.count_nonzero(b) == np.count_nonzero(y)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@ranks(1, 2)
def test_sums_of_long_columns_keep_every_bit(comm, dtype):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(5000, 48)).astype(dtype)
    if dtype[0] == "c":
        x += 1j * rng.normal(size=x.shape)
    x[2000:, 3] *= 2.0**20  # another size from block to block
    x[4500:, 4] = -x[:500, 4]
    x[1500:, 5] *= np.logspace(-20, 20, 3500).astype("f4")  # more bits than two numbers have
    x[:, 12:36] *= rng.normal(size=(5000, 24)).astype("f4") ** 2  # of many columns
    x[4999, 6] = np.inf
    x[3000, 7] = np.nan
    limits = np.finfo(dtype)
    x[:, 8] = rng.integers(-5, 6, 5000) * limits.smallest_subnormal
    x[:, 9] = np.where(np.arange(5000) % 2, limits.max, -limits.max)
    x[17, 9], x[18, 9] = limits.smallest_subnormal, 0
    x[:, 10] = -0.0
    x[16:, 11] *= 8  # than the rows from which the size is guessed
    for dist in ("(BLOCK, *)", "(CYCLIC(7), *)", "(*, BLOCK)"):
        a = hk.scatter(x, hk.Layout(x.shape, dist, comm.size), comm)
        found = hk.replicated(a.sum(axis=0))
        for part in ("real", "imag"):
            expected = [math.fsum(getattr(x, part)[:, j].astype("f8")) for j in range(48)]
            np.testing.assert_array_equal(
                getattr(found, part), np.array(expected, found.real.dtype)
            )


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@ranks(1, 2, 3)
def test_sums_of_long_rows_of_complex_numbers_keep_every_bit(comm, dtype):
    rng = np.random.default_rng(9)
    x = (rng.normal(size=(2, 30, 300)) * np.logspace(-12, 12, 300)).astype("c16")
    x = (x.view("f8") * rng.normal(size=(2, 30, 600))).view("c16").astype(dtype)
    x[0, 3, 5] = np.inf + 1j
    x[1, 4, 6] = complex(2, np.nan)
    for dist in ("(*, BLOCK, *)", "(CYCLIC, *, *)", "(*, *, CYCLIC)"):
        a = hk.scatter(x, hk.Layout(x.shape, dist, comm.size), comm)
        for axis, rest in ((2, a), (1, a), ((0, 2), a), (None, a[1, 5:])):
            found = hk.replicated(rest.sum(axis=axis)) if axis else rest.sum()
            terms = x if axis else x[1, 5:]
            for part in ("real", "imag"):
                values = np.asarray(getattr(terms, part), "f8")
                lines = np.moveaxis(values, axis, range(-np.size(axis), 0)) if axis else values
                lines = lines.reshape(*np.shape(found), -1)
                expected = np.apply_along_axis(math.fsum, -1, lines)
                np.testing.assert_array_equal(
                    getattr(found, part), expected.astype(found.real.dtype), f"{dist} {axis}"
                )


@ranks(2, 3)
def test_sums_by_tiles_keep_every_bit(comm):
    """The accumulators of all columns have more bytes than an operation takes at a time."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 70_000)) * 10.0 ** rng.integers(-40, 40, (3, 70_000))
    found = hk.replicated(hk.scatter(x, hk.Layout(x.shape, "(CYCLIC, *)", comm.size), comm).sum(0))
    np.testing.assert_array_equal(found, [math.fsum(column) for column in x.T])


@ranks(1, 2, 3)
def test_sums_of_float32_are_not_rounded_to_float64_first(comm):
    column = np.array([1, 2.0**-24, 2.0**-60], "f4")  # a tie of float32, and a little more
    lay = hk.Layout((3, 8), "(CYCLIC, *)", comm.size)
    found = hk.scatter(np.repeat(column[:, None], 8, axis=1), lay, comm).sum(axis=0)
    np.testing.assert_array_equal(hk.replicated(found), np.full(8, 1 + 2.0**-23, "f4"))


@ranks(1, 2, 3)
def test_infinities_and_nan_in_sums(comm):
    lay = hk.Layout(5, "(CYCLIC)", comm.size)
    for values, expected in [
        ([np.inf, 1, 2, 3, 4], np.inf),
        ([1, 2, -np.inf, 3, 4], -np.inf),
        ([np.inf, 1, 2, -np.inf, 4], np.nan),
        ([0, 1, np.nan, 3, 4], np.nan),
        ([1e308, 1e308, -1e308, -1e308, 1], 1.0),
        ([-0.0] * 5, 0.0),
    ]:
        a = hk.scatter(np.array(values), lay, comm)
        np.testing.assert_array_equal(a.sum(), expected)


@ranks(1, 2, 4)
def test_complex_sums_are_exact_in_both_parts(comm):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(7, 3)) + 1j * 10.0 ** rng.integers(-20, 20, (7, 3))
    a = hk.scatter(x if comm.rank == 0 else None, hk.Layout((7, 3), "(CYCLIC, *)", comm.size), comm)
    found = a.sum()
    assert found.real == rounded(exact_sum(x.real), "f8")
    assert found.imag == rounded(exact_sum(x.imag), "f8")
    square = sum(
        (Fraction(float(v)) ** 2 for v in np.concatenate([x.real, x.imag]).ravel()), Fraction(0)
    )
    assert np.linalg.norm(a) == np.sqrt(rounded(square, "f8"))


@ranks(1, 2, 3, 4)
def test_later_reductions_of_all_elements_give_the_bits_of_the_first(comm):
    rng = np.random.default_rng(31)
    for dtype in ("f8", "f4", "f2", ">f8", "c16", "c8", "i8", ">i4", "u1", "?", "M8[s]", "m8[s]"):
        x = rng.integers(-3, 4, (5, 3)).astype("i8").astype(dtype)
        x = -x if x.dtype.kind in "fc" else x  # zeros of either sign
        y = x.copy()
        if x.dtype.kind in "fcmM":
            y[2, 1] = "NaT" if x.dtype.kind in "mM" else np.nan
        # Processes without elements, copies, and a section that is a copy.
        for dist, procs, replicate in (
            ("(BLOCK, *)", comm.size, ()),
            ("(BLOCK(5), *)", comm.size, ()),
            ("(*, *)", comm.size, (0,)),
            ("(CYCLIC(2), *)", comm.size, ()),
        ):
            lay = hk.Layout(x.shape, dist, procs, replicate=replicate)
            names = ["sum", "prod", "min", "max", "any", "all", "count_nonzero"]
            for whole, name in itertools.product((x, y), names):
                a, part = hk.scatter(whole, lay, comm=comm), whole
                if dist.startswith("(CYCLIC"):
                    a, part = a[::3], whole[::3]
                function = getattr(np, name)
                try:
                    expected = function(part)
                except TypeError:
                    continue
                with np.errstate(all="ignore"):
                    found = [np.asarray(function(a)) for _ in range(3)]
                    if name != "count_nonzero":
                        found.append(np.asarray(getattr(a, name)()))
                what = f"{name} of {dtype} {lay}"
                np.testing.assert_array_equal(found[0], expected, what)
                assert {each.tobytes() for each in found} == {found[0].tobytes()}, what
                assert {each.dtype for each in found} == {np.asarray(expected).dtype}, what


@ranks(1, 2, 3)
def test_columns_of_sections_reduce_as_in_numpy(comm):
    rng = np.random.default_rng(37)
    for dtype in ("f8", "f4", "i8", "i4", "i1", "u8", "u2", "?", ">f8", "f2", "M8[s]"):
        whole = rng.integers(-99, 99, (90, 6, 31)).astype("i8").astype(dtype)
        if whole.dtype.kind in "fM":
            whole[40, 3, 5:9] = np.nan if whole.dtype.kind == "f" else "NaT"
        lay = hk.Layout(whole.shape, "(BALANCED, *, *)", comm.size)
        a = hk.scatter(whole if comm.rank == 0 else None, lay, comm=comm)
        for index in np.s_[:, :, :], np.s_[::3, :, ::2], np.s_[::-1, 1:, ::-1], np.s_[5:, ::2, 1:]:
            for function in (np.max, np.min, np.all, np.any, np.sum):
                if whole.dtype.kind == "M" and function is np.sum:
                    continue
                for axis in (0, (0, 1)):
                    expected = function(whole[index], axis=axis)
                    found = hk.replicated(function(a[index], axis=axis))
                    assert found.dtype == expected.dtype
                    what = f"{function.__name__} of {dtype} {index} over {axis}"
                    if dtype == "f2":  # NumPy rounds each sum
                        np.testing.assert_allclose(found, expected, 1e-2, 30, err_msg=what)
                    else:
                        np.testing.assert_array_equal(found, expected, what)
