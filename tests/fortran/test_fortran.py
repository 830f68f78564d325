# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran programs of this folder and of examples/fortran, which `use hocket` alone."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

PROGRAMS = sorted(
    path.stem for path in Path(__file__).parent.glob("*.[fF]90") if path.stem != "checks"
)
#: on how many processes each runs; layouts and plans are the same on any
RANKS = {"layouts": [1]}
#: the examples: on how many processes, and what they print
EXAMPLES = {
    "conjugate_gradient": (3, "47 steps, sum of the solution -2.004093534760"),
    "figure_1": (8, "figure 1: 100 spectra, each that of a serial FFT"),
    "figure_3": (8, "figure 3: 100 spectra, each that of a serial FFT"),
    "figure_5": (5, "figure 5: 100 spectra, each that of a serial FFT"),
    "figure_6": (4, "figure 6: 100 times to and fro"),
    "heat": (3, "total 15994.956643, hottest 74.4818"),
    "producer_consumer": (6, "the consumer has used 10 arrays"),
}


def program(name: str) -> Path:
    """The built program; skips where there is no Fortran compiler."""
    build = built.folder()
    if not (build / "bindings/fortran/libhocket_fortran.a").is_file():
        pytest.skip("there is no Fortran compiler")
    return build / "tests" / f"fortran_{name}"


@pytest.mark.parametrize(
    ("name", "ranks"), [(name, n) for name in PROGRAMS for n in RANKS.get(name, [1, 2, 4])]
)
def test_program(name: str, ranks: int, tmp_path: Path) -> None:
    printed = built.start(program(name), ranks, tmp_path)
    said = re.search(rf"^fortran {name}: (\d+) checks on {ranks} processes$", printed, re.M)
    assert said is not None and int(said[1]) > 10, printed


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(name: str, tmp_path: Path) -> None:
    ranks, line = EXAMPLES[name]
    assert line in built.start(program(name), ranks, tmp_path).splitlines()


def test_every_example_is_here() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples/fortran"
    assert {path.stem for path in folder.glob("*.f90")} == {*EXAMPLES, "fourier", "ocean"}
