# SPDX-License-Identifier: BSD-3-Clause
"""Channels: Figure 3 of the CDT paper, and how streams end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk


@ranks(3, 6)
def test_figure_3(comm: Any) -> None:
    """producer, 16 processes, (BLOCK,*); consumer, 8, (*,BLOCK); here two thirds and one."""
    third = comm.size // 3
    w = hk.tasks({"producer": 2 * third, "consumer": third}, comm=comm)
    if w.name == "producer":
        po = w.channel("po", "consumer")
        a = hk.empty(hk.Layout((128, 128), "(BLOCK, *)", 2 * third), "float32", comm=w.comm)
        for i in range(10):
            a.local[...] = i
            po.send(a)
        po.close()
    else:
        pi = w.channel("po", "producer")
        b = hk.empty(hk.Layout((128, 128), "(*, BLOCK)", third), "float32", comm=w.comm)
        received = 0
        with pytest.raises(hk.EndOfStream, match="'producer' closed channel 'po'"):
            while True:
                pi.recv(b)
                assert np.all(b.local == received)
                received += 1
        assert received == 10
        with pytest.raises(hk.EndOfStream):
            pi.recv(b)


@ranks(2)
def test_channels_are_apart(comm: Any) -> None:
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    layout = hk.Layout((3,), "(*)", 1)
    other = "b" if w.name == "a" else "a"
    x = hk.from_function(lambda i: i + 10 * w.rank, layout, "int64", comm=w.comm)
    y = hk.zeros(layout, "int64", comm=w.comm)
    left, right = w.channel("left", other), w.channel("right", other)
    assert left.name == "left"
    if w.name == "a":
        left.send(x)
        x.local[...] += 1
        right.send(x)
        w.send(x, other)
        right.recv(y)
        assert list(y.local) == [10, 11, 12]
        right.close()
        with pytest.raises(hk.Error, match="closed"):
            right.send(x)
        with pytest.raises(hk.Error, match="closed before"):
            right.close()
        left.close()
    else:
        done = w.irecv(y)
        z = hk.zeros(layout, "int64", comm=w.comm)
        request = w.iprobe  # a wildcard does not see channels
        left.recv(z)
        assert list(z.local) == [0, 1, 2]
        right.recv(z)
        assert list(z.local) == [1, 2, 3]
        done.wait()
        assert list(y.local) == [1, 2, 3]
        right.send(x)
        for channel in (left, right):
            with pytest.raises(hk.EndOfStream):
                channel.recv(z)
        assert request() is None


@ranks(2, 4)
def test_errors_on_both_sides(comm: Any) -> None:
    half = comm.size // 2
    w = hk.tasks({"a": half, "b": half}, comm=comm)
    layout = hk.Layout((5,) if w.name == "a" else (4,), "(BLOCK)", half)
    x = hk.zeros(layout, "int64", comm=w.comm)
    channel = w.channel("c", "b" if w.name == "a" else "a")
    with pytest.raises(hk.MismatchError, match=r"'a'.*'b'"):
        channel.send(x) if w.name == "a" else channel.recv(x)
    with pytest.raises(hk.Error, match="cannot"):
        channel.send(1) if w.name == "a" else channel.recv(None)  # type: ignore[arg-type]
    if w.name == "b":
        with pytest.raises(hk.Error, match="no task 'c'"):
            w.channel("c", "c")
        with pytest.raises(hk.Error, match="empty"):
            w.channel("", "a")
        with pytest.raises(hk.DeadlineError, match=r"channel|nothing was sent"):
            channel.recv(x, timeout=0.05)
