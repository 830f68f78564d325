# SPDX-License-Identifier: BSD-3-Clause
"""The sdist; and `pip install` of it into an environment of its own, for the MPI of this Python:
with what is built here, and by `make soak` with everything compiled."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

ROOT = Path(__file__).resolve().parents[2]
#: seconds that compiling everything may take, on a machine that others use too
COMPILING = 1800
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


def test_a_build_of_the_sdist_has_every_source(sdist: Path, tmp_path: Path) -> None:
    """And it is configured, as for a wheel."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    for folder in ("src", "include", "cmake", "bindings"):
        held = [path for path in (ROOT / folder).rglob("*.*") if path.is_file()]
        names = {path.relative_to(ROOT) for path in held if "__pycache__" not in path.parts}
        lacking = sorted(str(name) for name in names if not (source / name).is_file())
        assert names and not lacking, lacking
    build = ["-S", str(source), "-B", str(tmp_path / "build"), "-G", "Ninja"]
    options = ["-DSKBUILD=ON", "-DHOCKET_TESTS=OFF", f"-DHOCKET_ENV={sys.prefix}"]
    make = f"-DCMAKE_MAKE_PROGRAM={built.BIN / 'ninja'}"
    said = built.run([str(built.BIN / "cmake"), *build, *options, make])
    assert "Generating done" in said


class Installed:
    """A new environment, which sees what hocket depends on where this Python has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.venv = folder / "venv"
        built.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)])
        self.packages = next(self.venv.glob("lib/python3*/site-packages"))
        theirs = Path(sysconfig.get_paths()["purelib"])
        (self.packages / "dependencies.pth").write_text(f"{theirs}\n", encoding="utf-8")
        for name in ("mpiexec", "mpiexec.openmpi", "mpiexec.hydra", "hydra_pmi_proxy", "mpicc"):
            if (built.BIN / name).exists():
                (self.venv / "bin" / name).symlink_to(built.BIN / name)

    def install(self, sdist: Path, options: list[str]) -> None:
        """By pip."""
        python = str(self.venv / "bin/python")
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
        command = [*pip, "--no-deps", "--no-build-isolation", *options, str(sdist)]
        path = f"{built.BIN}{os.pathsep}{os.environ['PATH']}"
        built.run(command, self.folder, COMPILING, PATH=path, CMAKE_GENERATOR="Ninja")

    def works(self) -> None:
        """A job of two processes, and the command line."""
        # One from PyPI, by the name that is a library everywhere; a system's is found.
        library = next(Path(sys.prefix).glob("lib/libmpi.so.[0-9]*"), None)
        known = {} if library is None else {"MPI4PY_LIBMPI": str(library)}
        python = str(self.venv / "bin/python")
        file, result = built.run([python, "-c", PROGRAM], self.folder, **known).split("\n")[:2]
        assert file.startswith(str(self.packages)) and result == "True"
        assert "mpi" in built.run([str(self.venv / "bin/hocket"), "info"], self.folder, **known)


def test_pip_installs_it_beside_what_is_built_here(sdist: Path, tmp_path: Path) -> None:
    """The sdist's packages and commands, with the extensions and libraries of this build: all but
    the compilation, which takes minutes."""
    build = built.folder()
    installed = Installed(tmp_path)
    installed.install(sdist, ["-Cwheel.cmake=false"])
    extensions = list((build / "python/hocket").glob("_*.so"))
    assert len(extensions) == 2
    assert (installed.packages / "hocket/py.typed").is_file()
    (information,) = installed.packages.glob("hocket-*.dist-info")
    names = {row.split(",")[0] for row in (information / "RECORD").read_text().splitlines()}
    compiled = {name for name in names if name.endswith(".pyc")}  # by pip, anywhere
    elsewhere = {name for name in names - compiled if not name.startswith(("hocket/", "hocket-"))}
    assert elsewhere == {"../../../bin/hocket"}
    assert not [name for name in names if name.endswith((".cpp", ".hpp", ".tar.xz", ".ipynb"))]
    described = (information / "METADATA").read_text(encoding="utf-8")
    for field in ("Summary", "Author", "Keywords", "Requires-Python", "Description-Content-Type"):
        assert f"\n{field}: " in described, field
    for extension in extensions:
        shutil.copy(extension, installed.packages / "hocket")
    installed.works()


@pytest.mark.soak
def test_pip_installs_it(sdist: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path)
    quick = ["-Ccmake.build-type=Debug", "-Ccmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"]
    installed.install(sdist, [*quick, f"-Ccmake.define.HOCKET_ENV={sys.prefix}"])
    installed.works()
