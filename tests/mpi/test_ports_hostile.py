# SPDX-License-Identifier: BSD-3-Clause
"""Clients that send anything, and files that lie: nobody gets in, and the program goes on."""

import contextlib
import os
import random
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_ports import Job, expected, key_file, runtime  # noqa: F401
from test_ports_tasks import start

import hocket as hk

LETTERS = b"HKT1"
VERSION = 8


def fields(folder: Path, name: str) -> dict[str, str]:
    """The entries of a port's file."""
    lines = (folder / "hocket" / f"{name}.port").read_text(encoding="utf-8").splitlines()[1:]
    return {word: value for word, _, value in (line.partition(" ") for line in lines)}


def knock(where, message: bytes, seconds: float = 10) -> bytes:
    """Sends this, and gives the answer, until the port hangs up."""
    kind = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
    with socket.socket(kind) as client:
        client.settimeout(seconds)
        client.connect(where)
        answer = b""
        try:
            client.sendall(message)
            while more := client.recv(4096):
                answer += more
        except (ConnectionError, socket.timeout):
            pass
        return answer


def hello(**changes) -> bytes:
    """A hello that is let in, but for the changes."""
    given = {"version": VERSION, "role": 1, "order": 0, "port": b"", "task": b"", "of": 1}
    given |= {"number": 0, "reconnect": 0.0}
    given |= changes
    values = struct.pack("<IBB", given["version"], given["role"], given["order"]) + bytes(16)
    for word in ("port", "task"):
        values += struct.pack("<I", len(given[word])) + given[word]
    values += struct.pack("<qq", given["of"], given["number"]) + bytes(16)
    values += struct.pack("<d", given["reconnect"])
    return LETTERS + struct.pack("<I", len(values)) + values


def asks_for(name: str, shape: tuple[int, ...], number: int = 1, maps: bool = False) -> bytes:
    """A request for a whole array."""
    body = struct.pack("<qI", number, len(name)) + name.encode() + struct.pack("<I", len(shape))
    for extent in shape:
        body += struct.pack("<qqqB", 0, extent, 1, 1)
    return struct.pack("<IB", len(body) + 1, 1) + body + bytes([maps])


def still_serves(name: str) -> None:
    with hk.observe(name, timeout=30) as o:
        assert np.array_equal(o["cyclic"][::3, 1], expected(o.step)[::3, 1])


def test_whoever_sends_anything_is_sent_away(tmp_path, runtime):  # noqa: F811
    with Job(tmp_path, "hostile", 2) as job:
        where = fields(runtime, "hostile")["socket"]
        assert b"speak the protocol" in knock(where, b"GET / HTTP/1.1\r\n\r\n")
        assert b"length of" in knock(where, LETTERS + b"\xff\xff\xff\x7f")
        assert b"too early" in knock(where, LETTERS + struct.pack("<II", 4, VERSION))
        for change, words in [
            ({"version": 9}, b"version 9"),
            ({"role": 7}, b"role 7"),
            ({"order": 3}, b"byte order"),
            ({"port": b"another"}, b"not 'another'"),
            ({"port": b"../x"}, b"no port"),
            ({"port": b"x" * 65}, b"length of 65"),
            ({"number": 4}, b"process 4"),
            ({"of": 1 << 40}, b"a hello names process"),
            ({"reconnect": -1.0}, b"a time below 0"),
            ({"reconnect": float("nan")}, b"a time below 0"),
        ]:
            assert words in knock(where, hello(**change)), change
        # After a good hello: frames that are none, of every kind, too long, cut short.
        for frame, words in [
            (struct.pack("<IB", 1 << 30, 1), b"length of 1073741824"),
            (struct.pack("<IB", 3, 1) + b"abc", b"too early"),
            (struct.pack("<IB", 0, 99), b"kind 99"),
            (struct.pack("<IBqI", 8, 2, 5, 1 << 31), b"too early"),
        ]:
            assert words in knock(where, hello() + frame), frame
        randoms = random.Random(25)
        for _ in range(50):
            good = bytearray(hello() + struct.pack("<IB", 12, 1) + bytes(12))
            for _ in range(randoms.randrange(1, 4)):
                good[randoms.randrange(len(good))] = randoms.randrange(256)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(where)
                client.sendall(good[: randoms.randrange(len(good))])
        still_serves("hostile")
        job.end()


def tls_hello() -> bytes:
    """The first bytes of a client that speaks TLS, and has no key."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="a")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


def fuzzed(randoms: random.Random, valid: list[bytes]) -> bytes:
    """Bytes of one of these changed, or cut, or of none."""
    message = bytearray(randoms.choice(valid))
    if randoms.random() < 0.1:
        message = bytearray(randoms.randbytes(randoms.randrange(1, 400)))
    for _ in range(randoms.randrange(1, 5)):
        message[randoms.randrange(len(message))] = randoms.randrange(256)
    if randoms.random() < 0.3:
        del message[randoms.randrange(1, len(message) + 1) :]
    return bytes(message)


def resident(process: int) -> int:
    """Bytes of memory that it has."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.soak
def test_a_hundred_thousand_fuzzed_hellos(tmp_path, runtime, soak_seed):  # noqa: F811
    """By TCP, to a port with a key: nobody is let in. By the Unix socket, where this user needs no
    key, an unharmed hello may be. The job goes on, and its memory does not grow."""
    key = key_file(tmp_path / "run.key")
    randoms = random.Random(soak_seed)
    requests = struct.pack("<IB", 12, 1) + bytes(12)
    valid = [hello(role=role) + requests for role in (1, 2, 3)] + [b"HKR1" + bytes(20) + hello()]
    with Job(tmp_path, "fuzzed", 2, address="127.0.0.1:0", key=key) as job:
        where = fields(runtime, "fuzzed")["socket"]
        host, _, number = job.address.rpartition(":")
        valid_tls = [*valid, tls_hello(), tls_hello()]
        with hk.observe(job.address, key=key, timeout=60) as o:
            assert np.array_equal(o["block"][...], expected(o.step))
            here = [process.pid for process in job.processes if process.here]
            before, polls = [resident(pid) for pid in here], o.step
            answers = 0
            for k in range(100000):
                by_tcp = k % 2 == 1
                with socket.socket(socket.AF_INET if by_tcp else socket.AF_UNIX) as client:
                    client.settimeout(60)
                    if by_tcp:  # more addresses than one have ports enough
                        client.bind((f"127.0.0.{2 + k // 2 % 100}", 0))
                    client.connect((host, int(number)) if by_tcp else where)
                    with contextlib.suppress(ConnectionError, socket.timeout):
                        client.sendall(fuzzed(randoms, valid_tls if by_tcp else valid))
                        if k % 64 > 1:
                            continue
                        client.shutdown(socket.SHUT_WR)
                        client.settimeout(0.1)  # the port waits longer for more of some hellos
                        answer = client.recv(4096)
                        answers += len(answer) > 0
                        assert not by_tcp or answer[4:5] != bytes([10]), answer  # welcome
            assert answers > 100
            assert np.array_equal(o["block"][...], expected(o.step)) and o.step > polls
        for pid, had in zip(here, before):
            assert resident(pid) < had + (64 << 20)
        still_serves("fuzzed")
        job.end()


def test_a_flood_of_silent_clients_keeps_nobody_out(tmp_path, runtime):  # noqa: F811
    """Others come whenever the port sends some of them away."""
    silent, done = [], threading.Event()

    def come(count: int) -> None:
        for _ in range(count):
            silent.append(socket.socket(socket.AF_UNIX))
            silent[-1].connect(where)

    def come_again() -> None:
        while not done.wait(0.5):
            come(10)

    with Job(tmp_path, "flood", 1) as job:
        where = fields(runtime, "flood")["socket"]
        come(100)
        slow = socket.socket(socket.AF_UNIX)
        slow.connect(where)
        flood = threading.Thread(target=come_again)
        flood.start()
        try:
            for byte in hello()[:8]:
                slow.sendall(bytes([byte]))
                time.sleep(0.02)
            still_serves("flood")
        finally:
            done.set()
            flood.join()
        for client in [*silent, slow]:
            client.close()
        still_serves("flood")
        job.end()


LARGE = """
import sys
import hocket as hk
from mpi4py import MPI
port = hk.open_port("large")
layout = hk.Layout((8192, 1024), "(BLOCK, *)", MPI.COMM_WORLD.size)
port.publish("a", hk.from_function(lambda i, j: 1.0 * i, layout))
go = port.parameter("go", True)
print("open", flush=True)
while go.value:
    port.poll()
port.close()
"""


def take_slowly(client: socket.socket, done: threading.Event) -> None:
    """Less than a hundredth of the picture a second, so that the connection does not end."""
    while not done.wait(1):
        client.recv(1 << 19)


def test_an_observer_that_takes_few_bytes_delays_no_other_one(tmp_path, runtime):  # noqa: F811
    """Its picture is longer than what process 0 holds for it. The looks for requests of the others,
    which ask for nothing, take more time than answers may."""
    job = start(tmp_path, LARGE, "large.py", 2)
    assert job.stdout is not None and job.stdout.readline() == "open\n"
    done = threading.Event()
    with contextlib.ExitStack() as stack:
        stack.callback(job.kill)
        where = fields(runtime, "large")["socket"]
        slow, *idle = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(60)]
        for client in (slow, *idle):
            client.connect(where)
            client.sendall(hello())
        slow.sendall(asks_for("a", (8192, 1024)))
        slow.recv(100)
        slowly = threading.Thread(target=take_slowly, args=(slow, done))
        slowly.start()
        stack.callback(slowly.join)
        stack.callback(done.set)
        with hk.observe("large", timeout=30) as o:
            for first in range(1000, 1003):
                assert np.array_equal(o["a"][first::3000, 5], [first, first + 3000, first + 6000])
            o["go"] = True
            o["go"] = False
        done.set()
        slowly.join()
        slow.close()
        assert job.wait(60) == 0


def test_a_route_to_nowhere_gives_nothing(tmp_path, runtime):  # noqa: F811
    """Another session, too many processes, or half a route: nobody is handed on."""
    with Job(tmp_path, "route", 1, address="127.0.0.1:0", secure=False) as job:
        host, _, number = job.address.rpartition(":")
        for route in (b"HKR1" + bytes(16) + bytes(4), b"HKR1" + os.urandom(16) + b"\xff" * 4):
            assert knock((host, int(number)), route + hello(role=3)) == b""
        assert knock((host, int(number)), b"HKR1abc", 0.3) == b""
        still_serves("route")
        job.end()


def test_a_server_that_ignores_the_key_is_refused(tmp_path):
    """OpenSSL's default: a server that does not know the key shows a certificate instead."""
    certificate = tmp_path / "server.pem"
    line = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost"
    )
    files = ["-keyout", str(certificate), "-out", str(tmp_path / "c.pem")]
    made = subprocess.run([*line.split(), *files], capture_output=True)
    if made.returncode != 0:
        pytest.skip("there is no openssl to make a certificate with")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        key = key_file(tmp_path / "run.key")
        code = "import sys, hocket as hk; hk.observe(sys.argv[1], key=sys.argv[2], timeout=10)"
        client = subprocess.Popen(
            [sys.executable, "-c", code, f"127.0.0.1:{port}", key],
            stderr=subprocess.PIPE,
            text=True,
        )
        with listener.accept()[0] as line:
            try:
                with context.wrap_socket(line, server_side=True) as secure:
                    assert secure.recv(100) == b""  # not a byte is said to it
            except (ssl.SSLError, OSError):
                pass
        assert "another key" in client.communicate(timeout=30)[1]


def relay(listener: socket.socket, family: int, to: Any, into: list[bytes]) -> None:
    """Passes the bytes of one connection on, as ssh does, and keeps those of the client."""
    client, _ = listener.accept()
    with client, socket.socket(family) as server:
        server.connect(to)

        def back() -> None:
            with contextlib.suppress(OSError):
                while more := server.recv(1 << 16):
                    client.sendall(more)

        answers = threading.Thread(target=back)
        answers.start()
        while more := client.recv(1 << 16):
            into.append(more)
            server.sendall(more)
        server.shutdown(socket.SHUT_RDWR)
        answers.join()


def test_a_recorded_connection_changes_nothing(tmp_path, runtime):  # noqa: F811
    """Its bytes once more, all at once and in the pieces in which they went, and out of order."""
    key, sent = key_file(tmp_path / "run.key"), []
    with Job(tmp_path, "replayed", 1, address="127.0.0.1:0", key=key) as job:
        host, _, number = job.address.rpartition(":")
        where = (host, int(number))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            between = threading.Thread(target=relay, args=(listener, socket.AF_INET, where, sent))
            between.start()
            with hk.observe(f"127.0.0.1:{listener.getsockname()[1]}", key=key, timeout=30) as o:
                o["viscosity"] = 0.5
            between.join()
        with hk.observe(job.address, key=key, timeout=30) as o:
            assert o["viscosity"] == 0.5  # what was recorded does this the first time
            o["viscosity"] = 0.9
            for again in (b"".join(sent), b"".join([sent[0], *reversed(sent[1:])])):
                answer = knock(where, again)
                # The last is an alert, encrypted or not.
                assert answer[-24:-19] == b"\x17\x03\x03\0\x13" or answer[-7:-4] == b"\x15\x03\x03"
            assert o["viscosity"] == 0.9
        job.end()


def test_files_that_are_stale_or_taken(tmp_path, runtime):  # noqa: F811
    with Job(tmp_path, "mine", 1) as job:
        mine = fields(runtime, "mine")
        file = runtime / "hocket" / "mine.port"
        written = file.read_text(encoding="utf-8")
        # A process of another container is known by its socket alone.
        for space in (mine["space"], "pid:[1]"):
            file.write_text(written.replace(mine["space"], space), encoding="utf-8")
            with pytest.raises(hk.Error, match="there is a port 'mine' already") as refused:
                hk.open_port("mine")
            assert mine["process"] in str(refused.value)
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        # Killed, it leaves its file; the name is free all the same.
        os.kill(int(mine["process"]), signal.SIGKILL)
        job.process.wait(60)
    assert file.is_file()
    # So does a socket that its killed process has left, once it is older than a minute.
    left = file.parent / "mine-1-7"
    with socket.socket(socket.AF_UNIX) as abandoned:
        abandoned.bind(str(left))
    os.utime(left, (0, 0))
    with pytest.raises(hk.DeadlineError, match="no port 'mine'"):
        hk.observe("mine", timeout=0.2)
    with Job(tmp_path, "mine", 1) as job:
        still_serves("mine")
        job.end()
    # A port that cannot listen leaves no key behind.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for address in (f"127.0.0.1:{taken.getsockname()[1]}", "nowhere"):
            with pytest.raises(hk.Error, match=r"cannot listen at|is no address"):
                hk.open_port("mine", address=address)
    assert list(file.parent.iterdir()) == []


def test_another_user_finds_and_reaches_nothing(tmp_path, runtime):  # noqa: F811
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    code = """
import os, socket, sys
os.setgid(65534), os.setuid(65534)
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1])
except OSError as error:
    print(error)
else:
    try:
        client.sendall(b"HKT1")
        print("in" if client.recv(1) else "hung up")
    except ConnectionError:
        print("hung up")
"""
    with Job(tmp_path, "private", 1) as job:
        where = fields(runtime, "private")["socket"]

        def other() -> str:
            line = [sys.executable, "-c", code, where]
            return subprocess.run(line, capture_output=True, text=True).stdout

        assert "Permission denied" in other()
        # Even where the folder lets them pass, the port asks who they are.
        folder = Path(where).parent
        folder.parent.chmod(0o755), folder.chmod(0o755), Path(where).chmod(0o666)
        assert "hung up" in other()
        with pytest.raises(hk.Error, match="open to others"):
            hk.observe("private", timeout=1)
        folder.chmod(0o700)
        job.end()


def test_a_program_that_is_killed_is_an_error_at_once(tmp_path, runtime):  # noqa: F811
    with Job(tmp_path, "killed", 1) as job:
        o = hk.observe("killed", timeout=30)
        os.kill(int(fields(runtime, "killed")["process"]), signal.SIGKILL)
        with pytest.raises(hk.PeerLostError, match="gone"):  # and no DeadlineError
            while True:
                o["block"][0, 0]
        job.process.wait(60)


def test_a_process_that_does_not_come_fails_the_observer_alone(tmp_path, runtime):  # noqa: F811
    with Job(tmp_path, "stopped", 2) as job:
        o = hk.observe("stopped", timeout=3)
        job.processes[1].kill(signal.SIGSTOP)
        with pytest.raises(hk.DeadlineError, match=r"within 3 s"):
            while True:
                o["block"][...]
        job.processes[1].kill(signal.SIGCONT)
        still_serves("stopped")
        job.end()
