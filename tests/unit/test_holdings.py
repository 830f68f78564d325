# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of every kind, and plans between them, against brute force."""

import itertools
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk
import holdings
from examples import examples
from holdings import aligned, check_layout, check_plan, indexed, plain, relabeled, section
from oracle import BLOCK, CYCLIC, STAR, Format, Spec, one_dimensional
from random_layouts import any_layout, any_pair, any_shape, from_rng

# ---- the oracle against examples worked by hand ------------------------------------------------


def test_the_oracle_by_hand():
    template = plain(Spec((6, 4), (BLOCK, CYCLIC), (2, 2)))
    turned = aligned((3,), [(0, -2, 5), 2], template, "A(i) WITH T(5-2*i, 2)")
    # Positions 5, 3, 1 of column 2: row blocks 1, 1, 0; column coordinate 0.
    assert [turned.holds(r).tolist() for r in range(4)] == [
        [False, False, True],
        [False] * 3,
        [True, True, False],
        [False] * 3,
    ]
    assert turned.local_shape(1) == (0,)
    copied = aligned((2, 3), [None, (1, 1, 1)], template, "A(*, j) WITH T(*, j+1)")
    assert copied.local_shape(0) == (2, 1) and copied.local_shape(3) == (2, 2)
    reversed_ = section(template, (slice(None, None, -1), -1))
    assert [reversed_.local_shape(r) for r in range(4)] == [(0,), (3,), (0,), (3,)]
    assert reversed_.holds(3).tolist() == [True] * 3 + [False] * 3
    pieces = section(indexed((2, 4), [[(6, 2), (0, 1)], [(2, 3)]]), (slice(None), slice(0, 4, 2)))
    assert [part[0].tolist() for part in pieces.parts] == [[0, 3], [1, 2]]
    moved = relabeled(pieces, [2, 0], 4)
    assert [moved.local_shape(r) for r in range(4)] == [(2,), (0,), (2,), (0,)]
    assert holdings.missing(pieces, moved, None) is None
    gaps = indexed((2, 3), [[(0, 2)], [(4, 2)]])
    assert holdings.missing(gaps, indexed((3, 2), [[(2, 4)]]), (1, 0)) == (2, 0)


# ---- layouts -----------------------------------------------------------------------------------


def check(holding):
    lay = holding.layout(hk)
    check_layout(hk, holding, lay)
    for again in (hk.Layout.parse(str(lay)), pickle.loads(pickle.dumps(lay))):
        assert again == lay and hash(again) == hash(lay) and str(again) == str(lay)
        check_layout(hk, holding, again)


def test_alignments_in_one_dimension_exhaustively():
    """Every stride, offset and extent that fits a template of 7 on every format of 3 processes."""
    for spec in one_dimensional(7, 3):
        template = plain(spec)
        for extent, stride, offset in itertools.product(range(5), (-3, -2, -1, 1, 2, 3), range(7)):
            if extent and not 0 <= offset + stride * (extent - 1) < 7:
                continue
            text = f"A(i) WITH T({stride}*i+{offset})"
            holding = aligned((extent,), [(0, stride, offset)], template, text)
            check_layout(hk, holding, holding.layout(hk))


def test_alignments_in_two_dimensions_exhaustively():
    """Every use of two template dimensions by an array of one or two: swapped, constant, `*`."""
    forms = [STAR, BLOCK, CYCLIC, Format("CYCLIC", 2)]
    subscripts = [(0, 1, 1), (0, -1, 3), (1, 2, 0), (1, -1, 2), 0, 3, None]
    for pair in itertools.product(forms, repeat=2):
        procs = tuple(p for p, form in zip((2, 3), pair) if form is not STAR)
        template = plain(Spec((5, 5), pair, procs))
        for each in itertools.product(subscripts, repeat=2):
            used = [s[0] for s in each if isinstance(s, tuple)]
            if len(set(used)) < len(used):
                continue
            words = [
                "*" if s is None else f"{s[1]}*{'ij'[s[0]]}+{s[2]}" if isinstance(s, tuple) else s
                for s in each
            ]
            dummies = ["ij"[d] if d in used else "*" for d in range(2)]
            text = f"A({','.join(dummies)}) WITH T({words[0]}, {words[1]})"
            check(aligned((3, 3), each, template, text))


def test_sections_in_one_dimension_exhaustively():
    bases = [plain(spec) for spec in one_dimensional(6, 2)]
    bases.append(indexed((6,), [[(0, 1), (4, 1)], [(1, 2)]]))
    bounds = [None, *range(-7, 8)]
    slices = {
        (part.start, part.stop, part.step): part
        for part in (
            slice(*slice(first, stop, step).indices(6))
            for first, stop, step in itertools.product(bounds, bounds, (-3, -2, -1, 1, 2, 3))
        )
    }
    ranges = {tuple(range(*key)): key for key in slices}
    for base in bases:
        for first, stop, step in ranges.values():
            each = slice(first, None if stop < 0 else stop, step)
            holding = section(base, (each,))
            check_layout(hk, holding, holding.layout(hk))
        for at in range(-6, 6):
            holding = section(base, (at,))
            check_layout(hk, holding, holding.layout(hk))


def test_segments_of_four_elements_exhaustively():
    """Every owner (or none) of every element, of shape (4,) and (2, 2), on 2 processes."""
    for owners in itertools.product((-1, 0, 1), repeat=4):
        lists = [[(k, 1) for k in range(4) if owners[k] == r] for r in range(2)]
        for shape in ((4,), (2, 2)):
            check(indexed(shape, lists))


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_any_layout_of_any_kind(data):
    def choose(low, high):
        return data.draw(st.integers(low, high))

    check(any_layout(choose, any_shape(choose), 12, gaps=True))


@pytest.mark.parametrize("seed", range(3))
def test_many_layouts_of_any_kind(seed):
    choose = from_rng(np.random.default_rng(seed))
    for _ in range(150):
        check(any_layout(choose, any_shape(choose), 12, depth=3, gaps=True))


def kind(holding):
    """Equality compares these: lists equal only their own kind, and elements their order."""
    order = (
        [part[0].tolist() if part else [] for part in holding.parts] if holding.ordered else None
    )
    mask = holding.mask().tobytes()
    return holding.shape, holding.size, holding.flat, holding.ordered, str(order), mask


@pytest.mark.parametrize("seed", range(3))
def test_layouts_are_equal_when_every_process_holds_the_same(seed):
    """Across kinds, and of few shapes and processes, so that equal ones are met often."""
    choose = from_rng(np.random.default_rng([seed, 7]))
    several = [any_layout(choose, (choose(1, 3),), 2, gaps=True) for _ in range(70)]
    several += [any_layout(choose, (2, 2), 2, gaps=True) for _ in range(30)]
    met = 0
    pairs = [(each, each.layout(hk), kind(each)) for each in several]
    for (a, left, mine), (b, right, theirs) in itertools.combinations(pairs, 2):
        assert (left == right) == (mine == theirs), f"{a} and {b}"
        if left == right:
            assert hash(left) == hash(right), f"{a} and {b}"
            met += 1
    assert met > 50


# ---- plans -------------------------------------------------------------------------------------


def check_pair(source, destination, axes, overlap=None):
    """The plan carried out in memory; or the error names the first element that nobody has."""
    a, b = source.layout(hk), destination.layout(hk)
    lacking = holdings.missing(source, destination, axes)
    if lacking is not None:
        with pytest.raises(hk.LayoutError, match=re.escape(f"element {hk_text(lacking)}")):
            hk.plan(a, b, axes=axes, overlap=overlap)
        return None
    p = hk.plan(a, b, axes=axes, overlap=overlap)
    sent = check_plan(p, source, destination, axes)
    both = holdings.common(source, destination, axes)
    assert (sent <= both).all()
    for rank in range(source.size):
        assert p.common("src", rank) == [(d, n) for d, n in enumerate(both[rank].tolist()) if n]
    check_shared(source, sent, both, overlap or {})
    stays = sum(int(sent[s, d]) for d, s in (overlap or {}).items())
    pairs = np.count_nonzero(sent) - sum(1 for d, s in (overlap or {}).items() if sent[s, d])
    assert p.message_count == pairs
    assert p.elements_moved == int(sent.sum()) - stays
    check_rounds(p, source, destination, sent, overlap or {})
    return sent


def check_shared(source, sent, both, overlap):
    """Processes that hold the same share evenly what others take of it, whose bytes are its
    elements: nobody carries more than one element above an even share. A destination process that
    is one of them takes what it needs from itself."""
    same = np.zeros_like(sent, dtype=bool)
    for d, s in overlap.items():
        same[s, d] = True
    groups = {}
    for rank in range(source.size):
        groups.setdefault(source.holds(rank).tobytes(), []).append(rank)
    for members in groups.values() if not source.kind else ():
        carried = np.where(same, 0, sent)[members].sum(axis=1)
        assert carried.max() <= -(-carried.sum() // len(members)) or not both[members].any()
        for d, s in overlap.items():
            if s in members:
                assert sent[s, d] == both[s, d]


def check_rounds(p, source, destination, sent, overlap):
    """As few as there can be, none with two messages from or to one process."""
    messages = sent > 0
    for d, s in overlap.items():
        messages[s, d] = False
    assert p.rounds == max(messages.sum(axis=0).max(), messages.sum(axis=1).max())
    seen = {}
    for side, here in (("src", source), ("dst", destination)):
        for rank in range(here.size):
            steps = p.steps(side, rank)
            rounds = [step[0] for step in steps]
            assert len(set(rounds)) == len(rounds) and all(0 <= r < p.rounds for r in rounds)
            for number, _, (_, peer), _ in steps:
                pair = (rank, peer) if side == "src" else (peer, rank)
                assert seen.setdefault(pair, number) == number, "the two sides disagree"
    assert len(seen) == np.count_nonzero(messages)


def hk_text(index):
    return "(" + ", ".join(map(str, index)) + ")"


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_any_plan_between_layouts_of_any_kind(data):
    def choose(low, high):
        return data.draw(st.integers(low, high))

    check_pair(*any_pair(choose, 8))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gaps", [False, True])
def test_many_plans_between_layouts_of_any_kind(seed, gaps):
    rng = np.random.default_rng([seed, 11])
    choose = from_rng(rng)
    for _ in range(120):
        source, destination, axes = any_pair(choose, 8, gaps=gaps)
        overlap = None
        if choose(0, 1):
            shared = min(source.size, destination.size)
            sources = rng.permutation(source.size)[:shared].tolist()
            overlap = {d: s for d, s in enumerate(sources) if choose(0, 2)}
        check_pair(source, destination, axes, overlap)


@pytest.mark.parametrize("axes", [None, pytest.param((1, 0), marks=pytest.mark.soak)])
def test_segments_to_segments_exhaustively(axes):
    """Every owner of every element on both sides, gaps included; transposed too."""
    several = [
        indexed((2, 2), [[(k, 1) for k in range(4) if owners[k] == r] for r in range(2)])
        for owners in itertools.product((-1, 0, 1), repeat=4)
    ]
    for source, destination in itertools.product(several, repeat=2):
        check_pair(source, destination, axes)


def test_the_first_missing_element_in_the_destinations_order():
    rng = np.random.default_rng(3)
    choose = from_rng(rng)
    named = 0
    for _ in range(400):
        shape = (choose(1, 4), choose(1, 4), choose(1, 4))
        axes = tuple(int(axis) for axis in rng.permutation(3))
        turned = tuple(shape[axis] for axis in axes)
        source = any_layout(choose, shape, 3, 1, gaps=True)
        destination = any_layout(choose, turned, 3, 1, gaps=True)
        named += check_pair(source, destination, axes) is None
    assert named > 30
