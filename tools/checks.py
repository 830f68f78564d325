# SPDX-License-Identifier: BSD-3-Clause
"""Formatters, linters and types, at pinned versions from PyPI."""

from __future__ import annotations

import json
from pathlib import Path

import build
import environment
from messages import ROOT
from suite import Report, audit_threads, has_tests

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
    try:
        folder = build.audited(mpi)
    except SystemExit:  # it has said why
        report.failed.append("the build with sanitizers, and clang-tidy, which reads it")
    else:
        tidy(report, mpi, tools, folder)
        audit(report, folder, python)
    audit_threads(report, mpi, ("base", "kernel"))
    return report.close("make check")


def audit(report: Report, folder: Path, python: Path) -> None:
    """The C++ tests, and those of C and Fortran on several processes, under address and
    undefined-behaviour sanitizers."""
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
        for source in sorted((ROOT / "tests/fortran").glob("*.[fF]90")):
            if source.stem == "checks":
                continue
            for ranks in (1, 3) if source.stem != "layouts" else (1,):
                program = folder / "tests" / f"fortran_{source.stem}"
                what = f"Fortran's {source.stem} with sanitizers, processes: {ranks}"
                report.run(what, ["sh", "-c", f"{options} {start} {ranks} '{program}'"])
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


def tidy(report: Report, mpi: str, tools: Path, joined: Path) -> None:
    """clang-tidy over the compiled sources of src/ and bindings/: those of a room as they are
    joined in the build with sanitizers, because most of its time goes into the headers that all of
    them include."""
    plain = build.folder_of(mpi)
    rooms = (f"{ROOT}/src/", f"{ROOT}/bindings/", f"{joined}/src/")
    # The rooms on top are the largest, and should not be left for the end.
    inside = [path for path in reversed(compiled(joined)) if path.startswith(rooms)]
    extensions = [path for path in compiled(plain) if path.startswith(f"{ROOT}/bindings/python/")]
    read = "\n".join([*inside, *extensions, *(Path(path).read_text("utf-8") for path in inside)])
    wanted = [path for path in sources(".cpp") if path.startswith(("src/", "bindings/"))]
    unread = [path for path in wanted if f"{ROOT}/{path}" not in read]
    if unread:
        report.failed.append(f"clang-tidy, which would not read {', '.join(unread)}")
    run_tidy(report, "clang-tidy", tools, joined, inside)
    run_tidy(report, "clang-tidy on Python's extensions", tools, plain, extensions)


def compiled(folder: Path) -> list[str]:
    """The C++ files that a build compiles."""
    text = (folder / "compile_commands.json").read_text(encoding="utf-8")
    return [entry["file"] for entry in json.loads(text) if entry["file"].endswith((".cpp", ".cxx"))]


def run_tidy(report: Report, title: str, tools: Path, folder: Path, chosen: list[str]) -> None:
    """clang-tidy over some files of a build, one process a core."""
    (folder / "tidy.list").write_text("".join(f'"{path}"\n' for path in chosen), encoding="utf-8")
    command = (
        f"xargs -a '{folder}/tidy.list' -P {build.cores()} -n 1 "
        f"'{tools}/clang-tidy' -p '{folder}' --quiet --warnings-as-errors='*' "
        # A source that is joined with others is included.
        "--header-filter='(include/hocket|src|rooms)/.*\\.[ch]pp$|bindings/.*\\.cpp$' "
        # Warnings are g++'s to give; clang knows neither all its options nor its library's past.
        "--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations"
    )
    report.run(title, ["sh", "-c", command])
