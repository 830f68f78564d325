# SPDX-License-Identifier: BSD-3-Clause
"""Alignments, sections, explicit segments, relabeling and HPF listings, through Python.

The expected owners come from NumPy: an array of masks, one a process, is sliced, indexed and
reordered, where the layout has its own algebra for it.
"""

import itertools
import pickle
import random

import numpy as np
import pytest

import hocket as hk
from hocket.relabeling import Relabeling, relabel

T = hk.Layout((12, 9, 4), "(BLOCK, CYCLIC(2), BLOCK)", (3, 2, 2))


def masks(lay):
    """For each process a boolean array of what it holds, from `owners`."""
    result = np.zeros((lay.size, *lay.shape), dtype=bool)
    for index in np.ndindex(*lay.shape):
        for rank in lay.owners(index):
            result[(rank, *index)] = True
    return result


def check(lay, expected):
    """Everything that a layout says of itself, against masks."""
    assert lay.shape == expected.shape[1:] and lay.size == len(expected)
    np.testing.assert_array_equal(masks(lay), expected)
    for rank in range(lay.size):
        assert lay.local_elements(rank) == np.count_nonzero(expected[rank])
        if lay.ndim and not lay._native.is_indexed:
            indices = lay.global_indices(rank)
            assert lay.local_shape(rank) == tuple(len(each) for each in indices)
            held = np.zeros(lay.shape, dtype=bool)
            held[np.ix_(*indices)] = True
            np.testing.assert_array_equal(held, expected[rank])
    for again in (hk.Layout.parse(str(lay)), pickle.loads(pickle.dumps(lay))):
        assert again == lay and hash(again) == hash(lay) and str(again) == str(lay)


@pytest.mark.parametrize(
    ("shape", "align", "position"),
    [
        ((4, 5), "A(i,j) WITH T(2*j+1, i, *)", lambda i, j: (2 * j + 1, i, slice(None))),
        ((4,), "A(i) WITH T(11-3*i, 8, 0)", lambda i: (11 - 3 * i, 8, 0)),
        ((9, 3), "!HPF$ ALIGN x(:, *) WITH y(5, :, *)", lambda i, j: (5, i, slice(None))),
        ((5,), "a(i) with t(*, *, 3)", lambda i: (slice(None), slice(None), 3)),
        ((), "A() WITH T(4, *, 1)", lambda: (4, slice(None), 1)),
        ((3, 2, 2), "A(i,j,k) WITH T(-(2*i-10), k+6, j)", lambda i, j, k: (10 - 2 * i, k + 6, j)),
    ],
)
def test_alignment_holds_what_the_template_positions_hold(shape, align, position):
    template = masks(T)
    expected = np.zeros((T.size, *shape), dtype=bool)
    for index in np.ndindex(*shape):
        there = template[(slice(None), *position(*index))]
        expected[(slice(None), *index)] = there.reshape(T.size, -1).any(axis=1)
    check(hk.Layout.aligned(shape, align, T), expected)


SLICES = [
    np.s_[::2, 1:, 0],
    np.s_[::-1, 3, ...],
    np.s_[..., -1],
    np.s_[10:1:-3, 2:2, :],
    np.s_[5],
    np.s_[-3, 4, 1],
    np.s_[...],
]


@pytest.mark.parametrize("slices", SLICES)
@pytest.mark.parametrize(
    "lay",
    [
        T,
        hk.Layout((12, 9, 4), "(*, CYCLIC, *)", (2, 3), replicate=(0,)),
        hk.Layout.aligned(
            (12, 9, 4), "A(i,j,k) WITH T(2*k, 11-i)", hk.Layout((8, 12), "(CYCLIC, BLOCK)", (3, 2))
        ),
        hk.Layout.indexed((12, 9, 4), [[(0, 100), (300, 50)], [(120, 80)], [], [(100, 20)]]),
        T.section(np.s_[::-1, :, :]).relabeled([5, 3, 1, 0, 2, 4, 12, 11, 9, 8, 7, 6]),
    ],
)
def test_a_section_holds_what_its_slices_select(lay, slices):
    expected = masks(lay)[(slice(None), *(slices if isinstance(slices, tuple) else (slices,)))]
    section = lay.section(slices)
    check(section, expected)
    # The places in the local array are those of the same elements.
    values = np.arange(np.prod(lay.shape)).reshape(lay.shape)
    for rank in range(lay.size):
        wanted = values[slices][expected[rank]] if values[slices].ndim else values[slices]
        where = lay.local_section(slices, rank)
        if where is None:
            assert section.local_elements(rank) == 0
            continue
        if lay._native.is_indexed:
            local = values.ravel()[lay.global_indices(rank)[0]]
        else:
            local = values[np.ix_(*lay.global_indices(rank))]
        if any(isinstance(each, np.ndarray) for each in where):
            kept = [np.atleast_1d(np.r_[each]) for each in where]
            got = local[np.ix_(*kept)]
        else:
            got = local[where]
        if section.local_elements(rank):
            np.testing.assert_array_equal(np.ravel(got), np.ravel(wanted))


def test_sections_compose():
    twice = T.section(np.s_[1:11, ::-1, :]).section(np.s_[::3, 2:5, 0])
    check(twice, masks(T)[:, 1:11, ::-1, :][:, ::3, 2:5, 0])


def test_a_plan_takes_sections_and_segments():
    source = hk.Layout((8, 10), "(BLOCK, CYCLIC(3))", (2, 2)).section(np.s_[::2, 9:1:-1])
    lists = [[(0, 5), (20, 3)], [(5, 15)], [(23, 9)]]
    for destination in (
        hk.Layout((4, 8), "(*, BLOCK)", 3),
        hk.Layout.indexed((4, 8), lists),
        hk.Layout.indexed((4, 8), lists).relabeled([2, 0, 1]),
    ):
        for a, b in ((source, destination), (destination, source)):
            p = hk.plan(a, b)
            here, there = masks(a).reshape(a.size, -1), masks(b).reshape(b.size, -1)
            common = here.astype(int) @ there.astype(int).T
            for rank in range(a.size):
                assert p.sends(rank) == [(d, n) for d, n in enumerate(common[rank]) if n]
            for rank in range(b.size):
                assert p.recvs(rank) == [(s, n) for s, n in enumerate(common[:, rank]) if n]
                assert p.common("dst", rank) == p.recvs(rank)


def test_a_source_that_lacks_an_element_is_named():
    gaps = hk.Layout.indexed((4, 5), [[(0, 7)], [(9, 11)]])
    with pytest.raises(hk.LayoutError, match=r"element \(1, 2\)"):
        hk.plan(gaps, hk.Layout((4, 5), "(BLOCK, *)", 2))
    with pytest.raises(hk.LayoutError, match=r"element \(2, 1\).*\(1, 2\)"):
        hk.plan(gaps, hk.Layout((5, 4), "(BLOCK, *)", 2), axes=(1, 0))
    hk.plan(gaps, hk.Layout.indexed((4, 5), [[(0, 5)], [(15, 5)]]))
    with pytest.raises(hk.LayoutError, match=r"element \(1, 3\)"):
        hk.plan(gaps, hk.Layout.indexed((4, 5), [[(0, 5)], [(8, 5)]]))


def test_many_segments():
    segments = np.arange(0, 2_000_000, 2)
    lists = [np.stack([segments + r, np.ones_like(segments)], axis=1) for r in range(2)]
    lay = hk.Layout.indexed((2_000_000,), lists)
    assert lay.local_shape(1) == (1_000_000,) and lay.owner(1_234_567) == 1
    p = hk.plan(lay, hk.Layout((2_000_000,), "(BLOCK)", 4))
    assert p.sends(0) == [(r, 250_000) for r in range(4)]
    ((_, boxes), *_) = p.boxes("src", 0)
    assert len(boxes) == 1


def brute_force(src, dst):
    common = masks(src).reshape(src.size, -1).astype(int) @ masks(dst).reshape(dst.size, -1).T
    return max(
        sum(common[process, part] for part, process in enumerate(perm) if process < src.size)
        for perm in itertools.permutations(range(max(src.size, dst.size)), dst.size)
    )


def test_relabeling_is_exact():
    rng = random.Random(5)
    texts = ["(BLOCK)", "(CYCLIC)", "(CYCLIC(2))", "(CYCLIC(5))"]
    for _ in range(60):
        n = rng.randint(1, 40)
        src = hk.Layout((n,), rng.choice(texts), rng.randint(1, 5))
        dst = hk.Layout((n,), rng.choice(texts), rng.randint(1, 5))
        dst = dst.relabeled(rng.sample(range(dst.size), dst.size))
        perm = relabel(src, dst)
        assert isinstance(perm, Relabeling) and len(set(perm)) == len(perm) == dst.size
        assert n - perm.moved == brute_force(src, dst)
        assert hk.plan(src, dst, overlap=perm).elements_moved == perm.moved
        size = max(src.size, dst.size)
        moved = dst.relabeled(perm, size=size)
        identity = {r: r for r in range(src.size)}
        assert hk.plan(src, moved, overlap=identity).elements_moved == perm.moved


def test_relabeling_agrees_with_scipy():
    """Beyond what permutations can try: random dense and sparse traffic of up to 60 processes."""
    solve = pytest.importorskip("scipy.optimize").linear_sum_assignment
    rng = np.random.default_rng(6)
    for parts, processes in ((60, 60), (25, 60), (60, 25), (40, 40), (40, 40)):
        owners = rng.integers(0, processes, 3000), rng.integers(0, parts, 3000)
        if parts == 40:
            owners[1][:] = (owners[0] * 7 + rng.integers(0, 3, 3000)) % parts
        lengths = rng.integers(1, 50, 3000)
        firsts = np.cumsum(lengths) - lengths
        pairs = np.stack([firsts, lengths], axis=1)
        src, dst = (
            hk.Layout.indexed((int(lengths.sum()),), [pairs[each == r] for r in range(size)])
            for each, size in zip(owners, (processes, parts))
        )
        weights = np.zeros((parts, processes), dtype=np.int64)
        np.add.at(weights, (owners[1], owners[0]), lengths)
        best = int(weights[solve(weights, maximize=True)].sum())
        perm = hk.relabel(src, dst)
        assert perm.moved == int(lengths.sum()) - best
        assert perm.moved_without == int(lengths.sum()) - int(np.trace(weights))


def test_a_rotation_moves_nothing():
    lay = hk.Layout((30,), "(BLOCK)", 3)
    turned = lay.relabeled([1, 2, 0])
    perm = relabel(lay, turned)
    assert perm == [2, 0, 1]
    assert (perm.moved, perm.moved_without, perm.saving) == (0, 30, 1.0)
    assert relabel(lay, lay) == [0, 1, 2]
    assert lay.relabeled([0, 1, 2]) == lay and lay.relabeled([0, 1, 2], size=4) != lay


FIGURE_1 = """
!HPF$ processors pr(8)
      complex A(8, 8)
!HPF$ distribute A(BLOCK,*)
      do i = 1, 100
        call read(A)
        A = transpose(A)
      end do
"""


def test_hpf_listings():
    assert hk.Layout.from_hpf(FIGURE_1) == hk.Layout((8, 8), "(BLOCK, *)", 8)
    text = """
!HPF$ processors pr(P)
real From(N,N), To(N,N)
!HPF$ distribute From(BLOCK,*), To(*,BLOCK)
"""
    both = hk.Layout.all_from_hpf(text, P=3, N=12)
    assert list(both) == ["From", "To"] and both["To"] == hk.Layout((12, 12), "(*, BLOCK)", 3)
    assert hk.Layout.from_hpf(text, "from", P=3, N=12) == both["From"]
    for bad, word in ((text, "From, To"), (FIGURE_1.replace("BLOCK", "BLOK"), "BLOCK")):
        with pytest.raises(hk.LayoutError, match=word):
            hk.Layout.from_hpf(bad, P=3, N=12)
    with pytest.raises(hk.LayoutError, match="no array 'X'"):
        hk.Layout.from_hpf(text, "X", P=3, N=12)
    with pytest.raises(hk.LayoutError, match="N has no value: give it as a parameter") as caught:
        hk.Layout.all_from_hpf(text, P=3)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: hk.Layout.aligned((4,), "A(i) WITH T(i, 0, 4)", T), "use 0 to 3"),
        (lambda: hk.Layout.aligned((4,), "A(i) WITH T(i, 0)", T), "3 subscripts"),
        (lambda: hk.Layout.aligned((4,), "A(i) WITH T(i, 0, 0)", "T"), "give a Layout"),
        (lambda: hk.Layout.aligned((13,), "A(i) WITH T(i, 0, 0)", T), "leaves it at i = 12"),
        (lambda: hk.Layout.indexed((4,), [[(0, 2.5)]]), "integers"),
        (lambda: hk.Layout.indexed((4,), [[(0, 2, 3)]]), "pairs"),
        (lambda: hk.Layout.indexed((4,), [[(0, 2)], [(1, 1)]]), "overlap"),
        (lambda: hk.Layout.indexed((4,), [[(0, 5)]]), "leaves the array"),
        (lambda: hk.Layout.indexed((4,), [[(2**63, 1)]]), "63 bits"),
        (lambda: hk.Layout.indexed((4,), 5), "segments"),
        (lambda: hk.Layout.indexed((4,), []), "no process"),
        (lambda: T.section(np.s_[1, 2, 3, 0]), "4 slices"),
        (lambda: T.section(np.s_[12]), "index 12"),
        (lambda: T.section(np.s_[::0]), "zero"),
        (lambda: T.section(None), "None"),
        (lambda: T.section([1, 2]), "integer"),
        (lambda: T.section(np.s_[..., 1, ...]), "one '...'"),
        (lambda: T.relabeled([0]), "12"),
        (lambda: T.relabeled([0] * 12), "twice"),
        (lambda: T.relabeled(range(12), size=0), "size is 0"),
        (lambda: relabel(T, 5), "give a Layout"),
        (lambda: relabel(T, hk.Layout((4,), "(*)", 1)), "shape"),
    ],
)
def test_what_cannot_be(make, word):
    with pytest.raises(hk.LayoutError, match=word.replace("(", r"\(").replace(".", r"\.")):
        make()


def test_pictures_as_text_and_html():
    lay = hk.Layout((4, 4), "(BLOCK, CYCLIC)", (2, 2))
    assert lay.draw().splitlines()[1:] == ["0 1 0 1"] * 2 + ["2 3 2 3"] * 2
    assert hk.Layout.indexed((6,), [[(1, 2)], [(4, 1)]]).draw().splitlines()[1] == ". 0 0 . 1 ."
    assert lay._repr_html_().count("<td") == 16
    p = hk.plan(lay, hk.Layout((4, 4), "(*, BLOCK)", 2))
    assert "8 messages" in p._repr_html_() and "process 3 sends" in p.explain()
    hk.Layout((0, 3), "(BLOCK, *)", 2)._repr_html_()
    hk.Layout((), "()")._repr_html_()
    hk.Layout((10**6, 10**6, 3), "(BLOCK, CYCLIC, *)", (100, 100))._repr_html_()
