# SPDX-License-Identifier: BSD-3-Clause
"""Parses the C headers for the generator of the Fortran module.

It parses hocket's own headers only, and raises ValueError for any other syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

# Constants whose names Fortran, which ignores case, uses for procedures and types.
RENAMED = {
    "hocket_team_op": ("HOCKET_TEAM_", "HOCKET_TEAM_OP_"),
    "hocket_access_kind": ("HOCKET_", "HOCKET_ACCESS_"),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter, or one field of a struct: ``const int64_t* shape``."""

    type: str
    stars: int
    const: bool
    name: str
    #: ``const char* const* names``: a list that is read
    of_const: bool = False


@dataclass(frozen=True)
class Function:
    """A function that returns a code."""

    name: str
    parameters: tuple[Parameter, ...]


@dataclass
class Headers:
    """All declarations of the headers, in their order."""

    handles: list[str] = field(default_factory=list)
    structs: dict[str, list[Parameter]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)


def read(folder: Path) -> Headers:
    """version.h, hocket.h and the headers that it includes."""
    found = Headers()
    parts = sorted((folder / "c").glob("*.h"))
    for path in [folder / "version.h", folder / "hocket.h", *parts]:
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name, value in re.findall(r"^#define (HOCKET_\w+) (\d+)$", text, re.MULTILINE):
            found.constants[name] = int(value)
        text = re.sub(r"^[ \t]*#[^\n]*$", " ", text, flags=re.MULTILINE)
        text = text.replace('extern "C" {', " ")
        # C's inline functions: their Fortran counterparts are written by hand.
        text = re.sub(r"static inline [^{]*\{.*?\n\}", " ", text, flags=re.DOTALL)
        found.handles += re.findall(r"typedef struct (\w+) \1;", text)
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
            found.structs[name] = fields(body)
        for enum, body in re.findall(r"\benum( \w+)? \{(.*?)\};", text, re.DOTALL):
            renamed = RENAMED.get(enum.strip(), ("", ""))
            following = 0
            for name, value in re.findall(r"(HOCKET_\w+)(?:\s*=\s*(-?\d+))?", body):
                at = int(value) if value else following
                found.constants[name.replace(*renamed, 1)] = at
                following = at + 1
        for name, inside in re.findall(r"\bint (hocket_\w+)\(((?:[^()]|\([^()]*\))*)\);", text):
            found.functions.append(Function(name, parameters(inside)))
        declared = len(re.findall(r"\bint hocket_\w+\(", text))
        if declared != len(re.findall(r"\bint hocket_\w+\((?:[^()]|\([^()]*\))*\);", text)):
            raise ValueError(f"{path}: a declaration that cannot be read")
    return found


def parameters(inside: str) -> tuple[Parameter, ...]:
    """The parameters of one declaration; a pointer to a function has the type ``function``."""
    inside = re.sub(r"\w+\*? \(\*(\w+)\)\([^()]*\)", r"function \1", inside)
    inside = re.sub(r"\benum \w+", "int", inside)
    if inside.strip() in ("void", ""):
        return ()
    return tuple(parameter(word) for word in inside.split(","))


def parameter(text: str) -> Parameter:
    """``const hocket_array* const* arrays``; an array ``char name[24]`` has -24 stars."""
    match = re.fullmatch(
        r"\s*(const )?\s*(\w+)((?:\s*\*(?:\s*const\b)?)*)\s*(\w+)(?:\[(\d+)\])?\s*", text
    )
    if match is None:
        raise ValueError(f"a parameter that cannot be read: {text!r}")
    const, base, stars, name, length = match.groups()
    depth = -int(length) if length else stars.count("*")
    return Parameter(base, depth, const is not None, name, "const" in stars)


def fields(body: str) -> list[Parameter]:
    """The fields of a struct; ``const int64_t *a, *b`` declares two."""
    found = []
    for statement in filter(None, (line.strip() for line in body.split(";"))):
        first, *more = statement.split(",")
        leading = re.match(r"\s*((?:const )?\w+)", first)
        if leading is None:
            raise ValueError(f"a field that cannot be read: {statement!r}")
        found += [parameter(first), *(parameter(f"{leading[1]} {word}") for word in more)]
    return found
