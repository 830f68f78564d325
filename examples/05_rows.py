# SPDX-License-Identifier: BSD-3-Clause
"""One of two programs that run as tasks: sends its rows to the task of 05_columns.py.

Run us: hocket run rows=2:05_rows.py columns=3:05_columns.py
"""

import hocket as hk

world = hk.tasks()
a = hk.from_function(
    lambda i, j: 10 * i + j, hk.Layout((6, 6), "(BLOCK, *)", 2), "int64", comm=world.comm
)
world.send(a, "columns")
print(f"process {world.comm.rank} has sent {len(a.local)} rows")
