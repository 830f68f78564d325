# SPDX-License-Identifier: BSD-3-Clause
"""The recipes for Spack and conda say what pyproject.toml and CMake say."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import hocket as hk

ROOT = Path(__file__).resolve().parents[2]
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class TestSpack:
    """The recipe runs with a stand-in for Spack that writes down what is said."""

    @pytest.fixture
    def said(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        words: dict[str, Any] = {}
        spack = types.ModuleType("spack.package")
        for word in ("license", "version", "variant", "depends_on", "conflicts", "extends"):

            def note(*what: Any, _word: str = word, **more: Any) -> None:
                words.setdefault(_word, []).append((what, more))

            setattr(spack, word, note)
        spack.CMakePackage = type("CMakePackage", (), {})  # type: ignore[attr-defined]
        spack.when = lambda what: contextlib.nullcontext()  # type: ignore[attr-defined]
        spack.run_after = lambda *what, **more: lambda call: call  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
        monkeypatch.setitem(sys.modules, "spack.package", spack)
        path = ROOT / "packaging/spack/packages/hocket/package.py"
        names: dict[str, Any] = {"__file__": str(path)}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        words["class"] = names["Hocket"]
        return words

    def test_it_builds_this_checkout(self, said: dict[str, Any]) -> None:
        assert Path(said["class"].git) == ROOT
        assert said["license"][0][0] == (PROJECT["project"]["license"]["text"],)

    def test_it_asks_for_what_cmake_asks_for(self, said: dict[str, Any]) -> None:
        wanted = [what[0] for what, _ in said["depends_on"]]
        cmake = re.search(
            r"cmake_minimum_required\(VERSION (\d+\.\d+)",
            (ROOT / "CMakeLists.txt").read_text("utf-8"),
        )
        assert cmake is not None and f"cmake@{cmake[1]}:" in wanted
        assert {"c", "cxx", "mpi@3:"} <= set(wanted)

    def test_it_asks_for_what_the_python_package_asks_for(self, said: dict[str, Any]) -> None:
        wanted = {what[0].split("@")[0]: what[0] for what, _ in said["depends_on"]}
        for each in [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]:
            found = re.match(r"([\w-]+)>=([\d.]+),<(\d+)", each)
            assert found is not None
            name, least, below = found.groups()
            most = int(below) - 1
            asked = wanted[f"py-{name}"].partition("@")[2]
            one_major = least.split(".")[0] == str(most) and least.rstrip(".0") == str(most)
            assert asked == (str(most) if one_major else f"{least}:{most}"), each

    def test_it_installs_the_python_package_for_its_mpi(self, said: dict[str, Any]) -> None:
        package, ran = said["class"](), []
        python = types.SimpleNamespace(command=lambda *words: ran.extend(words))
        package.spec = {"mpi": types.SimpleNamespace(mpicc="an-mpicc"), "python": python}
        package.prefix, package.stage = "/prefix", types.SimpleNamespace(source_path="/sources")
        package.install_python()
        assert "-Ccmake.define.MPI_C_COMPILER=an-mpicc" in ran and "--prefix=/prefix" in ran
        assert ran[-1] == "/sources"

    def test_its_options_are_options_of_the_build(self, said: dict[str, Any]) -> None:
        package = said["class"]()
        given: list[str] = []
        package.define = lambda name, value: given.append(name) or name
        package.define_from_variant = lambda name, variant: given.append(name) or name
        mpi = types.SimpleNamespace(mpicc="mpicc")
        package.spec = type("Spec", (dict,), {"satisfies": lambda self, what: what == "+mpi"})(
            mpi=mpi
        )
        assert len(package.cmake_args()) == len(given) == 4
        options = (ROOT / "CMakeLists.txt").read_text("utf-8")
        for name in given:
            assert name == "MPI_C_COMPILER" or f"option({name} " in options


class TestConda:
    """The recipe asks for the versions of pyproject.toml."""

    TEXT = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")

    def test_version(self) -> None:
        assert f'version: "{PROJECT["project"]["version"]}"' in self.TEXT

    @pytest.mark.parametrize(
        "wanted", [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    )
    def test_requirement(self, wanted: str) -> None:
        found = re.match(r"([\w-]+)([^;]*)", wanted)
        assert found is not None
        asked = re.escape(f"{found[1]} {found[2]}")
        assert re.search(rf"^ +(?:- |then: ){asked}$", self.TEXT, re.M)

    def test_both_mpis(self) -> None:
        config = (ROOT / "packaging/conda/conda_build_config.yaml").read_text(encoding="utf-8")
        assert set(re.findall(r"^  - (\w+)$", config, re.MULTILINE)) == {"openmpi", "mpich"}


class TestVersion:
    """pyproject.toml is its home; all that tells a version tells that one."""

    VERSION = PROJECT["project"]["version"]

    def test_the_header_for_c(self) -> None:
        text = (ROOT / "include/hocket/version.h").read_text(encoding="utf-8")
        defined = dict(re.findall(r"^#define HOCKET_(VERSION\w*) (\S+)$", text, re.MULTILINE))
        numbers = [defined[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")]
        assert ".".join(numbers) == self.VERSION
        assert defined["VERSION"] == f'"{self.VERSION}"'

    def test_python(self) -> None:
        assert hk.__version__ == self.VERSION

    def test_the_citation(self) -> None:
        text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        assert f"\nversion: {self.VERSION}\n" in text
        assert f"\nlicense: {PROJECT['project']['license']['text']}\n" in text


def test_who_reports_a_bug_is_asked_for_what_hocket_info_prints() -> None:
    folder = ROOT / ".github/ISSUE_TEMPLATE"
    assert {path.stem for path in folder.iterdir()} == {"bug", "feature", "config"}
    assert 'label: "`hocket info`"' in (folder / "bug.yml").read_text(encoding="utf-8")


def test_the_file_for_forks_runs_ci() -> None:
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "run: .ci/run" in text and "container: debian:12" in text


def test_the_build_for_the_demo_replaces_each_part_that_it_leaves_out() -> None:
    folder = ROOT / "bindings/python"
    defined = re.compile(r"^void (bind_\w+)\(", re.M)
    recipe = (ROOT / "cmake/python_package.cmake").read_text("utf-8")
    apart = re.compile(re.findall(r'FILTER apart INCLUDE REGEX "(.*?)\\\\\.cpp', recipe)[0] + "$")
    left_out = [path for path in folder.glob("*_*.cpp") if apart.search(path.stem)]
    needed = sorted(name for path in left_out for name in defined.findall(path.read_text("utf-8")))
    assert needed == sorted(defined.findall((folder / "demo_absent.cpp").read_text("utf-8")))
    assert len(needed) == 5
    # No other part calls a room that the demo lacks: the extension would not load.
    elsewhere = {
        name
        for room in ("array", "net", "port", "store", "zarr")
        for path in (ROOT / "src" / room).rglob("*.cpp")
        for name in re.findall(r"hocket::Binding::(\w+)\(", path.read_text("utf-8"))
    }
    assert {"parts_along", "within_buffers"} <= elsewhere
    for path in set(folder.glob("*_*.cpp")) - set(left_out):
        called = set(re.findall(r"Binding::(\w+)", path.read_text("utf-8")))
        assert not called & elsewhere, f"{path.name} calls {called & elsewhere}"


def test_the_container_builds_as_the_guide_says() -> None:
    text = (ROOT / "packaging/apptainer/hocket.def").read_text(encoding="utf-8")
    for section in ("%files", "%post", "%environment", "%test", "%runscript"):
        assert f"\n{section}\n" in text
    assert "python3-dev python3-venv" in text and "HOCKET_ENV=/opt/hocket" in text


def test_the_metadata_are_complete() -> None:
    project = PROJECT["project"]
    assert project["description"] and project["keywords"] and project["authors"]
    assert (ROOT / project["readme"]).is_file() and project["license"]
    topics = [each.split(" :: ")[0] for each in project["classifiers"]]
    assert {"Development Status", "Operating System", "License", "Topic"} <= set(topics)
