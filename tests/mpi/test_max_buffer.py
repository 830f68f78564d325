# SPDX-License-Identifier: BSD-3-Clause
"""`max_buffer=`: however large the arrays, what lies beside them stays below it, and the elements
arrive all the same."""

import os
import subprocess
import sys
from functools import partial
from itertools import chain

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks
from peaks import MIB, peak_of

import hocket as hk
from hocket import _mpi
from hocket.computing.fetching import elements_of_store

LEAST = 2 * MIB
#: what MPI may take itself to move messages of any size
MPIS_OWN = 8 * MIB
FAR = "0,1,2,3"


def wrapped(shape, dist, comm, value):
    """An array in memory of the user's own, every page touched."""
    layout = hk.Layout(shape, dist, comm.size)
    local = np.full(layout.local_shape(comm.rank), value, "float64")
    return hk.wrap(local, layout, comm=comm)


def number(array):
    i, j = np.ix_(*array.layout.global_indices(array.comm.rank))
    return i * array.layout.shape[1] + j


def measured(comm, max_buffer, shape=(3000, 2048), sent="(BLOCK, *)", received="(*, CYCLIC)"):
    """How far the peak of a redistribution lies above the arrays."""
    a, b = wrapped(shape, sent, comm, 0), wrapped(shape, received, comm, -1)
    a.local[...] = number(a)
    _, peak = peak_of(lambda: hk.redistribute(a, b.layout, out=b, max_buffer=max_buffer))
    np.testing.assert_array_equal(b.local, number(b))
    return peak


@ranks(2, 3, nodes=FAR)
@pytest.mark.parametrize("sent", ["(BLOCK, *)", "(*, CYCLIC(5))"])
def test_between_nodes_the_buffers_stay_below_it(comm, sent):
    measured(comm, None, (300, 400))  # what is made once: libraries, connections
    packed = 8 * 3000 * 2048 * (comm.size - 1) // comm.size**2  # what a process sends or gets
    assert packed > 4 * LEAST
    assert measured(comm, LEAST, sent=sent) <= LEAST + MPIS_OWN
    free = measured(comm, 64 * packed, sent=sent)
    assert free >= packed - LEAST, "the measure does not see what it is to bound"


@ranks(3)
def test_within_a_node_rings_count_too(comm):
    measured(comm, None, (300, 400))
    assert measured(comm, LEAST) <= LEAST + MPIS_OWN


@ranks(4, nodes=FAR)
def test_buffers_for_one_piece_suffice_whatever_the_traffic(comm):
    """Every process waits for buffers that others hold, in circles if the order allowed any."""
    shapes = [("(BLOCK, *)", "(*, BLOCK)"), ("(CYCLIC(7), *)", "(*, CYCLIC)")]
    for sent, received in [*shapes, ("(*, BLOCK)", "(CYCLIC, *)")]:
        measured(comm, LEAST, (2100, 2051), sent, received)
    whole = hk.scatter(
        np.arange(900000.0) if comm.rank == 0 else None,
        hk.Layout((900000,), "(CYCLIC(3))", comm.size),
        comm=comm,
    )
    one, three = hk.Layout((900000,), "(CYCLIC)", 1), hk.Layout((900000,), "(CYCLIC(2))", 3)
    gathered = hk.redistribute(whole, one, max_buffer=LEAST)
    spread = hk.redistribute(gathered, three, max_buffer=LEAST)
    if comm.rank == 0:
        np.testing.assert_array_equal(gathered.local, np.arange(900000.0))
    if comm.rank < 3:
        np.testing.assert_array_equal(spread.local, spread.layout.global_indices(comm.rank)[0])


@ranks(2)
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (LEAST - 1, r"max_buffer is 2097151 bytes.*give it 2097152 \(2 MiB\) or more"),
        (0, "max_buffer is 0 bytes"),
        (-5, "max_buffer is -5; give a number of bytes that is not negative"),
        ("1G", "max_buffer is '1G'; give a number of bytes"),
    ],
)
def test_less_than_can_work_is_an_error_on_every_process(comm, value, says):
    a, b = wrapped((8, 8), "(BLOCK, *)", comm, 1), wrapped((8, 8), "(*, BLOCK)", comm, -1)
    with pytest.raises(hk.Error, match=says):
        hk.redistribute(a, b.layout, out=b, max_buffer=value if comm.rank == 1 else LEAST)
    assert (b.local == -1).all()
    hk.redistribute(a, b.layout, out=b, max_buffer=LEAST << comm.rank)  # need not be the same
    assert (b.local == 1).all()


@ranks(3)
def test_a_named_strategy_that_would_hold_more_is_refused_on_every_process(comm):
    move = partial(wrapped, comm=comm, value=1), partial(wrapped, comm=comm, value=-1)
    for shape, fits in (((300, 300), True), ((900, 900), False)):
        a, b = move[0](shape, "(BLOCK, *)"), move[1](shape, "(*, BLOCK)")
        call = partial(_mpi.redistribute, a._wrapped(), b._wrapped(), [])
        if fits:
            call("centralized", None, LEAST)
        else:
            raises_everywhere(
                comm,
                hk.Error,
                partial(call, "centralized", None, LEAST if comm.rank == 1 else 8 * LEAST),
                "'centralized'",
                "process 0 of the source",
                "allows 2097152",
                "'direct'",
            )
            assert (b.local == -1).all(), "elements have moved"
            call("direct", None, LEAST)
        assert (b.local == 1).all()


def test_between_tasks_and_in_operations_on_arrays_the_setting_counts(monkeypatch):
    monkeypatch.setenv("HOCKET_MAX_BUFFER", str(LEAST))

    def program(w):
        from mpi4py import MPI

        layout = hk.Layout((900, 900), "(BLOCK, *)" if w.name == "a" else "(*, CYCLIC)", 2)
        x = hk.wrap(np.full(layout.local_shape(w.comm.rank), w.name == "a", "f8"), layout, w.comm)
        said = ""
        for way in ({"strategy": "staged"}, {"strategy": "staged", "pieces": 8}):
            try:
                w.send(x, "b", **way) if w.name == "a" else w.recv(x, "a")
            except hk.Error as error:
                said = str(error)
                if w.name == "b":
                    assert not x.local.any(), "elements have moved"
        return said, bool(x.local.all()), peaks_of_one_element(MPI.COMM_WORLD)

    for said, arrived, peaks in chain(*hk.run(program, tasks={"a": 2, "b": 2}).values()):
        assert "'staged'" in said and "allows 2097152" in said
        assert arrived, "in pieces it does fit"
        assert max(peaks) < 12 * LEAST, np.array(peaks) / MIB


def peaks_of_one_element(comm):
    """Of a read and a write by an index in which all processes name one element, many times."""
    count = 300_000 * comm.size
    line = hk.arange(hk.Layout(count, "(BLOCK)", comm.size), "float64", comm)
    index = hk.zeros(line.layout, "int64", comm)
    found, read = peak_of(lambda: line[index])
    values = line + 1
    _, write = peak_of(lambda: line.__setitem__(index, values))
    assert not found.local.any() and line[0] == count and line[-1] == count - 1
    # In one round, elements of which one process receives most in parts, to their own array.
    count = elements_of_store(line.dtype) * comm.size
    last = count * (comm.size - 1) // comm.size
    places = last + np.random.default_rng(1).integers(0, count - last, count)
    line = hk.arange(hk.Layout(count, "(BLOCK)", comm.size), "float64", comm)
    expected = np.arange(count, dtype=float)
    expected[places] = expected.copy()
    line[hk.wrap(places[line.layout.global_indices(comm.rank)[0]], line.layout, comm)] = line
    np.testing.assert_array_equal(line.local, expected[line.layout.global_indices(comm.rank)[0]])
    return read, write


@pytest.mark.parametrize("value", ["1K", "some"])
def test_a_setting_that_cannot_work_is_refused(value):
    program = (
        "import hocket as hk; a = hk.zeros(hk.Layout((8,), '(BLOCK)', 1), 'int8'); "
        "hk.redistribute(a, a.layout)"
    )
    env = {**os.environ, "HOCKET_MAX_BUFFER": value}
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, env=env)
    assert f"HOCKET_MAX_BUFFER is '{value}'" in done.stderr


def peaks_of_a_store(comm, path):
    """How far the peaks of a write and of a read lie above the arrays, for some bounds."""
    a, b = (wrapped((3000, 2048), dist, comm, -1) for dist in ("(CYCLIC, *)", "(*, CYCLIC)"))
    a.local[...] = number(a)
    peaks = []
    with hk.open_store(path, "w", comm=comm) as s:
        # One file, and chunks of 800 KiB.
        s.create("t", (3000, 2048), chunks=(100, 1024), shards=(3000, 2048), codec="none")
        for most in (LEAST, 2 * LEAST, None):
            _, write = peak_of(partial(s.write, "t", a, max_buffer=most))
            _, read = peak_of(partial(s.read, "t", b.layout, out=b, max_buffer=most))
            np.testing.assert_array_equal(b.local, number(b))
            peaks.append((write, read))
    return peaks


def test_the_writer_of_a_store_holds_no_more(tmp_path):
    found = np.array(hk.run(peaks_of_a_store, ranks=3, args=(tmp_path / "s",)))
    # Beside the elements, messages take up to as much again. The first call connects processes.
    assert found[:, 1].max() <= 4 * LEAST, found / MIB
    assert found[:, 2].max() >= 8 * LEAST, "the measure does not see what it is to bound"


def test_operations_on_arrays_divide_their_work_by_it():
    code = "from hocket import _mpi; print(_mpi.within_buffers(1 << 30), _mpi.within_buffers(9))"
    for given, expected in ("2M", 2 * MIB), (None, 256 * MIB):
        environment = {k: v for k, v in os.environ.items() if k != "HOCKET_MAX_BUFFER"}
        environment |= {"HOCKET_MAX_BUFFER": given} if given else {}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == [str(expected), "9"]
