# SPDX-License-Identifier: BSD-3-Clause
"""Formatters, linters and types, at pinned versions from PyPI."""

from __future__ import annotations

from pathlib import Path

import build
import environment
from messages import ROOT
from suite import Report, has_tests

SOURCES = ("include", "src", "bindings", "apps", "bench", "tests", "examples")
PYTHON = (
    "bindings/python",
    "bindings/fortran",
    "packaging",
    "cli",
    "bench",
    "examples",
    "apps",
    "tests",
    "tools",
)
TYPED = ("-p", "hocket", "-p", "hocket_cli", "-p", "hocket_bench")


def sources(*suffixes: str) -> list[str]:
    """Files of ours with these endings."""
    found = [p for top in SOURCES for s in suffixes for p in (ROOT / top).rglob(f"*{s}")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def check(mpi: str, arguments: list[str]) -> int:
    """All of them, even after one has failed; the exit code."""
    python = build.ensure(mpi)
    with environment.locked("check"):
        tools = environment.ensure("check").parent
    report = Report()
    cpp = sources(".cpp", ".hpp", ".h")
    report.run("clang-format", [str(tools / "clang-format"), "--dry-run", "-Werror", *cpp])
    places = [place for place in PYTHON if (ROOT / place).is_dir()]
    report.run("ruff check", [str(tools / "ruff"), "check", "--quiet", *places])
    report.run("ruff format", [str(tools / "ruff"), "format", "--check", "--quiet", *places])
    report.run("types of the extensions", build.stubs_command(mpi))
    report.run("mypy --strict", ["sh", "-c", types(mpi, tools, python)])
    report.run("conda recipe", [str(tools / "python"), "tools/recipes.py"])
    report.run("clang-tidy", ["sh", "-c", tidy(mpi, tools)])
    audit(report, mpi, python)
    return report.close("make check")


def audit(report: Report, mpi: str, python: Path) -> None:
    """The C++ tests, and those of C and Fortran on several processes, under address and
    undefined-behaviour sanitizers."""
    try:
        folder = build.audited(mpi)
    except SystemExit:  # it has said why
        report.failed.append("the build with sanitizers")
        return
    # What MPI itself leaves behind is not ours to mend.
    options = "ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    if has_tests(folder):
        ctest = f"'{python.parent / 'ctest'}' --test-dir '{folder}' -j {build.cores()}"
        command = f"{options} exec {ctest} --output-on-failure --no-tests=error"
        report.run("C++ unit tests with sanitizers", ["sh", "-c", command])
    else:
        report.absent.append("sanitizers on C++ unit tests, which need GoogleTest")
    start = f"exec timeout 300 '{python.parent / 'mpiexec'}' -n"
    if (folder / "bindings/fortran/libhocket_fortran.a").is_file():
        for name in ("arrays", "tasks", "teams"):
            command = f"{options} {start} 3 '{folder / 'tests' / f'fortran_{name}'}'"
            report.run(f"Fortran's {name} on 3 processes with sanitizers", ["sh", "-c", command])
    else:
        report.absent.append("sanitizers on the Fortran tests, which need gfortran")
    for nodes in ("0", "0,0", "0,0,0", "0,1,1"):
        ranks = nodes.count(",") + 1
        command = f"{options} HOCKET_NODES={nodes} {start} {ranks} '{folder / 'tests/test_capi'}'"
        report.run(f"C with sanitizers, nodes {nodes}", ["sh", "-c", command])


def types(mpi: str, tools: Path, python: Path) -> str:
    """mypy over the three packages as they are imported."""
    folder = build.folder_of(mpi) / "python"
    return (
        f"MYPYPATH='{folder}:{ROOT}/cli:{ROOT}/bench' exec '{tools}/mypy' --strict "
        f"--python-executable '{python}' {' '.join(TYPED)}"
    )


def tidy(mpi: str, tools: Path) -> str:
    """clang-tidy over the compiled sources of src/ and bindings/, one process a core."""
    folder = build.folder_of(mpi)
    compiled = (folder / "compile_commands.json").read_text(encoding="utf-8")
    listing = [path for path in sources(".cpp") if f'"{ROOT}/{path}"' in compiled]
    chosen = [path for path in listing if path.startswith(("src/", "bindings/"))]
    (folder / "tidy.list").write_text("\n".join(chosen), encoding="utf-8")
    return (
        f"xargs -a '{folder}/tidy.list' -P {build.cores()} -n 4 "
        f"'{tools}/clang-tidy' -p '{folder}' --quiet --warnings-as-errors='*' "
        # Warnings are g++'s to give; clang knows neither all its options nor its library's past.
        "--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations"
    )
