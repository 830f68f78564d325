# SPDX-License-Identifier: BSD-3-Clause
"""Reports the end of a process that has imported hocket but has not communicated.

Other processes may wait for its first collective call. They can see that a process is in
`MPI_Finalize` only if it has loaded `hocket._mpi`. So this process loads it at its end.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import sys
from typing import Any

from hocket import forks


@atexit.register
def _be_seen() -> None:
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if forks.spawned() or mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
        return
    with contextlib.suppress(Exception):
        forks.require_none()
        importlib.import_module("hocket.vendors").require_same_mpi()
        importlib.import_module("hocket._mpi")
