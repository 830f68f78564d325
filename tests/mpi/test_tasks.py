# SPDX-License-Identifier: BSD-3-Clause
"""Tasks send whole distributed arrays to each other."""

import time
from functools import partial

import numpy as np
import pytest
from cases import (
    check_pattern,
    fill_pattern,
    private,
    raises_everywhere,
    random_dtype,
    random_shape,
    source_of,
    target_of,
    whole,
)
from lockstep import ranks

import hocket as hk
import oracle
from oracle import BLOCK, CYCLIC, STAR, Spec

SIZES = [{"a": s, "b": r} for s in (1, 2, 3) for r in (1, 2, 3)]
INDEX = {
    "a": 0,
    "b": 1,
    "c": 2,
    "x": 0,
    "y": 1,
    "rows": 0,
    "cols": 1,
}  # of the tasks in every world below
STEPS = {"inquiry", "call", "descriptor", "schedule", "pack", "move"}


def transfer(w, sender, receiver, source, destination, dtype, own, salt=0, tag=0, **way):
    """One array from task to task; every byte and the status are checked. `way`: what to call the
    other side (`to`, `by`), and what tag to ask for (`asked`)."""
    array = whole(source.shape, dtype, salt)
    if w.name == sender:
        a, memory = source_of(source, array, w.comm, own)
        w.send(a, way.get("to", receiver), tag=tag)
        memory.check_untouched("the sent array")
    elif w.name == receiver:
        b, room = target_of(destination, dtype, w.comm, own)
        st = w.recv(b, source=way.get("by", sender), tag=way.get("asked", tag))
        expected = destination.local(array, w.comm.rank)
        room.check(expected, f"{source} on {sender} -> {destination} on {receiver}, {dtype}")
        assert st.source == INDEX[sender]
        assert st.tag == tag
        assert st.layout == source.layout(hk)
        assert st.dtype == np.dtype(dtype)


def small(size, shape=(6, 4), form=BLOCK):
    return Spec(shape, (form,) + (STAR,) * (len(shape) - 1), (size,))


def check_world(w, groups):
    """Both tasks can still exchange arrays, both ways."""
    a, b = list(groups)[:2]
    transfer(w, a, b, small(groups[a]), small(groups[b], form=CYCLIC), "i8", private(w.comm), 3)
    transfer(w, b, a, small(groups[b]), small(groups[a], form=CYCLIC), "i8", private(w.comm), 4)


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
    for case in range(14):
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


# ---- bad input ------------------------------------------------------------------------------


def arrays(w, groups, source, destination, dtypes):
    """This process's array and memory: what task a sends, b receives."""
    if w.name == "a":
        array = whole(source.shape, dtypes[0])
        return source_of(source, array, w.comm, private(w.comm))
    return target_of(destination, dtypes[1], w.comm, private(w.comm))


def exchange(w, array, tag=0, **options):
    """The call that this side makes."""
    if w.name == "a":
        return partial(w.send, array, "b", tag=tag, **options)
    return partial(w.recv, array, source="a", tag=tag, **options)


@ranks(*SIZES)
@pytest.mark.parametrize(
    ("shapes", "dtypes", "words"),
    [
        (((6, 4), (6, 4)), ("f8", "i4"), ["float64", "int32"]),
        (((6, 4), (6, 4)), ("f8", "i8"), ["float64", "int64"]),  # as many bytes
        (((6, 4), (6, 5)), ("f8", "f8"), ["(6, 4)", "(6, 5)"]),
        (((6, 4), (4, 6)), ("f8", "f8"), ["(6, 4)", "(4, 6)"]),  # as many elements
        (((6, 4), (24,)), ("f8", "f8"), ["(6, 4)", "(24"]),
        (((6, 4), (6, 5)), ("f8", "f4"), ["(6, 4)", "(6, 5)", "float64", "float32"]),
    ],
    ids=["dtype", "kind", "shape", "turned", "flat", "both"],
)
def test_disagreement_raises_on_every_process_of_both_sides(comm, groups, shapes, dtypes, words):
    w = hk.tasks(groups, comm)
    source, destination = small(groups["a"], shapes[0]), small(groups["b"], shapes[1])
    array, memory = arrays(w, groups, source, destination, dtypes)
    call = exchange(w, array, tag=99)
    raises_everywhere(comm, hk.MismatchError, call, "'a'", "'b'", "99", *words)
    memory.check_untouched("what disagreed")
    check_world(w, groups)


@ranks({"a": 2, "b": 2}, {"a": 1, "b": 2}, {"a": 3, "b": 2})
def test_a_wildcard_receive_disagrees_as_loudly(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = arrays(w, groups, small(groups["a"]), small(groups["b"]), ("f8", "f4"))
    call = exchange(w, array, tag=5) if w.name == "a" else partial(w.recv, array)
    raises_everywhere(comm, hk.MismatchError, call, "float64", "float32", "'a'", "'b'")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 2, "b": 2}, {"a": 2, "b": 1}, seconds=40)
@pytest.mark.parametrize("culprit", [0, 1])
def test_ranks_of_one_task_that_disagree(comm, groups, culprit):
    """One process of task a brings another dtype: both tasks hear of it, and can go on."""
    w = hk.tasks(groups, comm)
    dtype = "f4" if w.comm.rank == culprit else "f8"
    array, memory = arrays(w, groups, small(2), small(groups["b"]), (dtype, "f8"))
    call = exchange(w, array, timeout=20)
    raises_everywhere(comm, hk.MismatchError, call, "float32", "float64")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 1, "b": 2}, seconds=40)
def test_a_read_only_receiver_on_one_process_only(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = arrays(w, groups, small(1), small(2), ("f8", "f8"))
    if w.name == "b" and w.comm.rank == 1:
        view = memory.view[...]
        view.flags.writeable = False
        array = hk.wrap(view, array.layout, comm=w.comm)
    raises_everywhere(comm, hk.Error, exchange(w, array, timeout=20), "read-only")
    memory.check_untouched()
    check_world(w, groups)


@ranks({"rows": 2, "cols": 2}, {"rows": 1, "cols": 2})
def test_a_task_that_does_not_exist(comm, groups):
    w = hk.tasks(groups, comm)
    a, memory = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    for call in (
        lambda: w.send(a, "col"),
        lambda: w.send(a, "Cols"),
        lambda: w.recv(a, source="colz"),
    ):
        raises_everywhere(comm, hk.Error, call, "'cols'")
    for index in (2, 77, -5):
        raises_everywhere(comm, hk.Error, partial(w.send, a, index), str(index))
        raises_everywhere(comm, hk.Error, partial(w.recv, a, source=index), str(index))
    raises_everywhere(comm, (hk.Error, TypeError), lambda: w.send(a, 1.5))
    memory.check_untouched()
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_a_task_does_not_block_on_itself(comm, groups):
    w = hk.tasks(groups, comm)
    a, _ = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    raises_everywhere(comm, hk.Error, lambda: w.send(a, w.name), "isend", "sendrecv")
    raises_everywhere(comm, hk.Error, lambda: w.recv(a, w.rank))
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_tags_must_be_non_negative_integers(comm, groups):
    w = hk.tasks(groups, comm)
    a, _ = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    other = "b" if w.name == "a" else "a"
    for tag in (-7, hk.ANY_TAG):
        raises_everywhere(comm, hk.Error, partial(w.send, a, other, tag=tag), "tag")
    raises_everywhere(comm, (hk.Error, TypeError), lambda: w.send(a, other, tag="x"))
    transfer(w, "a", "b", small(1), small(2), "f8", private(comm), tag=2**31 - 1)
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_what_is_no_array_is_refused(comm, groups):
    w = hk.tasks(groups, comm)
    for thing in (np.zeros((6, 4)), None, "array"):
        raises_everywhere(comm, (hk.Error, TypeError), partial(w.send, thing, 1 - w.rank))
        raises_everywhere(comm, (hk.Error, TypeError), partial(w.recv, thing, 1 - w.rank))
    check_world(w, groups)


@ranks({"a": 1, "b": 2})
def test_an_array_of_another_communicator_is_refused(comm, groups):
    """The world's array in a task's verb: its processes are not the task's."""
    w = hk.tasks(groups, comm)
    a = hk.zeros(small(comm.size).layout(hk), "f8", comm=comm)
    raises_everywhere(comm, hk.Error, exchange(w, a), "w.comm")
    check_world(w, groups)


@ranks(1, 3)
@pytest.mark.parametrize(
    "shape", ["too many", "too few", "zero", "negative", "empty", "nobody", "unknown", "text"]
)
def test_counts_that_do_not_fit(comm, shape):
    n = comm.size
    counts, words = {
        "too many": ({"a": n, "b": 1}, [f"'a': {n}", f"has {n} "]),
        "too few": ({"a": n + 1}, [str(n + 1), str(n)]),
        "zero": ({"a": n, "b": 0}, ["'b'"]),
        "negative": ({"a": n + 1, "b": -1}, ["-1"]),
        "empty": ({}, []),
        "nobody": ({"a": list(range(n)), "b": []}, ["'b'"]),
        "unknown": ({"a": list(range(n)), "b": [n]}, [str(n)]),
        "text": ({"a": "three"}, []),
    }[shape]
    raises_everywhere(comm, (hk.Error, TypeError), lambda: hk.tasks(counts, comm), *words)
    w = hk.tasks({"all": n}, comm)
    assert w.name == "all"


@ranks(3)
def test_a_rank_in_no_task_or_twice_in_one(comm):
    raises_everywhere(comm, hk.Error, lambda: hk.tasks({"a": [0], "b": [2]}, comm), "1")
    raises_everywhere(comm, hk.Error, lambda: hk.tasks({"a": [0, 0], "b": [1, 2]}, comm), "0")


@ranks(2, 3)
def test_ranks_that_name_different_tasks(comm):
    name = "b" if comm.rank else "c"
    counts = {"a": comm.size - 1, name: 1}
    raises_everywhere(comm, hk.MismatchError, lambda: hk.tasks(counts, comm), "'b'", "'c'")
    assert hk.tasks({"a": comm.size}, comm).size == 1


@ranks({"a": 1, "b": 2, "c": 1}, {"a": 2, "b": 1, "c": 2}, seconds=40)
def test_a_deadline_ends_the_wait_and_breaks_that_pair_only(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    if w.name == "b":
        begun = time.perf_counter()
        with pytest.raises(hk.DeadlineError) as caught:
            w.recv(array, source="a", tag=4, timeout=0.4)
        assert 0.3 < time.perf_counter() - begun < 10
        for word in ("'a'", "4", "0.4"):
            assert word in str(caught.value)
        with pytest.raises(hk.Error) as caught:
            w.recv(array, source="a", tag=4, timeout=5.0)
        assert not isinstance(caught.value, hk.DeadlineError), "later calls raise at once"
    memory.check_untouched()
    comm.barrier()
    if w.name in "bc":
        transfer(w, "b", "c", small(groups["b"]), small(groups["c"]), "f8", private(comm))
        transfer(w, "c", "b", small(groups["c"]), small(groups["b"]), "f8", private(comm))
    if w.name in "ac":
        transfer(w, "a", "c", small(groups["a"]), small(groups["c"]), "f8", private(comm))


@ranks({"a": 1, "b": 2}, {"a": 2, "b": 1}, seconds=40)
def test_a_wildcard_deadline_breaks_nothing(comm, groups):
    w = hk.tasks(groups, comm)
    array, memory = target_of(small(w.comm.size), "f8", w.comm, private(comm))
    if w.name == "b":
        with pytest.raises(hk.DeadlineError):
            w.recv(array, timeout=0.3)
    memory.check_untouched()
    comm.barrier()
    check_world(w, groups)


@ranks({"a": 2, "b": 1}, seconds=40)
def test_a_send_that_nobody_takes_ends_at_its_deadline_or_was_taken_up(comm, groups):
    """A large array cannot be put aside: its sender waits for the receiver, or for the deadline."""
    w = hk.tasks(groups, comm)
    if w.name == "a":
        a, _ = target_of(small(2, (2000, 1000)), "f8", w.comm, private(comm))
        with pytest.raises(hk.DeadlineError):
            w.send(a, "b", timeout=0.4)


@ranks({"a": 1, "b": 1}, seconds=40)
def test_timeouts_must_be_non_negative_numbers(comm, groups):
    w = hk.tasks(groups, comm)
    array, _ = target_of(small(1), "f8", w.comm, private(comm))
    for timeout in (-1.0, float("nan"), "soon"):
        raises_everywhere(comm, (hk.Error, TypeError), exchange(w, array, timeout=timeout))
    check_world(w, groups)


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
