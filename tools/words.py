# SPDX-License-Identifier: BSD-3-Clause
"""Finds private words and sentences that begin with What, Who or Where in texts.

`python tools/words.py` checks CHECKED and ends with 1 if it finds any; `make check` runs it.
Folders and files as arguments replace CHECKED. It skips code in documents, and reads only comments
and docstrings of sources; in the rooms of MOVING, also the names.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: files and folders
CHECKED = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs", "examples"),
    *("include", "src", "bindings", "cli", "bench", "apps", "papers", "tests", "tools"),
)

#: a private word: the field's term. See "Words" in docs/architecture.md.
WORDS = {
    r"voices?|sayings?|talks?|hears?|heard": "flag: publish, observe; epoch; payload",
    r"mails?|mailed|mailroom|letters?|seats?": "message queue, inbox",
    r"lanes?": "channel: a rendezvous in shared memory",
    r"foreign|passages?": "cross-memory attach; user memory",
    r"strands?|combs?|woven|weav(?:e|es|ing)": "interleaved runs; block",
    r"wish(?:es)?": "requested options",
    r"contests?|contend(?:s|ing)?": "sender serialisation; compete",
    r"patience|restraint|naps?": "back-off, throttling, sleep",
    r"mend themselves|quarrels?|tells? of|is told|are told": "report; name the actor",
    r"broken off|far apart|nearby|near processes": "aborted; between nodes; within the node",
    r"lies over|laid out over|lie over": "is distributed over",
    r"likewise|the former|the latter": "repeat the noun",
    r"waits since|is waiting since": "has been waiting for",
}
#: (file, words): the dictionary, the grammar, other fields' terms, quoted papers
EXCEPTIONS = (
    ("README.md", "voices"),
    ("CONTRIBUTING.md", "voice"),
    ("src/kernel/exact_walk.hpp", "lanes?"),  # of SIMD registers
    ("src/kernel/exact_block.cpp", "lanes?"),
    ("src/kernel/short_runs.cpp", "lanes?"),
    ("src/kernel/tile_avx512.cpp", "lanes?"),
)

#: rooms whose names have none of NAMES, as a name or as a part of one
MOVING = ("shm", "comm", "transport", "transfer", "remap", "halo", "task")
NAMES = {
    "lane|mail|mails|letter|letters": "channel, text, message",
    "hear|hears|heard|hearing|tell|tells|telling|told|silent": "send, receive, report, log",
    "weave|wove|woven|weaving": "interleave",
    "place|places|placed": "address, index, position, view",
    "room|rooms": "memory, slots, bytes",
    "voice|voices|say|says|said|saying|talk|talks": "publish, report, state; outcome",
    "wish|wishes|nap|naps|patience|restraint": "requested options; back-off, throttling, sleep",
    "strand|strands|comb|combs|stretch": "interleaved runs; pieces",
    "crossing|crossings|passage|passages|foreign": "cross-memory attach; user memory",
    "near|nearby|far": "in the node; net",
    "quarrel|mend|parting|partings|seat|seats": "mismatch; departure; inbox",
}
#: (file, names): an array's capacity has the public name `room`; a layout's names; a public call
NAMED = (
    ("src/transfer/array.cpp", "room|room_|room_of|small_room|place|places|section_places"),
    ("src/transfer/convert.cpp", "room"),
    ("src/transfer/redistribute.cpp", "tell"),
    ("src/shm/memory.cpp", "room"),
    ("src/remap/remap.cpp", "room|place|remap_room"),
    ("src/remap/remap_plan.cpp", "room|place"),
    ("src/remap/remap_plan.hpp", "room"),
    ("src/halo/halo_plan.cpp", "place"),
    ("src/task/pieces.cpp", "section_places"),
)

_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_PART = re.compile("_(?:" + "|".join(f"({names})" for names in NAMES) + ")_")
_WORD = re.compile(r"\b(?:" + "|".join(f"({words})" for words in WORDS) + r")\b", re.IGNORECASE)
_START = re.compile(
    r"(?:[.!?:;]\s+|\n\n\s*|^\s*[-*#]+\s+)(What|Who|Where)\b|\|\s*(what|who|where)\b", re.M
)
_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]*>|\"[^\"\n]*\"")
_REMARK = re.compile(r"![^\n]*|'[^'\n]*'|\"[^\"\n]*\"")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def blank(text: str) -> str:
    """The same lines without any character."""
    return re.sub(r"[^\n]", " ", text)


def prose(path: Path) -> str:
    """The file with code blanked: lines keep their numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = _FENCE.sub(lambda found: blank(found[0]), text)
    elif path.suffix == ".py":
        text = python_prose(text)
    else:
        text = comments(text, _REMARK if path.suffix.lower() == ".f90" else _COMMENT)
    return _CODE.sub(lambda found: "`" * len(found[0]), text)


def comments(text: str, pattern: re.Pattern[str]) -> str:
    """The comments on their lines, without their delimiters."""
    shown, last = "", 0
    for found in pattern.finditer(text):
        comment = found[0] if found[0][0] in "/!" else blank(found[0])
        shown += blank(text[last : found.start()]) + re.sub(r"[/*!]", " ", comment)
        last = found.end()
    return shown


def python_prose(text: str) -> str:
    """Comments and docstrings, on their lines."""
    lines = [""] * (text.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = token.string.lstrip("#: ")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is None:
                continue
            for i, line in enumerate(ast.get_docstring(node, clean=False).splitlines()):
                example = line.lstrip().startswith((">>>", "..."))
                lines[node.body[0].lineno - 1 + i] = "" if example else line.strip()
    return "\n".join(lines)


def faults(path: Path) -> Iterator[str]:
    """One line of text for each fault."""
    text, name = prose(path), str(path.relative_to(ROOT))
    allowed = [re.compile(words, re.IGNORECASE) for file, words in EXCEPTIONS if file == name]
    for found in _WORD.finditer(text):
        if not any(each.fullmatch(found[0]) for each in allowed):
            better = list(WORDS.values())[(found.lastindex or 1) - 1]
            yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: '{found[0]}'; say: {better}"
    for found in _START.finditer(text):
        word = found.lastindex or 0
        line = text.count("\n", 0, found.start(word)) + 1
        yield f"{name}:{line}: a sentence begins with '{found[word]}'; name the actor first"


def names(path: Path) -> Iterator[str]:
    """One line of text for each private word in the names of a source."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    if not name.startswith(tuple(f"src/{room}/" for room in MOVING)):
        return
    allowed = [re.compile(names) for file, names in NAMED if file == name]
    code = _COMMENT.sub(lambda found: blank(found[0]), text)
    for found in _NAME.finditer(code):
        # HeardOf and heard_of have the same parts. A thing in place stays where it is.
        parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found[0]).lower().replace("in_place", "")
        part = _PART.search(f"_{parts}_")
        if part and not any(each.fullmatch(found[0]) for each in allowed):
            better = list(NAMES.values())[(part.lastindex or 1) - 1]
            line = code.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: the name '{found[0]}'; say: {better}"


def files(places: tuple[str, ...]) -> Iterator[Path]:
    """All documents and sources in folders."""
    for place in places:
        path = (ROOT / place).resolve()
        kinds = (".md", ".py", ".c", ".cpp", ".h", ".hpp", ".f90", ".F90")
        inside = (each for each in sorted(path.rglob("*")) if each.suffix in kinds)
        yield from [path] if path.is_file() else inside


def main() -> int:
    """The exit code."""
    found = [
        fault
        for path in files(tuple(sys.argv[1:]) or CHECKED)
        for fault in (*faults(path), *names(path))
    ]
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
