# SPDX-License-Identifier: BSD-3-Clause
"""The texts of a release, by `tools/release.py`."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
_spec = importlib.util.spec_from_file_location("release", ROOT / "tools/release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


@pytest.fixture
def tree(tmp_path):
    """A repository of the files that have the version, with a dated section of the changelog."""
    for name in release.VERSIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        if name == "CHANGELOG.md":
            text = re.sub(r"^(## \S+), .*$", r"\1, 2030-01-31", text, count=1, flags=re.MULTILINE)
        if name == "pyproject.toml" and "[project.urls]" not in text:
            text += '\n[project.urls]\nSource = "https://example.org"\n'
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "all")
    return tmp_path


def git(folder, *words):
    name = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *name, *words], cwd=folder, check=True)


def said(tree):
    found = release.versions(tree)
    return release.problems(tree, found["pyproject.toml"], found)


def test_a_tree_that_is_ready(tree):
    assert said(tree) == []


def test_the_addresses_of_the_project_are_known(tree):
    text = (tree / "pyproject.toml").read_text(encoding="utf-8")
    (tree / "pyproject.toml").write_text(text.replace("[project.urls]", "[project.u]"), "utf-8")
    assert any("pyproject.toml has no [project.urls]" in each for each in said(tree))


@pytest.mark.parametrize("name", [name for name in release.VERSIONS if name != "pyproject.toml"])
def test_each_file_has_the_version(tree, name):
    text = (tree / name).read_text(encoding="utf-8")
    version = release.versions(tree)["pyproject.toml"]
    (tree / name).write_text(text.replace(version, "9.9.9"), encoding="utf-8")
    assert any(each.startswith(name) and "9.9.9" in each for each in said(tree))


def test_the_numbers_of_the_header_are_those_of_its_text(tree):
    header = tree / "include/hocket/version.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(re.sub(r"VERSION_PATCH \d+", "VERSION_PATCH 77", text), encoding="utf-8")
    assert any("the numbers" in each and ".77" in each for each in said(tree))


def test_a_changelog_without_a_date_a_changed_tree_and_a_tag(tree):
    changes = tree / "CHANGELOG.md"
    text = changes.read_text(encoding="utf-8")
    changes.write_text(text.replace(", 2030-01-31", ", not released"), encoding="utf-8")
    git(tree, "tag", "v" + release.versions(tree)["pyproject.toml"])
    found = said(tree)
    assert ["has no section" in found[0], "has changes: CHANGELOG.md" in found[1]] == [True, True]
    assert "a tag" in found[2] and len(found) == 3
