# SPDX-License-Identifier: BSD-3-Clause
"""One picture of what all ranks did when: `hk.run(trace=)` and `hocket run --trace`."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import hocket as hk
from hocket import tracing

STEPS = ("inquiry", "call", "descriptor", "schedule", "pack", "move")

PROGRAM = """
import time

import hocket as hk
from mpi4py import MPI

time.sleep(0.3 * MPI.COMM_WORLD.rank)  # the others wait for the last
world = hk.tasks()
dist = "(BLOCK, *)" if world.name == "rows" else "(*, BLOCK)"
layout = hk.Layout((64, 64), dist, world.comm.size)
array = hk.zeros(layout, "float64", comm=world.comm)
if world.name == "rows":
    world.send(array, "cols", tag=7)
    request = world.send_init(array, "cols", tag=8)
else:
    world.recv(array, "rows", tag=7)
    request = world.recv_init(array, "rows", tag=8)
for _ in range(3):
    request.start()
    request.wait()
"""


def events(path):
    """The contents of a file of Perfetto's: events by the name of their process."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    names = {
        event["pid"]: event["args"]["name"] for event in found if event["name"] == "process_name"
    }
    out = defaultdict(list)
    for event in found:
        out[names[event["pid"]]].append(event)
    return out


def tracks(of_process):
    """The operations of a process: (the operation's begin, names of its steps), each checked to
    be a sequence of slices within the operation's own."""
    by_id = defaultdict(list)
    for event in of_process:
        if event["ph"] in "be":
            by_id[event["id2"]["local"]].append(event)
    for of_one in by_id.values():
        ordered = sorted(of_one, key=lambda event: event["ts"])  # as Perfetto does: stable
        whole, steps, inside = ordered[0], [], None
        assert whole["ph"] == "b" and ordered[-1]["ph"] == "e"
        assert ordered[-1]["name"] == whole["name"]
        for event in ordered[1:-1]:
            assert event["name"] in STEPS
            assert inside == (None if event["ph"] == "b" else event["name"])
            inside = event["name"] if event["ph"] == "b" else None
            steps += [event["name"]] if event["ph"] == "b" else []
        yield whole, steps


def test_a_run_of_tasks_leaves_one_picture_of_all_ranks(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    target = tmp_path / "run.json"
    line = [sys.executable, "-m", "hocket", "run", "--trace", str(target)]
    line += [f"rows=2:{program}", f"cols=1:{program}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = events(target)
    assert sorted(seen) == [
        "rank 0 (task 'rows', process 0)",
        "rank 1 (task 'rows', process 1)",
        "rank 2 (task 'cols', process 0)",
    ]
    waited_for = set()
    for name, found in seen.items():
        operations = list(tracks(found))
        verb = "recv from task 'rows'" if "cols" in name else "send to task 'cols'"
        assert [whole["name"] for whole, _ in operations].count(verb) == 4  # once, then three times
        first, steps = next(each for each in operations if each[0]["name"] == verb)
        rows = 64 if "cols" in name else 32
        assert first["args"]["bytes"] == rows * 64 * 8
        assert first["args"]["tag"] == 7
        assert "float64 (64, 64)" in first["args"]["array"]
        assert steps[:2] == ["descriptor", "schedule"] and "move" in steps
        prepared = [whole["args"]["tag"] for whole, _ in operations if "_init" in whole["name"]]
        assert prepared == [8]
        waits = [event for event in found if event["name"] == "wait"]
        waited_for |= {event["args"]["for"] for event in waits}
        assert all(event["dur"] >= 0 for event in waits)
    assert waited_for and all(waited_for)


def arrows(found):
    """The ends of arrows by id: those that leave and those that come, each checked to lie within
    a slice of its thread."""
    slices = defaultdict(list)
    for event in found:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    ends = defaultdict(lambda: {"s": [], "f": []})
    for event in found:
        if event["ph"] in "sf":
            near = slices[event["pid"], event["tid"]]
            assert any(one["ts"] <= event["ts"] <= one["ts"] + one["dur"] for one in near)
            assert event["ph"] == "s" or event["bp"] == "e"
            ends[event["id"]][event["ph"]].append(event)
    return ends


@pytest.mark.parametrize("strategy", ["direct", pytest.param("staged", marks=pytest.mark.soak)])
def test_an_arrow_leads_from_each_send_to_its_receive(tmp_path, strategy):
    def part(world):
        layout = hk.Layout((12, 12), "(BLOCK, *)", world.comm.size)
        array = hk.zeros(layout, "float64", comm=world.comm)
        if world.name == "rows":
            world.send(array, "cols", strategy=strategy)
            request = world.send_init(array, "cols")
        else:
            world.recv(array, "rows", strategy=strategy)
            request = world.recv_init(array, "rows")
        for _ in range(2):
            request.start()
            request.wait()
        spread = hk.redistribute(array, hk.Layout((12, 12), "(*, BLOCK)", world.comm.size))
        assert spread.local.size == array.local.size

    target = tmp_path / "run.json"
    hk.run(part, tasks={"rows": 2, "cols": 3}, trace=target)
    found = json.loads(target.read_text(encoding="utf-8"))
    pids = {e["args"]["name"][:6]: e["pid"] for e in found if e["name"] == "process_name"}
    rank_of = {pid: int(name[-1]) for name, pid in pids.items()}
    led = defaultdict(int)
    for ends in arrows(found).values():
        (leaves,), (comes,) = ends["s"], ends["f"]
        assert leaves["ts"] < comes["ts"] and leaves["name"] == comes["name"]
        led[rank_of[leaves["pid"]], rank_of[comes["pid"]]] += 1
    between = {(0, 2): 3, (0, 3): 3, (1, 3): 3, (1, 4): 3}  # rows 0 to 5, 6 to 11; and 4 by 4
    within = {(a, b): 1 for task in ((0, 1), (2, 3, 4)) for a in task for b in task if a != b}
    assert led == {**between, **within}


def test_moves_of_operations_on_arrays_are_those_of_explain(tmp_path):
    def part(comm):
        a = hk.ones(hk.Layout((64, 64), "(BLOCK, *)", 2), comm=comm)
        b = hk.ones(hk.Layout((64, 64), "(*, BLOCK)", 2), comm=comm)
        texts = hk.explain(np.add, a, b), hk.explain(np.add, a, a)
        for x, y in ((a, b), (a, a)):
            x + y
        return texts

    target = tmp_path / "run.json"
    moves, stays = hk.run(part, ranks=2, trace=target)[0]
    assert moves.count("nothing moves") == 1 and stays.count("nothing moves") == 2
    for found in events(target).values():
        calls = [e["args"]["call"] for e in found if e["name"] == "redistribute" and e["ph"] == "b"]
        # The one operand that moves, to the layout of the result.
        assert calls == [
            "redistribute(float64 (64, 64) (*, BLOCK) @ (2) to float64 (64, 64) (BLOCK, *) @ (2))"
        ]


def test_steps_of_a_flow_are_slices_of_the_threads_that_ran_them(tmp_path):
    def part(comm):
        import threading

        hk.Team(comm).wait()  # by which the processes tell each other who they are
        meet = threading.Barrier(2, timeout=100)
        with hk.Flow(2, agent="steps") as f:
            f.task(meet.wait, name="left")
            f.task(meet.wait, name="right")
            f.comm(comm.Ibarrier, outputs=["met"], name="all")
            f.task(lambda: None, inputs=["met"], name="after")

    target = tmp_path / "run.json"
    hk.run(part, ranks=1, trace=target)
    (found,) = events(target).values()
    slices = {event["name"]: event for event in found if event["ph"] == "X"}
    left, right, after = (slices[f"step '{name}'"] for name in ("left", "right", "after"))
    assert left["tid"] != right["tid"]
    named = {e["tid"]: e["args"]["name"] for e in found if e["name"] == "thread_name"}
    assert "worker 1" in (named.get(left["tid"]), named.get(right["tid"]))
    begun, ended = sorted(e["ts"] for e in found if e["name"] == "step 'all'" and e["ph"] in "be")
    assert begun <= ended <= after["ts"]


def test_a_run_that_fails_leaves_what_it_did_until_then(tmp_path):
    def part(comm):
        import time

        layout = hk.Layout((8,), "(BLOCK)", 2)
        hk.redistribute(hk.zeros(layout, "int32", comm), hk.Layout((8,), "(CYCLIC)", 2))
        time.sleep(0.1)  # longer than what is recorded may take to be written
        comm.Barrier()
        hk.redistribute(hk.zeros(layout, "int32", comm), layout)
        raise ValueError('no "such" thing')

    target = tmp_path / "run.json"
    with pytest.raises(hk.Error, match="such"):
        hk.run(part, ranks=2, trace=target)
    seen = events(target)
    assert sorted(seen) == ["rank 0", "rank 1"]
    for found in seen.values():
        begun = [event for event in found if event["name"] == "redistribute"]
        assert begun and begun[0]["args"]["call"].startswith("redistribute(int32 (8) (BLOCK)")


def part(folder, host, process, begin, times):
    """The file of a process, with an event at each of these times."""
    clock = {"name": "hocket_clock", "args": {"host": host, "begin": begin}}
    lines = [{"pid": process, "tid": process, "ph": "M", **clock}]
    lines += [
        {"pid": process, "tid": process, "ph": "X", "name": f"of {host}", "ts": at, "dur": 1.0}
        for at in times
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + ",\n" for line in lines)
    (folder / f"trace.{host}.{process}.json").write_text(f"[\n{text}{{}}]\n")


def test_hosts_with_clocks_and_process_numbers_of_their_own_are_one_picture(tmp_path):
    part(tmp_path, "h1", 40, 7_000_000, [5.0, 6.0])
    part(tmp_path, "h1", 41, 7_000_009, [5.5])  # a clock of one host is the same for all
    part(tmp_path, "h2", 40, 1_000_000, [6_000_007.25])
    assert tracing.merge(tmp_path, tmp_path / "run.json") == 4
    found = json.loads((tmp_path / "run.json").read_text())
    assert [each["ts"] for each in found] == [5.0, 6.0, 5.5, 7.25]
    assert len({each["pid"] for each in found}) == 3
    assert [each["pid"] for each in found][:3] == [40, 40, 41]


def test_a_picture_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    missing = tmp_path / "missing" / "run.json"
    with pytest.raises(hk.Error, match=r"cannot be written.*give the name of a file"):
        hk.run(lambda comm: None, ranks=1, trace=missing)
    line = [sys.executable, "-m", "hocket", "run", "--trace", str(missing), "1:/bin/true"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "--trace is" in done.stderr
