# SPDX-License-Identifier: BSD-3-Clause
"""The library for aarch64, a part of `make soak`: cross-compiled, its C++ unit tests and jobs of
two processes under qemu-user.

The libraries of that architecture (libc, MPICH, GoogleTest, codecs) come from Debian's packages,
unpacked into build/aarch64/root. The machine's own MPICH starts the processes, because its protocol
with them is text. `python3 tools/aarch64.py` runs this part alone.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import build
import environment
from messages import PLACE, ROOT, run, say
from report import Report

PROGRAMS = {
    "debootstrap": "debootstrap",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "mpiexec.mpich": "mpich",
}
PACKAGES = (
    "libc6-dev,libstdc++-12-dev,libgtest-dev,libmpich-dev,mpich,nlohmann-json3-dev,libzstd-dev,"
    "zlib1g-dev,libblosc-dev,libssl-dev"
)
FOLDER = PLACE / "build/aarch64"
TRIPLE = "aarch64-linux-gnu"
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
TOOLCHAIN = f"""\
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT "{FOLDER}/root")
set(CMAKE_C_COMPILER {TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER {TRIPLE}-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(GTest_DIR "{FOLDER}/root/usr/lib/{TRIPLE}/cmake/GTest" CACHE PATH "")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;{FOLDER}/root")
"""


def missing() -> list[str]:
    """Debian's packages that are not here; root unpacks those of the other architecture."""
    found = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    return found + ([] if os.geteuid() == 0 else ["the right to be root"])


def libraries(log: Path) -> None:
    """Unpacks Debian's packages for aarch64, once, and names MPICH as an environment has it."""
    root = FOLDER / "root"
    if (FOLDER / "env/lib/libmpi.so").exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    say(f"unpacking Debian's packages for aarch64 into {root}")
    words = ["--foreign", "--arch=arm64", "--variant=minbase", f"--include={PACKAGES}"]
    run(["debootstrap", *words, "bookworm", root], log=log)
    for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
        run(["dpkg-deb", "-x", package, root], log=log)
    for name in ("bin", "lib"):
        (FOLDER / "env" / name).mkdir(parents=True, exist_ok=True)
    (FOLDER / "env/include").symlink_to(root / f"usr/include/{TRIPLE}/mpich")
    (FOLDER / "env/lib/libmpi.so").symlink_to(root / f"usr/lib/{TRIPLE}/libmpich.so.12")


def compiled(mpi: str, log: Path) -> None:
    """Both builds: the rooms that need no MPI, then those that do."""
    tools = environment.prefix_of(mpi) / "bin"
    toolchain = FOLDER / "toolchain.cmake"
    toolchain.write_text(TOOLCHAIN, encoding="utf-8")
    common = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1", build.JOINED]
    common += ["-DHOCKET_PYTHON=OFF", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"]
    alone = ["objects", *(f"unit_{room}" for room in ALONE)]
    with_mpi = ["test_capi", "transports", *(f"unit_{room}" for room in WITH_MPI)]
    own = [f"-DHOCKET_OBJECTS={FOLDER / 'alone'}", f"-DHOCKET_ENV={FOLDER / 'env'}"]
    for name, options, targets in (
        ("alone", ["-DHOCKET_MPI=OFF"], alone),
        ("mpi", own, with_mpi),
    ):
        folder = FOLDER / name
        say(f"compiling {folder} with {TRIPLE}-g++")
        configure = ["-S", ROOT, "-B", folder, "-G", "Ninja", "--toolchain", toolchain]
        run([tools / "cmake", *configure, *common, *options], log=log)
        run([tools / "ninja", "-C", folder, "-j", str(build.cores()), *targets], log=log)


def soak(report: Report, mpi: str) -> None:
    """All of it; `mpi` names the environment whose CMake and Ninja are used."""
    if lacking := missing():
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
    start = f"HOCKET_TEST_QEMU=1 mpiexec.mpich -n 2 {emulated} '{FOLDER / 'mpi/tests'}"
    report.run_apart("redistributions of two processes on aarch64", f"{start}/test_capi'")


if __name__ == "__main__":
    alone = Report()
    soak(alone, sys.argv[1] if len(sys.argv) > 1 else "openmpi")
    sys.exit(alone.close("aarch64"))
