# SPDX-License-Identifier: BSD-3-Clause
"""The other program: receives the string that the C++ program cpp/12_waves.cpp computes.

Run us: hocket run "waves=2:./12_waves 400" listener=1:12_listener.py
"""

import hocket as hk

world = hk.tasks()
string = hk.empty(hk.Layout((64,), "(BLOCK)", world.comm.size), "float64", comm=world.comm)
for _ in range(4):
    status = world.recv(string, "waves")
    # At unit speed the first mode returns every 130 steps.
    print(f"step {status.tag}: {string.local[31]:+.3f} in the middle, sent as {status.layout}")
