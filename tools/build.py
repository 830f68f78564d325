# SPDX-License-Identifier: BSD-3-Clause
"""Builds the libraries, the extensions and the C++ tests of one environment, incrementally."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import environment
import prerequisites
from messages import PLACE, ROOT, run, say


def folder_of(name: str) -> Path:
    """The folder of an environment's build."""
    return PLACE / "build" / name


def has_tests(folder: Path) -> bool:
    """Whether CMake found GoogleTest when it configured this folder."""
    return any(folder.glob("tests/unit_*"))


def cores() -> int:
    """The number of cores of this process."""
    return len(os.sched_getaffinity(0))


def bytecode() -> dict[str, str]:
    """Settings of interpreters that are started by the hundred and import the same modules.
    Their compiled files are in the build folder, even if PYTHONDONTWRITEBYTECODE is set, as in
    containers. (Without them, NumPy alone takes each of them half a second.)"""
    kept = os.environ.get("PYTHONPYCACHEPREFIX") or str(PLACE / "build" / "pycache")
    return {"PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}


#: what `import hocket` needs
PACKAGE = ("_pure", "_mpi")
#: rooms whose tests run under ThreadSanitizer
THREADED = ("base", "kernel", "shm", "team", "flow")


#: a whole build takes half the time; the presets of CMakePresets.json compile each source
#: separately
JOINED = "-DHOCKET_JOINED=ON"


def configured_here(folder: Path) -> bool:
    """Whether the build folder belongs to this checkout, and to an existing environment."""
    cache = folder / "CMakeCache.txt"
    if not cache.is_file() or not (folder / "build.ninja").is_file():
        return False
    return f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" in cache.read_text(encoding="utf-8")


def configure(folder: Path, mpi: str, options: list[str], compilers: dict[str, str]) -> None:
    """Runs CMake afresh."""
    binaries = environment.prefix_of(mpi) / "bin"
    if not configured_here(folder):
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    say(f"configuring {folder.relative_to(PLACE)}")
    command = [binaries / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja"]
    make = f"-DCMAKE_MAKE_PROGRAM={binaries / 'ninja'}"
    log = folder / "configure.log"
    log.write_text("", encoding="utf-8")
    run([*command, make, *options], log=log, env={**os.environ, **compilers})


def compile_changed(folder: Path, mpi: str, targets: list[str]) -> None:
    """Runs Ninja with its own progress in a terminal; elsewhere with a line every few seconds,
    and a log that is shown after a failure."""
    ninja = environment.prefix_of(mpi) / "bin" / "ninja"
    command = [ninja, "-C", folder, "-j", str(cores()), *targets]
    if sys.stderr.isatty():
        run(command)
        return
    log = folder / "build.log"
    log.write_text("", encoding="utf-8")
    run(command, log=log, progress=f"building {folder.relative_to(PLACE)}")


def bring_up_to_date(
    folder: Path,
    mpi: str,
    options: list[str],
    compilers: dict[str, str],
    targets: Sequence[str] = (),
) -> None:
    """Configures if its inputs have changed, and builds these targets, or all."""
    stamp = folder / "hocket.stamp"
    # A GoogleTest installed later is found by configuring again.
    googletest = f"googletest {Path('/usr/include/gtest').is_dir()}"
    parts = [environment.fingerprint(mpi), googletest, *options, *map(str, compilers.items())]
    inputs = "\n".join(parts)
    if not (configured_here(folder) and stamp.is_file() and stamp.read_text("utf-8") == inputs):
        configure(folder, mpi, options, compilers)
        stamp.write_text(inputs, encoding="utf-8")
    compile_changed(folder, mpi, list(targets))


def extra_options() -> list[str]:
    """CMake options of HOCKET_CMAKE; later ones win."""
    return os.environ.get("HOCKET_CMAKE", "").split()


def whole(folder: Path) -> bool:
    """Whether a build of more than the demo is configured there."""
    return configured_here(folder) and "HOCKET_DEMO:BOOL=ON\n" not in (
        folder / "CMakeCache.txt"
    ).read_text(encoding="utf-8")


def extent(demo: bool) -> str:
    """CMake's option for everything, or for what the demo needs. Both have the same objects."""
    return f"-DHOCKET_DEMO={'ON' if demo else 'OFF'}"


def common(mpi: str, targets: Sequence[str] = ("objects",), *, demo: bool = False) -> Path:
    """Builds everything that is the same for all MPIs; returns its folder. It uses the tools of
    the first environment, whichever MPI that has."""
    with environment.locked("common"):
        folder = folder_of("common")
        owner = folder / "environment"
        if owner.is_file() and environment.is_ready(owner.read_text("utf-8"), demo=True):
            mpi = owner.read_text("utf-8")
        options = ["-DHOCKET_MPI=OFF", JOINED, f"-DHOCKET_ENV={environment.prefix_of(mpi)}"]
        options += [extent(demo), *extra_options()]
        bring_up_to_date(folder, mpi, options, {"CXX": prerequisites.compiler()}, targets)
        owner.write_text(mpi, encoding="utf-8")
        return folder


@contextmanager
def timed(mpi: str, demo: bool) -> Iterator[None]:
    """Around a set-up with much work: announces the work with the duration of the last time, and
    reports the duration in the end."""
    what = "what the demo needs" if demo else "hocket"
    kept = PLACE / ".env" / f"{mpi}{'-demo' if demo else ''}.seconds"
    made = environment.is_ready(mpi, demo=demo) and (folder_of(mpi) / "hocket.stamp").is_file()
    if not (made and (demo or whole(folder_of(mpi)))):
        before = (
            f"{kept.read_text('utf-8')} s the last time" if kept.is_file() else "1 to 3 minutes"
        )
        say(
            f"making {what} with {mpi} on {cores()} cores, {before}: an environment in .env/{mpi} "
            "with packages from PyPI, the library's rooms in build/common, and what sees MPI in "
            f"build/{mpi}"
        )
    began = time.monotonic()
    yield
    seconds = round(time.monotonic() - began)
    if seconds > 20:
        kept.write_text(str(seconds), encoding="utf-8")
        say(f"ready after {seconds} s")


def environment_of(mpi: str, *, demo: bool = False) -> Path:
    """The environment alone; its Python."""
    with environment.locked(mpi):
        return environment.ensure(mpi, demo=demo)


def ensure(mpi: str, targets: Sequence[str] = PACKAGE, *, demo: bool = False) -> Path:
    """The environment with these targets built in it, or all if none is named; its Python. With
    `demo`, a first build has no more than the demo needs. HOCKET_CMAKE adds CMake options."""
    demo = demo and not whole(folder_of("common")) and not whole(folder_of(mpi))
    with environment.locked(mpi), timed(mpi, demo):
        python = environment.ensure(mpi, demo=demo)
        objects = common(mpi, demo=demo)
        options = [f"-DHOCKET_ENV={environment.prefix_of(mpi)}", f"-DHOCKET_OBJECTS={objects}"]
        options += [JOINED, extent(demo), *extra_options()]
        compilers = {"CXX": prerequisites.compiler()}
        bring_up_to_date(folder_of(mpi), mpi, options, compilers, targets)
        return python


def simulated(mpi: str, targets: Sequence[str] = ()) -> Path:
    """The build for SimGrid, made by CMake and Ninja of an environment; its folder."""
    with environment.locked("simulated"):
        folder = folder_of("simulated")
        # SMPI_PRETEND_CC: CMake tests the compiler with programs without MPI.
        compilers = {"CC": "smpicc", "CXX": "smpicxx", "SMPI_PRETEND_CC": "1"}
        # The applications compile against the environment's libraries; its MPI is not used.
        options = ["-DHOCKET_SIMULATED=ON", JOINED, f"-DHOCKET_ENV={environment.prefix_of(mpi)}"]
        options += [f"-DHOCKET_OBJECTS={common(mpi)}"]
        # Simulated time leaves computing out, so that the compiler's time is what counts.
        options += ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"]
        bring_up_to_date(folder, mpi, options, compilers, targets)
        return folder


def beside(mpi: str, wrapper: str) -> Path:
    """The C and Fortran interfaces with the system's MPI of that vendor, without optimization,
    and their tests; the folder."""
    with environment.locked(f"debian-{mpi}"):
        folder = folder_of(f"debian-{mpi}")
        options = [f"-DMPI_C_COMPILER={wrapper}", "-DHOCKET_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=Debug"]
        options += [JOINED, f"-DHOCKET_OBJECTS={common(mpi)}"]
        options += [f"-DCMAKE_{language}_FLAGS_DEBUG=-O0" for language in ("C", "CXX", "Fortran")]
        compilers = {"CXX": prerequisites.compiler()}
        targets = ["test_capi", "fortran_programs", "test_blocking_mpi", "test_blocking_mpi_f08"]
        bring_up_to_date(folder, mpi, options, compilers, targets)
        return folder


def thread_audit(mpi: str) -> Path:
    """Rooms with threads, with their tests, under ThreadSanitizer; the build's folder."""
    with environment.locked("threads"):
        folder = folder_of("threads")
        options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DHOCKET_THREAD_AUDIT=ON"]
        options += [f"-DHOCKET_ENV={environment.prefix_of(mpi)}", "-DHOCKET_PYTHON=OFF"]
        compilers = {"CXX": prerequisites.compiler()}
        targets = [f"unit_{room}" for room in THREADED]
        bring_up_to_date(folder, mpi, options, compilers, targets)
        return folder


def audited(mpi: str, targets: Sequence[str] = ("audited",), *, pointers: bool = False) -> Path:
    """The libraries and the C and C++ tests with address and undefined-behaviour sanitizers; the
    folder. With `pointers` each use of a pointer is checked by the second, too."""
    with environment.locked("audit"):
        folder = folder_of("audit")
        options = [
            f"-DHOCKET_ENV={environment.prefix_of(mpi)}",
            "-DHOCKET_AUDIT=ON",
            f"-DHOCKET_AUDIT_POINTERS={'ON' if pointers else 'OFF'}",
            JOINED,
            "-DHOCKET_PYTHON=OFF",
            # Enough for line numbers, and quick to compile: optimizing the sanitizers' code takes
            # longer than the tests, except for the targets that hocket_hurry optimizes.
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        ]
        languages = ("CXX", "C", "Fortran")
        options += [f"-DCMAKE_{name}_FLAGS_RELWITHDEBINFO=-O0 -g1" for name in languages]
        compilers = {"CXX": prerequisites.compiler()}
        bring_up_to_date(folder, mpi, options, compilers, targets)
        return folder


def alone(mpi: str) -> Path:
    """The libraries with each source compiled separately, which finds missing includes; the
    build's folder."""
    with environment.locked("alone"):
        folder = folder_of("alone")
        options = [f"-DHOCKET_ENV={environment.prefix_of(mpi)}", "-DHOCKET_TESTS=OFF"]
        options += ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
        bring_up_to_date(folder, mpi, options, {"CXX": prerequisites.compiler()}, PACKAGE)
        return folder
