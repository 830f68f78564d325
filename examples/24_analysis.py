# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of an ocean model in Fortran (fortran/ocean.f90), which is another job, with another
MPI if you like.

Run us: mpiexec.mpich -n 2 ./ocean sea &   mpiexec -n 3 python 24_analysis.py sea
"""

import sys

import numpy as np

import hocket as hk

w = hk.connect(sys.argv[1], task="analysis", timeout=60)
water = hk.empty(hk.Layout((48, 32), "(BLOCK, *)", w.comm.size), comm=w.comm)
stream = w.channel("temperature", w.names[0])
day = 0
try:
    while True:
        stream.recv(water)  # the model has columns on its processes, the analysis has rows
        mean, warmest = water.mean(), water.max()
        i, j = np.unravel_index(water.argmax(), water.shape)
        if w.comm.rank == 0:
            print(f"day {day}: mean {mean:.6f}, warmest {warmest:.6f} at {i},{j}")
        day += 1
except hk.EndOfStream:
    w.disconnect()
