# SPDX-License-Identifier: BSD-3-Clause
"""`hocket app multiblock`, `remap` and `steering`: each against a serial result, on 1 to 8
processes, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hocket.cli.apps import multiblock, remap, steering
from test_apps import app, refused

import hocket as hk

#: five blocks of all sizes: side by side, above each other, one around a corner of another
CORNERS = """
# name row col rows cols
a  0  0  7  5
b  2  5  3  9     # right of a
c  7  1  4  2     # below a
d  5  9  6  1     # below b, one column
e 11  0  1  3
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("procs", [1, 5, pytest.param(8, marks=pytest.mark.soak)])
def test_multiblock_equals_the_single_grid(capsys, procs):
    Path("blocks.txt").write_text(CORNERS)
    words = ["--geometry", "blocks.txt", "--steps", 30, "--procs", procs]
    facts = app(capsys, "multiblock", *words)
    assert set(facts["forms"]) == (set(multiblock.FORMS) if procs >= 5 else {"data"})
    for one in facts["forms"].values():
        assert one["changes"] == sorted(one["changes"], reverse=True) and one["median_s"] > 0


def test_multiblock_restarts_on_another_number_of_processes(capsys):
    Path("blocks.txt").write_text(CORNERS)
    Path("kept").mkdir()
    words = ["--geometry", "blocks.txt", "--runs", 1]
    app(capsys, "multiblock", *words, "--procs", 6, "--steps", 25, "--every", 4, "--forms", "flow",
        "--snapshots", "kept")  # fmt: skip
    # --check compares with a serial run of all 41 steps.
    for procs, form in [(7, "flow"), (2, "data")]:
        app(capsys, "multiblock", *words, "--procs", procs, "--steps", 41, "--forms", form,
            "--restart", "kept")  # fmt: skip
    stored = hk.open_store("kept/block0.zarr")
    assert stored.attributes == {"step": 24} and stored.unfinished is None
    assert list(stored) == sorted(f"step{n}" for n in range(4, 25, 4))
    # A run that was killed between the blocks: all continue from the step that all have.
    for block, step in [(1, 16), (3, 20)]:
        root = Path(f"kept/block{block}.zarr/zarr.json")
        root.write_text(re.sub(r'"step":\s*24', f'"step":{step}', root.read_text()))
        assert hk.open_store(root.parent).attributes == {"step": step}
    app(capsys, "multiblock", *words, "--procs", 6, "--steps", 41, "--forms", "flow",
        "--restart", "kept")  # fmt: skip
    wrong = ["--procs", 2, "--forms", "data"]
    assert "steps of the form flow" in refused(
        capsys, "multiblock", *wrong, "--snapshots", "kept", status=1
    )
    assert "no folder 'gone'" in refused(
        capsys, "multiblock", *wrong, "--restart", "gone", status=1
    )


def test_the_papers_blocks(capsys):
    words = ["--procs", 4, "--steps", 40, "--picture", "solution.png", "--progress"]
    facts = app(capsys, "multiblock", *words)
    assert sum(facts["processes"].values()) == 4 and facts["processes"]["middle"] == 1
    assert Path("solution.png").stat().st_size > 1000


def test_the_serial_solver_knows_what_is_outside():
    blocks = multiblock.geometry_of(None)
    solution = multiblock.serial(blocks, 50)
    assert solution.shape == (192, 480)
    assert np.all(solution[:48, 192:288] == 0) and np.all(solution[48:144, 192:288] > 0)
    one = multiblock.serial([multiblock.Block("x", 0, 0, 1, 1, 1)], 9)
    np.testing.assert_array_equal(one, [[0.25]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a 0 0 4 4\nb 3 2 4 4\n", "line 2: 'b' overlaps 'a' (line 1) in 1 rows and 2 columns"),
        ("a 0 0 4 4\n\nb 0 7 4 4\n", "line 3: 'b' touches none"),
        ("a 0 0 4 4\nb 0 7 4 4\n", "a gap of 0 rows and 3 columns"),
        ("a 0 0 4 4\nb 4 4 2 2\n", "touches none"),
        ("a 0 0 4 4\na 4 0 2 2\n", "line 2: 'a' is also"),
        ("a 0 0 4\n", "line 1: 'a 0 0 4' has 4 words"),
        ("# none\n", "has no block"),
        ("a 0 0 -4 4\n", "line 1: 'a 0 0 -4 4' has something else"),
        ("a 0 0 0 4\n", "has no points"),
    ],
)
def test_geometries_that_cannot_be_are_refused_at_their_line(capsys, text, said):
    Path("blocks.txt").write_text(text)
    assert said in refused(capsys, "multiblock", "--geometry", "blocks.txt", status=1)


def test_more_tasks_than_processes(capsys):
    said = refused(capsys, "multiblock", "--procs", 2, "--forms", "tasks")
    assert "has 3 tasks" in said
    assert "cannot be read" in refused(capsys, "multiblock", "--geometry", "nowhere", status=1)


LARGE = pytest.param(8, "9,2,7", "2,0,1", marks=pytest.mark.soak)


@pytest.mark.parametrize(
    ("procs", "shape", "axes"),
    [(1, "5,4,3", "2,0,1"), (3, "7,10,2", "1,0,2"), (6, "12,5,9", "1,2,0"), LARGE],
)
def test_remap_puts_every_element_in_its_place(capsys, procs, shape, axes):
    words = ["--procs", procs, "--shape", shape, "--axes", axes, "--threads", 2]
    facts = app(capsys, "remap", *words)
    assert facts["threads"] == 2
    forms = {"two-array", "in place", "climate"}
    assert set(facts["forms"]) == (forms | set(remap.TASKS) if procs > 1 else forms)
    assert all(one["wrong"] == 0 for one in facts["forms"].values())


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (["--shape", "4,4"], "--shape 4,4", 2),
        (["--axes", "0,1,1"], "--axes 0,1,1", 2),
        (["--threads", "0"], "--threads 0", 2),
        (["--forms", "none"], "--forms none", 2),
        (["--forms", "tasks", "--procs", "1"], "has 2 tasks", 2),
        (["--dist", "(BLOK,*,*)"], "BLOK", 1),
    ],
)
def test_remap_refuses_what_cannot_be(capsys, words, said, status):
    assert said in refused(capsys, "remap", *words, status=status)


@pytest.mark.parametrize(("procs", "size"), [(1, "9x14"), (3, "16x24"), (8, "6x10")])
def test_steering_equals_the_serial_simulation(capsys, procs, size):
    words = ["--procs", procs, "--size", size, "--frames", 4, "--steps", 12, "--tracers", 5]
    facts = app(capsys, "steering", *words)
    assert set(facts["forms"]) == (set(steering.FORMS) if procs > 1 else {"data"})


def test_frames_are_written(capsys):
    app(capsys, "steering", "--size", "12x20", "--frames", 2, "--steps", 3, "--out", "frames")
    assert sorted(path.name for path in Path("frames").iterdir()) == [
        "frame000.png",
        "frame001.png",
    ]


def test_the_flow_goes_round_the_disc_and_carries_dye():
    velocity, dye = steering.serial(24, 48, 6, 20, 8)
    assert np.all(velocity[-1, :, :, 1].mean(axis=0) > 0)
    assert dye[0].sum() == 0 and dye[-1].sum() == 5 * 8
    shown = steering.text_of(velocity[-1], dye[-1]).splitlines()
    assert len(shown) == 24 and "o" in "".join(shown)


def test_a_wrong_frame_is_found():
    velocity, dye = steering.serial(8, 9, 3, 2, 2)
    assert steering.compare((velocity, dye), (velocity, dye)) == ""
    assert "shape" in steering.compare((velocity[:2], dye), (velocity, dye))
    off = velocity.copy()
    off[1, 3, 3, 0] = np.nan
    assert "velocity of frame 1" in steering.compare((off, dye), (velocity, dye))
    assert "dye of frame 0" in steering.compare((velocity, dye + 1), (velocity, dye))
