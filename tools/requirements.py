# SPDX-License-Identifier: BSD-3-Clause
"""Prints the requirements of the project and of the extras named on the command line. Run by an
environment's own Python, because Python has a TOML reader only since 3.11."""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib


def main() -> None:
    """One requirement a line."""
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = sys.argv[1:]
    tools = {"check", "docs"}  # they read the project, and do not run it
    found = [] if tools & set(extras) else list(project["dependencies"])
    for extra in extras:
        found += project["optional-dependencies"][extra]
    print("\n".join(found))


if __name__ == "__main__":
    main()
