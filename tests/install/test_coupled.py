# SPDX-License-Identifier: BSD-3-Clause
"""docs/guide/coupled.md as a newcomer follows it: its files in an empty folder, its commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built
from built import BIN

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/coupled.md"


def test_the_page(tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("there is no gfortran")
    text = PAGE.read_text(encoding="utf-8")
    home, folder = tmp_path / "home", tmp_path / "empty"
    folder.mkdir()
    built.run([str(BIN / "cmake"), "--install", str(built.folder()), "--prefix", f"{home}/hocket"])
    files = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert {name for name, _ in files} == {"simulation.f90", "viewer.py", "CMakeLists.txt"}
    for name, content in files:
        (folder / name).write_text(content, encoding="utf-8")
    found = re.search(r"^```text run\n(.*?)^```\n```output\n(.*?)^```", text, re.M | re.S)
    assert found is not None
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", found[1]],
        cwd=folder,
        env={**os.environ, "HOME": str(home), "PATH": path, "CMAKE_GENERATOR": "Ninja"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    promised = ".*".join(map(re.escape, found[2].strip().split("...")))
    assert re.search(promised, done.stdout, re.DOTALL), done.stdout
    # 200 steps of this iteration from a hot edge, by NumPy.
    import numpy as np

    heat = np.zeros(32, np.float32)
    heat[0] = 100
    for _ in range(200):
        heat[1:-1] = (heat[:-2] + heat[2:]) / 2
    assert f"step 200: mean {heat.mean():.2f}, row 8 has {heat[7]:.2f}" in done.stdout
