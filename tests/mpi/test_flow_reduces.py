# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a flow that reduce into memory of any kind, against NumPy one step after the other."""

import array
import ctypes

import numpy as np
import pytest
from guarded import Guarded
from lockstep import ranks

import hocket as hk

FOLDS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def values_of(step, shape, dtype):
    rng = np.random.default_rng([step, *shape])
    return rng.integers(1, 4, shape).astype(dtype)


def check(target, seen, op="add", steps=7):
    """Reduces into `target`, which NumPy sees as `seen`."""
    expected = seen.copy()
    with hk.Flow(3) as f:
        for step in range(steps):
            values = values_of(step, seen.shape, seen.dtype)
            expected = FOLDS[op](expected, values)

            def fold(part, values=values):
                assert part.shape == values.shape and part.dtype == values.dtype
                FOLDS[op](part, values, out=part)

            f.task(fold, reduces=[target], op=op)
    np.testing.assert_array_equal(seen, expected)
    return expected


@ranks(1)
@pytest.mark.parametrize("seed", range(3))
def test_arrays_of_any_strides(comm, seed):
    rng = np.random.default_rng(seed)
    for shape in ((), (7,), (3, 4), (2, 3, 5), (4, 1, 3), (0, 3)):
        for dtype in ("f8", "i4", ">i2", "c8", "u1"):
            memory = Guarded(shape, dtype, rng)
            memory.set(values_of(99, shape, dtype))
            op = "add" if dtype == "c8" else str(rng.choice(list(FOLDS)))
            memory.check(check(memory.view, memory.view, op), f"{shape} {dtype} {op}")


@ranks(1)
def test_whatever_other_accesses_take(comm):
    layout = hk.Layout((10, 6), "(CYCLIC(3), *)", 1)
    distributed = hk.from_function(lambda i, j: 10 * i + j, layout, comm=comm)
    check(distributed, distributed.local)
    check(distributed.section((slice(None), slice(1, 5, 2))), distributed.local[:, 1:5:2])
    doubles, numbers = array.array("d", [1, 2, 3]), bytearray(b"\1\2\3")
    block = (ctypes.c_int * 5)(1, 2, 3, 4, 5)
    for memory in (doubles, numbers, block, memoryview(numbers)[::2]):
        check(memory, np.asarray(memory))


@ranks(2)
def test_a_section_that_is_a_copy_reaches_its_array(comm):
    layout = hk.Layout((12,), "(CYCLIC(2))", 2)
    whole = hk.from_function(lambda i: i, layout, "i8", comm=comm)
    part = whole.section(slice(0, 12, 3))
    places = np.flatnonzero(layout.global_indices(comm.rank)[0] % 3 == 0)
    before = whole.local.copy()
    check(part, part.local)
    before[places] = part.local
    np.testing.assert_array_equal(whole.local, before)
    assert part.local.size and (part.local != layout.global_indices(comm.rank)[0][places]).all()


@ranks(1)
def test_what_cannot_be_reduced_into(comm):
    f = hk.Flow(1)
    same = np.lib.stride_tricks.as_strided(np.zeros(4), (3, 3), (8, 8))
    still = np.zeros(3)
    still.flags.writeable = False
    for target, words in (
        ("key", "'key' is a key"),
        (7, "7 is a key"),
        (3.5, "neither memory nor a key"),
        (same, "overlap"),
        (still, "read-only"),
        (b"bytes", "is a key"),
        (memoryview(b"bytes"), "read-only"),
        (np.zeros(3, "M8[s]"), "give numbers"),
    ):
        with pytest.raises(hk.Error, match=words):
            f.task(print, reduces=[target])
