# SPDX-License-Identifier: BSD-3-Clause
"""Flows of Python functions, in one process: the result is that of the program read downwards."""

import gc
import random
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk


def random_program(seed, steps, side=20):
    """(slices read, slices changed, salt, priority) for each step."""
    rng = random.Random(seed)

    def part():
        def one():
            first, step = rng.randrange(side), rng.choice([1, 1, 2, 3])
            index = slice(first, first + rng.randint(1, 8), step)
            return index if rng.random() < 0.8 else slice(index.stop, index.start, -step)

        return one(), one()

    return [
        (
            [part() for _ in range(rng.randint(0, 2))],
            [part() for _ in range(rng.randint(1, 2))],
            rng.randint(1, 99),
            rng.choice([0, 0, 0, 1, -1, 5]),
        )
        for _ in range(steps)
    ]


def run_step(read, changed, salt):
    total = salt + sum(int(view.sum()) for view in read)
    for view in changed:
        view *= 3
        view += total
        view %= 1009


class Nap:
    """An operation that ends at its second poll."""

    polled = False

    def poll(self):
        before, self.polled = self.polled, True
        return before


@ranks(1)
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs(comm, seed, workers):
    program = random_program(seed, 400)
    expected = np.ones((20, 20), np.int64)
    for read, changed, salt, _ in program:
        run_step([expected[i] for i in read], [expected[i] for i in changed], salt)
    array = np.ones((20, 20), np.int64)
    with hk.Flow(workers, window=[8192, 50, 1][seed]) as f:
        for number, (read, changed, salt, priority) in enumerate(program):
            ins, outs = [array[i] for i in read], [array[i] for i in changed]

            def body(ins=ins, outs=outs, salt=salt):
                run_step(ins, outs, salt)

            async def waiting(body=body):
                await hk.completion([])
                body()
                await hk.completion(Nap())

            insert = f.comm if number % 11 == 0 else f.task
            insert(waiting if number % 5 == 0 else body, ins, (), outs, priority)
            if number % 37 == 0:
                f.wait_on(outs[0])
    np.testing.assert_array_equal(array, expected)


@ranks(1)
def test_keys_and_memory_of_every_kind(comm):
    a = hk.zeros(hk.Layout((6,), "(BLOCK)", 1), "f8", comm)
    times = np.zeros(3, "datetime64[s]")
    room = bytearray(8)
    seen = []
    with hk.Flow(3) as f:
        for place, key in enumerate(
            ("k", b"k", 7, ("k", 7, ("x",)), a, a.local, times, room, memoryview(room))
        ):
            for number in range(20):
                f.task(lambda k=place, n=number: seen.append((k, n)), inouts=[key])
    for kind in {k for k, _ in seen}:
        assert [n for k, n in seen if k == kind] == list(range(20))
    assert len(seen) == 180


@ranks(1)
def test_equal_keys_are_one_and_others_are_not(comm):
    f = hk.Flow(1, record=True)
    for key in ("1", b"1", 1, (1,), ("1",), np.int64(1), True):
        f.task(lambda: None, inouts=[key])
    f.wait()
    assert [line for line in f.dot().splitlines() if "->" in line] == [
        "  s2 -> s5;",
        "  s5 -> s6;",
    ]


@ranks(1)
def test_column_blocks_do_not_conflict(comm):
    a = np.zeros((50, 50))
    f = hk.Flow(2, record=True)
    for j in range(5):
        f.task(lambda: None, outputs=[a[:, 10 * j : 10 * j + 10]], name=f"c{j}")
    f.task(lambda: None, inputs=[a[7, 15:25]], name="row")
    f.wait()
    edges = [line for line in f.dot().splitlines() if "->" in line]
    assert sorted(edges) == ["  s1 -> s5;", "  s2 -> s5;"]
    assert "c3" in f.svg()


@ranks(1)
def test_a_failed_step_stops_what_depends_on_it(comm, tmp_path):
    ran = []

    def paint():
        raise ValueError("no paint")

    for workers in (1, 3):
        f = hk.Flow(workers)
        f.task(paint, outputs=["wall"])
        f.task(lambda: ran.append("dry"), inputs=["wall"], outputs=["room"])
        f.task(lambda: ran.append("move in"), inputs=["room"])
        f.task(lambda: ran.append("garden"), inouts=["garden"])
        with pytest.raises(hk.StepError, match="step 'paint' failed: no paint") as caught:
            f.wait()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value.__cause__, ValueError)
        assert caught.value.step == "paint"
        assert ran == ["garden"]
        ran.clear()
        f.task(lambda: ran.append("again"), inputs=["wall"])
        f.wait()
        assert ran == ["again"]
        ran.clear()


@ranks(1)
def test_errors_of_a_library_keep_their_kind(comm):
    f = hk.Flow(1)
    f.task(lambda: hk.Layout((4,), "(BLOCK)", -1))
    with pytest.raises(hk.LayoutError, match="step '<lambda>' failed"):
        f.wait()
    f.task(Path("/nonexistent/x").read_text)  # an OSError has a layout of its own
    with pytest.raises(hk.StepError, match="No such file"):
        f.wait()


@ranks(1)
def test_leaving_the_block_by_an_error_drops_what_has_not_begun(comm):
    ran = []
    with pytest.raises(KeyError), hk.Flow(1) as f:
        f.task(lambda: ran.append(1))
        raise KeyError("away")
    assert ran == []
    with pytest.raises(hk.StepError, match="zero"), hk.Flow(2) as f:
        f.task(lambda: 1 / 0)


@ranks(1)
def test_what_steps_hold_is_let_go(comm):
    class Thing:
        gone = 0

        def __del__(self):
            Thing.gone += 1

    with hk.Flow(2) as f:
        for _ in range(50):
            thing = Thing()
            f.task(lambda thing=thing: None, inouts=["x"])
        del thing
    gc.collect()
    assert Thing.gone == 50


@ranks(1)
def test_steps_of_steps(comm):
    a = np.zeros(8)
    with hk.Flow(2) as f:

        def outer():
            for i in range(8):
                f.task(lambda i=i: a.__setitem__(i, i), outputs=[a[i : i + 1]])
            f.wait()
            a[:] *= 2

        f.task(outer, outputs=[a])
        total = []
        f.task(lambda: total.append(a.sum()), inputs=[a])
    assert total == [56]


@ranks(1)
def test_annotated_functions(comm):
    @hk.step(inputs=["a"], outputs=["b"], priority=1)
    def copy(a, b, factor=1):
        b[...] = factor * a
        return "done"

    x, y, z = np.arange(5.0), np.zeros(5), np.zeros(5)
    assert copy(x, y) == "done"
    with hk.Flow(2) as f:
        assert copy(x, y, factor=3) is None
        copy(y, b=z)
    np.testing.assert_array_equal(z, 3 * np.arange(5.0))
    assert f.steps == 2
    with pytest.raises(hk.Error, match=r"no argument 'aa' \(did you mean 'a'\?\)"):
        hk.step(inputs=["aa"])(lambda a: a)
    with pytest.raises(hk.Error, match="no argument 3; inputs names some of 'a'"):
        hk.step(inputs=[3])(lambda a: a)  # type: ignore[list-item]


@ranks(1)
def test_commuting_and_reducing(comm):
    total, count = np.full(4, 10), [0]
    least = np.full((2, 2), 1e9)
    with hk.Flow(4) as f:
        for i in range(100):

            def add(part, i=i):
                part += i

            f.task(add, reduces=[total])
            f.task(lambda p, i=i: np.minimum(p, i + 5, out=p), reduces=[least], op="min")
            f.task(lambda: count.__setitem__(0, count[0] + 1), commutes=["count"])
    np.testing.assert_array_equal(total, 10 + 4950)
    np.testing.assert_array_equal(least, 5)
    assert count == [100]


@ranks(1)
def test_checking_finds_a_step_that_writes_its_input(comm):
    a = np.zeros((10, 10))
    f = hk.Flow(2, check=True)
    f.task(lambda: a[:, 3].sum(), inputs=[a[:, 2:5]], name="honest")
    f.task(lambda: a.__setitem__((4, 2), 1), inputs=[a[:, 2:5]], name="liar")
    with pytest.raises(hk.StepError, match="'liar' failed: it has written what it declared"):
        f.wait()


@ranks(1)
def test_steps_run_beside_each_other(comm):
    """Functions that let go of the interpreter's lock do."""
    meet = threading.Barrier(2, timeout=100)
    with hk.Flow(2) as f:
        f.task(meet.wait)
        f.task(meet.wait)


@ranks(1)
def test_a_long_step_gives_way(comm):
    """To what communication has made ready, and is more urgent."""
    polls, ran = iter([False] * 5), []

    class Message:
        def poll(self):
            return next(polls, True)

    def long():
        for _ in range(1000):
            f.give_way()
            if ran:
                break
            time.sleep(1e-4)
        ran.append("long")

    f = hk.Flow(1, agent="steps")
    f.comm(Message, outputs=["message"])
    f.task(long)
    f.task(lambda: ran.append("urgent"), inputs=["message"], priority=1)
    f.wait()
    assert ran == ["urgent", "long"]


@ranks(1)
def test_cancelling(comm):
    ran = []
    f = hk.Flow(1)
    f.task(lambda: (ran.append(1), f.cancel()), priority=1)
    for _ in range(5):
        f.task(lambda: ran.append(2))
    f.wait()
    assert ran == [1]


@ranks(1)
def test_operations_of_every_kind(comm):
    class Timer:
        def __init__(self, seconds):
            self.end = time.monotonic() + seconds

        def poll(self):
            return time.monotonic() > self.end

    got = np.zeros(3)
    seen = []
    for agent in ("steps", "thread"):
        got[:] = 0
        with hk.Flow(2, agent=agent) as f:
            assert f.agent == agent
            f.comm(lambda: comm.Irecv(got, 0, 5), outputs=[got])
            f.comm(lambda: [Timer(0.02), None, comm.Isend(np.arange(3.0), 0, 5)], name="out")
            f.task(lambda: seen.append(got.sum()), inputs=[got])
    assert seen == [3, 3]
    f.comm(lambda: 17, name="odd")
    with pytest.raises(hk.StepError, match=r"'odd' failed: .*gave 17 of type int"):
        f.wait()


@ranks(1)
def test_a_blocking_verb_in_a_communication_step_is_an_error(comm):
    w = hk.tasks({"a": 1}, comm)
    a = hk.zeros(hk.Layout((4,), "(BLOCK)", 1), "f8", comm)
    f = hk.Flow(1)
    f.comm(lambda: w.probe("a"), name="bad")
    with pytest.raises(hk.StepError, match=r"'bad' failed: .*blocks in"):
        f.wait()
    f.comm(lambda: hk.redistribute(a, a.layout), name="worse")
    with pytest.raises(hk.StepError, match=r"'worse' failed: .*blocks in"):
        f.wait()
    f.comm(lambda: f.task(print), name="worst")
    with pytest.raises(hk.StepError, match="inserts a step"):
        f.wait()


@ranks(1)
def test_deadlines(comm):
    class Never:
        def poll(self):
            return False

        def __repr__(self):
            return "Godot"

    f = hk.Flow(1)
    f.comm(lambda: Never(), outputs=["x"], name="wait for him")
    with pytest.raises(hk.DeadlineError, match="step 'wait for him': Godot"):
        f.wait(0.05)
    with pytest.raises(hk.DeadlineError, match="'x'") as caught:
        f.wait_on("x", timeout=0.05)
    assert "s1:" not in str(caught.value)
    f.cancel()
    f.wait()


@ranks(1)
def test_threads_of_kernels_in_steps(comm):
    x = np.arange(200_000.0).reshape(40, 50, 100)
    y, z = np.zeros((100, 50, 40)), np.zeros((100, 50, 40))

    @hk.step(inputs=["a"], outputs=["b"], threads=2)
    def turn(a, b):
        hk.permute(a, (2, 1, 0), out=b)

    with hk.Flow(2, threads=2) as f:
        for _ in range(10):
            f.task(lambda: hk.permute(x, (2, 1, 0), out=y), inputs=[x], outputs=[y], threads=2)
            turn(x, z)
    np.testing.assert_array_equal(y, x.transpose(2, 1, 0))
    np.testing.assert_array_equal(z, y)
    for wrong in (0, -1, "two"):
        with pytest.raises(hk.Error, match="threads"):
            hk.Flow(2, threads=wrong)
        for insert in (f.task, f.comm):
            with pytest.raises(hk.Error, match="threads"):
                insert(print, threads=wrong)
        with f, pytest.raises(hk.Error, match="threads"):
            hk.step(comm=True, threads=wrong)(print)()


@ranks(1)
def test_ctrl_c_in_a_step_ends_the_flow(comm):
    ran = []

    def interrupted():
        raise KeyboardInterrupt

    f = hk.Flow(1)
    f.task(interrupted)
    for _ in range(5):
        f.task(lambda: ran.append(1))
    with pytest.raises(KeyboardInterrupt):
        f.wait()
    assert ran == []
    f.task(lambda: ran.append(2))
    f.wait()
    assert ran == [2]


@ranks(1)
def test_wrong_arguments(comm):
    for wrong in (0, -1, "two", 2.5):
        with pytest.raises(hk.Error, match="workers"):
            hk.Flow(wrong)
    with pytest.raises(hk.Error, match="window"):
        hk.Flow(1, window=0)
    with pytest.raises(hk.Error, match="agent"):
        hk.Flow(1, agent="007")
    f = hk.Flow(1)
    with pytest.raises(hk.Error, match="neither memory nor a key"):
        f.task(lambda: None, inputs=[3.5])
    with pytest.raises(hk.Error, match="give a list"):
        f.task(lambda: None, inputs="a")
    for alone in (np.zeros(4), "a"):  # each has items of its own
        for word in ("commutes", "reduces"):
            with pytest.raises(hk.Error, match=f"{word} is .*; give a list"):
                f.task(print, **{word: alone})
    with pytest.raises(hk.Error, match="neither memory nor a key"):
        f.task(print, inputs=[np.float64(3.5)])  # a copy of what it was taken from
    with pytest.raises(hk.Error, match="no function"):
        f.task(3)
    with pytest.raises(hk.Error, match="op is"):
        f.task(print, reduces=[np.zeros(4)], op="xor")
    with pytest.raises(hk.Error, match="does not record"):
        f.dot()
    assert f.steps == 0
    f.wait()


@ranks(1)
def test_names_and_errors_that_are_no_text(comm):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def mute():
        raise Mute

    f = hk.Flow(1)
    f.task(mute, name="half \ud800")
    with pytest.raises(hk.StepError, match=r"step 'half \?' failed: Mute") as caught:
        f.wait()
    assert isinstance(caught.value.__cause__, Mute)


@ranks(1)
def test_blocks_of_generators_end_in_any_order(comm):
    @hk.step(inouts=["a"])
    def count(a):
        a += 1

    def block():
        with hk.Flow(1) as f:
            yield f

    a = np.zeros(1)
    first, second = block(), block()
    next(first)
    f = next(second)
    next(first, None)
    count(a)
    assert f.steps == 1 and a[0] == 0  # still in the second one
    next(second, None)
    count(a)
    assert f.steps == 1 and a[0] == 2  # in none


@ranks(1)
def test_flows_in_steps_of_flows_however_deep(comm):
    def down(levels):
        with hk.Flow(1) as f:
            if levels > 0:
                f.task(lambda: down(levels - 1))
            f.task(lambda: reached.append(levels))

    reached = []
    down(40)
    assert sorted(reached) == list(range(41))


@ranks(1)
def test_steps_that_wait_for_each_other(comm):
    a, b = hk.Flow(1), hk.Flow(1)
    b.task(lambda: a.wait_on("x"), name="inner")
    a.task(b.wait, outputs=["x"], name="outer")
    with pytest.raises(hk.Error, match=r"'inner' waits for step 'outer'.*none of them can end"):
        a.wait()
