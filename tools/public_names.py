# SPDX-License-Identifier: BSD-3-Clause
"""Counts the names for programs: C's functions, C++'s calls, Fortran's procedures, Python's names.

`make check` prints the line; `python tools/public_names.py FOLDER` prints it for another checkout.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def counts(root: Path = ROOT) -> dict[str, int]:
    """The number of names in each language; C++'s overloads count separately."""
    sys.path.insert(0, str(root / "tests/parity"))
    import scan

    headers = root / "include/hocket"
    c = scan.c_calls([headers / "hocket.h", *sorted((headers / "c").glob("*.h"))])
    cpp = sum(sum(scan.cpp_calls(path).values()) for path in headers.glob("*.hpp"))
    python = re.search(
        r"^__all__ = \[(.*?)\]",
        (root / "bindings/python/hocket/__init__.py").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert python is not None
    return {
        "C functions": len(c),
        "C++ calls": cpp,
        "Fortran procedures": len(fortran(root)),
        "Python names": len(re.findall(r'"\w+"', python[1])),
    }


def fortran(root: Path) -> set[str]:
    """The public procedures of the Fortran module."""
    folder = root / "bindings/fortran"
    sys.path.insert(0, str(folder))
    import interfaces

    with tempfile.TemporaryDirectory() as written:
        generate = [sys.executable, "-B", str(folder / "generate.py")]
        subprocess.run([*generate, str(root / "include/hocket"), written], check=True)
        paths = [*Path(written).glob("*.F90"), *folder.glob("*.F90")]
        return set(interfaces.offers(path.read_text(encoding="utf-8") for path in paths))


def line(root: Path = ROOT) -> str:
    """The counts as `make check` prints them."""
    return "public names: " + ", ".join(f"{n} {what}" for what, n in counts(root).items())


if __name__ == "__main__":
    print(line(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
