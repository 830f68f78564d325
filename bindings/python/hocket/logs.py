# SPDX-License-Identifier: BSD-3-Clause
"""The logger `hocket` reports choices and their reasons. INFO: settings of the whole program
(MPI, how processes start). DEBUG: each choice (strategies, memory paths)."""

from __future__ import annotations

import atexit
import logging
import os

logger = logging.getLogger("hocket")
logger.addHandler(logging.NullHandler())

_OFF = -1
_heard = _OFF
_begun = False


def heed() -> None:
    """Makes the library report its choices from the logger's present level on. Costs almost
    nothing if the level has not changed."""
    global _heard
    wanted = _OFF
    if logger.isEnabledFor(logging.INFO):
        wanted = logging.DEBUG if logger.isEnabledFor(logging.DEBUG) else logging.INFO
    if wanted == _heard:
        return
    from hocket import _mpi

    _heard = wanted
    _mpi.set_log(wanted)
    _begin()


def _begin() -> None:
    """The settings that the log reports once, at first."""
    global _begun
    if _begun:
        return
    _begun = True
    from mpi4py import MPI

    from hocket import _mpi

    atexit.register(_mpi.set_log, _OFF)  # no reports to an interpreter that is ending
    several = MPI.Query_thread() == MPI.THREAD_MULTIPLE
    logger.info(
        "MPI: %s, which mpi4py has loaded; hocket was built with %s; threads may %scall it at once",
        _mpi.mpi_library(),
        _mpi.mpi_built_with(),
        "" if several else "not ",
    )
    names = sorted(name for name in os.environ if name.startswith("HOCKET_") and os.environ[name])
    logger.info("settings: %s", ", ".join(f"{n}={os.environ[n]}" for n in names) or "none")
