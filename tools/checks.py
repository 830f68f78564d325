# SPDX-License-Identifier: BSD-3-Clause
"""Formatters, linters and types, at pinned versions from PyPI."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import build
import environment
from messages import ROOT
from report import Report

SOURCES = ("include", "src", "bindings", "apps", "bench", "tests", "examples")
PYTHON = (
    "bindings/python",
    "bindings/fortran",
    "packaging",
    "cli",
    "bench",
    "papers",
    "examples",
    "apps",
    "tests",
    "tools",
)


def sources(*suffixes: str) -> list[str]:
    """hocket's files with these suffixes."""
    found = [p for top in SOURCES for s in suffixes for p in (ROOT / top).rglob(f"*{s}")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def check(mpi: str, arguments: list[str]) -> int:
    """Runs all checks, even after one has failed; the exit code."""
    report = Report()
    python = report.step(f"the build for {mpi}", lambda: build.ensure(mpi))
    if python is None:
        return report.close("make check")
    linters: Path | None = None
    folder: Path | None = None

    def texts() -> None:
        nonlocal linters
        title = "the environment of the formatters and linters"
        linters = tools = report.step(title, environment_of_check)
        if tools is None:
            return
        cpp = sources(".cpp", ".hpp", ".h")
        report.run("clang-format", [str(tools / "clang-format"), "--dry-run", "-Werror", *cpp])
        places = [place for place in PYTHON if (ROOT / place).is_dir()]
        report.run("ruff check", [str(tools / "ruff"), "check", "--quiet", *places])
        report.run("ruff format", [str(tools / "ruff"), "format", "--check", "--quiet", *places])
        report.run("mypy --strict", ["sh", "-c", types(mpi, tools, python)])
        report.run("public names", [str(tools / "python"), "tools/public_names.py"])
        report.run("conda recipe", [str(tools / "python"), "tools/recipes.py"])
        report.run("types of the rooms", [str(tools / "python"), "tools/type_counts.py"])
        report.run("words", [str(tools / "python"), "tools/words.py"])

    def sanitized() -> None:
        nonlocal folder
        folder = report.step("the build with sanitizers", lambda: build.audited(mpi))

    report.together(texts, sanitized)
    if folder is not None:
        lanes = [lambda: audit(report, folder, python)]
        if linters is not None:
            lanes.append(lambda: tidy(report, mpi, linters, folder, everything=False))
        report.together(*lanes)
    return report.close("make check")


def environment_of_check() -> Path:
    """The folder of the formatters and linters."""
    with environment.locked("check"):
        return environment.ensure("check").parent


def soak(report: Report, mpi: str) -> None:
    """Runs the checks that `make check` omits: every source in clang-tidy, all tests with the
    sanitizers at each use of a pointer, and each source compiled separately."""
    python = build.environment_of(mpi)
    targets = ("audited", "fortran_programs")
    folder = report.step(
        "the build with sanitizers", lambda: build.audited(mpi, targets, pointers=True)
    )
    if folder is not None:
        tidy(report, mpi, environment_of_check(), folder, everything=True)
        audit(report, folder, python)
        audit_fortran(report, folder, python)
    report.step("each source compiled alone", lambda: build.alone(mpi))


# Leaks within MPI are not hocket's.
SANITIZED = "ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"


def audit(report: Report, folder: Path, python: Path) -> None:
    """The C++ tests, and those of C on several processes, with address and undefined-behaviour
    sanitizers."""
    if build.has_tests(folder):
        ctest = f"'{python.parent / 'ctest'}' --test-dir '{folder}' -j {build.cores()}"
        command = f"{SANITIZED} exec {ctest} --output-on-failure --no-tests=error"
        report.run("C++ unit tests with sanitizers", ["sh", "-c", command])
    else:
        report.absent.append("sanitizers on C++ unit tests, which need GoogleTest")
    start = f"exec timeout 300 '{python.parent / 'mpiexec'}' -n"
    for nodes in ("0", "0,0", "0,0,0", "0,1,1"):
        ranks = nodes.count(",") + 1
        command = f"{SANITIZED} HOCKET_NODES={nodes} {start} {ranks} '{folder / 'tests/test_capi'}'"
        report.run_apart(f"C with sanitizers, nodes {nodes}", command)


def audit_fortran(report: Report, folder: Path, python: Path) -> None:
    """Fortran's tests on one and three processes, with the same sanitizers."""
    start = f"exec timeout 300 '{python.parent / 'mpiexec'}' -n"
    for source in sorted((ROOT / "tests/fortran").glob("*.[fF]90")):
        if source.stem == "checks":
            continue
        for ranks in (1, 3) if source.stem != "layouts" else (1,):
            program = folder / "tests" / f"fortran_{source.stem}"
            what = f"Fortran's {source.stem} with sanitizers, processes: {ranks}"
            report.run_apart(what, f"{SANITIZED} {start} {ranks} '{program}'")


def types(mpi: str, tools: Path, python: Path) -> str:
    """mypy over the packages as they are imported."""
    folder = build.folder_of(mpi) / "python"
    return (
        f"MYPYPATH='{folder}' exec '{tools}/mypy' --strict --python-executable '{python}' -p hocket"
    )


def tidy(report: Report, mpi: str, tools: Path, joined: Path, *, everything: bool) -> None:
    """clang-tidy over the compiled sources of src/ and bindings/, joined as in the build, because
    most of its time goes into their headers: those that a change can affect, but at most a third,
    which rotates with the commits."""
    rooms = (f"{ROOT}/src/", f"{ROOT}/bindings/", f"{joined}/src/")
    # The rooms on top are the largest, so they come first.
    inside = [path for path in reversed(compiled(joined)) if path.startswith(rooms)]
    common, plain = build.folder_of("common"), build.folder_of(mpi)
    prefixes = (f"{ROOT}/bindings/python/", f"{common}/CMakeFiles/hocket_python")
    extensions = {
        folder: [path for path in compiled(folder) if path.startswith(prefixes)]
        for folder in (common, plain)
    }
    listed = [*inside, *(path for paths in extensions.values() for path in paths)]
    read = "\n".join([*listed, *(Path(path).read_text("utf-8") for path in listed)])
    wanted = [path for path in sources(".cpp") if path.startswith(("src/", "bindings/"))]
    wanted.remove("bindings/python/demo_absent.cpp")  # a file of the demo's build only
    unread = [path for path in wanted if f"{ROOT}/{path}" not in read]
    if unread:
        report.failed.append(f"clang-tidy, which would not read {', '.join(unread)}")
    for folder, paths in {joined: inside, **extensions}.items():
        chosen = paths if everything else affected(paths, folder, mpi)
        title = f"clang-tidy on {len(chosen)} of {len(paths)} of build/{folder.name}"
        run_tidy(report, title, tools, folder, chosen)


def affected(paths: list[str], folder: Path, mpi: str) -> list[str]:
    """Those that include a file that differs from the base, HOCKET_BASE or the start of the
    branch, or without a known base all: but at most a third of the paths, which rotates."""
    changed = changed_files()
    includes = included_files(folder, mpi)
    chosen = [path for path in paths if not changed or includes.get(path, {path}) & changed]
    # Not the commits' number, because landings of three commits each would skip one third.
    begin = int(git("rev-parse", "HEAD")[:8] or "0", 16) % 3 * len(chosen) // 3
    return (chosen[begin:] + chosen[:begin])[: len(paths) // 3 + 1]


def changed_files() -> set[str]:
    """Absolute paths of files that differ from the base; nothing without a base."""
    base = os.environ.get("HOCKET_BASE") or git("merge-base", "HEAD", "origin/main")
    if not base or base == git("rev-parse", "HEAD"):
        return set()
    return {str(ROOT / path) for path in git("diff", "--name-only", base).splitlines()}


def git(*words: str) -> str:
    """The output of git; nothing outside a checkout."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def included_files(folder: Path, mpi: str) -> dict[str, set[str]]:
    """For each compiled source all files that it includes, itself among them, from Ninja."""
    ninja = environment.prefix_of(mpi) / "bin" / "ninja"
    command = [str(ninja), "-C", str(folder), "-t", "deps"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = {}
    for block in text.split("\n\n"):
        names = [line.strip() for line in block.splitlines()[1:]]
        absolute = [os.path.realpath(folder / name) for name in names]
        if absolute:
            found[str(folder / names[0])] = set(absolute)
    return found


def compiled(folder: Path) -> list[str]:
    """The C++ files that a build compiles."""
    text = (folder / "compile_commands.json").read_text(encoding="utf-8")
    return [entry["file"] for entry in json.loads(text) if entry["file"].endswith((".cpp", ".cxx"))]


def run_tidy(report: Report, title: str, tools: Path, folder: Path, chosen: list[str]) -> None:
    """clang-tidy over some files of a build, one process a core."""
    (folder / "tidy.list").write_text("".join(f'"{path}"\n' for path in chosen), encoding="utf-8")
    command = (
        f"xargs -r -a '{folder}/tidy.list' -P {build.cores()} -n 1 "
        f"'{tools}/clang-tidy' -p '{folder}' --quiet --warnings-as-errors='*' "
        # A source that is joined with others is included.
        "--header-filter='(include/hocket|src|rooms)/.*\\.[ch]pp$|bindings/.*\\.cpp$' "
        # g++ gives the warnings; clang knows neither all its options, nor its library's past, nor
        # its compiled headers.
        "--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations "
        "--extra-arg=-Wno-ignored-gch --extra-arg=-Wno-invalid-offsetof"
    )
    report.run(title, ["sh", "-c", command])
