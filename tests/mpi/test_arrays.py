# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays: making them, wrapping the user's memory, scattering and gathering."""

from functools import partial

import numpy as np
import pytest
from cases import (
    check_still_works,
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
from oracle import BLOCK, CYCLIC, STAR, Spec


def rows(comm, shape=(10, 6), size=None):
    return Spec(shape, (BLOCK,) + (STAR,) * (len(shape) - 1), (size or comm.size,))


@ranks(1, 2, 3, 4, 6)
def test_arrays_know_their_place(comm):
    rng = np.random.default_rng(comm.size)
    for case in range(30):
        dtype = random_dtype(rng)
        spec = oracle.random_spec(rng, random_shape(rng), int(rng.integers(1, comm.size + 1)))
        lay = spec.layout(hk)
        expected = spec.local(np.empty(spec.shape, dtype), comm.rank).shape
        for a in (hk.empty(lay, dtype, comm=comm), hk.zeros(lay, dtype, comm=comm)):
            assert a.layout == lay and a.dtype == dtype
            assert isinstance(a.local, np.ndarray) and a.local.dtype == dtype
            if comm.rank < lay.size:
                assert a.local.shape == expected, f"case {case}: {spec}"
            else:
                assert a.local.size == 0
            assert a.local.flags.writeable and a.local.flags.c_contiguous
            assert a.comm.size == comm.size and a.comm.rank == comm.rank
        assert a.local.tobytes() == bytes(a.local.nbytes), "zeros() must be zero"


@ranks(2)
def test_the_communicator_is_the_world_if_none_is_given(comm):
    a = hk.zeros(rows(comm).layout(hk), "f8")
    assert (a.comm.rank, a.comm.size) == (comm.rank, comm.size)


@ranks(3)
def test_making_an_array_is_local(comm):
    if comm.rank == 1:
        a = hk.empty(rows(comm).layout(hk), "f8", comm=comm)
        hk.wrap(a.local, a.layout, comm=comm)
        hk.from_function(lambda i, j: i + j, a.layout, "f8", comm=comm)


@ranks(1, 2)
def test_more_than_the_machine_has_is_refused(comm):
    """It would be given, and end some process once it is filled."""
    for elements in (2**43, 2**57, 2**60):
        layout = hk.Layout((comm.size * elements,), "(BLOCK)", comm.size)
        for make in (hk.empty, hk.zeros):
            with pytest.raises(hk.Error, match=r"there is no memory for|cannot be|more than 2.63"):
                make(layout, "f8", comm)
    # Addresses are no memory.
    roomy = hk.empty(hk.Layout((comm.size,), "(BLOCK)", comm.size), "f8", comm, room=2**38)
    roomy.local[...] = 1
    check_still_works(comm)


@ranks(1, 2)
def test_memory_that_its_owner_locks_is_refused(comm):
    """Whenever that happens; once it may be written again, hocket writes it."""
    a = hk.empty(rows(comm).layout(hk), "i8", comm=comm)
    mover = hk.transfer(a.layout, a.layout, comm=comm)
    source = hk.zeros(a.layout, "i8", comm=comm)
    mover(source, a)
    for _ in range(2):
        a.local.flags.writeable = False
        with pytest.raises(hk.Error, match="read-only"):
            mover(source, a)
        a.local.flags.writeable = True
        a.local[...] = 1
        mover(source, a)
        assert (a.local == 0).all()
    check_still_works(comm)


@ranks(1, 2)
def test_local_arrays_outlive_their_array(comm):
    local = hk.zeros(
        Spec((300, 300), (BLOCK, STAR), (comm.size,)).layout(hk), "f8", comm=comm
    ).local
    others = [hk.zeros(rows(comm, (300, 300)).layout(hk), "f8", comm=comm) for _ in range(4)]
    for other in others:
        other.local[...] = 7
    local[...] = 3
    assert all((other.local == 7).all() for other in others)
    assert (local == 3).all()


@ranks(1, 3)
def test_wrap_copies_nothing_whatever_the_strides(comm):
    rng = private(comm, 3)
    for dtype in DTYPES:
        spec = rows(comm)
        memory = Guarded(spec.local(np.empty(spec.shape, "i1"), comm.rank).shape, dtype, rng)
        a = hk.wrap(memory.view, spec.layout(hk), comm=comm)
        assert a.dtype == memory.dtype
        assert np.shares_memory(a.local, memory.view) or memory.view.size == 0
        assert a.local.shape == memory.view.shape and a.local.strides == memory.view.strides
        memory.check_untouched()


@ranks(1, 2, 3, 4, 6)
def test_from_function_of_global_indices(comm):
    rng = np.random.default_rng(comm.size)
    for _ in range(20):
        spec = oracle.random_spec(rng, random_shape(rng), int(rng.integers(1, comm.size + 1)))
        array = whole(spec.shape, "i8")

        def place(*indices, shape=spec.shape):
            assert all(index.ndim == len(shape) for index in indices)
            return (
                sum(
                    index * int(np.prod(shape[d + 1 :], dtype=np.int64))
                    for d, index in enumerate(indices)
                )
                + 1
            )

        a = hk.from_function(place, spec.layout(hk), "i8", comm=comm)
        expected = spec.local(array, comm.rank)
        np.testing.assert_array_equal(a.local.reshape(expected.shape), expected, err_msg=str(spec))


@ranks(2)
def test_from_function_may_return_a_constant_and_converts(comm):
    a = hk.from_function(lambda i, j: 2.75, rows(comm).layout(hk), "f4", comm=comm)
    assert a.local.dtype == np.float32 and (a.local == 2.75).all()
    with pytest.raises(hk.Error, match="no return"):
        hk.from_function(lambda i, j: None, a.layout, "f4", comm=comm)


@ranks(1, 2, 3, 4, 6)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in (1, 2))])
def test_scatter_and_gather(comm, seed):
    """Each against the oracle; never one against the other."""
    rng = np.random.default_rng([seed, comm.size])
    own = private(comm, seed)
    for case in range(12):
        dtype = random_dtype(rng)
        spec = oracle.random_spec(rng, random_shape(rng), int(rng.integers(1, comm.size + 1)))
        root = int(rng.integers(comm.size))
        array = whole(spec.shape, dtype, salt=case)
        given = None
        if comm.rank == root:
            memory = Guarded(array.shape, dtype, own)
            given = memory.set(array)
        a = hk.scatter(given, spec.layout(hk), comm=comm, root=root)
        expected = spec.local(array, comm.rank)
        assert a.dtype == dtype and a.layout == spec.layout(hk)
        np.testing.assert_array_equal(a.local.reshape(expected.shape), expected, err_msg=str(spec))
        if comm.rank == root:
            memory.check_untouched("the scattered array")

        b, part = source_of(spec, array, comm, own)
        root = int(rng.integers(comm.size))
        result = b.gather(root=root)
        if comm.rank == root:
            assert result.dtype == dtype and result.shape == spec.shape
            np.testing.assert_array_equal(result, array, err_msg=str(spec))
        else:
            assert result is None
        part.check_untouched("the gathered array's parts")


@ranks(3)
def test_gathering_a_broken_copy_shows_one_copy_only(comm):
    """Copies count once: their values are not added or interleaved."""
    spec = Spec((7,), (STAR,), (comm.size,), (0,))
    a, _ = source_of(spec, whole((7,), "f8"), comm, private(comm))
    result = a.gather()
    if comm.rank == 0:
        np.testing.assert_array_equal(result, whole((7,), "f8"))


@ranks(1, 2, 3, 4, 6)
def test_empty_arrays_and_more_processes_than_elements(comm):
    for shape in ((0,), (3, 0), (1,), (1, 1, 2)):
        for form in (BLOCK, CYCLIC):
            spec = Spec(shape, (form,) + (STAR,) * (len(shape) - 1), (comm.size,))
            array = whole(shape, "f8")
            a = hk.scatter(array if comm.rank == 0 else None, spec.layout(hk), comm=comm)
            np.testing.assert_array_equal(a.local, spec.local(array, comm.rank))
            result = a.gather(root=comm.size - 1)
            if comm.rank == comm.size - 1:
                assert result.shape == shape
                np.testing.assert_array_equal(result, array)


@ranks(2, 3)
def test_another_communicator_and_another_numbering(comm):
    """Ranks are those of the array's communicator, whatever they are in the world."""
    turned = comm.Split(0, -comm.rank)
    spec = rows(turned)
    array = whole(spec.shape, "i4")
    a, _ = source_of(spec, array, turned, private(comm))
    result = a.gather(root=0)
    assert (result is not None) == (comm.rank == comm.size - 1)
    if result is not None:
        np.testing.assert_array_equal(result, array)
    turned.Free()


@ranks(3)
def test_communicators_come_and_go(comm):
    for _ in range(25):
        part = comm.Split(comm.rank % 2, comm.rank)
        check_still_works(part)
        part.Free()
    check_still_works(comm)


# ---- bad input ------------------------------------------------------------------------------


@ranks(1, 2)
def test_more_processes_than_the_communicator_has(comm):
    lay = Spec((10, 6), (BLOCK, STAR), (comm.size + 3,)).layout(hk)
    for make in (
        lambda: hk.empty(lay, "f8", comm=comm),
        lambda: hk.zeros(lay, "f8", comm=comm),
        lambda: hk.from_function(lambda i, j: i, lay, "f8", comm=comm),
        lambda: hk.wrap(np.empty((1, 6)), lay, comm=comm),
        lambda: hk.scatter(np.empty((10, 6)) if comm.rank == 0 else None, lay, comm=comm),
    ):
        raises_everywhere(comm, hk.Error, make, str(comm.size + 3), str(comm.size))
    check_still_works(comm)


@ranks(1, 3)
def test_wrapped_memory_must_have_the_local_shape(comm):
    spec = rows(comm)
    shape = spec.local(np.empty(spec.shape, "i1"), comm.rank).shape
    wrong = (shape[0] + 1, shape[1])
    with pytest.raises(hk.Error) as caught:
        hk.wrap(np.empty(wrong), spec.layout(hk), comm=comm)
    assert str(wrong) in str(caught.value) and str(shape) in str(caught.value)


@ranks(1)
def test_more_dimensions_than_numpy_has(comm):
    text = "(" + ",".join("*" * 65) + ")"
    with pytest.raises(hk.LayoutError, match="65 dimensions: NumPy's arrays have at most"):
        hk.zeros(hk.Layout((1,) * 65, text), comm=comm)


@ranks(2)
def test_python_objects_are_refused(comm):
    lay = rows(comm).layout(hk)
    for make in (
        lambda: hk.empty(lay, object, comm=comm),
        lambda: hk.wrap(np.empty(lay.local_shape(comm.rank), object), lay, comm=comm),
        lambda: hk.empty(lay, [("a", "O")], comm=comm),
    ):
        with pytest.raises((hk.Error, TypeError)) as caught:
            make()
        assert "object" in str(caught.value).lower()


@ranks(2, 3)
def test_scatter_of_the_wrong_shape_raises_everywhere(comm):
    lay = rows(comm).layout(hk)
    wrong = np.zeros((9, 6)) if comm.rank == 0 else None
    raises_everywhere(
        comm, hk.Error, lambda: hk.scatter(wrong, lay, comm=comm), "(9, 6)", "(10, 6)"
    )
    check_still_works(comm)


@ranks(2, 3)
def test_scatter_of_nothing_raises_everywhere(comm):
    lay = rows(comm).layout(hk)
    raises_everywhere(comm, hk.Error, lambda: hk.scatter(None, lay, comm=comm), "None")
    check_still_works(comm)


@ranks(1, 3)
def test_roots_that_do_not_exist(comm):
    spec = rows(comm)
    a, _ = source_of(spec, whole(spec.shape, "f8"), comm, private(comm))
    for root in (-1, comm.size):
        raises_everywhere(comm, hk.Error, partial(a.gather, root=root), str(root))
        raises_everywhere(
            comm, hk.Error, partial(hk.scatter, None, a.layout, comm=comm, root=root), str(root)
        )
    check_still_works(comm)


@ranks(2, 3)
def test_ranks_that_name_different_roots(comm):
    spec = rows(comm)
    a, _ = source_of(spec, whole(spec.shape, "f8"), comm, private(comm))
    raises_everywhere(comm, hk.MismatchError, lambda: a.gather(root=min(comm.rank, 1)))
    check_still_works(comm)


@ranks(2, 3)
def test_parts_of_different_dtypes_do_not_gather(comm):
    spec = rows(comm)
    a, _ = target_of(spec, "f4" if comm.rank == 1 else "f8", comm, private(comm))
    raises_everywhere(comm, hk.MismatchError, lambda: a.gather(), "float32", "float64")
    check_still_works(comm)
