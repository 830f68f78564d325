# SPDX-License-Identifier: BSD-3-Clause
"""Flows that a program has left when it ends."""

import subprocess
import sys

import pytest

FORGETFUL = """
import sys, time
import hocket as hk
f = hk.Flow(2)
f.task(lambda: (time.sleep(0.05), print("one", flush=True)), outputs=["x"])
f.task(lambda: (time.sleep(0.05), print("two", f.steps, flush=True)), inputs=["x"])
if sys.argv[1] == "wrong":
    f.task(lambda: 1 / 0, name="divide")
if sys.argv[1] == "away":
    raise KeyError("away")
if sys.argv[1] == "exit":
    sys.exit(0)
"""


def test_a_flow_that_nobody_waits_for_ends_with_the_program():
    def ending(how):
        command = [sys.executable, "-c", FORGETFUL, how]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    for how in ("well", "exit"):
        assert ending(how).stdout.split("\n")[:2] == ["one", "two 2"]
    wrong = ending("wrong")
    assert wrong.returncode == 0
    assert "an error nobody waited for: step 'divide' failed" in wrong.stderr
    away = ending("away")
    assert away.returncode == 1
    assert "KeyError" in away.stderr
    assert "two" not in away.stdout


STOPPED = """
import os, signal, sys, threading, time
import hocket as hk
flows = hk.Flow(1), hk.Flow(1)
for f in flows:
    for k in range(400):
        f.task(lambda: (time.sleep(0.02), print("step", flush=True)), inouts=["x"])
    if sys.argv[1] == "step":
        f.task(lambda: sys.exit(3), priority=1)
if sys.argv[1] == "ctrl-c":
    # A shell that starts the tests in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    late = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    late.daemon = True
    late.start()
"""


@pytest.mark.parametrize(("how", "said"), [("step", "SystemExit: 3"), ("ctrl-c", "Interrupt")])
def test_what_stops_one_flow_at_the_end_stops_all(how, said):
    command = [sys.executable, "-c", STOPPED, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert said in done.stderr
    assert done.stdout.count("step") < 400
