# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of more than 2^31 elements, which no 32-bit number counts: from Python, and by the C
interface."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import hocket as hk
from built import folder

MANY = 2**31
# More elements than a 32-bit number has, signed: primes, a square, long rows, three dimensions.
CASES = [
    ((46_349, 46_337), (1, 0)),
    ((46_352, 46_352), (1, 0)),
    ((3, 715_827_887), (1, 0)),
    ((715_827_887, 3), (1, 0)),
    ((1291, 1297, 1283), (2, 0, 1)),
]
AT_ONCE = 1 << 24


def filled(shape):
    """Bytes whose sequence repeats itself after 251 * 241 elements only, made piece by piece."""
    array = np.empty(shape, np.int8)
    flat = array.reshape(-1)
    period = 251 * 241
    k = np.arange(period, dtype=np.int64)
    pattern = (k % 251 * 7 + k % 241 * 5 + k // 251 % 128).astype(np.int8)
    for first in range(0, flat.size, AT_ONCE // period * period):
        part = flat[first : first + AT_ONCE // period * period]
        part[...] = np.resize(pattern, part.size)
    return array


def assert_permuted(found, source, axes):
    """Compares some planes of the slowest dimension at a time."""
    wanted = source.transpose(axes)
    assert found.shape == wanted.shape
    rows = max(1, AT_ONCE // (found.size // found.shape[0]))
    for first in range(0, found.shape[0], rows):
        same = np.array_equal(found[first : first + rows], wanted[first : first + rows])
        assert same, f"planes from {first} on"


@pytest.mark.soak
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_more_elements_than_32_bits_count(shape, axes):
    source = filled(shape)
    assert source.size > MANY
    out = np.zeros(tuple(shape[axis] for axis in axes), np.int8)
    hk.permute(source, axes, out=out)
    assert_permuted(out, source, axes)
    out.reshape(-1)[...] = source.reshape(-1)
    found = hk.permute_inplace(out.reshape(shape), axes)
    assert np.shares_memory(found, out)
    assert_permuted(found, source, axes)


@pytest.mark.soak
def test_more_elements_than_32_bits_count_by_the_c_interface():
    library = ctypes.CDLL(str(Path(folder()) / "src" / "libhocket.so"))
    shape, axes = CASES[0]
    source = filled(shape)
    out = np.zeros(shape[::-1], np.int8)
    shapes, order = (ctypes.c_int64 * 2)(*shape), (ctypes.c_int64 * 2)(*axes)
    two, one = ctypes.c_int64(2), ctypes.c_int64(1)
    at = ctypes.c_void_p(source.ctypes.data)
    to = ctypes.c_void_p(out.ctypes.data)
    assert library.hocket_permute(at, two, shapes, None, one, order, to, None, None) == 0
    assert_permuted(out, source, axes)
    out.reshape(-1)[...] = source.reshape(-1)
    assert library.hocket_permute_inplace(to, two, shapes, one, order, None) == 0
    assert_permuted(out, source, axes)
