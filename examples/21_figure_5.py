# SPDX-License-Identifier: BSD-3-Clause
"""The pipeline of 20_figures_1_and_3.py with persistent requests (Figure 5): the two tasks prepare
the transfer once, and each start names no array.

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface". Run me: python 21_figure_5.py
"""

import numpy as np

import hocket as hk

N, IMAGES = 8, 20


def image(number):
    return np.add.outer(np.arange(N) * (number + 1), np.arange(N) * 3) % 7.0


def array(world):
    dist = "(*, BLOCK)" if world.name == "columns" else "(BLOCK, *)"
    return hk.empty(hk.Layout((N, N), dist, world.comm.size), "complex128", world.comm)


def figure_5(world):
    a, spectra = array(world), []
    sends = world.name == "rows"
    request = world.send_init(a, "columns", 99) if sends else world.recv_init(a, "rows", 99)
    for i in range(IMAGES):
        if sends:
            a[...] = image(i)
            a[...] = np.fft.fft(a, axis=1)
        request.start()
        request.wait()
        if not sends:
            spectra.append(np.fft.fft(a, axis=0).gather())
    return spectra


if __name__ == "__main__":
    found = hk.run(figure_5, tasks={"rows": 2, "columns": 2})["columns"][0]
    assert np.allclose(found, [np.fft.fft2(image(i)) for i in range(IMAGES)])
    print(f"figure 5: {len(found)} spectra, each that of a serial FFT")
