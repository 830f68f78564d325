# SPDX-License-Identifier: BSD-3-Clause
"""hk.redistribute: every element arrives once, in its place, and nothing else is touched."""

import itertools

import numpy as np
import pytest
from cases import (
    check_pattern,
    check_still_works,
    fill_pattern,
    move,
    private,
    raises_everywhere,
    random_dtype,
    random_shape,
    source_of,
    target_of,
    whole,
)
from guarded import DTYPES, Guarded
from lockstep import ranks

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Format, Spec


def random_move(comm, rng, own, case):
    source = oracle.random_spec(rng, random_shape(rng), int(rng.integers(1, comm.size + 1)))
    axes = None
    if rng.random() < 0.4:
        axes = tuple(int(axis) for axis in rng.permutation(len(source.shape)))
    shape = source.shape if axes is None else tuple(source.shape[axis] for axis in axes)
    destination = oracle.random_spec(rng, shape, int(rng.integers(1, comm.size + 1)))
    fresh = bool(rng.random() < 0.3)
    move(comm, source, destination, axes, random_dtype(rng), own, salt=case, fresh=fresh)


@ranks(1, 2, 3, 4, 6)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.soak) for k in (2, 3))])
def test_random_layouts_to_five_dimensions(comm, seed):
    rng = np.random.default_rng([seed, comm.size])
    own = private(comm, seed)
    for case in range(25):
        random_move(comm, rng, own, case)


@pytest.mark.parametrize("cases", [8, pytest.param(20, marks=pytest.mark.soak)])
@ranks(4, 6, nodes="0,1")
def test_random_layouts_on_pretended_nodes(comm, cases):
    rng = np.random.default_rng([99, comm.size])
    own = private(comm, 99)
    for case in range(cases):
        random_move(comm, rng, own, case)


@pytest.mark.soak
@ranks(1, 2, 3, 4, 5, 6, 7, 8, seconds=600)
def test_random_layouts_for_long(comm, soak_seed):
    seed = soak_seed
    rng, own = np.random.default_rng([seed, comm.size]), private(comm, seed)
    for case in range(3000):
        try:
            random_move(comm, rng, own, case)
        except BaseException as error:
            raise AssertionError(f"seed {seed}, case {case}") from error


@ranks(1, 2, 3, 4)
def test_every_pair_of_formats(comm):
    p = comm.size
    forms = [BLOCK, CYCLIC, Format("CYCLIC", 3), Format("BLOCK", -(-11 // p) + 1)]
    several = [Spec((11, 3), (form, STAR), (p,)) for form in forms]
    several += [Spec((11, 3), (STAR, form), (p,)) for form in (BLOCK, CYCLIC)]
    several += [Spec((11, 3), (STAR, STAR), (p,), (0,)), Spec((11, 3), (STAR, STAR))]
    own = private(comm, 5)
    for source, destination in itertools.product(several, repeat=2):
        move(comm, source, destination, None, "i8", own)


@ranks(2, 3)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_moves(comm, dtype):
    source = Spec((7, 5), (BLOCK, STAR), (comm.size,))
    destination = Spec((5, 7), (STAR, CYCLIC), (comm.size,))
    own = private(comm, 6)
    for fresh in (False, True):
        move(comm, source, destination, (1, 0), dtype, own, fresh=fresh)


@ranks(2)
def test_a_structure_with_padding_keeps_its_fields(comm):
    dtype = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)
    source = Spec((9,), (BLOCK,), (2,))
    destination = Spec((9,), (CYCLIC,), (2,))
    array = np.zeros(9, dtype)
    array["a"], array["b"], array["c"] = np.arange(9), np.arange(9) * 0.5, -np.arange(9)
    a = hk.wrap(source.local(array, comm.rank), source.layout(hk), comm=comm)
    b = hk.redistribute(a, destination.layout(hk))
    for field in dtype.names:
        np.testing.assert_array_equal(b.local[field], destination.local(array, comm.rank)[field])


ORDERED = np.dtype(
    {"names": ["x", "y"], "formats": ["i4", ">f8"], "offsets": [12, 0], "itemsize": 24}
)


@ranks(2)
@pytest.mark.parametrize(
    "dtype",
    [
        ORDERED,
        np.dtype({"names": ["whole", "low"], "formats": ["i8", "i4"], "offsets": [0, 0]}),
        np.dtype([("pair", ORDERED, (2,)), ("flag", "?")]),
    ],
    ids=["order", "union", "nested"],
)
def test_a_structure_whose_fields_lie_in_any_order(comm, dtype):
    lay, columns = hk.Layout((4, 3), "(BLOCK, *)", 2), hk.Layout((4, 3), "(*, CYCLIC)", 2)
    values = np.frombuffer(bytes(range(dtype.itemsize)) * 12, dtype).reshape(4, 3)
    b = hk.redistribute(hk.scatter(values, lay, comm), columns)
    assert b.dtype == dtype and repr(b)
    found = b.gather()
    if comm.rank == 0:
        assert found.dtype == dtype
        for name in dtype.names:
            assert found[name].tolist() == values[name].tolist()


@ranks(2)
def test_elements_that_are_arrays_are_refused(comm):
    lay, arrays = hk.Layout((4, 3), "(BLOCK, *)", 2), np.dtype(("f8", (3,)))
    with pytest.raises(hk.Error, match="layout of more dimensions"):
        hk.zeros(lay, arrays, comm)
    a = hk.zeros(lay, "f8", comm)
    raises_everywhere(comm, hk.Error, lambda: hk.redistribute(a, lay, dtype=arrays), "dimensions")


@ranks(1, 2, 3)
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("f8", "f4"),
        ("i4", "f8"),
        ("f8", "i2"),
        ("i8", "c16"),
        ("?", "i4"),
        ("i4", "S5"),
        (">i4", "<i4"),
        ("f4", "f8"),
    ],
)
def test_dtype_converts_as_astype_does(comm, given, wanted):
    source = Spec((6, 7), (BLOCK, STAR), (comm.size,))
    destination = Spec((7, 6), (CYCLIC, STAR), (comm.size,))
    own = private(comm, 8)
    for fresh in (False, True):
        move(comm, source, destination, (1, 0), given, own, fresh=fresh, convert=np.dtype(wanted))


@ranks(2, 4)
def test_larger_arrays_of_every_memory_order(comm):
    """Beyond any eager limit, with strides on both sides."""
    p = comm.size
    shape = (130, 70, 33)
    for case, (axes, forms) in enumerate(
        [
            (None, ((BLOCK, STAR, STAR), (STAR, BLOCK, STAR))),
            ((2, 0, 1), ((STAR, BLOCK, STAR), (STAR, STAR, Format("CYCLIC", 5)))),
            ((1, 0, 2), ((CYCLIC, STAR, STAR), (STAR, Format("CYCLIC", 2), STAR))),
            (None, ((STAR, STAR, CYCLIC), (Format("BLOCK", 70), STAR, STAR))),
        ]
    ):
        turned = shape if axes is None else tuple(shape[axis] for axis in axes)
        source, destination = Spec(shape, forms[0], (p,)), Spec(turned, forms[1], (p,))
        array = whole(shape, "f8", salt=case)
        for order in ("C", "F", "reversed"):
            local = source.local(array, comm.rank)
            local = np.asfortranarray(local) if order == "F" else local
            if order == "reversed":
                local = np.ascontiguousarray(local[::-1, ::-1])[::-1, ::-1]
            a = hk.wrap(local, source.layout(hk), comm=comm)
            b = hk.redistribute(a, destination.layout(hk), axes=axes)
            moved = array if axes is None else array.transpose(axes)
            np.testing.assert_array_equal(b.local, destination.local(moved, comm.rank))


@ranks(2, 3)
def test_an_array_of_zeros_strides_may_be_read(comm):
    """np.broadcast_to gives overlapping, read-only elements: a fine source."""
    source = Spec((6, 5), (BLOCK, STAR), (comm.size,))
    shape = source.local(np.empty((6, 5)), comm.rank).shape
    a = hk.wrap(np.broadcast_to(np.arange(5.0), shape), source.layout(hk), comm=comm)
    b = hk.redistribute(a, Spec((6, 5), (STAR, BLOCK), (comm.size,)).layout(hk))
    first = sum(
        Spec((5,), (BLOCK,), (comm.size,)).layout(hk).local_shape(r)[0] for r in range(comm.rank)
    )
    np.testing.assert_array_equal(
        b.local, np.broadcast_to(np.arange(5.0), (6, 5))[:, first : first + b.local.shape[1]]
    )


@ranks(3)
def test_an_array_onto_its_own_layout(comm):
    spec = Spec((9, 2), (CYCLIC, STAR), (comm.size,))
    move(comm, spec, spec, None, "f8", private(comm, 9))


@ranks(3, 4)
def test_many_in_a_row_do_not_mix(comm):
    """Ranks may run ahead of each other; messages of one call must not meet those of the next."""
    p = comm.size
    a_spec, b_spec = Spec((40,), (BLOCK,), (p,)), Spec((40,), (CYCLIC,), (p,))
    array = whole((40,), "i8")
    a = hk.wrap(a_spec.local(array, comm.rank), a_spec.layout(hk), comm=comm)
    for turn in range(200):
        b = hk.redistribute(a, b_spec.layout(hk))
        b.local[...] += 1
        a = hk.redistribute(b, a_spec.layout(hk))
        array = array + 1
        np.testing.assert_array_equal(a.local, a_spec.local(array, comm.rank), err_msg=f"{turn}")


@ranks(4)
def test_the_users_own_messages_are_left_alone(comm):
    """Ours travel on a private duplicate: a wildcard receive of the user's sees only the user's."""
    request = comm.irecv(source=(comm.rank + 1) % comm.size)
    check_still_works(comm)
    assert not request.test()[0]
    comm.barrier()  # nobody sends before all have looked
    comm.send(("mine", comm.rank), dest=(comm.rank - 1) % comm.size, tag=3)
    assert request.wait() == ("mine", (comm.rank + 1) % comm.size)


# ---- bad input ------------------------------------------------------------------------------


def example(comm):
    rows = Spec((8, 6), (BLOCK, STAR), (comm.size,))
    columns = Spec((8, 6), (STAR, BLOCK), (comm.size,))
    a, memory = source_of(rows, whole((8, 6), "f8"), comm, private(comm, 1))
    return a, columns, memory


def refused(comm, error, a, destination, out=None, *words, **options):
    """The call raises on every rank, writes nothing, and leaves the communicator fit for use."""
    array, room = out if out is not None else (None, None)
    lay = destination if isinstance(destination, hk.Layout) else destination.layout(hk)
    message = raises_everywhere(
        comm, error, lambda: hk.redistribute(a, lay, out=array, **options), *words
    )
    if isinstance(room, Guarded):
        room.check_untouched("out")
    check_still_works(comm)
    return message


@ranks(1, 2, 3)
def test_layouts_of_another_shape(comm):
    a, _, _ = example(comm)
    wrong = Spec((8, 7), (BLOCK, STAR), (comm.size,))
    refused(comm, hk.LayoutError, a, wrong, None, "(8, 6)", "(8, 7)")
    refused(comm, hk.LayoutError, a, wrong, None, "(8, 6)", axes=(1, 0))


@ranks(1, 2, 3)
def test_axes_that_are_no_permutation(comm):
    a, columns, _ = example(comm)
    for axes in ((0, 0), (0,), (0, 5)):
        refused(comm, hk.LayoutError, a, columns, None, axes=axes)


@ranks(1, 2)
def test_a_layout_larger_than_the_communicator(comm):
    a, _, _ = example(comm)
    more = Spec((8, 6), (BLOCK, STAR), (comm.size + 1,))
    refused(comm, hk.Error, a, more, None, str(comm.size + 1))


@ranks(1, 2, 3)
def test_out_of_another_layout(comm):
    a, columns, _ = example(comm)
    out = target_of(Spec((8, 6), (STAR, CYCLIC), (comm.size,)), "f8", comm, private(comm, 2))
    if columns.layout(hk) != out[0].layout:
        refused(comm, hk.Error, a, columns, out, "out")
    out = target_of(Spec((8, 7), (STAR, BLOCK), (comm.size,)), "f8", comm, private(comm, 2))
    refused(comm, hk.Error, a, columns, out, "(8, 7)")


@ranks(1, 2, 3)
def test_out_of_another_dtype_needs_to_ask(comm):
    a, columns, _ = example(comm)
    out = target_of(columns, "f4", comm, private(comm, 2))
    refused(comm, hk.MismatchError, a, columns, out, "float64", "float32", "dtype=")


@ranks(2, 3)
@pytest.mark.parametrize("culprit", [0, 1])
def test_out_of_another_dtype_on_one_rank_only(comm, culprit):
    a, columns, _ = example(comm)
    dtype = "f4" if comm.rank == culprit else "f8"
    out = target_of(columns, dtype, comm, private(comm, 2))
    refused(comm, hk.Error, a, columns, out, "float32")


@ranks(2, 3)
@pytest.mark.parametrize("culprit", [0, 1])
def test_read_only_out_on_one_rank_only(comm, culprit):
    a, columns, _ = example(comm)
    _, memory = target_of(columns, "f8", comm, private(comm, 2))
    view = memory.view
    if comm.rank == culprit:
        view = view[...]
        view.flags.writeable = False
    out = hk.wrap(view, columns.layout(hk), comm=comm)
    refused(comm, hk.Error, a, columns, (out, memory), "read-only")


@ranks(2, 3)
@pytest.mark.parametrize("culprit", [0, 1])
def test_out_of_another_layout_on_one_rank_only(comm, culprit):
    a, columns, _ = example(comm)
    spec = columns if comm.rank != culprit else Spec((8, 6), (BLOCK, STAR), (comm.size,))
    refused(comm, hk.Error, a, columns, target_of(spec, "f8", comm, private(comm, 2)))


@ranks(2, 3)
def test_out_that_is_no_array_on_one_rank_only(comm):
    a, columns, _ = example(comm)
    out, memory = target_of(columns, "f8", comm, private(comm, 2))
    given = np.empty((3, 3)) if comm.rank == 1 else out
    refused(comm, (hk.Error, TypeError), a, columns, (given, memory))


@ranks(2, 3)
@pytest.mark.parametrize("culprit", [0, 1])
def test_out_whose_elements_overlap(comm, culprit):
    """A stride of 0: elements would overwrite each other."""
    a, columns, _ = example(comm)
    shape = columns.local(np.empty((8, 6)), comm.rank).shape
    view = np.empty(shape)
    if comm.rank == culprit:
        view = np.lib.stride_tricks.as_strided(view, shape, (0, 8))
    out = hk.wrap(view, columns.layout(hk), comm=comm)
    refused(comm, hk.Error, a, columns, (out, None), "overlap")


@ranks(2, 3)
def test_ranks_that_ask_for_different_layouts(comm):
    a, columns, _ = example(comm)
    mine = columns if comm.rank else Spec((8, 6), (STAR, CYCLIC), (comm.size,))
    refused(comm, hk.MismatchError, a, mine)


@ranks(2, 3)
def test_ranks_that_ask_for_different_axes(comm):
    spec = Spec((6, 6), (BLOCK, STAR), (comm.size,))
    a, _ = source_of(spec, whole((6, 6), "f8"), comm, private(comm, 1))
    refused(comm, hk.MismatchError, a, spec, axes=(1, 0) if comm.rank else (0, 1))


@ranks(2, 3)
def test_ranks_whose_parts_differ_in_dtype(comm):
    _, columns, _ = example(comm)
    rows = Spec((8, 6), (BLOCK, STAR), (comm.size,))
    a, _ = target_of(rows, "f4" if comm.rank == 0 else "f8", comm, private(comm, 3))
    refused(comm, hk.MismatchError, a, columns, None, "float32", "float64")


@ranks(2, 3)
def test_an_array_of_another_communicator_as_out(comm):
    """Same processes, another numbering: its parts lie elsewhere."""
    turned = comm.Split(0, -comm.rank)
    a, columns, _ = example(comm)
    out = target_of(columns, "f8", turned, private(comm, 3))
    refused(comm, hk.Error, a, columns, out, "communicator")
    turned.Free()


@ranks(2, 3)
@pytest.mark.parametrize("first", [False, True], ids=["later call", "first call"])
def test_a_rank_that_never_comes_is_waited_for_until_the_deadline(comm, first):
    """Also at the first call on a communicator, where the private duplicate is made."""
    own = comm.Dup()  # the wait that is given up leaves it unusable
    if not first:
        check_still_works(own)
    a, columns, _ = example(own)
    if comm.rank != 0:
        with pytest.raises(hk.DeadlineError) as caught:
            hk.redistribute(a, columns.layout(hk), timeout=0.5)
        assert isinstance(caught.value, TimeoutError) and "0.5" in str(caught.value)
    comm.barrier()
    check_still_works(comm)


# ---- beyond 32 bits -------------------------------------------------------------------------


@pytest.mark.soak
@ranks(2, seconds=600)
def test_a_message_beyond_2_gib(comm):
    """All of a 4.3 GB array on rank 0; every other element goes to rank 1, in one message."""
    n = 2**32 + 2**16 + 3
    source = hk.Layout((n,), f"(BLOCK({n}))", 2)
    a = hk.empty(source, "u1", comm=comm)
    fill_pattern(a.local, lambda k: k)
    b = hk.redistribute(a, hk.Layout((n,), "(CYCLIC)", 2))
    assert b.local.size == (n + 1 - comm.rank) // 2
    check_pattern(b.local, lambda k: 2 * k + comm.rank)


@pytest.mark.soak
@ranks(2, seconds=600)
def test_rows_to_columns_beyond_2_to_31_elements(comm):
    shape = (2, 2**31 + 4096)
    a = hk.empty(hk.Layout(shape, "(BLOCK, *)", 2), "u1", comm=comm)
    fill_pattern(a.local[0], lambda k: k + comm.rank * shape[1])
    b = hk.redistribute(a, hk.Layout(shape, "(*, BLOCK)", 2))
    half = shape[1] // 2
    assert b.local.shape == (2, half)
    for i in range(2):
        start = comm.rank * half + i * shape[1]
        check_pattern(b.local[i], lambda k, start=start: k + start)


@ranks(1, 2, 3)
def test_columns_in_turns_of_one_memory_are_source_and_destination(comm):
    """x[:, ::2] and x[:, 1::2] lie in one range of memory and share no element."""
    shape = (7, 5)
    rows = Spec(shape, (BLOCK, STAR), (comm.size,))
    cyclic = Spec(shape, (CYCLIC, STAR), (comm.size,))
    array = whole(shape, "f8")
    sent, expected = rows.local(array, comm.rank), cyclic.local(array, comm.rank)
    x = np.full((max(len(sent), len(expected)), 2 * shape[1]), -1.0)
    x[: len(sent), ::2] = sent
    a = hk.wrap(x[: len(sent), ::2], rows.layout(hk), comm=comm)
    b = hk.wrap(x[: len(expected), 1::2], cyclic.layout(hk), comm=comm)
    hk.redistribute(a, cyclic.layout(hk), out=b)
    np.testing.assert_array_equal(x[: len(expected), 1::2], expected)
    np.testing.assert_array_equal(x[: len(sent), ::2], sent)
    np.testing.assert_array_equal(x[len(expected) :, 1::2], -1.0)


@ranks(2)
def test_views_that_share_an_element_are_refused(comm):
    lay = hk.Layout((8, 4), "(BLOCK, *)", comm.size)
    x = np.zeros((4, 9))
    a = hk.wrap(x[:, 0:8:2], lay, comm=comm)
    for other in (x[:, 2:6], x[::-1, :4], x[:, 8:1:-2]):
        out = hk.wrap(other, lay, comm=comm)
        raises_everywhere(
            comm, hk.Error, lambda out=out: hk.redistribute(a, lay, out=out), "shares memory"
        )


@ranks(1, 2)
def test_a_type_that_does_not_convert(comm):
    fields = np.dtype([("x", "f8"), ("y", "i4")])
    layout = hk.Layout((6,), "(BLOCK)", comm.size)
    a = hk.zeros(layout, fields, comm=comm)
    raises_everywhere(
        comm,
        hk.MismatchError,
        lambda: hk.redistribute(a, hk.Layout((6,), "(CYCLIC)", comm.size), dtype=float),
        "dtype=",
        "float64",
    )
