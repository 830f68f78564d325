# SPDX-License-Identifier: BSD-3-Clause
"""All pictures of hocket: layouts, plans, images, times. Benchmarks use its figures.

Imports matplotlib at the first picture. The suffix of a path selects the file format.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .errors import Error

PathLike = Union[str, Path]

#: the largest number of cells a side with the owner's number in each cell
_NUMBERED = 16
#: the largest number of cells a side; hocket draws a sample of larger arrays
_CELLS = 512
#: the largest number of processes that hocket asks for their indices
_ASKED = 4096
#: the largest number of processes in the legend
_LEGEND = 16


def plot_layout(layout: Any, path: PathLike) -> None:
    """Draws the owners of the elements: one colour a process, with its number if there is space.

    Parameters
    ----------
    layout
        a Layout of any number of dimensions. One dimension is drawn as a strip; of more than two,
        the last two distributed ones, at index 0 of the others.
    path
        the path of the picture.

    Raises
    ------
    Error
        matplotlib is missing, or hocket cannot write the path.
    """
    figure = new_figure(6.4, 5.6 if sum(extent > 1 for extent in layout.shape) > 1 else 1.4)
    _draw_layout(figure.add_subplot(), layout, _short(layout, 70))
    save_figure(figure, path)


def plot_plan(plan: Any, path: PathLike) -> None:
    """Draws a plan: the source layout, the traffic between each two processes, the destination.

    Parameters
    ----------
    plan
        a Plan.
    path
        the path of the picture.

    Raises
    ------
    Error
        matplotlib is missing, or hocket cannot write the path.
    """
    figure = new_figure(16, 5.4)
    left, middle, right = figure.subplots(1, 3)
    _draw_layout(left, plan.source, f"source\n{_short(plan.source, 60)}")
    _draw_layout(right, plan.destination, f"destination\n{_short(plan.destination, 60)}")
    traffic = traffic_matrix(plan)
    shown = middle.imshow(
        np.where(traffic > 0, traffic, np.nan),
        cmap="Blues",
        vmin=0,
        vmax=1.5 * traffic.max(initial=1),
        aspect="auto",
    )
    if max(traffic.shape) <= _NUMBERED:
        for (sender, receiver), elements in np.ndenumerate(traffic):
            dark = elements > 0.9 * traffic.max(initial=1)
            middle.text(
                receiver,
                sender,
                str(elements) if elements else "·",
                ha="center",
                va="center",
                size=max(5, 10 - max(traffic.shape) // 3),
                color="white" if dark else "black",
            )
    else:
        figure.colorbar(shown, ax=middle, label="elements")
    middle.set_xlabel("to process")
    middle.set_ylabel("from process")
    _whole_ticks(middle, *traffic.shape)
    middle.set_title(f"{plan.strategy}: {plan.message_count} messages in {plan.rounds} rounds")
    save_figure(figure, path)


def traffic_matrix(plan: Any) -> npt.NDArray[np.int64]:
    """Elements from each process of the source (rows) to each of the destination (columns)."""
    matrix = np.zeros((plan.source.size, plan.destination.size), dtype=np.int64)
    for sender in range(plan.source.size):
        for receiver, elements in plan.sends(sender):
            matrix[sender, receiver] = elements
    return matrix


def plot_image(image: npt.NDArray[Any], path: PathLike, title: str = "") -> None:
    """Draws a grey image, a 2-D array of any real dtype.

    Raises
    ------
    Error
        matplotlib is missing, or hocket cannot write the path.
    """
    figure = new_figure(5.6, 5.8)
    axes = figure.add_subplot()
    axes.imshow(image, cmap="gray")
    axes.set_title(title, parse_math=False)
    axes.set_axis_off()
    save_figure(figure, path)


def plot_spectrum(spectrum: npt.NDArray[Any], path: PathLike, title: str = "") -> None:
    """Draws the magnitude of a 2-D spectrum on a logarithmic scale, frequency 0 in the middle.

    Raises
    ------
    Error
        matplotlib is missing, or hocket cannot write the path.
    """
    magnitude = np.log10(1.0 + np.abs(np.fft.fftshift(spectrum)))
    rows, columns = spectrum.shape
    figure = new_figure(6.4, 5.4)
    axes = figure.add_subplot()
    box = (-columns / 2, columns / 2, rows / 2, -rows / 2)
    shown = axes.imshow(magnitude, cmap="magma", extent=box)
    figure.colorbar(shown, ax=axes, label="log10(1 + |F|)")
    axes.set_xlabel("cycles an image, across")
    axes.set_ylabel("cycles an image, down")
    axes.set_title(title, parse_math=False)
    save_figure(figure, path)


def plot_times(
    lines: Mapping[tuple[str, str], Sequence[tuple[float, float]]],
    path: PathLike,
    title: str,
    unit: str,
    cores: int,
) -> None:
    """Draws times over numbers of processes: (processes, seconds) of each (group, kind), a colour a
    group, a stroke a kind. `unit`: the label of times; `cores`: with more processes, processes
    share cores.

    Raises
    ------
    Error
        matplotlib is missing, or hocket cannot write the path.
    """
    figure = new_figure(7.2, 5.0)
    axes = figure.add_subplot()
    groups, kinds = (list(dict.fromkeys(key[k] for key in lines)) for k in range(2))
    strokes = [("-", "o"), ("--", "s"), ("-.", "^"), (":", "v")]
    for (group, kind), points in lines.items():
        style, marker = strokes[kinds.index(kind) % len(strokes)]
        colour, (xs, ys) = f"C{groups.index(group) % 10}", zip(*sorted(points))
        axes.plot(xs, ys, style, marker=marker, color=colour, label=f"{group} {kind}")
    counts = sorted({x for points in lines.values() for x, _ in points})
    if counts and counts[-1] > cores:
        axes.axvline(cores, color="grey", linewidth=1, linestyle=":", label=f"{cores} cores")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [f"{count:g}" for count in counts])
    axes.set_xlabel("processes")
    axes.set_ylabel(unit)
    axes.set_title(title, parse_math=False)
    if lines:
        axes.legend(fontsize="x-small")
    save_figure(figure, path)


def new_figure(width: float, height: float) -> Any:
    """A separate figure, which does not change the user's own plots."""
    try:
        module = importlib.import_module("matplotlib.figure")
    except ImportError as problem:
        raise Error(
            "drawing needs matplotlib, which this Python lacks; install it: "
            f"{sys.executable} -m pip install matplotlib"
        ) from problem
    return module.Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: PathLike) -> None:
    """Writes it; an Error gives the reason if that fails."""
    try:
        figure.savefig(path, dpi=110)
    except (AttributeError, OSError, TypeError, ValueError) as problem:
        raise Error(
            f"cannot draw to '{path}': {problem}; name a file that can be written, ending in "
            ".png, .svg or .pdf"
        ) from problem


def owner_map(layout: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], str]:
    """For each drawn element its lowest owner (-1: none) and the number of its owners, 2-D; and
    a caption."""
    shape = tuple(layout.shape)
    drawn, note = _drawn_dimensions(layout)
    many = layout.size > _ASKED  # then ask for each drawn element instead of for each process
    most = 128 if many else _CELLS
    picks = [
        _sample(extent, most) if d in drawn else np.zeros(1, int) for d, extent in enumerate(shape)
    ]
    if any(len(pick) == 0 for pick in picks) or 0 in shape:
        empty = np.zeros((0, 0), dtype=np.int64)
        return empty, empty.copy(), "an empty array"
    lowest = np.full([len(pick) for pick in picks], -1, dtype=np.int64)
    copies = np.zeros_like(lowest)
    for place in np.ndindex(lowest.shape) if many else ():
        owners = layout.owners([int(pick[k]) for pick, k in zip(picks, place)])
        copies[place] = len(owners)
        lowest[place] = owners[0] if owners else -1
    for rank in () if many else reversed(range(layout.size)):
        held = layout.global_indices(rank)
        if len(held) != len(shape):  # a flat list of elements
            flat = np.ravel_multi_index(np.ix_(*picks), shape) if shape else np.zeros(1, int)
            mask = np.isin(flat, held[0])
        else:
            mask = np.ones((), dtype=bool)
            for pick, indices in zip(picks, held):
                mask = np.multiply.outer(mask, np.isin(pick, indices))
        lowest[mask] = rank
        copies += mask
    return _as_plane(lowest), _as_plane(copies), note


def _as_plane(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    long = [extent for extent in values.shape if extent > 1]
    return values.reshape(long[0], long[1]) if len(long) == 2 else values.reshape(1, -1)


def _drawn_dimensions(layout: Any) -> tuple[set[int], str]:
    """At most two dimensions, the distributed ones first."""
    wide = [d for d, extent in enumerate(layout.shape) if extent > 1]
    if len(wide) <= 2:
        return set(wide), ""
    formats = re.sub(r"\([^()]*\)", "", str(getattr(layout, "dist", ""))[1:]).split(",")
    spread = [d for d in wide if d < len(formats) and formats[d].strip(") ") != "*"]
    chosen = (spread + [d for d in reversed(wide) if d not in spread])[:2]
    return set(chosen), f"dimensions {sorted(chosen)}, index 0 of the others"


def _sample(extent: int, most: int) -> npt.NDArray[np.int64]:
    if extent <= most:
        return np.arange(extent, dtype=np.int64)
    return np.linspace(0, extent - 1, most).astype(np.int64)


def _draw_layout(axes: Any, layout: Any, title: str) -> None:
    lowest, copies, note = owner_map(layout)
    if copies.max(initial=0) > 1:
        note = f"{note}{', ' if note else ''}{copies.max()} copies: the lowest process is drawn"
    sampled = max(layout.shape, default=0) > max(lowest.shape)
    if sampled:
        note = f"{note}{', ' if note else ''}a sample of the indices"
    axes.set_title(title + (f"\n{note}" if note else ""), fontsize=10)
    if lowest.size == 0:
        axes.set_axis_off()
        return
    colours = importlib.import_module("matplotlib").colormaps
    # White: elements without owner.
    colour_of = colours["tab20" if layout.size <= 20 else "turbo"].with_extremes(under="white")
    top = max(19, layout.size - 1) if layout.size <= 20 else layout.size - 1
    axes.imshow(lowest, cmap=colour_of, vmin=-0.5, vmax=top + 0.5, aspect="auto")
    rows, columns = lowest.shape
    if sampled:
        axes.set_xticks([])
        axes.set_yticks([])
    else:
        _border_owners(axes, lowest)
        _whole_ticks(axes, rows, columns)
    for row, column, size in _places_for_numbers(lowest):
        rank = int(lowest[row, column])
        if rank < 0:
            continue
        red, green, blue = _shade(colour_of, rank, top)[:3]
        axes.text(
            column,
            row,
            f"{rank}+" if copies[row, column] > 1 else str(rank),
            ha="center",
            va="center",
            size=size,
            color="black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.45 else "white",
        )
    if 1 < layout.size <= _LEGEND and max(rows, columns) > _NUMBERED:
        patch = importlib.import_module("matplotlib.patches").Patch
        present = [rank for rank in np.unique(lowest) if rank >= 0]
        handles = [patch(color=_shade(colour_of, rank, top), label=str(rank)) for rank in present]
        axes.legend(
            handles=handles, title="process", loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8
        )
    if rows == 1:
        axes.set_yticks([])


def _shade(colours: Any, rank: int, top: int) -> tuple[float, ...]:
    """The colour of a process, on the picture's scale."""
    return tuple(colours((rank + 0.5) / (top + 1)))


def _short(layout: Any, most: int) -> str:
    text = str(layout)
    return text if len(text) <= most else f"{text[:most]}…"


def _whole_ticks(axes: Any, rows: int, columns: int) -> None:
    """No ticks between cells; one at each cell of a small picture."""
    locator = importlib.import_module("matplotlib.ticker").MaxNLocator
    for axis, extent in ((axes.xaxis, columns), (axes.yaxis, rows)):
        if extent <= _NUMBERED:
            axis.set_ticks(range(extent))
        else:
            axis.set_major_locator(locator(integer=True))


def _places_for_numbers(lowest: npt.NDArray[np.int64]) -> list[tuple[int, int, float]]:
    """(row, column, size of the text) of each number: in every cell of a small picture; in a
    large one in the middle of each block of one owner that is large enough, unless there are too
    many blocks."""
    rows, columns = lowest.shape
    if max(rows, columns) <= _NUMBERED:
        size = max(6, 13 - max(rows, columns) // 2)
        return [(row, column, size) for row, column in np.ndindex(rows, columns)]
    down = _blocks((lowest[1:, :] != lowest[:-1, :]).any(axis=1), rows)
    across = _blocks((lowest[:, 1:] != lowest[:, :-1]).any(axis=0), columns)
    down = [(a, b) for a, b in down if b - a >= rows / 24]
    across = [(a, b) for a, b in across if b - a >= columns / 16]
    if len(down) * len(across) > 400:
        return []
    return [((a + b - 1) // 2, (c + d - 1) // 2, 7) for a, b in down for c, d in across]


def _blocks(changes: npt.NDArray[np.bool_], extent: int) -> list[tuple[int, int]]:
    """Ranges between consecutive changes."""
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), extent]
    return list(zip(bounds, bounds[1:]))


def _border_owners(axes: Any, lowest: npt.NDArray[np.int64]) -> None:
    """A line at every change of owner, because neighbouring colours may be similar; none if
    lines would cover the colours."""
    rows, columns = lowest.shape
    across = np.argwhere(lowest[:, 1:] != lowest[:, :-1])
    down = np.argwhere(lowest[1:, :] != lowest[:-1, :])
    if len(across) + len(down) > 8192:
        return
    lines = [((c + 0.5, r - 0.5), (c + 0.5, r + 0.5)) for r, c in across]
    lines += [((c - 0.5, r + 0.5), (c + 0.5, r + 0.5)) for r, c in down]
    collection = importlib.import_module("matplotlib.collections").LineCollection
    width = 1.2 if max(rows, columns) <= 32 else 0.5
    axes.add_collection(collection(lines, colors="white", linewidths=width))
