# SPDX-License-Identifier: BSD-3-Clause
"""How many types a reader meets: the private ones of each room, and the public names."""

from __future__ import annotations

import re
from pathlib import Path

from messages import ROOT

#: rooms between a plan and the wire, whose types are to become fewer
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


def count(folder: Path) -> tuple[int, int]:
    """The types that the sources of a folder define, and their lines."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".cpp", ".hpp")
    ]
    return sum(len(types_in(text)) for text in texts), sum(text.count("\n") for text in texts)


def public_names() -> dict[str, int]:
    """Names that users meet: of Python as tests/contract.txt lists them, of C++ the types."""
    headers = sorted((ROOT / "include").rglob("*.hpp"))
    text = (ROOT / "tests" / "contract.txt").read_text(encoding="utf-8")
    python = {re.split(r"[( ]", line)[0] for line in text.splitlines() if line.startswith("hk.")}
    return {
        "Python": len(python),
        "C++ types": sum(len(types_in(path.read_text(encoding="utf-8"))) for path in headers),
    }


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
    print("public names: " + ", ".join(f"{n} {what}" for what, n in public_names().items()))


if __name__ == "__main__":
    main()
