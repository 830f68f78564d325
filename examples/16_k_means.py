# SPDX-License-Identifier: BSD-3-Clause
"""k-means (S. P. Lloyd, 1982): points are distributed, and every process has all centres.

Run me: python 16_k_means.py
"""

import numpy as np

import hocket as hk

POINTS, CLUSTERS = 3000, 3
HOMES = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 6.0]])


def cluster(comm):
    whole = hk.Layout((POINTS, 2), "(BLOCK, *)", comm.size)
    kind = hk.random(1).integers(hk.Layout(POINTS, "(BLOCK)", comm.size), 0, CLUSTERS, comm=comm)
    points = hk.random(2).normal(whole, comm=comm)
    for k, home in enumerate(HOMES):
        points += np.expand_dims(kind == k, 1) * home
    centres = np.array([[1.0, 1.0], [4.0, 0.0], [3.0, 4.0]])
    for _ in range(8):
        apart = np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
        nearest = np.argmin(apart, axis=1)
        members = [np.expand_dims(nearest == k, 1) for k in range(CLUSTERS)]
        sums = [hk.replicated((points * mine).sum(axis=0)) / mine.sum() for mine in members]
        centres = np.array(sums)
    return centres


if __name__ == "__main__":
    answers = [hk.run(cluster, ranks=ranks)[0] for ranks in (1, 2, 3)]
    assert all(np.array_equal(answers[0], other) for other in answers)  # to the bit
    assert np.abs(answers[0] - HOMES).max() < 0.2
    print("centres:", ", ".join(f"({x:.2f}, {y:.2f})" for x, y in answers[0]))
