# SPDX-License-Identifier: BSD-3-Clause
"""Channels: Figure 3 of the CDT paper, and how streams end."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk

# The functions of tasks `w` also run between two jobs (test_ports_programs.py).


@ranks(3, 6)
def test_figure_3(comm: Any) -> None:
    """producer, 16 processes, (BLOCK,*); consumer, 8, (*,BLOCK); here two thirds and one."""
    third = comm.size // 3
    all_arrays_arrive(hk.tasks({"producer": 2 * third, "consumer": third}, comm=comm))


def all_arrays_arrive(w: Any) -> None:
    if w.rank == 0:
        po = w.channel("po", 1)
        a = hk.empty(hk.Layout((128, 128), "(BLOCK, *)", w.comm.size), "float32", comm=w.comm)
        for i in range(10):
            a.local[...] = i
            po.send(a)
        po.close()
    else:
        pi = w.channel("po", 0)
        b = hk.empty(hk.Layout((128, 128), "(*, BLOCK)", w.comm.size), "float32", comm=w.comm)
        received = 0
        with pytest.raises(hk.EndOfStream, match=f"'{w.names[0]}' closed channel 'po'"):
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


@ranks(2, 4)
def test_a_slow_receiver_gets_the_latest(comm: Any) -> None:
    half = comm.size // 2
    slow_receiver_gets_the_latest(hk.tasks({"writer": half, "viewer": half}, comm=comm))


def slow_receiver_gets_the_latest(w: Any) -> None:
    a = hk.zeros(hk.Layout((6, 5), "(BLOCK, *)", w.comm.size), comm=w.comm)
    other = 1 - w.rank
    c = w.channel("frames", other, backpressure="latest")
    if w.rank == 0:
        for i in range(1, 6):  # nobody receives
            a.local[...] = i
            c.send(a)
        w.send(a, other)
        number = 5
        while not w.iprobe(other, tag=7):
            number += 1
            a.local[...] = number
            c.send(a)
        w.recv(a, other, tag=7)
        a.local[...] = -1
        c.close()
        return
    w.recv(a, other)
    got = []
    for _ in range(3):
        c.recv(a)
        got.append(int(a.local[0, 0]) if a.local.size else 0)
        assert np.all(a.local == got[-1])
    if a.local.size:
        assert 5 <= got[0] < got[1] < got[2]
    w.send(a, other, tag=7)
    rest = 0
    with pytest.raises(hk.EndOfStream):
        while True:
            c.recv(a)
            rest += 1
            assert np.all(a.local > 5)  # not what the writer wrote since
    assert rest <= 1


@ranks(2)
def test_the_last_array_arrives(comm: Any) -> None:
    last_array_arrives(hk.tasks({"writer": 1, "viewer": 1}, comm=comm))


def last_array_arrives(w: Any) -> None:
    """Also through channels of one name that follow each other."""
    a = hk.zeros(hk.Layout(12, "(BLOCK)", w.comm.size), "int64", comm=w.comm)
    for turn in range(2):
        c = w.channel("frames", 1 - w.rank, backpressure="latest")
        if w.rank == 0:
            for i in range(4):
                a.local[...] = 10 * turn + i
                c.send(a)
            w.send(a, 1 - w.rank)
            c.close(timeout=60)
        else:
            w.recv(a, 1 - w.rank)
            c.recv(a, timeout=60)
            assert np.all(a.local == 10 * turn + 3)
            with pytest.raises(hk.EndOfStream):
                c.recv(a)


@ranks(2)
def test_every_third(comm: Any) -> None:
    every_third_arrives(hk.tasks({"writer": 1, "viewer": 1}, comm=comm))


def every_third_arrives(w: Any) -> None:
    a = hk.zeros(hk.Layout(12, "(BLOCK)", w.comm.size), "int64", comm=w.comm)
    c = w.channel("frames", 1 - w.rank, backpressure="every 3")
    if w.rank == 0:
        for i in range(8):
            a.local[...] = i
            c.send(a)
        c.close()
    else:
        got = []
        with pytest.raises(hk.EndOfStream):
            while True:
                c.recv(a)
                got.append(int(a.local[0]))
        assert got == [0, 3, 6]


OF_TASKS = (
    all_arrays_arrive,
    slow_receiver_gets_the_latest,
    last_array_arrives,
    every_third_arrives,
)


@ranks(2)
def test_other_backpressures(comm: Any) -> None:
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    for words, message in (("newest", "every N"), ("every 0", "every 0"), ("every x", "every x")):
        with pytest.raises(hk.Error, match=message):
            w.channel("c", 1 - w.rank, backpressure=words)
    with pytest.raises(hk.Error, match="keep is 2"):
        w.channel("c", 1 - w.rank, keep=2, backpressure="latest")


@ranks(3)
def test_latest_with_a_wrong_array_on_one_process(comm: Any) -> None:
    w = hk.tasks({"writer": 2, "viewer": 1}, comm=comm)
    c = w.channel("frames", "viewer" if w.name == "writer" else "writer", backpressure="latest")
    if w.name == "writer":
        a = hk.zeros(hk.Layout(4, "(BLOCK)", 2), "int64", comm=w.comm)
        a.local[...] = 1
        c.send(a)
        with pytest.raises((hk.Error, TypeError)):
            c.send(None if w.comm.rank else a)
        w.send(a, "viewer")
        c.close()
    else:
        a = hk.zeros(hk.Layout(4, "(*)", 1), "int64", comm=w.comm)
        w.recv(a, "writer")
        a.local[...] = 0
        c.recv(a)
        assert list(a.local) == [1] * 4


CALLS = ["send", "recv"]


@pytest.mark.parametrize("plain", CALLS)
@pytest.mark.parametrize("kept", CALLS)
@pytest.mark.parametrize("order", ["together", "kept first", "plain first"])
@ranks(2, 4)
def test_frames_kept_by_one_side_only(comm: Any, kept: str, plain: str, order: str) -> None:
    """Both tasks get the error, again and again; new channels of the same name then work."""
    half = comm.size // 2
    w = hk.tasks({"a": half, "b": half}, comm=comm)
    other, layout = 1 - w.rank, hk.Layout(6, "(BLOCK)", half)
    x = hk.full(layout, 7, "int64", comm=w.comm)
    words = r"channel 'c': task 'a' keeps its frames \(keep=\), task 'b' does not"

    def call(channel: hk.Channel, verb: str) -> None:
        for _ in range(2):
            with pytest.raises(hk.MismatchError, match=words):
                channel.send(x, timeout=30) if verb == "send" else channel.recv(x, timeout=100)

    if (order, w.name) in [("kept first", "b"), ("plain first", "a")]:
        time.sleep(0.05)
    channel = w.channel("c", other, keep=2 if w.name == "a" else 0)
    call(channel, kept if w.name == "a" else plain)
    for keep in (0, 2):
        again = w.channel("c", other, keep=keep)
        if w.name == "a":
            again.recv(x, timeout=30)
            assert (x.local == keep + 1).all()
        else:
            x.fill(keep + 1)
            again.send(x, timeout=30)
            again.close(timeout=30)
    for keep in (2, 0):  # the other way round
        again = w.channel("d", other, keep=keep)
        if w.name == "a":
            again.send(x, timeout=30)
        else:
            again.recv(x, timeout=30)
    words = r"channel 'c': task 'b' keeps its frames \(keep=\), task 'a' does not"
    call(w.channel("c", other, keep=2 if w.name == "b" else 0), "send")


@ranks(2)
def test_frames_kept_by_the_side_that_the_other_closes(comm: Any) -> None:
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    x = hk.zeros(hk.Layout(6, "(*)"), comm=w.comm)
    channel = w.channel("c", 1 - w.rank, keep=2 if w.name == "a" else 0)
    if w.name == "b":
        channel.close(timeout=30)
    else:
        with pytest.raises(hk.MismatchError, match=r"task 'b' does not"):
            channel.recv(x, timeout=30)


@ranks(2)
def test_the_latest_with_frames_kept_by_the_other_side(comm: Any) -> None:
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    x = hk.zeros(hk.Layout(6, "(*)"), comm=w.comm)
    with pytest.raises(hk.MismatchError, match=r"task 'a' keeps its frames"):
        if w.name == "a":
            w.channel("c", "b", keep=2).recv(x, timeout=30)
        else:
            latest = w.channel("c", "a", backpressure="latest")
            latest.send(x, timeout=30)  # the sender goes on
            latest.close(timeout=30)


@ranks(2)
def test_both_kinds_of_one_name(comm: Any) -> None:
    """Channels that keep frames are apart from those that keep none, made one after the other."""
    w = hk.tasks({"a": 1, "b": 1}, comm=comm)
    x = hk.zeros(hk.Layout(6, "(*)"), comm=w.comm)
    for keep in (0, 2):
        channel = w.channel("c", 1 - w.rank, keep=keep)
        for number in range(3):
            if w.name == "a":
                x.fill(number)
                channel.send(x, timeout=30)
            else:
                channel.recv(x, timeout=30)
                assert (x.local == number).all()
        if w.name == "a":  # the other side does not read the end
            channel.close(timeout=30)


@ranks(3)
def test_the_latest_to_two_tasks_of_one_process(comm: Any) -> None:
    """The requests of both streams reach the process that has both tasks."""
    w = hk.tasks({"a": [0, 1], "b": [0, 1], "c": [2]}, comm=comm)
    senders = [w.task(name) for name in "ab"] if comm.rank < 2 else []
    channels = [each.channel("s", "c", backpressure="latest") for each in senders]
    if comm.rank < 2:
        time.sleep(0.1)  # the request to b is there before a sends
        for number, (task, channel) in enumerate(zip(senders, channels)):
            x = hk.full(hk.Layout(6, "(BLOCK)", 2), number, "int64", comm=task.comm)
            channel.send(x, timeout=30)
        for channel in reversed(channels):
            channel.close(timeout=30)
        return
    y = hk.zeros(hk.Layout(6, "(*)"), "int64", comm=w.comm)
    streams = [w.channel("s", name, backpressure="latest") for name in "ba"]
    for number, stream in zip((1, 0), streams):
        stream.recv(y, timeout=30)
        assert (y.local == number).all()
        with pytest.raises(hk.EndOfStream):
            stream.recv(y, timeout=30)
