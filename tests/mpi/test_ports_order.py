# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on machines of different byte orders.

One of them pretends: it says that its machine stores numbers in the other order, and its program
keeps them so. Each side compares the bits that it receives with those that its own machine would
hold.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lockstep import mpiexec
from test_ports import beside, key_file, runtime  # noqa: F401

import hocket as hk

OTHER = "big" if sys.byteorder == "little" else "little"

COMMON = """
import os, sys
import numpy as np
import hocket as hk
from mpi4py import MPI
side, where, key, transport = sys.argv[1:5]
comm = MPI.COMM_WORLD
pretends = os.environ.get("HOCKET_BYTE_ORDER", sys.byteorder) != sys.byteorder

def whole(dtype, shape, seed):
    \"\"\"Elements of random bits, as this job's machine stores them.\"\"\"
    dtype, count = np.dtype(dtype), int(np.prod(shape))
    bits = np.random.default_rng(seed).bytes(count * dtype.itemsize)
    if dtype == bool:
        return np.frombuffer(bits, "u1") % 2 == 1
    values = np.frombuffer(bits, dtype)
    has_order = dtype.kind not in "biufc" or not dtype.isnative  # by its name
    return values.byteswap() if pretends and not has_order else values

def part(layout, dtype, seed):
    shape = layout.shape
    of = hk.from_function(lambda *i: np.ravel_multi_index(i, shape), layout, "int64")
    return whole(dtype, shape, seed)[of.local]

def filled(layout, dtype, seed):
    a = hk.empty(layout, dtype)
    a.local[...] = part(layout, dtype, seed)
    return a

def check(b, seed):
    wanted = part(b.layout, b.local.dtype, seed)
    assert b.local.tobytes() == wanted.tobytes(), (b.layout, b.local.dtype, seed)

def layouts(shape):
    \"\"\"The first process of the second one has no element.\"\"\"
    n, rows = comm.size, shape[0]
    cuts = [0, *np.linspace(0, rows, n, dtype=int)[1:]] if n > 1 else [rows]
    extents = np.diff([0, *cuts]) if n > 1 else cuts
    count = int(np.prod(shape))
    return [
        hk.Layout(shape, "(BLOCK, CYCLIC(2))", (n, 1)),
        hk.Layout(shape, [hk.gen_block(list(map(int, extents))), "*"], n),
        hk.Layout(shape, "(*, CYCLIC)", n),
        hk.Layout.elements(shape, [list(range(r, count, n))[::-1] for r in range(n)]),
    ]

if side == "sim":
    options = {}
    if transport == "tcp":
        options = {"address": "127.0.0.1:0", "key": key or None, "secure": bool(key)}
    port = hk.open_port(where, task="sim", **options)
    if comm.rank == 0:
        print(port.address or where, flush=True)
    w, peer = port.accept(timeout=60), "viewer"
else:
    w = hk.connect(where, task="viewer", key=key or None, timeout=60,
                   secure=bool(key) or transport != "tcp")
    peer = "sim"
me = w.rank

def both_ways(send, receive):
    \"\"\"send(seed) and receive(seed), first from the job that has the port.\"\"\"
    for sender in range(2):
        send(10 + sender) if me == sender else receive(10 + sender)
"""

PROGRAM = (
    COMMON
    + """
numbers = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
as_they_are = [">f8", "<i4", "V5", "S3", "<U2", "<M8[s]", [("a", "<i4"), ("b", ">f8")]]
for dtype in numbers + as_they_are:
    for k, lay in enumerate(layouts((13, 7))):
        into = layouts((13, 7))[k - 1]
        def receive(seed):
            b = hk.zeros(into, dtype)
            status = w.recv(b, hk.ANY_SOURCE)
            assert status.source == peer and status.dtype == b.local.dtype
            check(b, seed)
        both_ways(lambda seed: w.send(filled(lay, dtype, seed), peer), receive)

# Long ones, in place, into strides, in pieces and by way of other processes.
long = hk.Layout((700, 600), "(BLOCK, *)", comm.size)
across = hk.Layout((700, 600), "(*, CYCLIC(5))", comm.size)
for dtype in ("f4", "c16"):
    for there in (long, across):
        def receive(seed):
            b = hk.zeros(there, dtype)
            w.recv(b, peer)
            check(b, seed)
            room = np.zeros(tuple(2 * n for n in b.local.shape), dtype)
            spaced = hk.wrap(room[::2, 1::2], there)
            w.recv(spaced, peer)
            check(spaced, seed)
            assert not room[1::2].any() and not room[:, ::2].any()
        def send(seed):
            for turn in range(2):
                w.send(filled(long, dtype, seed), peer)
        both_ways(send, receive)
for options in ({"pieces": 3}, {"strategy": "staged"}, {"strategy": "centralized"},
                {"strategy": "hybrid"}):
    def receive(seed):
        b = hk.zeros(across, "i8")
        w.recv(b, peer)
        check(b, seed)
    both_ways(lambda seed: w.send(filled(long, "i8", seed), peer, **options), receive)

lay, into = layouts((13, 7))[:2]

# A section, and several arrays of several types.
def receive(seed):
    rows = layouts((13, 7))[0]
    b = filled(rows, "c8", 77)
    w.recv(b[2:11, ::2], peer)
    wanted = whole("c8", (13, 7), 77).reshape(13, 7).copy()
    wanted[2:11, ::2] = whole("c8", (13, 7), seed).reshape(13, 7)[2:11, ::2]
    at = hk.from_function(lambda i, j: 7 * i + j, rows, "int64").local
    assert b.local.tobytes() == wanted.ravel()[at].tobytes()
    several = [hk.zeros(into, dtype) for dtype in ("f4", "i2", "c16", "V3")]
    w.recv(several, peer)
    for b in several:
        check(b, seed)
def send(seed):
    w.send(filled(lay, "c8", seed)[2:11, ::2], peer)
    w.send([filled(lay, dtype, seed) for dtype in ("f4", "i2", "c16", "V3")], peer)
both_ways(send, receive)

# Persistent requests, by arrays and by layouts; channels, with kept frames and without.
def persistent(there):
    def send(seed):
        r = w.send_init(lay if there is None else filled(lay, "f8", seed), peer)
        for turn in range(3):
            r.start(filled(lay, "f8", seed + turn))
            r.wait()
        r.free()
    def receive(seed):
        b = hk.zeros(into, "f8")
        r = w.recv_init(into if there is None else b, peer)
        for turn in range(3):
            r.start(b)
            r.wait()
            check(b, seed + turn)
        r.free()
    both_ways(send, receive)
persistent(lay)
persistent(None)
for keep in (0, 2):
    for name in ("down", "up"):
        c = w.channel(name, peer, **({"keep": keep} if keep else {}))
        if (name == "down") == (side == "sim"):
            for turn in range(4):
                c.send(filled(lay, "u4", turn), timeout=60)
            c.close(timeout=60)
        else:
            b = hk.zeros(into, "u4")
            for turn in range(4):
                c.recv(b, timeout=60)
                check(b, turn)

# Collectives between the tasks. A machine that pretends cannot add.
for root in ("sim", "viewer"):
    b = filled(lay, "f8", 5) if w.name == root else hk.zeros(into, "f8")
    w.bcast(b, root)
    check(b, 5)
    rooms = [hk.zeros(into, "c8"), hk.zeros(lay, "c8")] if w.name == root else None
    w.gather(filled(lay, "c8", me), rooms, root)
    for task, room in enumerate(rooms or []):
        check(room, task)
pretending = [task for task in range(2) if sys.argv[5][task] == "1"]
if len(pretending) < 2:
    root = 1 - pretending[0] if pretending else 0
    numbered = hk.from_function(lambda i, j: 1000 * i + j + me, lay, "int32")
    if pretends:
        numbered.local.byteswap(inplace=True)
    total = hk.zeros(into, "int32")
    w.reduce(numbered, total if me == root else None, "add", root)
    if root == 0:
        w.allreduce(numbered, total, "add")
    if me == root:
        wanted = hk.from_function(lambda i, j: 2000 * i + 2 * j + 1, into, "int32")
        assert (total.local == wanted.local).all()
    elif root == 0:
        wanted = hk.from_function(lambda i, j: 2000 * i + 2 * j + 1, into, "int32")
        assert (total.local.byteswap() == wanted.local).all()

# Both sides refuse what cannot be converted, and go on.
if len(pretending) == 1:
    odd = hk.zeros(lay, np.longdouble)
    def persist(what):
        r = w.send_init(what, peer) if me else w.recv_init(what, peer)
        r.start(odd)
        r.wait()
    for call in (lambda: w.send(odd, peer) if me else w.recv(odd, peer),
                 lambda: w.bcast(odd, "sim"),
                 lambda: persist(odd), lambda: persist(lay)):
        try:
            call()
        except hk.Error as error:
            assert np.dtype(np.longdouble).name in str(error), error
            assert "cannot be converted" in str(error), error
        else:
            raise SystemExit("longdouble went between two byte orders")
w.barrier()
w.disconnect()
if side == "sim":
    port.close()
"""
)


def start(folder: Path, name: str, processes: int, pretends: bool, *words: str) -> subprocess.Popen:
    program = folder / name
    program.write_text(PROGRAM, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(folder), processes, None)
    env["HOCKET_BYTE_ORDER"] = OTHER if pretends else sys.byteorder
    line = [mpiexec.find(), "-n", str(processes), sys.executable, str(program), *words]
    return subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)


@pytest.mark.parametrize(
    ("acceptors", "connectors", "pretending", "transport"),
    [
        (1, 1, "10", "host"),
        (3, 2, "01", "key"),
        pytest.param(2, 3, "10", "host", marks=pytest.mark.soak),
        pytest.param(2, 1, "11", "key", marks=pytest.mark.soak),
    ],
)
def test_numbers_keep_their_values(
    acceptors,
    connectors,
    pretending,
    transport,
    tmp_path,
    runtime,  # noqa: F811
):
    key = key_file(tmp_path / "run.key") if transport == "key" else ""
    way = "tcp" if key else transport
    words = (key, way, pretending)
    sim = start(tmp_path, "sim.py", acceptors, pretending[0] == "1", "sim", "order", *words)
    assert sim.stdout is not None
    where = sim.stdout.readline().strip()
    viewer = start(tmp_path, "viewer.py", connectors, pretending[1] == "1", "viewer", where, *words)
    assert (viewer.wait(120), sim.wait(60)) == (0, 0)


PUBLISHES = """
import numpy as np
import hocket as hk
with hk.open_port("swapped") as port:
    for name in ("f8", "c8", "i2", "bool"):
        first = 0 if name == "bool" else 1
        most = 10 if first else 2
        a = hk.from_function(lambda i: (i + first) % most, hk.Layout(9, "(*)"), name)
        a.local.byteswap(inplace=True)
        port.publish(name, a)
    go = port.parameter("go", True)
    print("open", flush=True)
    while go.value:
        port.poll()
"""


def test_an_observer_converts_what_it_sees(tmp_path, runtime, monkeypatch):  # noqa: F811
    program = tmp_path / "publishes.py"
    program.write_text(PUBLISHES, encoding="utf-8")
    env = {**os.environ, "HOCKET_BYTE_ORDER": OTHER}
    job = subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, env=env, text=True
    )
    assert job.stdout is not None and job.stdout.readline() == "open\n"
    with hk.observe("swapped", timeout=30) as o:
        for name in ("f8", "c8", "i2"):
            assert o[name][2:8].dtype.isnative
            np.testing.assert_array_equal(o[name][2:8], np.arange(3, 9, dtype=name))
        np.testing.assert_array_equal(o["bool"][...], np.arange(9) % 2 == 1)
        o["go"] = False
    assert job.wait(60) == 0
    with hk.open_port("here") as port:
        # Types that state their byte order travel as they are, and arrive equal, in ours.
        for k, of in enumerate((">f8", "<i4", ">U3", [("a", ">f8"), ("b", "<i2")])):
            a = hk.zeros(hk.Layout(5, "(*)"), of)
            a.local[...] = [(n, n) if k == 3 else n for n in range(5)]
            port.publish(f"of{k}", a)

            def look(name=f"of{k}"):
                with hk.observe("here", timeout=30) as o:
                    return o[name].dtype, o[name][1:4]

            (dtype, seen), _ = beside(port, look)
            assert dtype == np.dtype(of)
            assert seen.dtype == dtype.newbyteorder("=") and (seen == a.local[1:4]).all()
        monkeypatch.setenv("HOCKET_BYTE_ORDER", "middle")
        with pytest.raises(hk.Error, match="HOCKET_BYTE_ORDER is 'middle'"):
            hk.observe("here", timeout=5)
    with pytest.raises(hk.Error, match="HOCKET_BYTE_ORDER is 'middle'"):
        hk.open_port("there")
