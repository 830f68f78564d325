# SPDX-License-Identifier: BSD-3-Clause
"""HPF's intrinsic functions, by hocket.h, beside their definitions: layouts of every kind."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk
import intrinsics
import random_layouts
from intrinsics import OPS, Library

DTYPES = ["f8", "f4", "i8", "i4", "u2", "i1", "c16", "?"]
LOGICAL = {"all", "any", "parity"}
BITS = {"iall", "iany", "iparity"}


def takes(op, dtype):
    """Whether the operation takes the type."""
    kind = np.dtype(dtype).kind
    if op in LOGICAL or op == "count":
        return kind in "biu"
    if op in BITS:
        return kind in "iu"
    return kind in ("iufc" if op in ("sum", "product") else "iuf")


class Case:
    """Random arrays in random layouts, and the calls on them."""

    def __init__(self, comm, seed):
        self.rng = np.random.default_rng(seed)
        self.choose = random_layouts.from_rng(self.rng)
        self.comm, self.lib, self.kept = comm, Library(comm), []
        self.order = "CF"[self.choose(0, 1)]
        self.first = self.choose(0, 1)
        self.what = f"seed {seed}, order {self.order}:"
        self.few = seed[1] % 3 == 2  # elements: fewer than processes, or none

    def shape(self):
        if not self.few:
            return random_layouts.any_shape(self.choose)
        return tuple(self.extent(3) for _ in range(self.choose(0, 3)))

    def extent(self, most):
        return self.choose(1, most) if not self.few else self.choose(0, 4) // 2

    def values(self, shape, dtype):
        dtype = np.dtype(dtype)
        if dtype.kind in "fc":
            x = self.rng.normal(size=shape) * 10.0 ** self.rng.integers(-3, 4, shape)
            x = np.where(self.rng.random(shape) < 0.3, np.round(x), x)
            return (x + (1j * np.roll(x, 1) if dtype.kind == "c" else 0)).astype(dtype)
        return self.rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)

    def handle(self, whole, layout=None):
        """An array in a layout, which is random if none is given."""
        if layout is None:
            holding = random_layouts.any_layout(
                self.choose, np.shape(whole), self.comm.size, depth=1
            )
            local, lay = holding.local(whole, self.comm.rank), holding.layout(hk)
        else:
            lay = layout
            local = hk.scatter(np.asarray(whole), lay, comm=self.comm).local
        local = np.array(local, order=self.order, copy=True)
        self.what += f" {np.dtype(local.dtype)} {lay}"
        self.kept.append(local)
        return self.lib.array(local, lay)

    def options(self, **more):
        return {"column_major": self.order == "F", "first_index": self.first, **more}

    def mask(self, shape):
        """(values, handle): sometimes none."""
        if self.choose(0, 1):
            return None, None
        kind = ["?", "i4"][self.choose(0, 1)]
        mask = self.values(shape, kind) * self.values(shape, "?").astype(kind)
        return mask, self.handle(mask)

    def dim(self, ndim):
        return None if not ndim or self.choose(0, 2) == 0 else self.choose(0, ndim - 1)

    def check(self, found, expected, name, exact=True):
        found = found[0]
        what = f"{self.what} {name}"
        assert np.shape(found) == np.shape(expected), what
        assert found.dtype == np.asarray(expected).dtype, what
        if exact:
            np.testing.assert_array_equal(found, expected, err_msg=what)
        else:
            near = 1e-4 if found.dtype.itemsize <= 4 else 1e-9
            np.testing.assert_allclose(found, expected, rtol=near, atol=near, err_msg=what)


def reduction(case):
    shape = case.shape()
    op = OPS[case.choose(0, 10)]
    dtype = [d for d in DTYPES if takes(op, d)]
    x = case.values(shape, dtype[case.choose(0, len(dtype) - 1)])
    a, (mask, m), dim = case.handle(x), case.mask(shape), case.dim(len(shape))
    found = case.lib.run("reduce", a, OPS.index(op), **case.options(dim=dim, mask=m))
    exact = op != "product" or x.dtype.kind in "biu"
    case.check(found, intrinsics.reduced(op, x, dim, mask), f"{op} along {dim}", exact)


def location(case):
    shape = case.shape()
    op = ("maxval", "minval")[case.choose(0, 1)]
    x = case.values(shape, ["f8", "i4", "i1"][case.choose(0, 2)]).round()
    a, (mask, m), dim = case.handle(x), case.mask(shape), case.dim(len(shape))
    found = case.lib.run("locate", a, OPS.index(op), **case.options(dim=dim, mask=m))
    expected = intrinsics.located(op, x, dim, mask, case.order, case.first)
    case.check(found, expected, f"location of {op} along {dim}")


def prefix(case):
    shape = case.shape()
    op = OPS[case.choose(0, 9)]
    dtype = [d for d in DTYPES if takes(op, d)]
    x = case.values(shape, dtype[case.choose(0, len(dtype) - 1)])
    if op == "product" and x.dtype.kind in "fc":
        x = np.exp(0.1j * x.real) if x.dtype.kind == "c" else np.cos(x)
    a, (mask, m), dim = case.handle(x), case.mask(shape), case.dim(len(shape))
    how = {"exclusive": bool(case.choose(0, 1)), "suffix": bool(case.choose(0, 1))}
    segment, s = case.mask(shape)
    options = case.options(dim=dim, mask=m, segment=s, **how)
    found = case.lib.run("scan", a, OPS.index(op), **options)
    expected = intrinsics.scanned(op, x, dim, mask, segment, case.order, **how)
    name = f"{op} prefix along {dim} {how} {'' if s is None else 'of segments'}"
    case.check(found, expected, name, x.dtype.kind in "biu")


def shift(case):
    shape = case.shape() or (5,)
    x = case.values(shape, DTYPES[case.choose(0, 7)])
    dim, by = case.choose(0, len(shape) - 1), case.choose(-7, 7)
    a = case.handle(x)
    if len(shape) > 1 and case.choose(0, 1):
        lines = case.rng.integers(-9, 10, (*shape[:dim], *shape[dim + 1 :]))
        lines = lines.astype(["i8", "i4"][case.choose(0, 1)])
        options = case.options(dim=dim, shifts=case.handle(lines))
        found = case.lib.run("cshift", a, ctypes.c_int64(by), **options)
        case.check(found, intrinsics.shifted_by_line(x, by, lines, dim), f"cshift {by} {lines}")
        found = case.lib.run("eoshift", a, ctypes.c_int64(by), None, **options)
        expected = intrinsics.shifted_by_line(x, by, lines, dim, 0)
        case.check(found, expected, f"eoshift {by} {lines}")
        return
    if case.choose(0, 1):
        found = case.lib.run("cshift", a, ctypes.c_int64(by), **case.options(dim=dim))
        case.check(found, intrinsics.shifted(x, by, dim), f"cshift {by} along {dim}")
        return
    edge = np.ones((), x.dtype) if case.choose(0, 1) else None
    at = None if edge is None else ctypes.c_void_p(edge.ctypes.data)
    found = case.lib.run("eoshift", a, ctypes.c_int64(by), at, **case.options(dim=dim))
    expected = intrinsics.shifted(x, by, dim, 0 if edge is None else edge)
    case.check(found, expected, f"eoshift {by} along {dim}")


def choice(case):
    shape = case.shape()
    dtype = DTYPES[case.choose(0, 7)]
    x, y = case.values(shape, dtype), case.values(shape, dtype)
    mask = case.values(shape, "?")
    a, b, m = case.handle(x), case.handle(y), case.handle(mask)
    case.check(case.lib.run("merge", a, b, m, **case.options()), np.where(mask, x, y), "merge")
    copies, dim = case.choose(0, 3), case.choose(0, len(shape))
    found = case.lib.run("spread", a, ctypes.c_int64(copies), **case.options(dim=dim))
    case.check(found, np.repeat(np.expand_dims(x, dim), copies, dim), f"spread along {dim}")


def packing(case):
    shape = case.shape() or (4,)
    x = case.values(shape, DTYPES[case.choose(0, 7)])
    mask = case.values(shape, "?")
    a, m = case.handle(x), case.handle(mask)
    chosen = x.reshape(-1, order=case.order)[mask.reshape(-1, order=case.order)]
    case.check(case.lib.run("pack", a, m, None, **case.options()), chosen, "pack")
    longer = case.values((len(chosen) + case.choose(0, 4),), x.dtype)
    v = case.handle(longer)
    padded = np.concatenate([chosen, longer[len(chosen) :]])
    case.check(case.lib.run("pack", a, m, v, **case.options()), padded, "pack into a vector")
    unpacked = x.copy()
    if case.choose(0, 1):
        unpacked[...] = 1
        a = case.handle(np.ones((), x.dtype))
    at = np.flatnonzero(mask.reshape(-1, order=case.order))
    flat = unpacked.reshape(-1, order=case.order)
    flat[at] = longer[: len(at)]
    expected = flat.reshape(shape, order=case.order)
    case.check(case.lib.run("unpack", v, m, a, **case.options()), expected, "unpack")


def scatter(case):
    shape = tuple(max(1, extent) for extent in case.shape()) or (3,)
    of = case.shape()
    op = OPS[case.choose(0, 11)]
    if op == "count":
        op = "replace"
    dtype = [d for d in DTYPES if op == "replace" or takes(op, d)]
    dtype = dtype[case.choose(0, len(dtype) - 1)]
    base, values = case.values(shape, dtype), case.values(of, dtype)
    kind = ["i4", "i8"][case.choose(0, 1)]
    indices = [case.rng.integers(0, extent, of).astype(kind) for extent in shape]
    (mask, m), b, v = case.mask(of), case.handle(base), case.handle(values)
    handles = [case.handle(np.asarray(each + case.first, kind)) for each in indices]
    listed = (ctypes.c_void_p * max(1, len(handles)))(*(each.value for each in handles))
    found = case.lib.run(
        "scatter_combine",
        b,
        v,
        ctypes.c_int64(len(handles)),
        listed,
        OPS.index(op),
        **case.options(mask=m),
    )
    expected = intrinsics.scattered(base, values, indices, op, mask, case.order)
    case.check(found, expected, f"scatter {op}", op != "product" or base.dtype.kind in "biu")


def grading(case):
    shape = case.shape() or (9,)
    x = case.values(shape, ["f8", "f4", "i8", "i1", "u2"][case.choose(0, 4)])
    x = x.round() if case.choose(0, 1) else x
    if x.dtype.kind == "f" and x.size:
        x.reshape(-1)[case.choose(0, x.size - 1)] = np.nan
    dim, down = case.choose(0, len(shape) - 1), bool(case.choose(0, 1))
    a = case.handle(x)
    found = case.lib.run("grade", a, **case.options(dim=dim, descending=down))
    expected = np.argsort(-x.astype("f8") if down else x.astype("f8"), axis=dim, kind="stable")
    case.check(found, expected + case.first, f"grade along {dim}, descending {down}")


def products(case):
    m, n, k = (case.extent(7) for _ in range(3))
    dtype = ["f8", "f4", "i4", "c16", "i8"][case.choose(0, 4)]
    x, y = case.values((m, k), dtype), case.values((k, n), dtype)
    kind = case.choose(0, 2)
    x, y = (x[0] if kind == 1 and m else x), (y[:, 0] if kind == 2 and n else y)
    a, b = case.handle(x), case.handle(y)
    case.check(case.lib.run("matmul", a, b, None, **case.options()), x @ y, "matmul", False)
    u = case.values((m, k), dtype)
    v = case.values((m, k), dtype)
    found = case.lib.run("dot_product", case.handle(u), case.handle(v))[0]
    near = 1e-3 if np.dtype(dtype).itemsize == 4 else 1e-9
    np.testing.assert_allclose(found, np.vdot(u, v), rtol=near, atol=near, err_msg=case.what)


CALLS = {
    call.__name__: call
    for call in (
        reduction,
        location,
        prefix,
        shift,
        choice,
        packing,
        scatter,
        grading,
        products,
    )
}


@pytest.mark.parametrize("cases", [6, pytest.param(60, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", list(CALLS))
@ranks(1, 2, 3, 4, 6, seconds=300)
def test_random_calls(comm, name, cases):
    for seed in range(cases):
        case = Case(comm, [list(CALLS).index(name), seed, comm.size])
        try:
            CALLS[name](case)
        except hk.Error as error:
            raise AssertionError(case.what) from error


@ranks(1, 2, 3, 4, 6, seconds=60)
def test_assignment_between_sections(comm):
    """Of two arrays in any layouts, and of one array to itself, overlapping."""
    rng = np.random.default_rng(comm.size)
    there = hk.Layout((7, 5), "(BLOCK, *)", comm.size)
    for text in ("(BLOCK, *)", "(CYCLIC, *)", "(*, BALANCED)"):
        x, y = rng.normal(size=(2, 7, 5))
        rows, columns = int(rng.integers(0, 7)), int(rng.integers(0, 5))
        left = 7 - rows, 5 - columns
        here = hk.Layout((7, 5), text, comm.size)
        a, b = hk.scatter(x, here, comm=comm), hk.scatter(y, there, comm=comm)
        lib = Library(comm)
        first, second = lib.array(a.local, here), lib.array(b.local, there)
        into = lib.section(first, (0, 0), left)
        lib.call(
            "hocket_assign",
            into,
            lib.section(second, (rows, columns), left),
            ctypes.c_double(60),
        )
        x[: left[0], : left[1]] = y[rows:, columns:]
        np.testing.assert_array_equal(hk.replicated(a), x)
        part = lib.section(first, (rows, columns), left)
        lib.call("hocket_assign", into, part, ctypes.c_double(60))
        x[: left[0], : left[1]] = x[rows:, columns:].copy()
        np.testing.assert_array_equal(hk.replicated(a), x)


@pytest.mark.parametrize("width", [40000, pytest.param(120000, marks=pytest.mark.soak)])
@ranks(1, 2, 3, 6, seconds=60)
def test_sums_have_the_bits_of_numpys_functions(comm, width):
    """Of numbers of all sizes, along a dimension in tiles, too."""
    rng = np.random.default_rng(5)
    for dtype in ("f2", "f4", "f8", "c16"):
        x = rng.normal(size=(40, 30)) * 10.0 ** rng.integers(-4, 4, (40, 30))
        x = (x + (1j * x[::-1] if dtype[0] == "c" else 0)).astype(dtype)
        lay = hk.Layout(x.shape, "(CYCLIC(3), *)", comm.size)
        a, lib = hk.scatter(x, lay, comm=comm), Library(comm)
        handle = lib.array(a.local, lay)
        assert lib.run("reduce", handle, 0)[0] == a.sum()
        assert np.array_equal(
            lib.run("reduce", handle, 0, dim=0)[0], hk.replicated(np.sum(a, axis=0))
        )
        assert lib.run("dot_product", handle, handle)[0] == np.vdot(a, a)
    wide = hk.Layout((3 * comm.size, width), "(BLOCK, *)", comm.size)
    a, lib = hk.random(1).uniform(wide, -1, 1, comm=comm), Library(comm)
    found = lib.run("reduce", lib.array(a.local, wide), 0, dim=0)[0]
    assert np.array_equal(found, hk.replicated(np.sum(a, axis=0)))


@ranks(1, 2, 3, seconds=60)
def test_bad_input_is_told_to_every_process(comm):
    lib = Library(comm)
    kept = []

    def array(shape, dtype, value=1):
        lay = hk.Layout(shape, f"({', '.join(['BLOCK', '*'][: len(shape)])})", comm.size)
        kept.append(hk.full(lay, value, dtype, comm=comm).local)
        return lib.array(kept[-1], lay)

    a, short, vector = array((4, 6), "f8"), array((4, 5), "?"), array((3,), "f8")
    true, places = array((4, 6), "?"), array((3,), "i8", 4)

    def scatter(*indices):
        listed = (ctypes.c_void_p * len(indices))(*(each.value for each in indices))
        count = ctypes.c_int64(len(indices))
        return lib.run("scatter_combine", a, vector, count, listed, 0)

    layout, mismatch = hk.LayoutError, hk.MismatchError
    for error, call, *words in [
        (layout, lambda: lib.run("reduce", a, 0, dim=2), "no dimension 2", "(4, 6)", "0 to 1"),
        (layout, lambda: lib.run("reduce", a, 0, mask=short), "mask", "(4, 5)", "(4, 6)"),
        (mismatch, lambda: lib.run("reduce", a, 0, mask=a), "mask holds float64"),
        (mismatch, lambda: lib.run("reduce", a, 7), "iall does not take float64"),
        (mismatch, lambda: lib.run("reduce", a, 10), "count does not take float64"),
        (mismatch, lambda: lib.run("locate", a, 0), "locate takes maxval or minval"),
        (layout, lambda: lib.run("cshift", a, ctypes.c_int64(0), dim=7), "no dimension 7"),
        (mismatch, lambda: lib.run("dot_product", a, true), "float64", "bool"),
        (layout, lambda: lib.run("matmul", a, a, None), "(4, 6) and (4, 6) do not multiply"),
        (layout, lambda: lib.run("matmul", vector, vector, None), "dot_product for vectors"),
        (layout, lambda: lib.run("merge", a, vector, true), "(3)", "(4, 6)"),
        (layout, lambda: lib.run("unpack", vector, true, a), "24 elements", "vector has 3"),
        (layout, lambda: lib.run("pack", a, true, vector), "24 elements", "vector has 3"),
        (layout, lambda: lib.run("grade", a), "give the one along"),
        (layout, lambda: lib.run("spread", a, ctypes.c_int64(-1)), "-1 copies"),
        (layout, lambda: scatter(places), "1 arrays of indices", "(4, 6)"),
        (layout, lambda: scatter(places, places), "index 4 lies outside dimension 0", "0 to 3"),
        (mismatch, lambda: scatter(vector, places), "float64", "give integers"),
    ]:
        raises_everywhere(comm, error, call, *words)
    if comm.size > 1:  # one process alone is wrong
        call = lambda: lib.run("reduce", a, 0, mask=a if comm.rank == 1 else true)  # noqa: E731
        raises_everywhere(comm, mismatch, call, "mask holds float64", "process 1")
