# SPDX-License-Identifier: BSD-3-Clause
"""The convolution of two streams of images, image by image: two forward 2-D FFTs, a product, an
inverse one; in the forms of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task
Parallelism to HPF via the Message Passing Interface", Figures 9 and 10:

  data        all processes do all steps of an image, then of the next
  tasks       four tasks, one for each step, all at work on different images
  persistent  the same, with sends and receives that are prepared once
  flow        the same as steps that say what they read and write

The convolution is circular. --check compares it with the sum that defines it.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli.apps import common, fft2d, pictures, sweeps

from hocket.errors import Error

FORMS = ("data", "tasks", "persistent", "flow")
SWEEP = sweeps.Sweep("size", "Figure 10: convolution", "an image", given="first")
#: the approximate work of the four tasks: two transforms, a product, a transform
WEIGHTS = (4, 4, 1, 4)
#: pixels of an image that the check computes by the definition
CHECKED = 4096


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    sweeps.add_size(parser, "256", "pixels")
    parser.add_argument("--frames", type=int, default=10, help="images in each stream (10)")
    parser.add_argument("--images", metavar="DIR", help="your images (default: scikit-image's)")
    parser.add_argument("--first", metavar="FILE", help="your frames: uint8 (F, R, C), .npy")
    parser.add_argument("--second", metavar="FILE", help="the frames that they are convolved with")
    sweeps.add_options(parser, 4)
    parser.add_argument("--forms", help="which of data,tasks,persistent,flow (all that can be)")


def run(options: argparse.Namespace) -> common.Result:
    """All forms in one start, taking turns."""
    common.at_least(options, frames=1, procs=1)
    forms = fft2d.forms_of(options, FORMS, len(WEIGHTS))
    first, second = streams(options)
    count, rows, cols = first.shape
    with common.run_folder() as folder:
        pictures.write(folder / "first", first)
        pictures.write(folder / "second", second)
        words = {
            "rows": rows,
            "cols": cols,
            "frames": count,
            "first": folder / "first",
            "second": folder / "second",
            "sizes": common.shares(options.procs, WEIGHTS) if options.procs >= 4 else "0,0,0,0",
            "results": folder if options.check else "",
            "forms": forms,
            "runs": options.runs,
        }
        facts = common.start("convolution", options.procs, words, folder, options.timeout)
        wrong: dict[str, list[int]] = {}
        worst = 0.0
        for form in forms if options.check else ():
            found = pictures.spectra(folder / form, (rows, cols))
            errors = [error(*three) for three in zip(found, first, second)]
            errors += [float("inf")] * (count - len(errors))
            wrong[form] = [number for number, off in enumerate(errors) if not off <= 1]
            worst = max(worst, *errors)
    for form, one in facts["forms"].items():
        facts["forms"][form] = {**one, **common.statistics(one.pop("seconds_per_image"))}
    right = {form: count - len(bad) for form, bad in wrong.items()}
    verdict = (
        "  ".join(f"{form}: {n} of {count} images right" for form, n in right.items())
        + f"; worst {worst:.2g} of what rounding may do"
    )
    title = f"{count} pairs of images of {rows}×{cols} on {options.procs} processes"
    return common.Result(
        facts,
        fft2d.table(facts["forms"], title),
        not any(wrong.values()),
        verdict,
        parameters={"shape": list(first.shape)},
    )


def streams(options: argparse.Namespace) -> tuple[pictures.Frames, pictures.Frames]:
    """The two streams.

    Raises:
        Error: the user has given one stream only, or they differ in number or size.
    """
    if (options.first is None) != (options.second is None):
        raise Error("--first and --second belong together; give both, or none for photographs")
    if options.first is None:
        rows, cols = common.pair(options.size, "--size")
        frames = pictures.from_photographs(options.images, rows, cols, 2 * options.frames)
        return frames[: options.frames], frames[options.frames :]
    first, second = pictures.from_file(options.first), pictures.from_file(options.second)
    if first.shape != second.shape:
        (n, rows, cols), (m, height, width) = first.shape, second.shape
        raise Error(
            f"'{options.first}' holds {n} images of {rows}×{cols}, '{options.second}' {m} of "
            f"{height}×{width}; both streams need as many images, of one size"
        )
    return first, second


def error(found: Any, first: pictures.Frames, second: pictures.Frames) -> float:
    """The difference between a result and the circular convolution by definition, in units of the
    allowed rounding: 16 eps log2(pixels) of the norms' product, the growth of an FFT's error.

    Checks all pixels of a small image, and some of a large one, because each needs a sum over all
    pixels.
    """
    rows, cols = first.shape
    a, b = first.astype(np.float64), second.astype(np.float64)
    pixels = np.arange(rows * cols)
    if rows * cols > CHECKED:
        pixels = np.random.default_rng(1).choice(pixels, max(16, CHECKED**2 // (rows * cols)))
    twice = np.tile(b[::-1, ::-1], (2, 2))
    expected = np.array([direct(a, twice, int(p // cols), int(p % cols)) for p in pixels])
    grain = 16 * np.finfo(np.float64).eps * max(1.0, np.log2(max(2, a.size)))
    allowed = grain * max(1e-300, float(np.linalg.norm(a) * np.linalg.norm(b)))
    off: npt.NDArray[Any] = np.abs(found.reshape(-1)[pixels] - expected)
    return float(np.max(off / allowed, initial=0.0)) if np.all(np.isfinite(off)) else float("inf")


def direct(a: npt.NDArray[Any], twice: npt.NDArray[Any], i: int, j: int) -> float:
    """sum of a[k, l]·b[(i−k) mod R, (j−l) mod C]; `twice` is b reversed, two by two copies."""
    rows, cols = a.shape
    top, left = rows - 1 - i, cols - 1 - j
    return float(np.sum(a * twice[top : top + rows, left : left + cols]))
