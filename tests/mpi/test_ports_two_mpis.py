# SPDX-License-Identifier: BSD-3-Clause
"""A job under one MPI and a job under another one, or one process that no launcher has started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec, over_hosts
from lockstep.job import HOSTS
from test_ports import runtime  # noqa: F401
from test_ports_tasks import ACCEPTOR, CONNECTOR

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def other_environment() -> tuple[str, Path]:
    """The other MPI of `LIBRARIES` and its Python. In the second `make test` of CI both are built;
    a skip there would hide that this test never runs."""
    here = Path(sys.prefix).name
    for name in LIBRARIES:
        python = ROOT / ".env" / name / "bin" / "python"
        built = list((ROOT / "build" / name).glob("**/_mpi*.so"))
        if name != here and here in LIBRARIES and python.exists() and built:
            return name, python
    why = f"no environment of another MPI than {here} is built; run make which MPI=mpich"
    (pytest.fail if os.environ.get("HOCKET_TEST_AGAIN") else pytest.skip)(why)


def start(python: Path, folder: Path, code: str, processes: int, *words: str) -> subprocess.Popen:
    """Under the MPI beside this Python; 0 processes: one without a launcher."""
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(code, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(folder), processes, None)
    launcher = [str(python.parent / "mpiexec"), "-n", str(processes)] if processes else []
    if launcher and HOSTS:
        env[over_hosts.REAL], launcher[0] = launcher[0], mpiexec.find()
    line = [*launcher, str(python), str(program), *words]
    return subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)


def meet(folder: Path, acceptor: tuple[Path, int, str], connector: tuple[Path, int, str]) -> None:
    """Both exchange arrays; each program checks that it runs under the MPI of that name."""
    sides = []
    for name, code, (python, processes, library), words in (
        ("sim", ACCEPTOR, acceptor, ("two", "{}", "1")),
        ("viewer", CONNECTOR, connector, ("two", "")),
    ):
        own = f"from mpi4py import MPI\nassert {library!r} in MPI.Get_library_version()\n{code}"
        sides.append(start(python, folder / name, own, processes, *words))
    try:
        for side in sides:
            assert side.wait(90) == 0
    finally:
        for side in sides:
            side.kill()
            side.communicate()


@pytest.mark.parametrize("accepts", ["this MPI", "the other"])
def test_jobs_under_two_mpis_exchange_arrays(accepts, tmp_path, runtime):  # noqa: F811
    name, python = other_environment()
    this = (Path(sys.executable), 2, LIBRARIES[Path(sys.prefix).name])
    other = (python, 3, LIBRARIES[name])
    meet(tmp_path, *((this, other) if accepts == "this MPI" else (other, this)))


def test_one_process_that_no_launcher_has_started(tmp_path, runtime):  # noqa: F811
    here = Path(sys.executable)
    meet(tmp_path, (here, 2, ""), (here, 0, ""))
