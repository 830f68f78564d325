# SPDX-License-Identifier: BSD-3-Clause
"""The programs of docs/guide/migrate.md before and after, which must print the same.

tests/test_docs.py runs those that need nothing but MPI; here are those that need a library.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent / "docs/guide/migrate.md"
FENCE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SYSTEM = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def programs(title: str) -> dict[str, str]:
    """The files of a section, by name."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    return dict(FENCE.findall(text))


def printed(folder: Path, command: list[str], **settings: str) -> str:
    """Output of a command."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def run_python(folder: Path, name: str, text: str, ranks: int) -> str:
    """Output of a program under the mpiexec of this Python."""
    (folder / name).write_text(text, encoding="utf-8")
    start = str(Path(sys.executable).parent / "mpiexec")
    return printed(folder, [start, "-n", str(ranks), sys.executable, name])


def test_pdgemr2d_after(tmp_path):
    files = programs("From ScaLAPACK's pdgemr2d")
    output = run_python(tmp_path, "after.py", files["after_pdgemr2d.py"], 2)
    assert output == files["expected"].strip()


def test_pdgemr2d_before(tmp_path):
    compiler, start = shutil.which("mpicc.openmpi"), shutil.which("mpiexec.openmpi")
    if compiler is None or start is None:
        pytest.skip("Debian's Open MPI (libopenmpi-dev openmpi-bin) is not installed")
    files = programs("From ScaLAPACK's pdgemr2d")
    (tmp_path / "before.c").write_text(files["before.c"], encoding="utf-8")
    build = [compiler, "before.c", "-o", "before", "-lscalapack-openmpi"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    if "scalapack" in done.stderr:
        pytest.skip("Debian's ScaLAPACK (libscalapack-openmpi-dev) is not installed")
    assert done.returncode == 0, done.stderr
    output = printed(tmp_path, [start, "-n", "2", "./before"], **SYSTEM)
    assert output == files["expected"].strip()


def test_mpi4py_fft_after(tmp_path):
    files = programs("From mpi4py-fft")
    output = run_python(tmp_path, "after.py", files["after_fft.py"], 4)
    assert output == files["expected"].strip()


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py_fft") is None, reason="mpi4py-fft is not installed"
)
def test_mpi4py_fft_before(tmp_path):
    files = programs("From mpi4py-fft")
    output = run_python(tmp_path, "before.py", files["before_fft.py"], 4)
    assert output == files["expected"].strip()
