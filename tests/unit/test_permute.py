# SPDX-License-Identifier: BSD-3-Clause
"""Local permutations against numpy.transpose, and the cycles that the paper prints."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk
from examples import examples
from hocket import kernels

METHODS = ("auto", "cycles", "slab", "square", "tiles", "panels")
SCHEDULES = (
    "auto",
    "static",
    "static,balanced",
    "guided",
    "guided,2",
    "dynamic",
    "dynamic,3",
    "dynamic,largest",
    "dynamic,2,largest",
    "affinity",
    "affinity,1",
)
DTYPES = (
    "i1",
    "<f4",
    "f8",
    "c16",
    "S3",
    "V7",
    "M8[s]",
    ">i2",
    [("a", "i1"), ("b", "f8")],
    [("rgb", "u1", (3,))],
)
GUARD = 64


def filled(shape, dtype, seed=0):
    """Random bytes as an array: compared as bytes, so that NaNs and padding count too."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64))
    random = np.random.default_rng(seed).integers(0, 256, size * dtype.itemsize, np.uint8)
    return np.frombuffer(random.tobytes(), dtype).reshape(shape).copy()


def guarded(array):
    """The array's contents in the middle of a larger memory, and that memory."""
    memory = np.full(array.nbytes + 2 * GUARD, 0xA5, np.uint8)
    inside = memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
    inside[...] = array
    return inside, memory


def same_bytes(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@st.composite
def permutations(draw, most=6000):
    rank = draw(st.integers(0, 7))
    room, shape = most, []
    for _ in range(rank):
        extent = draw(st.integers(0 if draw(st.integers(0, 20)) == 0 else 1, max(1, min(room, 50))))
        shape.append(extent)
        room //= max(extent, 1)
    return tuple(shape), tuple(draw(st.permutations(range(rank))))


@settings(max_examples=examples(200), deadline=None)
@given(
    case=permutations(),
    dtype=st.sampled_from(DTYPES),
    steps=st.integers(-2, 3).filter(bool),
    threads=st.integers(1, 4),
    schedule=st.sampled_from([s for s in SCHEDULES if "balanced" not in s]),
)
def test_permute_is_numpy_transpose(case, dtype, steps, threads, schedule):
    shape, axes = case
    whole = filled(tuple(abs(steps) * extent for extent in shape), dtype)
    x = whole[tuple(slice(None, None, steps) for _ in shape)]
    expected = np.ascontiguousarray(np.transpose(x, axes)).reshape(np.transpose(x, axes).shape)
    found = kernels.permute(x, axes, threads=threads, schedule=schedule)
    assert same_bytes(found, expected)
    wide = np.empty((*expected.shape, 2), x.dtype)
    out = wide[..., 1]
    assert kernels.permute(x, axes, out=out, threads=threads) is out
    assert same_bytes(out, expected)


@settings(max_examples=examples(300), deadline=None)
@given(
    case=permutations(),
    dtype=st.sampled_from(DTYPES),
    threads=st.integers(1, 4),
    schedule=st.sampled_from(SCHEDULES),
    method=st.sampled_from(METHODS),
)
def test_permute_inplace_is_numpy_transpose(case, dtype, threads, schedule, method):
    shape, axes = case
    x, memory = guarded(filled(shape, dtype))
    before = memory.copy()
    expected = np.transpose(x, axes).copy()
    try:
        y = kernels.permute_inplace(x, axes, threads=threads, schedule=schedule, method=method)
    except hk.Error as error:
        assert method not in ("auto", "cycles"), error
        assert "does not apply" in str(error)
        assert (memory == before).all()
        return
    assert same_bytes(y, expected)
    assert y.size == 0 or np.shares_memory(y, memory)
    assert (memory[:GUARD] == 0xA5).all() and (memory[GUARD + x.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_small_shape_in_place(method):
    applied = 0
    for shape in itertools.chain(
        itertools.product(range(1, 14), repeat=2),
        itertools.product(range(1, 5), repeat=3),
        itertools.product((1, 2, 3), repeat=4),
    ):
        for axes in itertools.permutations(range(len(shape))):
            x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
            expected = np.transpose(x, axes).copy()
            try:
                y = kernels.permute_inplace(x, axes, threads=2, method=method)
            except hk.Error:
                assert method in ("square", "tiles", "panels")
                assert (x.ravel() == np.arange(x.size)).all()
                continue
            applied += 1
            assert same_bytes(y, expected), (shape, axes)
    assert applied > 100


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        ((2048, 2048), (1, 0), "f8"),
        ((3000, 4000), (1, 0), "f4"),
        ((1999, 2003), (1, 0), "f8"),
        ((200003, 13), (1, 0), "f8"),
        ((11, 150001), (1, 0), "c16"),
        ((150, 130, 140), (2, 1, 0), "f8"),
        ((61, 53, 59, 7), (3, 1, 0, 2), "f4"),
        ((128, 512, 64), (1, 0, 2), "f8"),
        ((3, 2, 400000), (1, 0, 2), "f8"),
        ((40, 512, 90), (0, 2, 1), "f8"),
        ((30, 70, 50), (0, 2, 1), "V72"),
        ((1500, 1500), (1, 0), "V24"),
    ],
)
def test_large_arrays_in_place(shape, axes, dtype):
    for threads in (1, 2):
        x, memory = guarded(filled(shape, dtype, seed=threads))
        expected = np.transpose(x, axes).copy()
        assert same_bytes(kernels.permute_inplace(x, axes, threads=threads), expected)
        assert (memory[:GUARD] == 0xA5).all() and (memory[GUARD + x.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("offset", [0, 3, 4, 8, 16, 48, 60])
@pytest.mark.parametrize(
    ("dtype", "side"), [("u1", 2048), ("f4", 1100), ("f8", 512), ("c16", 1024)]
)
def test_arrays_that_begin_anywhere_in_a_cache_line(dtype, side, offset):
    """Blocks and tiles are cut where lines begin: where that is depends on the address."""

    def placed(shape):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = np.full(size + 256, 0xA5, np.uint8)
        first = (offset - memory.ctypes.data) % 64 + 64
        return memory[first : first + size].view(dtype).reshape(shape), memory, first, size

    for shape in ((side, side), (side, 1200), (8 * side, 72)):
        x, memory, first, size = placed(shape)
        x[...] = filled(shape, dtype, seed=offset)
        expected = np.transpose(x).copy()
        out, around, begin, _ = placed(shape[::-1])
        for threads in (1, 2):
            out.view(np.uint8).fill(0)
            kernels.permute(x, (1, 0), out=out, threads=threads)
            assert same_bytes(out, expected)
        assert (around[:begin] == 0xA5).all() and (around[begin + size :] == 0xA5).all()
        assert same_bytes(kernels.permute_inplace(x, (1, 0), threads=2), expected)
        assert (memory[:first] == 0xA5).all() and (memory[first + size :] == 0xA5).all()


LEVELS = """
    import numpy as np
    from hocket import kernels

    random = np.random.default_rng(7)
    short = (5, 4, 6, 3, 7, 4)
    shapes = ((37, 53), (129, 130), (200, 200), (520, 520), (5, 70, 33), (6, 7, 8, 9), short)
    for size in (1, 2, 3, 4, 8, 12, 16, 24, 64):
        for shape in shapes:
            x = np.frombuffer(random.bytes(int(np.prod(shape)) * size), f"V{size}").reshape(shape)
            for axes in (tuple(reversed(range(x.ndim))), (1, 0, *range(2, x.ndim))):
                expected = np.transpose(x, axes).tobytes()
                assert kernels.permute(x, axes).tobytes() == expected, (size, shape, axes)
                found = kernels.permute_inplace(x.copy(), axes)
                assert found.tobytes() == expected, (size, shape, axes)
    print("right")
"""


@pytest.mark.parametrize("level", ["portable", "avx2", "avx512"])
def test_kernels_of_every_processor(level):
    """The kernels without AVX-512, or without AVX2; a level above the processor's changes
    nothing."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LEVELS)],
        capture_output=True,
        text=True,
        env=dict(os.environ, HOCKET_CPU=level),
        timeout=300,
    )
    assert done.stdout == "right\n", done.stderr


def test_a_processor_that_there_is_not():
    script = "import numpy as np, hocket as hk; hk.permute(np.ones((64, 64)), (1, 0))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=dict(os.environ, HOCKET_CPU="mmx"),
        timeout=300,
    )
    assert "HOCKET_CPU is 'mmx'; set it to portable, avx2 or avx512" in done.stderr


def test_two_array_method_with_and_without_copy_back():
    x = filled((12, 30, 40), "f8")
    expected = x.transpose(1, 0, 2).copy()
    out = np.empty_like(expected)
    assert kernels.permute_two_arrays(x, (1, 0, 2), out, schedule="affinity", threads=2) is out
    assert same_bytes(out, expected)
    y = kernels.permute_two_arrays(x, (1, 0, 2), out, copy_back=True, schedule="dynamic,2")
    assert same_bytes(y, expected) and np.shares_memory(y, x)


def test_cycles_are_those_of_the_paper():
    assert kernels.cycle_path((2, 3), (1, 0), 1) == [1, 3, 4, 2, 1]
    shape, axes = (2, 3, 4), (2, 0, 1)
    assert kernels.cycle_path(shape, axes, 1) == [1, 4, 16, 18, 3, 12, 2, 8, 9, 13, 6, 1]
    assert kernels.cycle_path(shape, axes, 5) == [5, 20, 11, 21, 15, 14, 10, 17, 22, 19, 7, 5]
    assert kernels.cycles(shape, axes) == [(1, 11), (5, 11)]
    for shape, count, lengths in [
        ((128, 512, 64), 4114, {16: 4080, 8: 30, 4: 3, 2: 1}),
        ((256, 1024, 16), 29140, None),
        ((500, 1000, 8), 132, None),
        ((25, 100, 32), 42, None),
    ]:
        found = kernels.cycles(shape, (1, 0, 2))
        assert len(found) == count and found == sorted(found)
        counted: dict[int, int] = {}
        for _, length in found:
            counted[length] = counted.get(length, 0) + 1
        if lengths is not None:
            assert counted == lengths
        assert (
            set(counted)
            == {
                4114: {16, 8, 4, 2},
                29140: {9, 3},
                132: {8890, 1778, 70, 14, 5},
                42: {168, 24, 21, 8, 3},
            }[count]
        )


def block_that_moves(shape, axes):
    """Elements in trailing dimensions that stay last, extents of 1 aside."""
    kept = [d for d in range(len(shape)) if shape[d] != 1]
    order = [d for d in axes if shape[d] != 1]
    block = 1
    while kept and kept[-1] == order[-1]:
        block *= shape[kept.pop()]
        order.pop()
    return block


@settings(max_examples=examples(200), deadline=None)
@given(case=permutations(most=800))
def test_cycles_put_every_block_in_its_place(case):
    shape, axes = case
    size = int(np.prod(shape, dtype=np.int64))
    if size == 0:
        assert kernels.cycles(shape, axes) == []
        return
    block = block_that_moves(shape, axes)
    source = np.transpose(np.arange(size).reshape(shape), axes).ravel()[::block] // block
    moved = set()
    found = kernels.cycles(shape, axes)
    for start, length in found:
        path = kernels.cycle_path(shape, axes, start)
        assert path[0] == path[-1] == start == min(path)
        assert len(path) - 1 == len(set(path)) == length > 1
        assert all(source[vacancy] == following for vacancy, following in zip(path, path[1:]))
        assert not moved & set(path)
        moved |= set(path)
    assert found == sorted(found)
    assert moved == set(np.flatnonzero(source != np.arange(len(source))).tolist())


def test_explain_names_every_pass():
    text = kernels.explain_permute((4000, 3000), (1, 0), 8, threads=1)
    assert "tiles" in text and "cycles" in text and "total cost" in text
    assert "panels" in kernels.explain_permute((100000, 100), (1, 0), 8, threads=1)
    assert "1 of 4001 rows" in kernels.explain_permute((4001, 3000), (1, 0), 24, threads=1)
    assert "squares" in kernels.explain_permute((4096, 4096), (1, 0))
    assert "nothing moves" in kernels.explain_permute((5, 6), (0, 1))
    with pytest.raises(hk.Error, match="cap"):
        kernels.explain_permute((4000, 3000), (1, 0), cap=0)


class TestBadInput:
    """Errors before the first element moves."""

    @pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (0, 1, 2), (-3, 0), (), "01", (0.5, 1)])
    def test_axes_that_are_no_permutation(self, axes):
        x = np.arange(6.0).reshape(2, 3)
        for call in (kernels.permute, kernels.permute_inplace):
            with pytest.raises(hk.LayoutError, match="axes"):
                call(x, axes)
        with pytest.raises(hk.LayoutError, match="axes"):
            kernels.cycles((2, 3), axes)
        assert (x.ravel() == np.arange(6.0)).all()

    def test_negative_axes_count_from_the_end(self):
        x = np.arange(24).reshape(2, 3, 4)
        assert (kernels.permute(x, (-1, 0, 1)) == x.transpose(-1, 0, 1)).all()

    def test_read_only(self):
        x = np.arange(6.0).reshape(2, 3)
        x.flags.writeable = False
        with pytest.raises(hk.Error, match="read-only"):
            kernels.permute_inplace(x, (1, 0))
        out = np.empty((3, 2))
        out.flags.writeable = False
        with pytest.raises(hk.Error, match="read-only"):
            kernels.permute(x, (1, 0), out=out)

    @pytest.mark.parametrize("index", [np.s_[::2], np.s_[:, ::-1], np.s_[:, 1:]])
    def test_not_contiguous_in_place(self, index):
        x = np.arange(40.0).reshape(4, 10)
        with pytest.raises(hk.Error, match="not C-contiguous"):
            kernels.permute_inplace(x[index], (1, 0))
        with pytest.raises(hk.Error, match="not C-contiguous"):
            kernels.permute_inplace(x.T, (1, 0))
        with pytest.raises(hk.Error, match="NumPy array"):
            kernels.permute_inplace([[1, 2]], (1, 0))
        assert (x.ravel() == np.arange(40.0)).all()

    def test_out_that_overlaps(self):
        memory = np.arange(100.0)
        x = memory[:60].reshape(6, 10)
        for out in (memory[40:].reshape(10, 6), x.reshape(10, 6), memory[:60].reshape(10, 6)[::-1]):
            with pytest.raises(hk.Error, match="overlaps"):
                kernels.permute(x, (1, 0), out=out)
        repeated = np.lib.stride_tricks.as_strided(np.zeros(6), (10, 6), (0, 8))
        with pytest.raises(hk.Error, match="overlap each other"):
            kernels.permute(x, (1, 0), out=repeated)
        assert (memory == np.arange(100.0)).all()

    def test_out_between_the_elements_of_x(self):
        memory = np.arange(96.0)
        pairs = memory.reshape(6, 8, 2)
        evens, odds = pairs[..., 0], pairs[..., 1]
        expected = evens.T.copy()
        assert (kernels.permute(evens, (1, 0), out=odds.reshape(6, 8).T) == expected).all()
        assert (expected == evens.T).all()

    def test_out_that_does_not_fit(self):
        x = np.arange(6.0).reshape(2, 3)
        for out in (np.empty((2, 3)), np.empty((3, 2), "f4"), np.empty(6)):
            with pytest.raises(hk.MismatchError, match="permuted array is float64"):
                kernels.permute(x, (1, 0), out=out)
        with pytest.raises(hk.Error, match="NumPy array"):
            kernels.permute(x, (1, 0), out=[[0.0]])

    def test_dtypes_with_objects(self):
        for dtype in (object, [("a", object), ("b", "f8")]):
            x = np.zeros((2, 3), dtype)
            for call in (kernels.permute, kernels.permute_inplace):
                with pytest.raises(hk.Error, match="Python objects"):
                    call(x, (1, 0))

    def test_a_cap_too_small(self):
        x = np.arange(12_000_000.0).reshape(4000, 3000)
        with pytest.raises(hk.Error, match=r"needs \d+ bytes .* may use 1000"):
            kernels.permute_inplace(x, (1, 0), cap=1000)
        with pytest.raises(hk.Error, match="may use 4096"):
            kernels.permute_inplace(x, (1, 0), method="slab", cap=4096)
        assert (x.ravel() == np.arange(12_000_000.0)).all()

    @pytest.mark.parametrize(
        ("keyword", "value"),
        [
            ("method", "cycle"),
            ("method", 3),
            ("schedule", "dynamic,0"),
            ("schedule", "static,2"),
            ("schedule", None),
            ("schedule", "static\0"),
            ("method", "auto\0"),
            ("threads", -1),
            ("threads", 0),
            ("threads", 1.5),
            ("cap", -1),
        ],
    )
    def test_wrong_words(self, keyword, value):
        x = np.arange(6.0).reshape(2, 3)
        with pytest.raises(hk.Error):
            kernels.permute_inplace(x, (1, 0), **{keyword: value})
        assert (x.ravel() == np.arange(6.0)).all()

    def test_masked_arrays_and_what_is_no_array(self):
        with pytest.raises(hk.Error, match="masked"):
            kernels.permute(np.ma.zeros((2, 3)), (1, 0))
        out = np.ma.ones((3, 2))
        with pytest.raises(hk.Error, match="out is a masked"):
            kernels.permute(np.zeros((2, 3)), (1, 0), out=out)
        assert (out.data == 1).all()
        with pytest.raises(hk.Error, match="x is no array"):
            kernels.permute([[1, 2], [3]], (1, 0))

    def test_places_that_are_not_there(self):
        for start in (-1, 6):
            with pytest.raises(hk.LayoutError, match="no position"):
                kernels.cycle_path((2, 3), (1, 0), start)
        with pytest.raises(hk.LayoutError, match="has none"):
            kernels.cycle_path((2, 0), (1, 0), 0)


PEAK = """
    import resource, sys
    import numpy as np
    from hocket import kernels

    shape, axes, threads = {shape}, {axes}, {threads}
    kernels.permute_inplace(np.zeros((300, 200)), (1, 0), threads=threads)  # threads, libraries
    x = np.ones(shape)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kernels.permute_inplace(x, axes, threads=threads)
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(peak, x.nbytes)
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((4000, 3000), (1, 0)),
        ((5003, 3001), (1, 0)),
        ((1_000_003, 17), (1, 0)),
        ((200, 300, 210), (2, 1, 0)),
        ((7, 300_007, 5), (2, 1, 0)),
        ((4096, 4096), (1, 0)),
    ],
)
def test_extra_memory_is_bounded(shape, axes, threads):
    """At most 1 % of the array and 4 MiB a thread, as the kernel sees it: resident pages."""
    script = textwrap.dedent(PEAK).format(shape=shape, axes=axes, threads=threads)
    environment = dict(os.environ, NUMPY_MADVISE_HUGEPAGE="0", MALLOC_ARENA_MAX="1")
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    )
    peak, size = map(int, done.stdout.split())
    assert peak <= size // 100 + threads * (4 << 20)


@pytest.mark.soak
def test_thousands_of_random_arrays():
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    for _ in range(5000):
        rank = int(random.integers(1, 8))
        shape = tuple(int(n) for n in random.integers(1, 1 + int(200_000 ** (1 / rank)), rank))
        axes = tuple(int(a) for a in random.permutation(rank))
        x = filled(shape, f"V{random.integers(1, 65)}", seed=int(random.integers(1 << 30)))
        expected = np.transpose(x, axes).copy()
        threads = int(random.integers(1, 5))
        method = str(random.choice(["auto", "cycles"]))
        assert same_bytes(kernels.permute(x, axes, threads=threads), expected), (shape, axes)
        found = kernels.permute_inplace(x, axes, threads=threads, method=method)
        assert same_bytes(found, expected), (shape, axes, method)
