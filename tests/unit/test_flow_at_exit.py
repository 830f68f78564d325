# SPDX-License-Identifier: BSD-3-Clause
"""Flows that a program has left when it ends."""

import subprocess
import sys

import pytest

FORGETFUL = """
import sys, time
import hocket as hk
f = hk.Flow(2)
# An error must come first: far before the step has ended.
nap = 2 if sys.argv[1] == "away" else 0.05
f.task(lambda: (time.sleep(nap), print("one", flush=True)), outputs=["x"])
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
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

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
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert said in done.stderr
    assert done.stdout.count("step") < 400


GIVEN_UP = """
import sys, threading, time
import hocket as hk
gone, said = threading.Event(), threading.Event()
def make():
    f = hk.Flow(2, agent="steps")
    def look():
        gone.wait(100)
        print("step", f.steps, flush=True)
        said.set()
    if sys.argv[1] == "step":  # it is the last that knows its flow
        f.task(look)
    if sys.argv[1] == "comm":
        f.comm(look)
    if sys.argv[1] == "body":  # the flow goes while its step runs
        box = [f]
        f = None
        def last():
            gone.wait(100)
            print("step", box.pop().steps, flush=True)
            said.set()
        box[0].task(last)
class Never:
    def poll(self):
        return False
if sys.argv[1] == "under way":
    f = hk.Flow(2, agent="steps")
    f.comm(Never)
    f.cancel()
    print("step 1")
else:
    make()
    gone.set()
    assert said.wait(100)
    time.sleep(0.1)  # for the step to end
    hk.Flow(1).wait()  # ends what could not end there
print("end", flush=True)
"""


@pytest.mark.parametrize("how", ["step", "comm", "body", "under way"])
def test_a_flow_that_is_given_up_ends_in_good_order(how):
    command = [sys.executable, "-c", GIVEN_UP, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert (done.stdout, done.returncode) == ("step 1\nend\n", 0)
