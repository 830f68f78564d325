# SPDX-License-Identifier: BSD-3-Clause
"""Which mpiexec starts the ranks, and what its environment must hold."""

from __future__ import annotations

from collections.abc import Mapping

from hocket import mpiexec

# Each vendor reads its own and ignores the rest, so all are set. Why: tests run as root in
# containers, with more ranks than cores, and none of that is what they test.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def find() -> str:
    """The mpiexec that hocket itself would start. Raises `hocket.Error` where there is none."""
    return str(mpiexec.find())


def spread(nodes: str, size: int) -> str:
    """`nodes`, a value of HOCKET_NODES, fitted to `size` ranks: unchanged where it has as many
    entries, else as many pretended nodes as it names (at most one a rank), evenly filled."""
    entries = nodes.split(",")
    if len(entries) == size:
        return nodes
    names = list(dict.fromkeys(entries))[:size]
    return ",".join(names[rank * len(names) // size] for rank in range(size))


def environment(
    outer: Mapping[str, str], scratch: str, size: int, nodes: str | None
) -> dict[str, str]:
    """The environment of a job of `size` ranks whose own files go to `scratch`."""
    inner = {**SETTINGS, **outer}
    # Left behind in /dev/shm otherwise when a rank dies.
    inner["OMPI_MCA_btl_sm_backing_directory"] = scratch
    wanted = nodes if nodes is not None else outer.get("HOCKET_NODES", "")
    if wanted:
        inner["HOCKET_NODES"] = spread(wanted, size)
    return inner
