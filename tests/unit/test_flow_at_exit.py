# SPDX-License-Identifier: BSD-3-Clause
"""Flows that a program has left when it ends."""

import subprocess
import sys

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
"""


def test_a_flow_that_nobody_waits_for_ends_with_the_program():
    def ending(how):
        command = [sys.executable, "-c", FORGETFUL, how]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert ending("well").stdout.split("\n")[:2] == ["one", "two 2"]
    wrong = ending("wrong")
    assert wrong.returncode == 0
    assert "an error nobody waited for: step 'divide' failed" in wrong.stderr
    away = ending("away")
    assert away.returncode == 1
    assert "KeyError" in away.stderr
    assert "two" not in away.stdout
