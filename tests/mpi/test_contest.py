# SPDX-License-Identifier: BSD-3-Clause
"""Senders of one node that contend for a receiver of another find each other by a vote, and send to
it one after the other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

SECONDS = 100.0  # of a wait that should end long before
PART = (2 << 20) // 8  # elements of the shortest message that takes turns
NODES = "0,0,0,1,1"
GROUPS = {"a": 3, "b": 2}
TURN = "turn to send"
SWITCH = "HOCKET_TAKE_TURNS"


def filled(w: Any, lay: hk.Layout, salt: int) -> hk.Array:
    """The global index, and what tells it from other arrays."""
    return hk.from_function(lambda i: i * 3.0 + salt, lay, np.float64, comm=w.comm)


def check(array: hk.Array, salt: int) -> None:
    """What `filled` gives."""
    if array.local.size == 0:
        return
    (mine,) = array.layout.global_indices(array.comm.Get_rank())
    assert np.array_equal(array.local, mine * 3.0 + salt)


@ranks(GROUPS, nodes=NODES)
def test_long_messages_to_one_receiver(comm: Any, groups: Mapping[str, int]) -> None:
    """From all to one, and to two; several at once, and both ways; several arrays, and pieces."""
    os.environ[SWITCH] = "1"
    w = hk.tasks(groups, comm)
    here, there = w.name, "b" if w.name == "a" else "a"
    size = 3 * PART + 5
    sent = filled(w, hk.Layout((size,), "(BLOCK)", w.comm.size), w.rank)
    whole = hk.empty(hk.Layout((size,), "(BLOCK)", 1), np.float64, comm=w.comm)
    again = hk.empty(hk.Layout((size,), "(BLOCK)", 2), np.float64, comm=w.comm)
    requests = [w.irecv(whole, there, tag=1), w.irecv(again, there, tag=2)]
    requests += [w.isend(sent, there, tag=tag) for tag in (1, 2)]
    hk.waitall(requests)
    for array in (whole, again):
        check(array, 1 - w.rank)
    if here == "a":
        w.send([sent, sent], "b", tag=3, timeout=SECONDS)
        w.isend(sent, "b", tag=4, pieces=2).wait(SECONDS)  # too short then
    else:
        for array in (whole, again):
            array.local[...] = 0
        w.recv([whole, again], "a", tag=3, timeout=SECONDS)
        check(whole, 0)
        check(again, 0)
        whole.local[...] = 0
        w.recv(whole, "a", tag=4, timeout=SECONDS)
        check(whole, 0)
    del os.environ[SWITCH]  # a failure ends the job


@ranks(GROUPS, nodes=NODES)
def test_some_have_nothing_to_send(comm: Any, groups: Mapping[str, int]) -> None:
    """They vote for nobody; and two receivers have contenders of their own."""
    os.environ[SWITCH] = "1"
    w = hk.tasks(groups, comm)
    size = 2 * PART
    for segments in (
        [[(0, size // 2)], [], [(size // 2, size // 2)]],
        [[(0, size - 3)], [(size - 3, 3)], []],
        [[], [], [(0, size)]],
    ):
        if w.name == "a":
            w.send(filled(w, hk.Layout.indexed((size,), segments), 5), "b", timeout=SECONDS)
        else:
            got = hk.empty(hk.Layout((size,), "(BLOCK)", 2), np.float64, comm=w.comm)
            w.recv(got, "a", timeout=SECONDS)
            check(got, 5)
    del os.environ[SWITCH]


@ranks(GROUPS, nodes=NODES)
def test_the_switch_is_not_the_same(comm: Any, groups: Mapping[str, int]) -> None:
    """Nobody would hear all votes: an error on every process of both sides, before anything moves.
    What the switch cannot be is one, too."""
    w = hk.tasks(groups, comm)
    lay = hk.Layout((3 * PART,), "(BLOCK)", w.comm.size)
    sent, got = filled(w, lay, 2), hk.empty(lay, np.float64, comm=w.comm)
    for values, words in ((("1", "0", "1"), f"{SWITCH}=1"), (("0", "soon", "0"), "'soon'")):
        if w.name == "a":
            os.environ[SWITCH] = values[w.comm.rank]
            with pytest.raises(hk.Error, match=words):
                w.send(sent, "b", timeout=SECONDS)
            del os.environ[SWITCH]
        else:
            with pytest.raises(hk.Error, match=words):
                w.recv(got, "a", timeout=SECONDS)
    if w.name == "a":
        w.send(sent, "b", timeout=SECONDS)
    else:
        w.recv(got, "a", timeout=SECONDS)
        check(got, 2)


def program(comm: Any) -> None:
    """Three senders, each of as much as takes turns, and one receiver."""
    w = hk.tasks({"a": 3, "b": 1}, comm)
    lay = hk.Layout((3 * PART,), "(BLOCK)", w.comm.size)
    for _ in range(2):
        if w.name == "a":
            w.send(filled(w, lay, 1), "b", timeout=SECONDS)
        else:
            got = hk.empty(lay, np.float64, comm=w.comm)
            w.recv(got, "a", timeout=SECONDS)
            check(got, 1)


def turns(trace: Path) -> list[tuple[float, float, str]]:
    """Beginning, end and process of every turn."""
    found = json.loads(trace.read_text(encoding="utf-8"))
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    begun, out = {}, []
    for event in sorted((e for e in found if e["name"] == TURN), key=lambda e: e["ts"]):
        key = (event["pid"], event["id2"]["local"])
        if event["ph"] == "b":
            begun[key] = event["ts"]
        else:
            out.append((begun.pop(key), event["ts"], names[event["pid"]]))
    assert not begun
    return sorted(out)


@pytest.mark.parametrize("take", ["1", "0"])
def test_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take: str) -> None:
    """No turn begins before the one before it has ended; the order is that of the plan's turns."""
    monkeypatch.setenv("HOCKET_NODES", "0,0,0,1")
    monkeypatch.setenv(SWITCH, take)
    trace = tmp_path / "trace.json"
    hk.run(program, ranks=4, trace=trace, timeout=100)
    found = turns(trace)
    if take == "0":
        assert found == []
        return
    who = [name.split()[1] for _, _, name in found]
    assert who == ["2", "1", "0"] * 2
    for before, after in zip(found, found[1:]):
        assert before[1] <= after[0]
