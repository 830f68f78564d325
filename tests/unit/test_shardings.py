# SPDX-License-Identifier: BSD-3-Clause
"""Meshes and placements against torch.chunk's rule, written from its documentation; and against
PyTorch and JAX themselves where they are installed."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import hocket as hk


class Shard:
    def __init__(self, dim):
        self.dim = dim

    def __repr__(self):
        return f"{type(self).__name__}({vars(self)})"


class _StridedShard(Shard):
    def __init__(self, dim, split_factor):
        super().__init__(dim)
        self.split_factor = split_factor


class Replicate:
    pass


class Partial:
    pass


def chunk(array, chunks, axis):
    """torch.chunk: "each chunk is a view of the input"; sizes are the least that give at most
    `chunks` of them, and the last one is smaller. A sharded tensor has empty ones for the rest."""
    size = math.ceil(array.shape[axis] / chunks)
    cuts = [min(k * size, array.shape[axis]) for k in range(1, chunks)]
    return np.split(array, cuts, axis)


def place(array, placement, count):
    """The part of each of `count` processes of one mesh dimension."""
    if isinstance(placement, Replicate):
        return [array] * count
    if isinstance(placement, _StridedShard):  # the others' cut first, then its own in each piece
        pieces = chunk(array, placement.split_factor, placement.dim)
        cut = [chunk(piece, count, placement.dim) for piece in pieces]
        return [np.concatenate([own[i] for own in cut], placement.dim) for i in range(count)]
    return chunk(array, count, placement.dim)


def expected(mesh, placements, shape):
    """Process -> its elements' row-major numbers, in the shape of its local tensor."""
    parts = {(): np.arange(math.prod(shape)).reshape(shape)}
    for k, placement in enumerate(placements):
        parts = {
            (*at, i): own
            for at, part in parts.items()
            for i, own in enumerate(place(part, placement, mesh.shape[k]))
        }
    return {int(mesh[at]): part for at, part in parts.items()}


def check(lay, held):
    assert lay.size == max(held) + 1
    for process, part in held.items():
        assert lay.local_shape(process) == part.shape
        own = np.ravel_multi_index(np.ix_(*lay.global_indices(process)), lay.shape)
        np.testing.assert_array_equal(own, part)


def placed(rng, dimensions):
    kind = rng.integers(4)
    dim = int(rng.integers(dimensions))
    if kind == 0:
        return Replicate()
    return _StridedShard(dim, int(rng.integers(1, 4))) if kind == 1 else Shard(dim)


def test_any_mesh_and_placements():
    rng = np.random.default_rng(5)
    for _ in range(200):
        mesh = rng.permutation(24)[: math.prod(extents := rng.integers(1, 4, rng.integers(1, 4)))]
        mesh = np.argsort(np.argsort(mesh)).reshape(extents)
        shape = tuple(int(n) for n in rng.integers(1, 12, rng.integers(1, 4)))
        placements = [placed(rng, len(shape)) for _ in extents]
        held = expected(mesh, placements, shape)
        check(hk.Layout.from_sharding(mesh, placements, shape), held)
        device_mesh = SimpleNamespace(mesh=mesh, shape=mesh.shape)
        tensor = SimpleNamespace(placements=tuple(placements), shape=shape)
        check(hk.Layout.from_sharding(device_mesh, tensor), held)


def test_a_shard_is_a_block():
    lay = hk.Layout.from_sharding((3, 2), [Shard(0), Shard(-1)], (7, 5))
    assert lay == hk.Layout((7, 5), "(BLOCK, BLOCK)", (3, 2))
    assert str(lay) == "(7, 5) (BLOCK, BLOCK) @ (3, 2)"


def test_an_order_of_torchs_own():
    """A DTensorSpec may say which mesh dimension cuts first: here the second."""
    entry = SimpleNamespace(tensor_dim=0, mesh_dims=(1, 0))
    spec = SimpleNamespace(placements=[Shard(0), Shard(0)], shard_order=(entry,), shape=(13,))
    lay = hk.Layout.from_sharding((2, 3), spec)
    thirds = chunk(np.arange(13), 3, 0)
    for first, second in np.ndindex(2, 3):
        own = chunk(thirds[second], 2, 0)[first]
        assert lay.global_indices(3 * first + second)[0].tolist() == own.tolist()
    tensor = SimpleNamespace(_spec=spec, placements=spec.placements, shape=(13,))
    assert hk.Layout.from_sharding((2, 3), tensor) == lay


def test_every_partition_spec():
    names, extents, shape = ("x", "y", "z"), (2, 3, 2), (12, 24)
    mesh = dict(zip(names, extents))
    devices = np.arange(12).reshape(extents)
    for used in itertools.permutations(names):
        for cut in range(4):
            spec = (used[:cut] if cut != 1 else used[0], used[cut:] or None)
            lay = hk.Layout.from_sharding(mesh, spec, shape)
            for at in np.ndindex(*extents):
                coordinates = dict(zip(names, at))
                for d, axes in enumerate((used[:cut], used[cut:])):
                    number = 0  # the first name is the slowest
                    for axis in axes:
                        number = number * mesh[axis] + coordinates[axis]
                    size = shape[d] // math.prod(mesh[axis] for axis in axes)
                    own = lay.global_indices(int(devices[at]))[d]
                    assert own.tolist() == list(range(number * size, (number + 1) * size))
    copies = hk.Layout.from_sharding(SimpleNamespace(shape=mesh), ("y",), shape)
    assert copies.owners((7, 0)) == [2, 3, 8, 9]
    sharding = SimpleNamespace(spec=("y",), mesh=mesh)
    array = SimpleNamespace(sharding=sharding, shape=shape)
    assert hk.Layout.from_sharding(mesh, array) == copies
    assert hk.Layout.from_sharding(mesh, sharding, shape) == copies


@pytest.mark.parametrize(
    "mesh, spec, shape, why",
    [
        ((2, 2), [Shard(0)], (4,), "1 placements, but the mesh"),
        ((2,), [Shard(1)], (4,), "shards dimension 1"),
        ((2,), [Partial()], (4,), "reduce Partial first"),
        ((2,), [_StridedShard(0, 0)], (4,), "split_factor 0"),
        ((2,), [Shard(0)], None, "give shape="),
        ((0,), [Shard(0)], (4,), "extents of 1 or more"),
        ((2**40,), [Shard(0)], (4,), "2\\*\\*28"),
        (3.5, [Shard(0)], (4,), "the mesh is 3.5"),
        ([[0, 1], [1, 2]], [Shard(0), Replicate()], (4,), "process 1 twice"),
        ((2,), 5, (4,), "the placements are 5"),
        ({"x": 2}, ("y",), (4,), "'y' of .* names no axis.*has x"),
        ({"x": 2}, ("x", "x"), (4, 4), "or one twice"),
        ({"x": 2}, ("x",), (5,), "does not divide"),
        ({"x": 2}, (None, None), (4,), "more entries"),
        ({"x": 2}, (4,), (4,), "neither None nor names"),
    ],
)
def test_what_cannot_be(mesh, spec, shape, why):
    with pytest.raises(hk.LayoutError, match=why):
        hk.Layout.from_sharding(mesh, spec, shape)


def test_what_torch_cuts():
    """The shards that PyTorch itself makes."""
    torch = pytest.importorskip("torch")
    placements = pytest.importorskip("torch.distributed.tensor.placement_types")
    rng = np.random.default_rng(8)
    for _ in range(200):
        n, count, pieces = (int(v) for v in rng.integers(1, 14, 3))
        tensor = torch.arange(n)
        own = [placements.Shard(0), placements._StridedShard(0, split_factor=pieces)]
        for placement in own:
            shards, _ = placement._split_tensor(tensor, count, with_padding=False)
            held = {k: shard.numpy() for k, shard in enumerate(shards)}
            check(hk.Layout.from_sharding((count,), [placement], n), held)


def test_what_jax_cuts():
    """The slices that JAX itself gives to devices."""
    jax = pytest.importorskip("jax")
    sharding = jax.sharding
    mesh = sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("x", "y"))
    spec = sharding.PartitionSpec("x", ("y",))
    lay = hk.Layout.from_sharding(mesh, sharding.NamedSharding(mesh, spec), (4, 6))
    assert lay.local_shape(0) == sharding.NamedSharding(mesh, spec).shard_shape((4, 6))
