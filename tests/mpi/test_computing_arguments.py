# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of NumPy's functions by name and by place, and values that an array cannot hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks
from test_computing import check

import hocket as hk

X = np.array([[3.0, -1.0, 2.5, 0.0], [0.5, np.nan, -2.0, 4.0], [1.0, 1.0, -0.5, 9.0]])

#: of an array and a mask
CALLS: dict[str, Any] = {
    "max by place": lambda x, m: np.max(x, 0, None, True),
    "any by place": lambda x, m: np.any(m, 1, None, True),
    "out by place": lambda x, m: np.min(x, 0, np.zeros_like(x[0])),
    "bincount of nothing": lambda x, m: np.bincount(x[0, :0].astype(int), weights=x[0, :0]),
    "fix of NumPy's": lambda x, m: np.fix(np.full((3, 4), -1.5), out=np.zeros_like(x)),
    "flip": lambda x, m: np.flip(m=x, axis=1) * 1,
    "prototype": lambda x, m: np.zeros_like(np.empty_like(prototype=x, dtype="f4")),
    "array_equal": lambda x, m: np.array_equal(a1=x, a2=x, equal_nan=True),
    "unique": lambda x, m: np.unique(ar=m, return_counts=True),
    "broadcast_to": lambda x, m: np.broadcast_to(array=x, shape=(2, 3, 4)),
    "val": lambda x, m: np.real(val=x),
    "nanmax by place": lambda x, m: np.nanmax(x, 1, None, True),
    "defaults": lambda x, m: np.copy(np.zeros_like(x, None, "K", True), "K"),
    "clip by element": lambda x, m: np.clip(x, 0, 2, out=x.copy(), where=m),
    "clip in float32": lambda x, m: np.clip(x.astype("f4"), 0, 2, dtype="f8"),
    "clip of a number": lambda x, m: np.clip(1, x, 2 * x),
    "take of truths": lambda x, m: np.take(x, [True, False], 1),
    "size": lambda x, m: np.asarray(np.size(x, (0, 1)) if np.__version__ >= "2.4" else 12),
    "order A": lambda x, m: x.reshape((2, 6), order="A"),
    "stack": lambda x, m: np.stack([x, m], dtype="f4", casting="same_kind"),
    "hstack": lambda x, m: np.hstack([x, x], dtype="i4", casting="unsafe")[:, :1],
    "item from the end": lambda x, m: np.asarray(x.item(-1)),
    "percentile": lambda x, m: np.percentile(x[0], np.float32(0.7)),
    "other byte order": lambda x, m: np.max(x.astype(">f8")[:0], initial=2.5),
    "padded": lambda x, m: np.pad(x.astype(">i4")[:, :1], 1),
    "texts": lambda x, m: np.zeros_like(m.astype("S3")) != m.astype("S3"),
    "histogram": lambda x, m: np.histogram(np.nan_to_num(x), 2, weights=m.astype(">f4"))[0] * 1,
    "dates": lambda x, m: np.zeros_like(m.astype("M8[s]")).astype("i8"),
}


@pytest.mark.filterwarnings("ignore")
@ranks(1, 3)
def test_arguments_are_those_of_numpy(comm: Any) -> None:
    lay = hk.Layout(X.shape, "(BLOCK, *)", comm.size)
    x, m = (hk.scatter(each, lay, comm) for each in (X, X > 0))
    for name, call in CALLS.items():
        with np.errstate(all="ignore"):
            check(call(x, m), call(X, X > 0), name)


@ranks(2)
def test_what_an_array_cannot_hold_is_refused(comm: Any) -> None:
    lay = hk.Layout((4,), "(BLOCK)", 2)
    a, mask = hk.ones(lay, "i1", comm), hk.full(lay, True, comm=comm)
    for call in (
        lambda: np.putmask(a, mask, 300),
        lambda: np.copyto(a, 300, where=mask),
        lambda: np.pad(a, 1, constant_values=300),
    ):
        raises_everywhere(comm, hk.Error, call, "300", "int8")
    for reduction in (np.sum, np.max):
        for initial, word in ((1j, "complex"), (np.nan, "NaN"), (1e300, "1e+300")):
            call = lambda r=reduction, start=initial: r(a, initial=start)  # noqa: E731
            raises_everywhere(comm, hk.Error, call, word)
    total = hk.zeros(hk.Layout((), "()"), ">f4", comm)
    big = hk.full(lay, 2**62, "i8", comm)
    assert np.sum(big, out=total)[()] == 2.0**64  # computed as out's floating-point numbers
    raises_everywhere(comm, hk.MismatchError, lambda: np.var(a, ddof=1j), "1j")
    for call in (
        lambda: np.sum(a, dtype=object),
        lambda: np.cumsum(a, dtype=object),
        lambda: hk.map_blocks(lambda x: x.astype(object) if comm.rank else x, a),
    ):
        raises_everywhere(comm, hk.Error, call, "Python objects")
    raises_everywhere(comm, TypeError, lambda: np.nanmedian(a, 0), "axis")
    raises_everywhere(comm, hk.LayoutError, lambda: np.linalg.outer(mask, 2), "np.outer")
    assert (a == 1).all()


@ranks(2)
def test_refusals_do_not_depend_on_a_process_s_elements(comm: Any) -> None:
    """One process has no elements, or its elements in order, and refuses as the other does."""
    one = hk.zeros(hk.Layout((1,), "(BLOCK)", 2), "i4, f8", comm)
    raises_everywhere(comm, hk.Error, lambda: np.argmax(one), "order")
    raises_everywhere(comm, hk.Error, lambda: np.fft.fft(one["f1"], norm="bad"), "'ortho'")
    listed = hk.zeros(hk.Layout.elements((2, 2), [[0], [3, 1, 2]]), comm=comm)
    raises_everywhere(comm, hk.Error, lambda: np.add(listed, 1, out=listed.T), "read-only")
    assert hk.replicated(listed).sum() == 0
    # Only process 0 overflows; its own error is NumPy's.
    large = hk.ones(hk.Layout((8, 2), "(BLOCK, *)", comm.size), comm=comm)
    large[:4] = 1e200
    assert np.prod(hk.ones(large.layout, comm=comm)) == 1  # later calls are shorter
    overflow = (FloatingPointError, hk.Error)[comm.rank > 0]
    for call in (np.prod, np.prod, lambda x: np.prod(x, 0), lambda x: np.sum(x, dtype="f2")):
        with np.errstate(over="raise"):
            raises_everywhere(comm, overflow, lambda call=call: call(large), "overflow")
    assert np.sum(large[4:]) == 8

    # Ctrl-C on process 1, which makes no call of MPI until the others have ended theirs.
    def stopped(block: Any) -> Any:
        if comm.rank == 1:
            raise KeyboardInterrupt
        return block

    with pytest.raises((hk.Error, KeyboardInterrupt)[comm.rank], match=("Ctrl-C", "")[comm.rank]):
        hk.map_blocks(stopped, large)
    assert np.sum(large[4:]) == 8


@ranks(3)
def test_processes_without_elements_take_part(comm: Any) -> None:
    a = hk.arange(hk.Layout((3, 3), "(BLOCK, *)", 2), comm=comm)
    assert np.einsum("ij,ji", a, a) == 180  # a number on all processes, also on the third
    raises_everywhere(comm, hk.Error, lambda: np.lcm.reduce(a, axis=None), "one axis")
    raises_everywhere(comm, TypeError, lambda: np.nanmedian(a, keepdims=True), "keepdims")
    assert np.einsum("i,i", a[0], a[:, 0]) == 15
    raises_everywhere(comm, hk.Error, lambda: np.vecdot(a.astype("m8[s]"), a), "timedelta64")


@ranks(1, 2, 3)
def test_a_field_of_structured_elements(comm: Any) -> None:
    whole = np.zeros(7, [("a", "i4"), ("b", "f8")])
    whole["a"], whole["b"] = np.arange(7), np.arange(7) / 4
    a = hk.scatter(whole, hk.Layout(7, "(CYCLIC(3))", comm.size), comm)
    check(a["b"] * 2, whole["b"] * 2, "a field")
    np.testing.assert_array_equal(hk.replicated(hk.map_blocks(np.copy, a)), whole)
    part = a[1:6:2]  # on some processes no view
    part["a"] = 9
    whole[1:6:2]["a"] = 9
    np.testing.assert_array_equal(hk.replicated(a), whole)
    b = hk.scatter(
        whole, hk.Layout(7, "(GEN_BLOCK(" + "7, 0, 0"[: 3 * comm.size - 2] + "))", comm.size), comm
    )
    b["a"][1:] = b["b"][:-1]  # one memory, of which some processes have nothing
    whole["a"][1:] = whole["b"][:-1]
    np.testing.assert_array_equal(hk.replicated(b), whole)
    raises_everywhere(comm, hk.LayoutError, lambda: a["c"], "'c'")


@ranks(1, 4)
def test_what_the_ends_get_is_a_value_of_the_array(comm: Any) -> None:
    a = hk.zeros(hk.Layout(6, "(BLOCK)", comm.size), "u1", comm)
    for fill, words in ((300, "300"), (-1, "-1"), (1j, "1j"), (np.array([1]), "shape")):
        raises_everywhere(comm, hk.Error, lambda fill=fill: hk.eoshift(a, 1, fill=fill), words)
    check(hk.eoshift(a, -2, fill=np.array(9)), np.array([9, 9, 0, 0, 0, 0], "u1"), "fill")


@ranks(4)
def test_the_other_byte_order_on_processes_without_elements(comm: Any) -> None:
    whole = np.arange(16).reshape(2, 8).astype(">i4")
    a = hk.scatter(whole, hk.Layout((2, 8), "(BLOCK, *)", 4), comm)
    for function in (np.max, np.min, np.sum, np.prod):
        check(function(a, axis=0), function(whole, axis=0), function.__name__)
    check(np.add.reduce(a, axis=0, dtype="f8"), whole.sum(axis=0, dtype="f8"), "another size")
    one = hk.full(hk.Layout((), "()"), 2.5, ">f8", comm)
    assert hk.replicated(np.round(one)) == 2


@ranks(1, 2)
def test_parameters_of_one_process_are_refused_on_all(comm):
    v = hk.arange(hk.Layout(4, "(BLOCK)", comm.size), "float64", comm)
    for call, right in ((np.histogram, 3), (np.quantile, 0.5), (np.percentile, 50.0)):
        raises_everywhere(comm, TypeError, lambda call=call: call(v, v), "hk.replicated")
        for wrong in (v, "auto") if call is np.histogram else (v,):
            last = comm.rank == comm.size - 1
            error = TypeError if last else hk.Error
            mixed = wrong if last else right
            words = "'auto'" if isinstance(wrong, str) else "hk.replicated"
            raises_everywhere(comm, error, lambda call=call, mixed=mixed: call(v, mixed), words)
    text = np.array("a")
    for index in ((np.array([0]),), slice(0, 1), v < 1, (np.array([0]), ...)):
        raises_everywhere(comm, hk.Error, lambda index=index: v.__setitem__(index, text), "float64")
    of_text = hk.wrap(np.full(v.local.shape, "a"), v.layout, comm)
    for_each = np.arange(4)
    with pytest.raises((hk.Error, ValueError)):
        v[for_each] = of_text
    np.testing.assert_array_equal(hk.replicated(v), range(4))


@ranks(2)
def test_weights_of_a_histogram_have_one_dtype(comm):
    v = hk.arange(hk.Layout(4, "(BLOCK)", 2), "float64", comm)
    weights = np.ones(4, "f4" if comm.rank else "f8")
    raises_everywhere(
        comm, hk.Error, lambda: np.histogram(v, 3, weights=weights), "np.histogram", "float32"
    )
    raises_everywhere(comm, hk.Error, lambda: np.histogram(v, 3 + comm.rank), "np.histogram")
