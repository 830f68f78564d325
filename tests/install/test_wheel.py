# SPDX-License-Identifier: BSD-3-Clause
"""The sdist; and `pip install` of it into an environment of its own, for the MPI of this Python,
which compiles everything: `make soak` does it."""

from __future__ import annotations

import os
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import hocket as hk
import numpy as np
print(hk.__file__)
rows, columns = hk.Layout((4, 6), "(BLOCK, *)", 2), hk.Layout((4, 6), "(*, BLOCK)", 2)
def program(comm):
    a = hk.from_function(lambda i, j: 10 * i + j, rows, "float64")
    return hk.redistribute(a, columns).gather()
print((hk.run(program, ranks=2)[0] == np.add.outer(10 * np.arange(4), np.arange(6))).all())
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    words = "import sys, scikit_build_core.build as b; print(b.build_sdist(sys.argv[1]))"
    name = built.run([sys.executable, "-c", words, str(folder)], ROOT).split()[-1]
    return folder / name


def test_the_sdist_has_all_that_a_build_needs_and_no_more(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("CMakeLists.txt", "LICENSE", "cmake/install.cmake", "include/hocket/hocket.h"):
        assert wanted in names
    assert "bindings/fortran/generate.py" in names and "src/base/pool.cpp" in names
    assert not [name for name in names if name.startswith((".env", "build/", "demo-output"))]
    assert sdist.stat().st_size < 4 << 20


@pytest.mark.soak
def test_pip_installs_it(sdist: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    built.run([sys.executable, "-m", "venv", "--without-pip", str(venv)])
    # What hocket depends on is found where this Python has it; hocket itself is not there.
    packages = Path(sysconfig.get_paths()["purelib"])
    own = next(venv.glob("lib/python3*/site-packages"))
    (own / "dependencies.pth").write_text(f"{packages}\n", encoding="utf-8")
    for name in ("mpiexec", "mpiexec.openmpi", "mpiexec.hydra", "hydra_pmi_proxy", "mpicc"):
        if (built.BIN / name).exists():
            (venv / "bin" / name).symlink_to(built.BIN / name)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python"), "install", "-q"]
    quick = ["-Ccmake.build-type=Debug", "-Ccmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"]
    mpi = f"-Ccmake.define.HOCKET_ENV={sys.prefix}"
    path = f"{built.BIN}{os.pathsep}{os.environ['PATH']}"
    command = [*pip, "--no-deps", "--no-build-isolation", *quick, mpi, str(sdist)]
    built.run(command, tmp_path, PATH=path, CMAKE_GENERATOR="Ninja")
    library = Path(sys.prefix) / "lib/libmpi.so"  # one from PyPI; a system's is found
    known = {"MPI4PY_LIBMPI": str(library)} if library.exists() else {}
    printed = built.run([str(venv / "bin/python"), "-c", PROGRAM], tmp_path, **known)
    file, result = printed.split("\n")[:2]
    assert file.startswith(str(own)) and result == "True"
    said = built.run([str(venv / "bin/hocket"), "info"], tmp_path, **known)
    assert "mpi" in said
