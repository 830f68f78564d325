# SPDX-License-Identifier: BSD-3-Clause
"""Counts the types that each room of `src/` defines, and its lines. `make check` prints them."""

from __future__ import annotations

import re
from pathlib import Path

from messages import ROOT

#: rooms between a plan and the wire, whose number of types should fall
MOVING = ("shm", "transport", "transfer", "remap", "halo", "task")

_IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
# A definition: no forward declaration, friend or parameter of a template.
_TYPE = re.compile(
    r"^[ \t]*(?:template\s*<[^{};]*>\s*)?(?:struct|class|enum(?:\s+class|\s+struct)?)\s+"
    r"(?:alignas\([^)]*\)\s*)?(\w[\w:]*)\s*(?:final\s*)?(?::[^{;]*)?\{",
    re.MULTILINE,
)


def types_in(text: str) -> list[str]:
    """The names of all structures, classes and enumerations that C++ text defines."""
    return _TYPE.findall(_IGNORED.sub("", text))


def shared_names(rooms: tuple[str, ...]) -> dict[str, list[str]]:
    """The names that types of several rooms, or several types of one, have at namespace level."""
    found: dict[str, list[str]] = {}
    for room in rooms:
        for path in sorted((ROOT / "src" / room).rglob("*.?pp")):
            text = _IGNORED.sub("", path.read_text(encoding="utf-8"))
            for match in _TYPE.finditer(text):
                # A member, as Inbox::Slot, belongs to its class.
                if text[match.start()] not in " \t" and "::" not in match[1]:
                    found.setdefault(match[1], []).append(str(path.relative_to(ROOT / "src")))
    return {name: files for name, files in found.items() if len(files) > 1}


def count(folder: Path) -> tuple[int, int]:
    """The types that the sources of a folder define, and their lines."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".cpp", ".hpp")
    ]
    return sum(len(types_in(text)) for text in texts), sum(text.count("\n") for text in texts)


def main() -> None:
    """Prints them."""
    rooms = sorted(path for path in (ROOT / "src").iterdir() if path.is_dir())
    counts = {path.name: count(path) for path in rooms}
    print("private types and lines of each room:")
    for room, (types, lines) in counts.items():
        print(f"  {room:<10} {types:>4} {lines:>6}")
    types, lines = (sum(each) for each in zip(*counts.values()))
    print(f"  {'all':<10} {types:>4} {lines:>6}")
    print(f"{' + '.join(MOVING)}: {sum(counts[room][0] for room in MOVING)} types")


if __name__ == "__main__":
    main()
