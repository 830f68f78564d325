# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of simulated curves: which form is faster, by how much, from where on; as text and as
a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .curves import Curve, crossover
from .drawing import axes_of, save
from .platforms import PLATFORMS
from .table import align, seconds

#: a curve is over the first of these with several values; the label of its axis
VARIABLES = {
    "processors": "processors (simulated)",
    "bandwidth": "bandwidth of the links, in multiples of the machine's",
    "noise": "part of computing that interruptions add",
    "N": "N",
}
_TOLD = {
    "platform": "{}",
    "processors": "{} processors",
    "bandwidth": "{:g} x bandwidth",
    "noise": "{:.3g} noise",
    "N": "N {}",
    "processors a process": "{} processors a process",
}


@dataclass
class Line:
    """Seconds by the variable's values and by form; ``fixed`` are the other parameters."""

    fixed: dict[str, Any]
    points: dict[float, dict[str, float]] = field(default_factory=dict)

    def name(self, curve: Curve) -> str:
        """The parameters that need mention."""
        plain = {"bandwidth": 1.0, "noise": 0.0}
        if len(curve.threads) == 1:
            plain["processors a process"] = 1
        if len(curve.sizes) == 1 and curve.sizes[0] == 1:
            plain["N"] = 1
        told = [_TOLD[k].format(v) for k, v in self.fixed.items() if plain.get(k) != v]
        return ", ".join(told)


def _lines(document: dict[str, Any]) -> tuple[str, list[Line]]:
    """The variable, and the lines."""
    tables = [
        (table["parameters"], {f["name"]: f["median"] for f in table["figures"] if f.get("median")})
        for table in document["tables"]
    ]
    known = [(parameters, times) for parameters, times in tables if times]
    several = [name for name in VARIABLES if len({p[name] for p, _ in known}) > 1]
    over = several[0] if several else "processors"
    found: dict[tuple[Any, ...], Line] = {}
    for parameters, times in known:
        fixed = {name: parameters[name] for name in _TOLD if name != over}
        line = found.setdefault(tuple(fixed.values()), Line(fixed))
        line.points[parameters[over]] = times
    return over, list(found.values())


def finish_curves(curve: Curve, document: dict[str, Any], plot: str | None) -> None:
    """Prints a table a machine, and adds the "curves" to the document."""
    first, *others = curve.forms
    over, lines = _lines(document)
    said = document["curves"] = []
    rows = [["", over, *curve.forms, *(f"{first} / {form}" for form in others)]]
    for line in lines:
        values = sorted(line.points)
        for value in values:
            times = line.points[value]
            ratios = [f"{times[first] / times[form]:.2f}" for form in others]
            told = [seconds(times[form]) for form in curve.forms]
            rows.append([line.name(curve), f"{value:g}", *told, *ratios])
        for form in others:
            gains = [line.points[value][first] / line.points[value][form] for value in values]
            one = {**line.fixed, "form": form, "over": over, over: values}
            # A logarithmic axis has no position for zero noise.
            crosses = crossover(values, gains) if min(values) > 0 else None
            said.append({**one, f"{first} over it": gains, "crosses at": crosses})
    print(f"{curve.title}: seconds, simulated; N is {curve.size}")
    print("\n".join(align(rows)))
    for one, line in zip(said, (line for line in lines for _ in others)):
        if one["crosses at"] is not None:
            print(
                f"  {line.name(curve)}: {one['form']} and {first} cross at "
                f"{one['crosses at']:.3g} {over}"
            )
    for name in dict.fromkeys(line.fixed["platform"] for line in lines):
        machine = PLATFORMS[name]
        print(f"  {name}: {machine.title}; {machine.source}")
    print("  computing: kernels timed on this machine, times the slowness of the simulated one")
    if plot:
        _draw(curve, over, lines, plot)


def _draw(curve: Curve, over: str, lines: list[Line], plot: str) -> None:
    figure, axes = axes_of()
    styles = ("-", "--", ":", "-.")
    for number, line in enumerate(lines):
        for place, form in enumerate(curve.forms):
            known = sorted((value, times[form]) for value, times in line.points.items())
            axes.plot(
                *zip(*known),
                styles[place % len(styles)],
                color=f"C{number}",
                marker="o",
                markersize=3,
                label=f"{line.name(curve)}, {form}",
            )
    axes.set_yscale("log")
    if all(value > 0 for line in lines for value in line.points):
        axes.set_xscale("log")
    axes.set_xlabel(VARIABLES[over])
    axes.set_ylabel("seconds (simulated)")
    axes.set_title(curve.title)
    axes.legend(fontsize="x-small")
    save(figure, plot)
