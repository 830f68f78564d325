# SPDX-License-Identifier: BSD-3-Clause
"""Every operation of teams, with every type, on random subsets, against an oracle."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from across import NODES
from lockstep import ranks

import hocket as hk

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built
from team_oracle import FOLDS, TYPES, Oracle, mask_of, members_of, random_value, same


def check(got: Any, expected: Any, what: str) -> None:
    """Type and value."""
    assert same(got, expected), f"{what}: {got!r}, expected {expected!r}"


def check_fold(s: hk.Team, got: Any, expected: Any, what: str) -> None:
    """The same; between nodes sums are rounded differently, as each node's are made first."""
    if s.shares_memory or not isinstance(expected, np.floating):
        return check(got, expected, what)
    assert type(got) is type(expected), what
    close = np.isclose(got, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
    assert close, f"{what}: {got!r}, expected {expected!r}"


def every_operation(s: hk.Team, seed: int, name: str) -> None:
    """All operations once, on one team; `seed` is the same on all its processes."""
    rng = np.random.default_rng([seed, TYPES.index(name), s.mask])
    size, me = s.size, s.process
    members = members_of(s.mask)
    values = [random_value(rng, name) for _ in range(size)]
    chosen = [int(rng.choice(members)) for _ in range(size)]
    flags = [bool(rng.integers(2)) for _ in range(size)]
    v, oracle, what = values[me], Oracle(size, members, values, me), f"{name} of {members}"
    kind = type(v)

    assert (s.population(), s.enumerate()) == (len(members), members.index(me))
    assert s.select_first() == members[0] and s.select_one() in members
    s.wait()
    assert s.any(flags[me]) is any(flags[p] for p in members)
    assert s.all(flags[me]) is all(flags[p] for p in members)
    assert s.waitvec(flags[me]) == mask_of(p for p in members if flags[p])
    check(s.putget(v, chosen[me]), values[chosen[me]], f"putget {what}")
    check(s.gather(v), oracle.gather(np.zeros(size, kind)), f"gather {what}")
    out = np.full(size, kind(1))
    assert s.gather(v, out) is out
    check(out, oracle.gather(np.full(size, kind(1))), f"gather into {what}")
    putters = [p for p in members if flags[p]]
    got = s.bcast_put(v) if flags[me] else s.bcast_get(kind)
    assert got.tobytes() == oracle.bcast(putters).tobytes(), f"bcast {what}"
    for fold in FOLDS:
        if np.dtype(name).kind == "f" and fold.endswith("_"):
            with pytest.raises(hk.Error, match="bitwise"):
                getattr(s, f"reduce_{fold}")(v)
            with pytest.raises(hk.Error, match="bitwise"):
                getattr(s, f"scan_{fold}")(v)
            continue
        check_fold(s, getattr(s, f"reduce_{fold}")(v), oracle.reduce(fold), f"reduce_{fold} {what}")
        check_fold(s, getattr(s, f"scan_{fold}")(v), oracle.scan(fold), f"scan_{fold} {what}")
    assert s.rank(v) == oracle.rank(), f"rank {what}"
    voters = [p for p in members if chosen[p] == me]
    assert s.vote_count(chosen[me]) == len(voters)
    assert s.vote(chosen[me]) == mask_of(voters)
    assert s.match(v) == oracle.match()
    assert s.match_count(v) == oracle.match().bit_count() if hasattr(int, "bit_count") else True
    check(s.reduce(v, lambda a, b: b), values[members[-1]], f"reduce {what}")


@ranks(1, 2, 3, 5, soak=[8])
def test_every_operation_and_type(comm: Any) -> None:
    t = hk.Team(comm)
    rng = np.random.default_rng(comm.size)
    for number, name in enumerate(TYPES):
        if number % 2 == 0 or comm.size < 4:  # many processes take turns, which takes long
            every_operation(t, number, name)
        mask = int(rng.integers(1, 1 << comm.size))
        if mask >> t.process & 1:
            every_operation(t.enqueue(mask), number, name)


@ranks(4, 6, nodes=NODES)
def test_across_nodes(comm: Any) -> None:
    t = hk.Team(comm)
    assert not t.shares_memory
    rng = np.random.default_rng(comm.size)
    for number, name in enumerate(TYPES):
        mask = (1 << comm.size) - 1 if number == 0 else int(rng.integers(1, 1 << comm.size))
        if mask >> t.process & 1:
            every_operation(t.enqueue(mask), number, name)


@ranks(4, 6, nodes="0,0,0,1,1,1")
def test_across_nodes_of_neighbours(comm: Any) -> None:
    """Nodes whose processes are neighbours: their leaders fold scans, too."""
    t = hk.Team(comm)
    assert not t.shares_memory
    rng = np.random.default_rng(comm.size + 1)
    for number, name in enumerate(TYPES):
        mask = (1 << comm.size) - 1 if number % 3 == 0 else int(rng.integers(1, 1 << comm.size))
        if mask >> t.process & 1:
            every_operation(t.enqueue(mask), number, name)


def checks_of(tmp_path: Path, processes: int, *words: str, **more: str) -> int:
    """How many checks the C++ program made, none of which was wrong."""
    program = built.folder() / "tests" / "team_leaders"
    printed = built.start(program, processes, tmp_path, *words, **more)
    said = re.search(r"^leaders: (\d+) checks, 0 wrong$", printed, re.MULTILINE)
    assert said is not None, printed
    return int(said[1])


@pytest.mark.one_host("leaders fold scans only on nodes of consecutive processes")
@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="all processes are to share memory")
@pytest.mark.parametrize(
    "processes, words",
    [(18, ""), *(pytest.param(count, "few", marks=pytest.mark.soak) for count in (33, 70))],
)
def test_more_than_a_leader_has(tmp_path: Path, processes: int, words: str) -> None:
    """Of one node, so that leaders fold for them, two or more; masks of more than one word."""
    assert checks_of(tmp_path, processes, *words.split()) > (150 if words else 500) * processes


@pytest.mark.one_host("leaders fold scans only on nodes of consecutive processes")
@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="has nodes of its own")
def test_leaders_of_two_nodes(tmp_path: Path) -> None:
    """Some leaders lead, and one of each node speaks with the other."""
    nodes = ",".join(["0"] * 18 + ["1"] * 4)
    assert checks_of(tmp_path, 22, "few", HOCKET_NODES=nodes) > 150 * 22


@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="has nodes of its own")
@pytest.mark.parametrize("far", [0, 2])
def test_leaders_among_whom_one_strays(tmp_path: Path, far: int) -> None:
    """Operations that leaders fold, and one that everyone needs all values for."""
    nodes = ",".join(["0"] * (20 - far) + ["1"] * far)
    assert checks_of(tmp_path, 20, "parted", HOCKET_NODES=nodes) == 2 * 4 * 20


@pytest.mark.parametrize(
    "processes",
    [1, 2, 5, 8, *(pytest.param(n, marks=pytest.mark.soak) for n in (3, 4, 6, 7))],
)
def test_random_masks(tmp_path: Path, processes: int) -> None:
    """Every operation and type, on random subsets."""
    assert checks_of(tmp_path, processes, "masks") > 500 * processes


@pytest.mark.skipif("HOCKET_NODES" in os.environ, reason="has nodes of its own")
@pytest.mark.parametrize(
    "processes", [7, *(pytest.param(n, marks=pytest.mark.soak) for n in (4, 9))]
)
def test_nodes_of_one_process(tmp_path: Path, processes: int) -> None:
    """Random subsets of them, whose numbers are powers of two and others."""
    nodes = ",".join(map(str, range(processes)))
    assert checks_of(tmp_path, processes, "masks", HOCKET_NODES=nodes) > 500 * processes


@ranks(3)
def test_low_bits(comm: Any) -> None:
    t = hk.Team(comm)
    v = np.uint16(0xFFF0 + t.process)
    check(t.reduce_add(v, bits=4), np.uint16(3), "reduce_add of 4 bits")
    check(t.putget(v, 2, bits=4), np.uint16(2), "putget of 4 bits")
    check(t.gather(v, bits=2), np.array([0, 1, 2], np.uint16), "gather of 2 bits")
    check(t.scan_or_(v, bits=16), np.uint16([0xFFF0, 0xFFF1, 0xFFF3][t.process]), "scan_or")
    assert t.match(v, bits=1) == [0b101, 0b010, 0b101][t.process]
    check(t.reduce_max(np.uint64(2**63 + t.process), bits=64), np.uint64(2**63 + 2), "64 bits")
    for wrong in ({"bits": 0}, {"bits": 17}, {"bits": "4"}):
        with pytest.raises(hk.Error, match="bits"):
            t.reduce_add(v, **wrong)
    with pytest.raises(hk.Error, match="unsigned"):
        t.reduce_add(np.int16(1), bits=4)
    t.wait()


@ranks(2)
def test_structures(comm: Any) -> None:
    """As a pivot search has them: the largest value, and where it is."""
    t = hk.Team(comm)
    pair = np.dtype([("size", "f8"), ("row", "i8"), ("rest", "i8", 5)])
    mine = np.array((2.5 if t.process else -1.0, 10 + t.process, [t.process] * 5), pair)[()]
    best = t.reduce(mine, lambda a, b: b if b["size"] > a["size"] else a)
    assert pair.itemsize == 56 and best["row"] == 11 and list(best["rest"]) == [1] * 5
    with pytest.raises(hk.Error, match="57 bytes"):
        t.reduce(np.bytes_(b"x" * 57), lambda a, b: a)
    t.wait()


@ranks(3)
def test_started_operations(comm: Any) -> None:
    t = hk.Team(comm)
    first = t.start("reduce_add", np.int32(t.process))
    second = t.start("scan_max", np.float64(-t.process))
    third = t.start("wait")
    assert t.reduce_max(np.int8(t.process)) == 2  # behind all of them
    assert first.test() and second.test() and third.test()
    check(first.wait(), np.int32(3), "started reduce_add")
    check(second.value(), np.float64(0), "started scan_max")
    assert t.start("any", t.process == 1).wait() is True
    assert t.start("rank", -t.process).wait() == 2 - t.process
    with pytest.raises(hk.Error, match="none of"):
        t.start("gather")
    t.wait()
