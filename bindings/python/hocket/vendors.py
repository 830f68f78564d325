# SPDX-License-Identifier: BSD-3-Clause
"""Checks that hocket and mpi4py use one MPI: two in one process do not know each other's
communicators."""

from __future__ import annotations

import re

# MPIs whose libraries can replace MPICH's (the MPICH ABI Compatibility Initiative).
_LIKE_MPICH = {
    "MPICH",
    "MPICH2",
    "Intel MPI",
    "MVAPICH",
    "MVAPICH2",
    "Cray MPICH",
    "ParaStation MPI",
}
_SONAMES = {"libmpi.so.40": "Open MPI", "libmpi.so.12": "MPICH", "libmpi_abi.so": "MPI's ABI"}


def _family(name: str) -> str:
    return "MPICH" if name in _LIKE_MPICH else name


def require_same_mpi() -> None:
    """Loads mpi4py's MPI and hocket's extension.

    Raises ImportError, naming both MPIs, if the extension was built with another one.
    """
    from mpi4py import MPI  # first, so that the extension finds its libraries loaded

    name, version = MPI.get_vendor()
    theirs = f"{name} {'.'.join(map(str, version))}"
    try:
        from hocket import _mpi
    except ImportError as error:
        missing = re.search(r"libmpi\w*\.so\S*?(?=:)", str(error))
        if missing is None:
            raise
        ours = next((v for k, v in _SONAMES.items() if missing[0].startswith(k)), "another MPI")
        raise ImportError(_message(f"{ours} ({missing[0]})", theirs)) from error
    ours = _mpi.mpi_built_with()
    if _family(ours.rsplit(" ", 1)[0]) != _family(name):
        raise ImportError(_message(ours, theirs))


def _message(ours: str, theirs: str) -> str:
    return (
        f"hocket was built with {ours}, but mpi4py uses {theirs}; install hocket where mpicc and "
        "mpi4py are of one MPI (`pip install --force-reinstall --no-deps .` builds it anew), or "
        "choose mpi4py's with the variable MPI4PY_MPIABI"
    )
