# SPDX-License-Identifier: BSD-3-Clause
"""Meshes and placements against torch.chunk's rule, written from its documentation; and against
PyTorch and JAX themselves where they are installed."""

from __future__ import annotations

import itertools
import json
import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import hocket as hk

TESTS = Path(__file__).resolve().parents[1]


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


def shards_of_torch(cases, processes):
    """Run a job of PyTorch over gloo; return each process's part of every tensor."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, str(TESTS / "torch_shards.py"), json.dumps(cases)],
            env=os.environ
            | {"RANK": str(rank), "WORLD_SIZE": str(processes)}
            | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(processes)
    ]
    try:
        texts = [process.communicate(timeout=600)[0] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0] * processes
    return [json.loads(text.splitlines()[-1]) for text in texts]


def test_what_a_job_of_torch_holds():
    """Distributed tensors of six processes: meshes in any order, uneven and strided shards."""
    pytest.importorskip("torch.distributed.tensor")
    rng = np.random.default_rng(11)
    kinds = {"shard": Shard, "strided": _StridedShard, "replicate": Replicate}
    cases = []
    for extents in ([6], [2, 3], [3, 2], [1, 6], [6, 1], [2, 1, 3]) * 4:
        shape = [int(n) for n in rng.integers(1, 14, rng.integers(1, 4))]
        placements = []
        for _ in extents:
            dim = int(rng.integers(len(shape)))
            placements.append(["replicate"] if rng.integers(4) == 0 else ["shard", dim])
        mesh = rng.permutation(6) if len(cases) % 2 else np.arange(6)
        cases.append((mesh.reshape(extents).tolist(), placements, shape))
    # Tensor parallel rows within those of fully sharded data parallel.
    for rows in (1, 5, 12, 13, 29):
        cases.append(([[0, 1], [2, 3], [4, 5]], [["strided", 0, 2], ["shard", 0]], [rows, 3]))
    held = shards_of_torch(cases, 6)
    for k, (mesh, placements, shape) in enumerate(cases):
        own = [kinds[kind](*given) for kind, *given in placements]
        lay = hk.Layout.from_sharding(np.array(mesh), own, shape)
        parts = [np.reshape(numbers, extents) for extents, numbers in (job[k] for job in held)]
        check(lay, dict(enumerate(parts)))


def test_what_jax_cuts():
    """The slices that JAX itself gives to eight devices."""
    pytest.importorskip("jax")
    program = """
import itertools, jax, numpy as np, hocket as hk
from jax.sharding import Mesh, NamedSharding, PartitionSpec
devices = np.array(jax.devices())
assert devices.size == 8
for order in (devices, devices[::-1]):
    mesh = Mesh(order.reshape(2, 2, 2), ("x", "y", "z"))
    names = (None, "x", "y", ("x", "y"), ("y", "x"), ("z", "x", "y"), ("x", "y", "z"))
    tried = 0
    for spec in itertools.product(names, repeat=2):
        used = [name for entry in spec if entry for name in np.atleast_1d(entry)]
        if len(used) != len(set(used)):
            continue
        sharding = NamedSharding(mesh, PartitionSpec(*spec))
        lay = hk.Layout.from_sharding(mesh, sharding, (8, 16))
        for device, held in sharding.devices_indices_map((8, 16)).items():
            rank = list(mesh.devices.flat).index(device)
            want = tuple(range(*own.indices(n)) for own, n in zip(held, (8, 16)))
            assert tuple(map(tuple, lay.global_indices(rank))) == tuple(map(tuple, want))
        tried += 1
    assert tried == 15
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", program]
    run = subprocess.run(
        command, env=os.environ | flags, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
