# SPDX-License-Identifier: BSD-3-Clause
"""`hk.run`: what comes back, what is reported, and that nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import hocket as hk
from hocket import _mpi, launch, mpiexec, processes


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path, monkeypatch):
    """Every run's folder lies here, and is gone afterwards."""
    place = tmp_path / "runs"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    assert list(place.glob("hocket-*")) == []
    assert _of_runs(place) == []


def _of_runs(place: Path) -> list[int]:
    """Living processes that belong to a run whose folder lies in `place`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOCKET_RUN={place}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def seat(world):
    return world.name, world.comm.rank, os.environ["HOCKET_TASKS"]


def test_results_come_back_by_task_and_process():
    results = hk.run(seat, tasks={"rows": 2, "cols": 1})
    text = "rows=2,cols=1"
    assert results == {"rows": [("rows", 0, text), ("rows", 1, text)], "cols": [("cols", 0, text)]}


def test_results_come_back_by_rank_from_a_lambda():
    factor = 10
    assert hk.run(lambda comm, offset: comm.rank * factor + offset, ranks=3, args=(7,)) == [
        7,
        17,
        27,
    ]


def test_a_function_without_an_argument_is_called_without():
    assert hk.run(lambda: os.getpid() != 0, ranks=2) == [True, True]
    assert hk.run(lambda: "here", tasks={"only": 1}) == {"only": ["here"]}


def test_what_ranks_print_is_printed_here(capfd):
    hk.run(lambda comm: print(f"hello from {comm.rank}\nand again"), ranks=2)
    lines = sorted(capfd.readouterr().out.splitlines())
    assert lines == ["and again", "and again", "hello from 0", "hello from 1"]


def raise_on_cols(world):
    if world.name == "cols" and world.comm.rank == 1:
        raise ValueError("no such thing")
    time.sleep(1000)


def test_an_exception_ends_everything_and_is_told_once(capfd):
    begun = time.monotonic()
    with pytest.raises(hk.Error) as caught:
        hk.run(raise_on_cols, tasks={"rows": 1, "cols": 2})
    assert time.monotonic() - begun < 300  # of the 1000 that the others sleep
    text = str(caught.value)
    assert text.startswith("rank 2 (task 'cols', process 1) raised ValueError: no such thing")
    assert "Traceback" in text and "raise_on_cols" in text and "rank.py" not in text
    assert capfd.readouterr().err.count("ValueError: no such thing") == 2  # headline, traceback


def test_the_first_failure_is_reported_and_the_others_named(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 3.0)  # for the other to fail too

    def fail(comm):
        comm.barrier()
        raise KeyError("same")

    with pytest.raises(hk.Error) as caught:
        hk.run(fail, ranks=2)
    said = str(caught.value)
    # Which is first is the system's to say.
    first = 0 if "rank 0 raised KeyError: 'same'" in said else 1
    assert f"rank {first} raised KeyError: 'same'" in said
    assert f"rank {1 - first} did the same" in said


def test_exit_with_a_status_is_a_failure_and_without_is_none():
    with pytest.raises(hk.Error, match="SystemExit: 3"):
        hk.run(lambda: sys.exit(3), ranks=1)
    assert hk.run(lambda: sys.exit(0), ranks=1) == [None]


def test_a_crash_names_the_rank(capfd):
    def crash(comm):
        if comm.rank == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(1000)

    with pytest.raises(hk.PeerLostError, match=r"^rank 1 ended without a word") as caught:
        hk.run(crash, ranks=2)
    assert "rank 0" not in str(caught.value)
    assert "in crash" in capfd.readouterr().err  # faulthandler's report, passed on


class Clock:
    """A clock that jumps far ahead at `jump`: no test waits for a real deadline."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def __getattr__(self, name: str):
        return getattr(time, name)

    def jump(self) -> None:
        self.ahead = 1e6


def wait_for_each_other(world):
    def tell():
        while not _mpi.pending_waits():
            time.sleep(0.01)
        print("ready", flush=True)

    a = hk.zeros(hk.Layout((4,), "(BLOCK)", 1), comm=world.comm)
    threading.Thread(target=tell, daemon=True).start()
    world.recv(a, 1 - world.rank)


def test_a_timeout_says_where_every_rank_stood_and_has_it_print_what_it_waits_for(monkeypatch):
    clock, lines = Clock(), []
    monkeypatch.setattr(processes, "time", clock)

    def on_line(rank, stream, line):
        lines.append(line)
        if lines.count("ready") == 2:
            clock.jump()

    with pytest.raises(hk.DeadlineError) as caught:
        tasks = {"left": 1, "right": 1}
        hk.run(wait_for_each_other, tasks=tasks, timeout=1000, on_line=on_line)
    text = str(caught.value)
    assert "rank 0 (task 'left', process 0) stood here" in text
    assert "rank 1 (task 'right', process 0) stood here" in text
    assert text.count("in wait_for_each_other") == 2
    assert sum("hocket has been waiting for" in line for line in lines) == 2


def return_early(world):
    if world.name == "early":
        return
    stands = Path(os.environ["HOCKET_RUN"], "0.stack")
    while "at its end" not in stands.read_text():
        time.sleep(0.01)
    print("ready", flush=True)
    time.sleep(100)  # a receive from it would end by itself


def test_a_timeout_tells_who_had_returned(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(processes, "time", clock)
    tasks = {"early": 1, "late": 1}
    with pytest.raises(hk.DeadlineError) as caught:
        hk.run(return_early, tasks=tasks, timeout=1000, on_line=lambda *_: clock.jump())
    early, late = str(caught.value).split("rank 1 (task 'late'")
    assert "at its end: the function had returned" in early
    assert "in return_early" in late


def test_a_real_timeout_ends_the_run():
    begun = time.monotonic()
    with pytest.raises(hk.DeadlineError, match="1 process had not ended after 2 s"):
        hk.run(lambda: time.sleep(100), ranks=1, timeout=2)
    assert time.monotonic() - begun < 60


def test_a_result_that_cannot_be_sent_back_is_reported():
    with pytest.raises(
        hk.Error, match=r"returned an object of type _thread.lock, which cannot be sent back"
    ):
        hk.run(lambda: threading.Lock(), ranks=1)


def test_a_distributed_array_is_not_sent_back():
    """It would come back as an array of the one process that calls."""

    def program(comm):
        made = hk.zeros(hk.Layout((4,), "(BLOCK)", comm.size), comm=comm)
        return {"mine": made.local, "all": made}

    with pytest.raises(hk.Error, match=r"cannot be sent back: a distributed array.*a\.gather\(\)"):
        hk.run(program, ranks=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "neither"),
        ({"ranks": 2, "tasks": {"a": 1}}, "both"),
        ({"ranks": 0}, "ranks asks for 0 processes"),
        ({"ranks": -1}, "at least 1"),
        ({"ranks": 1.5}, "1.5"),
        ({"ranks": True}, "True"),
        ({"tasks": {}}, "must be a dict"),
        ({"tasks": ["a"]}, "must be a dict"),
        ({"tasks": {"a": 0}}, "task 'a' asks for 0"),
        ({"tasks": {"a b": 1}}, "'a b' is no name"),
        ({"tasks": {"a=b": 1}}, "is no name"),
        ({"tasks": {3: 1}}, "3 is no name"),
        ({"tasks": {"a": [0, 2]}}, "rank 1 of 0 to 2 is in none"),
        ({"tasks": {"a": [0, 10**15]}}, "rank 1 of 0 to 10+ is in none"),
        ({"tasks": {"a": [-1]}}, "rank -1"),
        ({"tasks": {"a": [0, 0]}}, "rank 0 twice"),
        ({"tasks": {"a": [0, 1.5]}}, "rank 1.5"),
        ({"tasks": {"a": []}}, "'a' has no processes"),
        ({"tasks": {"a": "two"}}, "task 'a' asks for 'two'"),
        ({"tasks": {"a": 1, "b": [0]}}, "mixes counts and lists"),
        ({"ranks": 10**9}, "1000000000 processes are asked for, but this machine"),
        ({"tasks": {"a": range(10**12)}}, "processes are asked for, but this machine"),
        ({"tasks": dict.fromkeys(map(str, range(10**4)), 10**4)}, "but this machine"),
        ({"ranks": 2, "timeout": -1}, "timeout is -1"),
        ({"ranks": 2, "timeout": float("nan")}, "timeout is nan"),
        ({"ranks": 2, "timeout": "soon"}, "timeout is 'soon'"),
        ({"ranks": 2, "args": 5}, "args is 5"),
        ({"ranks": 2, "args": "ab"}, "args is 'ab'"),
        ({"ranks": 2, "on_line": 5}, "on_line is 5"),
        ({"ranks": 2, "args": (1, 2, 3)}, "cannot be called with the 3 values"),
        ({"ranks": 2, "args": (threading.Lock(),)}, "cannot be sent"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_starts(monkeypatch, arguments, message):
    monkeypatch.setattr(processes, "supervise", lambda *_, **__: pytest.fail("started"))
    with pytest.raises(hk.Error, match=message):
        hk.run(lambda comm: None, **arguments)


def test_numbers_of_numpy_count_as_any_others():
    def name(world):
        return world.name, os.environ.get("HOCKET_TASKS")

    two = {"a": np.int64(1), "b": np.uint8(1)}
    assert hk.run(name, tasks=two) == {"a": [("a", "a=1,b=1")], "b": [("b", "a=1,b=1")]}
    lists = {"a": np.array([1]), "b": (np.int32(0),)}
    assert hk.run(name, tasks=lists) == {"a": [("a", None)], "b": [("b", None)]}
    # Lists of ranks come from the launcher too, though they fit into no variable.
    here = hk.run(lambda: (hk.tasks().names, hk.tasks().comm.rank), tasks={"a": [1, 2], "b": [0]})
    assert here == {"a": [(["a", "b"], 0), (["a", "b"], 1)], "b": [(["a", "b"], 0)]}
    assert hk.run(lambda: 1, ranks=np.int16(2), timeout=np.float32(60)) == [1, 1]


def test_what_is_no_function_is_refused():
    with pytest.raises(hk.Error, match="needs a function"):
        hk.run("f", ranks=1)  # type: ignore[arg-type]


def test_inside_a_run_it_is_refused():
    with pytest.raises(hk.Error, match="itself rank 0 of 1"):
        hk.run(lambda: hk.run(lambda: None, ranks=1), ranks=1)


def test_first_argument():
    first = launch._first_argument
    assert first(lambda world: 0, (), True) == "world"
    assert first(lambda: 0, (), True) is None
    assert first(lambda world, x: 0, (1,), True) == "world"
    assert first(lambda x: 0, (1,), True) is None
    assert first(lambda *all: 0, (1,), True) == "world"
    assert first(lambda comm: 0, (), False) == "comm"
    assert first(lambda x=1: 0, (), False) is None


def test_no_mpiexec_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.delenv("HOCKET_MPIEXEC", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(hk.Error, match="no mpiexec"):
        mpiexec.find()
    monkeypatch.setenv("HOCKET_MPIEXEC", "/nowhere/mpiexec")
    with pytest.raises(hk.Error, match="/nowhere/mpiexec"):
        mpiexec.find()


def _script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(text))
    return path


def _environment() -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(tempfile.tempdir)}


def test_a_script_needs_no_guard_and_no_home(tmp_path):
    script = _script(
        tmp_path,
        """
        import hocket as hk
        class Answer:
            def __init__(self, rank): self.rank = rank
        def work(comm): return Answer(comm.rank)
        print([answer.rank for answer in hk.run(work, ranks=2)])
        """,
    )
    env = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, env=env
    )
    assert (done.returncode, done.stdout) == (0, "[0, 1]\n"), done.stderr


def test_an_uncaught_error_shows_the_traceback_of_the_rank_once(tmp_path):
    script = _script(
        tmp_path,
        """
        import hocket as hk
        def work(): raise RuntimeError("gone wrong")
        hk.run(work, tasks={"left": 1})
        """,
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    assert done.stderr.count("in work") == 1
    assert "rank 0 (task 'left', process 0) raised RuntimeError: gone wrong" in done.stderr
    assert "(in full above)" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_leave_nothing(tmp_path, number):
    script = _script(
        tmp_path,
        """
        import time, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import hocket as hk
        def work(comm):
            print("started", flush=True)
            time.sleep(120)
        hk.run(work, ranks=2)
        """,
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(),
    )
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["started\n"] * 2
    process.send_signal(number)
    assert process.wait(100) in (130, -signal.SIGINT, 143)
    process.stdout.close()


def test_killing_the_caller_ends_the_ranks(tmp_path):
    script = _script(
        tmp_path,
        """
        import time, hocket as hk
        def work(comm):
            print("started", flush=True)
            time.sleep(120)
        hk.run(work, ranks=2)
        """,
    )
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=_environment()
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    place = Path(str(tempfile.tempdir))
    limit = time.monotonic() + 100
    while _of_runs(place) and time.monotonic() < limit:
        time.sleep(0.1)
    assert _of_runs(place) == []
    for left in place.glob("hocket-*"):  # only the killed process could have removed it
        subprocess.run(["rm", "-r", str(left)], check=True)
