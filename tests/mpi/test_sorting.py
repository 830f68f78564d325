# SPDX-License-Identifier: BSD-3-Clause
"""Sorts of distributed arrays: NumPy's stable order to the bit, and even parts of any values."""

from __future__ import annotations

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk

#: equal and yet different: zeros with signs, NaN with signs and payloads
PECULIAR = np.array(
    [0.0, -0.0, 1.5, np.inf, -np.inf, *np.array([0x7FF8 << 48, 0xFFF8 << 48], "u8").view("f8")]
)


def values(kind, count, dtype, rng):
    """Numbers of a kind, which the dtype can hold."""
    dtype = np.dtype(dtype)
    if kind == "bits":
        found = rng.integers(0, 256, count * dtype.itemsize, np.uint8)
        return found % 2 == 0 if dtype.kind == "b" else found.view(dtype)
    if kind == "equal":
        return np.ones(count, dtype)
    if kind == "few":
        return rng.integers(0, 3, count).astype(dtype)
    if kind == "peculiar" and dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            return rng.choice(PECULIAR, count).astype(dtype)
    return (rng.normal(size=count) * 100).astype("i8").astype(dtype)


def layouts(count, size):
    """In rank order, interleaved, all on one process, and with copies."""
    yield hk.Layout(count, "(BALANCED)", size)
    yield hk.Layout(count, [hk.gen_block([0] * (size - 1) + [count])], size)
    yield hk.Layout(count, "(CYCLIC(3))", size)
    yield hk.Layout(count, "(*)", size, replicate=(0,))


@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "f2", ">f8", "i8", "u8", "i4", "i2", "u1", "?", "c16"]
)
@ranks(1, 2, 3, 4)
def test_a_sort_is_numpys_stable_one_to_the_bit(comm, monkeypatch, dtype):
    from hocket.computing import rounds

    monkeypatch.setattr(rounds, "PANEL", 40_000)  # the longest lines take rounds
    rng = np.random.default_rng([11, np.dtype(dtype).itemsize])
    for count in (0, comm.size, 70, 2500):
        for kind in ("bits", "equal", "few", "peculiar", "normal"):
            x = values(kind, count, dtype, rng)
            expected, order = np.sort(x, kind="stable"), np.argsort(x, kind="stable")
            for layout in layouts(count, comm.size):
                what = f"{count} {kind} {dtype} in {layout}"
                a = hk.wrap(x[layout.global_indices(comm.rank)[0]], layout, comm)
                found = np.sort(a)
                assert found.layout == layout and found.dtype == x.dtype, what
                assert hk.replicated(found).tobytes() == expected.tobytes(), what
                np.testing.assert_array_equal(hk.replicated(np.argsort(a)), order, what)


@pytest.mark.parametrize("axis", [0, 1])
@ranks(1, 3)
def test_lines_are_sorted_stably_to_the_bit(comm, axis):
    rng = np.random.default_rng(12)
    for kind in ("few", "peculiar", "normal"):
        x = values(kind, 60 * 50, "f8", rng).reshape(60, 50)
        layout = hk.Layout(x.shape, "(BLOCK, *)", comm.size)
        a = hk.scatter(x, layout, comm)
        found = hk.replicated(np.sort(a, axis))
        assert found.tobytes() == np.sort(x, axis, kind="stable").tobytes()
        order = hk.replicated(np.argsort(a, axis))
        np.testing.assert_array_equal(order, np.argsort(x, axis, kind="stable"))


@ranks(2, 4)
def test_rows_are_divided_exactly_and_equal_ones_by_process(comm):
    from hocket.computing.dividing import divide

    rng = np.random.default_rng(13)
    for case in range(24):
        counts = rng.integers(0, [3, 40, 400][case % 3], comm.size) * (rng.random(comm.size) < 0.9)
        kinds = [2, 30, 10**6]  # mostly equal, some, hardly any
        whole = [
            np.sort(rng.integers(0, kinds[case // 3 % 3], (count, 2)).astype(float), axis=0)
            for count in counts
        ]
        if case % 4 == 0:
            for part in whole:
                part[len(part) // 2 :, :1] = np.nan
        rows = [part[np.lexsort((part[:, 1], part[:, 0]))] for part in whole]
        mine = rows[comm.rank]
        wanted = np.sort(rng.integers(0, counts.sum() + 1, 3))
        everything = np.concatenate(rows)
        process = np.repeat(np.arange(comm.size), counts)
        order = np.lexsort((process, everything[:, 1], everything[:, 0]))
        cuts = divide(comm, [mine[:, 0], mine[:, 1]], counts, wanted)
        for k, each in enumerate(wanted):
            expected = np.bincount(process[order[:each]], minlength=comm.size)
            np.testing.assert_array_equal(cuts[:, k], expected, f"{case}: {counts}, {each}")
        cuts = divide(comm, [mine[:, 0], mine[:, 1]], counts, wanted, together=True)
        for k, each in enumerate(wanted):
            before = np.concatenate([part[:cut] for part, cut in zip(rows, cuts[:, k])])
            after = np.concatenate([part[cut:] for part, cut in zip(rows, cuts[:, k])])
            equals = {tuple(map(str, row)) for row in before} & {
                tuple(map(str, row)) for row in after
            }
            assert len(before) <= each and not equals, f"{case}: {counts}, {each}"


@ranks(2, 3)
def test_many_cuts_take_rounds_of_few_keys(comm, monkeypatch):
    from hocket.computing import dividing

    asked, places = [], dividing.places

    def counting(keys, wanted):
        asked.append(len(wanted[0]))
        return places(keys, wanted)

    monkeypatch.setattr(dividing, "places", counting)
    parts = np.random.default_rng(15).integers(0, 10**6, (comm.size, 5000))
    parts.sort(axis=1)
    order = np.argsort(parts, axis=None, kind="stable") // 5000
    for count, most in ((1, 128), (40, 2048), (3000, 3000)):
        wanted = np.linspace(1, parts.size - 1, count).astype(int)
        asked.clear()
        counts = np.full(comm.size, 5000)
        cuts = dividing.divide(comm, [parts[comm.rank]], counts, wanted)
        for process in range(comm.size):
            before = np.cumsum(order == process)[wanted - 1]
            np.testing.assert_array_equal(cuts[process], before)
        assert 0 < max(asked) <= most, count


@ranks(4)
def test_a_sort_never_gathers_equal_elements_on_one_process(comm):
    from hocket.computing.dividing import divide

    wanted = np.array([1000, 2000, 3000])
    cuts = divide(comm, [np.zeros(1000)], np.full(comm.size, 1000), wanted)
    np.testing.assert_array_equal(cuts.sum(axis=0), wanted)
    np.testing.assert_array_equal(cuts[comm.rank], np.clip(wanted - 1000 * comm.rank, 0, 1000))


@ranks(2, 3)
def test_the_values_of_unique_are_numpys_to_the_bit(comm):
    nan = np.nan
    x = np.array([complex(nan, nan)] * 2 + [0, complex(1, nan), complex(nan, 1), complex(2, 0)])
    signed = np.random.default_rng(14).choice(PECULIAR, 40)
    cases = [(each, layout) for each in (x, signed) for layout in layouts(len(each), comm.size)]
    for x, layout in cases:
        a = hk.wrap(x[layout.global_indices(comm.rank)[0]], layout, comm)
        found = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
        expected = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for one, other in zip(found, expected):
            one = hk.replicated(one)
            assert one.shape == other.shape and one.tobytes() == other.tobytes(), layout
        distinct = np.unique(x, equal_nan=False, return_index=True)
        for one, other in zip(np.unique(a, equal_nan=False, return_index=True), distinct):
            assert hk.replicated(one).tobytes() == other.tobytes(), layout
    pairs = np.array([(k % 3, k % 2) for k in range(8)], "i4,f8")
    for layout in layouts(len(pairs), comm.size):
        mine = pairs[layout.global_indices(comm.rank)[0]]
        found = hk.replicated(np.unique(hk.wrap(mine, layout, comm)))
        assert found.tolist() == np.unique(pairs).tolist(), layout


@pytest.mark.parametrize("dtype", ["f4", "M8[s]", "m8[s]", "c16", "i4", "S3"])
def test_second_keys_are_found_as_searchsorted_finds_them(dtype):
    from hocket.computing.dividing import search

    rng = np.random.default_rng(14)
    numbers = rng.integers(-20, 20, 60)
    key = numbers.astype(dtype)
    missing = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}.get(key.dtype.kind)
    if missing is not None:
        key[::5] = np.array(missing, dtype)
    values = rng.choice(key, 200)
    begins = rng.integers(0, 60, 200)
    ends = np.minimum(begins + rng.integers(0, 30, 200), 60)
    for begin, end in ((0, 20), (20, 40), (40, 60)):  # runs, within which the parts are
        key[begin:end].sort()
        ends[(begins >= begin) & (begins < end)] = np.minimum(
            ends[(begins >= begin) & (begins < end)], end
        )
    for side in ("left", "right"):
        expected = [
            begin + np.searchsorted(key[begin:end], value, side)
            for begin, end, value in zip(begins, ends, values)
        ]
        np.testing.assert_array_equal(search(key, begins, ends, values, side), expected)


@ranks(1, 3)
def test_terms_that_numpy_refuses(comm):
    a = hk.arange(hk.Layout(8, "(BLOCK)", comm.size), comm=comm)
    for call in (
        lambda: np.sort(a, kind="x" if comm.rank == 0 else None),
        lambda: np.argsort(a, kind="x"),
        lambda: a.sort(kind="x"),
        lambda: a.argsort(kind="x"),
        lambda: np.partition(a, 8),
        lambda: np.partition(a, "x"),
        lambda: np.argpartition(a, 2, kind="x"),
    ):
        raises_everywhere(comm, hk.Error, call)
    for kind in ("quicksort", "heapsort", "stable", None):
        assert np.array_equal(hk.replicated(np.sort(-a, kind=kind)), np.arange(-7, 1))
    assert np.array_equal(hk.replicated(np.partition(-a, (1, -1))), np.arange(-7, 1))
