# SPDX-License-Identifier: BSD-3-Clause
"""The times of strategies beside the model's predictions, as text and as a picture."""

from __future__ import annotations

from typing import Any

from .drawing import axes_of, save
from .strategy_runs import STRATEGIES
from .table import align, seconds


def finish(document: dict[str, Any], plot: str | None) -> None:
    """Prints and adds to each table the strategy "chosen", the "fastest", and the "cost of the
    choice": how many times as long as the fastest the chosen one took."""
    for table in document["tables"]:
        known = {f["name"]: f for f in table["figures"] if f.get("median")}
        if not known:
            continue
        predicted = {name: f["extras"]["predicted"]["seconds"] for name, f in known.items()}
        measured = {name: f["median"] for name, f in known.items()}
        chosen = next(f["extras"]["auto"] for f in known.values())
        if chosen not in known:  # the chosen one could not run
            continue
        table["chosen"] = chosen
        table["fastest"] = min(measured, key=lambda name: measured[name])
        table["cost of the choice"] = measured[table["chosen"]] / measured[table["fastest"]]
        p = table["parameters"]
        sides = f"{p['senders']} -> {p['receivers']}"
        size = "x".join(map(str, p["shape"]))
        overhead = f", {seconds(p['model'].get('message', 0.0))} a message"
        where = p["place"] + (overhead if p["place"] == "simulated" else "")
        print(f"{where}, {sides}, {p['from']} -> {p['to']}, {size}")
        rows = [["  strategy", "predicted", "measured", "measured / predicted"]]
        for name in (name for name in STRATEGIES if name in known):
            ratio = measured[name] / predicted[name] if predicted[name] else float("inf")
            words = [seconds(predicted[name]), seconds(measured[name]), f"{ratio:.2f}"]
            rows.append([f"{'*' if name == table['chosen'] else ' '} {name}", *words])
        print("\n".join(align(rows)))
        print(
            f"  chosen (*): {table['chosen']}; fastest: {table['fastest']}; chosen / fastest: "
            f"{table['cost of the choice']:.2f}\n"
        )
    if plot:
        _draw([table for table in document["tables"] if "chosen" in table], plot)


def _draw(tables: list[dict[str, Any]], plot: str) -> None:
    """Times over that of direct, a column a table; the model's choice is ringed."""
    figure, axes = axes_of()
    labels, ringed = [], []
    times: dict[str, list[tuple[int, float]]] = {}
    for column, table in enumerate(tables):
        took = {f["name"]: f["median"] for f in table["figures"] if f.get("median")}
        if "direct" not in took:
            continue
        for name in (name for name in STRATEGIES if name in took):
            times.setdefault(name, []).append((column, took[name] / took["direct"]))
        ringed.append((column, took[table["chosen"]] / took["direct"]))
        p = table["parameters"]
        labels.append((column, f"{p['senders']} to {p['receivers']}, N {p['shape'][0]}"))
    for name, points in times.items():
        axes.plot(*zip(*points), "o", markersize=5, label=name)
    if ringed:
        style = {"markersize": 11, "markerfacecolor": "none", "color": "black"}
        axes.plot(*zip(*ringed), "o", label="chosen", **style)
    axes.set_xticks(*zip(*labels), rotation=75, fontsize="x-small")
    axes.set_yscale("log")
    axes.set_ylabel("time / time of direct")
    axes.legend(fontsize="small")
    save(figure, plot)
