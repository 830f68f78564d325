# SPDX-License-Identifier: BSD-3-Clause
"""Runs every snippet of README, CONTRIBUTING and docs/, and compares what they print.

A fence ```python is a program of its own, which shares a process with others unless it says
`alone`; ```python ranks=4 runs under mpiexec; needs=MODULE, or needs=scalapack, skips it if that
is not installed.
```sh runs line by line in the checkout. A following ```output is what was printed, where `...`
stands for anything.
```fortran is a program on the Fortran module. ```cpp and ```c that begin with #include compile. A
fence that says no-run is only read; one that says file=NAME is a part of
tests/install/test_coupled.py.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import importlib.util
import io
import os
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Running these from a test would run this test again, or take the machine for minutes.
ONLY_NAMED = ("make test", "make check", "make soak", "make docs", "make bench", "make demo")
SECONDS = 300


@dataclass(frozen=True)
class Snippet:
    """One fenced block, and what should come out."""

    place: str
    language: str
    options: str
    text: str
    output: str | None


def documents() -> list[Path]:
    """All that a reader of the project may copy from."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def snippets(path: Path) -> list[Snippet]:
    """The fenced blocks of a document."""
    text = path.read_text(encoding="utf-8")
    found: list[Snippet] = []
    for fence in FENCE.finditer(text):
        language, options, body = fence.groups()
        if language == "output":
            assert found, f"{path}: an output without a program before it"
            last = found.pop()
            found.append(Snippet(last.place, last.language, last.options, last.text, body))
            continue
        line = text.count("\n", 0, fence.start()) + 1
        place = f"{path.relative_to(ROOT)}:{line}"
        found.append(Snippet(place, language, options.strip(), body, None))
    return found


ALL = [snippet for path in documents() for snippet in snippets(path)]


def of(language: str) -> list[Snippet]:
    """Those of one language that are meant to run."""
    return [
        one
        for one in ALL
        if one.language == language and not re.search("no-run|file=", one.options)
    ]


def environment() -> dict[str, str]:
    """The environment's programs first, and its MPI for make."""
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "MPI": Path(sys.prefix).name, "MAKEFLAGS": ""}


def run(command: list[str], folder: Path) -> str:
    """The output of a command; fails with all of it if the command fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=SECONDS
    )
    shown = f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, f"ended with code {done.returncode}:\n{shown}"
    return done.stdout


def matches(expected: str, printed: str) -> bool:
    """Whether this was printed, `...` standing for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def compare(snippet: Snippet, printed: str) -> None:
    """Fails where the document promises something else."""
    if snippet.output is not None:
        assert matches(snippet.output, printed), (
            f"{snippet.place} promises\n{snippet.output}\nand prints\n{printed}"
        )


def is_installed(name: str) -> bool:
    """A module; or ScaLAPACK, for the MPI of this environment."""
    if name == "scalapack":
        found = ctypes.util.find_library("scalapack-openmpi") is not None
        return found and Path(sys.prefix).name == "system"
    return importlib.util.find_spec(name) is not None


@pytest.mark.parametrize("snippet", of("python"), ids=lambda one: one.place)
def test_python(snippet: Snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of its own, in an empty folder; on one process in this one, since most of a second
    goes into a start."""
    program = tmp_path / "snippet.py"
    program.write_text(snippet.text, encoding="utf-8")
    needs = re.search(r"needs=(\w+)", snippet.options)
    if needs and not is_installed(needs.group(1)):
        pytest.skip(f"{needs.group(1)} is not installed")
    ranks = re.search(r"ranks=(\d+)", snippet.options)
    if ranks or "alone" in snippet.options:
        command = [str(BIN / "mpiexec"), "-n", ranks.group(1)] if ranks else []
        compare(snippet, run([*command, sys.executable, str(program)], tmp_path))
        return
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(program), run_name="__main__")
    compare(snippet, printed.getvalue())


@pytest.mark.parametrize("snippet", of("fortran"), ids=lambda one: one.place)
def test_fortran(snippet: Snippet, tmp_path: Path) -> None:
    """Built with the build's module, on as many processes as it says."""
    build = Path(sys.prefix).parent.parent / "build" / Path(sys.prefix).name
    if not (build / "bindings/fortran/libhocket_fortran.a").is_file():
        pytest.skip("there is no Fortran compiler")
    (tmp_path / "snippet.f90").write_text(snippet.text, encoding="utf-8")
    libraries = [build / "bindings/fortran/libhocket_fortran.a", f"-L{build / 'src'}"]
    command = ["gfortran", f"-I{build / 'bindings/fortran/hocket_fortran_modules'}", "snippet.f90"]
    command += [*map(str, libraries), "-lhocket", "-lhocket_core", f"-Wl,-rpath,{build / 'src'}"]
    run([*command, "-o", "snippet"], tmp_path)
    ranks = re.search(r"ranks=(\d+)", snippet.options)
    start = [str(BIN / "mpiexec"), "-n", ranks.group(1)] if ranks else []
    compare(snippet, run([*start, str(tmp_path / "snippet")], tmp_path))


@pytest.mark.parametrize(
    "snippet",
    [one for one in (*of("cpp"), *of("c")) if one.text.startswith("#include")],
    ids=lambda one: one.place,
)
def test_c_and_cpp(snippet: Snippet, tmp_path: Path) -> None:
    """Functions, without the program around them."""
    compiler, standard = {"c": ("mpicc", "c11"), "cpp": ("mpicxx", "c++20")}[snippet.language]
    if not (BIN / compiler).is_file():
        pytest.skip(f"this MPI has no {compiler}")
    source = tmp_path / f"snippet.{snippet.language}"
    source.write_text(snippet.text, encoding="utf-8")
    options = [f"-std={standard}", "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    run([str(BIN / compiler), *options, str(source)], tmp_path)


@pytest.mark.parametrize("snippet", of("sh"), ids=lambda one: one.place)
def test_shell(snippet: Snippet) -> None:
    """Every line runs; a make target that is too long for a test exists at least."""
    lines = [line for line in snippet.text.splitlines() if line and not line.startswith("#")]
    assert lines, f"{snippet.place} is empty"
    printed = ""
    named = False
    for line in lines:
        if line.startswith(ONLY_NAMED):
            named = True
            run(["sh", "-c", line.replace("make", "make --dry-run", 1)], ROOT)
        else:
            printed += run(["sh", "-c", line], ROOT)
    if not named:
        compare(snippet, printed)


def test_readme_promises_what_make_test_prints() -> None:
    """The closing line of the test command is not run from here; its words are the suite's."""
    suite = (ROOT / "tools/suite.py").read_text(encoding="utf-8")
    promised = next(one for one in ALL if one.text.strip() == "make test")
    assert promised.output is not None
    assert 'report.close(f"make test MPI={mpi}")' in suite
    assert matches(promised.output, "make test MPI=openmpi passed in 200 s")


def test_readme_promises_what_the_demo_prints() -> None:
    """A short demo prints the lines that README shows."""
    promised = next(one for one in ALL if one.text.strip() == "make demo")
    folder = f"demo-output/{Path(sys.prefix).name}"  # tests under several MPIs may run at once
    words = ["demo", "--size", "64", "--frames", "8", "--out", folder]
    printed = run([str(BIN / "hocket"), *words], ROOT).replace(folder, "demo-output")
    compare(promised, printed)


def test_every_link_leads_somewhere() -> None:
    """Relative links of the documents name files that are there."""
    broken = []
    for path in [*documents(), ROOT / "CHANGELOG.md"]:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            if "://" not in target and not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert not broken, "\n".join(broken)


def test_each_picture_has_the_command_that_draws_it() -> None:
    """A fence under it names its file, so that a reader can draw it again."""
    lacking = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for picture in re.finditer(r"!\[[^]]*\]\(([^)]+)\)", text):
            under = [fence.group(3) for fence in FENCE.finditer(text, picture.end())]
            if not any(Path(picture.group(1)).name in body for body in under):
                lacking.append(f"{path.relative_to(ROOT)}: {picture.group(1)}")
    assert not lacking, "\n".join(lacking)


def test_all_languages_of_fences_are_known() -> None:
    """A misspelt language would never run."""
    known = {"python", "sh", "output", "text", "cpp", "c", "fortran", "mermaid"}
    unknown = [f"{one.place}: {one.language}" for one in ALL if one.language not in known]
    assert not unknown, "\n".join(unknown)
