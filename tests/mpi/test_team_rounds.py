# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of random operations on random, overlapping teams, whose processes are late by turns."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from across import NODES
from lockstep import ranks

import hocket as hk

SECONDS = 60.0  # of one wait


def rounds(comm: Any, count: int, seed: int) -> None:
    """The same random program on all; everyone can tell every result alone."""
    t = hk.Team(comm)
    size, me = t.size, t.process
    plan = np.random.default_rng(seed)
    masks = plan.integers(1, 1 << size, count).tolist()
    kinds = plan.integers(0, 9, count).tolist()
    salts = plan.integers(0, 1 << 30, count).tolist()
    late = np.random.default_rng([seed, me])
    for index, (mask, kind, salt) in enumerate(zip(masks, kinds, salts)):
        if not mask >> me & 1:
            continue
        if index % 64 == me:
            time.sleep(float(late.random()) * 1e-3)
        s = t.enqueue(mask)
        members = [p for p in range(size) if mask >> p & 1]
        v = np.int64(salt * 31 + me)
        all_of = [salt * 31 + p for p in members]
        what = f"seed {seed}, round {index}, kind {kind}, mask {mask:b}"
        if kind == 0:
            s.wait(timeout=SECONDS)
        elif kind == 1:
            assert s.reduce_add(v, timeout=SECONDS) == sum(all_of), what
        elif kind == 2:
            got = s.gather(v, timeout=SECONDS)
            assert got[members].tolist() == all_of and got.sum() == sum(all_of), what
        elif kind == 3:
            bits = [salt >> (p % 30) & 1 for p in members]
            expected = sum(1 << p for p, bit in zip(members, bits) if bit)
            assert s.waitvec(salt >> (me % 30) & 1, timeout=SECONDS) == expected, what
        elif kind == 4:
            source = members[salt % len(members)]
            got = s.putget(v, source, timeout=SECONDS, barrier=bool(salt & 2))
            assert got == salt * 31 + source, what
        elif kind == 5:
            got = s.scan_add(v, timeout=SECONDS, barrier=bool(salt & 2))
            assert got == sum(all_of[: members.index(me) + 1]), what
        elif kind == 6:
            vote = members[(salt + me) % len(members)]
            voters = [p for p in members if members[(salt + p) % len(members)] == me]
            assert s.vote_count(vote, timeout=SECONDS) == len(voters), what
        elif kind == 7:
            assert s.match(np.int8(me % 2), timeout=SECONDS) == sum(
                1 << p for p in members if p % 2 == me % 2
            ), what
        else:
            started = s.start("reduce_max", v)
            if salt % 2:
                time.sleep(0)
            assert started.wait(SECONDS) == max(all_of), what
    assert t.reduce_add(np.int64(1), timeout=SECONDS) == size


@ranks(3, 4, seconds=240)
def test_rounds(comm: Any) -> None:
    rounds(comm, 5000, comm.size)


@ranks(4, seconds=240, nodes=NODES)
def test_rounds_across_nodes(comm: Any) -> None:
    rounds(comm, 1500, 11)


@pytest.mark.soak
@ranks(2, 3, 5, seconds=7200)
def test_many_rounds(comm: Any, soak_seed: int) -> None:
    rounds(comm, 330_000, soak_seed)


@pytest.mark.soak
@ranks(3, 6, seconds=7200, nodes=NODES)
def test_many_rounds_across_nodes(comm: Any, soak_seed: int) -> None:
    rounds(comm, 100_000, soak_seed)


@ranks(3, nodes="0,1,1")
def test_what_else_is_under_way_goes_on(comm: Any) -> None:
    """A long message between nodes arrives while its receiver makes rounds of a team only."""
    w = hk.tasks({"a": 1, "b": 1, "c": 1}, comm)
    layout = hk.Layout((1 << 20,), "(BLOCK)", 1)
    x = hk.zeros(layout, "f8", w.comm)
    x.local[:] = 7 if w.name == "a" else 0
    pair = hk.Team(comm)
    gone = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)) / "gone"
    if w.name == "a":
        w.send(x, "b", timeout=SECONDS)
        gone.touch()
    else:
        pair = pair.enqueue(0b110)
        receiving = w.irecv(x, "a") if w.name == "b" else None
        while not pair.any(gone.exists(), timeout=SECONDS):
            pass
        if receiving:
            receiving.wait(timeout=SECONDS)
            assert (x.local == 7).all()
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(gone.parent)
