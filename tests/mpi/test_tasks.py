# SPDX-License-Identifier: BSD-3-Clause
"""Tasks send whole distributed arrays to each other."""

import time

import numpy as np
import pytest
from cases import (
    check_pattern,
    fill_pattern,
    private,
    random_dtype,
    random_shape,
    source_of,
    target_of,
    whole,
)
from lockstep import ranks
from worlds import INDEX, SIZES, check_world, small, transfer

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Spec

STEPS = {"inquiry", "call", "descriptor", "schedule", "pack", "move"}


@ranks(*SIZES, {"a": 4, "b": 2}, 1)
def test_tasks_know_themselves(comm, groups):
    groups = groups or {"only": 1}
    w = hk.tasks(groups, comm)
    names = [name for name, size in groups.items() for _ in range(size)]
    assert w.size == len(groups)
    assert w.name == names[comm.rank]
    assert w.rank == list(groups).index(w.name)
    assert w.comm.size == groups[w.name]
    assert w.comm.rank == names[: comm.rank].count(w.name)


@ranks(3)
def test_tasks_from_lists_of_ranks_in_their_order(comm):
    w = hk.tasks({"a": [2, 0], "b": [1]}, comm)
    assert w.name == ("b" if comm.rank == 1 else "a")
    assert w.comm.size == (1 if comm.rank == 1 else 2)
    assert w.comm.rank == {2: 0, 0: 1, 1: 0}[comm.rank]
    own = private(comm)
    transfer(w, "a", "b", small(2), small(1), "f8", own)
    transfer(w, "b", "a", small(1), small(2), "f8", own)


@ranks(*SIZES)
@pytest.mark.parametrize("seed", range(2))
def test_random_layouts_by_name_and_index(comm, groups, seed):
    w = hk.tasks(groups, comm)
    rng, own = np.random.default_rng([seed, *groups.values()]), private(comm, seed)
    for case in range(8):
        sender, receiver = ("a", "b") if rng.random() < 0.5 else ("b", "a")
        shape = random_shape(rng)
        source = oracle.random_spec(rng, shape, int(rng.integers(1, groups[sender] + 1)))
        destination = oracle.random_spec(rng, shape, int(rng.integers(1, groups[receiver] + 1)))
        way = {
            "to": [receiver, INDEX[receiver]][rng.integers(2)],
            "by": [sender, INDEX[sender], hk.ANY_SOURCE][rng.integers(3)],
            "tag": int(rng.integers(0, 1000)),
        }
        if rng.random() < 0.4:
            way["asked"] = hk.ANY_TAG
        dtype = random_dtype(rng)
        transfer(w, sender, receiver, source, destination, dtype, own, salt=case, **way)


@pytest.mark.soak
@ranks(*SIZES, {"a": 5, "b": 3}, {"a": 3, "b": 5}, seconds=600)
def test_random_layouts_for_long(comm, groups, soak_seed):
    seed = soak_seed
    w = hk.tasks(groups, comm)
    rng, own = np.random.default_rng([seed, *groups.values()]), private(comm, seed)
    for case in range(2000):
        sender, receiver = ("a", "b") if rng.random() < 0.5 else ("b", "a")
        shape = random_shape(rng)
        source = oracle.random_spec(rng, shape, int(rng.integers(1, groups[sender] + 1)))
        destination = oracle.random_spec(rng, shape, int(rng.integers(1, groups[receiver] + 1)))
        try:
            transfer(
                w,
                sender,
                receiver,
                source,
                destination,
                random_dtype(rng),
                own,
                salt=case,
                tag=case,
            )
        except BaseException as error:
            raise AssertionError(f"seed {seed}, case {case}") from error


@ranks(*SIZES)
def test_figure_3_rows_to_columns(comm, groups):
    """(BLOCK, *) in one task, (*, BLOCK) in the other, large enough to leave every eager path."""
    w = hk.tasks(groups, comm)
    source = Spec((257, 130), (BLOCK, STAR), (groups["a"],))
    destination = Spec((257, 130), (STAR, BLOCK), (groups["b"],))
    for turn in range(3):
        transfer(w, "a", "b", source, destination, "c16", private(comm, turn), salt=turn, tag=99)


@ranks({"a": 2, "b": 2}, {"a": 1, "b": 3})
def test_arrays_of_one_tag_do_not_overtake(comm, groups):
    w = hk.tasks(groups, comm)
    for turn in range(25):  # small and larger in turns, so that no fast path passes another
        shape = (12, 5) if turn % 2 else (120, 90)
        source, destination = small(groups["a"], shape), small(groups["b"], shape, CYCLIC)
        asked = hk.ANY_TAG if turn % 3 == 0 else turn % 4
        transfer(w, "a", "b", source, destination, "i4", private(comm), turn, turn % 4, asked=asked)


@ranks({"a": 1, "b": 2, "c": 1})
def test_a_wildcard_source_takes_each_sender_once(comm, groups):
    w = hk.tasks(groups, comm)
    shape = (6, 4)
    if w.name == "b":
        seen = {}
        for _ in range(2):
            b, room = target_of(small(2), "i8", w.comm, private(comm))
            st = w.recv(b, source=hk.ANY_SOURCE, tag=hk.ANY_TAG)
            room.check(small(2).local(whole(shape, "i8", salt=st.source), w.comm.rank))
            seen[st.source] = st.tag
        assert seen == {0: 10, 2: 30}
        assert len(set(map(str, w.comm.allgather(seen)))) == 1, "a task speaks with one voice"
    else:
        a, _ = source_of(small(1), whole(shape, "i8", salt=w.rank), w.comm, private(comm))
        w.send(a, "b", tag=10 if w.name == "a" else 30)


@ranks({"a": 1, "b": 2, "c": 1})
def test_sources_may_be_taken_in_another_order(comm, groups):
    w = hk.tasks(groups, comm)
    own = private(comm)
    for sender in ("c", "a") if w.name == "b" else (w.name,):
        transfer(w, sender, "b", small(1), small(2), "f4", own, salt=ord(sender))


@ranks({"a": 2, "b": 1, "c": 2})
def test_a_ring_of_three(comm, groups):
    w = hk.tasks(groups, comm)
    ring = ["a", "b", "c"]
    for turn in range(6):
        sender, receiver = ring[turn % 3], ring[(turn + 1) % 3]
        transfer(
            w,
            sender,
            receiver,
            small(groups[sender]),
            small(groups[receiver]),
            "f8",
            private(comm, turn),
            salt=turn,
        )


@ranks({"a": 2, "b": 2})
def test_two_worlds_over_one_communicator_do_not_mix(comm, groups):
    first, second = hk.tasks(groups, comm), hk.tasks({"x": 1, "y": 3}, comm)
    own = private(comm)
    for turn in range(4):
        transfer(first, "a", "b", small(2), small(2), "i8", own, salt=2 * turn)
        transfer(second, "x", "y", small(1), small(3), "i8", own, salt=2 * turn + 1)


@ranks({"a": 2, "b": 1})
def test_within_a_task_arrays_are_redistributed_as_ever(comm, groups):
    w = hk.tasks(groups, comm)
    spec, onto = small(w.comm.size), small(w.comm.size, form=CYCLIC)
    array = whole(spec.shape, "f8")
    a, _ = source_of(spec, array, w.comm, private(comm))
    b = hk.redistribute(a, onto.layout(hk))
    np.testing.assert_array_equal(b.local, onto.local(array, w.comm.rank))
    check_world(w, groups)


@ranks({"a": 2, "b": 3})
def test_empty_arrays_and_more_processes_than_elements(comm, groups):
    w = hk.tasks(groups, comm)
    own = private(comm)
    for shape in ((0,), (0, 4), (1,), (2, 1)):
        transfer(w, "a", "b", small(2, shape), small(3, shape, CYCLIC), "f8", own)
        transfer(w, "b", "a", small(3, shape), small(2, shape, CYCLIC), "f8", own)


@ranks({"a": 2, "b": 1})
def test_copies_are_all_written(comm, groups):
    w = hk.tasks(groups, comm)
    copies = Spec((5, 3), (STAR, STAR), (2,), (0,))
    transfer(w, "b", "a", small(1, (5, 3)), copies, "f8", private(comm))
    transfer(w, "a", "b", copies, small(1, (5, 3)), "f8", private(comm))


@ranks({"a": 2, "b": 1}, {"a": 1, "b": 1})
def test_profile_leaves_out_what_the_program_computes_meanwhile(comm, groups):
    w = hk.tasks(groups, comm)
    spec = small(w.comm.size, (60, 50))
    array, _ = source_of(spec, whole(spec.shape, "f8"), w.comm, private(comm))
    request = w.isend(array, "b") if w.name == "a" else w.irecv(array, "a")
    begun = time.perf_counter()
    request.test()
    time.sleep(0.5)  # stands for computing
    request.wait()
    spent = time.perf_counter() - begun
    assert sum(w.profile().values()) < spent - 0.4


@ranks({"a": 2, "b": 1}, {"a": 1, "b": 1})
def test_profile_has_the_six_steps(comm, groups):
    w = hk.tasks(groups, comm)
    begun = time.perf_counter()
    shape = (400, 300)
    for turn in range(3):
        transfer(
            w,
            "a",
            "b",
            small(groups["a"], shape),
            small(groups["b"], shape),
            "f8",
            private(comm),
            turn,
        )
    elapsed = time.perf_counter() - begun
    profile = w.profile()
    assert set(profile) == STEPS
    assert all(seconds >= 0 for seconds in profile.values())
    assert 0 < sum(profile.values()) <= elapsed * 1.01


@pytest.mark.soak
@ranks({"a": 1, "b": 1}, {"a": 1, "b": 2}, seconds=600)
def test_an_array_beyond_2_gib(comm, groups):
    w = hk.tasks(groups, comm)
    n = 2**31 + 2**20 + 7
    if w.name == "a":
        a = hk.empty(hk.Layout((n,), "(BLOCK)", 1), "u1", comm=w.comm)
        fill_pattern(a.local, lambda k: k)
        w.send(a, "b")
    else:
        p = w.comm.size
        b = hk.empty(hk.Layout((n,), "(CYCLIC(3))", p), "u1", comm=w.comm)
        w.recv(b, "a")
        check_pattern(b.local, lambda k: k // 3 * (3 * p) + 3 * w.comm.rank + k % 3)
