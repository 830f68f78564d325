# SPDX-License-Identifier: BSD-3-Clause
"""hk.transfer: every element arrives once, in its place, at every start, with any arrays."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import check_still_works, private, raises_everywhere, random_dtype, source_of, whole
from cases import target_of as room_for
from lockstep import ranks

import hocket as hk
import holdings
import oracle
from oracle import BLOCK, CYCLIC, STAR, Spec
from random_layouts import any_pair, from_rng

STRATEGIES = ["direct", "centralized", "staged", "multistage", "hybrid"]
WIDER = {"int32": "float64", "float64": "float32", "int64": "int64", "uint8": "complex128"}


def check_starts(
    comm: Any,
    x: hk.Transfer,
    pair: tuple[Any, Any, Any],
    types: tuple[Any, Any],
    own: np.random.Generator,
    starts: int = 3,
) -> None:
    """Each start has arrays of its own, in memory of other strides; every byte is watched."""
    source, destination, axes = pair
    for salt in range(starts):
        array = whole(source.shape, types[0], salt)
        a, memory = source_of(source, array, comm, own)
        b, room = room_for(destination, types[1], comm, own)
        turned = array if axes is None else array.transpose(axes)
        x(a, b, timeout=60 if salt % 2 else None)  # in one call without a timeout
        what = f"{x}, start {salt}, axes {axes}, {types}"
        room.check(destination.local(turned.astype(types[1]), comm.rank), what)
        memory.check_untouched(f"the source of {what}")


def random_transfer(comm: Any, rng: np.random.Generator, own: Any, case: int, gaps: bool) -> None:
    source, destination, axes = any_pair(from_rng(rng), comm.size, gaps=gaps)
    has = random_dtype(rng)
    converts = rng.random() < 0.3
    if converts:
        has = np.dtype(list(WIDER)[int(rng.integers(len(WIDER)))])
    gets = np.dtype(WIDER[has.name]) if converts else has
    given = {"dtype": gets} if converts else {}
    ends: list[Any] = [source.layout(hk), destination.layout(hk)]
    if rng.random() < 0.5:
        ends[0] = hk.empty(ends[0], has, comm)
    if rng.random() < 0.3:
        ends[1] = hk.empty(ends[1], gets, comm)

    def make() -> hk.Transfer:
        return hk.transfer(*ends, axes=axes, comm=comm, timeout=60, **given)

    lacking = holdings.missing(source, destination, axes)
    if lacking is not None:
        words = "element (" + ", ".join(map(str, lacking)) + ")"
        raises_everywhere(comm, hk.LayoutError, make, words)
        return
    x = make()
    check_starts(comm, x, (source, destination, axes), (has, gets), own)
    x.free()


@ranks(1, 2, 3, 4, 5, 6)
@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.soak)])
def test_random_layouts_of_every_kind(comm: Any, seed: int) -> None:
    rng, own = np.random.default_rng([seed, comm.size, 14]), private(comm, seed)
    for case in range(20):
        random_transfer(comm, rng, own, case, gaps=bool(seed % 2))
    check_still_works(comm)


@pytest.mark.parametrize("cases", [8, pytest.param(20, marks=pytest.mark.soak)])
@ranks(4, soak=[6], nodes="0,0,1,1")
def test_random_layouts_on_pretended_nodes(comm: Any, cases: int) -> None:
    rng, own = np.random.default_rng([31, comm.size]), private(comm, 31)
    for case in range(cases):
        random_transfer(comm, rng, own, case, gaps=False)


@pytest.mark.soak
@ranks(1, 2, 3, 4, 5, 6, seconds=600)
def test_random_layouts_for_long(comm: Any, soak_seed: int) -> None:
    rng, own = np.random.default_rng([soak_seed, comm.size]), private(comm, soak_seed)
    for case in range(1000):
        try:
            random_transfer(comm, rng, own, case, gaps=bool(case % 3))
        except BaseException as error:
            raise AssertionError(f"seed {soak_seed}, case {case}") from error


@ranks(2, 3, 4)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy(comm: Any, strategy: str) -> None:
    rng, own = np.random.default_rng([comm.size, 5]), private(comm, 5)
    for _ in range(3):
        shape = oracle.random_shape(rng, 2)
        pair = [oracle.random_spec(rng, shape, int(rng.integers(1, comm.size + 1))) for _ in "ab"]
        x = hk.transfer(*(s.layout(hk) for s in pair), strategy=strategy, comm=comm, timeout=60)
        check_starts(comm, x, (*pair, None), ("int64", "int64"), own)


@pytest.mark.parametrize("extent", [5, 40, 700, 60000])
@ranks(2, 3, 4)
def test_sizes_in_a_cell_in_the_ring_and_in_parts(comm: Any, extent: int) -> None:
    pair = Spec((extent,), (BLOCK,), (comm.size,)), Spec((extent,), (CYCLIC,), (comm.size,))
    x = hk.transfer(*(s.layout(hk) for s in pair), comm=comm)
    check_starts(comm, x, (*pair, None), ("float64", "float64"), private(comm, 6), starts=6)


@ranks(2, 4)
def test_several_under_way_at_once(comm: Any) -> None:
    """Started in one order, waited for in another, on two communicators."""
    other = comm.Dup()
    rng = np.random.default_rng(3)
    pairs = [[oracle.random_spec(rng, (30, 7), comm.size) for _ in "ab"] for _ in range(6)]
    on = [comm, other] * 3
    x = [hk.transfer(*(s.layout(hk) for s in p), comm=c) for p, c in zip(pairs, on)]
    for salt in range(4):
        ends = []
        for k, (source, destination) in enumerate(pairs):
            array = whole((30, 7), "int32", salt * 10 + k)
            a, _ = source_of(source, array, on[k], private(comm, k))
            b, room = room_for(destination, "int32", on[k], private(comm, k))
            x[k].start(a, b)
            ends.append((room, destination.local(array, comm.rank)))
            del a, b
        gc.collect()
        for k in np.random.default_rng([salt, comm.rank]).permutation(len(x)):
            x[k].wait(60)
        for room, expected in ends:
            room.check(expected, f"salt {salt}")
    other.Free()


@ranks(3)
def test_a_deadline_ends_the_wait_and_not_the_transfer(comm: Any) -> None:
    lay = hk.Layout(30000, "(BLOCK)", 3), hk.Layout(30000, "(CYCLIC)", 3)
    x = hk.transfer(*lay, comm=comm)
    a, b = hk.from_function(lambda i: i, lay[0], "int64", comm), hk.empty(lay[1], "int64", comm)
    x(a, b)
    b.local[...] = -1
    if comm.rank != 1:
        x.start(a, b)
        with pytest.raises(hk.DeadlineError, match="is not done"):
            x.wait(0.05)
        assert not x.test()
        with pytest.raises(hk.Error, match="under way"):
            x.start(a, b)
        with pytest.raises(hk.Error, match="under way"):
            x.free()
    comm.barrier()
    if comm.rank == 1:
        x.start(a, b)
    while not x.test():
        pass
    assert np.array_equal(b.local, np.arange(comm.rank, 30000, 3))
    x.free()


def pages() -> int:
    """Of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1])


@ranks(2)
def test_starts_take_no_memory_no_plan_and_no_agreement(comm: Any) -> None:
    lay = hk.Layout((64, 64), "(BLOCK, *)", 2), hk.Layout((64, 64), "(*, BLOCK)", 2)
    x = hk.transfer(*lay, comm=comm, dtype="float32")
    ends = [hk.zeros(lay[0], "float64", comm), hk.zeros(lay[1], "float32", comm)]
    for _ in range(100):
        x(*ends)
    comm.barrier()

    def counts() -> tuple[Any, ...]:
        from hocket import _mpi

        resident = pages()
        usage = _mpi.memory_usage()
        return (_mpi.plan_cache_counts(), _mpi.descriptor_counts(), usage["in_use"]), resident

    # Memory and messages of the tests before this one may still come to their end in the first
    # block of starts.
    for block in range(3):
        before, resident = counts()
        for k in range(400):
            ends[0].local[...] = k
            x(*ends)
            assert ends[1].local[0, 0] == k
        after, resident_after = counts()
        if block > 0:
            assert after == before, block
            assert resident_after - resident < 26, block


@ranks(2)
def test_made_and_freed_a_thousand_times(comm: Any) -> None:
    lay = hk.Layout(64, "(BLOCK)", 2), hk.Layout(64, "(CYCLIC)", 2)
    a, b = hk.zeros(lay[0], comm=comm), hk.empty(lay[1], comm=comm)
    before = 0
    for k in range(1000):
        x = hk.transfer(a, b)
        x(a, b)
        if k % 2:
            x.free()
        if k == 500:
            gc.collect()
            before = pages()
    assert pages() - before < 256


@ranks(1, 3)
def test_as_a_step_of_a_flow(comm: Any) -> None:
    """Steps around it wait for it, and steps of one transfer for each other."""
    n, p = 300, comm.size
    blocks, cyclic = hk.Layout(n, "(BLOCK)", p), hk.Layout(n, "(CYCLIC)", p)
    there, back = hk.transfer(blocks, cyclic, comm=comm), hk.transfer(cyclic, blocks, comm=comm)
    to_float = hk.transfer(blocks, cyclic, comm=comm, dtype="float32")
    a, b = hk.from_function(lambda i: i, blocks, "int64", comm), hk.empty(cyclic, "int64", comm)
    c, d = hk.empty(blocks, "int64", comm), hk.empty(cyclic, "float32", comm)
    with hk.Flow(workers=2) as f:
        for _ in range(5):
            f.task(lambda: np.add(a.local, 1, out=a.local), inouts=[a])
            f.transfer(there, a, b)
            f.task(lambda: np.multiply(b.local, 2, out=b.local), inouts=[b])
            f.transfer(back, b, c)
            f.task(lambda: np.copyto(a.local, c.local), [c], [a])
        f.transfer(to_float, a, d)
    expected = np.arange(n)
    for _ in range(5):
        expected = (expected + 1) * 2
    assert np.array_equal(d.local, expected.astype("float32")[comm.rank :: p])
    assert np.array_equal(a.local, expected[blocks.global_indices(comm.rank)[0]])


@ranks(2, 3)
def test_into_a_section_that_is_no_view(comm: Any) -> None:
    spec = Spec((24, 3), (oracle.Format("CYCLIC", 3), STAR), (comm.size,))
    whole_b = hk.zeros(spec.layout(hk), "int64", comm)
    b = whole_b.section(np.s_[::2])
    source = hk.Layout((12, 3), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: 10 * i + j + 1, source, "int64", comm)
    expected = np.zeros((24, 3), "int64")
    expected[::2] = 10 * np.arange(12)[:, None] + np.arange(3) + 1
    x = hk.transfer(a, b)
    x(a, b)
    assert np.array_equal(whole_b.local, spec.local(expected, comm.rank))
    whole_b.local[...] = 0
    with hk.Flow(workers=1) as f:
        f.transfer(x, a, b)
    assert np.array_equal(whole_b.local, spec.local(expected, comm.rank))


@ranks(1, 2, 4)
def test_iredistribute(comm: Any) -> None:
    """Several under way, whose arrays nobody else keeps; results in any order."""
    rng = np.random.default_rng(9)
    requests, expected = [], []
    for k in range(5):
        source, destination = (oracle.random_spec(rng, (20, 9), comm.size) for _ in "ab")
        array = whole((20, 9), "int32", k)
        a, _ = source_of(source, array, comm, private(comm, k))
        to = "float64" if k % 2 else "int16"
        requests.append(hk.iredistribute(a, destination.layout(hk), dtype=to))
        expected.append(destination.local(array.astype(to), comm.rank))
        del a
    gc.collect()
    assert isinstance(requests[0], hk.Request) and not requests[0].persistent
    left = [0, 1]
    while left:
        left.pop(hk.waitany([requests[k] for k in left], timeout=60))
    assert hk.waitany(requests[:2]) == 0, "a complete request stays complete"
    w, lay = hk.tasks({"all": comm.size}, comm), hk.Layout(6, "(BLOCK)", comm.size)
    a, b = hk.zeros(lay, comm=w.comm), hk.zeros(lay, comm=w.comm)
    of_task = [w.isend(a, 0), w.irecv(b, 0)]
    with pytest.raises(hk.Error, match="iredistribute beside those of a task"):
        hk.waitany([requests[0], *of_task])
    hk.waitall(of_task, timeout=60)
    results = hk.waitall(requests[:2], timeout=60)
    while not requests[3].test():
        pass
    results += [requests[2].wait(), requests[3].wait(), requests[4].wait(60)]
    for result, right in zip(results, expected):
        assert result.dtype == right.dtype
        np.testing.assert_array_equal(result.local, right)
    assert requests[0].wait() is results[0]
    with pytest.raises(hk.Error, match="no send or receive"):
        requests[0].start()
    a = hk.zeros(hk.Layout(6, "(BLOCK)", comm.size), comm=comm)
    with hk.Flow(workers=1) as f:
        f.comm(lambda: hk.iredistribute(a, a.layout), inputs=[a])
    error = hk.LayoutError
    wrong = hk.Layout(7, "(*)") if comm.rank == comm.size - 1 else a.layout
    raises_everywhere(comm, error, lambda: hk.iredistribute(a, wrong).wait(60), "shape")
