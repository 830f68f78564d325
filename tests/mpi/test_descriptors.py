# SPDX-License-Identifier: BSD-3-Clause
"""How many messages it takes to agree on a send: those of a binomial tree, and no more; none within
a task whose processes share memory."""

import math
import os

import numpy as np
import pytest
from cases import private, source_of, target_of, whole
from lockstep import ranks

import hocket as hk
from hocket import _mpi
from oracle import BLOCK, STAR, Spec

SIZES = (1, 2, 3, 5, 8)
SQUARE = [{"a": s, "b": r} for s in SIZES for r in SIZES]
APART = ",".join(str(rank) for rank in range(16))  # no two processes share memory


def tree(sizes):
    """The most of one process, and of all: up and down both trees, there and back between them."""
    return 1 + math.ceil(max(math.log2(size) for size in sizes)), 2 * (sum(sizes) - 2) + 2


def check(comm, groups, shape, most, total):
    w = hk.tasks(groups, comm)
    spec = Spec(shape, (BLOCK, STAR), (w.comm.size,))
    array = whole(shape, "f8")
    a, _ = source_of(spec, array, w.comm, private(w.comm))
    b, room = target_of(spec, "f8", w.comm, private(w.comm))
    for turn in range(3):  # the first finds no plan
        comm.barrier()
        before = np.array(_mpi.descriptor_counts())
        if w.name == "a":
            w.send(a, "b", tag=turn)
        else:
            w.recv(b, *[("a", turn), (hk.ANY_SOURCE, turn), ("a", hk.ANY_TAG)][turn])
        sent, received, _ = np.array(_mpi.descriptor_counts()) - before
        assert sent <= most and received <= most, (sent, received, most)
        everywhere = comm.allreduce(int(sent))
        assert everywhere == comm.allreduce(int(received)) == total
    if w.name == "b":
        room.check(spec.local(array, w.comm.rank))


@ranks({"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 3}, soak=[{"a": 3, "b": 5}], nodes=APART)
def test_nobody_sends_or_receives_more_than_a_tree(comm, groups):
    check(comm, groups, (9, 4), *tree(groups.values()))


@pytest.mark.soak
@ranks(*SQUARE, nodes=APART)
def test_every_pair_of_sizes(comm, groups):
    check(comm, groups, (9, 4), *tree(groups.values()))


@ranks({"a": 3, "b": 2}, soak=[{"a": 5, "b": 3}], nodes=APART)
def test_long_messages_need_no_more(comm, groups):
    check(comm, groups, (300, 300), *tree(groups.values()))


@pytest.mark.one_host("tasks of one node agree without messages")
@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="all processes are to share memory")
@ranks({"a": 1, "b": 2}, {"a": 3, "b": 2}, soak=[{"a": 5, "b": 3}])
def test_tasks_that_share_memory_need_none_among_themselves(comm, groups):
    check(comm, groups, (9, 4), 1, 2)


@pytest.mark.soak
@ranks(*SQUARE, nodes=APART)
def test_long_messages_of_every_pair_of_sizes(comm, groups):
    check(comm, groups, (300, 300), *tree(groups.values()))


@pytest.mark.soak
@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="all processes are to share memory")
@ranks(*SQUARE)
def test_every_pair_of_sizes_in_shared_memory(comm, groups):
    check(comm, groups, (9, 4), 1, 2)


@ranks({"a": 3, "b": 2}, soak=[{"a": 3, "b": 5}], nodes=APART)
def test_refusals_need_no_more(comm, groups):
    w = hk.tasks(groups, comm)
    shape = (6, 4) if w.name == "a" else (6, 5)
    b, _ = target_of(Spec(shape, (BLOCK, STAR), (w.comm.size,)), "f8", w.comm, private(w.comm))
    comm.barrier()
    before = np.array(_mpi.descriptor_counts())
    with pytest.raises(hk.MismatchError):
        w.send(b, "b") if w.name == "a" else w.recv(b, "a")
    sent, received, _ = np.array(_mpi.descriptor_counts()) - before
    assert sent <= 4 and received <= 4


@ranks({"a": 1, "b": 1}, {"a": 3, "b": 2}, nodes=APART)
def test_a_long_layout_travels_once(comm, groups):
    """Lists of 20 000 elements, made anew for each message: the first messages carry them, later
    ones their digests, up and down both trees."""
    w = hk.tasks(groups, comm)
    n, p = 20000, w.comm.size
    order = np.random.default_rng(5).permutation(n)

    def layout(turn):
        moved = np.roll(order, turn if w.name == "a" else 3 * turn)
        return hk.Layout.elements((n,), [moved[r::p] for r in range(p)])

    bytes_sent = []
    for turn in [0, 0, 0, 1, 0, 1]:
        lay = layout(turn)
        mine = lay.global_indices(w.comm.rank)[0]
        array = hk.wrap(np.zeros(len(mine)), lay, w.comm)
        if w.name == "a":
            array.local[:] = mine
        before = _mpi.descriptor_counts()[2]
        if w.name == "a":
            w.send(array, "b")
        else:
            assert w.probe("a").layout == hk.Layout.elements(
                (n,), [np.roll(order, turn)[r :: groups["a"]] for r in range(groups["a"])]
            )
            w.recv(array, "a")
            np.testing.assert_array_equal(array.local, mine)
        bytes_sent.append(_mpi.descriptor_counts()[2] - before)
    most = [max(every) for every in zip(*comm.allgather(bytes_sent), strict=True)]
    assert most[0] > n and most[3] > n, most
    assert max(most[1], most[2], most[4], most[5]) < 2500, most


@ranks({"a": 2, "b": 2}, nodes=APART)
def test_many_long_layouts_under_way(comm, groups):
    """More layouts than are kept, in messages whose replies come in any order."""
    w = hk.tasks(groups, comm)
    n, p = 200, w.comm.size
    rng = np.random.default_rng(7)
    orders = [rng.permutation(n) for _ in range(24)]
    chosen = [int(k) for k in rng.integers(0, len(orders), 80)]
    arrays, requests = [], []
    for at, k in enumerate(chosen):
        own = orders[k] if w.name == "a" else orders[-1 - k]
        lay = hk.Layout.elements((n,), [own[r::p] for r in range(p)])
        mine = lay.global_indices(w.comm.rank)[0]
        array = hk.wrap(np.zeros(len(mine)), lay, w.comm)
        arrays.append((array, mine + at))
        if w.name == "a":
            array.local[:] = mine + at
            requests.append(w.isend(array, "b", tag=at))
        else:
            requests.append(w.irecv(array, "a", tag=at))
    for at in rng.permutation(len(requests)):
        requests[at].wait()
    for array, expected in arrays:
        np.testing.assert_array_equal(array.local, expected)


@ranks({"a": 2, "b": 3}, nodes=APART)
def test_collective_calls_carry_a_long_layout_once(comm, groups):
    """Of every task, up and down all trees; then digests."""
    w = hk.tasks(groups, comm)
    n, p = 20000, w.comm.size
    bytes_sent = []
    for turn in [0, 0, 1, 0, 1]:
        order = np.roll(np.random.default_rng(len(w.name)).permutation(n), ord(w.name) + turn)
        lay = hk.Layout.elements((n,), [order[r::p] for r in range(p)])
        mine = lay.global_indices(w.comm.rank)[0]
        array, total = (hk.wrap(np.zeros(len(mine)), lay, w.comm) for _ in range(2))
        array.local[:] = mine
        before = _mpi.descriptor_counts()[2]
        w.allreduce(array, total, "add")
        bytes_sent.append(_mpi.descriptor_counts()[2] - before)
        np.testing.assert_array_equal(total.local, len(groups) * mine)
    most = [max(every) for every in zip(*comm.allgather(bytes_sent), strict=True)]
    assert most[0] > n and most[2] > n, most
    assert max(most[1], most[3], most[4]) < 4000, most
