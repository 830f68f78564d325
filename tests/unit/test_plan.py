# SPDX-License-Identifier: BSD-3-Clause
"""hk.plan against the oracle: who sends how much to whom, and as which messages."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Format, Spec
from spec_strategies import pairs

SIDES = ("src", "dst")


def make(source, destination, axes=None, **options):
    return hk.plan(source.layout(hk), destination.layout(hk), axes=axes, **options)


def matrix(rows, processes_there):
    """[(process, elements), …] of each process, as a matrix; checks sorting and zeros."""
    table = np.zeros((len(rows), processes_there), dtype=np.int64)
    for rank, row in enumerate(rows):
        others = [other for other, _ in row]
        assert others == sorted(set(others)), "not sorted, or a process is listed twice"
        assert all(elements > 0 for _, elements in row), "zeros are left out"
        for other, elements in row:
            table[rank, other] = elements
    return table


def sent(p, source, destination):
    """The logical traffic, after checking that both sides tell the same."""
    sends = matrix([p.sends(r) for r in range(source.size)], destination.size)
    recvs = matrix([p.recvs(r) for r in range(destination.size)], source.size)
    np.testing.assert_array_equal(sends, recvs.T)
    return sends


def check_steps(p, source, destination, traffic, overlap):
    """Direct: one message for each pair that exchanges anything and is not one process."""
    outgoing, incoming = {}, {}
    for rank in range(source.size):
        for number, verb, (side, other), elements in p.steps(SIDES[0], rank):
            assert (verb, side) == ("send", SIDES[1])
            assert (rank, other) not in outgoing, "two messages between one pair"
            outgoing[rank, other] = (number, elements)
    for rank in range(destination.size):
        for number, verb, (side, other), elements in p.steps(SIDES[1], rank):
            assert (verb, side) == ("recv", SIDES[0])
            assert (other, rank) not in incoming, "two messages between one pair"
            incoming[other, rank] = (number, elements)
    assert outgoing == incoming
    expected = {
        (int(s), int(d)): int(traffic[s, d])
        for s, d in zip(*np.nonzero(traffic))
        if overlap.get(int(d)) != s
    }
    assert {pair: elements for pair, (_, elements) in outgoing.items()} == expected
    assert p.message_count == len(expected)
    assert p.elements_moved == sum(expected.values())
    rounds = {number for number, _ in outgoing.values()}
    assert all(number >= 0 for number in rounds) and len(rounds) <= p.rounds


def check(source, destination, axes=None, overlap=None):
    p = make(source, destination, axes, overlap=overlap, strategy="direct")
    assert p.strategy == "direct"
    traffic = sent(p, source, destination)
    oracle.check_traffic(source, destination, axes, traffic)
    check_steps(p, source, destination, traffic, overlap or {})
    return p, traffic


def test_one_dimension_exhaustively():
    for extent in (0, 1, 2, 5, 8):
        for p, q in itertools.product((1, 2, 3), repeat=2):
            sources = oracle.one_dimensional(extent, p)
            destinations = oracle.one_dimensional(extent, q)
            for source, destination in itertools.product(sources, destinations):
                check(source, destination)


def test_every_pair_of_formats_in_two_dimensions():
    forms = [STAR, BLOCK, CYCLIC, Format("CYCLIC", 3), Format("BLOCK", 6)]
    several = [
        Spec((11, 7), pair, tuple(p for p, f in zip((3, 2), pair) if f is not STAR))
        for pair in itertools.product(forms, repeat=2)
    ]
    for source, destination in itertools.product(several, repeat=2):
        check(source, destination)


@settings(max_examples=250, deadline=None)
@given(pairs())
def test_any_pair_of_layouts(pair):
    check(*pair)


@settings(max_examples=150, deadline=None)
@given(pairs(), st.data())
def test_any_pair_whose_sides_share_processes(pair, data):
    source, destination, axes = pair
    shared = min(source.size, destination.size)
    sources = data.draw(st.permutations(range(source.size)))[:shared]
    overlap = {d: s for d, s in enumerate(sources) if data.draw(st.booleans())}
    _, traffic = check(source, destination, axes, overlap)
    # A process that holds all it needs asks nobody else.
    both = oracle.traffic(source, destination, axes)
    wanted = traffic.sum(axis=0)
    for d, s in overlap.items():
        if both[s, d] == wanted[d]:
            assert traffic[s, d] == wanted[d]


def test_two_elements_by_hand():
    p = hk.plan(hk.Layout((4, 6), "(BLOCK, *)", 2), hk.Layout((4, 6), "(*, BLOCK)", 3))
    assert p.sends(0) == [(0, 4), (1, 4), (2, 4)]
    assert p.recvs(2) == [(0, 4), (1, 4)]
    assert (p.strategy, p.message_count, p.elements_moved) == ("direct", 6, 24)


def test_the_identity_moves_nothing():
    lay = hk.Layout((9, 4), "(CYCLIC(2), *)", 3)
    p = hk.plan(lay, lay, overlap={r: r for r in range(3)})
    assert [p.sends(r) for r in range(3)] == [[(r, n)] for r, n in ((0, 16), (1, 12), (2, 8))]
    assert (p.message_count, p.elements_moved, p.rounds) == (0, 0, 0)
    assert all(p.steps(side, r) == [] for side in SIDES for r in range(3))


def test_transposition_of_figure_1():
    """(BLOCK, *) transposed in place: P(P-1) messages of n²/P² elements."""
    lay = hk.Layout((64, 64), "(BLOCK, *)", 4)
    p = hk.plan(lay, lay, axes=(1, 0), overlap={r: r for r in range(4)})
    assert p.message_count == 12 and p.elements_moved == 64 * 64 * 12 // 16
    assert all(n == 256 for r in range(4) for _, n in p.sends(r))


def test_every_copy_is_written():
    source = Spec((10,), (BLOCK,), (2,))
    destination = Spec((10,), (STAR,), (3,), (0,))
    _, traffic = check(source, destination)
    assert traffic.tolist() == [[5, 5, 5], [5, 5, 5]]


@pytest.mark.parametrize("copies", [2, 3, 4])
@pytest.mark.parametrize("receivers", [1, 2, 3, 4, 5])
def test_senders_that_hold_copies_share_the_work(copies, receivers):
    source = Spec((1200, 2), (STAR, STAR), (copies,), (0,))
    destination = Spec((1200, 2), (BLOCK, STAR), (receivers,))
    p = make(source, destination)
    traffic = sent(p, source, destination)
    # The oracle's mask of 2400 elements would be slow; everyone holds everything here.
    wanted = [destination.indices(r)[0].size * 2 for r in range(receivers)]
    assert traffic.sum(axis=0).tolist() == wanted
    assert traffic.sum(axis=1).max() <= 1.02 * 2400 / copies + 2


def test_plans_of_huge_arrays_by_formula():
    extent = 2**40
    source = hk.Layout((extent,), "(BLOCK)", 1000)
    destination = hk.Layout((extent,), "(CYCLIC(4096))", 12)
    p = hk.plan(source, destination)
    begun = time.process_time()
    for rank in (0, 1, 500, 999):
        row = p.sends(rank)
        assert sum(n for _, n in row) == source.local_shape(rank)[0]
        first, count = int(-(-extent // 1000)) * rank, source.local_shape(rank)[0]
        for other, elements in row:
            assert elements == cyclic_count(first + count, other) - cyclic_count(first, other)
    assert time.process_time() - begun < 5.0, "cost must go by periods, not by blocks"


def cyclic_count(end: int, process: int, block: int = 4096, processes: int = 12) -> int:
    """How many of the indices 0 … end - 1 that process holds under CYCLIC(block)."""
    full, rest = divmod(end, block * processes)
    return full * block + min(max(rest - process * block, 0), block)


def test_coprime_periods_of_huge_arrays():
    extent = 2**40
    source = hk.Layout((extent,), "(CYCLIC(997))", 7)
    destination = hk.Layout((extent,), "(CYCLIC(1009))", 5)
    p = hk.plan(source, destination)
    for rank in range(7):
        assert sum(n for _, n in p.sends(rank)) == source.local_shape(rank)[0]
    for rank in range(5):
        assert sum(n for _, n in p.recvs(rank)) == destination.local_shape(rank)[0]


def test_one_rank_of_a_million_alone():
    source = hk.Layout((10**9,), "(BLOCK)", 10**6)
    destination = hk.Layout((10**9,), "(CYCLIC(10))", 10**6)
    begun = time.process_time()
    row = hk.plan(source, destination).sends(123456)
    assert time.process_time() - begun < 2.0
    assert row == [((12345600 + k) % 10**6, 10) for k in range(100)]


def test_tables_and_predictions():
    p = hk.plan(hk.Layout((64, 64), "(BLOCK, *)", 4), hk.Layout((64, 64), "(*, BLOCK)", 2))
    predicted = p.predict()
    assert predicted[p.strategy] > 0 and np.isfinite(list(predicted.values())).all()
    assert p.strategy in p.table()


# ---- bad input ------------------------------------------------------------------------------

ROWS = ((8, 6), "(BLOCK, *)", 2)


@pytest.mark.parametrize(
    ("destination", "options", "named"),
    [
        (((8, 7), "(BLOCK, *)", 2), {}, ["(8, 6)", "(8, 7)"]),
        (((6, 8), "(BLOCK, *)", 2), {}, ["(8, 6)", "(6, 8)"]),
        (((8, 6), "(BLOCK, *)", 2), {"axes": (1, 0)}, ["(8, 6)"]),
        (((48,), "(BLOCK)", 2), {}, ["48"]),
        (ROWS, {"axes": (0, 0)}, ["0, 0"]),
        (ROWS, {"axes": (0,)}, []),
        (ROWS, {"axes": (0, 2)}, ["2"]),
        (ROWS, {"itemsize": 0}, ["0"]),
        (ROWS, {"itemsize": -8}, ["-8"]),
        (ROWS, {"strategy": "drect"}, ["drect", "direct"]),
        (ROWS, {"overlap": {0: 0, 1: 0}}, ["0"]),
        (ROWS, {"overlap": {0: 2}}, ["2"]),
        (ROWS, {"overlap": {2: 0}}, ["2"]),
    ],
)
def test_plans_that_cannot_be(destination, options, named):
    with pytest.raises(hk.LayoutError) as caught:
        hk.plan(hk.Layout(*ROWS), hk.Layout(*destination), **options)
    for value in named:
        assert value in str(caught.value)


def test_processes_that_do_not_exist():
    p = hk.plan(hk.Layout(*ROWS), hk.Layout((8, 6), "(*, CYCLIC)", 3))
    for ask, rank in (
        (p.sends, 2),
        (p.sends, -1),
        (p.recvs, 3),
        (lambda r: p.steps("src", r), 2),
        (lambda r: p.steps("dst", r), 3),
        (lambda r: p.steps("sideways", r), 0),
    ):
        with pytest.raises(hk.LayoutError):
            ask(rank)


def test_negative_axes_are_numpys():
    lay = hk.Layout((8, 6), "(BLOCK, *)", 2)
    turned = hk.Layout((6, 8), "(BLOCK, *)", 2)
    assert hk.plan(lay, turned, axes=(-1, 0)).sends(0) == hk.plan(lay, turned, axes=(1, 0)).sends(0)
