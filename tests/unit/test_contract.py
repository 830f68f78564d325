# SPDX-License-Identifier: BSD-3-Clause
"""What programs outside this repository call stays as it is: public names, signatures, variables.

`python tests/unit/test_contract.py > tests/contract.txt` writes the list anew. A line that it drops
or changes breaks somebody's program, so it needs an entry in the changelog.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import hocket as hk

ROOT = Path(__file__).resolve().parents[2]
PINNED = ROOT / "tests/contract.txt"


def parameters(call: object) -> str:
    """The parameters without annotations; defaults that are objects as an ellipsis."""
    shown = []
    seen_star = False
    for each in inspect.signature(call).parameters.values():  # type: ignore[arg-type]
        text = each.name
        if each.kind is each.VAR_POSITIONAL:
            text, seen_star = f"*{text}", True
        elif each.kind is each.VAR_KEYWORD:
            text = f"**{text}"
        elif each.kind is each.KEYWORD_ONLY and not seen_star:
            shown.append("*")
            seen_star = True
        if each.default is not each.empty:
            plain = isinstance(each.default, (bool, int, float, str, tuple, type(None)))
            text += f"={each.default!r}" if plain else "=..."
        shown.append(text)
    return f"({', '.join(shown)})"


def members(name: str, value: type) -> Iterator[str]:
    """Public methods and properties, those of public bases among them."""
    for member in sorted(dir(value)):
        found = inspect.getattr_static(value, member)
        builtin = [base for base in value.__mro__ if base.__module__ == "builtins"]
        if member.startswith("_") or any(member in vars(base) for base in builtin):
            continue
        inner = getattr(found, "__func__", found)
        yield f"{name}.{member}{parameters(inner) if callable(inner) else ''}"


def contract() -> list[str]:
    """One line a name that programs may use."""
    lines = []
    for name in sorted(hk.__all__):
        value = getattr(hk, name)
        if isinstance(value, type):
            own = "" if issubclass(value, BaseException) else parameters(value)
            lines += [f"hk.{name}{own}", *members(f"hk.{name}", value)]
        else:
            lines.append(f"hk.{name}{parameters(value) if callable(value) else ''}")
    return lines + sorted(variables())


def variables() -> set[str]:
    """Settings that a source reads."""
    texts = [
        path.read_text(encoding="utf-8")
        for top in ("src", "bindings/python", "cli", "tools", "bench", "papers")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".cpp", ".hpp", ".py")
    ]
    return {name for text in texts for name in re.findall(r'"(HOCKET_[A-Z_]+)"', text)}


def test_what_others_call_is_still_there() -> None:
    """Every pinned line; new names, and new parameters in lines of their own, may come."""
    pinned = PINNED.read_text(encoding="utf-8").splitlines()
    assert len(pinned) > 200
    gone = sorted(set(pinned) - set(contract()))
    assert not gone, "no longer as others call it:\n" + "\n".join(gone)


if __name__ == "__main__":
    print("\n".join(contract()))
