# SPDX-License-Identifier: BSD-3-Clause
"""The watch itself: a wrong value, and a byte beside the elements, are both seen."""

import numpy as np
import pytest
from guarded import DTYPES, Guarded, filled


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_and_neighbours_are_watched(dtype):
    rng = np.random.default_rng(1)
    for _ in range(12):
        shape = tuple(int(n) for n in rng.integers(0, 4, int(rng.integers(0, 4))))
        memory = Guarded(shape, dtype, rng)
        values = filled(np.arange(1, memory.view.size + 1).reshape(shape), dtype)
        memory.check_untouched()
        memory.view[...] = values
        memory.check(values)
        for place in range(0, memory.raw.size, 7):
            memory.raw[place] ^= 0x40
            with pytest.raises(AssertionError):
                memory.check(values)
            memory.raw[place] ^= 0x40
        memory.check(values)


def test_memory_of_every_kind_comes_up():
    rng = np.random.default_rng(2)
    several = [Guarded((3, 4), "f8", rng).view for _ in range(200)]
    assert any(v.flags.c_contiguous for v in several)
    assert any(v.flags.f_contiguous for v in several)
    assert any(not v.flags.aligned for v in several)
    assert any(min(v.strides) < 0 for v in several)
