# SPDX-License-Identifier: BSD-3-Clause
"""Checks all prerequisites of the set-up first, and names all missing ones together."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from messages import say, stop

MINIMUM_PYTHON = (3, 9)
MINIMUM_GXX = 12
PROGRAM = f"""
#include <concepts>
#include <span>
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < {MINIMUM_GXX}
#error "too old"
#endif
int main() {{ int a[2] = {{0, 0}}; return std::span<int>(a).front(); }}
"""


def compiler() -> str:
    """The C++ compiler: the environment variable CXX, else g++."""
    return os.environ.get("CXX", "g++")


def compiles() -> bool:
    """Whether that compiler exists, is new enough, and builds a C++20 program."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(PROGRAM, encoding="utf-8")
        try:
            command = [*compiler().split(), "-std=c++20", str(source), "-o", folder + "/probe"]
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError:
            return False


def advised() -> list[str]:
    """Debian's packages for stores that are missing: the build leaves stores' optional parts out
    without them."""
    include = Path("/usr/include")
    headers = {
        "nlohmann/json.hpp": "nlohmann-json3-dev",
        "zstd.h": "libzstd-dev",
        "zlib.h": "zlib1g-dev",
        "blosc.h": "libblosc-dev",
        "openssl/ssl.h": "libssl-dev",
    }
    return [package for header, package in headers.items() if not (include / header).is_file()]


def missing(mpi: str) -> list[tuple[str, str]]:
    """The missing prerequisites, as (name, Debian package)."""
    lacks = []
    if sys.version_info < MINIMUM_PYTHON:
        wanted = ".".join(map(str, MINIMUM_PYTHON))
        have = ".".join(map(str, sys.version_info[:3]))
        lacks.append((f"Python {wanted} or newer (this is {have}, {sys.executable})", "python3"))
    if not compiles():
        name = compiler()
        what = f"a C++20 compiler, g++ {MINIMUM_GXX} or newer ('{name}' is not one)"
        have_old = shutil.which(name.split()[0]) is not None
        lacks.append((what, f"g++-{MINIMUM_GXX} (then: export CXX=g++-12)" if have_old else "g++"))
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not header.is_file():
        lacks.append((f"Python's C headers ({header})", "python3-dev"))
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        lacks.append((f"the module venv with pip of {sys.executable}", "python3-venv"))
    if shutil.which("make") is None:
        lacks.append(("make", "make"))
    if mpi == "system" and (shutil.which("mpicc") is None or shutil.which("mpiexec") is None):
        lacks.append(
            (
                "mpicc and mpiexec, as MPI=system asks for the system's MPI",
                "libopenmpi-dev openmpi-bin",
            )
        )
    return lacks


def check(mpi: str) -> None:
    """Ends the program, naming all that is missing, unless everything is there."""
    lacks = missing(mpi)
    if not lacks:
        if packages := advised():
            say(f"stores are built without {', '.join(packages)}: apt-get install brings them")
        return
    listing = "\n".join(f"  - {what}: {package}" for what, package in lacks)
    packages = " ".join(package.split(" (")[0] for _, package in lacks)
    stop(
        "this machine lacks (on the right, the Debian or Ubuntu package that brings it)\n"
        f"{listing}\nInstall them, and run the same command again:\n"
        f"  sudo apt-get install {packages}"
    )
