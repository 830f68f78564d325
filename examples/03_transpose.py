# SPDX-License-Identifier: BSD-3-Clause
"""Transposes a distributed array: the result has blocks of rows, too.

Run me: python 03_transpose.py
"""

import numpy as np

import hocket as hk


def program(comm):
    a = hk.from_function(lambda i, j: 100 * i + j, hk.Layout((5, 7), "(BLOCK, *)", comm.size))
    b = hk.redistribute(a, hk.Layout((7, 5), "(BLOCK, *)", comm.size), axes=(1, 0))
    return b.gather()  # the whole array on process 0, None elsewhere


whole = hk.run(program, ranks=3)[0]
assert np.array_equal(whole, np.add.outer(np.arange(7), 100 * np.arange(5)))
print(whole.astype(int))
