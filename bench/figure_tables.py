# SPDX-License-Identifier: BSD-3-Clause
"""Results of `transfer_figures`: fits, rows and pictures."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .drawing import axes_of, save
from .fitting import nearest
from .table import align, seconds
from .transfers import SIX_STEPS

# The contestants.
GENERIC, OPTIMISED, PREPARED = "generic, per element", "optimised", "prepared"
DIRECT, CENTRALIZED = "direct", "centralized"


@dataclass(frozen=True)
class Point:
    """One contestant's median at D = N x N elements, S and R processes."""

    name: str
    n: int
    senders: int
    receivers: int
    seconds: float
    extras: Mapping[str, Any]

    @property
    def tasks(self) -> tuple[int, int]:
        return self.senders, self.receivers


def _points(document: dict[str, Any]) -> list[Point]:
    found = []
    for table in document["tables"]:
        p = table["parameters"]
        found += [
            Point(f["name"], p["N"], p["S"], p["R"], f["median"], f.get("extras", {}))
            for f in table["figures"]
            if f.get("median") is not None
        ]
    return found


def messages(senders: int, receivers: int, described: bool) -> int:
    """M of equation 1: data messages of a process, and those of the descriptor, which travel
    along trees, unless both sides know the transfer."""
    setup = 1 + math.ceil(math.log2(max(senders, receivers))) if described else 0
    return max(senders, receivers) + setup


def _fit(
    points: Sequence[Point], count: Callable[[Point], int], volume: Callable[[Point], float]
) -> tuple[float, float] | None:
    """t_m and t_w of equation 1."""
    rows = np.array([[float(count(p)), volume(p)] for p in points]).reshape(-1, 2)
    found = nearest(rows, np.array([p.seconds for p in points]))
    return None if found is None else (float(found[0]), float(found[1]))


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """Prints the figure's numbers and draws it to ``--plot``."""
    points = _points(document)
    print(f"Figure {options.figure}")
    if options.figure == 7:
        _six_steps(points, document, options.plot)
        return
    predicted = list(_equation(options.figure, points, document))
    if options.figure == 6:
        rows = [["S/R", "N", "implementation", "measured", "equation 1", "ratio"]]
        rows += [
            [
                f"{p.senders}/{p.receivers}",
                str(p.n),
                p.name,
                seconds(p.seconds),
                seconds(said),
                f"{said / p.seconds:.2f}",
            ]
            for p, said in predicted
        ]
        print("\n".join(align(rows)))
    if options.plot:
        _draw_times(options.plot, points, predicted)


def _equation(
    figure: int, points: Sequence[Point], document: dict[str, Any]
) -> Iterator[tuple[Point, float]]:
    """Fits of T = t_m M + t_w D/((S+R)/2); each point with its prediction.

    Fits the first numbers of processes, predicts the others (Figure 6). Centralized messages pass
    one process, so D is not divided for them.
    """

    def count(p: Point) -> int:
        return messages(p.senders, p.receivers, described=p.name not in (GENERIC, PREPARED))

    def volume(p: Point) -> float:
        return p.n**2 / (1 if p.name == CENTRALIZED else sum(p.tasks) / 2)

    fits: dict[str, Any] = {}
    document["fits"] = fits
    rows = [["implementation", "M", "t_m", "t_w", "MB/s"]]
    said: list[tuple[Point, float]] = []
    for name in dict.fromkeys(p.name for p in points):
        own = [p for p in points if p.name == name]
        of_fit = [p for p in own if p.tasks == own[0].tasks]
        fitted = _fit(of_fit, count, volume)
        if fitted is None:
            print(f"{name}: too few measurements to fit t_m and t_w")
            continue
        per_message, per_word = fitted
        fits[name] = {"M": count(own[0]), "t_m": per_message, "t_w": per_word}
        rate = f"{8e-6 / per_word:.3g}" if per_word > 0 else "-"
        rows.append(
            [name, str(count(own[0])), seconds(per_message), f"{per_word * 1e9:.3g} ns", rate]
        )
        said += [(p, per_message * count(p) + per_word * volume(p)) for p in own]
    first = points[0] if points else None
    if first is not None:
        print(
            f"T = t_m M + t_w D/((S+R)/2), fitted at S = {first.senders}, R = {first.receivers}; "
            "a word is 8 bytes"
        )
    print("\n".join(align(rows)))
    if figure == 5:
        print("  centralized: the volume is D, as all of it passes one process")
    return iter(said)


def _six_steps(points: Sequence[Point], document: dict[str, Any], plot: str | None) -> None:
    """One bar an N, P and direction: the six steps in the paper's order; and the gain of
    persistence."""
    words = list(dict.fromkeys(w for p in points for w in p.extras.get(SIX_STEPS, {})))
    rows = [["P, N", "", *words, "one way", "saved"]]
    bars: dict[str, list[float]] = {}
    plain: dict[tuple[tuple[int, int], int], float] = {}
    for p in points:
        at = (p.tasks, p.n)
        plain.setdefault(at, p.seconds)
        steps = [float(p.extras.get(SIX_STEPS, {}).get(word, 0.0)) for word in words]
        saved = "" if plain[at] == p.seconds else f"{100 * (1 - p.seconds / plain[at]):.0f} %"
        label = f"{p.senders}, {p.n}"
        rows.append([label, p.name, *map(seconds, steps), seconds(p.seconds), saved])
        bars[f"P {p.senders} N {p.n}\n{p.name}"] = steps
    print("\n".join(align(rows)))
    if plot:
        figure, axes = axes_of()
        bottom = np.zeros(len(bars))
        for k, word in enumerate(words):
            heights = np.array([steps[k] for steps in bars.values()])
            axes.bar(range(len(bars)), heights, bottom=bottom, label=word)
            bottom += heights
        axes.set_xticks(range(len(bars)), list(bars), rotation=90, fontsize="x-small")
        axes.set_yscale("log")
        axes.set_ylabel("seconds, one way")
        axes.legend(fontsize="small")
        save(figure, plot)


def _draw_times(
    plot: str, points: Sequence[Point], predicted: Sequence[tuple[Point, float]]
) -> None:
    figure, axes = axes_of()
    lines: dict[str, list[Point]] = {}
    for p in points:
        lines.setdefault(f"{p.name}, S={p.senders} R={p.receivers}", []).append(p)
    equation = {id(p): said for p, said in predicted}
    for name, own in lines.items():
        (drawn,) = axes.plot(
            [p.n**2 for p in own], [p.seconds for p in own], marker="o", linestyle="", label=name
        )
        said = [(p.n**2, equation[id(p)]) for p in own if id(p) in equation]
        if said:
            axes.plot(*zip(*said), color=drawn.get_color())
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("D, elements of 8 bytes")
    axes.set_ylabel("seconds a transfer")
    axes.legend(fontsize="x-small")
    save(figure, plot)
