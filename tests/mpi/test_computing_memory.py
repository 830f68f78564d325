# SPDX-License-Identifier: BSD-3-Clause
"""How much memory operations on arrays take: no process ever holds a whole array."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from lockstep import ranks
from peaks import MIB, peak_of

import hocket as hk

#: of one array, in one process of six
SHARE = 4 * MIB
ROWS, COLUMNS = 6 * 1024, 512

OPERATIONS = {
    "add": lambda a, b, line: a + b,
    "where": lambda a, b, line: np.where(a > 0, a, b),
    "sin": lambda a, b, line: np.sin(a),
    "sum of columns": lambda a, b, line: a.sum(axis=0),
    "sum of rows": lambda a, b, line: b.sum(axis=1),
    "var": lambda a, b, line: np.var(a),
    "max": lambda a, b, line: b.max(axis=0),
    "dot": lambda a, b, line: np.vdot(a, b),
    "cumsum": lambda a, b, line: np.cumsum(a, 0),
    "roll": lambda a, b, line: np.roll(a, 7, 0),
    "flip": lambda a, b, line: np.flip(a, 0).copy(),
    "turned": lambda a, b, line: a.T.copy(),
    "reshape": lambda a, b, line: np.reshape(b, (COLUMNS, ROWS)),
    "halves joined": lambda a, b, line: np.concatenate([a[: ROWS // 2], b[ROWS // 2 :]]),
    "sort of lines": lambda a, b, line: np.sort(a, 0),
    "sort": lambda a, b, line: np.sort(line),
    "mask": lambda a, b, line: line[line > 1.5],
    "matmul": lambda a, b, line: a[:, :96] @ b[:96],
    "einsum": lambda a, b, line: np.einsum("ki,kj->ij", a.T[:96], b[:96]),
    "tensordot": lambda a, b, line: np.tensordot(b[:96], a[:, :96], ([0], [1])),
    "diagonal": lambda a, b, line: np.diagonal(a),
    "mask of rows": lambda a, b, line: a[line[:ROWS] > 0],
    "searchsorted": lambda a, b, line: np.searchsorted(np.sort(line[::4]), line[1::4]),
    "isin": lambda a, b, line: np.isin(line[::8], line[1::8]),
    "histogram": lambda a, b, line: np.histogram(line, 1 << 16)[0],
}

#: operations that name elements by numbers, and what they and their results may take in rounds of
#: little memory, in shares; `places` are rows all over the array, as processes get what is asked of
#: them, `index` elements all over the line, `cube` and `other` have a sum of eight shares
BY_NUMBERS = {
    "put along": (1.5, lambda x: np.put_along_axis(x.a, x.places, x.b, 0)),
    "sum by index": (1, lambda x: np.add.at(x.line, x.index, x.cyclic)),
    "take along": (2, lambda x: np.take_along_axis(x.a, x.places, 0)),
    "columns": (2, lambda x: x.a[:, x.index[: x.a.shape[1]] % x.a.shape[1]]),
    "index": (2, lambda x: x.line[x.index]),
    "write by index": (2, lambda x: x.line.__setitem__(x.index, x.line)),
    "take along lines": (2, lambda x: np.take_along_axis(x.b, x.places, 0)),
    "put along lines": (2, lambda x: np.put_along_axis(x.b, x.places, x.b, 0)),
    "mask": (1.5, lambda x: x.b[x.b > 0]),
    "write by a mask": (1.5, lambda x: x.b.__setitem__(x.b > 0, x.b[x.b > 0])),
    "median": (2, lambda x: np.median(x.line)),
    "searchsorted": (2.5, lambda x: np.searchsorted(x.cyclic[::64], x.line)),
    "unique": (4, lambda x: np.unique(x.line)),
    "argsort": (4, lambda x: np.argsort(x.line)),
    "argsort of another order": (5, lambda x: np.argsort(x.cyclic)),
    "tensordot": (10, lambda x: np.tensordot(x.cube, x.other, ([0], [0]))),
}


def operands(comm, rows, columns):
    """Random arrays of these elements a process, by name."""
    size, numbers = comm.size, hk.random(3)
    shape, line = (rows * size, columns), hk.Layout(rows * size * columns, "(BLOCK)", size)
    b = hk.Layout(shape, "(*, BLOCK)", size)
    whole = 8 * rows * columns  # elements of the sum of a product
    return SimpleNamespace(
        a=numbers.normal(hk.Layout(shape, "(BLOCK, *)", size), comm=comm),
        b=numbers.normal(b, comm=comm),
        line=numbers.normal(line, comm=comm),
        cyclic=numbers.normal(hk.Layout(line.shape, "(CYCLIC(100))", size), comm=comm),
        places=numbers.integers(b, 0, shape[0], comm=comm),
        index=numbers.integers(line, 0, line.shape[0], comm=comm),
        cube=numbers.normal(hk.Layout((size, 64, 8), "(BLOCK, *, *)", size), comm=comm),
        other=numbers.normal(hk.Layout((size, whole // 512), "(BLOCK, *)", size), comm=comm),
    )


def assert_by_numbers(comm, monkeypatch, rows, columns):
    from hocket.computing import rounds

    x = operands(comm, rows, columns)
    share = x.a.local.nbytes
    monkeypatch.setattr(rounds, "PANEL", share // 4)
    for name, (most, operation) in BY_NUMBERS.items():
        _, peak = peak_of(lambda operation=operation: operation(x))
        assert peak < most * share, f"{name}: {peak / share:.2f} shares"


@pytest.mark.soak
@ranks(6, nodes="0,1,2,3,4,5")  # within a node, pages of the others count, too
def test_no_process_holds_a_whole_array(comm, monkeypatch):
    """One array of temporaries beside the result, and message buffers of at most another one for
    each direction. Freed memory remains for reuse, but no whole array fits into it."""
    shape = (ROWS, COLUMNS)
    numbers = hk.random(3)
    a = numbers.normal(hk.Layout(shape, "(BLOCK, *)", comm.size), comm=comm)
    b = numbers.normal(hk.Layout(shape, "(*, BLOCK)", comm.size), comm=comm)
    line = numbers.normal(hk.Layout(ROWS * COLUMNS, "(CYCLIC(100))", comm.size), comm=comm)
    assert a.local.nbytes == SHARE
    for name, operation in OPERATIONS.items():
        _, peak = peak_of(lambda operation=operation: operation(a, b, line))
        assert peak < 4 * SHARE, f"{name}: {peak / SHARE:.2f} shares"
    assert_by_numbers(comm, monkeypatch, ROWS // 6, COLUMNS)
    _, peak = peak_of(lambda: hk.replicated(b))
    assert peak > 5 * SHARE, "the measure does not see what it is to bound"


#: of int8; none of them may make an int64 number for each element
OF_BYTES = {
    "section": lambda a, mask: a[1:],
    "section backwards": lambda a, mask: a[::-2],
    "assignment": lambda a, mask: a.__setitem__(slice(1, None), a[:-1]),
    "argmax": lambda a, mask: np.argmax(a),
    "mask": lambda a, mask: a[mask],
    "nonzero": lambda a, mask: np.nonzero(mask),
    "isclose": lambda a, mask: np.isclose(a, 3),
    "cumsum": lambda a, mask: np.cumsum(a, dtype="int8"),
    "count": lambda a, mask: np.count_nonzero(a),
    "arange": lambda a, mask: hk.arange(a.layout, "int8", a.comm),
    "integers": lambda a, mask: hk.random(1).integers(a.layout, 0, 9, "int8", a.comm),
}


@ranks(2, nodes="0,1")
def test_temporary_arrays_are_no_larger_than_the_array(comm, monkeypatch):
    assert_by_numbers(comm, monkeypatch, 1536, 512)
    # Small elements need no number each.
    part = 6 * MIB  # tests of buffers expect no freed memory of their size
    a = hk.zeros(hk.Layout(2 * part, "(BLOCK)", 2), "int8", comm)
    mask = hk.zeros(a.layout, "bool", comm)
    mask[::1000] = True
    spread = hk.zeros(hk.Layout(2 * part, "(CYCLIC(100))", 2), "int8", comm)
    of_lists = {
        "mask in rounds": lambda a, mask: spread[mask],
        "argmax of blocks": lambda a, mask: np.argmax(spread),
    }
    for name, operation in (OF_BYTES | of_lists).items():
        _, peak = peak_of(lambda operation=operation: operation(a, mask))
        assert peak < 4 * part, f"{name}: {peak / part:.2f} parts"


@ranks(2, 3)
def test_gathered_rows_do_not_grow_with_the_array(comm, monkeypatch):
    """Neither do sorts of few elements collect them."""
    from hocket import _mpi

    sizes, gather = [], _mpi.allgather

    def recorded(handle, call, row):
        sizes.append(len(row))
        return gather(handle, call, row)

    monkeypatch.setattr(_mpi, "allgather", recorded)
    for side in (4, 40):
        a = hk.random(5).integers(hk.Layout((side, side), "(BLOCK, *)", comm.size), -9, 9)
        line = a.ravel()
        np.sort(line), np.argsort(line), np.unique(line, return_inverse=True)
        np.isin(line, line[::3]), np.searchsorted(np.sort(line), line), np.median(line)
        np.repeat(line, np.abs(line)), line[np.abs(line) % 3], a[line[:side] > 0], a[a > 0]
        np.diagonal(a), np.diag(line), np.fill_diagonal(a, 0), a.argmax(), a.any()
        np.take_along_axis(a, np.argsort(a, 0), 0), np.histogram(line, side), np.bincount(abs(line))
    assert 0 < max(sizes) <= 24


@ranks(2)
def test_new_arrays_have_memory_of_their_own_and_lists_take_a_mask(comm):
    for n in (8, 300_000):
        a = hk.arange(hk.Layout(n, "(BLOCK)", 2), "float64", comm)
        real = np.real(a)
        real[...] = 0
        assert a.sum() == n * (n - 1) / 2
    mask = hk.full(hk.Layout(2, "(BLOCK)", 2), True, comm=comm)
    assert hk.replicated(np.add([1, 2], [3, 4], where=mask)).tolist() == [4, 6]
    wide = hk.full(hk.Layout((2, 200_000), "(BLOCK, *)", 2), 3, "int8", comm)
    assert np.isclose(wide, 3).all() and not np.isclose(wide, np.full(200_000, 4)).any()


@ranks(2)
def test_an_error_of_a_function_that_needs_no_other_process_stays_there(comm):
    a = hk.ones(hk.Layout(4, "(BLOCK)", 2), comm=comm)
    if comm.rank == 0:
        with pytest.raises(Exception):  # noqa: B017 - whichever
            np.size(a, 7)
    assert a.sum() == 4


def steps_with(layouts, comm):
    """Operations whose results have layouts derived from each of these layouts; the layouts that
    are alive afterwards."""
    seen = []
    for layout in layouts:
        a = hk.zeros(layout, comm=comm)
        for result in (a.T, a.sum(axis=0), a + np.ones(a.shape[1]), np.roll(a, 1, 0), a[1:]):
            del result
        seen.append(weakref.ref(layout))
        del a, layout
    return [each() for each in seen if each() is not None]


@ranks(2)
def test_no_cache_keeps_layouts_that_equal_cached_ones(comm):
    """A program that makes its layout anew in each step has one of them at a time."""
    odd = [list(range(1, 12, 2)), list(range(0, 12, 2))]
    kinds = {
        "elements": lambda: hk.Layout.elements((4, 3), odd),
        "segments": lambda: hk.Layout.indexed((4, 3), [[(0, 5)], [(5, 7)]]),
        "formats": lambda: hk.Layout((4, 3), "(INDIRECT(1, 0, 0, 1), *)", 2),
    }
    for name, make in kinds.items():
        first = make()
        steps_with([first], comm)
        alive = steps_with((make() for _ in range(6)), comm)
        assert not alive, f"{name}: {len(alive)}"


@ranks(2)
def test_caches_keep_few_layouts_of_listed_elements(comm):
    """Their tables may have many times the bytes of an array."""
    rng = np.random.default_rng(1)
    lists = [np.split(rng.permutation(12), 2) for _ in range(30)]
    alive = steps_with((hk.Layout.elements((4, 3), each) for each in lists), comm)
    assert len(alive) <= 10


@ranks(1)
def test_a_layout_used_again_has_the_same_derived_layouts(comm):
    """By its identity, without its value, whether the result is the layout itself or another."""
    from hocket.computing.layouts import aligned_with, transposed

    layout, compared = hk.Layout((4, 3), "(BLOCK, *)", 1), []
    turned, own = transposed(layout, (1, 0)), aligned_with((4, 3), layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hk.Layout, "__hash__", compared.append)
        assert transposed(layout, (1, 0)) is turned and aligned_with((4, 3), layout) is own
    assert not compared


@pytest.mark.parametrize("types", ["f8 i1 i1", "i1 f8 i1", "f4 i4 f4", "f8 f8 f8"])
@pytest.mark.parametrize("shared", [False, True])
@ranks(2)
def test_an_assignment_moves_the_shorter_elements(comm, monkeypatch, types, shared):
    """Also where one process's part of the value is in the memory of the array."""
    to, of, moved = types.split()
    a = hk.zeros(hk.Layout((4, 4), "(BLOCK, *)", 2), to, comm)
    own = np.zeros((4, 2), of)
    if shared and comm.rank == 0 and own.nbytes <= a.local.nbytes:
        own = a.local.reshape(-1).view("u1")[: own.nbytes].view(of).reshape(4, 2)
    own[...] = np.arange(8).reshape(4, 2) + 8 * comm.rank
    b = hk.wrap(own, hk.Layout((4, 4), "(*, BLOCK)", 2), comm)
    line = hk.arange(hk.Layout(4, "(BLOCK)", 2), of, comm)
    transferred, wrapped, expected = [], hk.Array._wrapped, hk.replicated(b)

    def recorded(array):
        transferred.append(array.dtype)
        return wrapped(array)

    monkeypatch.setattr(hk.Array, "_wrapped", recorded)
    a[...] = b
    assert transferred == [moved] * 2
    found = a.local.copy()
    a[...] = line
    monkeypatch.undo()
    assert transferred == [moved] * 4
    assert np.array_equal(found, expected[2 * comm.rank : 2 * comm.rank + 2])
    assert np.array_equal(a.local, [range(4)] * 2)
