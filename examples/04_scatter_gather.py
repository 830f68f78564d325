# SPDX-License-Identifier: BSD-3-Clause
"""One process scatters an array, all compute on their parts, and one gathers the result.

Run me: python 04_scatter_gather.py
"""

import numpy as np

import hocket as hk


def program(comm, samples):
    layout = hk.Layout(samples.shape, "(BLOCK)", comm.size)
    a = hk.scatter(samples if comm.rank == 0 else None, layout)
    a.local[...] = np.sqrt(a.local)
    return a.gather()


numbers = np.arange(10.0) ** 2
print(hk.run(program, ranks=4, args=(numbers,))[0])
