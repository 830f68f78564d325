# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation by conjugate gradients: dot products with the same bits on any processes.

Run me: python 15_conjugate_gradient.py
"""

import numpy as np

import hocket as hk

SIDE = 12


def laplace(x):
    """Four times each element, less its neighbours; beyond the edges there is 0."""
    return 4 * x - sum(hk.eoshift(x, shift, axis) for axis in (0, 1) for shift in (1, -1))


def solve(comm):
    lay = hk.Layout((SIDE, SIDE), "(BLOCK, *)", comm.size)
    b = hk.random(3).uniform(lay, -1, 1, comm=comm)
    x, r = hk.zeros(lay, comm=comm), b.copy()
    p, square = r.copy(), np.vdot(r, r)
    steps = 0
    while square > 1e-20:
        q = laplace(p)
        alpha = square / np.vdot(p, q)
        x += alpha * p
        r -= alpha * q
        before, square = square, np.vdot(r, r)
        p = r + (square / before) * p
        steps += 1
    return steps, x.sum(), np.linalg.norm(laplace(x) - b)


if __name__ == "__main__":
    answers = [hk.run(solve, ranks=ranks)[0] for ranks in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]  # every step, to the bit
    steps, total, rest = answers[0]
    assert rest < 1e-9
    print(f"{steps} steps on 1, 2 and 3 processes, sum of the solution {total:.12f}")
