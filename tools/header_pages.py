# SPDX-License-Identifier: BSD-3-Clause
"""The C++ reference of `make docs`, from the public headers: MkDocs calls `on_page_markdown`.

What a header says of a name stands beside it there, so the page shows the declarations with their
comments, without what is private, a heading for each. Of all pages' fences the words that are for
`tests/test_docs.py` alone are left out here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HEADERS = Path(__file__).resolve().parents[1] / "include" / "hocket"
PAGE = "cpp.md"
_NAMED = re.compile(
    r"^(?:template\b.*\n)?(class|struct|enum class|enum|using|concept) ([\w:]+)", re.MULTILINE
)
# Python-Markdown takes ```sh no-run for no fence at all, and what follows for text.
_FENCE = re.compile(r"^```(\w+) [^\n`]*$", re.MULTILINE)
# They lie outside docs/, and so are not on the site.
_OUTSIDE = re.compile(r"\[[^\]\n]*\]\((?:\.\./)+(examples/[^)\n]*)\)")
_FUNCTION = re.compile(r"(\w+|operator\W+)\(")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with plain fences, and names in place of links to examples; that of C++ with a
    section for each header behind what stands there."""
    markdown = _OUTSIDE.sub(r"`\1`", _FENCE.sub(r"```\1", markdown))
    if page.file.src_uri != PAGE:
        return markdown
    return markdown + "".join(section(path) for path in sorted(HEADERS.glob("*.hpp")))


def section(path: Path) -> str:
    """A header as Markdown."""
    intro, items = parts(path.read_text(encoding="utf-8"))
    shown = f"\n## hocket/{path.name}\n\n{intro}\n"
    for item in items:
        shown += f"\n### {title(item)}\n\n```cpp\n{item}\n```\n"
    return shown


def parts(text: str) -> tuple[str, list[str]]:
    """What the header says of itself, and its declarations: classes without what is private."""
    lines = text.splitlines()[1:]  # the licence
    intro = []
    while lines and lines[0].startswith("//"):
        intro.append(lines.pop(0).lstrip("/ "))
    items: list[list[str]] = [[]]
    hidden = False
    for line in lines:
        if re.match(r"#|namespace [\w:]+ \{|\}  // namespace|\}$|friend ", line) and not (
            line == "}" and depth(items[-1])
        ):
            continue
        if line.strip() == "private:":
            hidden = True
        elif hidden and line != "};":
            continue
        elif not line and items[-1] and not depth(items[-1]):
            items.append([])
        else:
            hidden = False
            items[-1].append(line)
    blocks = ["\n".join(item).strip("\n") for item in items]
    return " ".join(intro), [block for block in blocks if _declares(block)]


def depth(lines: list[str]) -> int:
    """Braces that are open after these lines."""
    code = "\n".join(line.split("//")[0] for line in lines)
    return code.count("{") - code.count("}")


def _declares(block: str) -> bool:
    """Whether it is more than a class's name for use in others."""
    code = [line.split("//")[0].rstrip() for line in block.splitlines()]
    return any(not re.fullmatch(r"(class|struct) \w+;", line) for line in code if line)


def title(item: str) -> str:
    """What is declared: "class Flow", "redistribute"."""
    code = "\n".join(line for line in item.splitlines() if not line.startswith("//"))
    named = _NAMED.match(code)
    if named:
        return f"{named.group(1)} {named.group(2)}"
    functions = dict.fromkeys(
        match.group(1)
        for line in code.splitlines()
        if not line.startswith((" ", "}")) and (match := _FUNCTION.search(line))
    )
    if functions:
        return ", ".join(functions)
    words = re.findall(r"\w+", code.split("=")[0].split(";")[0])
    return words[-1] if words else "more"
