# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C functions of teams that exist for each type of value: headers, bindings and their
tests, from the one table below. `python3 tools/team_functions.py` brings the files up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100

# suffix -> C's type
TYPES = {
    "bool": "bool",
    **{f"{sign}int{n}": f"{sign}int{n}_t" for sign in ("", "u") for n in (8, 16, 32, 64)},
    "float32": "float",
    "float64": "double",
}
FOLDS = ("add", "mul", "min", "max", "and", "or")

# file -> its operations, and what it says of them
FILES = {
    "reduce": (
        [f"reduce_{fold}" for fold in FOLDS],
        "Reductions: the values of all folded. Integers wrap; bool adds as or and multiplies as "
        "and; NaN wins in min and max.",
    ),
    "scan": (
        [f"scan_{fold}" for fold in FOLDS],
        "Scans: the values of the processes up to this one, itself included, folded.",
    ),
    "values": (
        ["putget", "gather", "bcast_put", "bcast_get"],
        "Values from process to process. putget gives that of process `source`; gather, values[p] "
        "of the processes p of the team, among `places` (as many as the root team has); bcast, "
        "the bits of all that put, joined by or.",
    ),
    "ranks": (
        ["rank", "match_count", "match"],
        "Comparisons: how many have a lower value, or the same and a lower number; how many have "
        "the same, and who.",
    ),
}


def exists(operation: str, suffix: str) -> bool:
    """There is no bitwise fold of floating-point numbers."""
    return not (suffix.startswith("float") and operation.endswith(("_and", "_or")))


def functions(operations: list[str]) -> Iterator[tuple[str, str, str]]:
    """(operation, suffix, C's type) of each function."""
    for operation in operations:
        for suffix, kind in TYPES.items():
            if exists(operation, suffix):
                yield operation, suffix, kind


def arguments(operation: str, kind: str) -> list[str]:
    """The parameters of a function."""
    value = [] if operation == "bcast_get" else [f"{kind} value"]
    source = ["int source"] if operation == "putget" else []
    results = {
        "gather": ["int64_t places", f"{kind}* values"],
        "match": ["int64_t capacity", "uint64_t* words", "int64_t* count"],
        "rank": ["int* result"],
        "match_count": ["int* result"],
    }.get(operation, [f"{kind}* result"])
    return ["hocket_team* team", *value, *source, "int bits", "double timeout", *results]


def wrapped(head: str, words: list[str], end: str, indent: int = 0) -> list[str]:
    """``head(word, …)end`` as clang-format has it: what does not fit goes below the first word."""
    line = " " * indent + head + "("
    column = len(line)
    lines = []
    for place, word in enumerate(words):
        last = place == len(words) - 1
        piece = word + (")" + end if last else ",")
        if not line.endswith("(") and len(line) + 1 + len(piece) > WIDTH:
            lines.append(line)
            line = " " * column + piece
        else:
            line += piece if line.endswith("(") else " " + piece
    return [*lines, line]


def commented(text: str) -> list[str]:
    """A C comment."""
    lines, line = [], "/*"
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH - 3:
            lines.append(line)
            line = " *"
        line += f" {word}"
    return [*lines, line + " */"]


NOTE = "/* Written by tools/team_functions.py. */"


def header(name: str) -> list[str]:
    """include/hocket/c/team_<name>.h"""
    operations, what = FILES[name]
    guard = f"HOCKET_C_TEAM_{name.upper()}_H"
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */", NOTE]
    bits = " `bits`: only so many low bits of an unsigned value take part; 0: all."
    lines += [*commented(what + bits), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ['#include "hocket/hocket.h"', "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for operation, suffix, kind in functions(operations):
        lines += wrapped(f"int hocket_team_{operation}_{suffix}", arguments(operation, kind), ";")
    return [*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]


def body(operation: str, kind: str) -> list[str]:
    """What a function does."""
    op = operation.split("_p")[0].split("_g")[0] if operation.startswith("bcast") else operation
    lead = ["__func__", f"Op::{op}", "team"]
    if operation == "gather":
        words = ["__func__", "team", "value", "bits", "timeout", "places", "values"]
        return wrapped("return gather_values", words, ";", 4)
    if operation == "putget":
        words = ["__func__", "team", "value", "source", "bits", "timeout", "result"]
        return wrapped("return putget_value", words, ";", 4)
    if operation == "bcast_get":
        return wrapped(
            "return bcast_value", ["__func__", "team", "bits", "timeout", "result"], ";", 4
        )
    way = {"rank": "count_of", "match_count": "count_of", "match": "mask_of"}
    results = ["capacity", "words", "count"] if operation == "match" else ["result"]
    words = [*lead, f"&Team::{operation}<{kind}>", "value", "bits", "timeout", *results]
    return wrapped(f"return {way.get(operation, 'of_value')}", words, ";", 4)


def binding(name: str) -> list[str]:
    """bindings/c/team_<name>.cpp"""
    operations, _ = FILES[name]
    lines = ["// SPDX-License-Identifier: BSD-3-Clause", f"//{NOTE[2:-3]}"]
    lines += ['#include "team_arguments.hpp"', "", "using namespace hocket::c;"]
    lines += ["using hocket::Team;", "using hocket::team::Op;", ""]
    for operation, suffix, kind in functions(operations):
        lines += wrapped(f"int hocket_team_{operation}_{suffix}", arguments(operation, kind), " {")
        lines += [*body(operation, kind), "}"]
    return lines


def test(name: str) -> list[str]:
    """tests/capi/team_<name>.c: every function once, on the whole team, where process p has p + 1
    (bool: true)."""
    operations, _ = FILES[name]
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */", NOTE, '#include "check.h"', ""]
    lines += ["/* Process p has the value p + 1, or true. */"]
    lines += [f"void test_team_{name}(hocket_team* team, const team_numbers* expected) {{"]
    lines += ["    const int mine = rank + 1;"]
    if name == "ranks":
        lines += ["    uint64_t words[4];", "    int64_t count;", "    int found;"]
    for operation, suffix, kind in functions(operations):
        call = f"hocket_team_{operation}_{suffix}"
        truth = suffix == "bool"
        value = "mine > 0" if truth else f"({kind})mine"
        if name == "ranks":
            results = ["4", "words", "&count"] if operation == "match" else ["&found"]
            words = [f"{call}(team", value, "0", "60", *[*results[:-1], results[-1] + ")"]]
            lines += wrapped("OK", words, ";", 4)
            if operation == "match":
                bit = "words[0] == expected->everyone" if truth else "words[0] == 1ULL << rank"
                lines += [f"    CHECK(count == 1 && {bit});"]
            elif operation == "match_count":
                lines += [f"    CHECK(found == {'ranks' if truth else '1'});"]
            else:
                lines += ["    CHECK(found == rank);"]
            continue
        lines += ["    {", f"        {kind} found = 0;"]
        if operation == "gather":
            lines[-1] = f"        {kind} found[64] = {{0}};"
            words = [f"{call}(team", value, "0", "60", "64", "found)"]
            lines += wrapped("OK", words, ";", 8)
            last = "found[ranks - 1]" if truth else f"found[ranks - 1] == ({kind})ranks"
            own = "found[rank]" if truth else f"found[rank] == {value}"
            lines += [f"        CHECK({own} && {last});"]
        else:
            given = [] if operation == "bcast_get" else [value]
            source = ["ranks - 1"] if operation == "putget" else []
            words = [f"{call}(team", *given, *source, "0", "60", "&found)"]
            lines += wrapped("OK", words, ";", 8)
            if operation == "bcast_get":
                right = "0"
            elif operation == "putget":
                right = "1" if truth else f"({kind})ranks"
            elif truth:
                right = "1"
            else:
                field = "reduce_or" if operation == "bcast_put" else operation
                right = f"({kind})expected->{field}"
            if operation == "bcast_put" and suffix.startswith("float"):
                lines += ["        CHECK(ranks > 1 || found == 1);"]
            else:
                lines += [f"        CHECK(found == {right});"]
        lines += ["    }"]
    return [*lines, "}"]


def written() -> dict[Path, str]:
    """Each file's text."""
    out = {}
    for name in FILES:
        for path, lines in (
            (f"include/hocket/c/team_{name}.h", header(name)),
            (f"bindings/c/team_{name}.cpp", binding(name)),
            (f"tests/capi/team_{name}.c", test(name)),
        ):
            out[ROOT / path] = "\n".join(lines) + "\n"
    return out


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
