# SPDX-License-Identifier: BSD-3-Clause
"""`hocket app`: each program against an independent result, on 1 to 8 processes, and what it
refuses. Each test starts its own processes, as the command does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hocket.cli.app import APPS
from hocket.cli.apps import common, convolution, pingpong
from hocket.cli.main import UsageError, main

from json_keys import require_keys


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def app(capsys, *words):
    """The JSON of a run that must be right."""
    status = main(["app", *map(str, words), "--check", "--runs", "1", "--json"])
    said = capsys.readouterr()
    assert status == 0, said.out + said.err
    facts = json.loads(said.out.splitlines()[-1])
    assert facts["app"] == words[0] and facts["check"]["good"] is True
    require_keys("app", facts)
    kind = "sweep" if "points" in facts else "run"
    require_keys("app pingpong" if words[0] == "pingpong" else f"app {kind}", facts)
    for form in facts.get("forms", {}).values():
        require_keys("app form", form)
    return facts


def refused(capsys, *words, status=2):
    """The complaint about a run that cannot be."""
    assert main(["app", *map(str, words)]) == status
    said = capsys.readouterr()
    assert said.err.startswith("hocket: ") and said.err.count("\n") <= 6, said.err
    return said.err


SOAK = pytest.mark.soak


@pytest.mark.parametrize(
    "procs", [1, 2, 5, pytest.param(3, marks=SOAK), pytest.param(8, marks=SOAK)]
)
def test_fft2d_in_every_form_is_the_serial_fft(capsys, procs):
    np.save("frames.npy", np.random.default_rng(procs).integers(0, 256, (5, 30, 22), np.uint8))
    facts = app(capsys, "fft2d", "--procs", procs, "--input", "frames.npy")
    half = procs // 2
    expected = {"data": procs * (procs - 1)}
    if procs > 1:
        expected["tasks"] = expected["persistent"] = expected["flow"] = half * (procs - half)
    assert {n: one["messages_per_image"] for n, one in facts["forms"].items()} == expected
    assert facts["ranks"] == procs and facts["parameters"]["shape"] == [5, 30, 22]
    assert all(one["runs"] == 1 and one["median_s"] > 0 for one in facts["forms"].values())


@pytest.mark.soak
def test_fft2d_of_photographs_on_more_processes_than_rows(capsys):
    app(capsys, "fft2d", "--procs", 5, "--size", "3x40", "--frames", 2)


@pytest.mark.parametrize(("procs", "frames"), [(1, 2), (4, 5), pytest.param(7, 3, marks=SOAK)])
def test_convolution_is_the_sum_that_defines_it(capsys, procs, frames):
    rng = np.random.default_rng(procs)
    for name in ("a.npy", "b.npy"):
        np.save(name, rng.integers(0, 256, (frames, 13, 18), np.uint8))
    facts = app(capsys, "convolution", "--procs", procs, "--first", "a.npy", "--second", "b.npy")
    assert set(facts["forms"]) == ({"data"} if procs < 4 else set(convolution.FORMS))


def test_convolution_finds_a_wrong_pixel():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (2, 90, 70), np.uint8)
    right = np.fft.ifft2(np.fft.fft2(a) * np.fft.fft2(b))
    assert convolution.error(right, a, b) <= 1
    assert not convolution.error(right * (1 + 1e-9), a, b) <= 1
    assert not convolution.error(right + np.nan, a, b) <= 1
    small = np.fft.ifft2(np.fft.fft2(a[:5, :4]) * np.fft.fft2(b[:5, :4]))
    small[3, 2] += 1e-6
    assert not convolution.error(small, a[:5, :4], b[:5, :4]) <= 1


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ((2, 3, 4), (2, 3, 5), "2 images of 3×4"),
        ((2, 3, 4), (3, 3, 4), "as many images"),
        ((2, 3, 4), None, "belong together"),
    ],
)
def test_streams_that_do_not_fit_each_other_are_refused(capsys, first, second, said):
    words = []
    for name, shape in (("first", first), ("second", second)):
        if shape is not None:
            np.save(f"{name}.npy", np.zeros(shape, np.uint8))
            words += [f"--{name}", f"{name}.npy"]
    assert said in refused(capsys, "convolution", *words, status=1)


def test_processes_are_shared_out_in_proportion():
    assert common.shares(4, (4, 4, 1, 4)) == [1, 1, 1, 1]
    for total in range(3, 40):
        found = common.shares(total, (4, 1, 4))
        assert sum(found) == total and min(found) >= 1 and found[0] >= found[1]
    with pytest.raises(UsageError, match="2 tasks need"):
        common.shares(1, (1, 1))


def test_pingpong_finds_what_was_sent_and_fits_the_model(capsys):
    facts = app(capsys, "pingpong", "--n", "1,5,40", "--per-task", "1,3", "--repeats", 2)
    assert [(t["per_task"], t["n"]) for t in facts["tables"]] == [
        (p, n) for p in (1, 3) for n in (1, 5, 40)
    ]
    assert all(t[form]["median_s"] > 0 for t in facts["tables"] for form in pingpong.FORMS)
    assert facts["ranks"] == 6 and set(facts["model"]) == set(pingpong.FORMS)


def test_pingpong_between_tasks_of_unlike_sizes_and_within_one(capsys):
    facts = app(capsys, "pingpong", "--n", "7", "--procs", "1,3,5", "--repeats", 1)
    found = {t["procs"]: [form for form in pingpong.FORMS if form in t] for t in facts["tables"]}
    assert found == {1: ["data"], 3: list(pingpong.FORMS), 5: list(pingpong.FORMS)}


def test_the_model_is_found_in_times_that_follow_it():
    rows = [
        {"per_task": p, "n": n, "plain": {"median_s": p * 2e-6 + n * n / p * 3e-9}}
        for p in (1, 2, 4)
        for n in (8, 64, 512)
    ]
    found = pingpong.fit(rows, "plain")
    assert found["t_s"] == pytest.approx(2e-6) and found["t_w"] == pytest.approx(3e-9)
    assert found["error"] < 1e-9


def test_an_application_that_is_not_there(capsys):
    assert "did you mean 'fft2d'" in refused(capsys, "ftt2d")
    assert all(name in refused(capsys, "zzz") for name in APPS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fft2d", "--procs", "0"], "--procs 0"),
        (["fft2d", "--size", "0x3"], "--size 0x3"),
        (["fft2d", "--frames", "0"], "--frames 0"),
        (["fft2d", "--procs", "1", "--forms", "tasks"], "has 2 tasks"),
        (["fft2d", "--forms", "pipe"], "there are data, tasks, persistent"),
        (["fft2d", "--runs", "-1"], "--runs -1"),
        (["fft2d", "--timeout", "0"], "--timeout 0"),
        (["convolution", "--procs", "3", "--forms", "tasks"], "has 4 tasks"),
        (["pingpong", "--n", "4,x"], "--n 4,x"),
        (["pingpong", "--per-task", "0"], "--per-task 0"),
        (["pingpong", "--procs", "2,-1"], "--procs 2,-1"),
        (["pingpong", "--procs", "2,1", "--forms", "plain"], "has 2 tasks"),
        (["pingpong", "--forms", "data,flow"], "there are plain, persistent, data"),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(capsys, words, said):
    assert said in refused(capsys, *words)


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        (np.zeros((2, 3, 4)), "holds float64 (2, 3, 4)"),
        (np.zeros((3, 4), np.uint8), "holds uint8 (3, 4)"),
        (np.zeros((0, 3, 4), np.uint8), "no pixel"),
    ],
)
def test_frames_of_a_wrong_kind_are_refused(capsys, frames, said):
    np.save("frames.npy", frames)
    assert said in refused(capsys, "fft2d", "--input", "frames.npy", status=1)


def test_a_program_that_is_not_built_is_named(capsys, monkeypatch):
    monkeypatch.setenv(common.VARIABLE, "/nowhere")
    told = refused(capsys, "pingpong", status=1)
    assert "is not built: looked in /nowhere; run `make bench`" in told


def test_what_a_program_finds_wrong_is_told_once(capsys, tmp_path, monkeypatch):
    # The same complaint of every process; only the program itself can find this one.
    with pytest.raises(common.Error) as problem, common.processes.run_folder() as folder:
        common.start(
            "pingpong", 4, {"n": "5", "repeats": "two", "runs": 1, "forms": "data"}, folder, 60
        )
    assert str(problem.value) == "repeats=two is no whole number"


def test_programs_communicate_through_hocket_alone():
    # Of MPI they know how to start and to end it.
    known = {"MPI_Init_thread", "MPI_Finalize", "MPI_THREAD_SERIALIZED", "MPI_THREAD_SINGLE"}
    for path in (Path(__file__).parents[2] / "apps").glob("*.?pp"):
        said = set(re.findall(r"\bP?MPI_\w+", path.read_text("utf-8")))
        assert said <= known, path
