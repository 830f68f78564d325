# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were started separately: a job with a port, and those who look into it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from lockstep import elsewhere, mpiexec

import hocket as hk
from hocket import _pure

SHAPE = (16, 30)
# Element (i, j) is 100 i + j + 10000 times the number of polls so far; all processes must see the
# same values of parameters at the same polls. It ends when somebody sets `go` to False.
PROGRAM = """
import json, os, sys
import numpy as np
import hocket as hk
from mpi4py import MPI
comm = MPI.COMM_WORLD
options = eval(sys.argv[2])
port = hk.open_port(sys.argv[1], **options)
fields = {}
for name, layout in {
    "block": hk.Layout((16, 30), "(BLOCK, *)", comm.size),
    "cyclic": hk.Layout((16, 30), "(*, CYCLIC(3))", comm.size),
    "copies": hk.Layout((16, 30), "(BLOCK, *)", (1, comm.size), replicate=(1,)),
    "boxes": hk.Layout.boxes((16, 30), [((0, 0), (16, 30))] * comm.size),
    "elements": hk.Layout.elements((16, 30), [list(range(r, 480, comm.size))[::-1]
                                              for r in range(comm.size)]),
}.items():
    a = hk.from_function(lambda i, j: 100.0 * i + j, layout)
    fields[name] = (a, a.local.copy())
    port.publish(name, a)
port.publish("byte", hk.ones(hk.Layout((), "()"), "uint8"))
nu, go = port.parameter("viscosity", 0.1), port.parameter("go", True)
port.parameter("title", "a run"), port.parameter("steps", 100)
pids = comm.gather(f"{os.getpid()} {os.uname().nodename}")
if comm.rank == 0:
    print(json.dumps([port.address, port.key, pids]), flush=True)
seen = []
while go.value:
    for a, base in fields.values():
        a.local[...] = base + 10000 * (port.step + 1)
    port.poll()
    seen.append(nu.value)
    comm.barrier()
everyone = comm.allgather(seen)
assert all(other == seen for other in everyone)
port.close()
"""


class Job:
    """A job of so many processes that has a port."""

    def __init__(self, folder: Path, name: str, processes: int, nodes: str = "", **options):
        program = folder / "program.py"
        program.write_text(PROGRAM, encoding="utf-8")
        env = mpiexec.environment(os.environ, str(folder), processes, None)
        if nodes:
            env["HOCKET_NODES"] = nodes
        words = [sys.executable, str(program), name, repr(options)]
        line = [mpiexec.find(), "-n", str(processes), *words]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)
        assert self.process.stdout is not None
        self.address, self.key, told = json.loads(self.process.stdout.readline())
        self.processes = [elsewhere.Process.read(text) for text in told]
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.process.terminate()
        self.process.wait(60)

    def end(self) -> None:
        with hk.observe(self.name, timeout=30) as o:
            o["go"] = False
        assert self.process.wait(60) == 0


def expected(step: int) -> np.ndarray:
    i, j = np.ogrid[: SHAPE[0], : SHAPE[1]]
    return 100.0 * i + j + 10000 * step


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """A folder of ports of this test's own. (Short, as a socket's path is.)"""
    folder = Path(tempfile.mkdtemp(prefix="hk", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize(("processes", "nodes"), [(1, ""), (3, ""), (3, "0,1,1")])
def test_pictures_are_of_one_poll_and_parameters_change_at_one(processes, nodes, tmp_path, runtime):
    with Job(tmp_path, "sim", processes, nodes) as job:
        o = hk.observe("sim", timeout=30)
        assert list(o)[:5] == ["block", "cyclic", "copies", "boxes", "elements"]
        assert o["viscosity"] == 0.1 and o["title"] == "a run" and o["steps"] == 100
        assert o["go"] is True and o["byte"].dtype == np.uint8 and o["byte"][()] == 1
        before = 0
        sections = [np.s_[...], np.s_[::4, 10:20], np.s_[::-5, 3], np.s_[2, 3], np.s_[5:5, :]]
        for name in list(o)[:5]:
            assert o[name].shape == SHAPE
            for section in sections:
                found = o[name][section]
                assert np.array_equal(found, expected(o.step)[section]), (name, section)
                assert o.step > before
                before = o.step
        second = hk.observe("sim", timeout=30)
        second["viscosity"] = 0.2
        assert second["viscosity"] == 0.2
        second["viscosity"] = 3  # a real number stays one
        assert second["viscosity"] == 3.0 and isinstance(second["viscosity"], float)
        assert np.array_equal(o["cyclic"][1:3], expected(o.step)[1:3])
        assert o["viscosity"] == 3.0
        together(job)
        job.end()
        with pytest.raises((hk.EndOfStream, hk.PeerLostError)):
            o["block"][0, 0]
        assert hk.Layout((1,), "(*)")  # no MPI in this process was harmed


def together(job: Job) -> None:
    """Several look at once, each at other elements."""
    wrong = []

    def look(number: int) -> None:
        try:
            with hk.observe(job.name, timeout=30) as o:
                for k in range(5):
                    section = np.s_[number :: k + 1, k]
                    if not np.array_equal(o["cyclic"][section], expected(o.step)[section]):
                        wrong.append((number, k))
        except hk.Error as error:
            wrong.append(error)

    threads = [threading.Thread(target=look, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def refused(words: str, **options) -> None:
    options.setdefault("timeout", 10)
    with pytest.raises(hk.Error, match=words):
        hk.observe(options.pop("name"), **options)


def key_file(path: Path, length: int = 40, mode: int = 0o600) -> str:
    path.write_bytes(os.urandom(length))
    path.chmod(mode)
    return str(path)


def test_keys_let_in_and_give_rights(tmp_path, runtime, capfd):
    key, other = key_file(tmp_path / "run.key"), key_file(tmp_path / "other.key")
    with Job(tmp_path, "keyed", 2, address="127.0.0.1:0", key=key) as job:
        address = job.address
        o = hk.observe(address, key=key, timeout=30)
        assert np.array_equal(o["block"][...], expected(o.step))
        refused("another key", name=address, key=other)
        refused("another key", name="keyed", key=other)
        refused("key is needed", name=address)
        refused("encrypted", name=address, secure=False)
        refused("leave out one", name=address, secure=False, key=key)
        refused("chmod 600", name=address, key=key_file(tmp_path / "open.key", mode=0o644))
        refused("31 bytes", name=address, key=key_file(tmp_path / "short.key", 31))
        refused("cannot be opened", name=address, key=str(tmp_path / "none.key"))
        for right in ("read", "steer", "join"):
            _pure.give_key(key, right, str(tmp_path / right))
            given = hk.observe(address, key=tmp_path / right, timeout=30)
            assert np.array_equal(given["boxes"][3], expected(given.step)[3])
            if right == "read":
                with pytest.raises(hk.Error, match="look on, not steer"):
                    given["viscosity"] = 0.7
            else:
                given["viscosity"] = 0.7
                assert given["viscosity"] == 0.7
        with pytest.raises(hk.Error, match="has no key of the right"):
            _pure.give_key(str(tmp_path / "read"), "steer", str(tmp_path / "more"))
        job.end()
    assert "is not secure" in capfd.readouterr().err


def test_what_an_observer_may_not(tmp_path, runtime):
    with Job(tmp_path, "wrong", 1) as job:
        o = hk.observe("wrong", timeout=30)
        with pytest.raises(hk.Error, match="published no 'blok'"):
            o["blok"]
        with pytest.raises(hk.LayoutError):
            o["block"][16, 0]
        with pytest.raises(hk.Error, match="is an array"):
            o["block"] = 3
        with pytest.raises(hk.Error, match=r"no parameter 'viscosit'.*did you mean"):
            o["viscosit"] = 3
        for name, value in {"viscosity": "thick", "go": 0.5, "steps": 0.5, "title": 3}.items():
            with pytest.raises(hk.Error, match="was given"):
                o[name] = value
        with pytest.raises(hk.Error, match="64 bits"):
            o["steps"] = 1 << 63
        assert o["block"][0, 1] > 0  # it goes on after every refusal
        o.close()
        with pytest.raises(hk.Error, match="closed"):
            o["block"][0, 0]
        job.end()
    refused("no port 'wrong'", name="wrong", timeout=0.2)
    refused("no name of a port", name="../wrong")
    refused(r"'a\\x00b' is no name", name="a\0b")
    with pytest.raises(hk.Error, match=r"'a\\x00b' is no name of a task"):
        hk.connect("wrong", task="a\0b", timeout=0.2)
    with hk.open_port("names") as port:
        with pytest.raises(hk.Error, match=r"'a\\x00b' is no name of something published"):
            port.parameter("a\0b", 1)
        with pytest.raises(hk.Error, match=r"'a\\x00b' is no name of a port"):
            hk.open_port("a\0b")
        with pytest.raises(hk.Error, match="'a b' is no name of a task"):
            hk.open_port("other", task="a b")
        port.close()  # the end of the block closes it only if it is open
    with pytest.raises(hk.Error, match=r"key is 'a\\x00b'"):
        hk.observe("names", key="a\0b")
    with pytest.raises(hk.Error, match="reconnect is -1"):
        hk.connect("wrong", task="viewer", timeout=0.2, reconnect=-1)
    with pytest.raises(hk.DeadlineError):  # a long run counts beyond 31 bits
        hk.connect("wrong", task="viewer", timeout=0.2, resume={"frames": 1 << 40})
    refused("no address", name="host:port")


def beside(port: hk.Port, look):
    """The result of `look`, in a thread, while the port polls; the longest poll, in seconds."""
    results, longest = [], 0.0
    thread = threading.Thread(target=lambda: results.append(look()))
    thread.start()
    while thread.is_alive():
        began = time.perf_counter()
        port.poll()
        longest = max(longest, time.perf_counter() - began)
    return results[0], longest


def test_what_observers_could_not_read_is_refused_where_it_is_published(runtime):
    """One text that is too long would keep all observers out."""
    wide = [(f"field_{k}_of_a_structure", "f8") for k in range(400)]
    with hk.open_port("long") as port:
        port.publish("wide", hk.zeros(hk.Layout(3, "(*)"), wide))
        port.parameter("text", "x" * 4096)
        with pytest.raises(hk.Error, match="4097 characters, and 4096"):
            port.parameter("longer", "x" * 4097)
        with pytest.raises(hk.Error, match="publish some of its fields"):
            wider = [(f"{k:050}", "u1") for k in range(2000)]
            port.publish("wider", hk.zeros(hk.Layout(3, "(*)"), wider))

        def look():
            with hk.observe("long", timeout=30) as o:
                return list(o), o["text"], o["wide"][1:].dtype

        seen, _ = beside(port, look)
        assert seen == (["wide", "text"], "x" * 4096, np.dtype(wide))
        for k in range(4095):
            port.parameter(f"p{k}", k)
        with pytest.raises(hk.Error, match="4096 parameters already"):
            port.parameter("last", 1)


def test_a_section_of_lists_is_looked_up_once(runtime):
    """To look up 200000 elements takes much longer than to copy a few of them."""
    order = np.random.default_rng(25).permutation(200000)
    with hk.open_port("lists") as port:
        lists = hk.Layout.elements((200000,), [order])
        port.publish("a", hk.from_function(lambda i: i, lists, "int64"))

        def look():
            with hk.observe("lists", timeout=30) as o:
                return o["a"][::-1000]

        times = []
        for _ in range(5):
            seen, longest = beside(port, look)
            times.append(longest)
            assert np.array_equal(seen, np.arange(200000)[::-1000])
        assert min(times[1:]) < times[0] / 2, times
        seen, _ = beside(port, lambda: np.asarray(hk.observe("lists", timeout=30)["a"]))
        assert np.array_equal(seen, np.arange(200000))


@pytest.mark.soak
def test_lists_that_are_longer_than_a_message_travel_in_pieces(runtime):
    order = np.random.default_rng(25).permutation(2200000)
    with hk.open_port("lists") as port:
        lists = hk.Layout.elements(order.shape, [order])
        port.publish("a", hk.from_function(lambda i: i, lists, "int64"))

        def look():
            with hk.observe("lists", timeout=60) as o:
                return o["a"][...], o["a"][5::100000]

        (whole, few), _ = beside(port, look)
        assert np.array_equal(whole, np.arange(2200000))
        assert np.array_equal(few, np.arange(2200000)[5::100000])


# Of all these layouts the text is long, so that lists come before the elements.
LISTED = """
import numpy as np
import hocket as hk
from mpi4py import MPI
comm = MPI.COMM_WORLD
size, random = comm.size, np.random.default_rng(25)
shape, count = (5000, 3), 15000
places, owners = random.permutation(count), random.integers(0, size, shape[0])
port = hk.open_port("listed")
for name, layout in {
    "elements": hk.Layout.elements(shape, [places[r::size] for r in range(size)]),
    "shared": hk.Layout.elements(shape, [places[: count - 7 * r] for r in range(size)]),
    "one": hk.Layout.elements(shape, [[], places[:]] + [[]] * (size - 2)),
    "indirect": hk.Layout(shape, (hk.indirect(owners), "*"), size),
    "columns": hk.Layout(shape[::-1], ("BLOCK", hk.indirect(owners % 1)), (size, 1)),
}.items():
    port.publish(name, hk.from_function(lambda i, j: 100 * i + j, layout, "int32"))
go = port.parameter("go", True)
if comm.rank == 0:
    print("open", flush=True)
while go.value:
    port.poll()
port.close()
"""


def test_pictures_of_long_lists(tmp_path, runtime):
    program = tmp_path / "listed.py"
    program.write_text(LISTED, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    line = [mpiexec.find(), "-n", "3", sys.executable, str(program)]
    job = subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)
    try:
        assert job.stdout is not None and job.stdout.readline() == "open\n"
        with hk.observe("listed", timeout=180) as o:
            for name in ("elements", "shared", "one", "indirect", "columns"):
                i, j = np.ogrid[: o[name].shape[0], : o[name].shape[1]]
                whole = 100 * i + j
                for section in (np.s_[...], np.s_[::-2, 1:], np.s_[2, :], np.s_[1, 2]):
                    assert np.array_equal(o[name][section], whole[section]), (name, section)
            o["go"] = False
        assert job.wait(60) == 0
    finally:
        job.kill()


def test_a_host_and_port_are_waited_for_as_a_name_is(tmp_path, runtime):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    key = key_file(tmp_path / "run.key")
    refused(
        r"cannot connect to 127.*: Connection refused, for 0\.2 s",
        name=address,
        key=key,
        timeout=0.2,
    )
    with pytest.raises(hk.DeadlineError, match="Connection refused"):
        hk.connect(address, task="viewer", key=key, timeout=0.2)
    refused("nowhere.invalid' is not known", name="nowhere.invalid:4711", key=key, timeout=60)
    seen = []

    def look():
        with hk.observe(address, key=key, timeout=60) as o:
            seen.extend(o)

    early = threading.Thread(target=look)
    early.start()
    time.sleep(0.2)
    with hk.open_port("late", address=address, key=key) as port:
        port.parameter("here", 1)
        while early.is_alive():
            port.poll()
    assert seen == ["here"]


def test_a_program_polls_without_pause_and_then_seldom(tmp_path, runtime):
    """An agreed poll that was near in the first part lies far ahead in the second one."""
    program = tmp_path / "paces.py"
    program.write_text(
        "import time\nimport hocket as hk\n"
        "port = hk.open_port('paces')\n"
        "pace = port.parameter('pace', 0)\n"
        "while pace.value == 0:\n    port.poll()\n"
        "while pace.value == 1:\n    port.poll()\n    time.sleep(0.02)\n"
        "port.close()\n",
        encoding="utf-8",
    )
    env = mpiexec.environment(os.environ, str(tmp_path), 2, None)
    job = subprocess.Popen([mpiexec.find(), "-n", "2", sys.executable, str(program)], env=env)
    with hk.observe("paces", timeout=30) as o:
        while "pace" not in o:  # the port is open a moment before
            time.sleep(0.01)
        for _ in range(3):
            o["pace"] = 0
        began = o.step
        o["pace"] = 1
        assert o.step > began
        o["pace"] = 1
        o["pace"] = 2
    assert job.wait(30) == 0


def test_the_address_of_a_port_of_this_host(runtime):
    """Is the path of its socket, which leads there in place of the name."""
    with hk.open_port("here") as port:
        port.publish("t", hk.ones(hk.Layout((3, 4), "(*, *)")))
        assert Path(port.address).is_socket()

        def look():
            with hk.observe(port.address, timeout=30) as o:
                return list(o), o["t"][0].tolist()

        assert beside(port, look)[0] == (["t"], [1, 1, 1, 1])
        for timeout in ("x", -1):
            with pytest.raises(hk.Error, match=f"timeout is {timeout!r}"):
                port.poll(timeout)
