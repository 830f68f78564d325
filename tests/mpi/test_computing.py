# SPDX-License-Identifier: BSD-3-Clause
"""Computing on distributed arrays, beside NumPy on whole ones: layouts of every kind."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk
import random_layouts
from compositions import expressions
from computing import values_of

DTYPES = ["f8", "f4", "i8", "i4", "c16", "?"]


def distributed(whole, holding, comm):
    """The array in a layout."""
    lay = holding.layout(hk)
    return hk.wrap(holding.local(whole, comm.rank), lay, comm)


def check(found, expected, what):
    """The same values and dtypes, for one array or several."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected), what
        for each, other in zip(found, expected):
            check(each, other, what)
        return
    if isinstance(found, hk.Array):
        assert found.shape == np.shape(expected), what
        found = hk.replicated(found)
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape, what
    assert np.asarray(found).dtype == expected.dtype, what
    near = 1e-3 if expected.dtype.itemsize <= 4 or expected.dtype == "c8" else 1e-9
    np.testing.assert_allclose(found, expected, rtol=near, atol=near, err_msg=what)


def outcome(expression, x, y, seed):
    """Its result, or its error."""
    choose = random_layouts.from_rng(np.random.default_rng(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return expression(x, y, choose), None
        except (TypeError, ValueError, IndexError, hk.Error) as error:
            return None, error


def compare(comm, seed, names=None, shape=None):
    """One random expression of two random arrays in two random layouts."""
    rng = np.random.default_rng(seed)
    choose = random_layouts.from_rng(rng)
    shape = random_layouts.any_shape(choose) if shape is None else shape
    dtype = DTYPES[choose(0, len(DTYPES) - 1)]
    x, y = values_of(shape, dtype, rng), values_of(shape, dtype, rng)
    first = random_layouts.any_layout(choose, shape, comm.size, depth=1)
    second = (
        first if choose(0, 2) == 0 else random_layouts.any_layout(choose, shape, comm.size, depth=1)
    )
    table = expressions(shape)
    names = sorted(names or table)
    name = names[choose(0, len(names) - 1)]
    what = f"seed {seed}: {name} of {dtype} {shape}, {first} and {second}"
    expected, error = outcome(table[name], x, y, seed)
    a, b = distributed(x, first, comm), distributed(y, second, comm)
    if choose(0, 9) == 0:
        b = y  # NumPy's own, which counts as replicated
    found, raised = outcome(table[name], a, b, seed)
    if error is not None:
        assert raised is not None, f"{what}: NumPy raises {error!r}"
        return
    if raised is not None:
        raise AssertionError(what) from raised
    check(found, expected, what)


def small_rounds(comm, monkeypatch):
    """Three processes work in rounds of a few elements."""
    from hocket.computing import rounds

    if comm.size == 3:
        monkeypatch.setattr(rounds, "PANEL", 1000)


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.soak)])
@ranks(1, 2, 3, 4, 6)
def test_random_expressions(comm, part):
    for case in range(40):
        compare(comm, [part, case, comm.size])


@ranks(3)
def test_each_expression(comm):
    for case, name in enumerate(sorted(expressions((4, 3)))):
        compare(comm, [29, case, comm.size], [name], (4, 3))


@pytest.mark.parametrize("cases", [20, pytest.param(200, marks=pytest.mark.soak)])
@ranks(1, 2, 3, 4)
def test_chosen_terms_stacks_of_matrices_and_transforms_of_extents(comm, cases):
    names = [name for name in expressions((1, 1)) if name.endswith(("where", "initial", "extents"))]
    for case in range(cases):
        compare(comm, [23, case, comm.size], [*names, "stacks", "stacks", "fft of extents"])


@pytest.mark.soak
@ranks(1, 2, 3, 4, 5, 6, seconds=1200)
def test_many_random_expressions(comm):
    for case in range(3000):
        compare(comm, [17, case, comm.size])


@ranks(1)
def test_an_element_has_one_number_by_its_place_in_any_layout(comm):
    from hocket import _mpi
    from hocket.computing.layouts import numbers

    for case in range(60):
        choose = random_layouts.from_rng(np.random.default_rng([31, case]))
        shape = random_layouts.any_shape(choose)
        layout = random_layouts.any_layout(choose, shape, 4, depth=1).layout(hk)
        for process in range(layout.size):
            listed = numbers(layout, process).reshape(-1).tolist()
            found = [_mpi.number_of(layout._native, process, k) for k in range(len(listed))]
            assert found == listed, (layout, process)


@ranks(1, 2, 3)
def test_results_of_a_size_by_the_data_are_in_even_parts(comm):
    a = hk.arange(hk.Layout((5, 4), "(*, CYCLIC)", comm.size), comm=comm)
    results = [a[a > 3], np.unique(a), np.nonzero(a)[1], np.extract(a > 3, a), np.union1d(a, a)]
    for found in results:
        assert found.layout == hk.Layout(found.shape, "(BALANCED)", comm.size)


@ranks(1, 2, 3)
def test_scans_and_conversions_write_to_the_given_array(comm):
    whole = np.arange(35).reshape(7, 5) % 11 - 4.0
    rows, columns = (hk.Layout((7, 5), text, comm.size) for text in ("(CYCLIC, *)", "(*, BLOCK)"))
    for layout, axis in itertools.product((rows, columns), (0, 1)):
        a = hk.empty(layout, comm=comm)
        a[...] = whole
        expected = np.cumsum(whole, axis)
        for out in (hk.empty(layout, comm=comm), hk.empty(rows, "f4", comm), a):
            assert np.cumsum(a, axis, out=out) is out
            check(out, expected.astype(out.dtype), f"{layout}, axis {axis}")
        with pytest.raises(hk.MismatchError, match="same_kind"):
            a.astype("i4", casting="same_kind")


@ranks(2, 3)
def test_the_result_has_the_layout_to_which_the_fewest_bytes_move(comm):
    rows = hk.Layout((6, 4), "(BLOCK, *)", comm.size)
    columns = hk.Layout((6, 4), "(*, CYCLIC)", comm.size)
    a, b = hk.ones(rows, "f4", comm), hk.ones(columns, "f8", comm)
    assert (a + a).layout == rows and (a + a.copy()).layout == rows
    assert (a + b).layout == columns and (b + a).layout == columns  # f4 is less than f8
    assert (a + a + b.astype("f4")).layout == rows  # a tie: the first
    assert (b + a + a).layout == columns
    assert (
        a + hk.ones(hk.Layout((6, 4), "(*, *)", comm.size, replicate=(0,)), comm=comm)
    ).layout == rows
    out = hk.empty(columns, "f8", comm)
    assert np.add(a, a, out=out) is out
    total = b.sum(axis=1)
    assert total.shape == (6,) and all(len(total.layout.owners(i)) >= 1 for i in range(6))
    assert len(a.sum(axis=0).layout.owners(0)) == comm.size  # copies where rows were
    text = hk.explain(np.add, a, b)
    assert text.startswith(f"result: {columns}") and "bytes move" in text
    moved = hk.plan(rows, columns, overlap={r: r for r in range(comm.size)}).elements_moved
    assert f"{4 * moved} bytes move" in text


@ranks(1, 2)
def test_equal_layouts_communicate_and_allocate_nothing(comm):
    lay = hk.Layout((40, 50), "(BLOCK, *)", comm.size)
    a, b, out = (hk.ones(lay, comm=comm) for _ in range(3))
    if comm.rank == 0:  # the others do not take part
        before = out.local.__array_interface__["data"][0]
        np.add(a, b, out=out)
        out *= 3
        assert out.local.__array_interface__["data"][0] == before
        assert (out.local == 6).all()


@ranks(1, 2, 3)
def test_the_same_numbers_for_every_layout(comm):
    shape = (5, 7)
    numbers = hk.random(2026)
    layouts = [
        hk.Layout(shape, "(BLOCK, *)", comm.size),
        hk.Layout(shape, "(*, CYCLIC(2))", comm.size),
        hk.Layout(shape, "(*, *)"),
        hk.Layout.elements(shape, [(3 * np.arange(35) + r) % 35 for r in range(comm.size)]),
    ]
    for make in (
        numbers.uniform,
        lambda lay, comm: numbers.normal(lay, dtype="f2", comm=comm),
        lambda lay, comm: numbers.integers(lay, 0, 9, comm=comm),
    ):
        first, *others = (hk.replicated(make(lay, comm=comm)) for lay in layouts)
        for other in others:
            np.testing.assert_array_equal(first, other)
    big = numbers.uniform(hk.Layout(20000, "(BLOCK)", comm.size), comm=comm)
    assert abs(big.mean() - 0.5) < 0.02 and abs(big.var() - 1 / 12) < 0.01
    check_fixed_numbers(numbers, layouts[2], comm)


def check_fixed_numbers(numbers, whole, comm):
    """Other versions give these, too: the last elements."""

    def expect(make, terms, *expected):
        found = make(whole, *terms, comm=comm).local[4, 4:] if comm.rank == 0 else None
        if found is not None:
            assert repr(found.tolist()) == repr(list(expected)), (make, terms)

    real = -0.21943386323314096, 1.998921125028334, 1.6459845674558982
    bell = -0.836035958678732, -0.21190120705483606, 1.0605346261570634
    for dtype in ("f2", "f4", ">f4", "f8", ">f8", "g"):
        expect(numbers.uniform, (-2, 3, dtype), *np.array(real, dtype).tolist())
        if comm.rank == 0:  # another library's logarithm may differ in the last bit
            found = numbers.normal(whole, 1, 2, dtype, comm).local[4, 4:]
            few = np.finfo(dtype).eps + 2 * np.finfo("f8").eps
            np.testing.assert_allclose(found.astype("f8"), bell, few, 0)
    for dtype in ("i1", "u1", "i2", "u2", "i4", ">i4", "u4", "i8", "u8", ">u8"):
        expect(numbers.integers, (20, 90, dtype), 44, 75, 71)
    expect(numbers.integers, (-(2**31), 2**31), -617988983, 1287563442, 984393247)
    end = 2**64
    found = [end - below for below in (2765472631, 859920206, 1163090401)]
    expect(numbers.integers, (end - 2**32, end, "u8"), *found)
    # Bounds that round to one number or to neighbours.
    for low, high, dtype, found in [
        (-1e-10, 0, "f2", -0.0),
        (0.0, -0.0, "f2", 0.0),
        (-0.0, 0.0, "f4", -0.0),
        (-0.0, 0.0, "f8", -0.0),
        (7e4, 8e4, "f2", np.inf),
        (1, 1 + 2**-23, "f4", 1.0),
    ]:
        expect(numbers.uniform, (low, high, dtype), found, found, found)
    above = np.longdouble(1 + 2**-52)
    below = np.nextafter(above, np.longdouble(1))
    expect(numbers.uniform, (1, above, "g"), *np.array([1, below, below]).tolist())


@ranks(1, 2, 3)
def test_map_blocks_with_a_border(comm):
    lay = hk.Layout((9,), "(BALANCED)", comm.size)
    a = hk.arange(lay, comm=comm)
    whole = np.arange(9)
    for periodic in (False, True):
        b = hk.map_blocks(lambda x: x[2:] - x[:-2], a, halo=1, periodic=periodic)
        padded = np.pad(whole, 1, "wrap" if periodic else "constant")
        np.testing.assert_array_equal(hk.replicated(b), padded[2:] - padded[:-2])
    shifted = hk.eoshift(a, 2, 0, fill=-1)
    np.testing.assert_array_equal(hk.replicated(shifted), [*range(2, 9), -1, -1])


@ranks(2, 3)
def test_what_cannot_be_raises_everywhere(comm):
    lay = hk.Layout((4, 6), "(BLOCK, *)", comm.size)
    a = hk.ones(lay, comm=comm)
    b = hk.ones(hk.Layout((4, 5), "(BLOCK, *)", comm.size), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: a + b, "(4, 6)", "(4, 5)")
    raises_everywhere(comm, hk.LayoutError, lambda: a.sum(axis=2), "axis 2")
    raises_everywhere(comm, hk.LayoutError, lambda: a[4, 0], "index 4", "(4, 6)")
    raises_everywhere(comm, hk.LayoutError, lambda: a[[0, 9]], "index 9", "process")
    raises_everywhere(comm, hk.LayoutError, lambda: a[np.ones(3, bool)], "mask", "(3,)", "(4, 6)")
    raises_everywhere(comm, hk.MismatchError, lambda: a << 1, "float64")
    text = hk.wrap(np.full(a.local.shape, "x"), lay, comm)
    raises_everywhere(comm, hk.MismatchError, lambda: a + text, "float64")
    other = hk.ones(lay, comm=comm.Dup())
    raises_everywhere(comm, hk.Error, lambda: a + other, "different communicators")
    raises_everywhere(
        comm, TypeError, lambda: np.asarray(a), ".local", ".gather()", "hk.replicated(a)"
    )
    raises_everywhere(comm, TypeError, lambda: np.linalg.solve(a, a), "np.linalg.solve", "Sca")
    raises_everywhere(comm, TypeError, lambda: np.piecewise(a, [a > 0], [1]), "np.select")
    objects = np.frompyfunc(lambda x: x, 1, 1)
    raises_everywhere(comm, hk.MismatchError, lambda: objects(a), "Python objects", "map_blocks")
    raises_everywhere(comm, TypeError, lambda: np.sum(np.ones((4, 6)), where=a > 0), "hk.wrap")
    raises_everywhere(comm, hk.Error, lambda: np.bincount(np.ones(4, int), a[:, 0]), "hk.wrap")
    raises_everywhere(comm, TypeError, lambda: np.add.reduceat(a, [0]), "np.add.reduceat", "outer")
    raises_everywhere(comm, TypeError, lambda: np.interp(a, a[0], a[0]), "hk.replicated(xp)")
    raises_everywhere(comm, TypeError, lambda: np.quantile(a, 0.5, method="hazen"), "'hazen'")
    raises_everywhere(comm, hk.LayoutError, lambda: np.split(a, 3), "np.array_split")
    stack = hk.from_function(
        lambda i, j, k: i * (j == k), hk.Layout((4, 2, 2), "(BLOCK, *, *)", 2), comm=comm
    )
    raises_everywhere(comm, hk.Error, lambda: np.linalg.inv(stack), "Singular")
    wrong = stack.astype("i8") * 9
    raises_everywhere(comm, hk.LayoutError, lambda: np.unravel_index(wrong, (3, 4)), "from 0 to 27")
    raises_everywhere(comm, hk.MismatchError, lambda: np.add.at(a, [0], 1j), "complex128")
    raises_everywhere(
        comm, hk.MismatchError, lambda: np.concatenate([a, a + 1j], dtype="f8"), "same_kind"
    )
    for name, near in [("view", "a.astype"), ("flat", "a.ravel()"), ("tolist", "a.gather(root=0)")]:
        raises_everywhere(comm, TypeError, lambda name=name: getattr(a, name), name, near)
        assert not hasattr(a, name)
    raises_everywhere(comm, AttributeError, lambda: a.nothing, "'nothing'")
    raises_everywhere(comm, hk.MismatchError, lambda: np.max(a, where=a > 0), "give initial=")
    raises_everywhere(comm, hk.MismatchError, lambda: np.sum(a, where=a), "give booleans")
    mask = np.ones((2, *a.shape), bool)
    raises_everywhere(comm, hk.LayoutError, lambda: np.sum(a, where=mask), str(mask.shape))
    raises_everywhere(comm, hk.LayoutError, lambda: np.fft.fft(a, 0), "0 elements")
    raises_everywhere(comm, TypeError, lambda: hash(a), "unhashable")
    raises_everywhere(comm, hk.Error, lambda: bool(a > 0), "any()")
    raises_everywhere(comm, hk.LayoutError, lambda: a @ a, "(4, 6)")
    raises_everywhere(comm, hk.LayoutError, lambda: np.einsum("ii", a), "extents 4 and 6")


@ranks(1, 2)
def test_eigenvalues_have_one_dtype_on_all_processes(comm):
    whole = np.array([np.eye(2), [[0, 1], [-1, 0]]])
    a = hk.scatter(whole, hk.Layout((2, 2, 2), "(BLOCK, *, *)", comm.size), comm)
    check(np.linalg.eigvals(a), np.linalg.eigvals(whole), "eigenvalues")


@ranks(1, 3)
def test_lists_and_new_dimensions(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    one = hk.full(hk.Layout((), "()", ()), 3, "i4", comm)  # other processes have no part of it
    line = hk.arange(hk.Layout(5, "(BLOCK)", comm.size), "i4", comm)
    for found, expected in ((np.isin(one, line), True), (np.searchsorted(line, one), 3)):
        assert hk.replicated(found).shape == () and hk.replicated(found) == expected
    x = np.arange(12.0).reshape(4, 3)
    a = hk.from_function(
        lambda i, j: 3.0 * i + j, hk.Layout((4, 3), "(CYCLIC, *)", comm.size), comm=comm
    )
    check(a * [1, 2, 3], x * [1, 2, 3], "a list")
    check(np.full_like(a, [4, 5, 6]), np.full_like(x, [4, 5, 6]), "full_like")
    check(np.ravel(a, "K"), x.ravel("K"), "ravel")
    a[1:3, None, ..., None] = np.array([[[7.0], [8.0], [9.0]]])
    x[1:3, None, ..., None] = np.array([[[7.0], [8.0], [9.0]]])
    check(a, x, "new dimensions")
    np.add.at(a, ([0, 0, 1], [1, 1, 2]), [1, 2, 3])
    np.add.at(x, ([0, 0, 1], [1, 1, 2]), [1, 2, 3])
    check(a, x, "add.at of lists")


@ranks(1, 3)
def test_no_part_of_a_number_is_lost_silently(comm):
    a = hk.ones(hk.Layout((4, 6), "(BLOCK, *)", comm.size), comm=comm)
    small, whole = a.astype("u1"), a.astype("i8")
    for index in (0, (slice(None), 2), [1, 3], a > 0):
        raises_everywhere(comm, hk.Error, lambda index=index: a.__setitem__(index, 1j), "float64")
        raises_everywhere(comm, hk.Error, lambda index=index: small.__setitem__(index, 300), "300")
    assert (a == 1).all() and (small == 1).all()
    raises_everywhere(comm, hk.MismatchError, lambda: np.fft.rfft(a + 0j), "complex128")
    raises_everywhere(comm, hk.MismatchError, lambda: np.round(a, out=whole), "int64", "float64")
    raises_everywhere(comm, hk.MismatchError, lambda: np.take(a, [0], 1, out=whole[:, :1]), "int64")
    raises_everywhere(
        comm, hk.MismatchError, lambda: np.dot(a, a.T, out=a.astype("f4")[:, :4]), "float32"
    )
    assert (a > 0).conj().dtype == bool


@ranks(1, 2, 3)
def test_dtypes_of_chosen_elements_are_those_of_numpy(comm):
    x, mask = np.arange(12).reshape(4, 3), np.arange(12).reshape(4, 3) % 2 == 0
    lay = hk.Layout((4, 3), "(CYCLIC, *)", comm.size)
    where = hk.scatter(mask, lay, comm)
    for dtype in ("u1", "i2", "u8", "f2", "?"):
        few = x.astype(dtype)
        a = hk.scatter(few, lay, comm)
        check(np.select([where], [a], 7), np.select([mask], [few], 7), "select")
        check(
            np.select([where, a > 2], [a, where], 7),
            np.select([mask, few > 2], [few, mask], 7),
            "select of a mask",
        )
        found = np.logaddexp.reduce(a, axis=1, where=where, initial=1)
        check(found, np.logaddexp.reduce(few, axis=1, where=mask, initial=1), "logaddexp")


@ranks(1, 2)
def test_arguments_that_numpy_refuses_raise(comm):
    a = hk.ones(hk.Layout((4, 6), "(BLOCK, *)", comm.size), comm=comm)
    raises_everywhere(comm, hk.MismatchError, lambda: np.gradient(a > 0), "bool")
    raises_everywhere(comm, hk.MismatchError, lambda: np.std(a, dtype="i8"), "int64")
    one = hk.ones(hk.Layout((), "()"), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: np.percentile(one, 50, axis=0), "axis 0")


@ranks(2)
def test_one_wrong_process_is_everyones_error(comm):
    rows = hk.Layout((4, 6), "(BLOCK, *)", 2)
    a, b = hk.ones(rows, comm=comm), hk.ones(hk.Layout((4, 6), "(*, BLOCK)", 2), comm=comm)
    raises_everywhere(comm, hk.Error, lambda: a + (b if comm.rank else np.ones(5)))
    with hk.checked():
        mine = np.arange(6) + comm.rank
        raises_everywhere(comm, hk.MismatchError, lambda: a + mine, "process 1")
        assert (a + np.arange(6)).shape == (4, 6)


@ranks(2, 3)
def test_different_calls_of_the_processes_are_an_error_of_all(comm):
    a = hk.ones(hk.Layout((4, 6), "(BLOCK, *)", comm.size), comm=comm)
    b = hk.ones(hk.Layout((4, 6), "(*, BLOCK)", comm.size), comm=comm)
    last = comm.rank == comm.size - 1
    raises_everywhere(comm, hk.MismatchError, lambda: a.sum() if last else a + b, "same call")
    raises_everywhere(comm, hk.MismatchError, lambda: a.max() if last else np.sort(a, 0), "same")
    raises_everywhere(
        comm, hk.MismatchError, lambda: a.max() if last else a.min(), "process", "np.m"
    )
    for one, other in (
        (lambda: np.max(a, 0), lambda: np.min(a, 0)),
        (lambda: np.argmax(a, 0), lambda: np.argmin(a, 0)),
        (lambda: np.count_nonzero(a), lambda: np.sum(a != 0)),
        (lambda: np.max(a), lambda: np.max(a.astype("i8"))),
    ):
        raises_everywhere(
            comm, hk.MismatchError, lambda x=one, y=other: x() if last else y(), "same call"
        )
    assert a.sum() == 24


@ranks(1, 2, 3)
def test_a_section_reads_and_writes_its_array_at_each_operation(comm):
    lay = hk.Layout((20,), "(CYCLIC(3))", comm.size)
    a = hk.arange(lay, comm=comm)
    part = a[1:19:2]  # no strides say where its elements are
    a *= 10
    np.testing.assert_array_equal(hk.replicated(part), np.arange(20)[1:19:2] * 10)
    part += 1
    expected = np.arange(20) * 10
    expected[1:19:2] += 1
    np.testing.assert_array_equal(hk.replicated(a), expected)
    if part._home is not None:
        assert not part.local.flags.writeable
    a.T[...] = 0
    assert not a.any()
    b = hk.arange(hk.Layout((20, 2), "(CYCLIC(3), *)", comm.size), comm=comm)
    whole = np.arange(40).reshape(20, 2) * 10
    turned = b[1:19:2].T
    b *= 10
    check(turned, whole[1:19:2].T, "a view of a section")
    turned[0] = -1
    whole[1:19:2, 0] = -1
    check(b, whole, "written through a view of a section")


@ranks(2, 3, 4)
def test_lines_with_too_few_factors_are_transformed_in_parts(comm):
    """No process gets the whole line, or one of its two rows."""
    rng = np.random.default_rng(comm.size)
    for n in (1, 13, 101, 2 * 13):
        whole = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype("c8")
        a = hk.scatter(whole, hk.Layout(n, "(CYCLIC(3))", comm.size), comm)
        for function, norm in itertools.product(
            (np.fft.fft, np.fft.ifft), (None, "ortho", "forward")
        ):
            found, expected = function(a, norm=norm), function(whole, norm=norm)
            assert found.dtype == expected.dtype and found.layout == a.layout
            np.testing.assert_allclose(hk.replicated(found), expected, 0, 1e-5 * n**0.5)


class Lent:
    """Memory by NumPy's array interface alone."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


class Packed:
    """Memory by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@ranks(1, 2)
def test_wrap_takes_the_memory_of_others(comm):
    lay = hk.Layout((4 * comm.size,), "(BLOCK)", comm.size)
    mine = np.arange(4.0)
    for other in (Lent(mine), Packed(mine), memoryview(mine)):
        a = hk.wrap(other, lay, comm)
        assert np.shares_memory(a.local, mine)
        assert a.sum() == 6 * comm.size
    with pytest.raises(hk.Error, match="cannot wrap"):
        hk.wrap([1, 2, 3, 4], lay, comm)
