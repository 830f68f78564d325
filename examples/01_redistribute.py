# SPDX-License-Identifier: BSD-3-Clause
"""An array moves from blocks of rows to cyclic columns.

Run me: python 01_redistribute.py
"""

import hocket as hk


def program(comm):
    rows = hk.Layout((4, 6), "(BLOCK, *)", comm.size)
    columns = hk.Layout((4, 6), "(*, CYCLIC)", comm.size)
    a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    return hk.redistribute(a, columns).local


for rank, local in enumerate(hk.run(program, ranks=2)):
    print(f"process {rank} now holds columns {rank}, {rank + 2}, {rank + 4}:\n{local}")
