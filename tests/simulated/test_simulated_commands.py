# SPDX-License-Identifier: BSD-3-Clause
"""The commands under simulated figures of the documentation run, at a size that takes seconds."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from hocket.bench import simulation
from hocket.bench.command import main
from hocket.bench.curves import CURVES
from hocket.bench.kernels import KINDS

pytestmark = pytest.mark.soak

DOCS = Path(__file__).resolve().parents[2] / "docs"
DRAWING = sorted(
    {
        line
        for path in DOCS.rglob("*.md")
        for line in re.findall(r"^hocket bench (simulate .+)$", path.read_text("utf-8"), re.M)
        if "--json" in line
    }
)


def _smallest(command):
    """The same, on as few processes as there can be, of as little."""
    words = shlex.split(command)
    curve = CURVES[words[1]]
    asked = dict(zip(words[2::2], words[3::2]))
    asked.pop("--xhpl", None)  # HPL's program is not here
    coarse = int(asked.get("--coarse", 1))
    most = max(map(int, asked.get("--per-process", "1").split(",")))
    small = {
        "--procs": str(max(most, min(curve.processes))),
        "--frames": "2",
        "--size": str(coarse * 32),
        "--nb": str(coarse * 8),
        "--kernels": ",".join(["1e-9"] * len(KINDS)),
    }
    return [*words[:2], *(word for pair in {**asked, **small}.items() for word in pair)]


@pytest.mark.parametrize("command", DRAWING)
def test_each_simulated_figure_can_be_made_again(command, tmp_path, monkeypatch):
    curve = CURVES[shlex.split(command)[1]]
    program = simulation.BUILT / (curve.program or f"apps/hocket_app_{curve.app}")
    if shutil.which("smpirun") is None or not program.is_file():
        pytest.skip("the simulated program is not built")
    monkeypatch.chdir(tmp_path)
    assert main([*_smallest(command), "--limit", "100"]) == 0
    made = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    wanted = re.findall(r"--(?:json|plot) (\S+)", command)
    assert sorted(made) == sorted(wanted) and all(size > 1000 for size in made.values())
