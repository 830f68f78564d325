# SPDX-License-Identifier: BSD-3-Clause
"""`hocket bench redistribute`: arrangements of processes, disjoint tasks, peers, and the papers'
figures."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hocket.bench import all_pairs, figure_tables, fitting
from hocket.bench.command import main
from hocket.bench.formats import lay
from test_bench import bench, needs_mpi

pytestmark = pytest.mark.soak

QUICK = ("--seconds", "0", "--sample-seconds", "0", "--min-runs", "3", "--max-runs", "3")


def test_a_layout_lies_on_the_processes_that_its_text_names() -> None:
    grid = lay((6, 4), "(CYCLIC(2), BLOCK) ON 3x2", 8)
    assert grid.procs == (3, 2) and grid.size == 6
    assert [i.tolist() for i in grid.indices(3)] == [[2, 3], [2, 3]]
    assert [len(i) for i in grid.indices(6)] == [0, 0]
    later = lay((5, 1), "(BLOCK, *) on 2", 2, first=3)
    assert [later.holds(rank) for rank in range(6)] == [False] * 3 + [True] * 2 + [False]
    assert later.indices(4)[0].tolist() == [3, 4]
    assert lay((3,), "(*) on 1", 4).procs == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pair", "(BLOCK,*) on 2x1 -> (*,BLOCK)"], "1 dimensions are distributed"),
        (["--pair", "(BLOCK,*) on two -> (*,BLOCK)"], "as 2x3"),
        (["--pair", "(BLOCK,*) on 3 -> (*,BLOCK)"], "there are 2 processes"),
        (["--pair", "(BLOCK,*) on 2 => (*,BLOCK)"], "are not --ranks 2"),
        (["--pair", "(BLOCK,*) on 1 => (*,BLOCK) on 1", "--ranks", "3"], "are not --ranks 3"),
        (["--scalapack", "/nowhere/libscalapack.so"], "no such file"),
        (["--tasks", "2,2"], "belong to a --figure"),
        (["--figure", "6", "--tasks", "8"], "as 8,4"),
        (["--figure", "6", "--tasks", "3,1", "--tasks", "2,2"], "same number of processes"),
        (["--figure", "7", "--tasks", "3,1"], "as many processes as each other"),
        (["--figure", "4", "--plot", "/nowhere/at/all.png"], "no such folder"),
        (["--figure", "4", "--pair", "(BLOCK) -> (CYCLIC)"], "leave --pair"),
        (["--all-pairs", "1", "--figure", "4"], "leave --pair and --figure"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["redistribute", "--size", "8", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_grids_pencils_and_disjoint_tasks(tmp_path: Path) -> None:
    """Every contestant's elements are checked; a library that is not here is said to be."""
    needs_mpi()
    report = tmp_path / "report.json"
    pairs = [
        "(CYCLIC(4),CYCLIC(3)) on 1x2 -> (CYCLIC(2),CYCLIC(5)) on 3x1",
        "(BLOCK,CYCLIC) on 1x2 => (*,CYCLIC(2)) on 1",
        "(BLOCK,BLOCK,*) on 1x3 -> (BLOCK,*,BLOCK) on 1x3",
    ]
    words = [word for pair in pairs for word in ("--pair", pair)]
    done = bench(
        *("redistribute", *QUICK, "--ranks", "3", "--size", "8", *words),
        *("--json", str(report), "--timeout", "120"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tables = json.loads(report.read_text())["tables"]
    assert [t["parameters"]["processes"] for t in tables] == ["the same", "disjoint", "the same"]
    assert tables[0]["parameters"]["to"] == "(CYCLIC(2),CYCLIC(5)) on 3x1"
    for table in tables:
        figures = {f["name"]: f for f in table["figures"]}
        for name in ("hk.wrap", "hk.empty", "hk.wrap, persistent", "hk.empty, persistent"):
            assert figures[f"hocket, {name}"]["runs"] == 3, figures
        peer = figures["mpi4py-fft" if len(table["parameters"]["shape"]) == 3 else _SCALAPACK]
        assert peer.get("runs") == 3 or peer["not_run"], peer


_SCALAPACK = "ScaLAPACK pdgemr2d"


def test_all_pairs_are_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    texts = all_pairs.pairs(1, 2) + all_pairs.pairs(2, 2)
    assert len(set(texts)) == len(texts) == 12 + 30 + 3
    assert "(CYCLIC(64)) -> (BLOCK)" in texts and "(*,CYCLIC) -> (BLOCK,*)" in texts
    assert texts[-1] == "(BLOCK,CYCLIC) on 1x2 -> (CYCLIC,BLOCK) on 2x1"

    def table(before: str, medians: dict[str, float]) -> dict[str, Any]:
        figures = [
            {"name": name, "median": median, "of_limit": medians["flat"] / median}
            for name, median in medians.items()
        ]
        about = {"from": before, "to": "(BLOCK,*) on 2", "shape": [4, 4]}
        return {"parameters": about, "figures": figures, "limit": "flat", "baseline": "MPI"}

    good = {"flat": 1e-3, "MPI": 3e-3, "hocket, hk.empty": 1.1e-3, "hocket, hk.wrap": 1.6e-3}
    all_pairs.finish({"tables": [table("(*,BLOCK) on 2", good)]})
    shown = capsys.readouterr().out
    assert "(*,BLOCK) -> (BLOCK,*) 4x4" in shown and "nothing misses that" in shown
    bad = {**good, "hocket, hk.empty": 1.2e-3, "hocket, hk.wrap": 3.1e-3}
    all_pairs.finish({"tables": [table("(*,BLOCK) on 2", good), table("(*,CYCLIC) on 2", bad)]})
    shown = capsys.readouterr().out
    assert "hk.empty: (*,CYCLIC) -> (BLOCK,*) has 0.83" in shown
    assert "hk.wrap: (*,CYCLIC) -> (BLOCK,*) has 0.32" in shown
    assert "hk.wrap: (*,CYCLIC) -> (BLOCK,*) takes longer than MPI" in shown
    assert "(*,BLOCK) -> (BLOCK,*) has" not in shown


def test_equation_1_is_fitted_to_what_was_measured(tmp_path: Path) -> None:
    needs_mpi()
    report = tmp_path / "report.json"
    done = bench(
        *("redistribute", "--figure", "6", "--tasks", "2,1", "--size", "16"),
        *("--size", "300", *QUICK, "--json", str(report), "--timeout", "120"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(report.read_text())
    met = [(t["parameters"]["S"], t["parameters"]["R"]) for t in document["tables"]]
    assert met == [(2, 1), (2, 1)]
    names = ["generic, per element", "optimised", "prepared"]
    for table in document["tables"]:
        assert [f["name"] for f in table["figures"] if f["runs"] == 3] == names
    assert set(document["fits"]) <= set(names) and document["fits"]
    assert "2/1  300" in done.stdout


def test_the_six_steps_of_one_way(tmp_path: Path) -> None:
    needs_mpi()
    report = tmp_path / "report.json"
    done = bench(
        *("redistribute", "--figure", "7", "--tasks", "1,1", "--size", "200"),
        *(*QUICK, "--json", str(report), "--timeout", "120"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (table,) = json.loads(report.read_text())["tables"]
    plain, prepared = (next(iter(f["extras"].values())) for f in table["figures"])
    assert list(plain) == ["inquiry", "call", "descriptor", "schedule", "pack", "move"]
    assert plain["schedule"] > 0 and plain["descriptor"] > 0 and plain["move"] > 0
    assert prepared["schedule"] == prepared["descriptor"] == 0 and prepared["move"] > 0
    assert "saved" in done.stdout


def test_fits_find_the_figures_that_times_were_made_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Synthetic measurements by equation 1, for all that the figures have."""

    def told(name: str, n: int, s: int, r: int) -> float:
        described = name in ("optimised", "direct", "centralized")
        count = max(s, r) + (1 + math.ceil(math.log2(max(s, r))) if described else 0)
        volume = n * n if name == "centralized" else n * n / ((s + r) / 2)
        return 3e-6 * count + 2e-9 * volume

    def document(names: list[str], tasks: list[tuple[int, int]]) -> dict[str, Any]:
        tables = [
            {
                "parameters": {"N": n, "S": s, "R": r},
                "figures": [{"name": k, "median": told(k, n, s, r)} for k in names],
            }
            for s, r in tasks
            for n in (16, 128, 512)
        ]
        return {"tables": tables}

    for figure, names, tasks in (
        (5, ["direct", "centralized"], [(8, 8)]),
        (6, ["generic, per element", "optimised", "prepared"], [(8, 8), (8, 4), (4, 2)]),
    ):
        made = document(names, tasks)
        figure_tables.finish(Namespace(figure=figure, plot=None), made)
        for fit in made["fits"].values():
            assert fit["t_m"] == pytest.approx(3e-6) and fit["t_w"] == pytest.approx(2e-9)
    assert made["fits"]["optimised"]["M"] == 12 and made["fits"]["prepared"]["M"] == 8
    shown = capsys.readouterr().out
    assert shown.count(" 1.00\n") == 27  # each prediction is what was measured


def test_what_cannot_be_told_apart_is_not_fitted() -> None:
    rows = np.array([[1.0, 2.0], [2.0, 4.0]])
    found = fitting.nearest(rows, np.array([1.0, 2.0]))
    assert found is not None and np.count_nonzero(found) == 1  # one of them explains all
    assert fitting.nearest(np.zeros((2, 2)), np.array([1.0, 2.0])) is None
