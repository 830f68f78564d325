# SPDX-License-Identifier: BSD-3-Clause
"""The library for aarch64, a part of `make soak`: cross-compiled, its C++ unit tests and jobs of
two processes under qemu-user, and a wheel, which is installed and used there.

The libraries of that architecture (libc, MPICH, GoogleTest, codecs, Python) come from Debian's
packages, unpacked into build/aarch64/root. The machine's own MPICH starts the processes, because
its protocol with them is text. `python3 tools/aarch64.py` runs this part alone, and leaves the
wheel in build/aarch64/wheel.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import build
import environment
from messages import PLACE, ROOT, run, say
from report import Report

TRIPLE = "aarch64-linux-gnu"
PROGRAMS = {
    "debootstrap": "debootstrap",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "mpiexec.mpich": "mpich",
    f"{TRIPLE}-readelf": f"binutils-{TRIPLE}",
}
PACKAGES = (
    "libc6-dev,libstdc++-12-dev,libgtest-dev,libmpich-dev,mpich,nlohmann-json3-dev,libzstd-dev,"
    "zlib1g-dev,libblosc-dev,libssl-dev,libpython3.11-dev,python3.11-minimal"
)
FOLDER = PLACE / "build/aarch64"
#: Debian 12's Python. The wheel is built with this machine's Python of the same version, whose
#: nanobind then compiles against the headers of that architecture
PYTHON = "3.11"
SUFFIX = f"cpython-311-{TRIPLE}"
#: tests of rooms without MPI; of rooms with it
ALONE = ("base", "kernel", "layout", "net", "plan", "shm", "zarr")
WITH_MPI = ("comm", "flow", "remap", "task", "team", "transfer")
#: QEMU 7.2 aborts where a process with threads forks, and ends a process in its handler of SIGSEGV.
#: It lacks process_vm_readv, pidfd_open and openat2, and other processes appear in /proc as QEMU.
#: Debian's MPICH 4.0 refuses a message to oneself in the same memory.
NOT_HERE = (
    "-Pool.works_in_a_forked_child:Crossed.*:Broken.*:Chunks.ThatLeadOutOfTheStoreAreRefused"
    ":Cma.PlacesAreNoPlacesToMap:Cma.AProcessThatIsGoneIsFoundOut:ProcessMonitor.Sees*"
    ":LaunchedProcesses.AreOfTheSameLauncherAndProgram"
    ":Mpi/LinkConformance/*.ALostEndIsNamedInEveryWaitForIt"
)
SOURCES = ROOT / "bindings/python/hocket"
#: redistributes between two processes, in the wheel's package
PROGRAM = """\
import platform
import hocket as hk
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
assert (world.size, platform.machine()) == (2, "aarch64")
a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((4, 6), "(BLOCK, *)", 2), "float64")
b = hk.redistribute(a, hk.Layout((4, 6), "(*, BLOCK)", 2))
assert (b.local == np.add.outer(10 * np.arange(4), np.arange(3) + 3 * world.rank)).all()
"""
TOOLCHAIN = f"""\
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT "{FOLDER}/root")
set(CMAKE_C_COMPILER {TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER {TRIPLE}-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(GTest_DIR "{FOLDER}/root/usr/lib/{TRIPLE}/cmake/GTest" CACHE PATH "")
# CMake starts the interpreter by the emulator, and it is one of this machine.
set(CMAKE_CROSSCOMPILING_EMULATOR env)
set(Python_INCLUDE_DIR "{FOLDER}/root/usr/include/python{PYTHON}")
set(SKBUILD_SOABI "{SUFFIX}")
"""


def missing(mpi: str) -> list[str]:
    """Debian's packages that are not here, and the environment's Python if it is another version;
    root unpacks the packages of the other architecture."""
    found = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    python = environment.prefix_of(mpi) / "bin/python"
    if subprocess.run([python, "-c", ask], capture_output=True, text=True).stdout.strip() != PYTHON:
        found.append(f"Python {PYTHON} in .env/{mpi}")
    return found + ([] if os.geteuid() == 0 else ["the right to be root"])


def libraries(log: Path) -> None:
    """Unpacks Debian's packages for aarch64, once, and names MPICH as an environment has it."""
    root = FOLDER / "root"
    stamp = FOLDER / "packages"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == PACKAGES:
        return
    for folder in (root, FOLDER / "env"):
        shutil.rmtree(folder, ignore_errors=True)
    say(f"unpacking Debian's packages for aarch64 into {root}")
    words = ["--foreign", "--arch=arm64", "--variant=minbase", f"--include={PACKAGES}"]
    run(["debootstrap", *words, "bookworm", root], log=log)
    for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
        run(["dpkg-deb", "-x", package, root], log=log)
    for name in ("bin", "lib"):
        (FOLDER / "env" / name).mkdir(parents=True, exist_ok=True)
    (FOLDER / "env/include").symlink_to(root / f"usr/include/{TRIPLE}/mpich")
    # The second name is the one by which mpi4py's wheels look for MPICH.
    for name in ("libmpi.so", "libmpi.so.12"):
        (FOLDER / f"env/lib/{name}").symlink_to(root / f"usr/lib/{TRIPLE}/libmpich.so.12")
    stamp.write_text(PACKAGES, encoding="utf-8")


def compiled(mpi: str, log: Path) -> None:
    """Both builds: the rooms that need no MPI, then those that do."""
    tools = environment.prefix_of(mpi) / "bin"
    toolchain = FOLDER / "toolchain.cmake"
    toolchain.write_text(TOOLCHAIN, encoding="utf-8")
    common = [build.JOINED, f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"]
    alone = ["objects", *(f"unit_{room}" for room in ALONE)]
    with_mpi = ["test_capi", "transports", *(f"unit_{room}" for room in WITH_MPI)]
    own = [f"-DHOCKET_OBJECTS={FOLDER / 'alone'}", f"-DHOCKET_ENV={FOLDER / 'env'}"]
    for name, options, targets in (
        ("alone", ["-DHOCKET_MPI=OFF", f"-DPython_EXECUTABLE={tools / 'python'}"], alone),
        ("mpi", ["-DHOCKET_PYTHON=OFF", *own], with_mpi),
    ):
        folder = FOLDER / name
        say(f"compiling {folder} with {TRIPLE}-g++")
        configure = ["-S", ROOT, "-B", folder, "-G", "Ninja", "--toolchain", toolchain]
        run([tools / "cmake", *configure, *common, *options], log=log)
        run([tools / "ninja", "-C", folder, "-j", str(build.cores()), *targets], log=log)


def wheel(mpi: str, log: Path) -> Path:
    """The wheel, of the objects that the tests run; its path."""
    target = FOLDER / "wheel"
    shutil.rmtree(target, ignore_errors=True)
    python = environment.prefix_of(mpi) / "bin/python"
    settings = {
        "cmake.define.CMAKE_TOOLCHAIN_FILE": FOLDER / "toolchain.cmake",
        "cmake.define.HOCKET_OBJECTS": FOLDER / "alone",
        "cmake.define.HOCKET_ENV": FOLDER / "env",
        "cmake.define.HOCKET_JOINED": "ON",
        "build-dir": FOLDER / "wheel-build",
    }
    words = [f"-C{name}={value}" for name, value in settings.items()]
    # By these two, scikit-build-core names another architecture in the wheel and its extensions.
    cross = {"_PYTHON_HOST_PLATFORM": "linux-aarch64", "SETUPTOOLS_EXT_SUFFIX": f".{SUFFIX}.so"}
    say(f"building the wheel in {target}")
    pip = [python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", target]
    run([*pip, *words, ROOT], log=log, env={**os.environ, **cross})
    (made,) = target.glob("*.whl")
    return made


def faults(made: Path, log: Path) -> list[str]:
    """A sentence for each property in which this wheel is none for aarch64, or lacks what a wheel
    of this machine has."""
    said = []
    tag = f"cp{PYTHON.replace('.', '')}"
    if not made.name.endswith(f"-{tag}-{tag}-linux_aarch64.whl"):
        said.append(f"the wheel's name is {made.name}, which has not the tag linux_aarch64")
    folder = FOLDER / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(made) as file:
        file.extractall(folder)
        names = set(file.namelist())
        stated = file.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
    if f"Tag: {tag}-{tag}-linux_aarch64" not in stated.splitlines():
        said.append(f"the file WHEEL has another tag: {' '.join(stated.split())}")
    for module in ("_pure", "_mpi"):
        name = f"hocket/{module}.{SUFFIX}.so"
        if name not in names:
            said.append(f"the wheel has no {name}")
            continue
        header = _read(log, "-h", folder / name)
        if re.search(r"Machine: +AArch64", header) is None:
            said.append(f"{name} is not for AArch64: {header}")
    modules = {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py*")}
    lacks = sorted(
        name for name in modules if name.endswith((".py", ".pyi")) and f"hocket/{name}" not in names
    )
    return said + ([f"the wheel lacks {', '.join(lacks)}"] if lacks else [])


def _read(log: Path, option: str, path: Path) -> str:
    line = [f"{TRIPLE}-readelf", "-W", option, str(path)]
    done = subprocess.run(line, capture_output=True, text=True)
    with log.open("a", encoding="utf-8") as sink:
        sink.write(f"$ {shlex.join(line)}\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(made: Path, mpi: str, log: Path) -> Path:
    """The wheel and its dependencies from PyPI, as pip installs them for that architecture."""
    site = FOLDER / "site"
    shutil.rmtree(site, ignore_errors=True)
    say(f"installing {made.name} in {site}")
    python = environment.prefix_of(mpi) / "bin/python"
    pip = [python, "-m", "pip", "install", "-q", "--no-compile", "--target", site]
    pip += ["--only-binary=:all:", "--python-version", PYTHON]
    for platform in ("manylinux_2_28", "manylinux_2_17", "manylinux2014", "linux"):
        pip += ["--platform", f"{platform}_aarch64"]
    run([*pip, made], log=log)
    return site


def soak(report: Report, mpi: str) -> None:
    """All of it; `mpi` names the environment whose CMake and Ninja are used."""
    if lacking := missing(mpi):
        report.absent.append(f"aarch64 under qemu-user, which needs {', '.join(lacking)}")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = FOLDER / "build.log"
    log.write_text("", encoding="utf-8")

    def made() -> bool:
        libraries(log)
        compiled(mpi, log)
        return True

    if not report.step("the build for aarch64", made):
        return
    emulated = f"qemu-aarch64 -L '{FOLDER / 'root'}'"
    for folder, rooms in (("alone", ALONE), ("mpi", WITH_MPI)):
        for room in rooms:
            program = FOLDER / folder / "tests" / f"unit_{room}"
            command = f"{emulated} '{program}' --gtest_brief=1 --gtest_filter='{NOT_HERE}'"
            report.run_apart(f"C++ unit tests of {room} on aarch64", command)
    start = f"HOCKET_TEST_QEMU=1 mpiexec.mpich -n 2 {emulated}"
    program = FOLDER / "mpi/tests/test_capi"
    report.run_apart("redistributions of two processes on aarch64", f"{start} '{program}'")
    use_wheel(report, mpi, log, start)


def use_wheel(report: Report, mpi: str, log: Path, start: str) -> None:
    """Builds the wheel, compares its contents with its name, and runs two processes with it."""
    made = report.step("the wheel for aarch64", lambda: wheel(mpi, log))
    if made is None:
        return
    for sentence in faults(made, log):
        say(sentence)
        report.failed.append(f"the contents of {made.name}")
    site = report.step("the wheel's installation", lambda: installed(made, mpi, log))
    if site is None:
        return
    python = FOLDER / f"root/usr/bin/python{PYTHON}"
    paths = f"-E PYTHONPATH='{site}' -E LD_LIBRARY_PATH='{FOLDER / 'env/lib'}'"
    emulated = f"{start} {paths} -E MPI4PY_MPIABI=mpich '{python}'"
    report.run_apart("two processes of the wheel on aarch64", f"{emulated} -c '{PROGRAM}'")


if __name__ == "__main__":
    alone = Report()
    soak(alone, sys.argv[1] if len(sys.argv) > 1 else "openmpi")
    sys.exit(alone.close("aarch64"))
