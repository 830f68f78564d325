# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays as an index: of integers, and masks."""

import itertools

import numpy as np
from cases import raises_everywhere
from lockstep import ranks
from test_computing import check, distributed, small_rounds

import hocket as hk
import random_layouts
from hocket import _mpi


@ranks(1, 2, 3)
def test_distributed_indices_read_and_write(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    rng = np.random.default_rng(comm.size)
    whole, rows, columns = rng.normal(size=(8, 5)), rng.integers(-8, 8, 30), rng.integers(0, 5, 30)
    a = hk.scatter(whole, hk.Layout((8, 5), "(BLOCK, *)", comm.size), comm)
    i = hk.scatter(rows, hk.Layout(30, "(CYCLIC)", comm.size), comm)
    j = hk.scatter(columns, hk.Layout(30, "(BLOCK)", comm.size), comm)
    np.testing.assert_array_equal(hk.replicated(a[i, j]), whole[rows, columns])
    np.testing.assert_array_equal(hk.replicated(a[i]), whole[rows])
    np.testing.assert_array_equal(hk.replicated(a[1:7, j]), whole[1:7, columns])
    np.testing.assert_array_equal(
        hk.replicated(a[i[:, None], j[:6]]), whole[rows[:, None], columns[:6]]
    )
    many = np.arange(240) % 7 * np.ones((4, 1))
    cube = np.arange(240 * 3).reshape(4, 60, 3)
    dense = hk.scatter(many, hk.Layout(many.shape, "(*, CYCLIC(2))", comm.size), comm)
    check(dense[np.nonzero(dense)], many[np.nonzero(many)], "numbers of true elements")
    mask = dense[:, ::4] > 2
    whole_mask = many[:, ::4] > 2
    c = hk.scatter(cube, hk.Layout(cube.shape, "(*, BLOCK, *)", comm.size), comm)
    check(c[mask], cube[whole_mask], "a mask of the first dimensions")
    check(c[:, :, 1][mask], cube[:, :, 1][whole_mask], "a mask of a section")
    line, wide = c.ravel(), dense.astype("i8")
    check(line[wide], cube.ravel()[many.astype("i8")], "an index of two dimensions")
    counts = hk.scatter(columns[:8] % 3, hk.Layout(8, "(CYCLIC)", comm.size), comm)
    np.testing.assert_array_equal(
        hk.replicated(np.repeat(a, counts, 0)), np.repeat(whole, columns[:8] % 3, 0)
    )
    for wrong in (-1 - counts, counts[:, None], counts.astype("u8"), counts[:7]):
        raises_everywhere(
            comm, hk.LayoutError, lambda wrong=wrong: np.repeat(a, wrong, 0), "8 integers"
        )
    line = a.ravel()
    line[j] = i.astype("float64")
    expected = whole.ravel()
    expected[columns] = rows
    np.testing.assert_array_equal(hk.replicated(line), expected)


@ranks(1, 2, 3)
def test_indices_along_an_axis_stay_where_they_are(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    rng = np.random.default_rng(comm.size)
    whole = rng.normal(size=(7, 6))
    a = hk.scatter(whole, hk.Layout((7, 6), "(BLOCK, *)", comm.size), comm)
    for axis, shape in ((0, (7, 6)), (1, (7, 6)), (0, (3, 1)), (1, (1, 9)), (-2, (0, 6))):
        places = rng.integers(-whole.shape[axis], whole.shape[axis], shape)
        for text in ("(BLOCK, *)", "(*, CYCLIC)", "(*, *)"):
            lay = hk.Layout(shape, text, comm.size if text != "(*, *)" else 1)
            i = hk.wrap(
                places[np.ix_(*lay.global_indices(comm.rank))]
                if comm.rank < lay.size
                else np.empty((0, 0), int),
                lay,
                comm,
            )
            found = np.take_along_axis(a, i, axis)
            expected = np.take_along_axis(whole, places, axis)
            np.testing.assert_array_equal(hk.replicated(found), expected)
            assert found.shape != shape or found.layout == lay
            changed, also = a.copy(), whole.copy()
            np.put_along_axis(changed, i, 5 * i, axis)
            np.put_along_axis(also, places, 5 * places, axis)
            np.testing.assert_array_equal(hk.replicated(changed), also)
    wrong = hk.full(a.layout, 7, "int64", comm)
    raises_everywhere(comm, hk.LayoutError, lambda: np.take_along_axis(a, wrong, 0), "index 7")
    raises_everywhere(comm, hk.LayoutError, lambda: np.take_along_axis(a, a, 0), "float64")
    sections = a.copy()
    np.put_along_axis(sections[::2, ::-2], np.zeros_like(a[::2, ::-2], "i8"), 3, 1)  # copies
    whole[::2, -1] = 3
    np.testing.assert_array_equal(hk.replicated(sections), whole)


def every_third(whole, comm):
    """An array in blocks of four, and a section of it; no strides describe it on process 0."""
    text = ", ".join(["CYCLIC(4)", *"*" * (whole.ndim - 1)])
    home = hk.scatter(whole, hk.Layout(whole.shape, f"({text})", comm.size), comm)
    part = home[::3]
    assert comm.size == 1 or comm.rank or part._home is not None
    return home, part, whole.copy()


@ranks(1, 3)
def test_writes_do_not_change_operands_that_copy_the_same_memory(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    numbers, rng = np.arange(600), np.random.default_rng(comm.size)
    index, late = rng.permutation(600)[:200], numbers >= 400

    def scattered(x):
        return hk.scatter(x, hk.Layout(len(x), "(CYCLIC)", comm.size), comm)

    for chosen in (late, index):
        a, part, expected = every_third(numbers, comm)
        a[scattered(chosen)] = part
        expected[chosen] = numbers[::3]
        check(a, expected, "of a section")
    for chosen in (late[300:500], index[:100] // 3):
        a, part, expected = every_third(numbers, comm)
        part[scattered(chosen)] = a[200:300]
        expected[::3][chosen] = numbers[200:300]
        check(a, expected, "to a section")
    a, part, expected = every_third(numbers % 4 > 1, comm)
    values = numbers[:100] % 3 == 0
    a[200:400][part] = values
    expected[200:400][expected[::3].copy()] = values
    check(a, expected, "by a mask that is a section")
    a, part, expected = every_third(numbers[::-1].copy(), comm)
    a[part] = numbers[:200]
    expected[expected[::3].copy()] = numbers[:200]
    check(a, expected, "by an index that is a section")
    a, part, expected = every_third(numbers[::-1] % 200, comm)
    np.put_along_axis(a[:200], part, part, 0)
    np.put_along_axis(expected[:200], expected[::3].copy(), expected[::3].copy(), 0)
    check(a, expected, "along an axis")
    a, part, expected = every_third(np.arange(1200).reshape(600, 2), comm)
    part[scattered(numbers[:200])] = part[::-1]
    expected[::3] = expected[::3][::-1].copy()
    check(a, expected, "rows of a section")


@ranks(1, 3)
def test_masks_read_and_write_in_rounds(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    rng = np.random.default_rng(comm.size)
    choose = random_layouts.from_rng(rng)
    for shape, share in itertools.product(((300,), (20, 17), (4, 5, 16)), (0, 0.01, 0.5, 1)):
        x, chosen = rng.normal(size=shape), rng.random(shape) < share
        values = rng.normal(size=chosen.sum())
        first, second = (random_layouts.any_layout(choose, shape, comm.size) for _ in range(2))
        lines = hk.scatter(values, hk.Layout(len(values), "(CYCLIC)", comm.size), comm)
        for mask in (distributed(chosen, second, comm), chosen):
            what = f"{share} of {first} by {second}, {type(mask)}"
            a, expected = distributed(x, first, comm), x.copy()
            check(a[mask], x[chosen], what)
            a[mask], expected[chosen] = lines, values
            check(a, expected, what)
            a[mask] += 1
            expected[chosen] += 1
            check(a, expected, what)
            long = (mask, np.ones(len(values) + 2))
            raises_everywhere(comm, hk.LayoutError, lambda a=a, x=long: a.__setitem__(*x))
            check(a, expected, what)


@ranks(3)
def test_parts_without_chosen_elements_do_not_move(comm, monkeypatch):
    small_rounds(comm, monkeypatch)
    moves = []
    for name in ("pack", "put"):
        move = getattr(_mpi, name)
        monkeypatch.setattr(_mpi, name, lambda *x, move=move: moves.append(move) or move(*x))
    a = hk.arange(hk.Layout(400, "(CYCLIC(3))", 3), comm=comm)
    few = np.arange(400) // 7 == 50
    a[few] = hk.replicated(a[few])[::-1].copy()
    check(a[345:360], np.r_[345:350, 356:349:-1, 357:360], "few elements")
    assert len(moves) == 2
    # Other masks on other processes are an error of all.
    mask = np.arange(400) < 150 + 10 * comm.rank
    raises_everywhere(comm, hk.LayoutError, lambda: a[mask])
