# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK's descriptors and layouts, against ScaLAPACK's rules in tests/blacs_oracle.py."""

from __future__ import annotations

import numpy as np
import pytest

import hocket as hk
from blacs_oracle import part


def check(lay, desc, grid, transposed=False):
    """`desc` and `grid` say what `lay` says."""
    members = set()
    for (p, q), process in np.ndenumerate(grid):
        members.add(int(process))
        own = desc if np.ndim(desc) == 1 else desc[process]
        rows, columns = part(own, grid, p, q)
        held = lay.global_indices(int(process))
        expected = (columns, rows) if transposed else (rows, columns)
        assert tuple(indices.tolist() for indices in held) == expected
    for process in set(range(lay.size)) - members:
        assert lay.local_elements(process) == 0


def random_descriptor(rng):
    grid = rng.permutation(12)[: rng.integers(1, 4) * 3].reshape(3, -1)
    if rng.random() < 0.5:
        grid = grid.T
    m, n = (int(v) for v in rng.integers(0, 20, size=2))
    mb, nb = (int(v) for v in rng.integers(1, 8, size=2))
    rsrc, csrc = int(rng.integers(grid.shape[0])), int(rng.integers(grid.shape[1]))
    return np.array([1, 0, m, n, mb, nb, rsrc, csrc, max(m, 1)]), grid


@pytest.mark.parametrize("transposed", [False, True])
def test_any_descriptor_and_grid(transposed):
    rng = np.random.default_rng(3)
    for _ in range(100):
        desc, grid = random_descriptor(rng)
        lay = hk.Layout.from_blacs(desc, grid, transposed=transposed)
        assert lay.shape == ((desc[3], desc[2]) if transposed else (desc[2], desc[3]))
        check(lay, desc, grid, transposed)
        again, places = lay.to_blacs(7, transposed=transposed)
        assert places[0, 0] == grid.min()
        assert again.dtype == np.intc
        check(lay, again, places, transposed)
        assert hk.Layout.from_blacs(again, places, transposed=transposed) == lay
        for process in range(lay.size):
            rows = lay.local_shape(process)[transposed]
            assert again[process, 8] == max(1, rows)
            assert again[process, 1] == (7 if process in places else -1)


def test_grids_by_extents_are_numbered_by_row():
    desc = [1, 0, 7, 9, 2, 3, 1, 0, 7]
    by_extents = hk.Layout.from_blacs(desc, (2, 3))
    assert by_extents == hk.Layout.from_blacs(desc, np.arange(6).reshape(2, 3))
    by_column = np.arange(6).reshape((2, 3), order="F")
    lay = hk.Layout.from_blacs(desc, by_column)
    check(lay, np.array(desc), by_column)
    again, grid = lay.to_blacs()
    np.testing.assert_array_equal(grid, by_column)
    assert again[0].tolist() == [*desc[:8], 3]  # no more than needed


@pytest.mark.parametrize(
    "lay",
    [
        hk.Layout((10, 8), "(BLOCK, BLOCK)", (3, 2)),
        hk.Layout((10, 8), "(BLOCK(5), CYCLIC)", (3, 2)),
        hk.Layout((10, 8), "(*, CYCLIC(3))", 4),
        hk.Layout((10, 8), "(*, *)"),
        hk.Layout((0, 3), "(BLOCK, *)", 2),
        hk.Layout((10, 8), "(GEN_BLOCK(0, 4, 4, 2), BALANCED)", (4, 2)),
        hk.Layout((6, 8), "(INDIRECT(1, 1, 0, 0, 1, 1), *)", 2),
        hk.Layout((10, 8), "(BLOCK, *)", (2, 1), replicate=[1]),
        hk.Layout((12, 12), "(CYCLIC(2), CYCLIC(3))", (2, 3)).section(np.s_[2:11, 9:]),
        hk.Layout((12, 12), "(BLOCK(6), BLOCK(4))", (2, 3)).section(np.s_[7:11, 1:3]),
        hk.Layout((12, 4, 9), "(CYCLIC(2), BLOCK, BLOCK)", (2, 2, 3)).section(np.s_[4:, 3]),
        hk.Layout.aligned(
            (8, 10), "A(i,j) WITH T(j,i)", hk.Layout((10, 8), "(BLOCK, CYCLIC(3))", (2, 3))
        ),
        hk.Layout((10, 8), "(CYCLIC(2), BLOCK)", (2, 3)).relabeled([5, 1, 0, 3, 6, 4]),
    ],
    ids=str,
)
@pytest.mark.parametrize("transposed", [False, True])
def test_layouts_that_scalapack_can_describe(lay, transposed):
    desc, grid = lay.to_blacs(transposed=transposed)
    check(lay, desc, grid, transposed)


@pytest.mark.parametrize(
    "lay, why",
    [
        (hk.Layout(8, "(BLOCK)", 2), "1 dimensions instead of 2"),
        (hk.Layout((8, 8), "(BLOCK, *)", (2, 2), replicate=[1]), "several processes"),
        (hk.Layout((10, 8), "(BALANCED, *)", 3).section(np.s_[::-1]), "dimension 0 are not equal"),
        (hk.Layout((8, 8), "(GEN_BLOCK(3, 5), *)", 2), "dimension 0 are not equal"),
        (hk.Layout((8, 8), "(*, INDIRECT(4*0, 2*1, 2*0))", 2), "dimension 1 are not equal"),
        (hk.Layout((8, 8), "(GEN_BLOCK(2, 4, 2), *)", 3), "dimension 0 are not equal"),
        (hk.Layout((8, 8), "(BLOCK, *)", 2).section(np.s_[1:]), "dimension 0 are not equal"),
        (hk.Layout((8, 8), "(CYCLIC, *)", 2).section(np.s_[::2]), "dimension 0 are not equal"),
        (hk.Layout.boxes((4, 4), [((0, 0), (4, 4))]), "a list, or boxes"),
        (hk.Layout.elements((4, 4), [[1, 2]]), "a list, or boxes"),
    ],
)
def test_layouts_that_it_cannot(lay, why):
    with pytest.raises(hk.LayoutError, match=why):
        lay.to_blacs()


GOOD = [1, 0, 10, 8, 2, 4, 0, 0, 6]


@pytest.mark.parametrize(
    "desc, grid, why",
    [
        ([*GOOD[:8]], (2, 2), "8 entries"),
        ([501, *GOOD[1:]], (2, 2), "DTYPE_ is 501"),
        ([1, 0, -1, *GOOD[3:]], (2, 2), "M_ is -1"),
        ([*GOOD[:4], 0, *GOOD[5:]], (2, 2), "MB_ is 0"),
        ([*GOOD[:6], 2, 0, 6], (2, 2), "RSRC_ is 2; the grid has rows 0 to 1.*another grid"),
        ([*GOOD[:7], 2, 6], (2, 2), "CSRC_ is 2"),
        (GOOD, (0, 2), "grid is 0 by 2"),
        (GOOD, [[0, 1], [1, 2]], "process 1 twice"),
        (GOOD, [[0, -1]], "process -1"),
        (GOOD, (2**40, 2**40), "too large"),
        (GOOD, 4, r"shape \(\)|give integers"),
        (GOOD, "2x2", "give integers"),
        ([GOOD] * 3, (2, 2), "processes 0 to 3.*another grid"),
        ([GOOD, GOOD, GOOD, [*GOOD[:2], 11, *GOOD[3:]]], (2, 2), "differs in M_"),
        ([GOOD, [*GOOD[:8], 5], GOOD, GOOD], (2, 2), "LLD_ is 5, but its rows are 6"),
    ],
)
def test_descriptors_that_are_wrong(desc, grid, why):
    with pytest.raises(hk.LayoutError, match=why):
        hk.Layout.from_blacs(desc, grid)


def test_a_leading_dimension_is_checked_where_the_process_is_named():
    short = [*GOOD[:8], 4]
    assert hk.Layout.from_blacs(short, (2, 2)).local_shape(0) == (6, 4)
    assert hk.Layout.from_blacs(short, (2, 2), rank=3).local_shape(3) == (4, 4)
    with pytest.raises(hk.LayoutError, match="LLD_ is 4; process 0 holds 6 rows"):
        hk.Layout.from_blacs(short, (2, 2), rank=0)
    with pytest.raises(hk.LayoutError, match="no process 4"):
        hk.Layout.from_blacs(short, (2, 2), rank=4)


def test_sizes_of_64_bits():
    desc = [1, 0, 2**40, 2**20, 2**33, 1, 1, 0, 2**39]
    lay = hk.Layout.from_blacs(desc, (2, 1), rank=1)
    assert lay.local_shape(1) == (2**39, 2**20)
    with pytest.raises(hk.LayoutError, match="int32; a ScaLAPACK of 64-bit"):
        lay.to_blacs()
    assert lay.to_blacs(dtype=np.int64)[0][1].tolist() == desc
