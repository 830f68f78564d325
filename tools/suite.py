# SPDX-License-Identifier: BSD-3-Clause
"""The tests, in the order in which a failure is cheapest to read: C++ rooms, Python, processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import build
import environment
import vendor
from messages import ROOT

PURE = ("base", "layout", "kernel", "plan", "node")  # rooms that need no MPI
AGAIN = 3  # failures beyond these are no accidents


class Report:
    """Collects what ran, what failed, and what could not run."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.absent: list[str] = []
        self.unsteady: list[str] = []
        self.began = time.monotonic()

    def run(self, title: str, command: Sequence[str], cwd: Path = ROOT) -> int:
        """Runs one part with its own output; its exit code."""
        print(f"\n== {title}", flush=True)
        began = time.monotonic()
        code = subprocess.run(list(command), cwd=cwd, env=quiet_environment()).returncode
        seconds = time.monotonic() - began
        print(f"== {title}: {'passed' if code == 0 else f'FAILED ({code})'}, {seconds:.0f} s")
        if code != 0:
            self.failed.append(title)
        return code

    def tests(self, title: str, pytest: Sequence[str], folder: Path) -> None:
        """Runs one part with pytest. Where no more than AGAIN tests failed, those run once more,
        alone: on a machine that others use too, a start of a job among a thousand fails for no
        fault of the test's. What passes then is listed at the end, with its first output above,
        because it may be a race as well."""
        kept = folder / "pytest" / title.replace(" ", "-")
        command = [*pytest, "-o", f"cache_dir={kept}"]
        if self.run(title, command) != 1:  # pytest's code for: all ran, some failed
            return
        failed = json.loads((kept / "v/cache/lastfailed").read_text(encoding="utf-8"))
        if len(failed) <= AGAIN:
            self.failed.remove(title)
            if self.run(f"{title}, what failed", [*command, "--last-failed"]) == 0:
                self.unsteady += failed

    def close(self, what: str) -> int:
        """The closing lines; the exit code."""
        print()
        for line in self.absent:
            print(f"not run: {line}")
        for name in self.unsteady:
            print(f"unsteady: {name} failed, and passed when it ran again alone")
        if self.absent and os.environ.get("HOCKET_TEST_ALL"):
            self.failed.append("HOCKET_TEST_ALL asks that nothing is left out")
        seconds = time.monotonic() - self.began
        if self.failed:
            print(f"{what} FAILED after {seconds:.0f} s: {', '.join(self.failed)}")
            return 1
        print(f"{what} passed in {seconds:.0f} s")
        return 0


def quiet_environment() -> dict[str, str]:
    """Threads of numerical libraries would only get in each other's way."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**threads, **os.environ, **build.bytecode()}


def has_tests(folder: Path) -> bool:
    """Whether GoogleTest was found when this folder was configured."""
    return any(folder.glob("tests/unit_*"))


def test(mpi: str, python: Path, arguments: list[str]) -> int:
    """C++ unit tests, Python unit tests, tests of several processes, docs; what did not run.
    With HOCKET_TEST_AGAIN: without what needs no MPI, because it has run beside another one."""
    report = Report()
    again = bool(os.environ.get("HOCKET_TEST_AGAIN"))
    folder = build.folder_of(mpi)
    cores = str(build.cores())
    if has_tests(folder):
        ctest = [str(python.parent / "ctest"), "--test-dir", str(folder), "-j", cores]
        if again:
            ctest += ["-E", rf"^({'|'.join(PURE)})\."]
        report.run("C++ unit tests", [*ctest, "--output-on-failure", "--no-tests=error"])
    else:
        report.absent.append("C++ unit tests, which need GoogleTest (Debian's libgtest-dev)")
    pytest = [str(python), "-m", "pytest", "-q", "-m", "not soak", *arguments]
    parity = ["tests/parity"] if any(ROOT.glob("tests/parity/test_*.py")) else []
    report.tests("Python unit tests", [*pytest, "tests/unit", *parity], folder)
    report.tests("tests of several processes", [*pytest, "tests/mpi"], folder)
    report.tests("projects that use the installed hocket", [*pytest, "tests/install"], folder)
    if (folder / "bindings/fortran/libhocket_fortran.a").is_file():
        report.tests("Fortran", [*pytest, "tests/fortran"], folder)
    else:
        report.absent.append("the Fortran module, which needs a Fortran compiler (gfortran)")
    if shutil.which("pkg-config") is None:
        report.absent.append("projects that ask pkg-config, which is not here")
    report.tests("examples and documents", [*pytest, *files("tests/test_*.py")], folder)
    systems_mpi(report, mpi)
    if not again:
        simulate(report, mpi)
    return report.close(f"make test MPI={mpi}")


def files(pattern: str) -> list[str]:
    """Paths from the root."""
    return [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(pattern))]


def systems_mpi(report: Report, mpi: str) -> None:
    """C and Fortran with Debian's MPI of the same vendor, which Fortran's users will have."""
    if mpi == "system":
        return
    wrapper, starter = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpiexec.{mpi}")
    what = f"C and Fortran with the system's {mpi}"
    if wrapper is None or starter is None or shutil.which("gfortran") is None:
        debian = {"openmpi": "libopenmpi-dev openmpi-bin", "mpich": "libmpich-dev mpich"}[mpi]
        report.absent.append(f"{what}, which need Debian's {debian} gfortran")
        return
    try:
        folder = build.beside(mpi, wrapper)
    except SystemExit:  # it has said why
        report.failed.append(f"the build for {what}")
        return
    settings = "".join(f"{name}={value} " for name, value in vendor.SYSTEM.items())
    chosen = ("arrays", "kinds", "tasks", "teams", "mpi_modules")
    programs = ["test_capi", *(f"fortran_{name}" for name in chosen)]
    start = f"{settings}'{starter}' -n 3 '{folder / 'tests'}'"
    runs = " && ".join(f"{start}/{program}" for program in programs)
    report.run(what, ["sh", "-c", runs])


def simulate(report: Report, mpi: str) -> None:
    """The programs that run on simulated processes."""
    if not all(map(shutil.which, ("smpicc", "smpicxx", "smpirun"))):
        report.absent.append(
            "the run of 16 simulated processes, which needs SimGrid (Debian's libsimgrid-dev)"
        )
        return
    try:
        folder = build.simulated(mpi)
    except SystemExit:  # it has said why
        report.failed.append("the build for simulated processes")
        return
    binaries = environment.prefix_of(mpi) / "bin"
    ctest = [str(binaries / "ctest"), "--test-dir", str(folder)]
    report.run("16 simulated processes", [*ctest, "--output-on-failure", "--no-tests=error"])
    python = [str(binaries / "python"), "-m", "pytest", "-q"]
    report.run("strategies between 32 simulated hosts", [*python, "tests/simulated"])


def audit_threads(report: Report, mpi: str, rooms: Sequence[str] = build.THREADED) -> None:
    """Pool, kernels, conversations through cells, teams and flows, or only the rooms that are
    named, under ThreadSanitizer."""
    if not Path("/usr/include/gtest").is_dir():
        report.absent.append("ThreadSanitizer, which needs GoogleTest (Debian's libgtest-dev)")
        return
    try:
        folder = build.thread_audit(mpi, rooms)
    except SystemExit:  # it has said why
        report.failed.append("the build with ThreadSanitizer")
        return
    ctest = [str(environment.prefix_of(mpi) / "bin" / "ctest"), "--test-dir", str(folder)]
    # Of node/ only what threads stand in for processes in.
    names = [r"node\.Talk" if room == "node" else rf"{room}\." for room in rooms]
    chosen = ["-R", f"^({'|'.join(names)})"]
    report.run("ThreadSanitizer", [*ctest, *chosen, "--output-on-failure", "--no-tests=error"])


def soak(mpi: str, python: Path, arguments: list[str]) -> int:
    """Tests marked soak, and the parsers on damaged texts, which print their seeds; threads under
    ThreadSanitizer; examples of hypothesis that are new each time."""
    import fuzz  # it needs the Report above

    report = Report()
    fuzz.fuzz(report, mpi)
    audit_threads(report, mpi)
    drawn = [
        path
        for path in files("tests/unit/test_*.py")
        if "from hypothesis import" in (ROOT / path).read_text("utf-8")
    ]
    command = [str(python), "-m", "pytest", "-q", "--hypothesis-profile=default", *drawn]
    report.run("new examples", command)
    command = [str(python), "-m", "pytest", "-s", "-m", "soak", *arguments, "tests"]
    report.run("soak", command)
    return report.close("make soak")


def docs(mpi: str, python: Path, arguments: list[str]) -> int:
    """Runs the snippets of the documents, and writes the documents as HTML to site/."""
    report = Report()
    report.run("documents", [str(python), "-m", "pytest", "-q", "tests/test_docs.py", *arguments])
    with environment.locked("docs"):
        tools = environment.ensure("docs").parent
    report.run("HTML in site/", [str(tools / "mkdocs"), "build", "--strict", "--quiet"])
    return report.close("make docs")
