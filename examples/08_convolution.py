# SPDX-License-Identifier: BSD-3-Clause
"""Two streams of images convolved by four tasks: two forward transforms, a product, an inverse.

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface", Figure 9. Run me: python 08_convolution.py
"""

import numpy as np

import hocket as hk

N, IMAGES = 32, 3


def image(stream, number):
    return np.add.outer(np.arange(N) * (number + 1), np.arange(N) * (stream + 2)) % 11.0


def convolution(world):
    a = hk.zeros(hk.Layout((N, N), "(BLOCK, *)", world.comm.size), "complex128", comm=world.comm)
    b = hk.zeros(a.layout, "complex128", comm=world.comm)
    rows = a.layout.global_indices(world.comm.rank)[0]
    results = []
    for number in range(IMAGES):
        if world.name in ("first", "second"):
            a.local[...] = np.fft.fft(image(world.rank, number)[rows], axis=1)
            hk.redistribute(a, a.layout, axes=(1, 0), out=b)
            b.local[...] = np.fft.fft(b.local, axis=1)
            world.send(b, "product")
        elif world.name == "product":
            world.recv(a, "first")
            world.recv(b, "second")
            a.local[...] *= b.local
            world.send(a, "inverse")
        else:
            world.recv(b, "product")
            b.local[...] = np.fft.ifft(b.local, axis=1)
            hk.redistribute(b, a.layout, axes=(1, 0), out=a)
            results.append(np.fft.ifft(a.local, axis=1).real)
    return results


if __name__ == "__main__":
    tasks = {"first": 1, "second": 1, "product": 1, "inverse": 2}
    upper, lower = hk.run(convolution, tasks=tasks)["inverse"]
    for number in range(IMAGES):
        a, b = image(0, number), image(1, number)
        direct = sum(a[i, j] * np.roll(b, (i, j), (0, 1)) for i in range(N) for j in range(N))
        assert np.allclose(np.vstack([upper[number], lower[number]]), direct)
        print(f"image {number}: the four tasks' result is the sum that defines a convolution")
