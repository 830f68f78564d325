# SPDX-License-Identifier: BSD-3-Clause
"""Projects of their own build against an installed tree, by CMake and by pkg-config, and run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built
import hocket as hk
from built import BIN, run

PROJECTS = Path(__file__).resolve().parent
COMPILERS = {"cpp": "g++", "c": "gcc", "fortran": "gfortran"}
SOURCES = {"cpp": "main.cpp", "c": "main.c", "fortran": "main.f90"}
SAYS = {"cpp": "C++ on ", "c": "C on ", "fortran": "Fortran on "}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree that was moved since, at a path with a blank."""
    folder = tmp_path_factory.mktemp("install")
    run([str(BIN / "cmake"), "--install", str(built.folder()), "--prefix", str(folder / "first")])
    moved = folder / "moved here"
    (folder / "first").rename(moved)
    return moved


def require_compiler(language: str) -> None:
    """`make test` says what it did not run."""
    if shutil.which(COMPILERS[language]) is None:
        pytest.skip(f"there is no {COMPILERS[language]}")


@pytest.mark.parametrize("language", sorted(SAYS))
def test_cmake(language: str, prefix: Path, tmp_path: Path) -> None:
    require_compiler(language)
    cmake = str(BIN / "cmake")
    build = tmp_path / "build"
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"]
    said = run([cmake, "-G", "Ninja", "-S", str(PROJECTS / language), "-B", str(build), *options])
    run([cmake, "--build", str(build)])
    printed = built.start(build / "user", 2, tmp_path)
    assert SAYS[language] in printed
    if language == "c":
        assert f"found hocket {hk.__version__}" in said
    if language != "cpp":
        assert f"hocket {hk.__version__}" in printed


@pytest.mark.parametrize("language", sorted(SAYS))
def test_pkg_config(language: str, prefix: Path, tmp_path: Path) -> None:
    require_compiler(language)
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    place = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "hocket >= 0.1"], None, **place))
    folder = run(["pkg-config", "--variable=libdir", "hocket"], None, **place)
    (folder,) = shlex.split(folder)
    program = tmp_path / "user"
    command = [COMPILERS[language], *(["-std=c++20"] if language == "cpp" else [])]
    if language == "fortran":
        command += shlex.split(
            run(["pkg-config", "--variable=fortran_sources", "hocket"], None, **place)
        )
    command.append(str(PROJECTS / language / SOURCES[language]))
    run([*command, *flags, f"-Wl,-rpath,{folder}", "-o", str(program)], tmp_path)
    assert SAYS[language] in built.start(program, 2, tmp_path)


def test_another_mpi_is_refused(prefix: Path, tmp_path: Path) -> None:
    """If a project has found another MPI before, the error names both."""
    other = tmp_path / "libmpi_other.so"
    (tmp_path / "other.c").write_text("int MPI_Init, MPI_Finalize;\n", encoding="utf-8")
    run(["gcc", "-shared", "-fPIC", str(tmp_path / "other.c"), "-o", str(other)])
    (tmp_path / "mpi.h").write_text(
        "#define MPI_VERSION 3\n#define MPI_SUBVERSION 1\n"
        "int MPI_Init(int *, char ***);\nint MPI_Finalize(void);\n",
        encoding="utf-8",
    )
    mpicc = tmp_path / "mpicc"
    mpicc.write_text(
        f"#!/bin/sh\ncase $1 in -showme:compile) echo -I{tmp_path};; -showme:link) "
        f"echo -L{tmp_path} -lmpi_other;; *) exit 1;; esac\n",
        encoding="utf-8",
    )
    mpicc.chmod(0o755)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES C)\n"
        "find_package(MPI REQUIRED COMPONENTS C)\nfind_package(hocket 0.1 REQUIRED)\n",
        encoding="utf-8",
    )
    command = [str(BIN / "cmake"), "-S", str(tmp_path), "-B", str(tmp_path / "build")]
    command += [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_C_COMPILER={mpicc}"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert str(other) in said and "hocket was built with the MPI of" in said, said
