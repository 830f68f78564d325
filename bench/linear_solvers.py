# SPDX-License-Identifier: BSD-3-Clause
"""Solvers of LINPACK's system: hocket's modes, and HPL. Each run starts its own processes, and
uses the program's own time for the solution, without the matrix and the check."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from hocket.cli.apps import common, linpack

from hocket.errors import Error

from .group import Group
from .harness import (
    Contestant,
    Effort,
    Step,
    UnavailableError,
    WrongResultError,
    measure,
)
from .launch import start
from .shaped_link import ShapedLink
from .traces import hiding

#: HPL's BCASTs: increasing ring and its modified form
RINGS = {0: "ring", 1: "modified ring"}
_DEPTHS = (0, 1)


@dataclass(frozen=True)
class System:
    """One system on one grid, and its solver."""

    n: int
    nb: int
    rows: int
    columns: int
    width: int | None  #: None: as the mode likes it
    workers: int
    timeout: float | None
    link: ShapedLink | None
    solutions: int = 1  #: that each process makes, of which the last one counts

    @property
    def ranks(self) -> int:
        """Processes."""
        return self.rows * self.columns

    def run(
        self, command: list[str], folder: Path | None = None, more: Mapping[str, str] | None = None
    ) -> str:
        """The output of the processes. Raises RuntimeError if one failed."""
        # Both use one core a process, and so must BLAS.
        env = {"OPENBLAS_NUM_THREADS": "1", **(more or {})}
        status, output = start(
            command, self.ranks, 1, self.timeout, True, folder=folder, link=self.link, more=env
        )
        if status != 0:
            raise RuntimeError(f"{command[0]} ended with status {status}: {output[-500:]}")
        return output


@dataclass
class _Solved:
    """The results of a contestant's runs so far."""

    n: int
    seconds: float = 0.0
    last: float = 0.0
    residual: float = float("inf")

    def add(self, seconds: float, residual: float) -> None:
        self.seconds, self.last, self.residual = self.seconds + seconds, seconds, residual

    def took(self) -> float:
        """Since the last query."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds

    def check(self) -> None:
        """HPL's own test."""
        if not self.residual < linpack.PASSES_BELOW:
            raise WrongResultError(f"the residual is {self.residual:g}, not below 16")

    def spoil(self) -> None:
        self.residual = float("inf")

    def extras(self) -> dict[str, Any]:
        return {"residual": float(f"{self.residual:.4g}")}


def _step(run: Callable[[], None], solved: _Solved, extras: Callable[[], dict[str, Any]]) -> Step:
    return Step(run, solved.check, solved.spoil, extras=extras, took=solved.took)


def mode(system: System, name: str) -> Contestant:
    """One of `hocket app linpack`."""

    def prepare() -> Step:
        try:
            program = common.program("linpack")
        except Error as error:
            raise UnavailableError(str(error)) from error
        solved = _Solved(system.n)
        words = {
            "n": system.n,
            "nb": system.nb,
            "grid": f"{system.rows},{system.columns}",
            "modes": name,
            "workers": system.workers,
            "width": system.width or linpack.usual_width(system.n, name, system.workers),
            "seed": 1,
            "singular": 0,
            "pivots": 0,
        }

        def run(runs: int = system.solutions, more: Mapping[str, str] | None = None) -> None:
            each = {**words, "runs": runs}.items()
            said = system.run([str(program), *(f"{key}={value}" for key, value in each)], more=more)
            report = next(ln for ln in said.splitlines() if ln.startswith("{"))
            one = json.loads(report)["modes"][name]
            solved.add(one["seconds"][-1], one["residual"] or float("inf"))

        def extras() -> dict[str, Any]:
            with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
                # A trace has the whole process's messages: of one solution, which is the first.
                run(1, {"HOCKET_TRACE": f"{folder}/trace"})
                each = [hiding(path) for path in Path(folder).glob("trace*.json")]
            worst = min(each, key=lambda one: one["hidden"], default={})
            hidden = worst.pop("hidden", 1.0)
            found = {**worst, "of a run of": solved.last, "hidden": f"{hidden:.0%}"}
            return {**solved.extras(), "communication": found}

        return _step(run, solved, extras)

    return Contestant(f"hocket, {name}", prepare)


@dataclass(frozen=True)
class Setting:
    """HPL's settings for tuning: its blocks, its look-ahead depth, its broadcast."""

    nb: int
    depth: int
    ring: int

    @property
    def name(self) -> str:
        """The name of its line."""
        return f"HPL, NB {self.nb}, depth {self.depth}, {RINGS[self.ring]}"

    @property
    def text(self) -> str:
        """As `setting_of` reads it."""
        return f"{self.nb}:{self.depth}:{self.ring}"


def setting_of(text: str) -> Setting:
    """The setting that ``NB:DEPTH:RING`` names. Raises ValueError."""
    words = text.split(":")
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        raise ValueError(f"{text}: give NB:DEPTH:RING, as 128:1:0")
    nb, depth, ring = map(int, words)
    if nb < 1 or ring not in RINGS:
        said = ", ".join(f"{number} ({name})" for number, name in RINGS.items())
        raise ValueError(f"{text}: blocks are of 1 or more, and RING is one of {said}")
    return Setting(nb, depth, ring)


def settings(sizes: Sequence[int], columns: int) -> list[Setting]:
    """All settings to try with HPL on a grid with so many columns."""
    # One column: there is no broadcast.
    rings = list(RINGS) if columns > 1 else [0]
    return [Setting(nb, depth, ring) for nb in sizes for depth in _DEPTHS for ring in rings]


def fastest(
    system: System, program: str, tried: Sequence[Setting], runs: int, keep: int, group: Group
) -> list[Setting]:
    """The ``keep`` settings with the shortest of ``runs`` runs, taken in turns; prints them.

    The shortest, because other programs only add time. Failed settings are left out; if all fail,
    the first one remains to report the reason.
    """
    effort = Effort(warmup=1, seconds=0.0, min_runs=runs, max_runs=runs)
    figures = measure([hpl(system, program, one) for one in tried], group, effort)
    found = [(min(f.samples), one) for f, one in zip(figures, tried) if f.samples]
    found.sort(key=lambda pair: pair[0])
    for seconds, one in found:
        print(f"  tuning: {seconds:8.3f} s  {one.text:10}  {one.name}", flush=True)
    return [one for _, one in found[:keep]] or list(tried[:1])


def input_of_hpl(system: System, setting: Setting, spread_from: int = 64) -> str:
    """HPL.dat for one run: right-looking recursive panels, and the mixed row exchange, which
    spreads the rows of more than so many columns."""
    sizes = " ".join([str(system.n)] * system.solutions)
    lines = ["", "", "HPL.out", "6", str(system.solutions), sizes, "1", str(setting.nb), "0", "1"]
    lines += [str(system.rows), str(system.columns), "16.0", "1", "2", "1", "4", "1", "2", "1", "2"]
    lines += ["1", str(setting.ring), "1", str(setting.depth), "2"]
    lines += [str(spread_from), "0", "0", "1", "8"]
    # Past HPL's own lines HPC Challenge reads the number of sizes for its transposition: none.
    lines += ["", "0", "", "0", ""]
    return "\n".join(lines) + "\n"


def files_of_hpl(program: str) -> tuple[str, str | None]:
    """HPL's input, and its output file (None: it prints); HPC Challenge contains it, too."""
    if Path(program).name.startswith("hpcc"):
        return "hpccinf.txt", "hpccoutf.txt"
    return "HPL.dat", None


def result_of_hpl(said: str) -> tuple[float, float]:
    """(seconds, residual) of the last solution in HPL's output. Raises ValueError.

    The seconds come from its rate, which has four or five digits; its time has hundredths, as long
    as a run at N 1000."""
    line = r"^W[RC]\w+\s+(\d+)\s+\d+\s+\d+\s+\d+\s+\S+\s+(\d\S+)\s*$"
    test = r"^\|\|Ax-b\|\|.*=\s*(\S+) \.+ (?:PASSED|FAILED)"
    rates = re.findall(line, said, re.MULTILINE)
    residuals = re.findall(test, said, re.MULTILINE)
    if not rates or not residuals:
        raise ValueError(f"this is not what HPL prints: {said[-500:]}")
    n, rate = rates[-1]
    return linpack.operations(int(n)) / (float(rate) * 1e9), float(residuals[-1])


def hpl(system: System, program: str | None, setting: Setting) -> Contestant:
    """The reference, with one of its settings."""

    def prepare() -> Step:
        if program is None:
            raise UnavailableError("no xhpl on PATH; name one with --xhpl")
        solved = _Solved(system.n)

        def run() -> None:
            with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
                given, found = files_of_hpl(program)
                (Path(folder) / given).write_text(input_of_hpl(system, setting))
                said = system.run([program], Path(folder))
                if found is not None:
                    said = (Path(folder) / found).read_text()
            solved.add(*result_of_hpl(said))

        return _step(run, solved, solved.extras)

    return Contestant(setting.name, prepare)
