# SPDX-License-Identifier: BSD-3-Clause
"""Processes for a measurement, with a time limit; none remains."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hocket import mpiexec, sessions

from .shaped_link import ShapedLink


def _command(
    command: Sequence[str], ranks: int, link: ShapedLink | None, launcher: Path | None
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment; `hocket.mpiexec` knows the differences between
    launchers."""
    if ranks == 0:
        return list(command), dict(os.environ)
    launcher = launcher or mpiexec.find()
    if link is None:
        line = mpiexec.command(launcher, [(ranks, command)])
    else:
        line = link.command(launcher, command, ranks)
    env = mpiexec.environment(mpiexec.flavour(launcher))
    if ranks <= len(os.sched_getaffinity(0)):
        # With settings for more processes than cores, Open MPI would yield while it waits: not its
        # best settings here.
        env.setdefault("OMPI_MCA_mpi_yield_when_idle", "0")
    return line, env


def start(
    command: Sequence[str],
    ranks: int,
    threads: int,
    timeout: float | None,
    capture: bool = False,
    *,
    errors: bool = False,
    folder: Path | None = None,
    link: ShapedLink | None = None,
    more: Mapping[str, str] | None = None,
    launcher: Path | None = None,
) -> tuple[int, str]:
    """Run a command on that many processes (0: without MPI); its status and, captured, its output.

    ``errors``: captures standard error with the rest. They run in ``folder``, with ``more`` in
    their environment; half of them on either side of ``link``; by ``launcher``, if not by this
    environment's.

    Raises `hocket.Error` without MPI, and TimeoutError if it has not ended in ``timeout`` seconds;
    the command is ended first.
    """
    line, env = _command(command, ranks, link, launcher)
    env.update(more or {})
    # The package may run from a checkout that is not installed.
    root = str(Path(__file__).absolute().parents[2])
    env["PYTHONPATH"] = os.pathsep.join(p for p in (root, env.get("PYTHONPATH", "")) if p)
    env["OMP_NUM_THREADS"] = str(threads)
    with sessions.exit_on_sigterm():
        process = sessions.start(
            line,
            env,
            cwd=folder,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture and errors else None,
            text=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            sessions.end(process)
            raise TimeoutError(
                f"the processes have not ended in {timeout:g} s; a longer --timeout gives them more"
            ) from None
        except BaseException:
            sessions.end(process)
            raise
    return process.returncode, output or ""
