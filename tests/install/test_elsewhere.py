# SPDX-License-Identifier: BSD-3-Clause
"""The sources without git, in a path with blanks, read-only: an ordinary user builds elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
#: what belongs to the build of this checkout
OURS = shutil.ignore_patterns(".*", "build", "__pycache__", "site", "demo-output", "shared")
pytestmark = pytest.mark.soak


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with the sources in `the sources`; an ordinary user may write beside them."""
    # Any user may enter the folder, unlike pytest's own.
    folder = Path(tempfile.mkdtemp(prefix="hocket elsewhere "))
    try:
        shutil.copytree(ROOT, folder / "the sources", ignore=OURS)
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        subprocess.run(["chmod", "-R", "a-w,a+rX", folder / "the sources"], check=True)
        yield folder
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        shutil.rmtree(folder)


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command there as an ordinary user, with the system's programs alone."""
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    line = (["setpriv", *user] if os.geteuid() == 0 else []) + list(words)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place)}
    pipe = subprocess.PIPE
    return subprocess.run(
        line, cwd=place, env=env, stdout=pipe, stderr=subprocess.STDOUT, text=True
    )


def test_cmake_builds_elsewhere(place: Path) -> None:
    for name in ("cmake", "g++", "mpicc"):
        if shutil.which(name, path="/usr/bin:/bin") is None:
            pytest.skip(f"the system has no {name}")
    configure = ("cmake", "-S", "the sources", "-B", "the build", "-DHOCKET_PYTHON=OFF")
    done = run(place, *configure)
    assert done.returncode == 0, done.stdout
    done = run(place, "cmake", "--build", "the build", "--target", "unit_base")
    assert done.returncode == 0, done.stdout
    done = run(place, "the build/tests/unit_base")
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout


def test_make_says_that_it_cannot_write(place: Path) -> None:
    done = run(place, "make", "-s", "-C", "the sources", "which", "PYTHON=/usr/bin/python3")
    assert done.returncode != 0 and "Traceback" not in done.stdout
    wanted = f"hocket: make cannot write to {place}/the sources, where it sets up .env and build; "
    assert wanted in done.stdout and f"cmake -S '{place}/the sources' -B FOLDER" in done.stdout
