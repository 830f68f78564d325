# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show what layouts say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import hocket as hk
from hocket import plotting


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_owner_map_is_the_layouts_own():
    layout = hk.Layout((5, 6), "(CYCLIC, BLOCK)", (2, 2))
    lowest, copies, _ = plotting.owner_map(layout)
    expected = [[layout.owner((i, j)) for j in range(6)] for i in range(5)]
    assert lowest.tolist() == expected and (copies == 1).all()


def test_copies_and_more_dimensions_are_mapped():
    layout = hk.Layout((4, 3, 5), "(*, BLOCK, CYCLIC)", (3, 2, 2), replicate=(0,))
    lowest, copies, note = plotting.owner_map(layout)
    expected = [[layout.owner((0, j, k)) for k in range(5)] for j in range(3)]
    assert lowest.tolist() == expected and (copies == 3).all()
    assert "dimensions [1, 2]" in note


@pytest.mark.parametrize(
    ("shape", "dist", "procs"),
    [
        ((4, 4), "(BLOCK,*)", 4),
        ((64, 64), "(CYCLIC,BLOCK)", (4, 8)),
        ((9,), "(CYCLIC)", 3),
        ((0, 3), "(BLOCK,*)", 2),
        ((3000, 2), "(BLOCK,*)", 30),
        ((), "()", ()),
        ((10**9, 10**9), "(CYCLIC(3),BLOCK)", (1000, 1000)),
    ],
)
def test_any_layout_is_drawn(shape, dist, procs):
    plotting.plot_layout(hk.Layout(shape, dist, procs), "layout.png")
    assert Path("layout.png").stat().st_size > 1000


def test_large_blocks_are_numbered_in_their_middle():
    lowest, _, _ = plotting.owner_map(hk.Layout((64, 64), "(BLOCK, BLOCK)", (8, 8)))
    places = plotting._places_for_numbers(lowest)
    assert [lowest[row, column] for row, column, _ in places] == list(range(64))
    lowest, _, _ = plotting.owner_map(hk.Layout((64, 64), "(CYCLIC, CYCLIC)", (8, 8)))
    assert plotting._places_for_numbers(lowest) == []


def test_of_many_processes_elements_are_asked_for():
    layout = hk.Layout((100, 200), "(BLOCK, CYCLIC)", (100, 100))
    lowest, copies, _ = plotting.owner_map(layout)
    assert lowest.shape == (100, 128) and (copies == 1).all()
    assert lowest[3, 1] == layout.owner((3, 1)) and lowest[99, 0] == 9900


def test_a_plan_is_drawn_at_4_and_at_64():
    for n, p in ((4, 4), (64, 64)):
        source, target = hk.Layout((n, n), "(BLOCK, *)", p), hk.Layout((n, n), "(*, CYCLIC)", 3)
        hk.plan(source, target).plot(f"plan{n}.png")
        assert Path(f"plan{n}.png").stat().st_size > 10000


def test_without_matplotlib_the_error_says_how(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(hk.Error, match="install matplotlib"):
        plotting.plot_layout(hk.Layout((4,), "(BLOCK)", 2), "layout.png")


def test_times_over_processes_are_drawn():
    lines = {("64", "data"): [(4, 2e-3), (1, 1e-3)], ("64", "tasks"): [(4, 1e-3)]}
    plotting.plot_times(lines, "times.svg", "Figure 8", "seconds an image", 2)
    text = Path("times.svg").read_text(encoding="utf-8")
    for said in ("64 data", "64 tasks", "2 cores", "Figure 8", "seconds an image"):
        assert f"<!-- {said} -->" in text, said
    plotting.plot_times({}, "none.png", "nothing", "seconds", 2)
    assert Path("none.png").stat().st_size > 500
