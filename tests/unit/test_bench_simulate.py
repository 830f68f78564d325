# SPDX-License-Identifier: BSD-3-Clause
"""`hocket bench simulate`: what needs no simulator."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hocket.bench import kernels, options, simulated_hpl, simulation
from hocket.bench.curve_figures import finish_curves
from hocket.bench.curves import CURVES, Point, crossover, grid_of
from hocket.bench.linear_solvers import Setting
from hocket.bench.platforms import PLATFORMS


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["fft", "--platform", "sp3"], "there are sp1, ethernet"),
        (["fft", "--procs", "1,2"], "fft2d has 2 tasks"),
        (["fft", "--procs", "256"], "the largest machine named has 128"),
        (["fft", "--size", "64,x"], "give numbers from 1"),
        (["linpack", "--bandwidth", "0.5,0"], "give numbers above 0"),
        (["linpack", "--bandwidth", "1,-2"], "give numbers above 0"),
        (["linpack", "--noise", "0,1"], "give parts below 1"),
        (["linpack", "--noise", "-0.1"], "give numbers from 0"),
        (["linpack", "--noise-lasts", "0"], "give seconds above 0"),
        (["linpack", "--coarse", "0"], "it has to divide"),
        (["linpack", "--coarse", "32", "--size", "1000"], "divide N and --nb, as 1000"),
        (["fft", "--coarse", "2"], "only for linpack"),
        (["linpack", "--xhpl", "/nowhere/xhpl"], "--xhpl /nowhere/xhpl: give a program"),
        (["fft", "--xhpl", __file__], "only for linpack"),
        (["linpack", "--width", "0"], "--width 0: give numbers from 1"),
        (["linpack", "--width", "256,512"], "one or one for each mode"),
        (["fft", "--width", "256"], "only for linpack"),
        (["linpack", "--modes", "flow,HPL"], "--modes flow,HPL: only for linpack, some of plain"),
        (["linpack", "--hpl", "128:1"], "--hpl 128:1: give NB:DEPTH:RING"),
        (["remap", "--kernels", "/nowhere/at.json"], "No such file"),
        (["remap", "--ranks", "4"], "--procs says how many"),
        (["remap", "--plot", "/nowhere/a.png"], "there is no such folder"),
    ],
)
def test_what_cannot_be_is_named(words, hint):
    with pytest.raises(ValueError, match=hint):
        options.parse(["simulate", *words])


def test_kernels_of_an_earlier_run_are_read(tmp_path):
    path = tmp_path / "run.json"
    speeds = {kind: 1e-9 * (place + 1) for place, kind in enumerate(kernels.KINDS)}
    path.write_text(json.dumps({"benchmark": "simulate", "kernels": speeds}))
    assert kernels.known(str(path)) == speeds
    assert kernels.words(speeds, 100.0).split(",")[3] == repr(speeds["blas"] * 100.0)
    assert kernels.known(kernels.words(speeds, 1.0)) == speeds
    path.write_text(json.dumps({"kernels": {**speeds, "move": 0}}))
    with pytest.raises(ValueError, match="'move'"):
        kernels.known(str(path))


def test_a_machine_puts_processes_on_its_nodes_in_turn(tmp_path):
    words = PLATFORMS["sp"].write(tmp_path, 8, each=4)
    hosts = (tmp_path / "hosts").read_text().split()
    assert hosts == ["n-0"] * 4 + ["n-1"] * 4
    assert words[:2] == ["-np", "8"]
    assert 'radical="0-1"' in (tmp_path / "platform.xml").read_text()
    with pytest.raises(ValueError, match="more than sp has"):
        PLATFORMS["sp"].write(tmp_path, 33, each=4)


def test_lines_cross_where_their_ratio_is_one():
    assert crossover([2, 8], [0.5, 2.0]) == pytest.approx(4)
    assert crossover([2, 4, 8], [2.0, 2.0, 0.5]) == pytest.approx(32**0.5)
    assert crossover([2, 4, 8], [1.5, 1.2, 1.1]) is None


def test_grids_have_no_more_rows_than_columns():
    assert [grid_of(p) for p in (1, 12, 16, 128, 512)] == [
        *((1, 1), (3, 4), (4, 4)),
        *((8, 16), (16, 32)),
    ]


def test_a_number_for_many_has_their_work_and_their_bytes():
    speeds = dict.fromkeys(kernels.KINDS, 1.0)
    point = Point(PLATFORMS["js21"], 4, 2, 1024, 1, 128, coarse=8)
    found = CURVES["linpack"].speeds(point, speeds)
    assert found["blas"] == 8**3 / 2 and found["move"] == 8**2
    assert found["panel"] == 8**2  # a column is a panel, whose products the program adds
    words = CURVES["linpack"].words(point, Path())
    assert (words["n"], words["nb"], words["grid"]) == (128, 16, (2, 2))
    # js21 takes 8 times as long, so that its pieces have an eighth of the rows
    assert (words["piece_rows"], words["piece_columns"]) == (1024 // 8 // 8, 512 // 8)
    assert words["modes"] == ("plain", "lookahead", "flow")
    assert words["width"] == 256 // 8  # at least, and at most 512 columns
    assert CURVES["linpack"].words(replace(point, nb=1024), Path())["width"] == 512 // 8
    wide = replace(point, widths=(2048, 1024, 4))
    assert CURVES["linpack"].words(wide, Path())["width"] == [256, 128, 1]
    some = replace(point, modes=("flow",))
    assert CURVES["linpack"].words(some, Path())["modes"] == ("flow",)
    plain = Point(PLATFORMS["js21"], 4, 1, 1024, 1, 128)
    assert CURVES["linpack"].speeds(plain, speeds) == speeds
    assert CURVES["fft"].speeds(plain, speeds) == speeds
    slower = PLATFORMS["js21"].scaled(0.5, inside=0.25)
    assert slower.bandwidth == PLATFORMS["js21"].bandwidth / 2 and slower.inside == 0.25e9


def test_hpl_has_the_same_machine_and_a_process_on_each_processor(monkeypatch, tmp_path):
    started = []

    def output(program, settings, words, timeout, *, folder, more):
        hosts = (folder / "hosts").read_text().split()
        started.append((settings, (folder / "HPL.dat").read_text().splitlines(), hosts, more))
        return (
            "WR11R2R4         128    16     2     4             12.50             1.1381e-04\n"
            "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   nan ...... FAILED\n"
        )

    monkeypatch.setattr(simulation, "output", output)
    speeds = dict.fromkeys(kernels.KINDS, 1.0)
    curve = simulated_hpl.beside(CURVES["linpack"], str(tmp_path / "xhpl"), Setting(128, 1, 0))
    assert curve.forms == ("plain", "lookahead", "flow", "HPL")
    point = Point(PLATFORMS["js21"], 2, 4, 1024, 1, 512, coarse=8)
    assert curve.seconds_of_hpl(point, speeds, None) == pytest.approx(12.5, 1e-4)
    ((settings, lines, hosts, more),) = started
    assert hosts == ["n-0"] * 4 + ["n-1"] * 4
    assert (lines[5], lines[7], lines[10:12]) == ("128", "16", ["2", "4"])
    assert lines[25:27] == ["2", "8"]  # from as many of the matrix's columns as without --coarse
    # One thread, so that products take four times as long as with the process's threads.
    blas, panel = 8**3 * 8.0, 8**2 * 8.0
    assert more["HOCKET_TIMED_BLAS"] == f"{blas!r},{panel + blas!r}"
    assert f"--cfg=smpi/send-is-detached-thresh:{65536 // 64}" in settings


def test_the_report_says_where_the_forms_cross(tmp_path, capsys):
    def table(processors, data, persistent):
        parameters = {
            **{"platform": "sp1", "bandwidth": 1.0, "N": 64, "processors": processors},
            **{"processors a process": 1, "noise": 0.02},
        }
        figures = [{"name": "data", "median": data}, {"name": "persistent", "median": persistent}]
        return {"parameters": parameters, "figures": figures}

    picture = tmp_path / "fft.png"
    document = {"tables": [table(2, 1.0, 2.0), table(8, 2.0, 1.0)]}
    finish_curves(CURVES["fft"], document, str(picture))
    (curve,) = document["curves"]
    assert curve["data over it"] == [0.5, 2.0] and curve["crosses at"] == pytest.approx(4)
    said = capsys.readouterr().out
    assert "persistent and data cross at 4 processors" in said and "IBM SP1" in said
    assert "sp1, 0.02 noise, N 64" in said and curve["noise"] == 0.02
    assert picture.stat().st_size > 1000


def test_a_curve_goes_over_what_has_several_values(tmp_path, capsys):
    def table(noise, times):
        parameters = {
            **{"platform": "js21", "bandwidth": 0.5, "N": 256, "processors": 16},
            **{"processors a process": 1, "noise": noise},
        }
        named = zip(CURVES["linpack"].forms, times)
        figures = [{"name": name, "median": time} for name, time in named]
        return {"parameters": parameters, "figures": figures}

    picture = tmp_path / "noise.png"
    document = {"tables": [table(0.0, (2.0, 1.0, 1.0)), table(0.1, (4.0, 3.0, 1.0))]}
    finish_curves(CURVES["linpack"], document, str(picture))
    over = {each["form"]: each for each in document["curves"]}
    assert over["flow"]["over"] == "noise" and over["flow"]["noise"] == [0.0, 0.1]
    assert over["flow"]["plain over it"] == [2.0, 4.0] and over["flow"]["processors"] == 16
    assert "js21, 16 processors, 0.5 x bandwidth, N 256" in capsys.readouterr().out
    assert picture.stat().st_size > 1000
