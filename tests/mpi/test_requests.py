# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives that are started now and waited for later; probes."""

import gc
import time

import numpy as np
import pytest
from across import NODES, also_across
from cases import private, raises_everywhere, source_of, target_of, whole
from lockstep import ranks

import hocket as hk
from oracle import BLOCK, CYCLIC, STAR, Spec

PAIRS = [{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 3}]


def rows(size, shape=(6, 4), form=BLOCK):
    return Spec(shape, (form,) + (STAR,) * (len(shape) - 1), (size,))


def outgoing(w, salt, shape=(6, 4)):
    spec = rows(w.comm.size, shape)
    return source_of(spec, whole(shape, "i8", salt), w.comm, private(w.comm, salt))


def incoming(w, shape=(6, 4)):
    """(array, check(salt)) with room for what `outgoing` sends."""
    spec = rows(w.comm.size, shape, CYCLIC)
    b, room = target_of(spec, "i8", w.comm, private(w.comm))
    return b, lambda salt: room.check(spec.local(whole(shape, "i8", salt), w.comm.rank))


@also_across({"a": 1, "b": 1})
@ranks(*PAIRS)
def test_requests_may_be_waited_for_in_any_order(comm, groups):
    w = hk.tasks(groups, comm)
    shapes = [(6, 4), (200, 150), (5,), (0, 3)]
    if w.name == "a":
        sent = [outgoing(w, k, shape) for k, shape in enumerate(shapes)]
        requests = [w.isend(a, "b", tag=k) for k, (a, _) in enumerate(sent)]
        hk.waitall(requests)
        for _, memory in sent:
            memory.check_untouched()
    else:
        rooms = [incoming(w, shape) for shape in shapes]
        requests = [w.irecv(b, "a", tag=k) for k, (b, _) in enumerate(rooms)]
        for k in (2, 0, 3, 1):
            st = requests[k].wait()
            assert (st.source, st.tag) == (0, k)
            assert st.layout == rows(groups["a"], shapes[k]).layout(hk)
            rooms[k][1](k)


@also_across({"a": 1, "b": 1})
@ranks(*PAIRS)
def test_tags_may_be_taken_in_another_order(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        requests = [w.isend(outgoing(w, tag)[0], "b", tag=tag) for tag in (1, 2, 3)]
        hk.waitall(requests)
    else:
        for tag in (3, 1, 2):
            b, check = incoming(w)
            assert w.recv(b, "a", tag=tag).tag == tag
            check(tag)


@also_across({"a": 1, "b": 1})
@ranks(*PAIRS, {"a": 3, "b": 3})
def test_everybody_tests_alike(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        time.sleep(0.05 * comm.rank)
        a, memory = outgoing(w, 5)
        w.isend(a, "b", tag=5).wait()
        memory.check_untouched()
        return
    b, check = incoming(w)
    request = w.irecv(b)
    answers = [request.test()]
    while not answers[-1]:
        time.sleep(0.01 * (1 + w.comm.rank))
        answers.append(request.test())
    assert len(set(w.comm.allgather(tuple(answers)))) == 1
    check(5)


@ranks({"a": 1, "b": 2})
def test_a_request_is_tested_more_often_than_there_are_tags(comm, groups):
    """Decisions took tags in turn, and the 65536th met the request's own."""
    w = hk.tasks(groups, comm)
    told = hk.zeros(hk.Layout(1, "(*)"), "i8", w.comm)
    if w.name == "a":
        w.recv(told, "b", tag=1)
        w.send(outgoing(w, 7)[0], "b", tag=2)
        return
    b, check = incoming(w)
    request = w.irecv(b, "a", tag=2)
    assert not any(request.test() for _ in range(66_000))
    w.send(told, "a", tag=1)
    request.wait(timeout=60)
    check(7)


@ranks({"a": 1, "b": 2, "c": 1})
def test_waitany_names_one_that_is_done_on_every_process(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "b":
        rooms = {name: incoming(w) for name in ("a", "c")}
        requests = [w.irecv(rooms[name][0], name) for name in ("a", "c")]
        first = hk.waitany(requests)
        assert len(set(w.comm.allgather(first))) == 1
        requests[1 - first].wait()
        rooms["a"][1](1)
        rooms["c"][1](3)
    else:
        w.send(outgoing(w, 1 if w.name == "a" else 3)[0], "b")


@also_across({"a": 1, "b": 1})
@ranks(*PAIRS)
def test_sendrecv_both_ways_at_once(comm, groups):
    w = hk.tasks(groups, comm)
    other = "b" if w.name == "a" else "a"
    for turn, shape in enumerate([(6, 4), (300, 100)]):
        a, memory = outgoing(w, 10 * w.rank + turn, shape)
        b, check = incoming(w, shape)
        st = w.sendrecv(a, other, b, other, sendtag=w.rank, recvtag=1 - w.rank)
        assert (st.source, st.tag) == (1 - w.rank, 1 - w.rank)
        check(10 * (1 - w.rank) + turn)
        memory.check_untouched()


@ranks({"a": 2, "b": 1, "c": 1})
def test_a_ring_of_sendrecvs(comm, groups):
    w = hk.tasks(groups, comm)
    a, _ = outgoing(w, w.rank)
    b, check = incoming(w)
    st = w.sendrecv(a, (w.rank + 1) % 3, b, (w.rank - 1) % 3)
    assert st.source == (w.rank - 1) % 3
    check((w.rank - 1) % 3)


@also_across({"a": 1, "b": 1})
@ranks(*PAIRS)
def test_probe_tells_what_comes_and_takes_nothing(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        w.send(outgoing(w, 1, (7, 3))[0], "b", tag=42)
    else:
        for st in (w.probe(), w.probe(source="a", tag=42)):
            assert (st.source, st.tag, st.dtype) == (0, 42, np.dtype("i8"))
            assert st.layout.shape == (7, 3)
        b, check = incoming(w, st.layout.shape)
        w.recv(b, st.source, tag=st.tag)
        check(1)
        assert w.iprobe() is None


@ranks(*PAIRS)
def test_iprobe_answers_alike_on_every_process(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        time.sleep(0.03 * comm.rank)
        w.send(outgoing(w, 2)[0], "b", tag=8)
        return
    answers = []
    while not answers or answers[-1] is None:
        time.sleep(0.002 * w.comm.rank)
        st = w.iprobe(tag=8)
        answers.append(None if st is None else (int(st.source), st.tag))
    assert len(set(map(tuple, w.comm.allgather(answers)))) == 1
    b, check = incoming(w)
    w.recv(b)
    check(2)


@ranks({"a": 2, "b": 2})
def test_a_request_keeps_its_array_alive(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        request = w.isend(outgoing(w, 3, (300, 200))[0], "b")
        junk = [np.full((300, 200), 7) for _ in range(20)]
        request.wait()
        assert all((part == 7).all() for part in junk)
    else:
        time.sleep(0.2)
        b, check = incoming(w, (300, 200))
        w.recv(b)
        check(3)


@ranks({"a": 1, "b": 1}, nodes=NODES)
def test_short_messages_whose_elements_travel_ahead(comm, groups):
    """More of them than may wait at a receiver that has not come. Elements travel ahead if both
    layouts list them in one order; others follow the answer."""
    w = hk.tasks(groups, comm)
    count, shape = 96, (40, 50)  # 16000 bytes each
    forward = hk.Layout.elements(shape, [np.arange(2000)])
    backward = hk.Layout.elements(shape, [np.arange(1999, -1, -1)])
    nothing = hk.Layout((0, 7), "(*, *)")
    layouts = [hk.Layout(shape, f"({form}, *)", 1) for form in ("BLOCK", "CYCLIC")]
    pairs = [(layouts[0], layouts[0]), (forward, forward), (backward, backward)]
    pairs += [(forward, backward), (layouts[0], layouts[1]), (layouts[1], backward)]
    pairs += [(nothing, nothing), (layouts[0], layouts[0])]
    wrong = 17  # the receiver has another shape for it

    def array(k, fill):
        layout = pairs[k % len(pairs)][w.rank]
        if w.name == "b" and k == wrong:
            layout = hk.Layout((50, 40), "(BLOCK, *)", 1)
        if k % len(pairs) == len(pairs) - 1:  # not contiguous
            a = hk.wrap(np.zeros((40, 100))[:, ::2], layout, w.comm)
        else:
            a = hk.empty(layout, "f8", w.comm)
        values = -np.ones(a.local.size)
        if fill and a.local.size:
            values = 10000.0 * k + np.arange(2000)
            if layout is backward:  # it equals `forward`
                values = values[::-1]
        a.local[...] = values.reshape(a.local.shape)
        return a, values.reshape(a.local.shape)

    for late in ("a", "b"):
        if w.name == late:
            time.sleep(0.1)
        made = [array(k, w.name == "a") for k in range(count)]
        order = range(count) if w.name == "a" else range(count - 1, -1, -1)
        start = w.isend if w.name == "a" else w.irecv
        requests = {k: start(made[k][0], 1 - w.rank, tag=k) for k in order}
        for k in order:
            if k == wrong:
                with pytest.raises(hk.MismatchError, match=r"\(40, 50\).*\(50, 40\)"):
                    requests[k].wait(timeout=60)
                assert (made[k][0].local == made[k][1]).all()
                continue
            st = requests[k].wait(timeout=60)
            if w.name == "b":
                assert (st.tag, st.layout) == (k, pairs[k % len(pairs)][0])
                np.testing.assert_array_equal(made[k][0].local, array(k, True)[1], err_msg=str(k))
        comm.barrier()  # under MPICH a send may end only while its receiver calls MPI


@ranks(2, 3, nodes="0,1,2")
def test_random_messages_do_not_overtake(comm):
    """Receives that wait for their messages, and messages that wait for their receives, with and
    without wildcards; some receives have another shape, or list their elements in another order."""
    w = hk.tasks(dict.fromkeys("abc"[: comm.size], 1), comm)
    own = np.random.default_rng(w.rank)

    def array(length):
        order = np.arange(length) if own.random() < 0.7 else np.arange(length)[::-1]
        a = hk.empty(hk.Layout.elements((length,), [order]), "i8", w.comm)
        return a, np.argsort(order)[:3]

    def matches(receive, source, tag):
        return receive[0] in (-1, source) and receive[1] in (-1, tag)

    for case in range(16):
        rng = np.random.default_rng(case)
        length = int(rng.choice([3, 3000]))
        first = [
            (int(rng.choice([-1, *(t for t in range(comm.size) if t != receiver)])), tag, wrong)
            for receiver in range(comm.size)
            for tag, wrong in zip(rng.integers(-1, 3, 6).tolist(), rng.random(6) < 0.1, strict=True)
        ][6 * w.rank :][:6]
        # Enough messages of each tag, whatever the wildcards take.
        sends = [(t, n, int(n % 3)) for n in range(18) for t in range(comm.size) if t != w.rank]
        receives = first + [(-1, -1, False)] * (len(sends) - 6)
        calls = np.array(["send"] * len(sends) + ["recv"] * 6)
        if own.random() < 0.7:
            own.shuffle(calls)
        started, tickets = [], iter(sends)
        posts = iter(enumerate(receives))
        for call in [*calls, *["recv"] * (len(receives) - 6)]:
            if own.random() < 0.1:
                time.sleep(own.choice([0, 1e-4, 1e-3]))
            if call == "send":
                to, number, tag = next(tickets)
                a, at = array(length)
                a.local[at] = w.rank, number, tag
                started.append((None, a, at, w.isend(a, to, tag)))
            else:
                number, (source, tag, wrong) = next(posts)
                a, at = array(length + int(wrong))
                started.append((number, a, at, w.irecv(a, source, tag)))
        found, errors = {}, {True: [], False: []}
        for k in own.permutation(len(started)):
            number, a, at, request = started[k]
            try:
                st = request.wait(timeout=60)
            except hk.MismatchError as error:
                errors[number is None].append(str(error))
                continue
            if number is not None:
                found[number] = tuple(a.local[at])
                assert (st.source, st.tag) == found[number][::2]
                assert matches(receives[number], st.source, st.tag)
        assert len({*found.values()}) == len(found) == len(receives) - len(errors[False])
        for number, (source, sent, _) in found.items():
            for later, (other, before, other_tag) in found.items():
                overtakes = other == source and before < sent and number < later
                assert not (overtakes and matches(receives[number], other, other_tag)), case
        everywhere = comm.allgather(errors)
        assert sorted(e for each in everywhere for e in each[True]) == sorted(
            e for each in everywhere for e in each[False]
        )


@ranks({"a": 1, "b": 2})
def test_disagreement_is_raised_by_the_wait(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "a":
        request = w.isend(outgoing(w, 1, (6, 4))[0], "b")
    else:
        b, room = target_of(rows(2, (6, 5)), "i8", w.comm, private(w.comm))
        request = w.irecv(b, "a")
    raises_everywhere(comm, hk.MismatchError, request.wait, "(6, 4)", "(6, 5)")
    if w.name == "b":
        room.check_untouched()


@ranks({"a": 1, "b": 1})
def test_a_deadline_ends_the_wait_and_not_the_operation(comm, groups):
    w = hk.tasks(groups, comm)
    if w.name == "b":
        b, check = incoming(w)
        request = w.irecv(b, "a")
        with pytest.raises(hk.DeadlineError):
            request.wait(timeout=0.3)
        comm.barrier()
        assert request.wait(timeout=100).source == 0
        check(6)
    else:
        comm.barrier()
        w.send(outgoing(w, 6)[0], "b")


@ranks({"a": 2, "b": 1})
def test_a_request_outlives_what_it_was_made_of(comm, groups):
    def begun():
        w = hk.tasks(groups, comm)
        array = hk.zeros(hk.Layout((6,), "(BLOCK)", groups[w.name]), comm=w.comm)
        return w.isend(array, "b") if w.name == "a" else w.irecv(array, "a")

    request = begun()
    gc.collect()
    while not request.test():
        pass
    for _ in range(20):  # what was freed would be used for these
        hk.tasks(groups, comm)
    assert request.test()
    assert request.wait() is not None


@ranks({"a": 1, "b": 1}, {"a": 2, "b": 2})
def test_every_verb_has_a_timeout(comm, groups):
    """That of a request holds for each of its waits that names none."""
    w = hk.tasks(groups, comm)
    here = w.comm.rank == 0  # of two processes one comes late to what all must call
    lay = hk.Layout((6, 4), "(BLOCK, *)", w.comm.size)
    a, soon = hk.zeros(lay, "int64", w.comm), 0.1
    if w.name == "b":
        requests = [
            w.irecv(a, "a", 1, soon),
            w.irecv(a, "a", 1, timeout=soon),
            w.recv_init(a, "a", 2, timeout=soon),
        ]
        requests[-1].start()
        for request in requests:
            for wait in (request.wait, lambda r=request: hk.waitall([r])):
                raises_everywhere(w.comm, hk.DeadlineError, wait)
        raises_everywhere(w.comm, hk.DeadlineError, lambda: hk.waitany(requests))
        comm.barrier()
        for request in requests:
            request.wait(timeout=60)
    else:
        comm.barrier()
        more = w.send_init(a, "b", 2, timeout=60)
        more.start()
        for request in [w.isend(a, "b", 1, 60), w.isend(a, "b", 1, timeout=60), more]:
            request.wait()
    if w.comm.size > 1 and here:
        with pytest.raises(hk.DeadlineError):
            w.iprobe(timeout=soon)
        comm.barrier()
    else:
        comm.barrier()
        assert w.comm.size == 1 or w.iprobe(timeout=60) is None
    for call in (w.isend, w.irecv, w.send_init, w.recv_init):
        with pytest.raises(hk.Error, match="timeout is 'x'"):
            call(a, 1 - w.rank, 3, timeout="x").wait()
    comm.barrier()


@ranks({"a": 1, "b": 1})
def test_the_timeout_of_a_channel_and_of_other_requests(comm, groups, tmp_path):
    w = hk.tasks(groups, comm)
    a = hk.zeros(hk.Layout((6, 4), "(*, *)"), "int64", w.comm)
    frames = w.channel("frames", peer=1 - w.rank, timeout=0.1)
    if w.name == "b":
        with pytest.raises(hk.DeadlineError, match="from task 'a' on channel 'frames' after"):
            frames.recv(a)
    comm.barrier()
    with pytest.raises(hk.Error, match="timeout is 'x'"):
        w.channel("frames", 1 - w.rank, timeout="x")
    lay = hk.Layout((6, 4), "(BLOCK, *)", comm.size)
    b = hk.zeros(lay, "int64", comm)

    def alone_at_first(start):
        """Task b starts, and waits too short a time for task a, which comes later."""
        if w.name == "b":
            request = start(timeout=0.1)
            with pytest.raises(hk.DeadlineError):
                request.wait()
            comm.barrier()
            request.wait(timeout=60)
        else:
            comm.barrier()
            start(timeout=60).wait()

    columns = hk.Layout((6, 4), "(*, BLOCK)", 2)
    alone_at_first(lambda timeout: hk.iredistribute(b, lay2=columns, timeout=timeout))
    with hk.open_store(comm.bcast(str(tmp_path / "s.zarr")), "w", comm=comm) as s:
        s.create("t", (6, 4), "int64")
        alone_at_first(lambda timeout: s.iwrite("t", b, timeout=timeout))
        for call in (s.write, lambda *a, **k: s.iwrite(*a, **k).wait()):
            raises_everywhere(
                comm,
                hk.Error,
                lambda call=call: call("t", b, timeout="x" if comm.rank else None),
                "timeout is 'x'",
            )
        raises_everywhere(
            comm, hk.Error, lambda: s.read("t", lay, timeout="x" if comm.rank else None)
        )
