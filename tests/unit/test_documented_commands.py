# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the documentation prints under its figures: they are today's, they make what
stands above them, and the simulated ones run, at a size that takes seconds."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from hocket_bench import options, simulation
from hocket_bench.command import main
from hocket_bench.curves import CURVES
from hocket_bench.kernels import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURES = DOCS / "papers" / "figures"
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
COMMANDS = sorted(
    {line for text in PAGES.values() for line in re.findall(r"^hocket bench (.+)$", text, re.M)}
)
DRAWING = [command for command in COMMANDS if "--json" in command]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_understood(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where its files would go
    words = [sys.executable if word == "FILE" else word for word in shlex.split(command)]
    case, asked = options.parse(words)
    assert case.__name__.endswith(words[0]) and asked.threads >= 1


def test_each_figure_has_its_command_on_the_page_that_shows_it():
    shown = [
        (text, name)
        for text in PAGES.values()
        for name in re.findall(r"^!\[[^]]*\]\([./a-z]*figures/(.+)\)$", text, re.M)
    ]
    assert sorted(name for _, name in shown) == sorted(path.name for path in FIGURES.glob("*.png"))
    for text, name in shown:
        after = text.split(f"figures/{name})", 1)[1]
        command = re.search(r"^hocket bench (.+)$", after, re.M)
        assert command is not None, f"nothing under {name} says how it was made"
        assert command[1].endswith(f"--plot {name}"), f"{name}: {command[1]}"


def test_each_report_is_of_its_command():
    for path in sorted(FIGURES.glob("*.json")):
        (command,) = (each for each in DRAWING if f"--json {path.name}" in each)
        words = shlex.split(command)
        asked = dict(zip(words[2::2], words[3::2]))
        parameters = [table["parameters"] for table in json.loads(path.read_text())["tables"]]
        for option, name in (("--procs", "processors"), ("--size", "N"), ("--noise", "noise")):
            if option in asked:
                values = {float(word) for word in asked[option].split(",")}
                assert {float(each[name]) for each in parameters} == values, (path.name, name)
        assert {each["curve"] for each in parameters} == {words[1]}


def _smallest(command):
    """The same, on as few processes as there can be, of as little."""
    words = shlex.split(command)
    curve = CURVES[words[1]]
    asked = dict(zip(words[2::2], words[3::2]))
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
    program = simulation.BUILT / f"apps/hocket_app_{CURVES[shlex.split(command)[1]].app}"
    if shutil.which("smpirun") is None or not program.is_file():
        pytest.skip("the simulated program is not built")
    monkeypatch.chdir(tmp_path)
    assert main([*_smallest(command), "--limit", "100"]) == 0
    made = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    wanted = re.findall(r"--(?:json|plot) (\S+)", command)
    assert sorted(made) == sorted(wanted) and all(size > 1000 for size in made.values())
