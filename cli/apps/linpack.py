# SPDX-License-Identifier: BSD-3-Clause
"""High-Performance LINPACK: a dense system by LU with partial pivoting on a 2-D block-cyclic
layout, in the forms of Marjanovic, Labarta, Ayguade, Valero, "Effective Communication and
Computation Overlap with Hybrid MPI/SMPSs":

  plain       one thing after the other
  lookahead   the next panel is factored and sent before the rest is updated, by hand
  flow        in whatever order the data allow

Every run is checked as HPL checks its own: the residual must be below 16. --check compares the
pivots with those of LAPACK's dgetrf on the same matrix, too.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli.apps import common
from hocket.cli.free_memory import free_memory
from hocket.cli.main import UsageError

from hocket.errors import Error

MODES = ("plain", "lookahead", "flow")
#: HPL's threshold of the residual
PASSES_BELOW = 16.0
_SOURCES = Path(__file__).resolve().parents[2] / "apps" / "linpack"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    parser.set_defaults(runs=1)
    parser.add_argument("--n", type=int, default=1000, help="unknowns (1000)")
    parser.add_argument(
        "--nb", type=int, help="rows and columns of a block (64 to N 1500, 96 to 3000, then 128)"
    )
    parser.add_argument("--grid", default="1x1", help="processes, rows x columns (1x1)")
    parser.add_argument("--mode", default="flow", help="which of plain,lookahead,flow (flow)")
    parser.add_argument("--workers", type=int, default=1, help="threads of a flow (1)")
    parser.add_argument(
        "--width", type=int, help="columns updated at a time (by N, mode and workers)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the matrix (1)")
    parser.add_argument(
        "--matrix", choices=("random", "singular"), default="random", help="elements (random)"
    )


def run(options: argparse.Namespace) -> common.Result:
    """All modes in one start, taking turns."""
    if options.nb is None:
        options.nb = usual_block(options.n)
    common.at_least(options, runs=1, n=1, nb=1, workers=1, seed=0)
    if options.width is not None and options.width < 1:
        raise UsageError(f"--width {options.width}: give 1 or more")
    modes = list(dict.fromkeys(options.mode.split(",")))
    for mode in modes:
        if mode not in MODES:
            raise UsageError(f"--mode {mode}: there are {', '.join(MODES)}")
    rows, columns = common.pair(options.grid, "--grid")
    if "x" not in options.grid.lower():
        raise UsageError(f"--grid {options.grid}: give rows x columns, as 2x1")
    _require_memory(memory(options.n, options.nb, rows, columns))
    words = {
        "n": options.n,
        "nb": options.nb,
        "grid": (rows, columns),
        "modes": modes,
        "workers": options.workers,
        "width": [options.width or usual_width(options.n, mode, options.workers) for mode in modes],
        "seed": options.seed,
        "singular": options.matrix == "singular",
        "runs": options.runs,
        "pivots": options.check,
    }
    with common.run_folder() as folder:
        facts = common.start("linpack", rows * columns, words, folder, options.timeout)
    return result(options, (rows, columns), facts)


def result(
    options: argparse.Namespace, grid: tuple[int, int], facts: dict[str, Any]
) -> common.Result:
    """The processes' results, checked."""
    found: dict[str, dict[str, Any]] = facts["modes"]
    expected = lapack_pivots(options.n, options.seed) if options.check else None
    worst, wrong = 0.0, 0
    for one in found.values():
        one.update(common.statistics(one.pop("seconds")))
        one["gflops"] = operations(options.n) / one["median_s"] * 1e-9
        # JSON has no infinity.
        one["residual"] = np.inf if one["residual"] is None else one["residual"]
        worst = max(worst, one["residual"])
        if expected is not None:
            wrong += int(np.count_nonzero(expected != np.array(one.pop("pivots"))))
    good = worst < PASSES_BELOW and wrong == 0
    facts["residual"] = worst
    facts["memory_bytes"] = memory(options.n, options.nb, *grid)
    if lines := differing_lines():
        facts["lines_not_in_plain"] = lines
    verdict = f"{wrong} pivots are not LAPACK's" if wrong else "every pivot is LAPACK's"
    workers = options.workers if "flow" in found else 1
    return common.Result(facts, table(options, grid, found), good, verdict, threads=workers)


def usual_block(n: int) -> int:
    """A size of blocks that suits N unknowns: in small systems, panels take most of the time."""
    return 64 if n <= 1500 else 96 if n <= 3000 else 128


def usual_width(n: int, mode: str, workers: int) -> int:
    """How many columns are updated at a time: in small systems all, because each exchange of rows
    takes some microseconds. A look-ahead forwards panels between updates, a flow within, too; but
    its workers need parts to share."""
    if mode == "flow" and workers > 1:
        return 256
    return n + 1 if n <= 1500 else 512 if mode == "flow" else 256


def operations(n: int) -> float:
    """The number of operations as HPL counts them."""
    return 2 / 3 * n**3 + 3 / 2 * n**2


def memory(n: int, nb: int, rows: int, columns: int) -> int:
    """Bytes of all processes: the matrix, and on each a few panels and blocks of rows."""
    nb = min(n, nb)
    mine = 8 * nb * (4 * -(-n // rows) + 4 * -(-n // columns) + 4 * nb)
    return 8 * n * (n + 1) + rows * columns * mine


def _require_memory(needed: int) -> None:
    available = free_memory()
    if available is not None and needed > available:
        raise Error(
            f"this needs {needed / 2**30:.4g} GiB of memory, and {available / 2**30:.4g} GiB are "
            "free; give a smaller --n"
        )


def elements(n: int, seed: int) -> npt.NDArray[np.float64]:
    """[A | b] as the processes generate it, n x (n+1)."""

    def mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = np.multiply(x ^ (x >> np.uint64(shift)), np.uint64(factor), dtype=np.uint64)
        return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)

    start = np.array([seed * 0x9E3779B97F4A7C15 % 2**64], np.uint64)
    rows, columns = np.arange(n, dtype=np.uint64)[:, None], np.arange(n + 1, dtype=np.uint64)
    bits = mixed(np.add(mixed(np.add(start, columns, dtype=np.uint64)), rows, dtype=np.uint64))
    return np.asarray((bits >> np.uint64(11)) * 2.0**-53 - 0.5, np.float64)


def lapack_pivots(n: int, seed: int) -> npt.NDArray[np.int64]:
    """The row that LAPACK's dgetrf exchanges with row i, for each i."""
    lapack = importlib.import_module("scipy.linalg.lapack")
    _, pivots, _ = lapack.dgetrf(elements(n, seed)[:, :n])
    return np.asarray(pivots, np.int64)


def differing_lines() -> dict[str, int]:
    """The number of lines of each mode's source that the plain one does not have: the
    programmer's cost of the overlap. Empty if there is no source."""
    texts = {}
    for mode in MODES:
        source = _SOURCES / f"{mode}.cpp"
        if not source.is_file():
            return {}
        texts[mode] = [ln.strip() for ln in source.read_text().splitlines() if ln.strip()]
    return {
        mode: sum(ln.startswith("+ ") for ln in difflib.ndiff(texts["plain"], texts[mode]))
        for mode in MODES[1:]
    }


def table(
    options: argparse.Namespace, grid: tuple[int, int], found: dict[str, dict[str, Any]]
) -> list[str]:
    """As HPL prints it."""
    lines = [
        f"{'T/V':<12}{'N':>9}{'NB':>6}{'P':>6}{'Q':>6}{'Time':>19}{'Gflops':>23}",
        "-" * 81,
    ]
    for mode, one in found.items():
        lines.append(
            f"{mode:<12}{options.n:>9}{options.nb:>6}{grid[0]:>6}{grid[1]:>6}"
            f"{one['median_s']:>19.4f}{one['gflops']:>23.4e}"
        )
        verdict = "PASSED" if one["residual"] < PASSES_BELOW else "FAILED"
        lines.append(
            f"||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= {one['residual']:>18.7e} "
            f"...... {verdict}"
        )
    return lines
