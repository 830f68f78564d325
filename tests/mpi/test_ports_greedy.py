# SPDX-License-Identifier: BSD-3-Clause
"""Clients that ask for more than they take, or leave before the answer: they cost little."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
from test_ports import beside, runtime  # noqa: F401
from test_ports_hostile import asks_for, hello, resident

import hocket as hk


def come(where: str, message: bytes) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(where)
    client.sendall(message)
    return client


def test_one_that_asks_without_end_costs_bounded_memory(runtime):  # noqa: F811
    """It reads no answer. Another observer gets its picture meanwhile."""
    over, sent = threading.Event(), 0

    def flood(client: socket.socket) -> None:
        nonlocal sent
        client.settimeout(0.1)
        with contextlib.suppress(ConnectionError):  # it may be sent away
            while not over.is_set():
                with contextlib.suppress(socket.timeout):
                    sent += client.send(requests[sent % len(requests) :])

    request = asks_for("nothing", ())
    requests = request * 20000
    with hk.open_port("flooded") as port:
        port.publish("a", hk.ones(hk.Layout((300, 300), "(*, *)")))
        client = come(port.address, hello())
        flooding = threading.Thread(target=flood, args=(client,))
        flooding.start()
        try:
            began = time.monotonic()
            until = began + 1
            before = resident(os.getpid())
            while time.monotonic() < until:
                port.poll()

            def look():
                with hk.observe("flooded", timeout=30) as o:
                    return o["a"][...].sum()

            assert beside(port, look)[0] == 90000
            assert resident(os.getpid()) < before + (48 << 20)
            # Sixteen at each look, of which there is one a millisecond, and what waits.
            looks = 1000 * (time.monotonic() - began) + 100
            assert sent < 16 * looks * len(request) + (2 << 20)
        finally:
            over.set()
            flooding.join()
            client.close()


def test_requests_of_those_who_have_left_delay_nobody(runtime):  # noqa: F811
    """To answer them all would take a minute."""
    with hk.open_port("left") as port:
        port.publish("a", hk.ones(hk.Layout((1024, 1024), "(*, *)")))
        for _ in range(20):
            come(port.address, hello() + asks_for("a", (1024, 1024)) * 60).close()

        def look():
            with hk.observe("left", timeout=30) as o:
                return [o["a"][k, k] for k in range(3)]

        assert beside(port, look)[0] == [1, 1, 1]


def test_a_list_that_changes_often_waits_for_a_slow_observer(runtime):  # noqa: F811
    """Else the lists that one observer does not read would fill the program's memory."""
    with hk.open_port("listed") as port:
        for k in range(400):
            port.parameter(f"a_parameter_{k}", "x" * 1000)
        silent = [come(port.address, hello()) for _ in range(8)]
        for _ in range(5):
            port.poll()
            time.sleep(0.002)
        before = resident(os.getpid())

        def steer():
            with hk.observe("listed", timeout=30) as o:
                for k in range(15):
                    o["a_parameter_7"] = str(k)
                return o["a_parameter_7"]

        assert beside(port, steer)[0] == "14"
        assert resident(os.getpid()) < before + (24 << 20)  # not 15 lists for each of 8
        for client in silent:
            client.close()


VISITOR = """
import hocket as hk
print("comes", flush=True)
hk.connect("busy", task="viewer", timeout=60).disconnect()
"""


def test_jobs_that_have_left_keep_no_other_out(runtime):  # noqa: F811
    with hk.open_port("busy") as port:
        for _ in range(64):
            come(port.address, hello(role=2, task=b"gone")).close()
            port.poll()
        line = [sys.executable, "-c", VISITOR]
        with subprocess.Popen(line, stdout=subprocess.PIPE) as visitor:
            assert visitor.stdout is not None and visitor.stdout.readline() == b"comes\n"
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                port.poll()
            port.accept(timeout=60).disconnect()
            assert visitor.wait(60) == 0


def test_an_observer_asks_many_times_at_once(runtime):  # noqa: F811
    """As many answers come as there were questions, in their order."""
    with hk.open_port("many") as port:
        port.publish("a", hk.from_function(lambda i: 1.0 * i, hk.Layout((40,), "(*)")))

        def look():
            with contextlib.closing(come(port.address, hello())) as client:
                client.settimeout(120)
                client.sendall(b"".join(asks_for("a", (40,), number) for number in range(40)))
                got = b""
                while got.count(np.arange(40.0).tobytes()) < 40:
                    more = client.recv(1 << 16)
                    assert more, "it was sent away"
                    got += more
                return True

        assert beside(port, look)[0]
