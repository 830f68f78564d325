# SPDX-License-Identifier: BSD-3-Clause
"""`hocket demo`: photographs through a pipelined 2-D FFT, every result checked, all timed."""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

from hocket.cli import demo_ranks, demo_report, demo_teams, demo_transfers, info, photographs
from hocket.cli.main import Parser, UsageError

import hocket as hk

_HELP = """\
A stream of photographs passes through a 2-D FFT on several processes, in three forms:

  pipelined       task rows transforms the rows of an array laid out (BLOCK,*) and sends it; task
                  cols receives it as (*,BLOCK) and transforms columns, while rows is at the next
  flow            the same pipeline as steps that say what they read and write; sends and receives
                  are steps, too, so the next image is transformed while the last one travels
  data-parallel   all processes transform rows, transpose, and transform rows again

Every result is compared with SciPy's serial FFT of the same image; a wrong one is a non-zero exit.
"""
#: images at the start of each batch whose times are not used
WARMUP = 2


def main(words: list[str]) -> int:
    """Run the demo; 1 if any result was wrong."""
    options = _options(words)
    paths = photographs.find(options.images)
    frames, names = photographs.stream(
        paths,
        options.size,
        options.frames,
        skipped=lambda problem: print(f"hocket demo: left out, {problem}", file=sys.stderr),
    )
    rows = options.procs // 2
    cols = options.procs - rows
    shown = ", ".join(dict.fromkeys(names))
    print(
        f"{options.frames} images of {options.size} × {options.size} ({shown})\n"
        f"on {options.procs} processes: tasks rows={rows}, cols={cols}; the first {WARMUP} images "
        f"of every {demo_ranks.BATCH} are warm-up and not timed",
        flush=True,
    )
    begun = time.perf_counter()
    with _Progress(options.frames) as watcher:
        answers = hk.run(
            demo_ranks.stream,
            tasks={"rows": rows, "cols": cols},
            args=(frames, WARMUP),
            timeout=options.timeout,
            on_line=watcher.line,
        )
    results = demo_report.figures(answers, WARMUP)
    made = demo_report.plans(options.size, rows, cols)
    steps = demo_report.profile(answers, WARMUP)
    teams = demo_teams.seconds([part["teams"] for parts in answers.values() for part in parts])
    good = all(one["right"] == options.frames == one["images"] for one in results.values())
    for line in _verdict(results, names, options.frames, good):
        print(line)
    print()
    for line in demo_report.table(results, made, rows, cols):
        print(line)
    print()
    for line in demo_report.profile_table(steps):
        print(line)
    gained, alone = demo_transfers.line(answers)
    print(gained)
    print()
    for line in demo_teams.lines(teams, options.procs):
        print(line)
    if options.explain:
        print()
        method = getattr(hk, "info", None)
        for line in demo_report.explain(made, rows, cols, method() if method else None):
            print(line)
    print()
    spectrum = answers["cols"][0]["spectrum"]
    pictures = _draw(options.out, frames[0], spectrum, names[0], made["pipelined"])
    print(f"{time.perf_counter() - begun:.1f} s in all, {answers['rows'][0]['mpi']}")
    if options.json:
        facts = _facts(options, answers, results, made, steps, pictures, names)
        facts["transfer_alone_s"] = alone
        facts["teams_s"] = teams
        _write(options.json, json.dumps(facts, indent=2) + "\n")
    return 0 if good else 1


def _options(words: list[str]) -> argparse.Namespace:
    parser = Parser(prog="hocket demo", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--images", metavar="DIR", help="your images (default: scikit-image's)")
    parser.add_argument("--size", type=int, default=512, help="pixels a side (512)")
    parser.add_argument("--frames", type=int, default=36, help="images in the stream (36)")
    parser.add_argument("--procs", type=int, default=4, help="processes, at least 2 (4)")
    parser.add_argument("--explain", action="store_true", help="which room served which step")
    parser.add_argument("--out", default="demo-output", metavar="DIR", help="where pictures go")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds to the end (600)")
    options = parser.parse_args(words)
    for name, least, why in (
        ("size", 1, "an image has at least one pixel a side"),
        ("frames", 1, "the stream needs an image"),
        ("procs", 2, "the pipeline has two tasks of at least one process each"),
    ):
        if getattr(options, name) < least:
            raise UsageError(f"--{name} {getattr(options, name)}: {why}; give {least} or more")
    if importlib.util.find_spec("scipy") is None:
        raise hk.Error(
            "the demo transforms with SciPy, which this Python lacks; install it: "
            f"{sys.executable} -m pip install scipy"
        )
    return options


def _verdict(results: dict[str, Any], names: list[str], frames: int, good: bool) -> list[str]:
    """The result of the comparison with the serial FFT."""
    lines = []
    for form, one in results.items():
        lines.append(
            f"{form:<14} {one['right']} of {frames} spectra equal the serial FFT "
            f"(largest difference: {one['worst']:.2g} of what rounding may do)"
        )
        wrong = ", ".join(f"{number} ({names[number]})" for number in one["wrong_frames"])
        if wrong:
            lines.append(f"{form:<14} WRONG: image {wrong}")
    if not good:
        lines.append("hocket demo: wrong results; this is an error of hocket, please report it")
    return lines


def _draw(folder: str, image: Any, spectrum: Any, name: str, plan: Any) -> list[str]:
    """Writes the pictures; without matplotlib it prints how to install it."""
    from hocket import plotting

    place = Path(folder)
    paths = [str(place / file) for file in ("input.png", "spectrum.png", "plan.png")]
    try:
        place.mkdir(parents=True, exist_ok=True)
        plotting.plot_image(image, paths[0], name)
        plotting.plot_spectrum(spectrum, paths[1], f"spectrum of {name}")
        plotting.plot_plan(plan, paths[2])
    except OSError as problem:
        raise hk.Error(f"cannot write pictures to '{folder}': {problem.strerror}") from problem
    except hk.Error as problem:
        print(f"pictures       not drawn: {problem}")
        return []
    print("pictures       " + "  ".join(paths))
    return paths


def _facts(
    options: argparse.Namespace,
    answers: dict[str, Any],
    results: dict[str, Any],
    made: dict[str, Any],
    steps: dict[str, Any],
    pictures: list[str],
    names: list[str],
) -> dict[str, Any]:
    """All results, with their parameters."""
    return {
        "name": "demo",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "parameters": {
            "size": options.size,
            "frames": options.frames,
            "images": options.images or "scikit-image",
            "photographs": list(dict.fromkeys(names)),
            "warmup_per_batch": WARMUP,
            "batch": demo_ranks.BATCH,
        },
        "ranks": options.procs,
        "tasks": {task: len(parts) for task, parts in answers.items()},
        "threads": 1,
        "mpi": answers["rows"][0]["mpi"],
        "machine": info.machine(),
        "forms": {
            form: {
                **results[form],
                "messages_per_image": made[form].message_count,
                "rounds": made[form].rounds,
                "elements_moved": made[form].elements_moved,
            }
            for form in results
        },
        "profile_s_per_image": steps,
        "pictures": pictures,
    }


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise hk.Error(f"cannot write '{path}': {problem.strerror}") from problem


class _Progress:
    """Shows the number of finished images: as bars in a terminal, else in occasional lines."""

    def __init__(self, frames: int) -> None:
        self._frames = frames
        self._done = dict.fromkeys(demo_report.FORMS, 0)
        self._bars: Any = None
        self._ids: dict[str, Any] = {}

    def __enter__(self) -> _Progress:
        if sys.stdout.isatty() and importlib.util.find_spec("rich") is not None:
            self._bars = importlib.import_module("rich.progress").Progress(transient=True)
            for form in self._done:
                self._ids[form] = self._bars.add_task(form, total=self._frames)
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def line(self, rank: int | None, stream: str, text: str) -> None:
        """Reads a line that a process has printed."""
        if not text.startswith(demo_ranks.PROGRESS):
            if rank is not None:
                print(text, file=sys.stdout if stream == "out" else sys.stderr, flush=True)
            return
        form = json.loads(text[len(demo_ranks.PROGRESS) :])["form"]
        self._done[form] += 1
        if self._bars is not None:
            self._bars.update(self._ids[form], completed=self._done[form])
        elif self._done[form] % demo_ranks.BATCH == 0 or self._done[form] == self._frames:
            print(f"  {form}: {self._done[form]} of {self._frames} images", flush=True)
