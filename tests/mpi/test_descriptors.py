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
        sent, received = np.array(_mpi.descriptor_counts()) - before
        assert sent <= most and received <= most, (sent, received, most)
        everywhere = comm.allreduce(int(sent))
        assert everywhere == comm.allreduce(int(received)) == total
    if w.name == "b":
        room.check(spec.local(array, w.comm.rank))


@ranks({"a": 1, "b": 2}, {"a": 3, "b": 5}, nodes=APART)
def test_nobody_sends_or_receives_more_than_a_tree(comm, groups):
    check(comm, groups, (9, 4), *tree(groups.values()))


@pytest.mark.soak
@ranks(*SQUARE, nodes=APART)
def test_every_pair_of_sizes(comm, groups):
    check(comm, groups, (9, 4), *tree(groups.values()))


@ranks({"a": 5, "b": 3}, nodes=APART)
def test_long_messages_need_no_more(comm, groups):
    check(comm, groups, (300, 300), *tree(groups.values()))


@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="all processes are to share memory")
@ranks({"a": 1, "b": 2}, {"a": 5, "b": 3})
def test_tasks_that_share_memory_need_none_among_themselves(comm, groups):
    check(comm, groups, (9, 4), 1, 2)


@pytest.mark.soak
@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="all processes are to share memory")
@ranks(*SQUARE)
def test_every_pair_of_sizes_in_shared_memory(comm, groups):
    check(comm, groups, (9, 4), 1, 2)


@ranks({"a": 3, "b": 5}, nodes=APART)
def test_refusals_need_no_more(comm, groups):
    w = hk.tasks(groups, comm)
    shape = (6, 4) if w.name == "a" else (6, 5)
    b, _ = target_of(Spec(shape, (BLOCK, STAR), (w.comm.size,)), "f8", w.comm, private(w.comm))
    comm.barrier()
    before = np.array(_mpi.descriptor_counts())
    with pytest.raises(hk.MismatchError):
        w.send(b, "b") if w.name == "a" else w.recv(b, "a")
    sent, received = np.array(_mpi.descriptor_counts()) - before
    assert sent <= 4 and received <= 4
