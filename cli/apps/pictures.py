# SPDX-License-Identifier: BSD-3-Clause
"""Streams of images for applications: photographs, or the user's own frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli import photographs

from hocket.errors import Error

Frames = npt.NDArray[np.uint8]


def from_photographs(folder: str | None, rows: int, cols: int, count: int) -> Frames:
    """`count` frames of rows × cols from a folder of images, or those that scikit-image ships."""
    paths = photographs.find(folder)
    side = max(rows, cols)
    frames, _ = photographs.stream(
        paths, side, count, lambda problem: print(f"left out, {problem}", file=sys.stderr)
    )
    return frames[:, :rows, :cols]


def from_file(path: str) -> Frames:
    """Frames that the user has saved by numpy.save: 8-bit greys of shape (frames, rows, cols).

    Raises:
        Error: hocket cannot read the file, or it has other contents.
    """
    try:
        held: Any = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise Error(f"'{path}' cannot be read as an array of NumPy's (.npy): {problem}") from None
    if not isinstance(held, np.ndarray) or held.ndim != 3 or held.dtype != np.uint8:
        what = f"{held.dtype} {held.shape}" if isinstance(held, np.ndarray) else "an archive"
        raise Error(f"'{path}' holds {what}; give uint8 of shape (frames, rows, columns)")
    if held.size == 0:
        raise Error(f"'{path}' holds {held.shape}: no pixel; give at least one image")
    return held


def write(path: Path, frames: Frames) -> None:
    """Frame by frame, row by row, a byte a pixel."""
    path.write_bytes(np.ascontiguousarray(frames).tobytes())


def spectra(path: Path, shape: tuple[int, int], turned: bool = False) -> Any:
    """The complex results that a program has written, frame by frame, of this shape."""
    rows, cols = shape
    held = np.fromfile(path, np.complex128)
    found = held.reshape((-1, cols, rows) if turned else (-1, rows, cols))
    return found.transpose(0, 2, 1) if turned else found
