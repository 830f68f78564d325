# SPDX-License-Identifier: BSD-3-Clause
"""A simulation streams samples to a training job, which may be stopped and started again: no
sample is lost, and none counts twice.

Run us: mpiexec -n 2 python 23_samples.py &   mpiexec -n 2 python 23_training.py
"""

import sys
import time

import numpy as np

import hocket as hk

POINTS, FRAMES = 300, 200

port = hk.open_port(*sys.argv[1:] or ["samples"], task="simulation")
w = port.accept(timeout=60)
stream = w.channel("samples", "training", keep=4)
line = hk.Layout(POINTS, "(BLOCK)", w.comm.size)
u = hk.random(0).normal(line, comm=w.comm).halo(1, periodic=True)
samples = hk.empty(hk.Layout((POINTS, 4), "(BLOCK, *)", w.comm.size), comm=w.comm)
for frame in range(1, FRAMES + 1):
    u.exchange()
    west, here, east = u.local[:-2], u.local[1:-1], u.local[2:]
    after = 0.2 * west + 0.5 * here + 0.3 * east
    samples.local[...] = np.stack([west, here, east, after], axis=1)
    stream.send(samples)  # waits for a training job that is lost, until it is there again
    u.array.local[...] = 0.5 * after + hk.random(frame).normal(line, comm=w.comm).local
    time.sleep(0.01)
stream.close()
w.disconnect()
port.close()
