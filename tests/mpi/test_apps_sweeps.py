# SPDX-License-Identifier: BSD-3-Clause
"""`hocket app` over several sizes and numbers of processes: Figures 8, 10 and 12 of a paper."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hocket.cli.apps import common, multiblock, sweeps
from test_apps import app, refused


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_figure_8_has_both_forms_at_every_point_and_a_picture(capsys):
    words = ["--size", "8,9x12", "--procs", "1,3", "--frames", 2, "--plot", "figure8.png"]
    facts = app(capsys, "fft2d", *words, "--forms", "data")
    assert [(p["size"], p["procs"]) for p in facts["points"]] == [
        (size, procs) for size in ("8", "9x12") for procs in (1, 3)
    ]
    assert all(p["forms"]["data"]["median_s"] > 0 for p in facts["points"])
    assert [p["forms"]["data"]["messages_per_image"] for p in facts["points"]] == [0, 6, 0, 6]
    assert facts["ranks"] == 3 and facts["mpi"]
    assert Path("figure8.png").stat().st_size > 1000


def test_figure_12_of_larger_blocks(capsys):
    Path("blocks.txt").write_text("a 0 0 3 4\nb 3 1 2 5\n")
    words = ["--geometry", "blocks.txt", "--scale", "1,3", "--procs", 3, "--steps", 9]
    facts = app(capsys, "multiblock", *words)
    assert [p["size"] for p in facts["points"]] == ["1", "3"]
    assert all(set(p["forms"]) == set(multiblock.FORMS) for p in facts["points"])
    assert facts["check"]["verdict"] == "all 2 points are right"


def test_blocks_that_are_scaled_touch_as_before():
    blocks = [block.scaled(3) for block in multiblock.geometry_of(None)]
    assert [block.place() for block in blocks][1] == (slice(144, 432), slice(576, 864))
    multiblock.require_together(blocks, "scaled")


def pretended(point: Namespace) -> common.Result:
    """An application of which one point comes out wrong."""
    forms = {"data": {"median_s": 2.0 * point.procs}, "flow": {"median_s": 1.0}}
    good = (point.size, point.procs) != ("9", 4)
    return common.Result({"mpi": "none", "ranks": point.procs, "forms": forms}, [], good, "a spot")


def test_a_wrong_point_is_named(capsys):
    found = sweeps.run(
        SimpleNamespace(run=pretended, SWEEP=sweeps.Sweep("size", "Figure", "a go")),
        Namespace(size=["5", "9"], procs=[2, 4], plot=None, check=True),
    )
    assert not found.good
    assert found.verdict == "1 of 4 points are wrong; the first, 9 on 4 processes: a spot"
    assert found.lines[0].startswith("Figure, seconds a go; cores: ")
    assert [line.split()[-1] for line in found.lines[2:]] == ["4.00", "8.00", "4.00", "8.00"]


def test_the_gain_needs_both():
    assert sweeps.gain({"data": 6.0, "tasks": 3.0, "flow": 2.0}) == 3.0
    assert sweeps.gain({"data": 6.0}) is None and sweeps.gain({"flow": 6.0}) is None
    assert sweeps.gain({"data": None, "flow": None}) is None  # --runs 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fft2d", "--procs", "2,x"], "whole numbers with commas"),
        (["fft2d", "--procs", "2,2"], "--procs 2,2: one of them is there twice"),
        (["fft2d", "--size", "8,,9"], "--size "),
        (["convolution", "--size", "8,8"], "there twice"),
        (["convolution", "--plot", "nowhere/figure10.png"], "no such folder"),
        (["convolution", "--plot", "figure10"], "ends in .png"),
        (["multiblock", "--scale", "0"], "--scale 0"),
        (["fft2d", "--size", "8,9", "--input", "own.npy"], "what --input names has a size"),
    ],
)
def test_sweeps_that_cannot_be(capsys, words, said):
    assert said in refused(capsys, *words)
