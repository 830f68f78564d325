# SPDX-License-Identifier: BSD-3-Clause
"""hk.redistribute between layouts of every kind: alignments, sections, segments with gaps,
relabelings and copies; every byte is watched."""

import numpy as np
import pytest
from cases import (
    check_still_works,
    move,
    private,
    raises_everywhere,
    random_dtype,
    source_of,
    whole,
)
from lockstep import ranks

import hocket as hk
import holdings
from holdings import plain
from oracle import BLOCK, STAR, Spec, values
from random_layouts import (
    any_boxes,
    any_elements,
    any_layout,
    any_pair,
    any_shape,
    from_rng,
)


def random_move(comm, rng, own, case, gaps):
    source, destination, axes = any_pair(from_rng(rng), comm.size, gaps=gaps)
    dtype = random_dtype(rng)
    fresh = bool(rng.random() < 0.3)
    lacking = holdings.missing(source, destination, axes)
    if lacking is None:
        move(comm, source, destination, axes, dtype, own, salt=case, fresh=fresh)
        return
    a, memory = source_of(source, whole(source.shape, dtype), comm, own)
    raises_everywhere(
        comm,
        hk.LayoutError,
        lambda: hk.redistribute(a, destination.layout(hk), axes=axes),
        "element (" + ", ".join(map(str, lacking)) + ")",
    )
    memory.check_untouched("the source of what cannot be")


@ranks(1, 2, 3, 4, 5, 6)
@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.soak)])
def test_random_layouts_of_every_kind(comm, seed):
    rng = np.random.default_rng([seed, comm.size, 3])
    own = private(comm, seed)
    for case in range(30):
        random_move(comm, rng, own, case, gaps=bool(seed % 2))
    check_still_works(comm)


@pytest.mark.parametrize("cases", [8, pytest.param(25, marks=pytest.mark.soak)])
@ranks(4, soak=[6], nodes="0,1")
def test_random_layouts_of_every_kind_on_pretended_nodes(comm, cases):
    rng = np.random.default_rng([77, comm.size])
    own = private(comm, 77)
    for case in range(cases):
        random_move(comm, rng, own, case, gaps=False)


@pytest.mark.soak
@ranks(1, 2, 3, 4, 5, 6, seconds=600)
def test_random_layouts_of_every_kind_for_long(comm, soak_seed):
    rng, own = np.random.default_rng([soak_seed, comm.size]), private(comm, soak_seed)
    for case in range(2000):
        try:
            random_move(comm, rng, own, case, gaps=bool(case % 3))
        except BaseException as error:
            raise AssertionError(f"seed {soak_seed}, case {case}") from error


@ranks(2, 3, 4)
def test_boundary_strips_move_without_the_rest(comm):
    """A strip of a large array goes to its neighbour: messages of the strip's size only."""
    p = comm.size
    rows = plain(Spec((4 * p, 6), (BLOCK, STAR), (p,)))
    last = holdings.section(rows, (slice(3, None, 4), slice(1, 5)))  # each process's last row
    first = holdings.relabeled(last, [(r + 1) % p for r in range(p)], p)
    move(comm, last, first, None, "f8", private(comm, 1))
    moved = hk.plan(last.layout(hk), first.layout(hk), overlap={r: r for r in range(p)})
    assert moved.elements_moved == 4 * p and moved.message_count == p
    assert moved.rounds == 1


@ranks(2, 3, 4, 6)
def test_relabeling_end_to_end(comm):
    """Upside down: what `relabel` finds makes a layout that arrays are created with, and the
    elements it says need not move do not."""
    p = comm.size
    source = hk.Layout((3 * p + 1, 5), "(BLOCK(4), *)", p)
    turned = hk.Layout.aligned((3 * p + 1, 5), f"A(i,j) WITH T({3 * p}-i, j)", source)
    perm = hk.relabel(source, turned)
    best = turned.relabeled(perm)
    moved = hk.plan(source, best, overlap={r: r for r in range(p)}).elements_moved
    assert (moved, perm.saving) == (perm.moved, 1 - perm.moved / perm.moved_without)
    assert perm.moved < perm.moved_without
    numbers = values(source.shape, np.int64)
    a = hk.from_function(lambda i, j: 5 * i + j + 1, source, "i8", comm=comm)
    b = hk.empty(best, "i8", comm=comm)
    assert hk.redistribute(a, best, out=b) is b
    if comm.rank < best.size:
        np.testing.assert_array_equal(b.local, numbers[np.ix_(*best.global_indices(comm.rank))])


def numbered(layout, comm):
    """An array whose elements are 1, 2, 3, … in row-major order, and the whole of it."""
    columns = layout.shape[1]
    a = hk.from_function(lambda i, j: columns * i + j + 1, layout, "i8", comm=comm)
    return a, values(layout.shape, np.int64)


@ranks(1, 2, 3, 4)
@pytest.mark.parametrize("slices", [np.s_[1::2, ::-1], np.s_[6:1:-2, 2:9:3], np.s_[3, :]])
def test_sections_of_arrays_are_sources_and_destinations(comm, slices):
    p = comm.size
    a, numbers = numbered(hk.Layout((8, 10), "(CYCLIC, BLOCK)", (p, 1)), comm)
    part = a.section(slices)
    wanted = numbers[slices]
    dist = "(*, BLOCK)" if wanted.ndim == 2 else "(CYCLIC(2))"
    there = hk.Layout(wanted.shape, dist, p)
    b = hk.redistribute(part, there)
    np.testing.assert_array_equal(b.local, wanted[np.ix_(*there.global_indices(comm.rank))])
    room = hk.zeros(hk.Layout((8, 10), "(BLOCK, *)", p), "i8", comm=comm)
    into = room.section(slices)
    hk.redistribute(part, into.layout, out=into)
    expected = np.zeros_like(numbers)
    expected[slices] = wanted
    np.testing.assert_array_equal(
        room.local, expected[np.ix_(*room.layout.global_indices(comm.rank))]
    )


@ranks(4)
def test_a_panel_is_sent_without_the_rest(comm):
    w = hk.tasks({"left": 2, "right": 2}, comm=comm)
    layout = hk.Layout((6, 8), "(BLOCK, *)", 2)
    a, numbers = numbered(layout, w.comm)
    if w.name == "left":
        w.send(a.section(np.s_[:, 5:7]), "right", timeout=100)
        np.testing.assert_array_equal(a.local, numbers[np.ix_(*layout.global_indices(w.comm.rank))])
        return
    panel = a.section(np.s_[::-1, 0:2])
    status = w.recv(panel, "left", timeout=100)
    assert status.layout.shape == (6, 2)
    numbers[::-1, 0:2] = values(layout.shape, np.int64)[:, 5:7]
    np.testing.assert_array_equal(a.local, numbers[np.ix_(*layout.global_indices(w.comm.rank))])


def all_verbs(comm, rng, case):
    """One array of any kind through scatter, gather, sends of every sort, and collectives."""
    choose = from_rng(rng)
    shape = any_shape(choose)
    sizes = {"left": comm.size // 2, "right": comm.size - comm.size // 2}
    w = hk.tasks(sizes, comm=comm)
    left = w.name == "left"
    held = {name: any_layout(choose, shape, n) for name, n in sizes.items()}
    spec, numbers = held[w.name], values(shape, np.int64)
    a = hk.zeros(spec.layout(hk), "i8", comm=w.comm)
    expected = spec.local(numbers, w.comm.rank).reshape(a.local.shape)

    def filled(what):
        np.testing.assert_array_equal(a.local, expected, err_msg=f"case {case}, {what}: {held}")
        a.local[...] = 0

    first = hk.scatter(numbers if w.comm.rank == 0 else None, a.layout, comm=w.comm)
    np.testing.assert_array_equal(first.local, expected)
    again = first.gather()
    if w.comm.rank == 0:
        np.testing.assert_array_equal(again, numbers)

    def ours():
        a.local[...] = expected if left else 0

    for strategy in ("auto", ["direct", "staged", "multistage", "hybrid"][case % 4]):
        ours()
        pieces = int(rng.integers(1, 4)) if shape and strategy == "auto" else None
        if left:
            w.send(a, "right", strategy=strategy, pieces=pieces, timeout=100)
        else:
            w.recv(a, "left", timeout=100)
            filled(f"send by {strategy}, {pieces} pieces")
        ours()
        r = (
            w.send_init(a, "right", strategy=strategy)
            if left
            else w.recv_init(a, "left", strategy=strategy)
        )
        for _ in range(2):
            r.start(a)
            r.wait(timeout=100)
            if not left:
                filled(f"started, {strategy}")
        r.free()
    ours()
    w.bcast(a, "left", timeout=100)
    filled("bcast")
    a.local[...] = expected
    b = hk.zeros(a.layout, "i8", comm=w.comm)
    w.allreduce(a, b, "add", timeout=100)
    np.testing.assert_array_equal(b.local, 2 * expected)


@ranks(2, 3, 6, soak=[4, 5])
def test_every_verb_takes_every_kind(comm):
    rng = np.random.default_rng([comm.size, 5])
    for case in range(12):
        all_verbs(comm, rng, case)


@ranks(1, 2, 3)
def test_functions_of_indices_fill_every_kind(comm):
    rng = np.random.default_rng([comm.size, 6])
    for _ in range(20):
        spec = any_layout(from_rng(rng), (4, 5), comm.size, gaps=True)
        a = hk.from_function(lambda i, j: 5 * i + j + 1, spec.layout(hk), "i8", comm=comm)
        np.testing.assert_array_equal(a.local, spec.local(values((4, 5), np.int64), comm.rank))


@ranks(1, 2, 3, 6)
def test_layouts_of_each_process_s_own_part(comm):
    rng = np.random.default_rng([comm.size, 8])
    choose = from_rng(rng)
    for _ in range(8):
        shape = (choose(1, 5), choose(1, 6))
        bricks = any_boxes(choose, shape, comm.size, True)
        pairs = bricks.layout(hk).to_boxes()
        pairs += [((0, 0), (0, 0))] * (comm.size - len(pairs))
        lay = hk.Layout.from_local(comm, pairs[comm.rank], shape, timeout=100)
        assert lay == hk.Layout.boxes(shape, pairs)
        lists = [part[0].tolist() for part in any_elements(choose, shape, comm.size, True).parts]
        lists += [[]] * (comm.size - len(lists))
        lay = hk.Layout.from_local(comm, lists[comm.rank], shape)
        assert lay == hk.Layout.elements(shape, lists)
    bricks = [((2 * r, 0), (2 * r + 2, 3)) for r in range(comm.size)]
    lay = hk.Layout.from_local(comm, bricks[comm.rank])
    assert lay.shape == (2 * comm.size, 3) and lay == hk.Layout.boxes(lay.shape, bricks)
    lay = hk.Layout.from_local(comm, np.arange(comm.rank, 10, comm.size))
    assert lay.shape == (10,) and lay.size == comm.size
    blocks = hk.Layout((5, 3), "(BLOCK, *)", comm.size)  # empty parts on 6 processes
    lay = hk.Layout.from_local(comm, blocks.slices(comm.rank))
    assert lay.to_boxes() == blocks.to_boxes()
    lay = hk.Layout.from_local(comm, (slice(comm.rank, comm.rank + 1), slice(None)), (7, 3))
    assert lay.local_shape(comm.rank) == (1, 3)


@ranks(2, 3)
def test_own_parts_that_do_not_fit(comm):
    last = comm.rank == comm.size - 1
    box = ((comm.rank, 0), (comm.rank + 1, 2))
    for part, shape, words in (
        (box if last else [0], None, "same kind"),
        (box, (9, 9) if last else (9, 8), "shapes"),
        (((0,), (1,)) if last else box, None, "dimensions"),
        (box, (1, 2), "leaves the shape"),
        ([1, 1] if last else [0], None, "twice"),
        ("x" if last else [0], None, "elements of process"),
        ((1, 2, 3) if last else (0, 1), None, "(start, stop) pair"),
        ((slice(0, 4, 2),) if last else slice(0, 1), None, "slice(0, 4, 2) in dimension 0"),
        ((slice(0, 1), slice(None)) if last else box, None, "slice(None, None, None) in dimension"),
    ):
        raises_everywhere(
            comm,
            hk.LayoutError,
            lambda: hk.Layout.from_local(comm, part, shape, timeout=100),  # noqa: B023
            words,
        )
    check_still_works(comm)


@ranks(2)
def test_long_layouts_are_agreed_on_by_digest(comm):
    """A statement of a call is short however long a map is, and maps that differ are
    distinguished."""
    rng = np.random.default_rng(9)
    owners = rng.integers(0, 2, 20000)
    scattered = hk.Layout(20000, [hk.indirect(owners)], 2)
    a = hk.from_function(lambda i: 3 * i, scattered, "i8", comm=comm)
    b = hk.redistribute(a, hk.Layout(20000, "(BLOCK)", 2))
    np.testing.assert_array_equal(b.local, 3 * np.arange(10000) + 30000 * comm.rank)
    owners[10000] = comm.rank  # which the processes do not agree on
    other = hk.Layout(20000, [hk.indirect(owners)], 2)
    message = raises_everywhere(
        comm, hk.MismatchError, lambda: hk.redistribute(b, other, timeout=100), "characters"
    )
    assert len(message) < 2000
    check_still_works(comm)


@ranks(6)
def test_equal_layouts_with_copies_in_another_order(comm):
    """A cached schedule is that of its own layout, which peers may not have met."""
    copies = hk.Layout((8,), "(*)", (2,), replicate=0)
    first, second = copies.relabeled([0, 1], 4), copies.relabeled([1, 0], 4)
    assert first == second
    halves = hk.Layout.boxes((8,), [(0, 0), (0, 0), (0, 4), (4, 8)])
    for layout, order in (first, [0, 1, 2, 3]), (second, [0, 4, 5, 2]):
        mine = order.index(comm.rank) if comm.rank in order else -1
        part = comm.Split(0 if mine >= 0 else 1, mine)
        if mine >= 0:
            a = hk.from_function(lambda i: i, layout, "int64", part)
            b = hk.redistribute(a, halves, timeout=60)
            assert b.local.tolist() == [[], [], [0, 1, 2, 3], [4, 5, 6, 7]][mine]
        part.Free()
