# SPDX-License-Identifier: BSD-3-Clause
"""Peers of hocket that permute arrays: memcpy as the limit, NumPy, MKL, FFTW and HPTT.

The libraries are found at run time and called through ctypes; missing ones are reported as not run.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .harness import Contestant, Step, UnavailableError, WrongResultError
from .permutation import Permutation, fill

_LETTERS = {"float32": "s", "float64": "d", "complex128": "z"}


def flat_copy(problem: Permutation) -> Contestant:
    """The limit: the same bytes copied flat."""

    def prepare() -> Step:
        source, target = problem.source.reshape(-1), problem.target.reshape(-1)
        flat = source.view(np.uint8), target.view(np.uint8)

        def same() -> None:
            if not np.array_equal(*flat):
                raise WrongResultError("the copy differs from what was copied")

        def spoil() -> None:
            fill(source)
            flat[1].fill(0xFF)

        return Step(lambda: np.copyto(flat[1], flat[0]), same, spoil)

    return Contestant("memcpy", prepare)


def one_pass(problem: Permutation) -> Contestant:
    """The least time of one pass in place: reads each line, and writes it to the same address."""

    def prepare() -> Step:
        numbers = problem.source.reshape(-1).view("f4" if problem.dtype == "float32" else "f8")

        def right() -> None:
            if not (numbers > 0).all():
                raise WrongResultError("not every element was made positive")

        def spoil() -> None:
            numbers.fill(-1.0)

        return Step(lambda: np.absolute(numbers, out=numbers), right, spoil)

    return Contestant("one pass in place (NumPy)", prepare)


def numpy_copy(problem: Permutation) -> Contestant:
    """NumPy's strided assignment."""

    def prepare() -> Step:
        view, target = problem.source.transpose(problem.axes), problem.target
        return problem.out_of_place(lambda: np.copyto(target, view))

    return Contestant("NumPy", prepare)


def _load(what: str, candidates: Iterator[str]) -> ctypes.CDLL:
    tried = []
    for path in candidates:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
    raise UnavailableError(f"{what} is not here" + (f" ({'; '.join(tried)})" if tried else ""))


def _matrix(problem: Permutation) -> tuple[int, int]:
    if len(problem.shape) != 2 or problem.axes != (1, 0):
        raise UnavailableError("it transposes matrices only")
    return problem.shape[0], problem.shape[1]


def _mkl(problem: Permutation) -> Any:
    def candidates() -> Iterator[str]:
        yield from map(str, sorted((Path(sys.prefix) / "lib").glob("libmkl_rt.so*")))
        yield "libmkl_rt.so.2"

    library = _load("MKL (PyPI: mkl)", candidates())
    library.MKL_Set_Num_Threads(problem.threads)
    return library


class _Complex(ctypes.Structure):
    _fields_ = (("real", ctypes.c_double), ("imaginary", ctypes.c_double))


def _mkl_call(problem: Permutation, suffix: str) -> tuple[Any, Any]:
    """The function for this element type, and the factor 1 in the type that it needs."""
    letter = _LETTERS[problem.dtype]
    function = getattr(_mkl(problem), f"MKL_{letter.upper()}{suffix}")
    function.restype = None
    one = {"s": ctypes.c_float(1), "d": ctypes.c_double(1), "z": _Complex(1, 0)}[letter]
    return function, one


def mkl_out_of_place(problem: Permutation) -> Contestant:
    """``mkl_?omatcopy``."""

    def prepare() -> Step:
        rows, columns = (ctypes.c_size_t(n) for n in _matrix(problem))
        function, one = _mkl_call(problem, "omatcopy")
        a, b = (ctypes.c_void_p(x.ctypes.data) for x in (problem.source, problem.target))
        ways = ctypes.c_char(b"R"), ctypes.c_char(b"T")

        def run() -> None:
            function(*ways, rows, columns, one, a, columns, b, rows)

        return problem.out_of_place(run)

    return Contestant("MKL omatcopy", prepare)


def mkl_in_place(problem: Permutation) -> Contestant:
    """``mkl_?imatcopy``."""

    def prepare() -> Step:
        rows, columns = (ctypes.c_size_t(n) for n in _matrix(problem))
        function, one = _mkl_call(problem, "imatcopy")
        a = ctypes.c_void_p(problem.source.ctypes.data)
        ways = ctypes.c_char(b"R"), ctypes.c_char(b"T")
        return problem.in_place(lambda: function(*ways, rows, columns, one, a, columns, rows))

    return Contestant("MKL imatcopy", prepare)


class _Dimension(ctypes.Structure):
    _fields_ = (("n", ctypes.c_ssize_t), ("source", ctypes.c_ssize_t), ("target", ctypes.c_ssize_t))


def _fftw_library(problem: Permutation) -> ctypes.CDLL:
    word = "fftw3f" if problem.dtype == "float32" else "fftw3"

    def candidates() -> Iterator[str]:
        for folder in map(Path, sys.path):
            yield from map(str, sorted((folder / "pyfftw.libs").glob(f"lib{word}-*.so*")))
        found = ctypes.util.find_library(word)
        if found:
            yield found

    return _load(f"FFTW (PyPI: pyfftw, or Debian's libfftw3-3; {word})", candidates())


def _fftw(problem: Permutation, in_place: bool, flags: int) -> Step:
    """A rank-0 transform: no Fourier transform, only dimensions with other strides."""
    library = _fftw_library(problem)
    prefix = "fftwf" if problem.dtype == "float32" else "fftw"
    source = problem.source
    target = source if in_place else problem.target
    counted = np.empty(problem.result, np.int8)  # its strides count elements
    dimensions = (_Dimension * len(problem.shape))()
    for k, axis in enumerate(problem.axes):
        dimensions[k] = _Dimension(
            problem.shape[axis], source.strides[axis] // source.itemsize, counted.strides[k]
        )
    many = ctypes.c_int(len(problem.shape))
    a, b = (ctypes.c_void_p(x.ctypes.data) for x in (source, target))
    if problem.dtype == "complex128":
        make = getattr(library, f"{prefix}_plan_guru64_dft")
        how: tuple[Any, ...] = (ctypes.c_int(-1),)
    else:
        make = getattr(library, f"{prefix}_plan_guru64_r2r")
        how = (None,)
    make.restype = ctypes.c_void_p
    plan = make(ctypes.c_int(0), None, many, dimensions, a, b, *how, ctypes.c_uint(flags))
    if not plan:
        raise UnavailableError("FFTW makes no plan for it")
    held = ctypes.c_void_p(plan)
    execute = getattr(library, f"{prefix}_execute")
    destroy = getattr(library, f"{prefix}_destroy_plan")
    step = (problem.in_place if in_place else problem.out_of_place)(lambda: execute(held))
    return Step(step.run, step.check, step.spoil, close=lambda: destroy(held))


_MEASURE = 0  # FFTW_MEASURE: tries its algorithms, and takes the fastest


def fftw_out_of_place(problem: Permutation) -> Contestant:
    """FFTW's rank-0 plan between two arrays; one thread, because it has no others for these."""
    return Contestant("FFTW", lambda: _fftw(problem, False, _MEASURE))


def fftw_in_place(problem: Permutation) -> Contestant:
    """The same within one array."""
    return Contestant("FFTW in place", lambda: _fftw(problem, True, _MEASURE))


def hptt(problem: Permutation, path: str) -> Contestant:
    """HPTT's library at `path`, through its C interface."""

    def prepare() -> Step:
        letter = _LETTERS[problem.dtype]
        if letter == "z":
            raise UnavailableError("its C interface takes complex factors by value of a C99 type")
        library = _load("HPTT", iter([path]))
        function = getattr(library, f"{letter}TensorTranspose")
        function.restype = None
        real = ctypes.c_float if letter == "s" else ctypes.c_double
        axes = (ctypes.c_int * len(problem.axes))(*problem.axes)
        extents = (ctypes.c_int * len(problem.shape))(*problem.shape)
        a, b = (ctypes.c_void_p(x.ctypes.data) for x in (problem.source, problem.target))
        many, threads = ctypes.c_int(len(problem.axes)), ctypes.c_int(problem.threads)

        def run() -> None:
            function(
                axes, many, real(1), a, extents, None, real(0), b, None, threads, ctypes.c_int(1)
            )

        return problem.out_of_place(run)

    return Contestant("HPTT", prepare)
