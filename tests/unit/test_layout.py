# SPDX-License-Identifier: BSD-3-Clause
"""hk.Layout against the oracle: who holds what, and where it lies."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Format, Spec
from spec_strategies import specs


def check(spec: Spec) -> None:
    """Everything a layout says of itself, element by element."""
    lay = spec.layout(hk)
    assert lay.shape == spec.shape
    assert lay.size == spec.size
    held = [spec.indices(rank) for rank in range(spec.size)]
    for rank in range(spec.size):
        assert lay.local_shape(rank) == tuple(len(indices) for indices in held[rank])
        got = lay.global_indices(rank)
        assert len(got) == len(spec.shape)
        for indices, expected in zip(got, held[rank]):
            assert indices.dtype == np.int64
            np.testing.assert_array_equal(indices, expected)
    for index in np.ndindex(*spec.shape):
        owners = spec.owners(index)
        assert lay.owners(index) == owners
        assert lay.owner(index) == owners[0]
        place = tuple(
            int(np.searchsorted(indices, i)) for indices, i in zip(held[owners[-1]], index)
        )
        assert tuple(lay.local_index(index)) == place


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 7])
def test_one_dimension_exhaustively(processes):
    for extent in range(10):
        for spec in oracle.one_dimensional(extent, processes):
            check(spec)


def test_two_dimensions_exhaustively():
    forms = [STAR, BLOCK, CYCLIC, Format("CYCLIC", 2), Format("BLOCK", 3)]
    for first, second in itertools.product(forms, repeat=2):
        procs = tuple(p for p, form in zip((2, 3), (first, second)) if form.kind != "*")
        check(Spec((5, 7), (first, second), procs))
        for position in range(len(procs) + 1):
            copied = (*procs[:position], 2, *procs[position:])
            check(Spec((5, 7), (first, second), copied, (position,)))


@settings(max_examples=150, deadline=None)
@given(specs())
def test_any_layout(spec):
    check(spec)


@settings(max_examples=150, deadline=None)
@given(specs())
def test_text_parses_back_and_layouts_pickle(spec):
    lay = spec.layout(hk)
    for again in (hk.Layout.parse(str(lay)), pickle.loads(pickle.dumps(lay))):
        assert again == lay
        assert hash(again) == hash(lay)
        assert (again.shape, again.size) == (lay.shape, lay.size)
        assert (again.dist, again.procs) == (lay.dist, lay.procs)
        assert str(again) == str(lay)
        for rank in range(lay.size):
            assert again.local_shape(rank) == lay.local_shape(rank)
    assert "\n" not in str(lay)


def same_sets(a: Spec, b: Spec) -> bool:
    return a.shape == b.shape and a.size == b.size and bool((a.mask() == b.mask()).all())


def test_equal_when_every_process_holds_the_same():
    for extent, processes in itertools.product((0, 1, 2, 3, 5, 8), (1, 2, 4)):
        several = oracle.one_dimensional(extent, processes)
        for a, b in itertools.product(several, repeat=2):
            left, right = a.layout(hk), b.layout(hk)
            assert (left == right) == same_sets(a, b), f"{a} and {b}"
            assert (left != right) != same_sets(a, b), f"{a} and {b}"
            if left == right:
                assert hash(left) == hash(right), f"{a} and {b}"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_equality_in_several_dimensions(data):
    a = data.draw(specs())
    b = data.draw(specs(shape=a.shape))
    left, right = a.layout(hk), b.layout(hk)
    assert (left == right) == same_sets(a, b)
    if left == right:
        assert hash(left) == hash(right)
    assert left != "a layout" and left != None  # noqa: E711


def test_the_text_of_a_format_is_hpfs_in_any_case():
    lay = hk.Layout((12, 12, 5), "( block,Cyclic( 3 ) ,*)", (2, 3))
    assert lay.dist == "(BLOCK, CYCLIC(3), *)"
    assert lay == hk.Layout((12, 12, 5), "(BLOCK, CYCLIC(3), *)", (2, 3))
    assert lay.procs == (2, 3)
    assert "CYCLIC(3)" in repr(lay) and "12" in repr(lay)


@pytest.mark.parametrize(
    "dist",
    ["BLOCK, cyclic(3),*", ["BLOCK", "CYCLIC(3)", "*"], ("block", " CYCLIC( 3 )", "*")],
)
def test_formats_may_be_a_list_or_leave_out_the_parentheses(dist):
    lay = hk.Layout((12, 12, 5), dist, (2, 3))
    assert lay.dist == "(BLOCK, CYCLIC(3), *)" and lay.procs == (2, 3)


def test_a_list_without_formats_is_of_an_array_without_dimensions():
    assert hk.Layout((), []) == hk.Layout((), "()", ())
    assert hk.Layout(12, "BLOCK", 3) == hk.Layout(12, ["BLOCK"], 3) == hk.Layout(12, "(BLOCK)", 3)


def test_procs_may_be_an_int_or_left_empty():
    assert hk.Layout((8,), "(BLOCK)", 4) == hk.Layout((8,), "(BLOCK)", (4,))
    assert hk.Layout((8,), "(BLOCK)", 4).procs == (4,)
    assert hk.Layout((8, 8), "(*, *)", 1) == hk.Layout((8, 8), "(*, *)", ())
    assert hk.Layout((8, 8), "(*, *)", 1).size == 1


def test_numpy_integers_and_lists_are_accepted():
    lay = hk.Layout([np.int64(8), np.int32(6)], "(BLOCK, *)", np.int64(2))
    assert lay == hk.Layout((8, 6), "(BLOCK, *)", 2)
    assert all(type(extent) is int for extent in lay.shape + lay.procs)
    assert lay.owner((np.int64(7), np.int64(0))) == 1


def test_an_array_without_dimensions_is_one_element():
    lay = hk.Layout((), "()", ())
    assert (lay.shape, lay.size, lay.local_shape(0)) == ((), 1, ())
    assert lay.owners(()) == [0]


def test_an_index_of_one_dimension_may_be_an_int():
    lay = hk.Layout((10,), "(CYCLIC)", 3)
    assert lay.owner(7) == lay.owner((7,)) == 1
    assert lay.owners(7) == [1]


def test_layouts_are_immutable():
    lay = hk.Layout((10,), "(CYCLIC)", 3)
    for name in ("shape", "dist", "procs", "size"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(lay, name, getattr(lay, name))


def test_extents_beyond_32_bits():
    extent, processes = 2**40 + 3, 10**6
    block = -(-extent // processes)
    lay = hk.Layout((extent, 2), "(BLOCK, *)", processes)
    assert lay.local_shape(0) == (block, 2)
    assert lay.local_shape(processes - 1) == (extent - block * (processes - 1), 2)
    assert lay.owner((extent - 1, 1)) == (extent - 1) // block
    assert tuple(lay.local_index((extent - 1, 1))) == ((extent - 1) % block, 1)
    lay = hk.Layout((extent,), "(CYCLIC(7))", 11)
    i = 2**40 - 5
    assert lay.owner(i) == i // 7 % 11
    assert tuple(lay.local_index(i)) == (i // 77 * 7 + i % 7,)
    counts = [lay.local_shape(rank)[0] for rank in range(11)]
    assert sum(counts) == extent and max(counts) - min(counts) <= 7
    assert hk.Layout.parse(str(lay)) == lay


# ---- bad input ------------------------------------------------------------------------------


def caret_columns(message: str, text: str) -> list[int]:
    """The positions in `text` of the message's carets; [] if text and caret do not line up."""
    lines = message.splitlines()
    return [
        below.index("^") - line.index(text)
        for line, below in zip(lines, lines[1:])
        if text in line and "^" in below
    ]


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("", 0, "("),
        ("BLOCK, *)", 0, "("),
        ("(BLOCK, *", 9, ")"),
        ("(BLOCK *)", 7, ","),
        ("(BLOCK,, *)", 7, "BLOCK"),
        ("(BLOK, *)", 1, "BLOCK"),
        ("(*, CYCLC(2))", 4, "CYCLIC"),
        ("(*, cyclicc)", 4, "CYCLIC"),
        ("(CYCLIC(0), *)", 8, "0"),
        ("(CYCLIC(), *)", 8, ""),
        ("(CYCLIC(two), *)", 8, ""),
        ("(CYCLIC(2, *)", 9, ")"),
        ("(BLOCK(-1), *)", 7, ""),
        ("(BLOCK, *) x", 11, "x"),
        ("(BLOCK; *)", 6, ""),
        ("(CYCLIC(99999999999999999999), *)", 8, "99999999999999999999"),
    ],
)
def test_malformed_text_is_pointed_at(text, column, word):
    with pytest.raises(hk.LayoutError) as caught:
        hk.Layout((12, 12), text, 2)
    message = str(caught.value)
    assert caret_columns(message, text) == [column], message
    assert word in message
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, hk.Error)


@pytest.mark.parametrize(
    ("dist", "words"),
    [
        (["BLOCK", None], r"dist\[1\] is None; give a text"),
        (["BLOCK", 3], r"dist\[1\] is 3"),
        (["BLOK", "*"], r"did you mean 'BLOCK'.*\nBLOK\n\^"),
        ("*, BLOK", r"did you mean 'BLOCK'.*\n\(\*, BLOK\)\n    \^"),
        (["BLOCK"], "2.*1|1.*2"),
        (b"BLOCK", "give a text"),
    ],
)
def test_formats_that_cannot_be_are_named(dist, words):
    with pytest.raises(hk.LayoutError, match=words):
        hk.Layout((12, 12), dist, 2)


@pytest.mark.parametrize(
    ("shape", "dist", "procs", "named"),
    [
        ((12, 12), "(BLOCK)", 2, ["2", "1"]),  # dimensions and formats
        ((12,), "(BLOCK, *)", 2, ["2", "1"]),
        ((12, 12), "(BLOCK, BLOCK)", 4, ["2"]),  # one extent, two wanted
        ((12, 12), "(BLOCK, *)", (2, 2), ["2, 2", "1"]),
        ((12, 12), "(BLOCK, *)", (), []),
        ((12, 12), "(*, *)", 2, ["2"]),
        ((12, 12), "(BLOCK, *)", 0, ["0"]),
        ((12, 12), "(BLOCK, *)", -3, ["-3"]),
        ((-1, 12), "(BLOCK, *)", 2, ["-1"]),
        ((13, 12), "(BLOCK(3), *)", 4, ["13", "3", "4"]),
        ((2**40, 2**40), "(BLOCK, *)", 2, [str(2**40)]),
        ((12, 12), "(BLOCK, BLOCK)", (2**40, 2**40), [str(2**40)]),
        ((2**70,), "(BLOCK)", 2, []),
    ],
)
def test_extents_that_do_not_fit(shape, dist, procs, named):
    with pytest.raises(hk.LayoutError) as caught:
        hk.Layout(shape, dist, procs)
    for value in named:
        assert value in str(caught.value)


@pytest.mark.parametrize("replicate", [(2,), (-1,), (0, 0), (0, 1)])
def test_replicated_positions_that_do_not_fit(replicate):
    with pytest.raises(hk.LayoutError):
        hk.Layout((12,), "(BLOCK)", (2, 3), replicate=replicate)


@pytest.mark.parametrize(
    ("shape", "dist", "procs"),
    [((12.5,), "(BLOCK)", 2), (("12",), "(BLOCK)", 2), ((12,), 5, 2), ((12,), "(BLOCK)", 2.5)],
)
def test_wrong_types_are_refused(shape, dist, procs):
    with pytest.raises((TypeError, hk.LayoutError)):
        hk.Layout(shape, dist, procs)


def test_processes_and_indices_that_do_not_exist():
    lay = hk.Layout((12, 6), "(BLOCK, *)", 4)
    for rank in (-1, 4, 2**70):
        for ask in (lay.local_shape, lay.global_indices):
            with pytest.raises(hk.LayoutError) as caught:
                ask(rank)
            assert rank == 2**70 or str(rank) in str(caught.value)
    for index in ((12, 0), (0, 6), (-1, 0), (0,), (0, 0, 0), 3):
        for ask in (lay.owners, lay.owner, lay.local_index):
            with pytest.raises(hk.LayoutError):
                ask(index)


@pytest.mark.parametrize(
    "text", ["", "(", "(12,12)", "(12, 12) (BLOK, *) @ (2)", "nonsense", "(12) (BLOCK) @ (2) (3)"]
)
def test_malformed_layouts_do_not_parse(text):
    with pytest.raises(hk.LayoutError):
        hk.Layout.parse(text)


def test_one_process_may_be_written_where_nothing_is_distributed():
    lay = hk.Layout((8, 8), "(*, *)", 1)
    assert lay == hk.Layout((8, 8), "(*, *)")
    for text in ("(8, 8) (*,*) @ 1", "(8, 8) (*, *) @ (1)", "(8, 8) (*, *) @ ()", "(8, 8) (*,*)"):
        assert hk.Layout.parse(text) == lay
    assert hk.Layout.parse("(*, *) @ 1", (8, 8)) == lay
    with pytest.raises(hk.LayoutError, match="2"):
        hk.Layout.parse("(8, 8) (*, *) @ 2")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="()*,0123456789 BLOCKYIcyclicblock@=[]:-", max_size=40))
def test_no_text_does_anything_but_parse_or_raise(text):
    for make in (lambda: hk.Layout.parse(text), lambda: hk.Layout((12, 12), text, 2)):
        try:
            lay = make()
        except hk.LayoutError:
            continue
        assert hk.Layout.parse(str(lay)) == lay


@settings(max_examples=200, deadline=None)
@given(specs(), st.data())
def test_texts_with_one_wrong_character(spec, data):
    text = str(spec.layout(hk))
    place = data.draw(st.integers(0, len(text) - 1))
    wrong = data.draw(st.characters())
    damaged = text[:place] + wrong + text[place + 1 :]
    try:
        lay = hk.Layout.parse(damaged)
    except hk.LayoutError:
        return
    assert hk.Layout.parse(str(lay)) == lay


# ---- formats as objects, boxes, elements -------------------------------------------------------


def test_formats_may_be_a_list_or_a_tuple():
    owners = [0, 2, 2, 1, 0]
    written = hk.Layout((5, 4), "(INDIRECT(0, 2*2, 1, 0), BALANCED)", (3, 2))
    for map_ in (owners, tuple(owners), np.array(owners, np.int32), np.array(owners, np.uint64)):
        assert hk.Layout((5, 4), (hk.indirect(map_), "balanced"), (3, 2)) == written
        assert hk.Layout((5, 4), [hk.indirect(map_), hk.Format("BALANCED")], (3, 2)) == written
    assert hk.Layout(8, [hk.gen_block([3, 0, 5])], 3) == hk.Layout(8, "(GEN_BLOCK(3, 0, 5))", 3)
    assert written.dist == "(INDIRECT(0, 2*2, 1, 0), BALANCED)"
    assert hk.Layout(8, "(gen_block(3, 2*2, 1))", 4).dist == "(GEN_BLOCK(3, 2, 2, 1))"
    assert hk.indirect(owners) == hk.Format("INDIRECT(0, 2, 2, 1, 0)") != hk.gen_block(owners)
    assert len({hk.indirect(owners), pickle.loads(pickle.dumps(hk.indirect(owners)))}) == 1


def test_balanced_is_as_numpy_splits():
    for extent, processes in itertools.product((0, 1, 7, 12), (1, 3, 5, 20)):
        lay = hk.Layout(extent, "(BALANCED)", processes)
        for rank, part in enumerate(np.array_split(np.arange(extent), processes)):
            np.testing.assert_array_equal(lay.global_indices(rank)[0], part)


def test_long_layouts_are_short_to_look_at():
    rng = np.random.default_rng(1)
    owners = rng.integers(0, 7, 10**5)
    several = [
        hk.Layout(10**5, [hk.indirect(owners)], 7),
        hk.Layout.elements(10**5, [np.flatnonzero(owners == r)[::-1] for r in range(7)]),
        hk.Layout.boxes((10**4, 3), [((k, 0), (k + 1, 3)) for k in range(10**4)]),
        hk.Layout(10**4, [hk.gen_block([1] * 10**4)], 10**4),
    ]
    for lay in several:
        assert len(repr(lay)) < 1000
        again = hk.Layout.parse(str(lay))
        assert again == lay and hash(again) == hash(lay)
        with pytest.raises(hk.LayoutError) as caught:
            hk.plan(lay, hk.Layout((3, 3), "(*, *)"))
        assert len(str(caught.value)) < 1000
    assert several[0] != several[1]


B = ((0, 0), (2, 3))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hk.Layout(10, "(GEN_BLOCK(3, 3))", 2), "add up to 6"),
        (lambda: hk.Layout(6, "(GEN_BLOCK(3, 3))", 3), "2 extents"),
        (lambda: hk.Layout(6, [hk.gen_block([7, -1])], 2), "negative extent -1"),
        (lambda: hk.Layout(6, [hk.gen_block([2**62] * 3)], 3), "2^63"),
        (lambda: hk.Layout(3, "(INDIRECT(0, 1))", 2), "owners of 2 indices"),
        (lambda: hk.Layout(3, "(INDIRECT(0, 1, 2))", 2), "index 2 of dimension 0 to process 2"),
        (lambda: hk.indirect([0, -3]), "index 1 to process -3"),
        (lambda: hk.indirect([0.5]), "float64"),
        (lambda: hk.indirect([[0], [1]]), "(2, 1)"),
        (lambda: hk.indirect(7), "list of integers"),
        (lambda: hk.indirect(np.array([2**63], np.uint64)), "63 bits"),
        (lambda: hk.Layout(3, [7], 2), "format"),
        (lambda: hk.Layout((3, 4), ["BLOCK"], 2), "1 formats"),
        (lambda: hk.Layout(3, 5, 2), "format a dimension"),
        (lambda: hk.Layout(3, "(INDIRECT(0, 1", 2), "character"),
        (lambda: hk.Layout(3, "(GEN_BLOCK)", 2), "'('"),
        (lambda: hk.Layout(3, "(BALANCED(2))", 2), "','"),
        (lambda: hk.Layout.boxes((4, 4), [B, ((0, 0), (5, 3))]), "process 1 leaves the shape"),
        (lambda: hk.Layout.boxes((4, 4), [((2, 0), (1, 3))]), "stops before it starts"),
        (lambda: hk.Layout.boxes((4, 4), [((-1, 0), (1, 3))]), "leaves the shape"),
        (lambda: hk.Layout.boxes((4, 4), [((0,), (1,))]), "2 dimensions"),
        (lambda: hk.Layout.boxes((4, 4), [B, 3]), "(start, stop) pair"),
        (lambda: hk.Layout.boxes((4, 4), 3), "for each process"),
        (lambda: hk.Layout.boxes((4, 4), []), "names no process"),
        (lambda: hk.Layout.elements(6, [[0, 3], [2, 6]]), "element 6 of process 1"),
        (lambda: hk.Layout.elements(6, [[0, -1]]), "element -1 of process 0"),
        (lambda: hk.Layout.elements(6, [[0, 3, 1, 3]]), "process 0 lists element 3 twice"),
        (lambda: hk.Layout.elements(6, [["a"]]), "integers"),
        (lambda: hk.Layout.parse("(4) BOXES [0:2 | 3:5]"), "each dimension"),
        (lambda: hk.Layout.parse("(4) BOXES [0:2, 0:2]"), "each dimension"),
        (lambda: hk.Layout.parse("(4) ELEMENTS [0, 9]"), "element 9"),
        (lambda: hk.Layout(6, "(CYCLIC(3))", 1).section(np.s_[::2]).slices(1), "process 1"),
        (lambda: hk.Layout(9, "(CYCLIC(2))", 2).slices(0), "not equally spaced"),
        (lambda: hk.Layout(9, "(CYCLIC)", 2).to_boxes(), "gaps"),
        (lambda: hk.Layout.elements(3, [[0]]).slices(0), "list of elements"),
        (
            lambda: hk.plan(hk.Layout.boxes((4, 4), [B]), hk.Layout((4, 4), "(*, *)")),
            "element (0, 3), which no process",
        ),
    ],
)
def test_what_cannot_be_says_why(make, words):
    with pytest.raises(hk.LayoutError) as caught:
        make()
    assert words in str(caught.value)
