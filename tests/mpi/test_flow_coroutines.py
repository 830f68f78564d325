# SPDX-License-Identifier: BSD-3-Clause
"""Steps that wait in their middle: ``async def``."""

import functools
import gc
import threading
import warnings

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk


class Signal:
    """An operation that ends when somebody says so, or fails."""

    def __init__(self):
        self.open, self.error = False, None

    def poll(self):
        if self.error:
            raise self.error
        return self.open

    def __repr__(self):
        return "a signal"


@ranks(1)
@pytest.mark.parametrize("insert", ["task", "comm"])
def test_a_step_that_waits_holds_no_worker(comm, insert):
    """One worker and no thread of the agent: a blocking call would stop the chain."""
    signal, order = Signal(), []

    async def receive():
        order.append("begins")
        await hk.completion(signal)
        order.append("ends")

    with hk.Flow(1, agent="steps") as f:
        getattr(f, insert)(receive, inouts=["message"], priority=1)
        for i in range(8):
            f.task(functools.partial(order.append, i), inouts=["chain"])
        f.task(lambda: setattr(signal, "open", True), inouts=["chain"])
        f.task(lambda: order.append("after"), inputs=["message"])
    assert [each for each in order if each != "begins"] == [*range(8), "ends", "after"]
    assert order.index("begins") < 2


@ranks(2)
def test_requests_of_every_kind(comm):
    other, team = 1 - comm.rank, hk.Team(comm)
    rows, columns = (hk.Layout((4, 6), dist, 2) for dist in ("(BLOCK, *)", "(*, BLOCK)"))
    a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64", comm)
    mine, theirs = np.array([comm.rank + 5]), np.array([-1])
    halo = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64", comm).halo(
        1, periodic=True
    )
    raw = comm.Dup()
    seen = {}

    async def step():
        b = await hk.iredistribute(a, columns)
        seen["array"] = bool((b.local == whole(columns, comm.rank)).all())
        seen["team"] = int(await team.start("reduce_add", comm.rank + 1))
        await halo.iexchange()
        seen["border"] = halo.local.tolist()
        nothing, values, c = await hk.completion(
            raw.Irecv(theirs, other),
            [raw.Isend(mine, other), team.start("reduce_max", comm.rank)],
            hk.iredistribute(b, rows),
        )
        seen["several"] = nothing, int(values[1]), bool((c.local == a.local).all())

    with hk.Flow(1) as f:
        f.task(step, inouts=["all"])
    assert seen == {
        "array": True,
        "team": 3,
        "border": [5, 0, 1, 2, 3] if comm.rank == 0 else [2, 3, 4, 5, 0],
        "several": (None, 1, True),
    }, seen
    assert theirs[0] == other + 5
    raw.Free()


def whole(layout, rank):
    i, j = np.meshgrid(*layout.global_indices(rank), indexing="ij")
    return 10 * i + j


@ranks(2)
def test_a_ping_pong_between_tasks_beside_computing(comm):
    """128 exchanges in one step; the chain beside it runs in between, on the only worker."""
    w = hk.tasks({"left": 1, "right": 1}, comm)
    layout = hk.Layout(8, "(*)")
    a, b = hk.zeros(layout, "int64", w.comm), hk.zeros(layout, "int64", w.comm)
    other, between = ("right" if w.name == "left" else "left"), []

    async def search():
        for k in range(128):
            a.local[:] = k
            receive = w.irecv(b, other)
            await w.isend(a, other)
            status = await receive
            assert status.source == other
            assert (b.local == k).all()
            between.append(-1)

    with hk.Flow(1, agent="steps") as f:
        f.task(search, outputs=[a, b], priority=1)
        for k in range(2000):
            f.task(functools.partial(between.append, k), inouts=["chain"])
    assert [k for k in between if k >= 0] == list(range(2000))
    assert between.count(-1) == 128
    # At least one update ran before the last exchange.
    assert between.index(0) < len(between) - 1 - between[::-1].index(-1)


@ranks(1)
def test_a_store_is_read_in_the_middle(comm, tmp_path):
    a = hk.from_function(lambda i: i, hk.Layout(5, "(*)"), "int64", comm)
    hk.save(str(tmp_path / "run.zarr"), {"t": a})
    seen = []

    async def read():
        with hk.open_store(str(tmp_path / "run.zarr"), comm=comm) as s:
            request = s.iread("t")
            await request
            seen.append(request.array.local.tolist())

    with hk.Flow(1) as f:
        f.task(read)
    assert seen == [[0, 1, 2, 3, 4]]


@ranks(1)
def test_errors(comm):
    broken, caught, ran = Signal(), [], []
    broken.error = ValueError("the line broke")

    async def catches():
        try:
            await hk.completion(broken)
        except ValueError as error:
            caught.append(str(error))
        with pytest.raises(hk.Error, match="gave 3 of type int"):
            hk.completion(3)
        with pytest.raises(hk.Error, match="no operation"):
            await Foreign()

    async def fails():
        await hk.completion(broken)

    f = hk.Flow(1)
    f.task(catches, inouts=["x"])
    f.wait()
    assert caught == ["the line broke"]
    f.task(fails, inouts=["x"], name="exchange")
    f.task(lambda: ran.append(1), inouts=["x"])
    with pytest.raises(ValueError, match="step 'exchange' failed: the line broke") as raised:
        f.wait()
    assert isinstance(raised.value, hk.StepError)
    assert not ran
    for wrong in ({"commutes": [np.zeros(1)]}, {"reduces": [np.zeros(1)]}):
        with pytest.raises(hk.Error, match="waits in its middle cannot"):
            f.task(fails, **wrong)
    f.wait()


class Foreign:
    """Awaits something of another framework."""

    def __await__(self):
        yield object()


@ranks(1)
def test_cancelled_steps_never_go_on_and_are_closed(comm):
    for insert in "task", "comm":
        begun, shut, log = Signal(), Signal(), []

        async def waits(begun=begun, shut=shut, log=log):
            begun.open = True
            try:
                await hk.completion(shut)
                log.append("went on")
            finally:
                log.append("closed")

        f = hk.Flow(1)

        async def cancels(f=f, begun=begun):
            await hk.completion(begun)
            f.cancel()

        getattr(f, insert)(waits)
        f.task(cancels)
        f.wait()
        assert not log, "its operation may still write"
        shut.open = True
        f.task(lambda: None)
        f.comm(lambda: None)
        f.wait()
        gc.collect()
        assert log == ["closed"]
        # One whose first part had not run has made no coroutine: Python would warn of it.
        both = hk.Flow(1, agent="steps")

        async def cancels_at_once(both=both):
            both.cancel()

        both.comm(cancels_at_once)
        both.comm(waits)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            both.wait()
            gc.collect()
        assert not warned, warned[0].message


@ranks(1)
def test_annotated_functions(comm):
    @hk.step(inouts=["x"])
    async def double(x, log):
        signal = Signal()
        signal.open = True
        await hk.completion(signal)
        x *= 2
        log.append(threading.get_ident())
        return "done"

    x, log = np.ones(3), []
    assert double(x, log) == "done"
    with hk.Flow(2):
        for _ in range(3):
            double(x, log)
    assert x.tolist() == [16, 16, 16]
    assert len(log) == 4


def later():
    yield 1


async def much_later():
    pass


@ranks(1)
def test_a_call_that_would_run_nothing_is_no_step(comm):
    f = hk.Flow(1)
    for function in (later, functools.partial(later)):
        with pytest.raises(hk.Error, match="later' is a generator function"):
            f.task(function)
        with pytest.raises(hk.Error, match="a call of it runs nothing"):
            f.comm(function)
    with pytest.raises(hk.Error, match="generator function"):
        hk.step()(later)
    for insert in f.task, f.comm:
        insert(lambda: much_later(), name="wrapped")
        with pytest.raises(hk.StepError, match=r"'wrapped' failed: .*functools\.partial"):
            f.wait()
