# SPDX-License-Identifier: BSD-3-Clause
"""A heat equation, implicit along one dimension at a time: the array changes its layout twice a
step, by two transfers that are planned once.

Run me: python 18_transfer.py
"""

import numpy as np

import hocket as hk

N, STEPS = 64, 20


def solver(n, c):
    """The inverse of 1 - c * (second difference), with zeros beyond the edges."""
    return np.linalg.inv((1 + 2 * c) * np.eye(n) - c * (np.eye(n, k=1) + np.eye(n, k=-1)))


def program(comm):
    rows, columns = (hk.Layout((N, N), text, comm.size) for text in ("(BLOCK, *)", "(*, BLOCK)"))
    there, back = hk.transfer(rows, columns, comm=comm), hk.transfer(columns, rows, comm=comm)
    a = hk.from_function(
        lambda i, j: np.exp(-((i - 20) ** 2 + (j - 40) ** 2) / 50), rows, comm=comm
    )
    b = hk.empty(columns, comm=comm)
    inverse = solver(N, 0.5)
    for _ in range(STEPS):
        a.local[...] = a.local @ inverse  # along each row
        there(a, b)
        b.local[...] = inverse @ b.local  # along each column
        back(b, a)
    return a.gather()


result = hk.run(program, ranks=2)[0]
i, j = np.mgrid[:N, :N]
serial = np.exp(-((i - 20) ** 2 + (j - 40) ** 2) / 50)
for _ in range(STEPS):
    serial = solver(N, 0.5) @ (serial @ solver(N, 0.5))
print("the same as on one process:", np.allclose(result, serial))
