# SPDX-License-Identifier: BSD-3-Clause
"""Arrays travel by every strategy, in the messages that the plan has, and in pieces."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from cases import (
    private,
    raises_everywhere,
    random_dtype,
    random_shape,
    source_of,
    target_of,
    whole,
)
from lockstep import ranks
from worlds import check_world, small

import hocket as hk
import oracle
from hocket import _mpi
from oracle import BLOCK, CYCLIC, STAR, Spec

NAMES = ("direct", "centralized", "staged", "multistage", "hybrid")
SIZES = [{"a": 4, "b": 2}, {"a": 2, "b": 3}, {"a": 3, "b": 1}, {"a": 1, "b": 1}]


def counted(call):
    """The result of `call`, and the messages that this process sent and received for it."""
    before = np.array(_mpi.transfer_counts())
    result = call()
    return result, (np.array(_mpi.transfer_counts()) - before).tolist()


def moved(w, source, destination, dtype, ways, salt=0):
    """Sends one array from a to b, checks every byte, and gives the messages of this process.
    `ways`: the options of a, and of b."""
    own = private(w.comm, salt)
    array = whole(source.shape, dtype, salt)
    if w.name == "a":
        a, memory = source_of(source, array, w.comm, own)
        _, messages = counted(lambda: w.send(a, "b", **ways[0]))
        memory.check_untouched("the sent array")
    else:
        b, room = target_of(destination, dtype, w.comm, own)
        _, messages = counted(lambda: w.recv(b, "a", **ways[1]))
        room.check(destination.local(array, w.comm.rank), f"{source} -> {destination} {ways}")
    return messages


@ranks(*SIZES)
def test_every_strategy_sends_the_messages_of_its_plan(comm, groups):
    w = hk.tasks(groups, comm)
    sides = {"a": "src", "b": "dst"}
    source = Spec((9, 8), (BLOCK, STAR), (groups["a"],))
    for form, strategy in product((BLOCK, CYCLIC), NAMES):
        destination = Spec((9, 8), (STAR, form), (groups["b"],))
        staged = (None, 1, groups["a"]) if strategy in ("staged", "centralized") else (None,)
        for stages in staged:
            way = {"strategy": strategy, "stages": stages}
            p = hk.plan(source.layout(hk), destination.layout(hk), **way)
            # Either side may say it, or both.
            for ways in ((way, {}), ({}, way), (way, way)):
                messages = moved(w, source, destination, "f8", ways)
                steps = p.steps(sides[w.name], w.comm.rank)
                verbs = [verb for _, verb, _, _ in steps]
                assert messages == [verbs.count("send"), verbs.count("recv")], (strategy, ways)
            assert comm.allreduce(messages[0]) == p.message_count


@ranks(*SIZES)
@pytest.mark.parametrize("nodes", ["", "0,0,1,1,0,1"])
def test_random_layouts_sizes_and_strategies(comm, groups, nodes, monkeypatch):
    if nodes:
        monkeypatch.setenv("HOCKET_NODES", ",".join(nodes.split(",")[: comm.size]))
    w = hk.tasks(groups, comm.Dup())
    rng = np.random.default_rng([len(nodes), *groups.values()])
    for case in range(12):
        shape = random_shape(rng)
        source = oracle.random_spec(rng, shape, int(rng.integers(1, groups["a"] + 1)))
        destination = oracle.random_spec(rng, shape, int(rng.integers(1, groups["b"] + 1)))
        strategy = NAMES[int(rng.integers(len(NAMES)))]
        way = {"strategy": strategy, "pieces": int(rng.integers(0, 4)) or None}
        if strategy in ("staged", "centralized"):
            way["stages"] = int(rng.integers(0, max(source.size, destination.size) + 1)) or None
        ways = ({}, way) if case % 2 else (way, {})  # either side may say it
        moved(w, source, destination, random_dtype(rng), ways, case)
    source, destination = (
        Spec((300, 700), forms, (groups[name],))
        for name, forms in (("a", (BLOCK, STAR)), ("b", (STAR, CYCLIC)))
    )
    for strategy in NAMES:  # messages beyond those packed into a channel
        moved(w, source, destination, "f8", ({"strategy": strategy}, {}))


@ranks({"a": 3, "b": 2})
def test_redistribution_within_one_program_by_every_strategy(comm, groups):
    rng = np.random.default_rng(5)
    for case in range(20):
        shape = random_shape(rng)
        source, destination = (
            oracle.random_spec(rng, shape, int(rng.integers(1, comm.size + 1))) for _ in range(2)
        )
        array = whole(shape, "f4", case)
        a, _ = source_of(source, array, comm, private(comm, case))
        for strategy in NAMES:
            b, room = target_of(destination, "f4", comm, private(comm, case))
            p = hk.plan(
                source.layout(hk),
                destination.layout(hk),
                strategy=strategy,
                overlap=[r if r < source.size else -1 for r in range(destination.size)],
            )
            _, messages = counted(
                partial(_mpi.redistribute, a._wrapped(), b._wrapped(), [], strategy, None, None)
            )
            room.check(destination.local(array, comm.rank), f"{source} {destination} {strategy}")
            assert comm.allreduce(messages[0]) == p.message_count, (strategy, case)


@ranks(2, 4, 6)
def test_a_transposition_all_at_once_and_as_a_pipeline(comm):
    """P(P - 1) messages of the data-parallel program, P²/4 of two tasks of half of the processes
    (Foster et al., section 4), as they were sent."""
    half = comm.size // 2
    a = hk.from_function(
        lambda i, j: 24 * i + j, hk.Layout((24, 24), "(BLOCK, *)", comm.size), "f8", comm
    )
    b, sent = counted(lambda: hk.redistribute(a, a.layout, axes=(1, 0)))
    np.testing.assert_array_equal(
        b.local, np.arange(576.0).reshape(24, 24).T[b.layout.global_indices(comm.rank)[0]]
    )
    assert comm.allreduce(sent[0]) == comm.size * (comm.size - 1)
    w = hk.tasks({"rows": half, "cols": half}, comm)
    lay = hk.Layout((24, 24), "(BLOCK, *)" if w.name == "rows" else "(*, BLOCK)", half)
    x = hk.zeros(lay, "f8", comm=w.comm)
    way = {"strategy": "direct"}
    verb = (lambda: w.send(x, "cols", **way)) if w.name == "rows" else lambda: w.recv(x, "rows")
    assert comm.allreduce(counted(verb)[1][0]) == comm.size**2 // 4


@ranks({"a": 2, "b": 3})
def test_persistent_requests_by_every_strategy(comm, groups):
    w = hk.tasks(groups, comm)
    source, destination = small(2, (7, 6)), Spec((7, 6), (STAR, CYCLIC), (3,))
    for strategy in NAMES:
        array = whole(source.shape, "f8")
        if w.name == "a":
            a, _ = source_of(source, array, w.comm, private(w.comm))
            r = w.send_init(a, "b", strategy=strategy)
        else:
            b, room = target_of(destination, "f8", w.comm, private(w.comm))
            r = w.recv_init(b, "a")
        for _ in range(3):
            if w.name == "b":
                b.local[...] = 0
            r.start()
            r.wait()
            if w.name == "b":
                room.check(destination.local(array, w.comm.rank), strategy)
        r.free()
    check_world(w, groups)


@ranks(3)
def test_tasks_that_share_processes_pass_on_without_mixing_things_up(comm):
    w = hk.tasks({"a": [0, 1, 2], "b": [2, 1], "c": [1, 2, 0]}, comm)
    source, others = small(3, (8, 6)), {"b": 2, "c": 3}
    array = whole(source.shape, "i8")
    for name, strategy in product(others, NAMES):
        destination = Spec((8, 6), (STAR, BLOCK), (others[name],))
        a, _ = source_of(source, array, w.task("a").comm, private(comm))
        requests = [w.task("a").isend(a, name, strategy=strategy)]
        room = None
        if name == "c" or comm.rank in (1, 2):
            own = w.task(name)
            b, room = target_of(destination, "i8", own.comm, private(comm))
            requests.append(own.irecv(b, "a"))
        hk.waitall(requests)
        if room is not None:
            room.check(destination.local(array, w.task(name).comm.rank), f"{name} {strategy}")


@ranks({"a": 2, "b": 2})
def test_sides_that_disagree(comm, groups):
    w = hk.tasks(groups, comm)
    a, b = (small(2, (6, 4), form) for form in (BLOCK, CYCLIC))
    for ways, words in (
        (({"strategy": "staged"}, {"strategy": "direct"}), ["'staged'", "'direct'"]),
        (({"strategy": "staged", "stages": 1}, {"stages": 2, "strategy": "staged"}), ["stages=1"]),
        (({"pieces": 2}, {"pieces": 3}), ["pieces=2", "pieces=3"]),
    ):
        raises_everywhere(
            comm,
            hk.MismatchError,
            lambda ways=ways: moved(w, a, b, "f8", ways),
            "task 'a'",
            "task 'b'",
            *words,
        )
    way = {"strategy": "staged", "stages": 3}
    raises_everywhere(comm, hk.LayoutError, lambda: moved(w, a, b, "f8", (way, {})), "1 to 2")
    check_world(w, groups)
    # Errors of one side before it sends come there; the message waits.
    if w.name == "b":
        room = hk.empty(b.layout(hk), "f8", comm=w.comm)
        for way, words in (
            ({"strategy": "stagd"}, ["did you mean", "'staged'"]),
            ({"strategy": 3}, ["strategy is 3"]),
            ({"stages": 2}, ["'auto'"]),
            ({"strategy": "hybrid", "stages": 2}, ["'hybrid'"]),
            ({"pieces": 0}, ["pieces is 0"]),
            ({"pieces": "all"}, ["pieces", "all"]),
        ):
            raises_everywhere(w.comm, hk.Error, lambda way=way: w.recv(room, "a", **way), *words)
    check_world(w, groups)


@ranks({"a": 2, "b": 2})
def test_processes_of_one_task_that_disagree(comm, groups):
    w = hk.tasks(groups, comm)
    mine = "staged" if w.comm.rank == 0 else "direct"
    if w.name == "a":
        a = hk.zeros(small(2).layout(hk), "f8", comm=w.comm)
        raises_everywhere(
            w.comm, hk.MismatchError, lambda: w.send(a, "b", strategy=mine), "'staged'", "'direct'"
        )
    else:
        b = hk.zeros(small(2).layout(hk), "f8", comm=w.comm)
        raises_everywhere(w.comm, hk.Error, lambda: w.recv(b, "a"), "task 'a' could not send")
    check_world(w, groups)


# ---- pieces -------------------------------------------------------------------------------------


def test_an_early_piece_is_used_while_the_last_is_yet_to_be_sent(monkeypatch):
    """The sender stands still until the receiver has used the first piece."""
    # Most of a piece waits for one of few buffers, so that it cannot have left in the background.
    monkeypatch.setenv("HOCKET_MAX_BUFFER", str(2 << 20))
    monkeypatch.setenv("HOCKET_NODES", "0,1")

    def program(w):
        from mpi4py import MPI

        world, shape = MPI.COMM_WORLD, (1024, 2048)
        lay = hk.Layout(shape, "(*, *)")
        array = np.arange(float(np.prod(shape))).reshape(shape)
        if w.name == "a":
            r = w.isend(hk.wrap(np.asfortranarray(array), lay, w.comm), "b", pieces=2)
            first = r.wait_piece(0, timeout=100)
            assert world.recv(source=1) == "used"
            with pytest.raises(hk.DeadlineError):
                r.wait_piece(1, timeout=0.01)
            world.send("go on", 1)
        else:
            b = hk.wrap(np.full(shape, -1.0), lay, w.comm)
            r = w.irecv(b, "a")
            first = r.wait_piece(0, timeout=100)
            np.testing.assert_array_equal(b.local[first], array[first])
            assert b.local[-1, -1] == -1.0, "the last piece is there already"
            world.send("used", 0)
            assert world.recv(source=0) == "go on"
            assert r.wait_piece(1, timeout=100) == (slice(None), slice(1024, 2048))
            np.testing.assert_array_equal(b.local, array)
        r.wait()
        return first == (slice(None), slice(0, 1024))

    assert hk.run(program, tasks={"a": 1, "b": 1}, timeout=120) == {"a": [True], "b": [True]}


@ranks({"a": 2, "b": 2})
def test_pieces_come_one_after_the_other(comm, groups):
    w = hk.tasks(groups, comm)
    shape = (64, 90)
    source, destination = small(2, shape), Spec(shape, (CYCLIC, STAR), (2,))
    array = whole(shape, "f8")
    if w.name == "a":
        a, _ = source_of(source, array, w.comm, private(w.comm))
        r = w.isend(a, "b", pieces=3)
        assert r.pieces() == 3
        assert [r.wait_piece(i) for i in range(3)] == [
            (slice(None), slice(30 * i, 30 * i + 30)) for i in range(3)
        ]
        with pytest.raises(hk.Error, match="pieces 0 to 2"):
            r.wait_piece(3)
        r.wait()
        r = w.isend(a, "b")
        assert r.pieces() == 1 and r.wait_piece(0) == (slice(None), slice(0, 90))
    else:
        b, room = target_of(destination, "f8", w.comm, private(w.comm))
        r = w.irecv(b, "a")
        expected = destination.local(array, w.comm.rank)
        for piece in range(r.pieces()):
            where = r.wait_piece(piece)
            # The cut dimension is not distributed here: global indices are local ones.
            np.testing.assert_array_equal(b.local[where], expected[where])
        r.wait()
        room.check(expected, "all pieces")
        r = w.irecv(b, "a")
        with pytest.raises(hk.Error, match="pieces 0 to 0"):
            r.wait_piece(1)
        with pytest.raises(hk.Error, match="piece"):
            r.wait_piece("first")
    r.wait()
    check_world(w, groups)


@ranks({"a": 2, "b": 1})
def test_pieces_of_what_is_hardly_there(comm, groups):
    w = hk.tasks(groups, comm)
    indexed = hk.Layout.indexed((4, 3), [[(0, 2), (7, 5)], [(2, 5)]])
    for lay, shape in (
        (hk.Layout((0, 3), "(BLOCK, *)", 2), (0, 3)),
        (hk.Layout((2,), "(BLOCK)", 2), (2,)),
        (indexed, (4, 3)),
    ):
        there = hk.Layout(shape, "(" + ", ".join("*" * len(shape)) + ")")
        array = np.arange(np.prod(shape), dtype="i4").reshape(shape)
        if w.name == "a":
            a = hk.empty(lay, "i4", comm=w.comm)
            places = lay.global_indices(w.comm.rank)
            flat = places if lay is indexed else np.ravel_multi_index(np.ix_(*places), shape)
            a.local[...] = array.ravel()[flat].reshape(a.local.shape)
            w.send(a, "b", pieces=5)
        else:
            b = hk.zeros(there, "i4", comm=w.comm)
            r = w.irecv(b, "a")
            last = [r.wait_piece(i) for i in range(5)][-1]
            assert last[-1].stop == shape[len(last) - 1]
            np.testing.assert_array_equal(b.local, array)
            r.wait()
    point = hk.Layout((), "()")
    if w.name == "a":
        call = lambda: w.send(hk.zeros(point, "i4", comm=w.comm), "b", pieces=2)  # noqa: E731
    else:
        call = lambda: w.recv(hk.zeros(point, "i4", comm=w.comm), "a")  # noqa: E731
    raises_everywhere(comm, hk.LayoutError, call, "pieces=2")
    two = [hk.zeros(hk.Layout((4,), "(*)"), "i4", comm=w.comm) for _ in range(2)]
    if w.name == "a":
        raises_everywhere(w.comm, hk.Error, lambda: w.send(two, "b", pieces=2), "2 arrays")
    check_world(w, groups)


def test_auto_is_what_the_senders_model_chooses(tmp_path):
    dear = {"message": 1.0, "relay": 0.0}
    (tmp_path / "dear").write_text(hk.costs.text_of(dear), encoding="utf-8")

    def program(comm, folder):
        import os

        # Before the first collective call, and only on one of the two sides.
        os.environ["HOCKET_MODEL"] = f"{folder}/dear" if comm.rank < 4 else "default"
        w = hk.tasks({"a": 4, "b": 1}, comm)
        forms = {"a": "(BLOCK, *)", "b": "(*, BLOCK)"}
        layout = hk.Layout((16, 16), forms[w.name], w.comm.size)
        x = hk.zeros(layout, "f8", comm=w.comm)
        there = "b" if w.name == "a" else "a"
        took = []
        for sender in ("a", "b", "a"):
            verb = w.send if w.name == sender else w.recv
            took.append(counted(lambda verb=verb: verb(x, there))[1][1])
        return took

    rows, columns = hk.Layout((16, 16), "(BLOCK, *)", 4), hk.Layout((16, 16), "(*, BLOCK)", 1)
    by_a = hk.plan(rows, columns, model=dear, nodes=([0] * 4, [0]))
    by_b = hk.plan(columns, rows, model={}, nodes=([0], [0] * 4))

    def received(plan, side, size):
        verbs = [[verb for _, verb, _, _ in plan.steps(side, rank)] for rank in range(size)]
        return [each.count("recv") for each in verbs]

    wanted = [
        *([n, m, n] for n, m in zip(received(by_a, "src", 4), received(by_b, "dst", 4))),
        *([n, m, n] for n, m in zip(received(by_a, "dst", 1), received(by_b, "src", 1))),
    ]
    assert by_b.strategy == "direct" and received(by_a, "src", 4) != [0] * 4
    assert hk.run(program, ranks=5, args=(str(tmp_path),)) == wanted
