# SPDX-License-Identifier: BSD-3-Clause
"""What `make` says on a machine where something is missing."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def prerequisites(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("prerequisites")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_compilers_are_tried_and_old_ones_found_out(prerequisites, monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    assert prerequisites.compiles()
    least = prerequisites.MINIMUM_GXX
    for wrong in (f"g++ -U__GNUC__ -D__GNUC__={least - 1}", "no-such-compiler", "false"):
        monkeypatch.setenv("CXX", wrong)
        assert not prerequisites.compiles(), wrong


def test_all_that_is_missing_is_named_at_once_with_its_package(prerequisites, monkeypatch, capsys):
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": "/nowhere"})
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit) as ended:
        prerequisites.check("system")
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "'no-such-compiler' is not one" in said and "/nowhere/Python.h" in said
    last = said.strip().splitlines()[-1].split()
    assert last[:3] == ["sudo", "apt-get", "install"]
    assert set(last[3:]) == {
        *("g++", "make", "python3-dev", "python3-venv"),
        *("libopenmpi-dev", "openmpi-bin"),
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["PYTHON=no-such-python"], "hocket: no no-such-python here; install it: sudo apt-get"),
        (["MPI=lam"], "MPI=lam is not one of openmpi, mpich, system"),
    ],
)
def test_the_makefile_says_what_is_wrong(words, message):
    done = subprocess.run(
        ["make", "-s", "which", f"PYTHON={sys.executable}", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0 and done.stdout == ""
    assert message in done.stderr
