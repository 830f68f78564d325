# SPDX-License-Identifier: BSD-3-Clause
"""Which functions the public headers declare, read without a compiler.

Good for this project's headers (clang-formatted, no macros that make declarations), and
strict: what it cannot read raises ValueError, so that nothing is passed over in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|<=>|<<=|[<>=!+\-*/]=|\d[\w.']*|\S")
_CLASS_KEYS = ("class", "struct", "union")
_C_FUNCTION = re.compile(r"\b(hocket_\w+)\s*\(")


def bare(text: str) -> str:
    """The text without comments, literals' contents and preprocessor lines."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"'(?:\\.|[^'\\\n])'", "0", text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", " ", text, flags=re.MULTILINE)


def cpp_calls(header: Path) -> Counter[str]:
    """How many overloads of each function and public method a C++ header declares, by name
    (``Layout::parse``, ``plan::Part::boxes``), the namespace ``hocket`` left out. Constructors are
    named ``Layout::Layout``. Operators, destructors, what is deleted and what is private are not
    calls of ours."""
    found: Counter[str] = Counter()
    tokens = _TOKEN.findall(bare(header.read_text(encoding="utf-8")))
    end = _scope(tokens, 0, (), True, found)
    if end != len(tokens):
        raise ValueError(f"{header}: a brace closes what was never opened")
    return found


def c_calls(headers: list[Path]) -> list[str]:
    """The functions that the C headers declare, in order; ``static inline`` ones too."""
    found: list[str] = []
    for header in headers:
        text = bare(header.read_text(encoding="utf-8")).replace('extern "" {', "")
        while (flat := re.sub(r"\{[^{}]*\}", ";", text)) != text:
            text = flat
        for statement in text.split(";"):
            if "typedef" not in statement and "=" not in statement:
                found += _C_FUNCTION.findall(statement)[:1]
    return found


def _scope(
    tokens: list[str], at: int, inside: tuple[str, ...], public: bool, found: Counter[str]
) -> int:
    """Reads declarations up to the brace that closes this scope, or the end; where that is."""
    own = inside[-1] if inside else ""
    visible = public
    statement: list[str] = []
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        if depth == 0 and token == "}":
            return at
        if depth == 0 and token == ":" and statement in (["public"], ["private"], ["protected"]):
            visible = statement == ["public"]
            statement = []
        elif depth == 0 and token == ";":
            _record(statement, inside, own, visible, found)
            statement = []
        elif depth == 0 and token == "{":
            head = _without_template(statement)
            kind = head[0] if head else ""
            if kind in ("namespace", "extern"):
                names = tuple(word for word in head[1:] if word not in ("::", '"', "inline"))
                at = _closing(tokens, _scope(tokens, at + 1, inside + names, True, found))
                statement = []
            elif kind in _CLASS_KEYS and "(" not in head:
                inner: Counter[str] = Counter()
                scope = (*inside, _class_name(head))
                at = _closing(tokens, _scope(tokens, at + 1, scope, kind != "class", inner))
                if visible:
                    found.update(inner)
                statement = []
            else:
                is_function = "(" in _before_value(head) and kind != "enum"
                at = _skip(tokens, at)
                if is_function:
                    _record(statement, inside, own, visible, found)
                    statement = []
        else:
            statement.append(token)
        at += 1
    if statement:
        raise ValueError(f"a declaration without end: {' '.join(statement[:12])}")
    return at


def _closing(tokens: list[str], at: int) -> int:
    if at >= len(tokens):
        raise ValueError("a brace is never closed")
    return at


def _skip(tokens: list[str], at: int) -> int:
    """The brace that closes the one at `at`."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] == "{") - (tokens[place] == "}")
        if depth == 0:
            return place
    raise ValueError("a brace is never closed")


def _without_template(statement: list[str]) -> list[str]:
    """The declaration behind ``template <…>`` and ``[[…]]``."""
    rest = statement
    while rest and rest[0] in ("template", "["):
        opening, closing = ("<", ">") if rest[0] == "template" else ("[", "]")
        depth = 0
        for place in range(rest.index(opening), len(rest)):
            depth += (rest[place] == opening) - (rest[place] == closing)
            if depth == 0:
                break
        rest = rest[place + 1 :]
    return rest


def _class_name(head: list[str]) -> str:
    """``Layout`` of ``class Layout final : public Base``."""
    name: list[str] = []
    for word in _without_template(head[1:]):
        if word in (":", "final"):
            break
        name.append(word)
    return "".join(name)


def _before_value(head: list[str]) -> list[str]:
    """The declaration up to ``= value``, which may call something."""
    depth = 0
    for place, word in enumerate(head):
        depth += (word == "(") - (word == ")")
        if word == "=" and depth == 0:
            return head[:place]
    return head


#: Members that the compiler calls, as it does operators.
_OF_COROUTINES = {
    *("await_ready", "await_suspend", "await_resume", "await_transform"),
    *("initial_suspend", "final_suspend", "get_return_object"),
    *("return_value", "return_void", "unhandled_exception"),
}


def _record(
    statement: list[str], inside: tuple[str, ...], own: str, visible: bool, found: Counter[str]
) -> None:
    whole = _without_template(statement)
    head = _before_value(whole)
    if not visible or not head or head[0] in ("using", "typedef", "static_assert", "enum"):
        return
    if "operator" in head or "~" in head or whole[-2:] == ["=", "delete"]:
        return
    name = next(_names_before_parentheses(head), None)
    if name is None or name in _OF_COROUTINES:
        return
    if name == own and _is_copy(head, own):
        return
    scope = [word for word in inside if word != "hocket"]
    if head[0] == "friend":
        scope = scope[:-1]
    found["::".join([*scope, name])] += 1


def _names_before_parentheses(head: list[str]) -> Iterator[str]:
    """Names in front of a ``(`` that stands outside of template brackets."""
    angles = 0
    for place, word in enumerate(head):
        angles += (word == "<") - (word == ">")
        if word == "(" and angles == 0 and place > 0 and re.match(r"[A-Za-z_]", head[place - 1]):
            yield head[place - 1]


def _is_copy(head: list[str], own: str) -> bool:
    """``X(const X&)`` and ``X(X&&)``, which every language has in its own manner."""
    inner = head[head.index("(") + 1 :]
    words = [word for word in inner[: inner.index(")")] if word not in ("const", "&")]
    return bool(words) and words[0] == own and len(words) <= 2
