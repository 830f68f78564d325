# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and plans are plain values: one process, no MPI, any number of processes to plan for.

Run me: python 06_plan_without_mpi.py
"""

import hocket as hk

rows = hk.Layout((1000, 1000), "(BLOCK, *)", 4)
tiles = hk.Layout((1000, 1000), "(BLOCK, CYCLIC(10))", (2, 3))
print("element (999, 15) lies on process", tiles.owner((999, 15)))

plan = hk.plan(rows, tiles)
print(plan.explain())
print("process 0 sends", plan.sends(0))
