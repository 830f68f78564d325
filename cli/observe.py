# SPDX-License-Identifier: BSD-3-Clause
"""`hocket observe NAME VARIABLE`: a picture of a running program, in the terminal or as a file."""

from __future__ import annotations

import argparse
import ast
import shutil
import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli.main import Parser, UsageError

import hocket as hk

_HELP = """\
Look into a program that has a port:

  hocket observe simulation                                what it has published
  hocket observe simulation temperature                    a picture in the terminal
  hocket observe simulation temperature --every 0.5        again and again, until Ctrl-C
  hocket observe simulation temperature --section '::4,10:20' --png now.png
  hocket observe simulation viscosity --set 0.2            gives a parameter a value
  hocket observe node17:4711 temperature --key run.key     on another host
"""
#: from the lowest value to the highest
_SHADES = " .:-=+*#%@"


def main(words: list[str]) -> int:
    parser = Parser(prog="hocket observe", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("port", help="a name on this host, or host:port")
    parser.add_argument("variable", nargs="?", help="an array or a parameter")
    parser.add_argument("--section", help="NumPy's basic index, as '::4,10:20'")
    parser.add_argument("--set", help="a value for a parameter", dest="value")
    parser.add_argument("--png", help="a file for the picture (needs matplotlib)")
    parser.add_argument("--every", type=float, help="seconds between two pictures")
    parser.add_argument("--key", help="the key file, for another host")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for each answer (30)")
    parser.add_argument("--insecure", action="store_true", help="unencrypted, as the port is")
    options = parser.parse_args(words)
    if options.every is not None and not 0 <= options.every < 1e9:
        raise UsageError(f"--every {options.every}: give seconds, 0 or more")
    section = _section(options.section)
    how = {"key": options.key, "timeout": options.timeout, "secure": not options.insecure}
    with hk.observe(options.port, **how) as observer:
        if options.variable is None:
            _list(observer)
        elif options.value is not None:
            observer[options.variable] = _value(options.value, observer[options.variable])
        else:
            while True:
                _show(observer, options.variable, section, options.png)
                if options.every is None:
                    break
                time.sleep(options.every)
    return 0


def _list(observer: hk.Observer) -> None:
    for name in observer:
        found = observer[name]
        if isinstance(found, hk.ObservedArray):
            print(f"{name}: {found.dtype} {found.shape}")
        else:
            print(f"{name} = {found!r}")


def _show(observer: hk.Observer, name: str, section: Any, png: str | None) -> None:
    found = observer[name]
    if not isinstance(found, hk.ObservedArray):
        print(f"{name} = {found!r}")
        return
    values = np.asarray(found[section])
    if png is not None:
        from hocket import plotting

        plotting.plot_image(_plane(values), png, f"{name}, poll {observer.step}")
        return
    print(f"{name}{list(values.shape)} at poll {observer.step}", _range(values))
    if values.ndim > 0:
        size = shutil.get_terminal_size()
        print(drawing(_plane(values), size.columns - 1, max(size.lines - 3, 4)))
    sys.stdout.flush()


def _range(values: npt.NDArray[Any]) -> str:
    if values.size == 0 or values.dtype.kind not in "biufc":
        return ""
    shown = abs(values) if values.dtype.kind == "c" else values
    return f"{shown.min():.6g} to {shown.max():.6g}"


def _plane(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Two dimensions of it: the first plane of those before."""
    if values.dtype.kind not in "biufc":
        raise UsageError(f"elements of {values.dtype} cannot be drawn; read them with hk.observe")
    plane = np.atleast_2d(abs(values) if values.dtype.kind == "c" else values)
    while plane.ndim > 2:
        plane = plane[0]
    return plane.astype(np.float64)


def drawing(plane: npt.NDArray[np.float64], columns: int, lines: int) -> str:
    """The plane in characters, one for each of so many columns and lines at most."""
    if plane.size == 0:
        return "(no elements)"
    rows = np.linspace(0, plane.shape[0] - 1, min(lines, plane.shape[0])).round().astype(int)
    across = np.linspace(0, plane.shape[1] - 1, min(columns, plane.shape[1])).round().astype(int)
    picked = plane[np.ix_(rows, across)]
    finite = picked[np.isfinite(picked)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    scaled = (picked - low) / (high - low if high > low else 1.0) * (len(_SHADES) - 1)
    shades = np.where(np.isfinite(picked), np.nan_to_num(scaled).round().clip(0, 9), -1).astype(int)
    return "\n".join("".join("?" if s < 0 else _SHADES[s] for s in row) for row in shades)


def _section(text: str | None) -> Any:
    """'::4,10:20' as NumPy takes it, without running it."""
    if text is None:
        return ...
    parts: list[Any] = []
    for word in text.split(","):
        try:
            numbers = [int(part) if part.strip() else None for part in word.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3 or numbers == [None]:
            raise UsageError(f"--section {text}: give NumPy's basic index, as '::4,10:20'")
        parts.append(numbers[0] if len(numbers) == 1 else slice(*numbers))
    return tuple(parts)


def _value(text: str, now: Any) -> Any:
    """A value of the type that the parameter has."""
    if isinstance(now, str):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, (bool, int, float)):
        return value
    raise UsageError(f"--set {text}: give a number, True or False")
