# SPDX-License-Identifier: BSD-3-Clause
"""The five strategies of a plan: a pure simulator carries out the messages; does all arrive?"""

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocket as hk
from spec_strategies import pairs

NAMES = ("direct", "centralized", "staged", "multistage", "hybrid")


def full(senders, receivers, strategy, **options):
    """Every sender has as much for every receiver."""
    shape = (senders * 4, receivers * 3)
    source = hk.Layout(shape, "(BLOCK, *)", senders)
    return hk.plan(source, hk.Layout(shape, "(*, BLOCK)", receivers), strategy=strategy, **options)


def messages_of(p):
    """(round, from, to, cargo) of every message; both its ends must tell the same."""
    sent, received = Counter(), Counter()
    for side, size in (("src", p.source.size), ("dst", p.destination.size)):
        for rank in range(size):
            here = (side, rank)
            steps, cargo = p.steps(side, rank), p.cargo(side, rank)
            assert len(steps) == len(cargo)
            assert [step[0] for step in steps] == sorted(step[0] for step in steps)
            for (number, verb, there, elements), parcels in zip(steps, cargo):
                assert verb in ("send", "recv") and elements > 0
                assert sum(n for _, _, n in parcels) == elements
                assert [parcel[:2] for parcel in parcels] == sorted(
                    parcel[:2] for parcel in parcels
                )
                if verb == "send":
                    sent[number, here, there, tuple(parcels)] += 1
                else:
                    received[number, there, here, tuple(parcels)] += 1
    assert sent == received and set(sent.values()) <= {1}
    return sorted(sent)


def simulate(p, overlap=None):
    """Carries out all messages: every parcel arrives, at processes with one port each way."""
    overlap = overlap or {}

    def process(stop):
        side, rank = stop
        return ("src", overlap[rank]) if side == "dst" and rank in overlap else stop

    logical = {(s, d): n for s in range(p.source.size) for d, n in p.sends(s)}
    where = {pair: {process(("src", pair[0]))} for pair in logical}
    messages = messages_of(p)
    for number, together in itertools.groupby(messages, key=lambda message: message[0]):
        now = list(together)
        ends = [[process(message[end]) for message in now] for end in (1, 2)]
        for several in ends:
            assert len(several) == len(set(several)), f"two messages at one port in round {number}"
        for _, here, there, cargo in now:
            assert process(here) != process(there), "what stays is no message"
            for s, d, n in cargo:
                assert n == logical[s, d]
                assert process(here) in where[s, d], f"{here} does not have {(s, d)} yet"
        for _, _, there, cargo in now:
            for s, d, _ in cargo:
                where[s, d].add(process(there))
    for (s, d), holders in where.items():
        assert process(("dst", d)) in holders, f"what {s} has for {d} did not arrive"
    assert p.message_count == len(messages)
    assert p.elements_moved == sum(n for *_, cargo in messages for *_, n in cargo)
    assert p.rounds == (messages[-1][0] + 1 if messages else 0)
    return messages


def crossing(messages):
    return [message for message in messages if message[1][0] != message[2][0]]


def rounds_of(messages):
    return len({message[0] for message in messages})


@pytest.mark.parametrize("strategy", NAMES)
def test_full_traffic_between_any_numbers_of_processes(strategy):
    for senders, receivers in itertools.product(range(1, 10), repeat=2):
        p = full(senders, receivers, strategy)
        assert p.strategy == strategy
        simulate(p)


@pytest.mark.parametrize(
    ("senders", "receivers"), [(4, 2), (4, 4), (8, 4), (9, 3), (7, 4), (16, 8)]
)
def test_message_counts_of_the_paper(senders, receivers):
    """Avalani et al., section 2.2, for S >= R."""
    found = {name: full(senders, receivers, name) for name in NAMES}
    runs = {name: simulate(p) for name, p in found.items()}
    counts = {name: p.message_count for name, p in found.items()}
    assert counts["direct"] == senders * receivers
    assert counts["centralized"] == senders + receivers - 1
    assert counts["staged"] == senders * receivers
    assert len(crossing(runs["staged"])) == receivers
    steps = math.ceil(math.log2(senders))
    assert counts["multistage"] <= senders * steps + receivers
    assert found["multistage"].rounds <= steps + 1
    assert len(crossing(runs["hybrid"])) <= counts["direct"]
    assert found["hybrid"].rounds <= found["direct"].rounds == senders
    # The array is moved about twice, log S times, and once; the hybrid sends nothing twice across.
    whole = math.prod(found["direct"].source.shape)
    assert found["direct"].elements_moved == whole
    assert whole < found["centralized"].elements_moved < 2 * whole
    assert found["staged"].elements_moved <= 2 * whole
    assert sum(n for *_, cargo in crossing(runs["hybrid"]) for *_, n in cargo) == whole


def test_figure_2():
    """Four senders, two receivers: three steps of which all cross, where all-to-all takes four."""
    p = full(4, 2, "hybrid")
    messages = simulate(p)
    assert (p.rounds, full(4, 2, "direct").rounds) == (3, 4)
    assert [sum(m[0] == r for m in crossing(messages)) for r in range(3)] == [2, 2, 2]
    assert [m[0] for m in messages if m not in crossing(messages)] == [0, 0]


@pytest.mark.parametrize(("groups", "receivers"), [(2, 2), (3, 2), (2, 3), (4, 4), (3, 5)])
def test_the_hybrid_of_whole_groups(groups, receivers):
    for p in (
        full(groups * receivers, receivers, "hybrid"),
        full(receivers, groups * receivers, "hybrid"),
    ):
        simulate(p)
        assert p.rounds == receivers + groups - 1


def test_the_hybrid_never_takes_longer_than_all_to_all():
    for senders, receivers in itertools.product(range(1, 14), repeat=2):
        hybrid, direct = full(senders, receivers, "hybrid"), full(senders, receivers, "direct")
        assert hybrid.rounds <= direct.rounds
        assert rounds_of(crossing(messages_of(hybrid))) <= direct.rounds


def test_fewest_rounds_for_any_number_of_processes():
    """No receiver waits in line: each round of full traffic keeps all of the smaller side busy."""
    for senders, receivers in itertools.product(range(1, 14), repeat=2):
        p = full(senders, receivers, "direct")
        busy = Counter(message[0] for message in simulate(p))
        assert p.rounds == max(senders, receivers)
        assert set(busy.values()) == {min(senders, receivers)}
    for processes in range(1, 14):
        p = full(processes, processes, "multistage")
        assert p.rounds == math.ceil(math.log2(processes)) + 1 if processes > 1 else 1


@pytest.mark.parametrize("strategy", ["staged", "centralized"])
def test_stages(strategy):
    for senders, receivers in itertools.product(range(1, 7), repeat=2):
        for stages in range(1, max(senders, receivers) + 1):
            p = full(senders, receivers, strategy, stages=stages)
            messages = simulate(p)
            assert len(crossing(messages)) == stages
            if stages == 1:  # gather, one message, scatter
                assert p.message_count == senders + receivers - 1
                assert p.steps("src", 0)[-1][1:3] == ("send", ("dst", 0))


@settings(max_examples=150, deadline=None)
@given(pairs(), st.sampled_from(NAMES[1:]), st.data())
def test_any_pair_of_layouts(pair, strategy, data):
    source, destination, axes = pair
    shared = min(source.size, destination.size)
    sources = data.draw(st.permutations(range(source.size)))[:shared]
    overlap = {d: s for d, s in enumerate(sources) if data.draw(st.booleans())}
    stages = None
    if strategy in ("staged", "centralized"):
        most = max(source.size, destination.size)
        stages = data.draw(st.none() | st.integers(1, most))
    p = hk.plan(
        source.layout(hk),
        destination.layout(hk),
        axes=axes,
        strategy=strategy,
        stages=stages,
        overlap=overlap,
    )
    direct = hk.plan(source.layout(hk), destination.layout(hk), axes=axes, overlap=overlap)
    for rank in range(source.size):
        assert p.sends(rank) == direct.sends(rank)
    messages = simulate(p, overlap)
    if strategy == "hybrid":
        both = hk.plan(
            source.layout(hk), destination.layout(hk), axes=axes, overlap=overlap, strategy="direct"
        )
        assert p.rounds <= both.rounds
        assert len(crossing(messages)) <= both.message_count


def test_explicit_segments_and_copies():
    source = hk.Layout.indexed((12,), [[(0, 5)], [], [(5, 3), (9, 3)], [(8, 1)]])
    destination = hk.Layout((12,), "(*)", 3, replicate=(0,))
    for strategy in NAMES:
        simulate(hk.plan(source, destination, strategy=strategy))
        simulate(hk.plan(destination, source, strategy=strategy))


def test_nothing_to_move():
    empty = hk.Layout((0, 5), "(BLOCK, *)", 3)
    for strategy in NAMES:
        p = hk.plan(empty, hk.Layout((0, 5), "(*, BLOCK)", 2), strategy=strategy)
        assert (p.message_count, p.rounds, p.elements_moved) == (0, 0, 0)
        same = hk.plan(empty, empty, strategy=strategy, overlap=[0, 1, 2])
        assert same.message_count == 0


def test_a_transposition_all_at_once_and_as_a_pipeline():
    """P(P - 1) messages of the data-parallel program, P²/4 of the pipeline (Foster et al.)."""
    for processes in (2, 4, 8, 16):
        whole = hk.Layout((64, 64), "(BLOCK, *)", processes)
        p = hk.plan(whole, whole, axes=(1, 0), overlap=range(processes), strategy="direct")
        assert p.message_count == len(messages_of(p)) == processes * (processes - 1)
        half = hk.Layout((64, 64), "(BLOCK, *)", processes // 2)
        p = hk.plan(half, half, axes=(1, 0), strategy="direct")
        assert p.message_count == len(messages_of(p)) == processes**2 // 4


# ---- the model ------------------------------------------------------------------------------


def costs(**given):
    return {"message": 0, "byte": 0, "copy": 0, "relay": 0, **given}


def test_predictions_by_hand():
    p = full(4, 2, "direct", itemsize=8)
    whole = 16 * 6 * 8
    seconds = p.predict(costs(message=1.0))
    assert seconds["direct"] == 4 and seconds["centralized"] == 3 + 2
    # A process that collects for one receiver also sends the other's elements; also in the hybrid's
    # staging.
    assert seconds["staged"] == 3 + 1 + 1 and seconds["hybrid"] == 3 + 1
    assert seconds["multistage"] == 1 + 2 + 1  # 1 to 2 and 3 to 0; 0 and 2 swap; across
    within = hk.Layout((16, 16), "(BLOCK, *)", 4)
    turned = hk.plan(within, within, axes=(1, 0), overlap=range(4), strategy="direct")
    assert turned.predict(costs(message=1.0))["direct"] == 3 + 3  # sent and received
    assert turned.predict(costs(byte=1.0))["direct"] == 3 * 4 * 4 * 8  # both ways side by side
    seconds = p.predict(costs(byte=1.0))
    assert seconds["direct"] == whole / 2 and seconds["centralized"] == whole * 3 / 4 + whole
    seconds = p.predict(costs(copy=1.0))
    assert seconds["direct"] == 0 and seconds["centralized"] == 2 * (whole * 3 / 4 + whole)
    seconds = p.predict(costs(relay=1.0))
    assert seconds == {"direct": 0, "centralized": 1, "staged": 1, "multistage": 2, "hybrid": 1}
    far = p.predict(costs(far_message=1.0))
    assert far["direct"] == 4 and far["staged"] == 1 and far["centralized"] == 2
    together = full(4, 2, "direct", nodes=([0] * 4, [0] * 2)).predict(costs(far_message=1.0))
    assert set(together.values()) == {0}


def test_the_processes_of_a_node_share_its_link():
    """Bytes between nodes add up on the link, each way; messages are each process's own."""
    p = full(4, 2, "direct", itemsize=8)
    whole = 16 * 6 * 8
    assert set(p.predict(costs(far_byte=1.0)).values()) == {whole}  # each side is a node
    assert set(p.predict(costs(far_byte=2.0, far_message=1e-9)).values()) != {2 * whole}
    # Two nodes of two senders, one of two receivers: one way in, whoever it comes from.
    one_in = full(4, 2, "direct", nodes=([7, 7, 10**12, 10**12], [-5, -5]))
    assert one_in.predict(costs(far_byte=1.0))["direct"] == whole
    # Two ways in: each receiver has its own, and a node of senders has as much to say.
    two_in = full(4, 2, "direct", nodes=([0, 0, 1, 1], [2, 3])).predict(costs(far_byte=1.0))
    assert two_in["direct"] == whole / 2
    # Half of the array comes to process 0 from another node; then all of it leaves its node.
    assert two_in["centralized"] == whole / 2 + whole
    # A node each: what is shared is shared with nobody.
    alone = full(4, 2, "direct", nodes=([0, 1, 2, 3], [4, 5])).predict(costs(far_byte=1.0))
    assert alone["direct"] == whole / 2 and alone["centralized"] == whole * 3 / 4 + whole
    # The sides overlap, and the nodes with them: what stays on a node takes no link.
    both = full(4, 4, "direct", nodes=([0, 0, 1, 1], [0, 0, 1, 1]), overlap=range(4))
    assert both.predict(costs(far_byte=1.0))["direct"] == 16 * 12 * 8 / 4
    # Without a cost between nodes there is no link that one could know of.
    assert p.predict(costs(byte=1.0))["direct"] == whole / 2


def test_on_a_shared_link_fewer_bytes_at_a_time_save_nothing():
    """Only messages could be saved: direct wins as soon as the link takes longer than they."""
    model = {"message": 1e-6, "byte": 1e-9, "copy": 0, "relay": 1e-5, "far_byte": 1e-9}
    few = hk.Layout((64, 64), "(BLOCK, *)", 32), hk.Layout((64, 64), "(*, BLOCK)", 32)
    many = hk.Layout((640, 640), "(BLOCK, *)", 32), hk.Layout((640, 640), "(*, BLOCK)", 32)
    assert hk.plan(*many, model=model).strategy == "direct"
    dear = {**model, "message": 1e-4}
    assert hk.plan(*few, model=dear).strategy == "multistage"


def test_what_shares_a_link_is_handled_when_the_link_is_done():
    """Senders that are ahead of the link: a receiver's messages come late, and all of them then."""
    sizes = {"itemsize": 8, "nodes": ([0] * 4, [1] * 2)}
    whole = 16 * 6 * 8
    # Two messages of each sender, four of each receiver: the link keeps up, or takes much longer.
    quick = full(4, 2, "direct", **sizes).predict(costs(far_message=10.0, far_byte=1e-3))
    assert quick["direct"] == 4 * 10 + whole / 2 * 1e-3
    slow = full(4, 2, "direct", **sizes).predict(costs(far_message=10.0, far_byte=1.0))
    assert slow["direct"] == pytest.approx(math.sqrt(whole**2 - 20**2) + 40)
    # One message a sender, then one a receiver: there is nobody to wait for in line.
    assert slow["staged"] == pytest.approx(math.sqrt(whole**2 - 10**2) + 10)
    # Passed on where it arrives: not before the link is done with what goes straight to others.
    back = full(2, 4, "hybrid", **{**sizes, "nodes": ([0] * 2, [1] * 4)})
    assert back.predict(costs(far_byte=1.0, relay=5.0))["hybrid"] == whole + 5


@pytest.mark.parametrize(
    ("senders", "receivers", "n", "message", "fastest"),
    [
        (8, 4, 256, 5e-5, "hybrid"),  # whose receivers handle fewer when the link is done
        (8, 2, 64, 5e-5, "hybrid"),
        (4, 16, 64, 1e-5, "hybrid"),
        (16, 16, 256, 5e-5, "direct"),  # the link keeps up with senders that take their time
        (4, 8, 1024, 5e-5, "direct"),  # nothing is passed on before the link is done
        (16, 16, 64, 5e-5, "multistage"),
    ],
)
def test_the_model_chooses_what_was_fastest_in_simulation(senders, receivers, n, message, fastest):
    """Two clusters with one link between: see `hocket bench strategies --place simulated`."""
    rows, columns = (
        hk.Layout((n, n), "(BLOCK,*)", senders),
        hk.Layout((n, n), "(*,BLOCK)", receivers),
    )
    machine = {"message": message, "byte": 8e-10, "copy": 0.0, "relay": message + 1e-5}
    machine |= {"far_message": message, "far_byte": 8e-10, "far_relay": message + 6e-5}
    nodes = [0] * senders, [1] * receivers
    assert hk.plan(rows, columns, itemsize=8, model=machine, nodes=nodes).strategy == fastest


def test_the_model_chooses():
    assert full(16, 8, "auto").strategy == "direct"  # on a node
    apart = {"message": 1e-6, "relay": 1e-5, "far_message": 1e-3}
    assert full(16, 8, "auto", model=apart).strategy == "staged"
    slow_start = {"message": 1e-3, "byte": 1e-12, "copy": 0, "relay": 0}
    assert full(16, 16, "auto", model=slow_start).strategy == "multistage"
    only_bytes = {"message": 0, "byte": 1e-9, "copy": 1e-9, "relay": 1e-6}
    assert full(16, 8, "auto", model=only_bytes).strategy == "direct"
    assert full(1, 1, "auto", model=slow_start).strategy == "direct"
    p = full(16, 16, "auto", model=slow_start)
    assert p.strategy == min(p.predict(), key=p.predict().get)
    lines = p.table().splitlines()
    assert {line.split()[-3] for line in lines[1:]} == set(NAMES)
    assert [line for line in lines if line.startswith("*")] == [lines[1]]


def test_predictions_of_plans_too_large_to_look_at():
    p = hk.plan(hk.Layout((10**9,), "(BLOCK)", 10**6), hk.Layout((10**9,), "(CYCLIC(10))", 10**5))
    seconds = p.predict()
    assert set(seconds) == set(NAMES) and all(0 < each < math.inf for each in seconds.values())
    assert p.strategy == "direct"
    # Of so many, some are looked at; the link that all of a side share carries everything.
    shared = p.predict({"far_byte": 1e-9})
    assert shared["direct"] == pytest.approx(8 * 10**9 * 1e-9, rel=1e-3)
    assert all(each >= 0.999 * shared["direct"] for each in shared.values())


def test_even_predictions_are_those_of_the_messages():
    """If each pair exchanges as much, the sums of the paper are those of the messages."""
    costs_there = {"message": 3e-6, "byte": 1e-9, "copy": 2e-10, "relay": 1e-6}
    small, large = full(256, 256, "direct"), full(257, 256, "direct")
    for far in ({}, {"far_byte": 1e-8, "far_message": 2e-6}):
        below, above = (p.predict({**costs_there, **far}) for p in (small, large))
        for name in NAMES:
            assert above[name] == pytest.approx(below[name], rel=0.2), (name, far)


# ---- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"strategy": "stagd"}, ["stagd", "did you mean", "'staged'"]),
        ({"strategy": "staged", "stages": 5}, ["stages=5", "1 to 4"]),
        ({"strategy": "centralized", "stages": 5}, ["stages=5", "1 to 4"]),
        ({"strategy": "staged", "stages": 0}, ["stages", "0"]),
        ({"strategy": "staged", "stages": -1}, ["stages", "-1"]),
        ({"strategy": "staged", "stages": "two"}, ["stages", "two"]),
        ({"strategy": "direct", "stages": 1}, ["stages=1", "'direct'", "leave stages out"]),
        ({"strategy": "multistage", "stages": 1}, ["stages=1", "'multistage'"]),
        ({"strategy": "auto", "stages": 1}, ["stages=1", "'staged'"]),
        ({"strategy": "auto", "nodes": ([0], [0, 0])}, ["nodes", "source", "4"]),
        ({"strategy": "auto", "nodes": ([0] * 4, [])}, ["one side only"]),
        ({"strategy": "auto", "nodes": 3}, ["nodes", "3"]),
        ({"strategy": "auto", "model": {"mesage": 1}}, ["mesage"]),
        ({"strategy": "auto", "model": {"message": -1}}, ["message", "-1"]),
        ({"strategy": "staged", "overlap": {0: 1, 1: 1}}, ["one-to-one"]),
    ],
)
def test_what_no_strategy_can_do(options, named):
    with pytest.raises(hk.LayoutError) as caught:
        full(4, 2, **options)
    for value in named:
        assert value in str(caught.value)


def test_too_many_messages_to_pass_on():
    source = hk.Layout((10**8,), "(BLOCK)", 10**4)
    p = hk.plan(source, hk.Layout((10**8,), "(CYCLIC)", 10**4), strategy="centralized")
    assert len(p.sends(3)) == 10**4  # logical traffic costs no such look
    with pytest.raises(hk.LayoutError, match="use strategy 'direct'"):
        p.steps("src", 0)


def test_each_process_finds_its_own_messages():
    source = hk.Layout((10**8,), "(BLOCK)", 10**4)
    p = hk.plan(source, hk.Layout((10**8,), "(CYCLIC)", 10**4), strategy="multistage")
    steps = p.steps("dst", 6)
    assert steps == [(14, "recv", ("src", 6), 10**4)] and p.rounds == 15
    assert sum(n for *_, n in p.cargo("dst", 6)[0]) == 10**4
    with pytest.raises(hk.LayoutError, match="use strategy 'direct'"):
        print(p.message_count)
    assert str(p).endswith("multistage: 15 rounds")
    assert "strategy     multistage: 15 rounds\n" in p.explain()


def test_totals_of_own_messages():
    source, target = hk.Layout((7000,), "(BLOCK)", 350), hk.Layout((7000,), "(CYCLIC(3))", 350)
    p = hk.plan(source, target, strategy="staged")
    steps = [step for rank in range(350) for step in p.steps("src", rank)]
    sent = [elements for _, verb, _, elements in steps if verb == "send"]
    assert (p.message_count, p.elements_moved) == (len(sent), sum(sent))


def test_models_as_text():
    given = {**hk.costs.DEFAULT, "message": 1.25e-6, "far_byte": 8e-9}
    assert hk.costs.parse(hk.costs.text_of(given)) == given
    assert hk.costs.parse("# nothing\n\n message = 1 # a second\n")["message"] == 1.0
    assert set(hk.costs.MEANING) == set(hk.costs.DEFAULT)
    for text, named in (
        ("message 1", "line 1"),
        ("\nmesage = 1", "did you mean 'message'"),
        ("byte = fast", "'byte = fast'"),
        ("byte = -1", "0 or more"),
        ("byte = 1e999", "byte"),
    ):
        with pytest.raises(hk.Error, match=named):
            hk.costs.parse(text)
