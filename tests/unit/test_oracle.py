# SPDX-License-Identifier: BSD-3-Clause
"""The oracle against examples worked by hand, so that it cannot be wrong in the library's way."""

import numpy as np
import pytest

import oracle
from oracle import BLOCK, CYCLIC, STAR, Format, Spec


@pytest.mark.parametrize(
    ("form", "extent", "processes", "owners"),
    [
        (BLOCK, 10, 4, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]),
        (BLOCK, 9, 4, [0, 0, 0, 1, 1, 1, 2, 2, 2]),  # ceil(9/4) = 3: the last holds nothing
        (BLOCK, 2, 4, [0, 1]),
        (Format("BLOCK", 4), 10, 4, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
        (CYCLIC, 7, 3, [0, 1, 2, 0, 1, 2, 0]),
        (Format("CYCLIC", 2), 9, 2, [0, 0, 1, 1, 0, 0, 1, 1, 0]),
        (STAR, 3, 1, [0, 0, 0]),
    ],
)
def test_owner_of_each_index(form, extent, processes, owners):
    assert oracle.coordinates(form, extent, processes).tolist() == owners


def test_processes_are_numbered_row_major_and_copies_take_an_extent():
    spec = Spec((2, 2), (BLOCK, CYCLIC), (2, 3, 2), (1,))
    assert spec.size == 12 and spec.copies == 3
    # (row coordinate, copy, column coordinate): (1, c, 0) is process 6 + 2c.
    assert spec.owners((1, 0)) == [6, 8, 10]
    assert [held.tolist() for held in spec.indices(8)] == [[1], [0]]


def test_local_arrays_and_traffic():
    source = Spec((4, 3), (BLOCK, STAR), (2,))
    destination = Spec((3, 4), (STAR, CYCLIC), (2,))
    whole = oracle.values((4, 3), np.int64)
    assert source.local(whole, 1).tolist() == [[7, 8, 9], [10, 11, 12]]
    assert source.local(whole, 2).shape == (0, 0)
    sent = oracle.traffic(source, destination, (1, 0))
    assert sent.tolist() == [[3, 3], [3, 3]]
    oracle.check_traffic(source, destination, (1, 0), sent)
    with pytest.raises(AssertionError):
        oracle.check_traffic(source, destination, (1, 0), sent + np.array([[1, 0], [0, 0]]))


def test_copies_may_share_but_not_repeat():
    source = Spec((4,), (STAR,), (2,), (0,))
    destination = Spec((4,), (BLOCK,), (2,))
    oracle.check_traffic(source, destination, None, np.array([[1, 2], [1, 0]]))
    for wrong in ([[2, 2], [1, 0]], [[3, 0], [-1, 2]], [[1, 1], [0, 1]]):
        with pytest.raises(AssertionError):
            oracle.check_traffic(source, destination, None, np.array(wrong))


def test_random_layouts_have_the_size_asked_for():
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(1, 7))
        shape = oracle.random_shape(rng, int(rng.integers(1, 6)))
        spec = oracle.random_spec(rng, shape, size)
        assert spec.size == size
        assert sum(len(spec.owners(index)) for index in np.ndindex(*shape)) == sum(
            int(np.prod([len(held) for held in spec.indices(rank)])) for rank in range(size)
        )
