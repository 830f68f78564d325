# SPDX-License-Identifier: BSD-3-Clause
"""How pictures travel: on one host in memory that the program lends, to other hosts bit by bit."""

import array
import contextlib
import fcntl
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from test_ports import beside, runtime  # noqa: F401
from test_ports_hostile import LARGE, asks_for, fields, hello, relay, resident
from test_ports_tasks import start

import hocket as hk

LENT, TAKEN = 19, struct.pack("<IB", 0, 3)
SHAPE = (256, 1024)  # 2 MiB
SEALS = {"SEAL": 1, "SHRINK": 2, "GROW": 4, "WRITE": 8, "FUTURE_WRITE": 16}
ADD_SEALS, GET_SEALS = 1033, 1034  # of fcntl, before Python 3.10


class Client:
    """One who speaks the observers' protocol, and may break it."""

    def __init__(self, where) -> None:
        self.line = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
        self.line.settimeout(20)
        self.line.connect(where)
        self.line.sendall(hello())
        self.bytes, self.files = b"", []

    def ask(self, *arguments, **options) -> None:
        self.line.sendall(asks_for(*arguments, **options))

    def frame(self) -> tuple[int, bytes]:
        """The next message. The descriptors that come stay in `files`."""
        while True:
            if len(self.bytes) >= 5:
                length, kind = struct.unpack_from("<IB", self.bytes)
                if len(self.bytes) >= 5 + length:
                    body, self.bytes = self.bytes[5 : 5 + length], self.bytes[5 + length :]
                    return kind, body
            more, control, _, _ = self.line.recvmsg(1 << 20, socket.CMSG_SPACE(4))
            if not more:
                raise EOFError
            for _, _, data in control:
                self.files += array.array("i", data)
            self.bytes += more

    def lent(self) -> tuple[int, int]:
        """The number of the request, and the descriptor, of the next memory that is lent."""
        while True:
            kind, body = self.frame()
            if kind == LENT:
                return struct.unpack_from("<q", body)[0], self.files.pop(0)


@pytest.fixture
def large(tmp_path, runtime):  # noqa: F811
    """A program of two processes with an array of 64 MiB; the path of its socket."""
    job = start(tmp_path, LARGE, "large.py", 2)
    assert job.stdout is not None and job.stdout.readline() == "open\n"
    try:
        yield job, fields(runtime, "large")
        with hk.observe("large", timeout=30) as o:
            o["go"] = False
        assert job.wait(60) == 0
    finally:
        job.kill()


def files() -> int:
    """How many this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def pictures_of(process: int) -> int:
    """How much memory for pictures a process has, in descriptors."""
    found = 0
    for file in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += "hocket.picture" in str(file.readlink())
    return found


def test_a_picture_comes_by_one_descriptor_that_can_only_be_read(large):
    _, port = large
    client = Client(port["socket"])
    for number in (1, 2):
        client.ask("a", (8192, 1024), number=number, maps=True)
        for process in range(2):
            found, file = client.lent()
            assert found == number and not client.files
            seals = fcntl.fcntl(file, GET_SEALS)
            assert all(seals & SEALS[word] for word in ("SEAL", "SHRINK", "GROW", "FUTURE_WRITE"))
            with pytest.raises(PermissionError):
                os.ftruncate(file, 0)
            with pytest.raises(PermissionError):
                os.write(file, b"x")
            with pytest.raises(PermissionError):
                mmap.mmap(file, 4096)
            with mmap.mmap(file, 32 << 20, prot=mmap.PROT_READ) as memory:
                rows = np.frombuffer(memory, np.float64).reshape(4096, 1024)[:, 7].copy()
            os.close(file)
            assert np.array_equal(rows, np.arange(4096.0) + 4096 * process)
            client.line.sendall(TAKEN)
        assert pictures_of(int(port["process"])) <= 2  # the second picture uses the same memory
    client.line.close()


@pytest.mark.parametrize("local", [True, False])
def test_all_observers_see_each_step_although_memory_is_used_again(local, runtime):  # noqa: F811
    """Elements are the number of the poll, so that one that another picture overwrites is seen."""
    wrong, ended = [], []
    options = {} if local else {"address": "127.0.0.1:0", "secure": False}

    def look() -> None:
        with hk.observe(port.address, secure=local, timeout=30) as o:
            for k in range(6):
                seen = o["a"][k % 3 :: 1 + k % 2]
                if not (seen == o.step).all():
                    wrong.append((o.step, seen.min(), seen.max()))
        ended.append(1)

    with hk.open_port("again", **options) as port:
        a = hk.zeros(hk.Layout(SHAPE, "(*, *)"))
        port.publish("a", a)
        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            a.local[...] = port.step + 1
            port.poll()
        assert (pictures_of(os.getpid()) > 0) == local
    assert not wrong and len(ended) == len(threads)


def test_an_answer_leaves_while_the_program_waits(runtime):  # noqa: F811
    """It polls until the answer begins, which is longer than the system's buffers, and then waits
    for jobs."""
    got = 0

    def look() -> None:
        nonlocal got
        client = Client(("127.0.0.1", int(port.address.rpartition(":")[2])))
        client.ask("a", (8192, 1024))
        while got < 64 << 20:
            kind, body = client.frame()
            got += len(body) - 24 if kind == 14 else 0
        client.line.close()

    with hk.open_port("waits", address="127.0.0.1:0", secure=False) as port:
        port.publish("a", hk.ones(hk.Layout((8192, 1024), "(*, *)")))
        observer = threading.Thread(target=look)
        observer.start()
        while got == 0 and observer.is_alive():
            port.poll()
        while observer.is_alive():
            with pytest.raises(hk.DeadlineError):
                port.accept(timeout=0.5)
        assert got == 64 << 20


@pytest.mark.parametrize("forbidden", ["memfd", "socket"])
def test_without_descriptors_pictures_come_as_bytes(forbidden, tmp_path, runtime):  # noqa: F811
    program = tmp_path / "forbidden.py"
    program.write_text(LARGE.replace("8192", "512"), encoding="utf-8")
    env = {**os.environ, "HOCKET_FORBID": forbidden}
    job = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, env=env)
    try:
        assert job.stdout is not None and job.stdout.readline() == b"open\n"
        with hk.observe("large", timeout=30) as o:
            assert np.array_equal(o["a"][:, 3], np.arange(512.0))
            assert np.array_equal(o["a"][...][:, 3], np.arange(512.0))
            o["go"] = False
        assert job.wait(60) == 0
    finally:
        job.kill()


def test_a_line_that_drops_descriptors_carries_bytes(runtime):  # noqa: F811
    """And so does a process that has no descriptor left."""
    with hk.open_port("far") as port, socket.socket(socket.AF_UNIX) as listener:
        port.publish("a", hk.from_function(lambda i, j: i + 0.5 * j, hk.Layout(SHAPE, "(*, *)")))
        where = str(runtime / "relay")
        listener.bind(where)
        listener.listen()
        thread = threading.Thread(target=relay, args=(listener, socket.AF_UNIX, port.address, []))
        thread.start()
        wanted = np.arange(256.0)[:, None] + 0.5 * np.arange(1024)

        def look():
            with hk.observe(where, timeout=30) as o:
                return np.array_equal(o["a"][...], wanted) and np.array_equal(o["a"][5], wanted[5])

        assert beside(port, look)[0]
        thread.join()

        def poor():
            return subprocess.run([sys.executable, "-c", POOR], timeout=60)

        assert beside(port, poor)[0].returncode == 0


# An observer that may open no more files once it is there.
POOR = """
import os, resource, sys
import numpy as np
import hocket as hk
with hk.observe("far", timeout=30) as o:
    last = os.dup(0)
    os.close(last)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (last, most))
    seen = o["a"][...]
    assert (seen[:, 1] == np.arange(256.0) + 0.5).all()
"""


def test_a_program_without_descriptors_sends_bytes(runtime):  # noqa: F811
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with hk.open_port("poor") as port:
        port.publish("a", hk.ones(hk.Layout(SHAPE, "(*, *)")))

        def look():
            with hk.observe("poor", timeout=30) as o:
                list(o)
                last = os.dup(0)
                os.close(last)
                resource.setrlimit(resource.RLIMIT_NOFILE, (last, limits[1]))
                try:
                    return o["a"][...].sum()
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        assert beside(port, look)[0] == SHAPE[0] * SHAPE[1]


def test_one_that_never_says_that_it_has_read_costs_two_pictures(large):
    """Others get theirs meanwhile. (After ten seconds it is sent away: see the next test.)"""
    _, port = large
    before = resident(int(port["process"]))
    greedy = Client(port["socket"])
    for number in range(40):
        greedy.ask("a", (8192, 1024), number=number, maps=True)
    assert greedy.lent()[0] == 0
    for first in (7, 8):
        with hk.observe("large", timeout=30) as o:
            assert np.array_equal(o["a"][first::1000, 5], np.arange(first, 8192.0, 1000))
    assert pictures_of(int(port["process"])) <= 3
    assert resident(int(port["process"])) < before + (200 << 20)
    greedy.line.close()


@pytest.mark.soak
def test_one_that_reads_nothing_is_sent_away(large):
    _, port = large
    client = Client(port["socket"])
    client.ask("a", (8192, 1024), maps=True)
    client.lent()
    began = time.monotonic()
    with pytest.raises((EOFError, ConnectionError)):
        while True:
            client.frame()
    assert 5 < time.monotonic() - began < 60
    assert client.files == []


def test_one_that_says_what_is_not_so_is_sent_away(large):
    _, port = large
    client = Client(port["socket"])
    client.line.sendall(TAKEN)
    while True:
        kind, body = client.frame()
        if kind == 11:
            break
    assert b"has taken a part that nobody has lent" in body


KILLED = """
import sys
import hocket as hk
o = hk.observe("large", timeout=30)
print("looks", flush=True)
while True:
    o["a"][...]
"""


def test_observers_that_are_killed_leave_nothing(large):
    _, port = large
    for seconds in (0.0, 0.1, 0.3, 0.6):
        client = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE)
        assert client.stdout is not None and client.stdout.readline() == b"looks\n"
        time.sleep(seconds)
        client.send_signal(signal.SIGKILL)
        client.wait()
    with hk.observe("large", timeout=30) as o:
        assert o["a"][8191, 0] == 8191
        end = time.monotonic() + 30
        while pictures_of(int(port["process"])) > 0:  # what nobody uses goes after some seconds
            assert time.monotonic() < end
            time.sleep(0.2)


class Program(threading.Thread):
    """One that answers a request for 64 KiB by whatever `answer` sends."""

    def __init__(self, where: str, answer) -> None:
        super().__init__()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(where)
        self.listener.listen()
        self.answer = answer
        self.requests: list[bool] = []  # whether they take memory

    def run(self) -> None:
        line, _ = self.listener.accept()
        self.listener.close()
        with line, contextlib.suppress(OSError):
            line.recv(4096)
            frame = lambda kind, body: struct.pack("<IB", len(body), kind) + body  # noqa: E731
            line.sendall(frame(10, bytes([3, 0]) + b"i" * 16 + struct.pack("<I", 0)))
            catalog = struct.pack("<qI", 1, 1) + struct.pack("<I", 1) + b"a"
            catalog += struct.pack("<I", 7) + b"float64" + struct.pack("<qIqI", 8, 1, 8192, 0)
            line.sendall(frame(12, catalog))
            while request := line.recv(4096):
                request = request.removeprefix(TAKEN)
                if not request:
                    continue
                (number,) = struct.unpack_from("<q", request, 5)
                self.requests.append(request[-1] == 1)
                layout = b"(8192) (*) @ ()"
                header = struct.pack("<qqI", number, 1, len(layout)) + layout
                line.sendall(frame(13, header + struct.pack("<Iqq", 1, 0, 65536)))
                lent = lambda inode, number=number: frame(  # noqa: E731
                    LENT, struct.pack("<qqq", number, 0, inode)
                )
                self.answer(line, lent, number)


def memory(bytes_: int, *seals: str) -> int:
    file = os.memfd_create("lie", os.MFD_ALLOW_SEALING)
    os.ftruncate(file, bytes_)
    fcntl.fcntl(file, ADD_SEALS, sum(SEALS[word] for word in seals))
    return file


def passing(files, inode=None):
    """Sends the message with these descriptors."""

    def answer(line, lent, number) -> None:
        named = os.fstat(files[0]).st_ino if inode is None else inode
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))
        line.sendmsg([lent(named)], [rights])

    return answer


def flood(line, lent, number) -> None:
    """A descriptor with each byte, and no message that names it."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))
    for byte in struct.pack("<IB", 100, LENT) + bytes(100):
        line.sendmsg([bytes([byte])], [rights])


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda: passing([memory(65536)]), "may be shortened"),
        (lambda: passing([memory(65536, "GROW", "WRITE")]), "may be shortened"),
        (lambda: passing([memory(65536, "SHRINK")]), "written to"),
        (lambda: passing([os.open("/dev/zero", os.O_RDONLY)]), "may be shortened"),
        (lambda: passing([os.pipe()[0]]), "may be shortened"),
        (lambda: passing([memory(65535, "SHRINK", "WRITE")]), "65535 bytes of memory for a part"),
        (lambda: passing([memory(65536, "SHRINK", "WRITE")], 7), "was not asked for"),
        (lambda: flood, "more descriptors than"),
    ],
    ids=["no seals", "shrinks", "written", "device", "pipe", "short", "another", "flood"],
)
def test_a_program_that_lies_about_memory_is_a_named_error(lie, words, runtime):  # noqa: F811
    where = str(runtime / "lies")
    program = Program(where, lie())
    program.start()
    before = files()
    with pytest.raises(hk.Error, match=words):
        hk.observe(where, timeout=20)["a"][...]
    program.join()
    assert files() <= before


def test_descriptors_that_are_missing_or_too_many(runtime):  # noqa: F811
    """The first is asked for once more, as bytes; of several the first counts, and none stays."""

    def forgets(line, lent, number) -> None:
        if not missing.requests[-1]:
            part = struct.pack("<qqq", number, 0, 0) + np.arange(8192.0).tobytes()
            line.sendall(struct.pack("<IB", len(part), 14) + part)
        else:
            line.sendall(lent(7))

    missing = Program(str(runtime / "missing"), forgets)
    full = memory(65536, "SHRINK")
    os.write(full, np.arange(8192.0).tobytes())
    fcntl.fcntl(full, ADD_SEALS, SEALS["FUTURE_WRITE"])  # older kernels map no other read-only
    many = Program(str(runtime / "many"), passing([full] * 20))
    before = files()
    for program, where in ((missing, "missing"), (many, "many")):
        program.start()
        with hk.observe(str(runtime / where), timeout=20) as o:
            assert np.array_equal(o["a"][...], np.arange(8192.0))
        program.join()
    assert missing.requests == [True, False]
    assert files() < before  # the listeners' are gone
