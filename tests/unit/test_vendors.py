# SPDX-License-Identifier: BSD-3-Clause
"""An mpi4py of another MPI is refused before anything of it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def used_with(folder: Path, vendor: str) -> str:
    """The error of `hocket.empty` if mpi4py is a stand-in of this vendor."""
    (folder / "mpi4py").mkdir()
    (folder / "mpi4py" / "__init__.py").write_text("", encoding="utf-8")
    text = f"def get_vendor():\n    return {vendor!r}, (9, 8, 7)\n"
    (folder / "mpi4py" / "MPI.py").write_text(text, encoding="utf-8")
    words = (
        "import hocket\ntry:\n    hocket.empty\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_mpi_is_named(tmp_path: Path) -> None:
    from hocket import _mpi

    ours = _mpi.mpi_built_with()
    said = used_with(tmp_path, "MPICH" if ours.startswith("Open MPI") else "Open MPI")
    assert f"hocket was built with {ours}" in said
    assert "9.8.7" in said and "mpi4py uses" in said


def test_the_same_mpi_of_another_version_passes(tmp_path: Path) -> None:
    from hocket import _mpi

    vendor = _mpi.mpi_built_with().rsplit(" ", 1)[0]
    assert "was built with" not in used_with(tmp_path, vendor)


def test_mpich_is_interchangeable_with_its_derivatives(tmp_path: Path) -> None:
    from hocket import _mpi

    if _mpi.mpi_built_with().startswith("Open MPI"):
        pytest.skip("this build's MPI has no interchangeable ones")
    assert "was built with" not in used_with(tmp_path, "Intel MPI")


def test_it_was_built_with_what_it_runs_on() -> None:
    from hocket import _mpi

    assert _mpi.mpi_library().split()[0] == _mpi.mpi_built_with().split()[0]


def test_a_starter_killed_earlier_is_in_nobodys_way(tmp_path: Path) -> None:
    """Its process number comes again: sooner or later, with a thousand tests after another."""
    starter = Path(sys.executable).parent / "mpiexec"
    left = "mkdir ompi.$$ && touch ompi.$$/pmix.$(uname -n).tool"
    done = subprocess.run(
        ["sh", "-c", f"{left} && exec '{starter}' -n 1 echo started"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "started\n", done
