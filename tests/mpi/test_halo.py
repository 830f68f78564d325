# SPDX-License-Identifier: BSD-3-Clause
"""a.halo: every element of every border, corners included, on uneven, empty and short blocks."""

import subprocess
import sys
import time

import numpy as np
import pytest
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk

OUTSIDE = -7


def value(*index):
    """Of an element by its index: no two alike."""
    return sum(i * 100**k for k, i in enumerate(index)) + 1


def expected(layout, rank, width, periodic):
    """The local array with its border, from global indices alone."""
    axes = []
    for d, held in enumerate(layout.global_indices(rank)):
        n, w = layout.shape[d], width[d]
        wanted = np.arange(held[0] - w, held[-1] + 1 + w)
        inside = (wanted >= 0) & (wanted < n)
        axes.append((wanted % n, inside | periodic[d]))
    values = value(*np.ix_(*(index for index, _ in axes)))
    known = np.ones(values.shape, bool)
    for d, (_, mask) in enumerate(axes):
        known &= mask.reshape([-1 if k == d else 1 for k in range(len(axes))])
    if layout.dist == "BOXES":  # gaps stay as they are
        for place in np.argwhere(known):
            at = [int(index[k]) for (index, _), k in zip(axes, place)]
            known[tuple(place)] = bool(layout.owners(at))
    return np.where(known, values, OUTSIDE)


def check(comm, layout, width, periodic=None, dtype="int64"):
    a = hk.from_function(value, layout, dtype, comm)
    flags = [False] * len(layout.shape) if periodic is None else periodic
    h = a.halo(width, **({} if periodic is None else {"periodic": periodic}))
    widths = (width,) * len(layout.shape) if isinstance(width, int) else tuple(width)
    what = f"{layout} width {width} periodic {periodic}"
    assert h.width == widths and h.array.layout == layout and h.array.dtype == a.dtype
    np.testing.assert_array_equal(h.array.local, a.local, err_msg=what)
    if not a.local.size:
        assert h.local.size == 0, what
        h.exchange()
        h.exchange()
        return
    assert np.shares_memory(h.local, h.array.local)
    for turn in range(2):  # the second time with other elements
        h.local[...] = OUTSIDE
        h.array.local[...] = a.local + turn
        h.exchange(timeout=100)
        wanted = expected(layout, comm.rank, widths, flags)
        wanted = np.where(wanted == OUTSIDE, OUTSIDE, wanted + turn)
        np.testing.assert_array_equal(h.local, wanted, err_msg=what)
    held = layout.global_indices(comm.rank)
    ends = [(i[0] == 0, i[-1] == n - 1) for i, n in zip(held, layout.shape)]
    assert h.edges == tuple((False, False) if on else e for e, on in zip(ends, flags)), what


def layouts(size):
    """Blocks even, uneven, empty, shorter than the border; grids; copies; sections."""
    for n in (1, 5, 8, 3 * size + 1):
        yield hk.Layout((n,), "(BLOCK)", size)
        yield hk.Layout((n, 4), "(*, BLOCK)", size)
    yield hk.Layout((7, 6, 2), "(BLOCK(7), *, *)", size)
    yield hk.Layout((7, 5), "(BALANCED, *)", size)
    yield hk.Layout((9, 4), (hk.gen_block([9, *[0] * (size - 1)]), "*"), size)
    yield hk.Layout((9, 4), (hk.gen_block([*[1] * (size - 1), 10 - size]), "*"), size)
    # The processes' intervals in another order.
    yield hk.Layout((3 * size, 2), (hk.indirect(np.repeat(range(size), 3)[::-1]), "*"), size)
    rows = [2 * k for k in range(size)] + [2 * size + 1]
    bricks = [((a, 0), (b, 6 - k % 2)) for k, (a, b) in enumerate(zip(rows, rows[1:]))]
    yield hk.Layout.boxes((2 * size + 1, 6), bricks)  # with gaps
    yield hk.Layout.boxes((2 * size + 1, 6), [((a, 0), (rows[-1], 6)) for a in rows[:-1]])
    yield hk.Layout.boxes((5, size), [((k % 3, k), (5 - k % 2, k + 1)) for k in range(size)])
    yield hk.Layout((6, 9), "(BLOCK, *)", (size, 1), replicate=(1,))
    yield hk.Layout((40,), "(BLOCK)", size).section(slice(3, 33, 2))
    if size % 2 == 0:
        yield hk.Layout((5, 7), "(BLOCK, BLOCK)", (2, size // 2))
        yield hk.Layout((5, 7, 3), "(BLOCK, *, BLOCK)", (size // 2, 2))
        yield hk.Layout((9, 4), "(BLOCK, *)", (size // 2, 2), replicate=(1,))


@ranks(1, 2, 3, 6)
def test_every_border(comm):
    for layout in layouts(comm.size):
        ndim = len(layout.shape)
        for width in (1, 3, tuple(range(ndim - 1, -1, -1))):
            check(comm, layout, width)
        for periodic in ([True] * ndim, [d % 2 == 1 for d in range(ndim)]):
            check(comm, layout, 2, periodic, "float32")


@ranks(1, 2, 4)
def test_in_a_flow_what_is_exchanged_goes_by_the_order_of_the_calls(comm):
    """Each process is first ready for another border; steps that read the array do not wait."""
    layout = hk.Layout((2 * comm.size, 3), "(BLOCK, *)", comm.size)
    a = hk.from_function(value, layout, "int64", comm)
    flags = [True, True]
    halos = [a.halo(1, periodic=flags) for _ in range(2)]
    read = []
    with hk.Flow(workers=2) as f:
        slow = halos[comm.rank % 2].array.local
        f.task(lambda: (time.sleep(0.05), np.add(slow, comm.rank + 1, out=slow)), inouts=[slow])
        for halo in halos:
            f.exchange(halo)
            f.task(lambda h=halo: read.append(h.array.local.sum()), inputs=[halo.array])
    assert len(read) == 2
    neighbours = [(comm.rank + step) % comm.size for step in (-1, 0, 1)]
    for number, halo in enumerate(halos):
        wanted = expected(layout, comm.rank, (1, 1), flags)
        for rank, rows in zip(neighbours, (slice(0, 1), slice(1, -1), slice(-1, None))):
            wanted[rows] += (rank + 1) * (rank % 2 == number)
        np.testing.assert_array_equal(halo.local, wanted)


@ranks(2)
def test_in_a_flow_what_differs_is_an_error(comm):
    h = hk.zeros(hk.Layout((8, 4), "(BLOCK, *)", 2), "f8", comm).halo(1 + comm.rank)
    f = hk.Flow()
    f.exchange(h)
    raises_everywhere(comm, hk.MismatchError, f.wait, "width")


@ranks(4, nodes="0,0,1,1")
def test_across_nodes(comm):
    for layout in list(layouts(4))[-4:]:
        check(comm, layout, 1)


@ranks(1, 3)
def test_two_at_a_time(comm):
    layout = hk.Layout((3 * comm.size + 1, 5), "(BLOCK, *)", comm.size)
    a = hk.from_function(value, layout, "int64", comm)
    flags = [True, True]
    halos = [a.halo(width, periodic=flags) for width in (1, 2)]
    started = [halo.iexchange() for halo in halos]
    started[1].wait(timeout=100)
    while not started[0].test():
        pass
    started[0].wait()
    for halo, width in zip(halos, (1, 2)):
        wanted = expected(layout, comm.rank, (width, width), flags)
        np.testing.assert_array_equal(halo.local, wanted)


@ranks(1, 2, 3)
def test_in_a_flow_the_inside_is_computed_while_the_border_comes(comm):
    n, steps = 5 * comm.size - 2, 7
    layout = hk.Layout((n,), "(BLOCK)", comm.size)
    start = hk.from_function(lambda i: (3.0 * i) % 7, layout, "float64", comm)
    now, then = (start.halo(1, periodic=True) for _ in range(2))

    def mean(u, v, first, last):
        v[first:last] = (u[first - 1 : last - 1] + u[first + 1 : last + 1]) / 2

    with hk.Flow(workers=1) as f:
        for _ in range(steps):
            u, v = now.local, then.local
            m = len(u) - 2
            edges, border = [u[1:2], u[m : m + 1]], [u[:1], u[m + 1 :]]
            f.comm(now.iexchange, inputs=edges, inouts=border)
            f.task(
                lambda u=u, v=v, m=m: mean(u, v, 2, m),
                inputs=[u[1 : m + 1]],
                outputs=[v[2:m]],
            )
            for at in {1, m}:
                f.task(
                    lambda u=u, v=v, at=at: mean(u, v, at, at + 1),
                    inputs=[u],
                    outputs=[v[at : at + 1]],
                )
            now, then = then, now
    u = (3.0 * np.arange(n)) % 7
    for _ in range(steps):
        u = (np.roll(u, 1) + np.roll(u, -1)) / 2
    (held,) = layout.global_indices(comm.rank)
    np.testing.assert_array_equal(now.array.local, u[held])


@ranks(2)
def test_what_differs_is_told_by_the_request(comm):
    one = hk.zeros(hk.Layout((8, 4), "(BLOCK, *)", 2), "f8", comm).halo(1 + comm.rank)
    started = one.iexchange()
    raises_everywhere(comm, hk.MismatchError, started.wait, "width")


@ranks(3)
def test_beyond_the_layout(comm):
    check(comm, hk.Layout((5, 4), "(BLOCK, *)", 2), 1) if comm.rank < 2 else None
    if comm.rank == 2:
        layout = hk.Layout((5, 4), "(BLOCK, *)", 2)
        h = hk.from_function(value, layout, "int64", comm).halo(1)
        assert h.local.size == 0
        h.exchange()
        h.exchange()


@ranks(1, 2, 3)
def test_a_dimension_in_several_intervals_may_go_without_border(comm):
    lay = hk.Layout((8, 4), "(CYCLIC, *)", comm.size)
    a = hk.from_function(lambda i, j: 10 * i + j, lay, float, comm)
    h = a.halo((0, 1), periodic=(False, True))
    h.exchange()
    want = a.local[:, [3, 0, 1, 2, 3, 0]]
    assert h.local.tolist() == want.tolist()


@ranks(2)
def test_one_that_is_given_up_before_it_begins_is_an_error_of_all(comm):
    a = hk.zeros(hk.Layout((8, 4), "(BLOCK, *)", 2), "f8", comm)
    h = a.halo(1)

    def fails():
        raise ValueError("this process has no border to give")

    f = hk.Flow(workers=1)
    if comm.rank == 0:
        f.task(fails, outputs=[h.array])
    f.exchange(h)
    with pytest.raises(hk.StepError, match="no border" if comm.rank == 0 else "given up"):
        f.wait(100)
    h.exchange(timeout=100)


@ranks(2)
def test_refusals(comm):

    a = hk.zeros(hk.Layout((8, 4), "(BLOCK, *)", 2), "f8", comm)
    for width, word in ((-1, "width"), ((1,), "2 dimensions"), ((1, -2), "width")):
        with pytest.raises(hk.LayoutError, match=word):
            a.halo(width)
    with pytest.raises(hk.LayoutError, match="periodic"):
        a.halo(1, periodic=[True])
    with pytest.raises(hk.LayoutError, match="several intervals"):
        hk.zeros(hk.Layout((8, 4), "(CYCLIC, *)", 2), "f8", comm).halo(1)
    hk.zeros(hk.Layout((8, 4), "(CYCLIC, *)", 2), "f8", comm).halo((0, 1)).exchange()
    with pytest.raises(hk.LayoutError, match="explicit segments"):
        hk.zeros(hk.Layout.indexed((8,), [[(0, 4)], [(4, 4)]]), "f8", comm).halo(1)
    one = a.halo(1 + comm.rank)
    raises_everywhere(comm, hk.MismatchError, one.exchange, "width")
    two = a.halo(1)
    raises_everywhere(comm, hk.Error, lambda: two.exchange(timeout=(60, -1)[comm.rank]), "-1")
    two.exchange()


OTHER_THREAD = """
import threading, mpi4py
mpi4py.rc.thread_level = "funneled"
import hocket as hk
from mpi4py import MPI
a = hk.zeros(hk.Layout((4,), "(BLOCK)", 1), "f8", MPI.COMM_WORLD)
request = a.halo(1, periodic=True).iexchange()
def look():
    for call in (request.test, request.wait):
        try:
            call()
        except hk.Error as error:
            print(error)
other = threading.Thread(target=look)
if MPI.Query_thread() == MPI.THREAD_FUNNELED:
    other.start()
    other.join()
else:
    print(2 * "this thread may not communicate")
request.wait()
"""


def test_a_thread_that_may_not_communicate_is_told():
    """Looking at an exchange is communicating, as it moves on what is under way."""
    done = subprocess.run(
        [sys.executable, "-c", OTHER_THREAD], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("this thread may not communicate") == 2
