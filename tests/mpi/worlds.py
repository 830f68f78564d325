# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of tasks share: arrays from task to task, checked byte by byte."""

from functools import partial

import numpy as np
from cases import private, source_of, target_of, whole

import hocket as hk
from oracle import BLOCK, CYCLIC, STAR, Spec

SIZES = [{"a": s, "b": r} for s in (1, 2, 3) for r in (1, 2, 3)]
INDEX = {
    "a": 0,
    "b": 1,
    "c": 2,
    "x": 0,
    "y": 1,
    "rows": 0,
    "cols": 1,
}  # of the tasks in every world below


def transfer(w, sender, receiver, source, destination, dtype, own, salt=0, tag=0, **way):
    """One array from task to task; every byte and the status are checked. `way`: what to call the
    other side (`to`, `by`), and what tag to ask for (`asked`)."""
    array = whole(source.shape, dtype, salt)
    if w.name == sender:
        a, memory = source_of(source, array, w.comm, own)
        w.send(a, way.get("to", receiver), tag=tag)
        memory.check_untouched("the sent array")
    elif w.name == receiver:
        b, room = target_of(destination, dtype, w.comm, own)
        st = w.recv(b, source=way.get("by", sender), tag=way.get("asked", tag))
        expected = destination.local(array, w.comm.rank)
        room.check(expected, f"{source} on {sender} -> {destination} on {receiver}, {dtype}")
        assert st.source == INDEX[sender]
        assert st.tag == tag
        assert st.layout == source.layout(hk)
        assert st.dtype == np.dtype(dtype)


def small(size, shape=(6, 4), form=BLOCK):
    return Spec(shape, (form,) + (STAR,) * (len(shape) - 1), (size,))


def check_world(w, groups):
    """Both tasks can still exchange arrays, both ways."""
    a, b = list(groups)[:2]
    transfer(w, a, b, small(groups[a]), small(groups[b], form=CYCLIC), "i8", private(w.comm), 3)
    transfer(w, b, a, small(groups[b]), small(groups[a], form=CYCLIC), "i8", private(w.comm), 4)


def arrays(w, groups, source, destination, dtypes):
    """This process's array and memory: what task a sends, b receives."""
    if w.name == "a":
        array = whole(source.shape, dtypes[0])
        return source_of(source, array, w.comm, private(w.comm))
    return target_of(destination, dtypes[1], w.comm, private(w.comm))


def exchange(w, array, tag=0, **options):
    """The call that this side makes."""
    if w.name == "a":
        return partial(w.send, array, "b", tag=tag, **options)
    return partial(w.recv, array, source="a", tag=tag, **options)
