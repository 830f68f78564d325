# SPDX-License-Identifier: BSD-3-Clause
"""The timing harness: what it counts, what it refuses to count, and the baselines it compares."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from hocket.bench import native, overview, registry
from hocket.bench.command import main
from hocket.bench.group import Group
from hocket.bench.harness import (
    Contestant,
    Effort,
    Figure,
    Step,
    UnavailableError,
    WrongResultError,
    measure,
)
from hocket.bench.record import Question, answer, as_json
from hocket.bench.table import render, seconds

from json_keys import require_keys

QUICK = Effort(warmup=1, seconds=0.0, min_runs=4, max_runs=4, sample_seconds=0.0)


def counter(name: str, calls: list[str], work: Callable[[], None] = lambda: None) -> Contestant:
    """A contestant that writes its name into `calls` and sets a cell that is checked."""
    cell = [0]

    def run() -> None:
        work()
        calls.append(name)
        cell[0] = 1

    def check() -> None:
        if cell[0] != 1:
            raise WrongResultError(f"cell is {cell[0]}, not 1")

    def spoil() -> None:
        cell[0] = 0

    return Contestant(name, lambda: Step(run, check, spoil))


def broken(name: str) -> Contestant:
    """Right once, and then never again: its numbers must not survive."""
    runs = [0]

    def check() -> None:
        if runs[0] > 1:
            raise WrongResultError(f"broken in run {runs[0]}")

    def run() -> None:
        runs[0] += 1

    return Contestant(name, lambda: Step(run, check, lambda: None))


def test_contestants_take_turns_in_changing_order() -> None:
    calls: list[str] = []
    measure([counter(name, calls) for name in "abc"], Group(), Effort(1, 0.0, 6, 6, 0.0))
    # One verification each, two warm-up rounds, six rounds, one verification each.
    assert len(calls) == 3 + 6 + 18 + 3
    rounds = ["".join(calls[9 + 3 * k : 12 + 3 * k]) for k in range(6)]
    assert rounds == ["abc", "bca", "cab", "cba", "acb", "bac"]


class Hours:
    """A clock that goes on only when somebody works: figures that no other program disturbs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.group = Group()
        self.group.clock = lambda: self.now

    def worker(self, name: str, calls: list[str], takes: float) -> Contestant:
        def work() -> None:
            self.now += takes

        return counter(name, calls, work)


def test_each_run_is_one_sample_of_the_largest_time() -> None:
    figures = measure([counter("sleeps", [], lambda: time.sleep(2e-3))], Group(), QUICK)
    assert len(figures[0].samples) == 4
    assert min(figures[0].samples) >= 2e-3


def test_short_calls_are_timed_together() -> None:
    calls: list[str] = []
    hours = Hours()
    contestants = [hours.worker("short", calls, 2.0**-15), hours.worker("long", [], 2.0**-9)]
    effort = Effort(1, 0.0, 2, 2, sample_seconds=2.0**-10)
    short, long = measure(contestants, hours.group, effort)
    assert short.calls_per_run == 32 and long.calls_per_run == 1
    # Verified once, warmed up with one call and with a sample, two samples, verified again.
    assert len(calls) == 1 + 1 + 32 + 2 * 32 + 1
    assert short.samples == [2.0**-15] * 2 and long.samples == [2.0**-9] * 2


def test_half_a_pingpong_is_half_the_time() -> None:
    hours = Hours()
    figure = measure([hours.worker("a", [], 4.0)], hours.group, QUICK, steps_per_call=2)[0]
    assert figure.samples == [2.0] * 4


def test_rounds_end_with_the_time_but_not_before_the_least_count() -> None:
    hours = Hours()
    few = measure([hours.worker("a", [], 2.0)], hours.group, Effort(1, 0.0, 3, 99, 0.0))
    assert len(few[0].samples) == 3
    some = measure([hours.worker("a", [], 2.0)], hours.group, Effort(1, 19.0, 1, 99, 0))
    assert len(some[0].samples) == 10


def test_a_wrong_result_is_an_error_and_not_a_number() -> None:
    never = Contestant("never runs", lambda: Step(lambda: None, _fail, lambda: None))
    figures = measure([never, broken("breaks later"), counter("right", [])], Group(), QUICK)
    wrong, later, right = figures
    assert wrong.error == "wrong result: not done" and wrong.samples == []
    assert later.error is not None and "broken in run" in later.error and later.samples == []
    assert right.error is None and len(right.samples) == 4
    table = as_json(answer(Question({"n": 1}), figures))
    assert "median" not in table["figures"][0] and "median" not in table["figures"][1]
    assert "ERROR, wrong result: not done" in render(answer(Question({"n": 1}), figures))


def _fail() -> None:
    raise WrongResultError("not done")


def test_a_stale_result_does_not_pass() -> None:
    result = np.zeros(3)

    def check() -> None:
        if not (result == 1).all():
            raise WrongResultError("stale")

    result[:] = 1  # right from the start, but `run` does nothing
    idle = Contestant("idle", lambda: Step(lambda: None, check, lambda: result.fill(np.nan)))
    assert measure([idle], Group(), QUICK)[0].error == "wrong result: stale"


def test_exceptions_and_absent_contestants_leave_the_others_alone() -> None:
    def explode() -> Step:
        raise OSError("no such device")

    def missing() -> Step:
        raise UnavailableError("the peer is not installed")

    closed: list[bool] = []
    good = counter("good", []).prepare()
    step = Step(good.run, good.check, good.spoil, lambda: closed.append(True))
    figures = measure(
        [Contestant("a", explode), Contestant("b", missing), Contestant("c", lambda: step)],
        Group(),
        QUICK,
    )
    assert figures[0].error is not None and "OSError: no such device" in figures[0].error
    assert figures[1].absent == "the peer is not installed" and figures[1].error is None
    assert len(figures[2].samples) == 4 and closed == [True]


def test_two_contestants_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        measure([counter("a", []), counter("a", [])], Group(), QUICK)


@pytest.mark.parametrize("bad", [{"warmup": 0}, {"min_runs": 9, "max_runs": 8}, {"seconds": -1.0}])
def test_an_impossible_effort_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="need"):
        Effort(**bad)


def test_statistics_and_ratios() -> None:
    figures = [
        Figure("limit", [1.0, 2.0, 3.0]),
        Figure("slow peer", [8.0] * 3),
        Figure("fast peer", [4.0, 4.0, 400.0]),
        Figure("ours", [2.5] * 100 + [10.0]),
    ]
    question = Question({}, baseline=("slow peer", "fast peer", "absent"), limit=("limit",))
    result = answer(question, figures)
    assert (result.baseline, result.limit) == ("fast peer", "limit")
    ours = result.lines[3]
    assert (ours.median, ours.minimum, ours.runs) == (2.5, 2.5, 101)
    assert ours.percentile_99 == pytest.approx(float(np.percentile(figures[3].samples, 99)))
    assert ours.of_limit == pytest.approx(0.8) and ours.speedup == pytest.approx(1.6)
    table = as_json(result, keep_samples=True)
    assert table["figures"][0]["samples"] == [1.0, 2.0, 3.0]
    assert "samples" not in as_json(result)["figures"][0]
    json.dumps(table, allow_nan=False)


def test_a_sample_that_is_no_number_is_an_error() -> None:
    result = answer(Question({}, limit=("a",)), [Figure("a", [1.0, math.nan]), Figure("b")])
    assert result.limit is None
    assert [line.median for line in result.lines] == [None, None]
    assert [line.error is not None for line in result.lines] == [True, True]


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2.00 s"), (0.0221, "22.1 ms"), (123e-6, "123 us"), (135e-9, "135 ns"), (None, "-")],
)
def test_times_read_well(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_native_program_s_lines() -> None:
    text = (
        'noise\n{"program":"p","mpi":"m"}\n'
        '{"parameters":{"bytes":8},"baseline":["a"],"limit":[],"bytes":8,"figures":'
        '[{"name":"a","calls_per_run":3,"samples":[1e-6,2e-6]},{"name":"b","error":"lost"}]}\n'
    )
    about, tables = native.read(text)
    assert about is not None and about["mpi"] == "m"
    result = answer(*tables[0])
    assert result.lines[0].median == pytest.approx(1.5e-6) and result.lines[1].error == "lost"
    with pytest.raises(ValueError, match="line 1"):
        native.read('{"parameters":{}}')


def test_every_case_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    shown = capsys.readouterr().out
    for name in registry.names():
        assert f"  {name} " in shown
    assert {"pingpong", "plan", "redistribute"} <= set(registry.names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["redistribut"], "did you mean 'redistribute'?"),
        (["redistribute", "--pair", "(BLOCK,*)"], "two distributions with ->"),
        (["redistribute", "--pair", "(BLOK,*) -> (*,BLOCK)"], "'BLOK'"),
        (["redistribute", "--shape", "8,x"], "--shape 8,x"),
        (["redistribute", "--shape", "8,8,8"], "one a dimension"),
        (["redistribute", "--json", "/nowhere/at/all.json"], "cannot be written"),
        (["redistribute", "--peer", "missing.py"], "no such file"),
        (["redistribute", "--ranks", "0"], "give 1 or more"),
        (["pingpong", "--ranks", "3"], "2 processes"),
        (["redistribute", "--min-runs", "0"], "need warmup"),
        (["redistribute", "--timeout", "0"], "above 0"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


# Under MPI: the whole command, with a peer file that brings contestants of its own.
PEER = """
import time
from hocket.bench.harness import Contestant, Step, WrongResultError

def contestants(problem):
    rank, size = problem.comm.Get_rank(), problem.comm.Get_size()
    def fail_on_last():
        if rank == size - 1:
            raise WrongResultError("only here")
    def wait_on_last():
        if rank == size - 1:
            time.sleep(0.005)
    nothing = lambda: None
    return [
        Contestant("wrong on the last", lambda: Step(nothing, fail_on_last, nothing)),
        Contestant("slow on the last", lambda: Step(wait_on_last, nothing, nothing)),
    ]
"""

BASELINES = (
    "flat copy",
    "strided copy, NumPy",
    "Alltoallw, prebuilt types",
    "pack + Alltoall + unpack",
)


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: started from here it would share this one's MPI."""
    return subprocess.run(
        [sys.executable, "-m", "hocket.bench", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).resolve().parents[2] / "bench",
    )


def needs_mpi() -> None:
    beside = Path(sys.executable).parent / "mpiexec"
    if not beside.exists() and shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec here")


@pytest.mark.parametrize(
    ("ranks", "pair", "shape"),
    [
        (1, "(BLOCK,*) -> (*,CYCLIC)", "5,6"),
        (2, "(BLOCK,*) -> (*,BLOCK)", "16,24"),
        (3, "(BLOCK,CYCLIC(2)) -> (CYCLIC(3),*)", "17,13"),
        (3, "(CYCLIC(3)) -> (BLOCK)", "2"),
    ],
)
def test_the_whole_command(ranks: int, pair: str, shape: str, tmp_path: Path) -> None:
    needs_mpi()
    peer, report = tmp_path / "peer.py", tmp_path / "report.json"
    peer.write_text(PEER)
    quick = ("--seconds", "0", "--sample-seconds", "0", "--min-runs", "3", "--timeout", "120")
    problem = ("--ranks", str(ranks), "--pair", pair, "--shape", shape)
    done = bench("redistribute", *quick, *problem, "--peer", str(peer), "--json", str(report))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "wrong on the last" in done.stderr
    document = json.loads(report.read_text())
    assert document["ranks"] == ranks and document["threads"] == 1
    assert document["mpi"]["library"] and document["machine"]["cpu"] and document["date"]
    assert document["method"]["warmup_rounds"] >= 1
    (table,) = document["tables"]
    require_keys("bench", document)
    require_keys("bench table", table)
    figures = {figure["name"]: figure for figure in table["figures"]}
    for name in BASELINES:
        require_keys("bench figure", figures[name])
        assert figures[name]["runs"] == 3, figures[name]
        assert 0 < figures[name]["minimum"] <= figures[name]["median"]
        assert figures[name]["median"] <= figures[name]["percentile_99"]
    wrong = figures["wrong on the last"]
    assert "median" not in wrong
    assert wrong["error"].endswith("wrong result: only here")
    # A step takes as long as its slowest process, although process 0 writes the report.
    assert figures["slow on the last"]["minimum"] >= 0.005


def test_native_team() -> None:
    needs_mpi()
    try:
        native.program("hocket_bench_team")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    options = ["--type", "int32", "--seconds", "0", "--min-runs", "3", "--timeout", "120"]
    done = bench("team", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    for operation in ("wait", "enqueue and its first wait", "scan_or", "vote_count"):
        assert f"C++, operation {operation}," in done.stdout, operation
    assert "raw flags" in done.stdout and "from Python" in done.stdout


def test_native_pingpong() -> None:
    needs_mpi()
    try:
        native.program("hocket_bench_pingpong")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    done = bench("pingpong", "--size", "3", "--seconds", "0", "--min-runs", "3", "--timeout", "120")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "C++, step half a ping-pong, bytes 72" in done.stdout
    assert done.stdout.count("MPI_Send/MPI_Recv") >= 1


def test_the_page_of_all_benchmarks_begins_with_the_worst() -> None:
    def table(name: str, ours: float, **ratios: float) -> dict[str, Any]:
        return {
            "parameters": {"shape": [4, 5], "step": name},
            "baseline": "MPI",
            "limit": "flat copy",
            "figures": [
                {"name": "MPI", "median": 1.0, "speedup": 1.0},
                {"name": "hocket", "median": ours, **ratios},
            ],
        }

    tables = [
        table("slow", 4.0, speedup=0.25, of_limit=0.2),
        table("fast", 0.5, speedup=2.0),
        {**table("lost", 2.0), "language": "C++"},
    ]
    machine = {"cpu": "a processor", "cores_allowed": 2, "system": "Linux 6"}
    words = ["--ranks", "16", "--json", "/tmp/b.json", "--hptt", "/lib/libhptt.so"]
    report = {
        "benchmark": "b",
        "arguments": words,
        "date": "2026-01-02T03:04",
        "machine": machine,
        "tables": tables,
    }
    text = overview.page([report], {"linpack": "no time"})
    rows = [line for line in text.splitlines() if line.startswith("| ") and "ratio" not in line]
    assert [row.split("|")[1].strip() for row in rows] == ["0.25", "2.00", "0.20"]
    assert "shape 4x5, step slow" in rows[0] and "4.00 s" in rows[0]
    assert (
        "in 1 of 2 figures, and its fastest way in 1 of 2 tables" in text
        and "`linpack`: no time" in text
        and "`hocket bench b --ranks 16 --hptt libhptt.so`" in text
    )


def test_all_goes_on_from_kept_reports(tmp_path, capsys):
    names = [name for name in registry.names() if name not in overview.LEFT_OUT]
    machine = {"cpu": "a processor", "cores_allowed": 2, "system": "Linux 6"}
    for number, name in enumerate(names[1:]):
        figure = {"name": "hocket", "median": 1.0, "speedup": number + 0.5}
        table = {"parameters": {}, "baseline": "MPI", "limit": None, "figures": [figure]}
        report = {"benchmark": name, "arguments": [], "date": "2026-01-02"}
        report |= {"machine": machine, "tables": [table]}
        (tmp_path / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")
    page = tmp_path / "page.md"
    words = ["--all", "--reports", str(tmp_path), "--page", str(page), "--only", names[1]]
    assert main(words) == 0
    text = page.read_text(encoding="utf-8")
    assert f"1 of {len(names) - 1} figures" in text
    assert f"`{names[0]}`: not measured; hocket bench {names[0]}" in text
    assert main([*words[:-1], "nonsense"]) == 2
    assert "no benchmark is called 'nonsense'" in capsys.readouterr().err
