# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of PETSc's objects that need no communication, by their documented methods."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hocket as hk
from neighbour_objects import DMDA, Mat, Vec, ownership


def test_ownership_ranges():
    for extents in ([3, 0, 4], [5], [0, 0], ownership(10, 4)):
        bounds = Vec(extents).getOwnershipRanges()
        for given in (bounds, bounds.tolist(), Vec(extents)):
            lay = hk.Layout.from_petsc(given)
            assert lay.shape == (sum(extents),) and lay.size == len(extents)
            for r in range(lay.size):
                own = list(range(bounds[r], bounds[r + 1]))
                assert lay.global_indices(r)[0].tolist() == own
    assert hk.Layout.from_petsc(Vec(ownership(10, 4))) == hk.Layout(10, "BALANCED", 4)
    assert hk.Layout.from_petsc(Mat([3, 4], 5)) == hk.Layout((7, 5), "(GEN_BLOCK(3, 4), *)", 2)


@pytest.mark.parametrize("dof", [1, 3])
def test_structured_grids(dof):
    for dimensions in (1, 2, 3):
        for procs in itertools.product((1, 2, 3), repeat=dimensions):
            da = DMDA((7, 5, 4)[:dimensions], procs, dof)
            lay = hk.Layout.from_petsc(da)
            assert lay.shape == (*da.sizes[::-1], *([dof] if dof > 1 else []))
            assert lay.size == np.prod(procs)
            for r in range(lay.size):
                start, extents = da.corners(r)
                own = tuple(slice(s, s + n) for s, n in zip(start[::-1], extents[::-1]))
                assert lay.slices(r)[:dimensions] == own
                assert lay.local_shape(r)[dimensions:] == ((dof,) if dof > 1 else ())


@pytest.mark.parametrize(
    "given, why",
    [
        (None, "None is nothing of PETSc's"),
        ("x", "'x' is nothing of PETSc's"),
        (object(), "nothing of PETSc's"),
        ([1, 3], "begin|give 0"),
        ([0], "give 0"),
        ([0, 4, 3], "increasing"),
        ([0, 1.5], "give integers"),
        ([], "give 0"),
    ],
)
def test_what_has_no_layout(given, why):
    with pytest.raises(hk.LayoutError, match=why):
        hk.Layout.from_petsc(given)


def test_only_index_sets_take_a_shape():
    with pytest.raises(hk.LayoutError, match="shape= is for index sets"):
        hk.Layout.from_petsc([0, 3], shape=4)
