# SPDX-License-Identifier: BSD-3-Clause
"""The references of C++, C and Fortran that `make docs` writes: MkDocs calls `on_page_markdown`.

The pages show the declarations of headers with their comments, without private parts, a heading for
each. Fortran's page has C's comments above the interfaces of the module. The pages omit the words
of fences that are for `tests/test_docs.py` alone.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "hocket"
FORTRAN = ROOT / "bindings" / "fortran"
_NAMED = re.compile(
    r"^(?:template\b.*\n)?(?:typedef )?(class|struct|enum class|enum|using|concept) ([\w:]+)",
    re.MULTILINE,
)
# Python-Markdown does not recognise ```sh no-run as a fence, and takes its contents for text.
_FENCE = re.compile(r"^```(\w+) [^\n`]*$", re.MULTILINE)
# These are outside of docs/, and therefore not on the site.
_OUTSIDE = re.compile(r"\[[^\]\n]*\]\((?:\.\./)+(examples/[^)\n]*)\)")
_FUNCTION = re.compile(r"(\w+|operator\W+)\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NO_DECLARATION = re.compile(
    r'#(?!define (?!\w+_H$))|namespace [\w:]+ \{|\}  // namespace|\}$|friend |extern "C"'
)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with plain fences, and names in place of links to examples; for a language's
    page, followed by a section for each header."""
    markdown = _OUTSIDE.sub(r"`\1`", _FENCE.sub(r"```\1", markdown))
    write = {"cpp.md": cpp, "c.md": c, "fortran.md": fortran}.get(page.file.src_uri)
    return markdown if write is None else markdown + "".join(write())


def cpp() -> Iterator[str]:
    """C++'s sections."""
    for path in sorted(HEADERS.glob("*.hpp")):
        yield section(path, "cpp")


def c() -> Iterator[str]:
    """C's."""
    for path in c_headers():
        yield section(path, "c")


def c_headers() -> list[Path]:
    """In the order in which they include each other."""
    return [HEADERS / "version.h", HEADERS / "hocket.h", *sorted((HEADERS / "c").glob("*.h"))]


def section(path: Path, language: str) -> str:
    """A header as Markdown."""
    intro, items = parts(path.read_text(encoding="utf-8"))
    shown = f"\n## {path.relative_to(HEADERS.parent)}\n\n{intro}\n"
    for item in items:
        shown += f"\n### {title(item)}\n\n```{language}\n{item}\n```\n"
    return shown


def fortran() -> Iterator[str]:
    """Fortran's: a section for each C header whose functions the module has, the procedures that
    only Fortran has, and the types."""
    interfaces = _of_generator("interfaces")
    with tempfile.TemporaryDirectory() as folder:
        generate = [sys.executable, "-B", str(FORTRAN / "generate.py"), str(HEADERS), folder]
        subprocess.run(generate, check=True)
        paths = [*Path(folder).glob("*.F90"), *FORTRAN.glob("*.F90")]
        # The page shows the first kind.
        paths.sort(key=lambda path: ("real" not in path.name, path.name))
        left = interfaces.offers(path.read_text(encoding="utf-8") for path in paths)
        types = (Path(folder) / "hocket_types.F90").read_text(encoding="utf-8")
    for path in c_headers():
        intro, items = parts(path.read_text(encoding="utf-8"))
        shown = ""
        for item in items:
            names = [name for name in said_in_fortran(item) if name in left]
            if names:
                shown += _interfaces({name: left.pop(name) for name in names}, _words(_top(item)))
        if shown:
            of_c = path.name == "hocket.h"
            yield f"\n## {path.relative_to(HEADERS.parent)}\n\n{'' if of_c else intro}\n{shown}"
    own = "".join(_interfaces({name: offer}, "") for name, offer in left.items())
    yield f"\n## In Fortran only\n{own}"
    body = re.search(r"^  private :: [^\n]*\n(.*?)^end module", types, re.MULTILINE | re.DOTALL)
    assert body is not None
    yield f"\n## Types and constants\n\n```fortran\n{body[1]}```\n"


def said_in_fortran(item: str) -> dict[str, None]:
    """The names of a C declaration's functions in the Fortran module."""
    names_of = _of_generator("manners").names_of
    named = (name.removesuffix("_fortran") for name in _functions(_bare(item)))
    return dict.fromkeys(fortran for name in named for fortran in names_of(name))


def _of_generator(module: str) -> Any:
    """A module of the generator of Fortran's."""
    if str(FORTRAN) not in sys.path:
        sys.path.append(str(FORTRAN))
    return importlib.import_module(module)


def _interfaces(offers: dict[str, Any], words: str) -> str:
    """A heading, the comments of these procedures, Fortran's own first, and their interfaces."""
    words = " ".join(offer.words for offer in offers.values() if offer.words) or words
    code = "\n\n".join(offer.text(name) for name, offer in offers.items())
    said = f"{words}\n\n" if words else ""
    return f"\n### {', '.join(offers)}\n\n{said}```fortran\n{code}\n```\n"


def _words(item: str) -> str:
    """The comments of a declaration as text, in their paragraphs."""
    lines = "\n".join(_COMMENT.findall(item)).splitlines()
    plain = "\n".join(line.strip().lstrip("/* ").removesuffix("*/").strip() for line in lines)
    return "\n\n".join(" ".join(part.split("\n")) for part in re.split(r"\n{2,}", plain)).strip()


def _top(text: str) -> str:
    """The comments at its beginning."""
    found = re.match(r"(?:(?://[^\n]*|/\*.*?\*/)\n)*", text, re.DOTALL)
    return found[0] if found else ""


def _bare(text: str) -> str:
    return _COMMENT.sub("", text)


def parts(text: str) -> tuple[str, list[str]]:
    """The header's introduction, and its declarations: classes without their private parts."""
    rest = text.split("\n", 1)[1]  # the licence
    intro = _top(rest)
    items: list[list[str]] = [[]]
    hidden = False
    for line in rest[len(intro) :].splitlines():
        open_ = depth(items[-1])
        if _NO_DECLARATION.match(line) and not (line == "}" and open_):
            continue
        if line.strip() == "private:":
            hidden = True
        elif hidden and line != "};":
            continue
        elif not line and items[-1] and not open_:
            items.append([])
        else:
            hidden = False
            # In C a comment precedes its declaration.
            if line.startswith("/*") and not open_ and _bare("\n".join(items[-1])).strip():
                items.append([])
            items[-1].append(line)
    blocks = ["\n".join(item).strip("\n") for item in items]
    return _words(intro), [block for block in blocks if _declares(block)]


def depth(lines: list[str]) -> int:
    """Braces that are open after these lines."""
    code = _bare("\n".join(lines))
    return code.count("{") - code.count("}")


def _declares(block: str) -> bool:
    """Whether it is more than a forward declaration of a class."""
    code = [line.rstrip() for line in _bare(block).splitlines()]
    return any(not re.fullmatch(r"(class|struct) \w+;", line) for line in code if line)


def _functions(code: str) -> dict[str, None]:
    """The functions that are declared at the left edge, in order."""
    return dict.fromkeys(
        match.group(1)
        for line in code.splitlines()
        if not line.startswith((" ", "}", "#")) and (match := _FUNCTION.search(line))
    )


def title(item: str) -> str:
    """The title of a declaration: "class Flow", "redistribute"."""
    code = _bare(item).strip("\n")
    handles = re.findall(r"^typedef struct (\w+) \1;", code, re.MULTILINE)
    named = _NAMED.match(code)
    types = [f"{named.group(1)} {named.group(2)}"] if named else []
    if named and named.group(1) in ("concept", "using"):
        return types[0]
    functions = dict.fromkeys(_functions(code))
    defined = re.findall(r"^#define (\w+)", code, re.MULTILINE)
    names = [*(handles or types), *functions, *defined]
    if names:
        return ", ".join(names)
    words = re.findall(r"\w+", code.split("=")[0].split(";")[0])
    return words[-1] if words else "more"
