# SPDX-License-Identifier: BSD-3-Clause
"""The sources without git, in a path with blanks, read-only: an ordinary user builds elsewhere, by
make and by CMake."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USER = "hocket-tester"
#: what belongs to the build of this checkout
OURS = shutil.ignore_patterns(".*", "build", "__pycache__", "site", "demo-output", "shared")
#: the settings of pip that name where packages come from
PIP = ("PIP_CERT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "SSL_CERT_FILE")
pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def user() -> Iterator[pwd.struct_passwd]:
    """An ordinary user: made for this test by root, else the one that runs it."""
    if os.geteuid() != 0:
        yield pwd.getpwuid(os.geteuid())
        return
    subprocess.run(["/usr/sbin/useradd", "--create-home", USER], check=True)
    try:
        yield pwd.getpwnam(USER)
    finally:
        subprocess.run(["/usr/sbin/userdel", "--remove", "--force", USER], capture_output=True)


@pytest.fixture(scope="module")
def place(user: pwd.struct_passwd) -> Iterator[Path]:
    """A folder with the sources in `the sources`; the user may write beside them."""
    # Any user may enter the folder, unlike pytest's own.
    folder = Path(tempfile.mkdtemp(prefix="hocket elsewhere "))
    try:
        shutil.copytree(ROOT, folder / "the sources", ignore=OURS)
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        subprocess.run(["chmod", "-R", "a-w,a+rX", folder / "the sources"], check=True)
        yield folder
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        shutil.rmtree(folder)


@pytest.fixture
def run(place, user):
    """Runs a command there as that user, with the system's programs alone."""

    def start(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        to = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        line = (["setpriv", *to] if os.geteuid() == 0 else []) + list(words)
        env = {"PATH": "/usr/bin:/bin", "HOME": user.pw_dir, "USER": user.pw_name, **more}
        env.update({name: os.environ[name] for name in PIP if name in os.environ})
        pipe, mixed = subprocess.PIPE, subprocess.STDOUT
        return subprocess.run(line, cwd=place, env=env, stdout=pipe, stderr=mixed, text=True)

    return start


MAKE = ("make", "-s", "-C", "the sources", "PYTHON=/usr/bin/python3")


def test_make_builds_elsewhere(run, place: Path) -> None:
    """The demo, with its pictures, and a job; nothing is written to the sources."""
    build = place / "the build"
    done = run(*MAKE, "demo", f"BUILD={build}")
    assert done.returncode == 0, done.stdout
    assert list((build / "demo-output").iterdir())
    done = run(*MAKE, "which", f"BUILD={build}")
    python = str(build / ".env/openmpi/bin/python")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == python, done.stdout
    program = "import hocket as hk; print(hk.run(lambda comm: comm.rank, ranks=2))"
    done = run(python, "-c", program)
    assert done.returncode == 0 and done.stdout == "[0, 1]\n", done.stdout
    assert not (place / "the sources/.env").exists()
    assert not (place / "the sources/build").exists()


def test_cmake_builds_elsewhere(run) -> None:
    for name in ("cmake", "g++", "mpicc"):
        if shutil.which(name, path="/usr/bin:/bin") is None:
            pytest.skip(f"the system has no {name}")
    configure = ("cmake", "-S", "the sources", "-B", "by cmake", "-DHOCKET_PYTHON=OFF")
    done = run(*configure)
    assert done.returncode == 0, done.stdout
    done = run("cmake", "--build", "by cmake", "--target", "unit_base")
    assert done.returncode == 0, done.stdout
    done = run("by cmake/tests/unit_base")
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout


def test_make_says_that_it_cannot_write(run, place: Path) -> None:
    done = run(*MAKE, "which")
    assert done.returncode != 0 and "Traceback" not in done.stdout
    wanted = f"hocket: make cannot write to {place}/the sources, where it sets up .env and build; "
    assert wanted in done.stdout and f"make -C '{place}/the sources' BUILD=FOLDER" in done.stdout
