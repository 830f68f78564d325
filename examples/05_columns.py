# SPDX-License-Identifier: BSD-3-Clause
"""The other program: receives the array of 05_rows.py in blocks of columns.

Run us: hocket run rows=2:05_rows.py columns=3:05_columns.py
"""

import hocket as hk

world = hk.tasks()
b = hk.empty(hk.Layout((6, 6), "(*, BLOCK)", 3), "int64", comm=world.comm)
status = world.recv(b)
print(f"process {world.comm.rank} has columns {b.local[0].tolist()} from {status.layout}")
