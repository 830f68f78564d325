# SPDX-License-Identifier: BSD-3-Clause
"""Which contractions move what, and in which parts."""

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk


@ranks(2, 3)
def test_contractions_move_what_is_less(comm, monkeypatch):
    from hocket.computing import contractions

    moves, products = [], []
    redistribute, product = contractions.redistribute, contractions.product
    monkeypatch.setattr(
        contractions,
        "redistribute",
        lambda x, *to: (moves.append(x.shape), redistribute(x, *to))[1],
    )
    monkeypatch.setattr(
        contractions, "product", lambda *given: (products.append(given), product(*given))[1]
    )
    rows = [hk.Layout(shape, "(BLOCK, *)", comm.size) for shape in ((900, 4), (60, 60))]
    x, a = (hk.from_function(lambda i, j: i % 7 - j, each, comm=comm) for each in rows)
    whole, other = hk.replicated(x), hk.replicated(a)
    for found in (np.einsum("ki,kj->ij", x, x), np.tensordot(x, x, ([0], [0]))):
        np.testing.assert_array_equal(hk.replicated(found), whole.T @ whole)
    assert not moves and not products
    w = np.arange(240).reshape(4, 60)
    found = np.einsum("ij,jk->ij", w, a)
    np.testing.assert_array_equal(hk.replicated(found), np.einsum("ij,jk->ij", w, other))
    assert a.shape not in moves
    found = np.einsum("ki,kj->ij", a, a)
    np.testing.assert_array_equal(hk.replicated(found), other.T @ other)
    assert products and found.layout.local_elements(0) < 3600


@pytest.mark.parametrize(
    "subscripts, shape, other",
    [
        ("ij,jk->ij", (6, 20), (20, 8)),
        ("ij,jk->ij", (4, 20), (20, 30)),
        ("ij,kj->ijk", (4, 90), (1, 90)),
        ("ij,kj->ijk", (6, 20), (7, 20)),
        ("ij,kj->ik", (8, 20), (9, 20)),
        ("ji,jk->ki", (30, 8), (30, 7)),
        ("ij,jkl->ikl", (6, 5), (5, 7, 3)),
        ("ij,ij->j", (9, 8), (9, 8)),
    ],
)
@ranks(2, 3)
def test_contractions_by_small_panels(comm, monkeypatch, subscripts, shape, other):
    from hocket.computing import rounds

    monkeypatch.setattr(rounds, "PANEL", 20 * 8)
    x, y = (np.arange(np.prod(each)).reshape(each) % 11 for each in (shape, other))
    expected = np.einsum(subscripts, x, y)
    stars = ["*"] * (len(other) - 1)
    for first in (
        ["BLOCK", "*"],
        ["*", "BLOCK"],
        [hk.gen_block([0] * (comm.size - 1) + [shape[0]]), "*"],
    ):
        for second in (["BLOCK", *stars], [*stars, "CYCLIC"]):
            a = hk.scatter(x, hk.Layout(shape, first, comm.size), comm)
            b = hk.scatter(y, hk.Layout(other, second, comm.size), comm)
            found = hk.replicated(np.einsum(subscripts, a, b))
            np.testing.assert_array_equal(found, expected, f"{first}, {second}")
