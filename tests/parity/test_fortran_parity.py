# SPDX-License-Identifier: BSD-3-Clause
"""Every C function has its Fortran procedure or a reason why not, and a Fortran test calls it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "bindings/fortran"
sys.path.insert(0, str(GENERATOR))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import manners  # noqa: E402
import scan  # noqa: E402

HEADERS = ROOT / "include/hocket"
# C's ways to name a task; in Fortran a task is a name or a number.
NAMING = {"hocket_task_named", "hocket_task_at", "hocket_any_task"}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All of the module's sources."""
    folder = tmp_path_factory.mktemp("fortran")
    command = [sys.executable, "-B", str(GENERATOR / "generate.py"), str(HEADERS), str(folder)]
    subprocess.run(command, check=True)
    sources = [*folder.glob("*.F90"), *GENERATOR.glob("*.F90")]
    return "\n".join(path.read_text(encoding="utf-8") for path in sources)


def c_functions() -> set[str]:
    """Those that Fortran says, by the names that it gives them."""
    declared = scan.c_calls([HEADERS / "hocket.h", *sorted((HEADERS / "c").glob("*.h"))])
    said = {name.removesuffix("_fortran") for name in declared} - NAMING
    return {fortran for name in said for fortran in manners.names_of(name)}


def test_fortran_has_every_c_function(module: str) -> None:
    public = set(re.findall(r"\bpublic :: (.*)", module))
    names = {name.strip() for line in public for name in line.split(",")}
    missing = c_functions() - names - {"hocket_fail"}
    assert not missing, (
        f"the Fortran module has no {sorted(missing)}: see bindings/fortran/manners.py"
    )


def test_what_fortran_leaves_out_is_c(module: str) -> None:
    """No reason outlives its function, and what is left out is not there."""
    declared = scan.c_calls([HEADERS / "hocket.h", *sorted((HEADERS / "c").glob("*.h"))])
    assert set(manners.NOT_IN_FORTRAN) <= set(declared)
    assert c_functions() >= manners.BY_HAND | manners.OF_ARRAYS
    for name in manners.NOT_IN_FORTRAN:
        assert f"c_{name}(" not in module


def test_the_fortran_tests_call_every_procedure() -> None:
    folders = (ROOT / "tests/fortran", ROOT / "tests/blocking", ROOT / "examples/fortran")
    called = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in folder.glob("*.*")
        if path.suffix in (".f90", ".F90", ".inc")
    )
    wanted = c_functions() - {"hocket_fail"}
    missing = [name for name in sorted(wanted) if not re.search(rf"\b{name}\b", called, re.I)]
    assert not missing, f"neither tests/fortran nor examples/fortran call {missing}"
