# SPDX-License-Identifier: BSD-3-Clause
"""A stream of two-dimensional Fourier transforms, as one data-parallel program (Figure 1), and as a
pipeline of two tasks (Figure 3).

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface". Run me: python 20_figures_1_and_3.py
"""

import numpy as np

import hocket as hk

N, IMAGES = 8, 20


def image(number):
    return np.add.outer(np.arange(N) * (number + 1), np.arange(N) * 3) % 7.0


def array(world):
    dist = "(*, BLOCK)" if world.name == "columns" else "(BLOCK, *)"
    return hk.empty(hk.Layout((N, N), dist, world.comm.size), "complex128", world.comm)


def figure_1(world):
    a, spectra = array(world), []
    for i in range(IMAGES):
        a[...] = image(i)
        a[...] = np.fft.fft(a, axis=1)
        a[...] = a.T
        a[...] = np.fft.fft(a, axis=1)
        spectra.append(a.T.gather())
    return spectra


def figure_3(world):
    a, spectra = array(world), []
    for i in range(IMAGES):
        if world.name == "rows":
            a[...] = image(i)
            a[...] = np.fft.fft(a, axis=1)
            world.send(a, "columns", tag=99)
        else:
            world.recv(a, "rows", tag=99)
            spectra.append(np.fft.fft(a, axis=0).gather())
    return spectra


if __name__ == "__main__":
    for figure in (figure_1, figure_3):
        tasks = {"all": 4} if figure is figure_1 else {"rows": 2, "columns": 2}
        found = hk.run(figure, tasks=tasks)[list(tasks)[-1]][0]
        assert np.allclose(found, [np.fft.fft2(image(i)) for i in range(IMAGES)])
        print(f"{figure.__name__}: {len(found)} spectra, each that of a serial FFT")
