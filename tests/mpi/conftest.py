# SPDX-License-Identifier: BSD-3-Clause
"""Makes plain `pytest tests/mpi` run the functions marked by `lockstep.ranks` on several ranks."""

import sys
from pathlib import Path

# Beside this file lies `lockstep`, one folder up the oracle.
for folder in map(str, Path(__file__).resolve().parents[:2]):
    if folder not in sys.path:
        sys.path.insert(0, folder)

from lockstep.plugin import (  # noqa: E402, F401
    comm,
    groups,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_pyfunc_call,
    pytest_terminal_summary,
    pytest_unconfigure,
    soak_seed,
)
