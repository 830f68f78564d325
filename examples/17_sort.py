# SPDX-License-Identifier: BSD-3-Clause
"""A distributed array is sorted, and its distinct values and quartiles are found.

Run me: python 17_sort.py
"""

import numpy as np

import hocket as hk

COUNT = 10001


def order(comm):
    lay = hk.Layout(COUNT, "(CYCLIC(5))", comm.size)
    values = hk.random(11).integers(lay, 0, 500, comm=comm)
    places = np.argsort(values)
    ordered = values[places]
    assert np.array_equal(ordered, np.sort(values))
    assert np.all(ordered[1:] >= ordered[:-1])
    distinct = np.unique(values)
    quartiles = [int(ordered[COUNT * k // 4]) for k in (1, 2, 3)]
    return quartiles, distinct.size, places[0]


if __name__ == "__main__":
    answers = [hk.run(order, ranks=ranks)[0] for ranks in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]
    quartiles, distinct, first = answers[0]
    print(f"quartiles {quartiles}, {distinct} distinct values, the least one at {first}")
