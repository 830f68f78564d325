# SPDX-License-Identifier: BSD-3-Clause
"""One process of PyTorch's: prints as JSON which elements its shard of each tensor holds. Started
by tests/unit/test_shardings.py with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""

from __future__ import annotations

import json
import math
import sys

import torch
import torch.distributed as dist
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard

KINDS = {"shard": Shard, "strided": _StridedShard, "replicate": Replicate}


def main() -> None:
    dist.init_process_group("gloo")
    held = []
    for mesh, placements, shape in json.loads(sys.argv[1]):
        # The constructor takes any order of processes, `init_device_mesh` ascending ones only.
        devices = dist.device_mesh.DeviceMesh("cpu", mesh)
        whole = torch.arange(math.prod(shape)).reshape(shape)
        chosen = [
            KINDS[kind](*own[:1], **({"split_factor": own[1]} if own[1:] else {}))
            for kind, *own in placements
        ]
        # PyTorch scatters neither uneven strided shards nor over groups that do not ascend (it
        # sorts their processes); there each process cuts its own.
        strided = any(isinstance(placement, _StridedShard) for placement in chosen)
        ascends = devices.mesh.flatten().tolist() == list(range(dist.get_world_size()))
        source = 0 if ascends and not strided else None
        own = distribute_tensor(whole, devices, chosen, src_data_rank=source).to_local()
        held.append([list(own.shape), own.flatten().tolist()])
    print(json.dumps(held), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
