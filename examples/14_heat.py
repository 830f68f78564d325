# SPDX-License-Identifier: BSD-3-Clause
"""Heat spreads over a plate whose edges stay cold: one whole-array assignment a step.

Run me: python 14_heat.py
"""

import numpy as np

import hocket as hk

SIDE, STEPS = 48, 30


def plate(comm):
    lay = hk.Layout((SIDE, SIDE), "(BLOCK, BLOCK)", (comm.size, 1))
    heat = hk.zeros(lay, comm=comm)
    heat[20:28, 10:30] = 100.0
    for _ in range(STEPS):
        inner = heat[1:-1, 1:-1]
        around = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
        heat[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return heat.sum(), heat.max(), np.unravel_index(heat.argmax(), heat.shape)


if __name__ == "__main__":
    answers = [hk.run(plate, ranks=ranks)[0] for ranks in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]  # to the bit
    total, hottest, place = answers[0]
    print(f"total {total:.6f}, hottest {hottest:.4f} at {tuple(int(i) for i in place)}")
