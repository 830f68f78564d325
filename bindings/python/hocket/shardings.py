# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of sharded tensors: the mesh and placements of PyTorch's DTensor, the mesh and
PartitionSpec of JAX. Imports neither library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _pure
from .arguments import integer, integers
from .errors import LayoutError

Run = tuple[int, int]  # first index and end


class Cut:
    """How one dimension of the mesh divides a dimension of the tensor: torch.chunk's rule, after
    a division into `pieces` by later mesh dimensions (torch's _StridedShard)."""

    def __init__(self, dimension: int, mesh: int, pieces: int = 1) -> None:
        self.dimension = dimension
        self.mesh = mesh
        self.pieces = pieces


def _chunks(runs: list[Run], count: int) -> list[list[Run]]:
    """Divides `runs` as torch.chunk does: chunks of ceil(n / count), of which the last may be
    shorter or empty."""
    total = sum(end - first for first, end in runs)
    size = max(1, math.ceil(total / count))
    result: list[list[Run]] = [[] for _ in range(count)]
    at = 0
    for first, end in runs:
        while first < end:
            take = min(end - first, size - at % size)
            result[at // size].append((first, first + take))
            at, first = at + take, first + take
    return result


def _strided(runs: list[Run], count: int, pieces: int) -> list[list[Run]]:
    """Chunk i of each piece, one piece after the other."""
    cut = [_chunks(piece, count) for piece in _chunks(runs, pieces)]
    return [[run for piece in cut for run in piece[i]] for i in range(count)]


def _format(extent: int, cuts: list[Cut], mesh: tuple[int, ...]) -> _pure.Format:
    """The format for the product of the divisions' extents; the first extent varies slowest."""
    parts: list[list[Run]] = [[(0, extent)] if extent else []]
    for cut in cuts:
        parts = [own for runs in parts for own in _strided(runs, mesh[cut.mesh], cut.pieces)]
    if len(cuts) == 1 and cuts[0].pieces == 1:
        return _pure.Format("BLOCK")
    owned = sorted((*run, owner) for owner, runs in enumerate(parts) for run in runs)
    if all(a[2] <= b[2] for a, b in zip(owned, owned[1:])):
        sizes = [sum(end - first for first, end in runs) for runs in parts]
        return _pure.Format.gen_block(np.array(sizes, dtype=np.int64))
    owners = ", ".join(f"{end - first}*{owner}" for first, end, owner in owned)
    return _pure.Format(f"INDIRECT({owners})")


def _layout(
    shape: list[int], cuts: list[Cut], mesh: tuple[int, ...], ranks: list[int]
) -> _pure.Layout:
    """The arrangement: one extent for each divided tensor dimension, then the mesh dimensions
    that hold copies. Each process gets its mesh position."""
    formats, procs, order = [], [], []
    for d, extent in enumerate(shape):
        own = [cut for cut in cuts if cut.dimension == d]
        formats.append(_format(extent, own, mesh) if own else _pure.Format("*"))
        if own:
            procs.append(math.prod(mesh[cut.mesh] for cut in own))
            order += [cut.mesh for cut in own]
    copies = [k for k in range(len(mesh)) if k not in order]
    replicate = list(range(len(procs), len(procs) + len(copies)))
    procs += [mesh[k] for k in copies]
    made = _pure.Layout(shape, formats, procs, replicate)
    places = np.array(ranks).reshape(mesh).transpose(order + copies).reshape(-1)
    return made.relabeled(places.tolist(), 0)


def _mesh_of(mesh: Any) -> tuple[tuple[int, ...], list[int], list[str]]:
    """The extents, the process at each position, and the names (None: torch) of a mesh."""
    shape = getattr(mesh, "shape", mesh)
    table = getattr(mesh, "mesh", mesh)  # torch's DeviceMesh has a tensor of ranks
    names: list[str] = []
    if isinstance(shape, Mapping):  # JAX
        names, table = [str(name) for name in shape], list(shape.values())
    if isinstance(table, (tuple, list)) and not any(np.iterable(each) for each in table):
        extents = tuple(integers(table, "the mesh's extents"))
        if any(extent < 1 for extent in extents) or math.prod(extents) > 2**28:
            raise LayoutError(f"the mesh is {extents}; give extents of 1 or more, 2**28 in all")
        return extents, list(range(math.prod(extents))), names
    try:
        ranks = np.asarray(table.tolist() if hasattr(table, "tolist") else table)
    except (TypeError, ValueError, OverflowError):
        ranks = np.empty(0, dtype=object)
    if ranks.dtype.kind not in "iu" or not ranks.ndim or not ranks.size:
        raise LayoutError(
            f"the mesh is {mesh!r}; give torch's DeviceMesh, JAX's Mesh, extents, an array of "
            f"ranks, or a dict of JAX's axes and their extents"
        )
    return ranks.shape, ranks.reshape(-1).tolist(), []


def _torch_cuts(placements: Any, shape: list[int], mesh: tuple[int, ...]) -> list[Cut]:
    if len(placements) != len(mesh):
        raise LayoutError(
            f"there are {len(placements)} placements, but the mesh {mesh} has {len(mesh)} "
            f"dimensions; give one for each"
        )
    cuts = []
    for k, placement in enumerate(placements):
        kind = type(placement).__name__
        if kind == "Replicate":
            continue
        if kind not in ("Shard", "_StridedShard"):
            raise LayoutError(
                f"the placement of mesh dimension {k} is {placement!r}; a layout has Shard, "
                f"_StridedShard and Replicate (reduce Partial first: tensor.redistribute)"
            )
        dimension = integer(placement.dim, "the placement's dim")
        if not -len(shape) <= dimension < len(shape):
            raise LayoutError(
                f"{placement!r} shards dimension {dimension} of the shape {tuple(shape)}"
            )
        pieces = integer(getattr(placement, "split_factor", 1), "split_factor")
        if pieces < 1:
            raise LayoutError(f"{placement!r} has the split_factor {pieces}; give 1 or more")
        cuts.append(Cut(dimension % len(shape), k, pieces))
    return cuts


def _jax_cuts(spec: Any, shape: list[int], mesh: tuple[int, ...], names: list[str]) -> list[Cut]:
    cuts: list[Cut] = []
    entries = list(spec)
    if len(entries) > len(shape):
        raise LayoutError(f"{spec!r} has more entries than the shape {tuple(shape)} dimensions")
    for d, entry in enumerate(entries):
        axes = () if entry is None else (entry,) if isinstance(entry, str) else entry
        if not isinstance(axes, (tuple, list)):
            raise LayoutError(f"{entry!r} of {spec!r} is neither None nor names of mesh axes")
        many = 1
        for axis in axes:
            if axis not in names or any(cut.mesh == names.index(axis) for cut in cuts):
                raise LayoutError(
                    f"{axis!r} of {spec!r} names no axis of the mesh, or one twice; the mesh has "
                    f"{', '.join(names)}"
                )
            cuts.append(Cut(d, names.index(axis)))
            many *= mesh[names.index(axis)]
        if shape[d] % many:
            raise LayoutError(
                f"{spec!r} cuts dimension {d} of the shape {tuple(shape)} into {many}, which does "
                f"not divide it; JAX has even shards only"
            )
    return cuts


def layout_from_sharding(mesh: Any, spec: Any, shape: Any) -> _pure.Layout:
    """Implements `Layout.from_sharding`."""
    extents, ranks, names = _mesh_of(mesh)
    whole = getattr(spec, "shape", None) if shape is None else shape
    if whole is None:
        raise LayoutError(
            "give shape=, the extents of the whole tensor: meshes and placements have none"
        )
    lengths = integers(whole, "shape")
    order: Any = None  # the order of the divisions, if torch keeps one
    if names:
        spec = getattr(spec, "sharding", spec)
        spec = getattr(spec, "spec", spec)
    else:
        order = getattr(getattr(spec, "_spec", spec), "shard_order", None)
        spec = getattr(spec, "placements", spec)
    if isinstance(spec, (str, bytes)) or not np.iterable(spec):
        raise LayoutError(
            f"the placements are {spec!r}; give torch's placements, one a mesh dimension, or JAX's "
            f"PartitionSpec with a mesh that has names"
        )
    cuts = (
        _jax_cuts(spec, lengths, extents, names)
        if names
        else _torch_cuts(list(spec), lengths, extents)
    )
    for entry in order or ():
        turn = list(entry.mesh_dims)
        cuts.sort(key=lambda cut: turn.index(cut.mesh) if cut.mesh in turn else -1)
    return _layout(lengths, cuts, extents, ranks)
