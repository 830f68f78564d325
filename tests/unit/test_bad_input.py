# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is given for whichever argument: it is taken, or an error of hocket's says why not."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import pytest

import hocket as hk

ANYTHING: list[Any] = [
    *(None, True, -1, 0, 2**70, -(2**70), 1.5, float("nan"), 1j, np.float64(2)),
    *("x", "", "é", "\0", "\ud800", b"x", (), ((1,),), [], [None], ["x"], [1.5], [2**70]),
    *({}, {"a": 1}, np.zeros(2)),
    *(np.array([1.5]), np.array("x"), range(3), slice(None), ..., object(), int, lambda: 0),
]
LAY = hk.Layout((8, 8), "(BLOCK,*)", 2)
TURNED = hk.Layout((8, 8), "(*,CYCLIC)", 2)
ONE = hk.Layout((8, 8), "(BLOCK,*)", 1)
PLAN = hk.plan(LAY, TURNED)
PROGRAM = "REAL A(N)\n!HPF$ PROCESSORS P(2)\n!HPF$ DISTRIBUTE A(BLOCK)"


def grid() -> np.ndarray:
    return np.zeros((8, 8))


PURE: dict[str, Callable[[Any], Any]] = {
    "Layout shape": lambda it: hk.Layout(it, "(BLOCK)", 2),
    "Layout dist": lambda it: hk.Layout((8,), it, 2),
    "Layout procs": lambda it: hk.Layout((8,), "(BLOCK)", it),
    "Layout replicate": lambda it: hk.Layout((8,), "(BLOCK)", (2, 2), replicate=it),
    "aligned shape": lambda it: hk.Layout.aligned(it, "A(i) WITH T(i,*)", LAY),
    "aligned align": lambda it: hk.Layout.aligned((8,), it, LAY),
    "aligned template": lambda it: hk.Layout.aligned((8,), "A(i) WITH T(i,*)", it),
    "indexed shape": lambda it: hk.Layout.indexed(it, [[(0, 1)]]),
    "indexed segments": lambda it: hk.Layout.indexed((8,), it),
    "indexed one": lambda it: hk.Layout.indexed((8,), [it]),
    "from_hpf text": lambda it: hk.Layout.from_hpf(it),
    "from_hpf N": lambda it: hk.Layout.from_hpf(PROGRAM, N=it),
    "from_blacs desc": lambda it: hk.Layout.from_blacs(it, (2, 2)),
    "from_blacs grid": lambda it: hk.Layout.from_blacs([1, 0, 8, 8, 2, 2, 0, 0, 8], it),
    "from_blacs rank": lambda it: hk.Layout.from_blacs(
        [1, 0, 8, 8, 2, 2, 0, 0, 8], (1, 1), rank=it
    ),
    "to_blacs context": lambda it: LAY.to_blacs(it),
    "to_blacs dtype": lambda it: LAY.to_blacs(dtype=it),
    "to_blacs transposed": lambda it: LAY.to_blacs(transposed=it),
    "from_petsc": lambda it: hk.Layout.from_petsc(it),
    "from_sharding mesh": lambda it: hk.Layout.from_sharding(it, ("x",), (8,)),
    "from_sharding spec": lambda it: hk.Layout.from_sharding({"x": 2}, it, (8,)),
    "from_sharding axis": lambda it: hk.Layout.from_sharding({"x": 2}, (it,), (8,)),
    "from_sharding placement": lambda it: hk.Layout.from_sharding((2,), [it], (8,)),
    "from_sharding shape": lambda it: hk.Layout.from_sharding({"x": 2}, ("x",), it),
    "section": lambda it: LAY.section(it),
    "parse": lambda it: hk.Layout.parse(it),
    "parse shape": lambda it: hk.Layout.parse("(BLOCK) @ 2", it),
    "local_shape": lambda it: LAY.local_shape(it),
    "global_indices": lambda it: LAY.global_indices(it),
    "owners": lambda it: LAY.owners(it),
    "owner": lambda it: LAY.owner((it, 0)),
    "local_index": lambda it: LAY.local_index(it),
    "relabeled": lambda it: LAY.relabeled(it),
    "relabeled size": lambda it: LAY.relabeled([0, 1], size=it),
    "relabel": lambda it: hk.relabel(it, LAY),
    "plan src": lambda it: hk.plan(it, LAY),
    "plan dst": lambda it: hk.plan(LAY, it),
    **{
        f"plan {name}": lambda it, name=name: hk.plan(LAY, TURNED, **{name: it})
        for name in ("axes", "itemsize", "strategy", "stages", "overlap", "model")
    },
    "model second": lambda it: hk.plan(LAY, TURNED, model={"message": it}),
    "sends": lambda it: PLAN.sends(it),
    "steps side": lambda it: PLAN.steps(it, 0),
    "steps rank": lambda it: PLAN.steps("src", it),
    "boxes": lambda it: PLAN.boxes("dst", it),
    "predict": lambda it: PLAN.predict(it),
    "permute x": lambda it: hk.permute(it, (1, 0)),
    "permute axes": lambda it: hk.permute(grid(), it),
    "permute out": lambda it: hk.permute(grid(), (1, 0), out=it),
    "permute threads": lambda it: hk.permute(grid(), (1, 0), threads=it),
    "permute_inplace": lambda it: hk.permute_inplace(it, (1, 0)),
    "take_rows x": lambda it: hk.take_rows(it, [0]),
    "take_rows rows": lambda it: hk.take_rows(grid(), it),
    "take_rows out": lambda it: hk.take_rows(grid(), [0], out=it),
    "put_rows x": lambda it: hk.put_rows(it, [0], grid()),
    "put_rows rows": lambda it: hk.put_rows(grid(), it, grid()),
    "put_rows values": lambda it: hk.put_rows(grid(), [0], it),
    "swap_rows x": lambda it: hk.swap_rows(it, [0], [1]),
    "swap_rows first": lambda it: hk.swap_rows(grid(), it, [1]),
    "cycles": lambda it: hk.cycles(it, (1, 0)),
}

ALONE: dict[str, Callable[[Any], Any]] = {
    "empty": lambda it: hk.empty(it),
    "empty dtype": lambda it: hk.empty(ONE, it),
    "wrap": lambda it: hk.wrap(it, ONE),
    "wrap layout": lambda it: hk.wrap(grid(), it),
    # Errors of a function are not hocket's.
    "from_function": lambda it: None if callable(it) else hk.from_function(it, ONE),
    "from_function values": lambda it: hk.from_function(lambda i, j: it, ONE),
    "scatter": lambda it: hk.scatter(it, ONE),
    "scatter layout": lambda it: hk.scatter(grid(), it),
    "scatter comm": lambda it: hk.scatter(grid(), ONE, it),
    "scatter root": lambda it: hk.scatter(grid(), ONE, root=it),
    "scatter timeout": lambda it: hk.scatter(grid(), ONE, timeout=it),
    "gather root": lambda it: hk.zeros(ONE).gather(it),
    "redistribute": lambda it: hk.redistribute(it, ONE),
    "redistribute layout": lambda it: hk.redistribute(hk.zeros(ONE), it),
    **{
        f"redistribute {name}": lambda it, name=name: hk.redistribute(
            hk.zeros(ONE), ONE, **{name: it}
        )
        for name in ("axes", "dtype", "out", "timeout")
    },
    "tasks": lambda it: hk.tasks(it),
    "tasks count": lambda it: hk.tasks({"a": it}),
    "waitall": lambda it: hk.waitall(it),
    "waitany": lambda it: hk.waitany(it),
}


def try_all(call: Callable[[Any], Any], things: Sequence[Any] = ANYTHING) -> None:
    """Only errors of hocket's may come out, and never without a word, or the `TypeError` that says
    which of NumPy's arguments an array's method lacks."""
    for thing in things:
        try:
            call(thing)
        except hk.Error as error:
            assert str(error), repr(thing)
        except Exception as error:
            if type(error) is TypeError and "of distributed arrays takes no" in str(error):
                continue
            raise AssertionError(f"{thing!r} gives {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("name", PURE)
def test_pure_calls(name):
    try_all(PURE[name])


@pytest.mark.parametrize("name", ALONE)
def test_calls_of_one_process(name):
    try_all(ALONE[name])


@pytest.mark.parametrize("verb", ["send", "recv", "sendrecv", "probe", "iprobe"])
def test_verbs_of_a_task_alone(verb):
    w = hk.tasks({"only": 1})
    a = hk.zeros(ONE, comm=w.comm)
    calls = {
        "send": [
            lambda it: w.send(it, "x", timeout=1),
            lambda it: w.send(a, it, timeout=1),
            lambda it: w.send(a, "only", it, timeout=1),
        ],
        "recv": [lambda it: w.recv(it, 0, timeout=1), lambda it: w.recv(a, it, timeout=0)],
        "sendrecv": [lambda it: w.sendrecv(a, it, it, it, timeout=1)],
        "probe": [lambda it: w.probe(it, timeout=0), lambda it: w.probe(tag=it, timeout=0)],
        "iprobe": [lambda it: w.iprobe(it), lambda it: w.iprobe(tag=it)],
    }
    for call in calls[verb]:
        try_all(call)


# Invalid for every argument of every call.
NOTHING: list[Any] = [object(), "\ud800", 2**70, np.zeros(3), 1j, b"x", [object()]]
# Arguments of calls, by their names.
GOOD: dict[str, Any] = {
    **{"dest": "only", "source": "only", "root": 0, "other": 0, "task": 0},
    **{"op": "add", "timeout": 0.01, "tag": 1, "count": 1, "pieces": 1, "name": "wait"},
    **{"slices": 0, "width": 1, "index": (0, 0), "rank": 0, "ranks": [0, 1], "side": "src"},
    **{"step": 0, "peer": 0, "path": "nowhere/x.svg", "v": 1, "p": 0, "flag": True, "mask": 1},
    **{"dtype": "i4", "fold": max, "fn": int, "region": "key"},
    **{"message": "late", "code": 0, "piece": 0, "layout": ONE, "axes": (0, 1)},
}


def members() -> dict[str, Callable[[], Any]]:
    """How to make one of every class whose methods are called with anything."""

    def alone(make: Callable[[Any, Any], Any]) -> Any:
        w = hk.tasks({"only": 1})
        return make(w, hk.zeros(ONE, comm=w.comm))

    return {
        "Layout": lambda: LAY,
        "Plan": lambda: PLAN,
        "Array": lambda: hk.zeros(ONE),
        "Halo": lambda: hk.zeros(ONE).halo(1),
        "HaloRequest": lambda: hk.zeros(ONE).halo(1).iexchange(),
        "Transfer": lambda: hk.transfer(ONE, ONE),
        "ArrayRequest": lambda: hk.iredistribute(hk.zeros(ONE), ONE),
        "Team": hk.Team,
        "TeamRequest": lambda: hk.Team().start("wait"),
        "Tasks": lambda: hk.tasks({"only": 1}),
        "Request": lambda: alone(lambda w, a: w.irecv(a, "only", 9)),
        "Flow": lambda: hk.Flow(1),
    }


# Persistent requests tell the others of their task in the background, a second each.
SLOW = {"send_init", "recv_init", "plot"}


@pytest.mark.parametrize("kind", list(members()))
def test_every_argument_of_every_method(kind):
    """A signature of the bindings, or an error of NumPy's, tells nobody what to give."""
    made = members()[kind]
    for name in dir(made()):
        if name.startswith("_") or name in SLOW or not callable(getattr(type(made()), name)):
            continue
        parameters = inspect.signature(getattr(made(), name)).parameters.values()
        needed = {
            each.name: GOOD.get(each.name, 0)
            for each in parameters
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
            and (each.default is each.empty or each.name == "timeout")
        }
        arrays = {each.name for each in parameters} & {"a", "b", "array"}
        for argument in parameters:

            def call(it, name=name, argument=argument, needed=needed, arrays=arrays):
                good = {**needed, **dict.fromkeys(arrays, hk.zeros(ONE))}
                if argument.kind is argument.VAR_POSITIONAL:
                    getattr(made(), name)(it, **good)
                else:
                    getattr(made(), name)(**{**good, argument.name: it})

            # A long timeout is one.
            numbers = int if argument.name == "timeout" else ()
            if argument.kind is not argument.VAR_KEYWORD:
                try_all(call, [it for it in NOTHING if not isinstance(it, numbers)])


@pytest.mark.parametrize("name", ["Flow", "Team", "Halo", "tasks", "empty", "wrap", "step"])
def test_every_argument_of_what_makes_objects(name):
    make = getattr(hk, name)
    good = {"Halo": (hk.zeros(ONE), 1), "empty": (ONE,), "wrap": (grid(), ONE)}.get(name, ())
    parameters = list(inspect.signature(make).parameters)
    for argument in parameters:
        given = dict(zip(parameters, good))
        try_all(lambda it, given=given, of=argument: make(**{**given, of: it}), NOTHING)


@pytest.mark.parametrize("threads", ["x", 0, 1.5])
def test_wrong_threads(threads):
    """The same error as that of `hk.remap_inplace`."""
    x = np.zeros((2, 3))
    for call in (hk.permute, hk.permute_inplace):
        with pytest.raises(hk.Error, match="threads is") as raised:
            call(x, (1, 0), threads=threads)
        assert raised.type is hk.Error
