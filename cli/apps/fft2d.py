# SPDX-License-Identifier: BSD-3-Clause
"""2-D FFTs of a stream of images, in the forms of Foster, Kohr, Krishnaiyer, Choudhary, "Double
Standards: Bringing Task Parallelism to HPF via the Message Passing Interface":

  data        Figure 1: all processes transform rows, transpose, transform rows again
  tasks       Figure 3: task rows transforms rows and sends, task cols transforms columns
  persistent  the same, with sends and receives that are prepared once
  flow        the same as steps that say what they read and write

--check compares every spectrum of every form with SciPy's serial FFT of the same image.
"""

from __future__ import annotations

import argparse
from typing import Any

from hocket.cli import demo_ranks
from hocket.cli.apps import common, pictures, sweeps

FORMS = ("data", "tasks", "persistent", "flow")
SWEEP = sweeps.Sweep("size", "Figure 8: 2-D FFT", "an image", given="input")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    sweeps.add_size(parser, "256", "pixels")
    parser.add_argument("--frames", type=int, default=20, help="images in the stream (20)")
    parser.add_argument("--images", metavar="DIR", help="your images (default: scikit-image's)")
    parser.add_argument("--input", metavar="FILE", help="your frames: uint8 (F, R, C), .npy")
    sweeps.add_options(parser, 4)
    parser.add_argument("--forms", help="which of data,tasks,persistent,flow (all that can be)")


def forms_of(options: argparse.Namespace, known: tuple[str, ...], tasks: int) -> list[str]:
    """The forms to run: the requested ones, else all that have enough processes.

    Raises:
        UsageError: an unknown form, or one with more tasks than processes.
    """
    return common.forms_of(
        options.forms, known, options.procs, {form: tasks for form in known if form != "data"}
    )


def run(options: argparse.Namespace) -> common.Result:
    """All forms in one start, taking turns."""
    common.at_least(options, frames=1, procs=1)
    forms = forms_of(options, FORMS, 2)
    rows, cols = common.pair(options.size, "--size")
    if options.input is not None:
        frames = pictures.from_file(options.input)
    else:
        frames = pictures.from_photographs(options.images, rows, cols, options.frames)
    count, rows, cols = frames.shape
    with common.run_folder() as folder:
        pictures.write(folder / "images", frames)
        words = {
            "rows": rows,
            "cols": cols,
            "frames": count,
            "input": folder / "images",
            "results": folder if options.check else "",
            "forms": forms,
            "runs": options.runs,
        }
        facts = common.start("fft2d", options.procs, words, folder, options.timeout)
        verdicts: dict[str, list[dict[str, Any]]] = {}
        for form in forms if options.check else ():
            found = pictures.spectra(folder / form, (rows, cols), turned=form == "data")
            verdicts[form] = [
                demo_ranks.verdict(one, image) for one, image in zip(found, frames)
            ] + [{"right": False, "worst": float("inf")}] * (count - len(found))
    for form, one in facts["forms"].items():
        samples = one.pop("seconds_per_image")
        facts["forms"][form] = {**one, **common.statistics(samples)}
    right = {form: sum(one["right"] for one in many) for form, many in verdicts.items()}
    worst = max((one["worst"] for many in verdicts.values() for one in many), default=0.0)
    verdict = (
        "  ".join(f"{form}: {n} of {count} spectra right" for form, n in right.items())
        + f"; worst {worst:.2g} of what rounding may do"
    )
    lines = table(facts["forms"], f"{count} images of {rows}×{cols} on {options.procs} processes")
    good = all(n == count for n in right.values())
    return common.Result(facts, lines, good, verdict, parameters={"shape": list(frames.shape)})


def table(forms: dict[str, Any], title: str) -> list[str]:
    """The forms side by side, as text."""
    lines = [title, f"{'form':<12} {'messages':>9} {'an image':>10} {'least':>10}"]
    for form, one in forms.items():
        median, least = common.seconds(one["median_s"]), common.seconds(one["minimum_s"])
        lines.append(f"{form:<12} {one['messages_per_image']:>9} {median:>10} {least:>10}")
    return lines
