# SPDX-License-Identifier: BSD-3-Clause
"""Equations 4 and 5, and Figures 3 and 4, of He and Ding, "MPI and OpenMP Paradigms on Cluster
of SMP Architectures", from measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .drawing import axes_of, save
from .remap_model import Sample, fit
from .table import align, seconds

METHODS = {"hocket in place, hk.empty": "vacancy tracking", "two arrays, Alltoall": "two arrays"}


def samples(document: dict[str, Any]) -> dict[str, list[tuple[tuple[int, ...], Sample]]]:
    """By method: each array's shape, and its times."""
    found: dict[str, list[tuple[tuple[int, ...], Sample]]] = {}
    for each in document["tables"]:
        p = each["parameters"]
        shape = tuple(p["shape"])
        for figure in each["figures"]:
            method = METHODS.get(figure["name"])
            if method is None or figure.get("median") is None:
                continue
            sample = Sample(math.prod(shape), p["processes"], p["threads"], figure["median"])
            found.setdefault(method, []).append((shape, sample))
    return found


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, reversed(shape)))


def finish_fit(document: dict[str, Any], cores: int) -> None:
    """M, L and B; predictions beside measurements; the best processes x threads."""
    fits = document["fits"] = {}
    for method, known in samples(document).items():
        model = fit([sample for _, sample in known])
        if model is None:
            print(f"{method}: too few measurements to fit M, L and B")
            continue
        fits[method] = {"M": model.access, "L": model.latency, "B": model.bandwidth}
        print(
            f"{method}: M = {seconds(model.access)} an element, L = {seconds(model.latency)} a "
            f"message, B = {model.bandwidth:.3g} elements/s (equations 4 and 5)"
        )
        rows = [["N1 x N2 x N3", "processes", "threads", "measured", "equation", "ratio"]]
        for shape, s in known:
            said = model.seconds(s.elements, s.processes, s.threads)
            rows.append(
                [
                    _text(shape),
                    str(s.processes),
                    str(s.threads),
                    seconds(s.seconds),
                    seconds(said),
                    f"{said / s.seconds:.2f}",
                ]
            )
        print("\n".join(align(rows)))
        for shape in dict.fromkeys(shape for shape, _ in known):
            advised = model.advice(math.prod(shape), cores)
            best = advised[0][2]
            # Settings that the equation does not distinguish are listed together.
            ways = [f"{p} x {t}" for p, t, s in advised if s <= 1.01 * best]
            print(
                f"  {_text(shape)} on {cores} cores: processes x threads = {' or '.join(ways)} "
                f"({seconds(best)} by equation 5)"
            )
        if math.isinf(model.bandwidth):
            print("  B = inf: no time that grows with what is sent shows beside that of memory")
        print()
    print(
        f"Fitted on {cores} cores of one machine: what messages between machines cost is not in it."
    )


def finish_figure(number: int, document: dict[str, Any], plot: str | None) -> None:
    """Time and speedup by processes and threads."""
    found = samples(document)
    shapes = list(dict.fromkeys(shape for known in found.values() for shape, _ in known))
    rows = [["N1 x N2 x N3", "method", "processes", "threads", "time", "speedup"]]
    lines: dict[str, list[tuple[int, float]]] = {}
    for shape in shapes:
        for method, known in found.items():
            own = [s for each, s in known if each == shape]
            alone = next((s.seconds for s in own if s.processes == s.threads == 1), None)
            for s in sorted(own, key=lambda s: (s.threads, s.processes)):
                faster = "-" if alone is None else f"{alone / s.seconds:.2f}"
                rows.append(
                    [
                        _text(shape),
                        method,
                        str(s.processes),
                        str(s.threads),
                        seconds(s.seconds),
                        faster,
                    ]
                )
                for kind in _curves(number, s):
                    name = f"{_text(shape)}, {method}, {kind}"
                    lines.setdefault(name, []).append((s.processes * s.threads, s.seconds))
    print(f"Figure {number}")
    print("\n".join(align(rows)))
    most = max((s.processes * s.threads for known in found.values() for _, s in known), default=0)
    print(
        f"  up to {most} cores of one machine; the paper has {16 if number == 3 else 128}, "
        f"{'in one node' if number == 3 else 'in nodes of 16'}"
    )
    if plot:
        figure, axes = axes_of()
        for name, points in lines.items():
            axes.plot(*zip(*sorted(points)), marker="o", label=name)
        axes.set_xlabel("processes x threads")
        axes.set_ylabel("seconds")
        axes.legend(fontsize="x-small")
        save(figure, plot)


def _curves(number: int, sample: Sample) -> list[str]:
    if number == 4:
        return [f"{sample.threads} threads a process"]
    curves = []
    if sample.threads == 1:
        curves.append("processes")
    if sample.processes == 1:
        curves.append("threads")
    return curves
