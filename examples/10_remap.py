# SPDX-License-Identifier: BSD-3-Clause
"""Moves fields of an atmosphere from columns of air to circles of latitude, and in place.

From He and Ding: "MPI and OpenMP Paradigms on Cluster of SMP Architectures", section 1 and 3.2.
Run me: python 10_remap.py
"""

import numpy as np

import hocket as hk

HEIGHT, LATITUDE, LONGITUDE = 6, 8, 16


def field(h, i, j):
    return 10000.0 * h + 100 * i + j


def remap():
    shape = (HEIGHT, LATITUDE, LONGITUDE)
    columns = hk.from_function(field, hk.Layout(shape, "(*, BLOCK, BLOCK)", (2, 2)), "float64")
    circles = hk.redistribute(columns, hk.Layout(shape, "(BLOCK, BLOCK, *)", (2, 2)))
    # Two indices change places within the array's own memory; the distribution text stays.
    turned = hk.remap_inplace(
        hk.redistribute(circles, hk.Layout(shape, "(BLOCK, *, *)", 4)), (1, 0, 2)
    )
    return circles.local.shape, turned.gather(0)


if __name__ == "__main__":
    (shape, turned), *_ = hk.run(remap, ranks=4)
    everything = field(*np.indices((HEIGHT, LATITUDE, LONGITUDE)))
    assert np.array_equal(turned, everything.transpose(1, 0, 2))
    print(f"each process has whole circles of latitude: {shape}; remapped: {turned.shape}")
