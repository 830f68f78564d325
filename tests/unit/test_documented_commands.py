# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the documentation prints under its figures: they are today's, they make what
stands above them."""

import json
import re
import shlex
import sys
import tarfile
from pathlib import Path

import pytest
from hocket.bench import options

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FIGURES = DOCS / "papers" / "figures"
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
COMMANDS = sorted(
    {line for text in PAGES.values() for line in re.findall(r"^hocket bench (.+)$", text, re.M)}
)
with tarfile.open(ROOT / "papers" / "reports.tar.xz") as packed:
    REPORTS = {each.name: packed.extractfile(each).read() for each in packed.getmembers()}
SIMULATED = [words for words in map(shlex.split, COMMANDS) if words[0] == "simulate"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_understood(command, tmp_path, monkeypatch):
    (tmp_path / "fft-sp1.json").write_bytes(REPORTS["fft-sp1.json"])  # some take its kernels' times
    monkeypatch.chdir(tmp_path)  # where files would go
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


def test_each_simulated_report_is_of_its_command():
    reports = [words for words in SIMULATED if _value(words, "--json") in REPORTS]
    assert reports
    for words in reports:
        name = _value(words, "--json")
        tables = json.loads(REPORTS[name])["tables"]
        parameters = [table["parameters"] for table in tables]
        for option, key in (("--procs", "processors"), ("--size", "N"), ("--noise", "noise")):
            if option in words:
                values = {float(word) for word in _value(words, option).split(",")}
                assert {float(each[key]) for each in parameters} == values, (name, key)
        assert {each["curve"] for each in parameters} == {words[1]}, name


def _value(words, option):
    return words[words.index(option) + 1] if option in words else ""
