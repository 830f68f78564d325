# SPDX-License-Identifier: BSD-3-Clause
"""`hocket app linpack`: every mode solves its system, with LAPACK's pivots, whatever the blocks and
the grid are; and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hocket.cli.apps import common, linpack
from hocket.cli.main import main
from lockstep.job import HOSTS
from scipy.linalg.lapack import dgetrf

from json_keys import require_keys

MODES = ",".join(linpack.MODES)
APPS = Path(__file__).resolve().parents[2] / "apps"

pytestmark = pytest.mark.filterwarnings("error")


def solved(capsys, *words):
    """The JSON of a run that must be right, pivots included."""
    status = main(["app", "linpack", *map(str, words), "--check", "--json"])
    said = capsys.readouterr()
    assert status == 0, said.out + said.err
    facts = json.loads(said.out.splitlines()[-1])
    assert facts["check"] == {"asked": True, "good": True, "verdict": "every pivot is LAPACK's"}
    require_keys("app", facts)
    require_keys("app linpack", facts)
    assert 0 <= facts["residual"] < 16
    assert all(one["residual"] <= facts["residual"] for one in facts["modes"].values())
    return facts


def refused(capsys, *words, status=2):
    """The complaint about a run that cannot be."""
    assert main(["app", "linpack", *map(str, words)]) == status
    said = capsys.readouterr()
    if HOSTS:  # Open MPI may say first that a process of the other host is not there any more
        assert "\nhocket: " in "\n" + said.err, said.err
    else:
        assert said.err.startswith("hocket: ") and said.err.count("\n") <= 6, said.err
    return said.err


@pytest.mark.parametrize(
    ("n", "nb", "grid", "width"),
    [
        (150, 16, "1x1", 48),
        (1, 1, "1x1", 1),
        (1, 5, "2x1", 3),
        (100, 7, "2x1", 256),
        (101, 8, "1x2", 20),
        (64, 16, "2x2", 16),
        (75, 9, "3x2", 30),
        (90, 32, "1x4", 40),
        (90, 5, "4x1", 11),
        (10, 64, "2x2", 64),  # one block, on one process
        (60, 1, "2x3", 13),
    ],
)
def test_every_mode_on_any_grid_with_any_blocks(capsys, n, nb, grid, width):
    facts = solved(
        capsys, "--n", n, "--nb", nb, "--grid", grid, "--width", width, "--mode", MODES,
        "--seed", n + nb,
    )  # fmt: skip
    assert set(facts["modes"]) == set(linpack.MODES)
    rows, columns = map(int, grid.split("x"))
    assert facts["ranks"] == rows * columns
    assert facts["parameters"]["nb"] == nb and facts["mpi"] and facts["threads"] == 1


def test_the_result_does_not_hang_on_the_grid_or_the_mode(capsys):
    # The same matrix, so the same pivots: each run compares them with LAPACK's.
    for grid in ("2x1", "2x2"):
        facts = solved(capsys, "--n", 333, "--nb", 24, "--grid", grid, "--mode", MODES, "--seed", 7)
        assert all(one["gflops"] > 0 and one["runs"] == 1 for one in facts["modes"].values())
    lines = facts["lines_not_in_plain"]
    assert lines["lookahead"] > 0 and lines["flow"] > 0


@pytest.mark.parametrize(("grid", "workers"), [("2x1", 3), ("2x2", 2)])
def test_workers_update_narrow_parts_at_once(capsys, grid, workers):
    facts = solved(
        capsys, "--n", 120, "--nb", 10, "--grid", grid, "--width", 7, "--mode", "flow",
        "--workers", workers, "--runs", 3,
    )  # fmt: skip
    assert facts["threads"] == workers and facts["modes"]["flow"]["runs"] == 3


@pytest.mark.parametrize("grid", [(2, 1), (2, 2)])
def test_pivots_of_one_process_row_after_the_other(grid):
    """Rows of every other block are a millionth of the rest: the panels of the first half have all
    pivots on process row 1, which has no rows left for those of the second half. Products are in
    small pieces, and two workers share those that the next panel waits for."""
    n, nb, seed = 72, 6, 5
    words = {"n": n, "nb": nb, "grid": grid, "width": 11, "workers": 2, "seed": seed}
    words.update(singular=0, steps=nb, modes=linpack.MODES, runs=1, pivots=1)
    words.update(piece_rows=5, piece_columns=4)
    with common.run_folder() as folder:
        facts = common.start("linpack", grid[0] * grid[1], words, folder, 60)
    matrix = linpack.elements(n, seed)[:, :n]
    matrix[np.arange(n) // nb % 2 == 0] *= 2.0**-20
    factors, pivots, _ = dgetrf(matrix)
    rows = np.arange(n)
    for i, pivot in enumerate(pivots):
        rows[[i, pivot]] = rows[[pivot, i]]
    assert (rows[: n // 2] // nb % 2 == 1).all() and np.isfinite(factors).all()
    for mode in linpack.MODES:
        assert facts["modes"][mode]["pivots"] == pivots.tolist(), mode
        assert facts["modes"][mode]["residual"] < linpack.PASSES_BELOW, mode


def test_hpls_line_is_printed(capsys):
    assert main(["app", "linpack", "--n", "40", "--nb", "8", "--mode", "plain"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^plain +40 +8 +1 +1 +\d+\.\d+ +\d\.\d+e[+-]\d+$", said, re.MULTILINE)
    assert re.search(r"\*N\)= +\d\.\d+e[+-]\d+ \.{6} PASSED$", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("grid", "mode"), [("2x1", "plain"), ("2x2", "lookahead"), ("1x2", "flow")]
)
def test_a_singular_matrix_is_reported(capsys, grid, mode):
    words = ("--n", 50, "--nb", 8, "--grid", grid, "--mode", mode)
    said = refused(capsys, *words, "--matrix", "singular", status=1)
    assert "column 25 has no pivot" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--n", "0"], "--n 0"),
        (["--nb", "0"], "--nb 0"),
        (["--grid", "0x2"], "--grid 0x2"),
        (["--grid", "2"], "rows x columns"),
        (["--grid", "2x2x2"], "--grid 2x2x2"),
        (["--mode", "fast"], "there are plain, lookahead, flow"),
        (["--width", "0"], "--width 0"),
        (["--workers", "0"], "--workers 0"),
        (["--runs", "0"], "--runs 0"),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(capsys, words, said):
    assert said in refused(capsys, *words)


def test_what_does_not_fit_memory_says_how_much_is_needed(capsys):
    said = refused(capsys, "--n", 2000000, status=1)
    assert re.search(r"needs 2\.9\d+e\+04 GiB of memory, and [\d.]+ GiB are free", said)


def test_a_grid_that_is_not_that_of_the_processes():
    words = {"n": 4, "nb": 2, "grid": "2,2", "width": 4, "workers": 1, "seed": 1, "singular": 0}
    with pytest.raises(common.Error) as problem, common.processes.run_folder() as folder:
        common.start("linpack", 3, {**words, "modes": "plain", "runs": 1, "pivots": 0}, folder, 60)
    assert str(problem.value) == "a grid of 2x2 needs 4 processes, and there are 3"


def test_a_wrong_solution_would_be_noticed():
    options = type("Options", (), {"n": 3, "nb": 2, "check": False, "workers": 1})()
    for residual, good in ((15.9, True), (16.1, False), (None, False)):
        facts = {"modes": {"plain": {"seconds": [1.0], "residual": residual}}}
        assert linpack.result(options, (1, 1), facts).good is good
    options.check, options.seed = True, 3
    facts = {"modes": {"plain": {"seconds": [1.0], "residual": 0.1, "pivots": [2, 2, 1]}}}
    found = linpack.result(options, (1, 1), facts)
    assert not found.good and "pivots are not LAPACK's" in found.verdict


def test_the_program_communicates_by_hocket_alone():
    calls = {}
    shared = [
        path for name in ("program", "parameters", "model") for path in APPS.glob(f"{name}.*")
    ]
    for source in [*(APPS / "linpack").iterdir(), *shared]:
        calls[source.name] = set(re.findall(r"\b(MPI_[A-Z]\w*[a-z]\w*)", source.read_text()))
    assert calls.pop("program.cpp") == {"MPI_Init_thread", "MPI_Finalize"}
    assert not any(calls.values()), calls


@pytest.mark.parametrize(
    ("mode", "rows", "columns"), [*((mode, 1, 1) for mode in linpack.MODES), ("flow", 1, 2)]
)
def test_memory_is_the_matrix_and_a_few_panels(capsys, mode, rows, columns):
    """OpenBLAS's buffers are the same in both runs; a second copy of the matrix would be 31 MB."""
    grid = f"{rows}x{columns}"

    def peak(n):
        return solved(capsys, "--n", n, "--nb", 64, "--grid", grid, "--mode", mode)["peak_bytes"]

    grown = peak(2000) - peak(200)
    each = rows * columns
    matrix, all_of_it = 8 * 2000 * 2001 / each, linpack.memory(2000, 64, rows, columns) / each
    assert 0.9 * matrix < grown < all_of_it + (8 << 20), (grown, matrix)


def test_blocks_larger_than_the_matrix_need_no_memory(capsys):
    """Columns as long as --nb says would take 400 MB."""

    def peak(nb):
        words = ("--n", 500, "--nb", nb, "--grid", "2x1", "--mode", "plain")
        return solved(capsys, *words)["peak_bytes"]

    assert peak(100_000) < peak(500) + (8 << 20)
