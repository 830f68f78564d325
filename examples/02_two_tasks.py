# SPDX-License-Identifier: BSD-3-Clause
"""A 2-D Fourier transform as a pipeline of two tasks: one transforms rows, the other columns.

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface", Figure 3. Run me: python 02_two_tasks.py
"""

import numpy as np

import hocket as hk

N, IMAGES = 64, 5


def image(number):
    return np.add.outer(np.arange(N) * number, np.arange(N)) % 17.0


def pipeline(world):
    spectra = []
    if world.name == "rows":
        a = hk.empty(hk.Layout((N, N), "(BLOCK, *)", 2), "complex128", comm=world.comm)
        mine = a.layout.global_indices(world.comm.rank)[0]
        for number in range(IMAGES):
            a.local[...] = np.fft.fft(image(number)[mine], axis=1)
            world.send(a, "cols", tag=99)
    else:
        b = hk.empty(hk.Layout((N, N), "(*, BLOCK)", 2), "complex128", comm=world.comm)
        for _ in range(IMAGES):
            world.recv(b, "rows", tag=99)
            spectra.append(np.fft.fft(b.local, axis=0))
    return spectra


if __name__ == "__main__":
    left, right = hk.run(pipeline, tasks={"rows": 2, "cols": 2})["cols"]
    for number in range(IMAGES):
        spectrum = np.hstack([left[number], right[number]])
        assert np.allclose(spectrum, np.fft.fft2(image(number)))
        print(f"image {number}: the pipeline's spectrum is the serial one")
