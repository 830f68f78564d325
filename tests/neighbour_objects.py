# SPDX-License-Identifier: BSD-3-Clause
"""Objects with the methods of petsc4py and mpi4py-fft that hocket calls, from their documentation:
the PETSc manual on vectors, DMDA and index sets; mpi4py-fft's on global redistributions."""

# ruff: noqa: N802 (the names are PETSc's)

from __future__ import annotations

from typing import Any

import numpy as np


def ownership(total: int, processes: int) -> list[int]:
    """PETSc's default: n/p each, and one more for the first n mod p processes."""
    return [total // processes + (total % processes > r) for r in range(processes)]


class Comm:
    """petsc4py's communicator around mpi4py's."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm

    def tompi4py(self) -> Any:
        return self.comm


class Vec:
    """A vector in consecutive parts."""

    def __init__(self, extents: list[int]) -> None:
        self.extents = extents

    def getOwnershipRanges(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.extents)]).astype(np.int32)

    def getSizes(self) -> Any:
        return self.extents[0], sum(self.extents)


class Mat(Vec):
    """A matrix in blocks of rows."""

    def __init__(self, extents: list[int], columns: int) -> None:
        super().__init__(extents)
        self.columns = columns

    def getSizes(self) -> Any:
        return (self.extents[0], sum(self.extents)), (self.columns, self.columns)


class DMDA:
    """A structured grid: process r is at x = r mod m, y = r/m mod n, z = r/(m n)."""

    def __init__(self, sizes: tuple[int, ...], procs: tuple[int, ...], dof: int = 1) -> None:
        self.sizes, self.procs, self.dof = sizes, procs, dof
        self.owned = [ownership(n, p) for n, p in zip(sizes, procs)]

    def getSizes(self) -> tuple[int, ...]:
        return self.sizes

    def getProcSizes(self) -> tuple[int, ...]:
        return self.procs

    def getDof(self) -> int:
        return self.dof

    def getOwnershipRanges(self) -> tuple[np.ndarray, ...]:
        return tuple(np.array(each, dtype=np.int32) for each in self.owned)

    def corners(self, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The result of getCorners on a process: first indices (x, y, z), and extents."""
        starts, extents = [], []
        for owned, count in zip(self.owned, self.procs):
            rank, at = divmod(rank, count)
            starts.append(sum(owned[:at]))
            extents.append(owned[at])
        return tuple(starts), tuple(extents)


class IS:
    """An index set, of each process's own indices."""

    def __init__(self, comm: Any, indices: Any) -> None:
        self.comm, self.indices = comm, indices

    def getComm(self) -> Comm:
        return Comm(self.comm)

    def getIndices(self) -> np.ndarray:
        return np.array(self.indices, dtype=np.int32)


class Pencil:
    """mpi4py-fft's: `subcomm` has a communicator for each axis, of one process where that is whole.
    Parts differ by one element at most, the longer ones first."""

    def __init__(self, subcomm: Any, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.subcomm = subcomm
        owned = [ownership(n, comm.Get_size()) for n, comm in zip(shape, subcomm)]
        ranks = [comm.Get_rank() for comm in subcomm]
        self.subshape = tuple(each[r] for each, r in zip(owned, ranks))
        self.substart = tuple(sum(each[:r]) for each, r in zip(owned, ranks))


class DistArray(np.ndarray):
    """mpi4py-fft's: an array whose own shape is the local one; `substart` and `global_shape`."""

    substart: tuple[int, ...]
    global_shape: tuple[int, ...]

    @classmethod
    def of(cls, pencil: Pencil) -> DistArray:
        self = np.zeros(pencil.subshape).view(cls)
        self.substart, self.global_shape = pencil.substart, pencil.shape
        return self
