# SPDX-License-Identifier: BSD-3-Clause
"""A terminal as a screen of its own: pictures in characters or colours, and keys as they are
pressed. ANSI's sequences, which all terminals of today know (ECMA-48)."""

from __future__ import annotations

import os
import re
import select
import shutil
import sys
import termios
import tty
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
from hocket.cli.main import UsageError

#: from 0 to 1, as a character
SHADES = " .:-=+*#%@"
#: the colours of xterm's 256 for it: greys; and that of a solid point
GREYS, SOLID = range(232, 256), 94
_NAMES = {"A": "up", "B": "down", "C": "right", "D": "left"}
_KEY = re.compile(r"\x1b[\[O]([A-D])|\x1b[\[O][0-9;]*.|([ -~])|.", re.DOTALL)


class Screen:
    """The terminal of this process, as it was before once the context ends."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "a viewer needs a terminal; `hocket observe NAME smoke` draws one picture"
            )
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
        blocks = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        self.colours = not plain and blocks
        self._size: Optional[os.terminal_size] = None

    def __enter__(self) -> Screen:
        self._before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        self._write("\x1b[?1049h\x1b[?25l")  # another screen, without a cursor
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._write("\x1b[0m\x1b[?25h\x1b[?1049l")
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def room(self, beside: int) -> tuple[int, int]:
        """Lines and columns for a picture beside so many lines of text."""
        size = shutil.get_terminal_size()
        return max(1, size.lines - beside), max(1, size.columns)

    def draw(self, lines: Sequence[str]) -> None:
        """Replaces the picture."""
        size = shutil.get_terminal_size()
        clear = "" if size == self._size else "\x1b[2J"
        self._size = size
        shown = [line if "\x1b" in line else line[: size.columns] for line in lines[: size.lines]]
        self._write(clear + "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in shown) + "\x1b[J")

    def keys(self, seconds: float) -> list[str]:
        """Waits so long for keys: characters, or "up", "down", "left", "right"."""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return []
        text = os.read(sys.stdin.fileno(), 1024).decode("utf-8", "replace")
        if not text:  # the terminal is gone
            return ["q"]
        found = (_NAMES[key[1]] if key[1] else key[2] for key in _KEY.finditer(text))
        return [key for key in found if key]

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def painted(
    values: npt.NDArray[Any], marks: Mapping[tuple[int, int], str], colours: bool
) -> list[str]:
    """The picture in lines. `values`: from 0 to 1, NaN in solid points. `marks`: characters at
    cells. In colours a character has two cells, one above the other."""
    if not colours:
        shades = (np.nan_to_num(values) * (len(SHADES) - 1)).round().astype(int)
        cells = np.where(np.isnan(values), "X", np.array(list(SHADES))[shades])
        for place, mark in marks.items():
            cells[place] = mark
        return ["".join(line) for line in cells]
    greys = (np.nan_to_num(values) * (len(GREYS) - 1)).round().astype(int) + GREYS[0]
    tones = np.where(np.isnan(values), SOLID, greys)
    if len(tones) % 2:
        tones = np.vstack([tones, np.full_like(tones[:1], GREYS[0])])
    by_character = {(row // 2, col): mark for (row, col), mark in marks.items()}
    lines = []
    for number, (upper, lower) in enumerate(zip(tones[::2], tones[1::2])):
        line, last = [], None
        for col, pair in enumerate(zip(upper, lower)):
            if (number, col) in by_character:
                mark = by_character[number, col]
                line.append(f"\x1b[1;38;5;196;48;5;{pair[1]}m{mark}\x1b[0m")
                last = None
                continue
            if pair != last:
                line.append(f"\x1b[38;5;{pair[0]};48;5;{pair[1]}m")
                last = pair
            line.append("▀")
        lines.append("".join(line) + "\x1b[0m")
    return lines
