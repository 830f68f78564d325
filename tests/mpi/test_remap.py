# SPDX-License-Identifier: BSD-3-Clause
"""hk.remap_inplace: every element in its place, in the array's own memory, no byte beside it."""

import itertools

import numpy as np
import pytest
from cases import check_still_works, raises_everywhere, whole
from guarded import DTYPES, GUARD
from lockstep import ranks

import hocket as hk
from hocket import _mpi
from oracle import BLOCK, CYCLIC, STAR, Format, Spec


def permuted(spec, axes):
    """The spec of the result: the formats stay where they are."""
    return Spec(tuple(spec.shape[axis] for axis in axes), spec.formats, spec.procs, spec.replicate)


def in_guarded_room(spec, array, axes, comm):
    """(hk array, its memory) with exactly the room that is asked for, between guard bytes."""
    local = spec.local(array, comm.rank)
    needed = 0
    if comm.rank < spec.size:
        needed = hk.remap_room(spec.layout(hk), axes, comm.rank) * array.itemsize
    assert needed >= local.nbytes
    memory = np.full(needed + 128, GUARD, np.uint8)
    room = memory[64 : 64 + needed]
    part = np.ndarray(local.shape, array.dtype, room)
    part[...] = local
    return hk.wrap(part, spec.layout(hk), comm=comm, room=room), memory


def check(comm, spec, axes, dtype="f8", owned=False, threads=1, salt=0):
    """Remaps the oracle's array and compares this process's part, bytes around it included."""
    array = whole(spec.shape, dtype, salt)
    after = permuted(spec, axes)
    what = f"{spec} by axes {axes}, {dtype}, {threads} threads"
    memory = None
    if owned:
        a = hk.empty(spec.layout(hk), dtype, comm)
        a.local[...] = spec.local(array, comm.rank).reshape(a.local.shape)
    else:
        a, memory = in_guarded_room(spec, array, axes, comm)
    b = hk.remap_inplace(a, axes, threads=threads)
    expected = after.local(array.transpose(axes), comm.rank)
    assert b.layout == after.layout(hk) == hk.remap_layout(a.layout, axes), what
    assert b.dtype == a.dtype
    np.testing.assert_array_equal(b.local.reshape(expected.shape), expected, err_msg=what)
    if memory is not None:
        assert (memory[:64] == GUARD).all() and (memory[-64:] == GUARD).all(), what
        assert not expected.size or np.shares_memory(b.local, memory), what
    elif expected.size and a.local.size:
        start = [each.local.__array_interface__["data"][0] for each in (a, b)]
        assert start[0] == start[1], what
    return b


@ranks(1, 2, 3, 4, 6)
@pytest.mark.parametrize("distributed", [0, 1, 2])
def test_every_permutation_of_three_dimensions(comm, distributed):
    formats = tuple(BLOCK if d == distributed else STAR for d in range(3))
    for shape in ((12, 24, 36), (7, 5, 11), (2, 9, 3), (13, 1, 4), (5, 0, 3), (1, 1, 1)):
        spec = Spec(shape, formats, (comm.size,))
        for axes in itertools.permutations(range(3)):
            check(comm, spec, axes)


@ranks(1, 2, 3, 4, 6)
def test_as_the_paper_has_it(comm):
    """A(N1, N2, N3) to A(N1, N3, N2): the row-major (N3, N2, N1), (BLOCK, *, *) by (1, 0, 2)."""
    b = check(comm, Spec((24, 36, 16), (BLOCK, STAR, STAR), (comm.size,)), (1, 0, 2), owned=True)
    assert b.layout == hk.Layout((36, 24, 16), "(BLOCK, *, *)", comm.size)


@ranks(1, 2, 3, 4, 6)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in (1, 2))])
def test_random_arrays(comm, seed):
    rng = np.random.default_rng([seed, comm.size])
    for case in range(40):
        rank = int(rng.integers(1, 6))
        shape = tuple(int(n) for n in rng.integers(1, 2 + int(6000 ** (1 / rank)), rank))
        size = int(rng.integers(1, comm.size + 1))
        formats = [STAR] * rank
        formats[int(rng.integers(rank))] = BLOCK
        if rng.random() < 0.2:
            formats = [Format("BLOCK", max(shape)) if f == BLOCK else f for f in formats]
        axes = tuple(int(axis) for axis in rng.permutation(rank))
        dtype = DTYPES[int(rng.integers(len(DTYPES)))]
        check(
            comm,
            Spec(shape, tuple(formats), (size,)),
            axes,
            dtype,
            owned=bool(rng.random() < 0.5),
            threads=int(rng.integers(1, 4)),
            salt=case,
        )


def every_arrangement(comm):
    arrangements = [(2, comm.size // 2), (comm.size // 2, 2), (1, comm.size), (comm.size, 1)]
    for procs, shape in itertools.product(arrangements, [(8, 12, 6), (5, 7, 9), (3, 2, 10)]):
        for formats in itertools.permutations([BLOCK, BLOCK, STAR]):
            for axes in itertools.permutations(range(3)):
                check(comm, Spec(shape, formats, procs), axes)


@ranks(6)
def test_arrangements_of_two_dimensions(comm):
    every_arrangement(comm)


@pytest.mark.soak
@ranks(4)
def test_square_arrangements(comm):
    every_arrangement(comm)


@ranks(4, 6)
def test_two_distributed_dimensions_change_places(comm):
    for shape in [(8, 12), (5, 7), (9, 2), (1, 6)]:
        check(comm, Spec(shape, (BLOCK, BLOCK), (2, 2)), (1, 0))
        check(comm, Spec(shape, (Format("BLOCK", 12), Format("BLOCK", 12)), (2, 2)), (1, 0))
    layout = hk.Layout((8, 12), "(BLOCK, BLOCK)", (2, comm.size // 2))
    if comm.size == 6:
        a = hk.zeros(layout, comm=comm)
        raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(a, (1, 0)), "redistribute")
        check_still_works(comm)


@ranks(4, 6)
def test_copies_and_other_formats(comm):
    shape = (6, 10, 4)
    copies = Spec(shape, (BLOCK, STAR, STAR), (comm.size // 2, 2), (1,))
    check(comm, copies, (1, 0, 2))
    check(comm, copies, (2, 1, 0))
    # Cyclic dimensions stay, or have whole rounds.
    check(comm, Spec(shape, (CYCLIC, STAR, STAR), (comm.size,)), (0, 2, 1))
    check(comm, Spec(shape, (STAR, Format("CYCLIC", 2), STAR), (comm.size,)), (2, 1, 0))
    check(comm, Spec(shape, (BLOCK, CYCLIC, STAR), (2, comm.size // 2)), (2, 1, 0))
    spans = (comm.size,)
    rounds = (comm.size, 4 * comm.size, 3)
    for owned in (True, False):
        check(comm, Spec(rounds, (CYCLIC, STAR, STAR), spans), (1, 0, 2), owned=owned)
        twos = Spec((4 * comm.size, 2, 2 * comm.size), (Format("CYCLIC", 2), STAR, STAR), spans)
        check(comm, twos, (2, 1, 0), "f4", owned=owned)
        check(comm, Spec((1, 9), (CYCLIC, CYCLIC), (2, 2)), (1, 0), owned=owned)
    a = hk.zeros(hk.Layout(shape, "(CYCLIC, *, *)", comm.size), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(a, (1, 0, 2)), "cyclic")
    a = hk.zeros(hk.Layout((6, 20), "(BLOCK(3), *)", comm.size), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(a, (1, 0)), "BLOCK(3)")
    check_still_works(comm)


@ranks(1, 2, 3, 4, 6)
def test_uneven_blocks(comm):
    """BALANCED fits every extent, GEN_BLOCK those that its blocks add up to."""
    p = comm.size
    for shape in ((6, 10, 4), (7, 5, 3), (2, 9, 3)):
        for axes in ((1, 0, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)):
            check(comm, Spec(shape, (Format("BALANCED"), STAR, STAR), (p,)), axes)
    for sizes in ([9, *[0] * (p - 1)], [*[1] * (p - 1), 10 - p], [*[0] * (p - 1), 9]):
        blocks = Format("GEN_BLOCK", None, tuple(sizes))
        check(comm, Spec((9, 9, 2), (blocks, STAR, STAR), (p,)), (1, 0, 2))
        check(comm, Spec((9, 2, 9), (STAR, STAR, blocks), (p,)), (2, 1, 0), "f4")
        check(comm, Spec((9, 2, 9), (blocks, STAR, STAR), (p,)), (0, 2, 1), owned=True)
        a = hk.zeros(hk.Layout((9, 4), (str(blocks), "*"), p), comm=comm)
        raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(a, (1, 0)), "add up to 9")  # noqa: B023
    a = hk.zeros(hk.Layout((4, 4), (hk.indirect([0] * 4), "*"), p), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(a, (1, 0)), "redistribute")
    check_still_works(comm)


@ranks(4)
def test_other_orders_of_processes(comm):
    layout = hk.Layout((9, 8), "(BLOCK, *)", 4).relabeled([2, 0, 3, 1])
    array = np.arange(72.0).reshape(9, 8)
    a = hk.scatter(array, layout, comm)
    b = hk.remap_inplace(a, (1, 0))
    assert b.layout == hk.Layout((8, 9), "(BLOCK, *)", 4).relabeled([2, 0, 3, 1])
    found = b.gather()
    if comm.rank == 0:
        np.testing.assert_array_equal(found, array.T)


@ranks(2, 3, 4)
def test_long_chunks_by_messages_and_in_each_others_memory(comm):
    """Several pieces a pair; hocket's own memory is swapped, the user's is sent."""
    for shape in ((1024, 768), (1001, 613)):
        spec = Spec(shape, (BLOCK, STAR), (comm.size,))
        for owned in (True, False):
            check(comm, spec, (1, 0), owned=owned, threads=2)


@ranks(2, 3)
def test_long_chunks_in_runs(comm):
    """Even blocks go from where they lie: runs packed into pieces, and longer than one."""
    for shape in ((12, 36, 700), (12, 12, 50_000), (6, 6, 150_001)):
        spec = Spec(shape, (BLOCK, STAR, STAR), (comm.size,))
        for owned in (True, False):
            check(comm, spec, (1, 0, 2), owned=owned, threads=2)


@ranks(2, 3)
def test_processes_may_have_different_numbers_of_threads(comm):
    for shape in ((24, 36, 80), (300, 600, 1), (301, 7, 40)):
        spec = Spec(shape, (BLOCK, STAR, STAR), (comm.size,))
        for axes in itertools.permutations(range(3)):
            check(comm, spec, axes, threads=1 + 2 * comm.rank)


@ranks(4, nodes="0,1")
def test_on_pretended_nodes(comm):
    for shape in ((1024, 300), (331, 257)):
        check(comm, Spec(shape, (BLOCK, STAR), (4,)), (1, 0), owned=True)
    check(comm, Spec((16, 24, 9000), (BLOCK, STAR, STAR), (4,)), (1, 0, 2), owned=True)


@ranks(2, 4)
def test_one_of_a_pair_may_have_memory_that_cannot_be_mapped(comm):
    spec = Spec((512, 512), (BLOCK, STAR), (comm.size,))
    array = whole(spec.shape, "f8")
    owned = hk.empty(spec.layout(hk), "f8", comm)
    a = owned if comm.rank % 2 else hk.wrap(np.empty_like(owned.local), spec.layout(hk), comm)
    a.local[...] = spec.local(array, comm.rank)
    b = hk.remap_inplace(a, (1, 0))
    np.testing.assert_array_equal(b.local, spec.local(array.T, comm.rank))


@ranks(3, 6)
def test_there_and_back(comm):
    spec = Spec((7, 10, 6), (BLOCK, STAR, STAR), (comm.size,))
    array = whole(spec.shape, "f8")
    a = hk.empty(spec.layout(hk), "f8", comm)
    a.local[...] = spec.local(array, comm.rank)
    turned = array
    for axes in [(1, 2, 0), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)]:
        a = hk.remap_inplace(a, axes)
        turned = turned.transpose(axes)
        expected = permuted(spec, axes)
        spec = expected
        np.testing.assert_array_equal(a.local, expected.local(turned, comm.rank))
    found = a.gather()
    if comm.rank == 0:
        np.testing.assert_array_equal(found, turned)


@ranks(4)
def test_processes_beyond_the_layout(comm):
    check(comm, Spec((6, 7), (BLOCK, STAR), (3,)), (1, 0))
    check(comm, Spec((6, 7), (STAR, STAR)), (1, 0))
    assert hk.remap_inplace(hk.zeros(hk.Layout((), "()"), comm=comm), ()).layout.shape == ()


@ranks(2, 3)
def test_two_arrays_give_the_same(comm):
    """The two-array form: a second array of the whole size, and redistribute."""
    a = hk.from_function(
        lambda i, j, k: 100 * i + 10 * j + k,
        hk.Layout((6, 8, 5), "(BLOCK, *, *)", comm.size),
        "i8",
        comm,
    )
    axes = (1, 2, 0)
    two = hk.redistribute(a, hk.remap_layout(a.layout, axes), axes=axes)
    np.testing.assert_array_equal(hk.remap_inplace(a, axes).local, two.local)


@ranks(1, 2, 3)
def test_wrong_axes(comm):
    a = hk.from_function(lambda i, j: i + j, hk.Layout((4, 6), "(BLOCK, *)", comm.size), comm=comm)
    before = a.local.copy()
    for axes in ((0,), (0, 0), (0, 2), (), "ab", None):
        raises_everywhere(comm, hk.LayoutError, lambda axes=axes: hk.remap_inplace(a, axes), "axes")
    raises_everywhere(comm, hk.Error, lambda: hk.remap_inplace(a, (1, 0), threads=0), "threads")
    raises_everywhere(comm, hk.Error, lambda: hk.remap_inplace(a, (1, 0), timeout=-1), "timeout")
    np.testing.assert_array_equal(a.local, before)
    hk.remap_inplace(a, (-1, 0))


@ranks(2, 3)
def test_wrong_memory(comm):
    layout = hk.Layout((6, 5), "(BLOCK, *)", comm.size)
    local = np.ones(layout.local_shape(comm.rank))

    def attempt(memory):
        return lambda: hk.remap_inplace(hk.wrap(memory, layout, comm), (1, 0))

    frozen = local.copy()
    frozen.flags.writeable = False
    raises_everywhere(comm, hk.Error, attempt(frozen), "read-only")
    raises_everywhere(comm, hk.Error, attempt(np.asfortranarray(local)), "dense")
    raises_everywhere(comm, hk.Error, attempt(np.repeat(local, 2, 1)[:, ::2]), "dense")
    # Uneven parts: the user's memory has no room, and hk.empty's has.
    grown = hk.Layout((7, 5), "(BLOCK, *)", comm.size)
    part = np.ones(grown.local_shape(comm.rank))
    kept = part.copy()
    uneven = hk.wrap(part, grown, comm)
    needed = [hk.remap_room(grown, (1, 0), r) for r in range(comm.size)]
    assert any(needed[r] > grown.local_elements(r) for r in range(comm.size))
    raises_everywhere(comm, hk.Error, lambda: hk.remap_inplace(uneven, (1, 0)), "too few")
    np.testing.assert_array_equal(part, kept)
    assert hk.empty(grown, comm=comm).room >= 8 * needed[comm.rank]
    check_still_works(comm)


@ranks(2)
def test_one_process_alone_is_wrong(comm):
    layout = hk.Layout((4, 6), "(BLOCK, *)", 2)
    local = np.arange(12.0).reshape(2, 6)
    a = hk.wrap(local, layout, comm)
    axes = (1, 0) if comm.rank == 0 else (0, 1)
    raises_everywhere(comm, hk.MismatchError, lambda: hk.remap_inplace(a, axes), "axes (0, 1)")
    mine = local if comm.rank == 0 else local.copy(order="F")
    b = hk.wrap(mine, layout, comm)
    raises_everywhere(comm, hk.Error, lambda: hk.remap_inplace(b, (1, 0)), "process 1 of 2")
    np.testing.assert_array_equal(local, np.arange(12.0).reshape(2, 6))
    check_still_works(comm)


@ranks(2)
def test_layouts_without_a_text_that_could_stay(comm):
    whole_layout = hk.Layout((8, 6), "(BLOCK, *)", 2)
    a = hk.zeros(whole_layout, comm=comm)
    section = a.section(np.s_[::2, :])
    raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(section, (1, 0)), "in place")
    pieces = hk.zeros(hk.Layout.indexed((4,), [[(0, 2)], [(2, 2)]]), comm=comm)
    raises_everywhere(comm, hk.LayoutError, lambda: hk.remap_inplace(pieces, (0,)), "in place")


@ranks(2)
def test_a_deadline_ends_the_wait(comm):
    layout = hk.Layout((4, 6), "(BLOCK, *)", 2)
    a = hk.from_function(lambda i, j: 10 * i + j, layout, comm=comm)
    if comm.rank == 0:
        with pytest.raises(hk.DeadlineError):
            hk.remap_inplace(a, (1, 0), timeout=0.05)
    comm.barrier()
    if comm.rank == 1:
        hk.remap_inplace(a, (1, 0))
    check_still_works(comm)


@ranks(1)
def test_rooms_of_wrapped_memory(comm):
    memory = np.zeros(10)
    layout = hk.Layout((4,), "(*)")
    with pytest.raises(hk.Error, match="beginning of room"):
        hk.wrap(memory[1:5], layout, comm, room=memory)
    with pytest.raises(hk.Error, match="alone"):
        hk.wrap(memory[:4], layout, comm, room=memory[:3])
    with pytest.raises(hk.Error, match="contiguous"):
        hk.wrap(memory[:4], layout, comm, room=memory[::2])
    assert hk.wrap(memory[:4], layout, comm, room=memory).room == 80
    for room in (-1, 1.5):
        with pytest.raises(hk.Error, match="room"):
            hk.empty(layout, comm=comm, room=room)
    assert hk.empty(layout, comm=comm, room=100).room >= 800


@ranks(3)
def test_the_plan_of_a_remap_is_made_once(comm):
    layout = hk.Layout((7, 5, 4), "(BLOCK, *, *)", comm.size)
    room = hk.remap_room(layout, (1, 0, 2), comm.rank)
    found = []
    for _ in range(4):
        array = hk.empty(layout, "int64", comm=comm, room=room)
        before = _mpi.plan_cache_counts()
        hk.remap_inplace(array, (1, 0, 2))
        after = _mpi.plan_cache_counts()
        found.append((after[0] - before[0], after[1] - before[1]))
    assert found[1:] == [(1, 0)] * 3
