# SPDX-License-Identifier: BSD-3-Clause
"""What simulated curves say: who is faster by how much, from where on; as text and as a picture."""

from __future__ import annotations

from typing import Any

from .curves import Curve, crossover
from .drawing import axes_of, save
from .platforms import PLATFORMS
from .table import align, seconds

#: of a line: the machine, its bandwidth, noise, N, and processors a process
Key = tuple[str, float, float, int, int]


def _lines(document: dict[str, Any]) -> dict[Key, dict[int, dict[str, float]]]:
    """By line: seconds by processors and form."""
    found: dict[Key, dict[int, dict[str, float]]] = {}
    for table in document["tables"]:
        p = table["parameters"]
        times = {f["name"]: f["median"] for f in table["figures"] if f.get("median")}
        if times:
            key = (
                p["platform"],
                p["bandwidth"],
                p["noise"],
                p["N"],
                p["processors a process"],
            )
            found.setdefault(key, {})[p["processors"]] = times
    return found


def _name(curve: Curve, key: Key) -> str:
    platform, bandwidth, noise, size, threads = key
    name = f"{platform}, N {size}"
    if bandwidth != 1:
        name += f", {bandwidth:g} x bandwidth"
    if noise:
        name += f", {100 * noise:g} % noise"
    return name + (f", {threads} processors a process" if len(curve.threads) > 1 else "")


def finish_curves(curve: Curve, document: dict[str, Any], plot: str | None) -> None:
    """Prints a table a machine, and adds the "curves" to the document."""
    first, *others = curve.forms
    lines = _lines(document)
    said = document["curves"] = []
    rows = [["", "processors", *curve.forms, *(f"{first} / {form}" for form in others)]]
    for key, points in lines.items():
        processors = sorted(points)
        for count in processors:
            times = points[count]
            ratios = [f"{times[first] / times[form]:.2f}" for form in others]
            told = [seconds(times[form]) for form in curve.forms]
            rows.append([_name(curve, key), str(count), *told, *ratios])
        for form in others:
            ratios_of = [points[count][first] / points[count][form] for count in processors]
            said.append(
                {
                    "platform": key[0],
                    "bandwidth": key[1],
                    "noise": key[2],
                    "N": key[3],
                    "processors a process": key[4],
                    "form": form,
                    "processors": processors,
                    f"{first} over it": ratios_of,
                    "crosses at": crossover(processors, ratios_of),
                }
            )
    print(f"{curve.title}: seconds, simulated; N is {curve.size}")
    print("\n".join(align(rows)))
    for each in said:
        if each["crosses at"] is not None:
            print(
                f"  {each['platform']}, N {each['N']}: {each['form']} and {first} cross at "
                f"{each['crosses at']:.3g} processors"
            )
    for name in dict.fromkeys(key[0] for key in lines):
        machine = PLATFORMS[name]
        print(f"  {name}: {machine.title}; {machine.source}")
    print("  computing: kernels timed on this machine, times the slowness of the simulated one")
    if plot:
        _draw(curve, lines, plot)


def _draw(curve: Curve, lines: dict[Key, dict[int, dict[str, float]]], plot: str) -> None:
    figure, axes = axes_of()
    styles = ("-", "--", ":")
    for number, (key, points) in enumerate(lines.items()):
        for form, style in zip(curve.forms, styles):
            known = sorted((count, times[form]) for count, times in points.items())
            axes.loglog(
                *zip(*known),
                style,
                color=f"C{number}",
                marker="o",
                markersize=3,
                label=f"{_name(curve, key)}, {form}",
            )
    axes.set_xlabel("processors (simulated)")
    axes.set_ylabel("seconds (simulated)")
    axes.set_title(curve.title)
    axes.legend(fontsize="x-small")
    save(figure, plot)
