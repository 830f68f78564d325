# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of local permutations: what it accepts as right, and what it prints."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hocket.bench import paper
from hocket.bench.cases import permute
from hocket.bench.command import main
from hocket.bench.group import Group
from hocket.bench.harness import Contestant, Effort, Step, WrongResultError, measure
from hocket.bench.permutation import Permutation, check, fill

pytestmark = pytest.mark.soak

QUICK = ["--seconds", "0", "--warmup", "1", "--min-runs", "2", "--sample-seconds", "0"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 7), (1, 0)),
        ((700, 900), (1, 0)),
        ((4, 1, 6, 5), (3, 1, 0, 2)),
        ((3, 600, 700), (0, 2, 1)),
    ],
)
def test_the_check_knows_right_from_wrong(shape, axes, dtype):
    array = np.empty(shape, dtype)
    fill(array)
    right = np.ascontiguousarray(array.transpose(axes))
    check(right, shape, axes)
    assert len(np.unique(array)) == array.size
    for place in {0, right.size // 2, right.size - 1}:
        wrong = right.copy()
        wrong.reshape(-1).view(np.uint8)[place * wrong.itemsize] ^= 1
        with pytest.raises(WrongResultError):
            check(wrong, shape, axes)
    with pytest.raises(WrongResultError):
        check(array.reshape(right.shape), shape, axes)


def test_a_problem_makes_its_arrays_once():
    problem = Permutation((6, 4), (1, 0), "float64", 1)
    assert problem.result == (4, 6) and problem.bytes == 2 * 24 * 8
    assert problem.source is problem.source and problem.target is not problem.source
    step = problem.out_of_place(lambda: np.copyto(problem.target, problem.source.T))
    step.spoil()
    with pytest.raises(WrongResultError):
        step.check()
    step.run()
    step.check()


def test_every_contestant_is_right_or_says_why_it_did_not_run(tmp_path, capsys):
    target = tmp_path / "out.json"
    for more in (["--shape", "40,30"], ["--shape", "6,10,16", "--axes", "1,0,2"]):
        for dtype in ("float32", "float64", "complex128"):
            words = ["permute", *more, "--dtype", dtype, *QUICK, "--json", str(target)]
            assert main(words) == 0, capsys.readouterr().out
            figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
            measured = {f["name"] for f in figures if "median" in f}
            ours = {"hocket", "hocket in place", "one pass in place (NumPy)"}
            assert {"memcpy", "NumPy"} | ours <= measured
            assert not [f for f in figures if "error" in f]


def test_a_contestant_is_left_out(tmp_path, capsys):
    target = tmp_path / "out.json"
    words = ["permute", "--shape", "40,30", *QUICK, "--json", str(target)]
    assert main([*words, "--without", "MKL imatcopy", "--without", "FFTW"]) == 0
    figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
    names = {figure["name"] for figure in figures}
    assert not names & {"MKL imatcopy", "FFTW"} and "FFTW in place" in names
    assert main([*words, "--only", "hocket in place", "--only", "FFTW"]) == 0
    figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
    assert {figure["name"] for figure in figures} == {"memcpy", "hocket in place", "FFTW"}
    everybody = [word for name in permute.PEERS for word in ("--without", name)]
    assert main([*words, *everybody]) == 0
    figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
    assert not {figure["name"] for figure in figures} & set(permute.PEERS)


def test_processor_time_does_not_count_sleep(tmp_path, capsys):
    target = tmp_path / "out.json"
    words = ["permute", "--shape", "40,30", "--processor-time", *QUICK, "--json", str(target)]
    assert main(words) == 0, capsys.readouterr().out
    table = json.loads(target.read_text("utf-8"))["tables"][0]
    assert table["parameters"]["clock"] == "processor time"
    group = Group()
    group.clock = time.thread_time
    lazy = Contestant("lazy", lambda: Step(lambda: time.sleep(0.02), lambda: None, lambda: None))
    (figure,) = measure([lazy], group, Effort(1, 0.0, 2, 2, 0.0))
    assert max(figure.samples) < 0.02


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shape", "4,x"], "integers"),
        (["--shape", "4,5", "--axes", "0,0"], "once"),
        (["--axes", "1,0"], "--shape"),
        (["--shape", "0,3"], "1 or more"),
        (["--ranks", "2"], "leave it out"),
        (["--plot", "x.png"], "--table"),
        (["--table", "1", "--figure", "2"], "one of them"),
        (["--hptt", "/nowhere.so"], "no such file"),
        (["--table", "1", "--team", "0"], "1 or more"),
        (["--processor-time", "--threads", "2"], "one thread"),
        (["--table", "2", "--shape", "6,7"], "N3,N2,N1"),
        (["--figure", "2", "--shape", "6,7,8"], "it is N3,N2"),
        (["--table", "1", "--shape", "6,0,8"], "1 or more"),
        (["--table", "1", "--dtype", "float32"], "has its own"),
        (["--figure", "2", "--axes", "0,1"], "has its own"),
        (["--team", "2"], "--table"),
        (["--only", "hocket", "--table", "1"], "has its own"),
        (["--only", "FFTW", "--without", "FFTW"], "one of them"),
    ],
)
def test_wrong_words(words, said, capsys):
    assert main(["permute", *words]) == 2
    assert said in capsys.readouterr().err


def test_tables_have_the_papers_rows():
    rows = paper.schedules(512)
    assert rows[:4] == ["static", "affinity", "guided", "dynamic,1"] and rows[-1] == "dynamic,512"
    assert paper.teams([2, 32]) == [2, 32]
    assert len(list(paper.table(2, [2, 4]))) == 4
    assert [len(m.contestants) for m in paper.table(3, [2])] == [9, 8]
    for match in paper.table(1, [2]):
        assert match.contestants[0].name == "two arrays, static"


def test_a_table_is_printed_and_drawn(tmp_path, capsys):
    shape = paper.ARRAYS[3]
    figures = [{"name": "x", "median": 1e-3 * (k + 1)} for k in range(8)]
    figures[2] = {"name": "x", "error": "wrong"}
    document = {
        "tables": [{"parameters": {"shape": list(shape), "threads": 2}, "figures": figures}]
    }
    picture = tmp_path / "table.png"
    paper.finish_table(3, document, str(picture))
    for array in ("8x1000x500", "32x100x25"):  # a picture for each array of the table
        drawn = picture.with_name(f"table-{array}.png")
        assert drawn.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert (
        "32 x 100 x 25" in printed and "1.00 ms*" in printed and "4, 8, 16, 32 threads" in printed
    )


def test_figure_2_is_printed_and_drawn(tmp_path, capsys):
    document = {
        "tables": [
            {
                "parameters": {"shape": [32, 32, 8]},
                "figures": [{"name": "hocket in place, cycles", "median": 1.0, "speedup": 3.0}],
            }
        ]
    }
    picture = tmp_path / "figure.png"
    paper.finish_figure_2(document, str(picture))
    assert "3.00" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_table_of_a_small_array_from_run_to_report(number, tmp_path, capsys):
    target, picture = tmp_path / "out.json", tmp_path / "table.png"
    words = ["permute", "--table", str(number), "--shape", "6,10,4", "--team", "1", "--team", "3"]
    files = ["--json", str(target), "--plot", str(picture)]
    assert main([*words, *QUICK, *files]) == 0, capsys.readouterr().out
    tables = json.loads(target.read_text("utf-8"))["tables"]
    assert [t["parameters"] for t in tables] == [
        {"table": number, "shape": [6, 10, 4], "threads": threads} for threads in (1, 3)
    ]
    rows = paper.schedules(paper.TABLES[number][0][1])
    way = "two arrays" if number == 1 else "hocket in place, cycles"
    for t in tables:
        assert [f["name"] for f in t["figures"]] == [f"{way}, {schedule}" for schedule in rows]
        assert all(f["median"] > 0 for f in t["figures"])
    printed = capsys.readouterr().out
    report = printed[printed.index(f"Table {number}, 4 x 10 x 6") :]
    assert "1 thrd" in report and "3 thrd" in report and report.count("*") >= 2
    lines = [line.split()[0] for line in report.splitlines() if line.split()]
    assert [line for line in lines if line in rows] == rows
    assert (tmp_path / "table-4x10x6.png").read_bytes().startswith(b"\x89PNG")


def test_figure_2_of_a_small_plane_from_run_to_report(tmp_path, capsys):
    target, picture = tmp_path / "out.json", tmp_path / "figure.png"
    words = ["permute", "--figure", "2", "--shape", "6,10", "--threads", "2"]
    files = ["--json", str(target), "--plot", str(picture)]
    assert main([*words, *QUICK, *files]) == 0, capsys.readouterr().out
    tables = json.loads(target.read_text("utf-8"))["tables"]
    assert [t["parameters"]["shape"] for t in tables] == [[6, 10, n] for n in paper.BLOCKS]
    for t in tables:
        assert t["parameters"]["threads"] == 2
        speedups = {f["name"]: f.get("speedup") for f in t["figures"] if "in place" in f["name"]}
        assert set(speedups) == {"hocket in place, cycles", "hocket in place"}
        assert all(speedup > 0 for speedup in speedups.values())
    printed = capsys.readouterr().out
    report = printed[printed.index("Figure 2: time of two arrays") :]
    assert report.count("10 x 6") == 2 and " -" not in report.splitlines()[2]
    assert picture.read_bytes().startswith(b"\x89PNG")
