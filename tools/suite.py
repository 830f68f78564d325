# SPDX-License-Identifier: BSD-3-Clause
"""The tests, in the order in which a failure is cheapest to read: C++ rooms, Python, processes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import aarch64
import build
import checks
import environment
import fuzz
import vendor
from messages import PLACE, ROOT
from report import Report

#: Tests that can differ with a second MPI: those of compiled code, its engine and links, its own
#: requests, starts, and one file of each verb. `make soak` runs everything with it.
VENDOR = (
    "tests/unit/test_run.py",
    "tests/unit/test_vendors.py",
    "tests/mpi/test_capi.py",
    "tests/mpi/test_descriptors.py",
    "tests/mpi/test_flow_comm.py",
    "tests/mpi/test_interpreter_lock.py",
    "tests/mpi/test_jobs.py",
    "tests/mpi/test_redistribute.py",
    "tests/mpi/test_requests.py",
    "tests/mpi/test_spawn.py",
    "tests/mpi/test_tasks.py",
    "tests/mpi/test_transports.py",
    "tests/mpi/test_blocking_steps.py",
)
#: The same for processes that die, leave or come late, which take most of their time to wait: a
#: sequence beside the others.
VENDOR_WAITS = (
    "tests/mpi/test_deadlines.py",
    "tests/mpi/test_finalized.py",
    "tests/mpi/test_kill.py",
    "tests/mpi/test_kill_waits.py",
    "tests/mpi/test_exit_notice.py",
    "tests/mpi/test_missing_ranks.py",
    "tests/mpi/test_excepthook.py",
    "tests/mpi/test_ports_two_mpis.py",
    "tests/mpi/test_ports_kept.py::test_a_writer_is_restarted_before_it_closes",
    "tests/fortran/test_two_mpis.py",
)
#: the programs of these files
VENDOR_TARGETS = (
    *(*build.PACKAGE, "test_capi", "example_papers", "team_leaders"),
    *("separate_jobs", "transports", "test_blocking", "test_blocking_large"),
    *(("fortran_ocean",) if shutil.which("gfortran") else ()),
)


def test(mpi: str, arguments: list[str]) -> int:
    """All tests under this MPI; with HOCKET_TEST_AGAIN, after they have passed under another,
    only those that can differ."""
    report = Report()
    again = bool(os.environ.get("HOCKET_TEST_AGAIN"))
    python = prepare(report, mpi, again)
    if python is not None and again:
        pytest = [str(python), "-m", "pytest", "-q", "-m", "not soak", *arguments]
        folder = build.folder_of(mpi)
        report.together(
            lambda: report.tests("what can differ with the MPI", [*pytest, *VENDOR], folder),
            lambda: report.tests(
                "what can differ with the MPI when processes die or are late",
                [*pytest, *VENDOR_WAITS],
                folder,
            ),
        )
    elif python is not None:
        all_tests(report, mpi, python, arguments)
    return report.close(f"make test MPI={mpi}")


def prepare(report: Report, mpi: str, again: bool) -> Path | None:
    """Builds the tests' targets; the environment's Python, None if that failed."""
    programs = VENDOR_TARGETS if again else ["all"]
    title = f"the environment of {mpi}"
    if again:
        report.step(title, lambda: build.environment_of(mpi))
    else:
        report.step(title, lambda: build.environment_of(mpi, demo=True))
        common = "the build of what serves every MPI"
        report.together(
            lambda: report.step(common, lambda: build.common(mpi, ["objects", "all"])),
            lambda: report.step("packages of the tests", lambda: build.environment_of(mpi)),
        )
    return report.step(f"the build for {mpi}", lambda: build.ensure(mpi, programs))


def all_tests(report: Report, mpi: str, python: Path, arguments: list[str]) -> None:
    """Three sequences at the same time, which take about as long: C++ and Python unit tests;
    tests of several processes; documents, Fortran, stores and ports."""
    folder = build.folder_of(mpi)
    pytest = [str(python), "-m", "pytest", "-q", "-m", "not soak", *arguments]
    outside = [*files("tests/mpi/test_stores*.py"), *files("tests/mpi/test_ports*.py")]

    def alone() -> None:
        for built in (build.folder_of("common"), folder):
            if not build.has_tests(built):
                needed = "C++ unit tests, which need GoogleTest (Debian's libgtest-dev)"
                report.absent.append(needed)
                break
            command = [str(python.parent / "ctest"), "--test-dir", str(built)]
            title = f"C++ unit tests of {built.name}"
            report.run(title, [*command, "--output-on-failure", "--no-tests=error"])
        report.tests("Python unit tests", [*pytest, "tests/unit", "tests/parity"], folder)
        report.tests("projects that use the installed hocket", [*pytest, "tests/install"], folder)

    def several() -> None:
        rest = [f"--ignore={path}" for path in outside]
        report.tests("tests of several processes", [*pytest, *rest, "tests/mpi"], folder)

    def documents() -> None:
        report.tests("examples and documents", [*pytest, *files("tests/test_*.py")], folder)
        if (folder / "bindings/fortran/libhocket_fortran.a").is_file():
            report.tests("Fortran", [*pytest, "tests/fortran"], folder)
        else:
            report.absent.append("the Fortran module, which needs a Fortran compiler (gfortran)")
        if shutil.which("pkg-config") is None:
            report.absent.append("projects that ask pkg-config, which is not here")
        report.tests("tests of stores and ports", [*pytest, *outside], folder)

    report.together(alone, several, documents)
    systems_mpi(report, mpi)
    simulate(report, mpi)


def files(pattern: str) -> list[str]:
    """Paths from the root."""
    return [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(pattern))]


def systems_mpi(report: Report, mpi: str) -> None:
    """C and Fortran with Debian's MPI of the same vendor, which Fortran's users have."""
    if mpi == "system":
        return
    wrapper, starter = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpiexec.{mpi}")
    what = f"C and Fortran with the system's {mpi}"
    if wrapper is None or starter is None or shutil.which("gfortran") is None:
        debian = {"openmpi": "libopenmpi-dev openmpi-bin", "mpich": "libmpich-dev mpich"}[mpi]
        report.absent.append(f"{what}, which need Debian's {debian} gfortran")
        return
    folder = report.step(f"the build for {what}", lambda: build.beside(mpi, wrapper))
    if folder is None:
        return
    settings = "".join(f"{name}={value} " for name, value in vendor.SYSTEM.items())
    chosen = ("arrays", "kinds", "tasks", "teams", "mpi_modules")
    programs = ["test_capi", *(f"fortran_{name}" for name in chosen)]
    programs += ["test_blocking_mpi", "test_blocking_mpi_f08"]
    start = f"{settings}'{starter}' -n 3 '{folder / 'tests'}'"
    runs = " && ".join(f"{start}/{program}" for program in programs)
    report.run_apart(what, runs)


def simulate(report: Report, mpi: str) -> None:
    """The programs that run on simulated processes."""
    if not all(map(shutil.which, ("smpicc", "smpicxx", "smpirun"))):
        report.absent.append(
            "the run of 16 simulated processes, which needs SimGrid (Debian's libsimgrid-dev)"
        )
        return
    title = "the build for simulated processes"
    folder = report.step(title, lambda: build.simulated(mpi, ["simulated"]))
    if folder is None:
        return
    binaries = environment.prefix_of(mpi) / "bin"
    ctest = [str(binaries / "ctest"), "--test-dir", str(folder), "-j", str(build.cores())]
    report.run("16 simulated processes", [*ctest, "--output-on-failure", "--no-tests=error"])


def audit_threads(report: Report, mpi: str) -> None:
    """The pool, kernels, shared memory, teams and flows, under ThreadSanitizer."""
    if not Path("/usr/include/gtest").is_dir():
        report.absent.append("ThreadSanitizer, which needs GoogleTest (Debian's libgtest-dev)")
        return
    title = "the build with ThreadSanitizer"
    folder = report.step(title, lambda: build.thread_audit(mpi))
    if folder is None:
        return
    ctest = [str(environment.prefix_of(mpi) / "bin" / "ctest"), "--test-dir", str(folder)]
    # Of shm/ only tests in which threads stand for processes.
    names = [r"shm\.FlagPair" if room == "shm" else rf"{room}\." for room in build.THREADED]
    chosen = ["-R", f"^({'|'.join(names)})"]
    report.run("ThreadSanitizer", [*ctest, *chosen, "--output-on-failure", "--no-tests=error"])


def soak(mpi: str, arguments: list[str]) -> int:
    """The tests that `make test` omits: everything with the other MPI, tests marked soak, the
    parsers on damaged texts, threads under ThreadSanitizer, new examples of hypothesis. Seeds
    are printed."""
    report = Report()
    python = prepare(report, mpi, False)
    if python is None:
        return report.close("make soak")
    fuzz.fuzz(report)
    audit_threads(report, mpi)
    checks.soak(report, mpi)
    aarch64.soak(report, mpi)
    drawn = [
        path
        for path in files("tests/unit/test_*.py")
        if "from hypothesis import" in (ROOT / path).read_text("utf-8")
    ]
    command = [str(python), "-m", "pytest", "-q", "--hypothesis-profile=default", *drawn]
    report.run("new examples", command)
    report.step("the build for simulated curves", lambda: build.simulated(mpi))
    command = [str(python), "-m", "pytest", "-s", "-m", "soak", *arguments, "tests"]
    report.run("soak", command)
    other = "mpich" if mpi == "openmpi" else "openmpi"
    beside = prepare(report, other, False)
    if beside is not None:
        all_tests(report, other, beside, [])
    neighbours(report)
    return report.close("make soak")


def neighbours(report: Report) -> None:
    """ScaLAPACK, PETSc and mpi4py-fft themselves, which are made for the system's MPI."""
    if not all(map(shutil.which, ("mpicc", "mpiexec"))):
        report.absent.append("ScaLAPACK and PETSc themselves, which need the system's mpicc")
        return
    python = prepare(report, "system", True)
    if python is not None:
        files = ["tests/mpi/test_scalapack.py", "tests/mpi/test_neighbours.py"]
        report.run("neighbours of the system's MPI", [str(python), "-m", "pytest", "-rs", *files])
        page = ["tests/test_docs.py", "-k", "neighbours"]
        report.run("programs of their page", [str(python), "-m", "pytest", "-rs", *page])


def docs(mpi: str, arguments: list[str]) -> int:
    """Runs the snippets of the documents, and writes the documents as HTML to site/."""
    report = Report()
    python = prepare(report, mpi, False)
    if python is None:
        return report.close("make docs")
    report.run("documents", [str(python), "-m", "pytest", "-q", "tests/test_docs.py", *arguments])
    with environment.locked("docs"):
        tools = environment.ensure("docs").parent
    # Otherwise the theme advertises its successor.
    quiet = ["env", "NO_MKDOCS_2_WARNING=1"]
    report.run(
        "HTML in site/",
        [*quiet, str(tools / "mkdocs"), "build", "--strict", "-d", str(PLACE / "site")],
    )
    return report.close("make docs")
