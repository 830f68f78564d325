# SPDX-License-Identifier: BSD-3-Clause
"""Flows that communicate: random programs of sends and receives that are right for blocking calls,
read from top to bottom. Whatever order a flow makes of them, nobody hangs, and the result is the
sequential one, with one worker too."""

import random
import time

import numpy as np
import pytest
from lockstep import ranks
from mpi4py import MPI

import hocket as hk

SHAPE = (13,)
PAIRS = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2}]
MORE = [*PAIRS, {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1, "c": 1}, dict.fromkeys("abcd", 1)]
ARRAYS = 3


def layout_of(task, number, size):
    form = ["BLOCK", "CYCLIC", "CYCLIC(2)"][(ord(task) + number) % 3]
    return hk.Layout(SHAPE, f"({form})", size)


def program_of(rng, tasks, steps):
    """("compute", task, to, salt), ("sum", task, to, salt), which waits in its middle, and
    ("message", task, array, task, array, tag), in an order in which blocking calls would work."""
    made = []
    for _ in range(steps):
        if rng.random() < 0.5:
            what = "compute" if rng.random() < 0.7 else "sum"
            made.append((what, rng.choice(tasks), rng.randrange(ARRAYS), rng.randrange(100)))
        else:
            source, destination = rng.sample(tasks, 2)
            arrays = rng.randrange(ARRAYS), rng.randrange(ARRAYS)
            made.append(("message", source, arrays[0], destination, arrays[1], rng.randrange(2)))
    return made


def compute(to, salt):
    to *= 3
    to += salt
    to %= 1009


def run_flow(comm, groups, rng, steps=14):
    """One random program; its result on this process is checked."""
    w = hk.tasks(groups, comm)
    team = hk.Team(w.comm)
    tasks = sorted(groups)
    program = program_of(rng, tasks, steps)
    workers, agent = rng.choice([(1, "steps"), (1, "thread"), (2, "steps"), (2, "thread")])
    naps, priorities = rng.random() < 0.1, rng.random() < 0.5
    seen = {task: [np.arange(SHAPE[0]) * (k + 1) for k in range(ARRAYS)] for task in tasks}
    layouts = [layout_of(w.name, k, groups[w.name]) for k in range(ARRAYS)]
    mine = [
        hk.from_function(lambda i, k=k: i * (k + 1), lay, "i8", w.comm)
        for k, lay in enumerate(layouts)
    ]
    with hk.Flow(workers, agent=agent, window=rng.choice([1, 3, 8192])) as f:
        for what, task, *rest in program:
            priority = rng.randrange(-2, 3) if priorities else 0
            if what == "sum":
                to, salt = rest
                compute(seen[task][to], salt + int(seen[task][to].sum()))
                if task == w.name:

                    async def waiting(to=mine[to].local, salt=salt):
                        compute(to, salt + int(await team.start("reduce_add", int(to.sum()))))

                    f.task(waiting, inouts=[mine[to], "team"], priority=priority)
            elif what == "compute":
                to, salt = rest
                compute(seen[task][to], salt)
                if task == w.name:

                    def step(to=mine[to].local, salt=salt, naps=naps):
                        compute(to, salt)
                        if naps:
                            time.sleep(1e-3)

                    f.task(step, inouts=[mine[to]], priority=priority)
            else:
                out, destination, into, tag = rest
                seen[destination][into] = seen[task][out].copy()
                if task == w.name:
                    f.send(w, mine[out], destination, tag, priority=priority)
                elif destination == w.name:
                    f.recv(w, mine[into], task, tag, priority=priority)
    for k in range(ARRAYS):
        (places,) = layouts[k].global_indices(w.comm.rank)
        np.testing.assert_array_equal(mine[k].local, seen[w.name][k][places])


def run_flows(comm, groups, seed, count):
    for case in range(count):
        try:
            run_flow(comm, groups, random.Random(f"{seed} {case} {sorted(groups.items())}"))
        except BaseException as error:
            raise AssertionError(f"seed {seed}, case {case}") from error


@ranks(*MORE)
def test_random_programs_of_sends_and_receives(comm, groups):
    run_flows(comm, groups, 0, 10)


@ranks(PAIRS[2], soak=[PAIRS[1]], nodes="0,1")
def test_random_programs_across_nodes(comm, groups):
    run_flows(comm, groups, 1, 3)


@pytest.mark.soak
@ranks(*MORE, seconds=3000)
def test_many_random_programs(comm, groups, soak_seed):
    run_flows(comm, groups, soak_seed, 1700)


def all_to_all(comm, workers, agent):
    n = comm.size
    got, total, mine = np.zeros((n, 4)), np.zeros(4), np.full(4, -1.0)
    with hk.Flow(workers, agent=agent) as f:
        for k in range(n):
            f.comm(lambda k=k: comm.Irecv(got[k], k, 7), outputs=[got[k]])
        f.task(lambda: np.sum(got, axis=0, out=total), [got], [total])
        f.task(lambda: mine.fill(comm.rank), outputs=[mine], priority=-1)
        f.comm(lambda: [comm.Isend(mine, k, 7) for k in range(n)], inputs=[mine])
    np.testing.assert_array_equal(total, n * (n - 1) / 2)


@ranks(2, 3, 4)
def test_requests_of_mpi_in_any_order(comm):
    """Every process sends to all and receives from all, the sends of each last in its program."""
    for workers, agent in ((1, "steps"), (2, "thread")):
        all_to_all(comm, workers, agent)


@ranks({"a": 1, "b": 1}, {"a": 2, "b": 1})
def test_a_receive_that_comes_first_does_not_stand_in_the_way(comm, groups):
    """Each task receives first and sends then, which would deadlock if steps had to run in order;
    the sends depend on nothing."""
    w = hk.tasks(groups, comm)
    other = "b" if w.name == "a" else "a"
    lay = hk.Layout((8,), "(BLOCK)", w.comm.size)
    out, into = (
        hk.from_function(lambda i: i + w.rank, lay, "i8", w.comm),
        hk.zeros(lay, "i8", w.comm),
    )
    with hk.Flow(1) as f:
        f.recv(w, into, other)
        f.send(w, out, other)
    (places,) = lay.global_indices(w.comm.rank)
    np.testing.assert_array_equal(into.local, places + 1 - w.rank)


@ranks({"a": 1, "b": 1}, {"a": 2, "b": 2})
def test_a_stopped_send_fails_on_both_sides(comm, groups):
    w = hk.tasks(groups, comm)
    lay = hk.Layout((8,), "(BLOCK)", w.comm.size)
    a = hk.zeros(lay, "i8", w.comm)
    f = hk.Flow(1)
    if w.name == "a":

        def broken():
            raise ValueError("no data")

        f.task(broken, outputs=[a])
        f.send(w, a, "b")
        f.send(w, hk.zeros(lay, "i8", w.comm), "b", 1)
        with pytest.raises(ValueError, match="step 'broken' failed: no data"):
            f.wait(100)
    else:
        f.recv(w, a, "a")
        f.recv(w, hk.zeros(lay, "i8", w.comm), "a", 1)
        with pytest.raises(hk.StepError, match=r"recv from a.*given up before it began"):
            f.wait(100)
    # The tasks understand each other still.
    if w.name == "a":
        w.send(a, "b")
    else:
        w.recv(a, "a", timeout=100)


@ranks({"a": 1, "b": 1})
def test_an_error_of_communication_names_the_step(comm, groups):
    w = hk.tasks(groups, comm)
    a = hk.zeros(hk.Layout((8 + w.rank,), "(BLOCK)", 1), "i8", w.comm)
    f = hk.Flow(2)
    if w.name == "a":
        f.send(w, a, "b")
    else:
        f.recv(w, a, "a")
    with pytest.raises(hk.MismatchError, match=r"^step '(send to b|recv from a)' failed: "):
        f.wait(100)


@ranks({"a": 1, "b": 1})
def test_a_flow_moves_on_while_its_program_waits_for_something_else(comm, groups):
    """Every wait of the process drives the agent."""
    w = hk.tasks(groups, comm)
    lay = hk.Layout((8,), "(BLOCK)", 1)
    a, b = hk.zeros(lay, "i8", w.comm), hk.zeros(lay, "i8", w.comm)
    with hk.Flow(1, agent="steps") as f:
        if w.name == "a":
            f.send(w, a, "b", 1)
            w.recv(b, "b", 2, timeout=100)
        else:
            w.recv(a, "a", 1, timeout=100)
            w.send(b, "a", 2, timeout=100)


@ranks({"a": 1, "b": 1})
def test_leaving_by_an_error_leaves_operations_behind(comm, groups):
    """A receive that nobody sends for does not keep the program from its own error."""
    w = hk.tasks(groups, comm)
    lay = hk.Layout((8,), "(BLOCK)", 1)
    a = hk.zeros(lay, "i8", w.comm)
    late = hk.zeros(lay, "i8", w.comm)
    if w.name == "b":
        with pytest.raises(KeyError), hk.Flow(1) as f:
            f.recv(w, late, "a")
            with pytest.raises(hk.DeadlineError):
                f.wait(0.05)
            raise KeyError("away")
        w.send(a, "a")
        w.recv(a, "a", 3, timeout=100)
    else:
        w.recv(a, "b", timeout=100)
        a.local[:] = 5
        w.send(a, "b", 0)
        w.send(a, "b", 3)


@ranks(1, 3)
def test_operations_of_teams_are_operations(comm):
    team = hk.Team(comm)
    value, sums = np.zeros(1, np.int64), []
    with hk.Flow(2) as f:
        for k in range(3):
            started = []
            f.task(lambda k=k: value.fill(comm.rank + k), outputs=[value])
            f.comm(
                lambda started=started: (
                    started.append(team.start("reduce_add", value[0])) or started
                ),
                inputs=[value],
                outputs=[("sum", k)],
            )
            f.task(
                lambda started=started: sums.append(int(started[0].value())),
                inputs=[("sum", k)],
                inouts=["sums"],
            )
    n = comm.size
    assert sums == [n * (n - 1) // 2 + n * k for k in range(3)]


@ranks(2)
def test_an_error_of_mpi_names_the_step(comm):
    """The message is longer than the array that it is received into."""
    little, other = np.zeros(1), np.zeros(4)
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    f = hk.Flow(1)
    f.comm(lambda: comm.Irecv(little, 1 - comm.rank, 5), outputs=[little], name="too little")
    f.task(lambda: pytest.fail("it has nothing to work on"), [little], name="use it")
    f.comm(lambda: comm.Irecv(other, 1 - comm.rank, 6), outputs=[other])
    f.comm(lambda: [comm.Isend(np.ones(4), 1 - comm.rank, tag) for tag in (5, 6)])
    with pytest.raises(hk.StepError, match=r"'too little' failed: .*(?i:truncated)"):
        f.wait(100)
    assert (other == 1).all()
