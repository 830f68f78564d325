# SPDX-License-Identifier: BSD-3-Clause
"""The public interface of the Fortran module, from its sources, for the reference.

It parses hocket's own sources only, generated and written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

#: modules that hocket.F90 makes public, and the names of another one
PASSED_ON = re.compile(
    r"hocket_(generated_calls|array_task_calls|layout_plan_calls|blacs|layout_ownership|flows"
    r"|accesses|items|arrays_\w+)"
)
BESIDE = ("hocket_error_message", "hocket_error_name")
_PROCEDURE = re.compile(
    r"^ *(?:(pure|elemental) )?(subroutine|function) (\w+)\((.*?)\)(?: result\((\w+)\))?$"
    r"(.*?)^ *end \2",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Offer:
    """One public name: the comment above it, and its specific procedures."""

    words: str = ""
    kind: str = ""
    #: arguments -> for each, and for the result, its declarations
    forms: dict[tuple[str, ...], dict[str, list[str]]] = field(default_factory=dict)
    result: str = ""

    def text(self, name: str) -> str:
        """The interface in Fortran; of several kinds and ranks the first."""
        return "\n".join(self._form(name, arguments) for arguments in self.forms)

    def _form(self, name: str, arguments: tuple[str, ...]) -> str:
        given = f" result({self.result})" if self.result else ""
        lines = [f"{self.kind} {name}({', '.join(arguments)}){given}"]
        for named in (*arguments, *filter(None, [self.result])):
            declared = self.forms[arguments][named]
            others = [each.split(" ::")[0].split(", intent")[0] for each in declared[1:]]
            kinds = len({each.split("(")[0] for each in others}) > 1 or len(others) > 2
            more = "of other kinds and ranks, too" if kinds else f"or {' or '.join(others)}"
            lines.append(f"  {declared[0]}" + (f"  ! {more}" if others else ""))
        return "\n".join([*lines, f"end {self.kind}"])


def offers(sources: Iterable[str]) -> dict[str, Offer]:
    """Every public procedure of the module, by name."""
    found: dict[str, Offer] = {}
    for source in sources:
        text = re.sub(r" *&\n *", " ", source)
        module = re.search(r"^module (\w+)$", text, re.MULTILINE)
        if module is None or not (PASSED_ON.fullmatch(module[1]) or module[1] == "hocket_base"):
            continue
        listed = re.findall(r"^ *public :: (.+)$", text, re.MULTILINE)
        public = [name for line in listed for name in line.split(", ")]
        if module[1] == "hocket_base":
            public = [name for name in public if name in BESIDE]
        generic = _generics(text)
        for match in _PROCEDURE.finditer(text):
            for name in generic.get(match[3], [match[3]]):
                if name in public:
                    _add(found.setdefault(name, Offer()), match, _words(text, match.start()))
    return found


def _generics(text: str) -> dict[str, list[str]]:
    """Specific procedure -> its generic names."""
    found: dict[str, list[str]] = {}
    for name, body in re.findall(r"^ *interface (\w+)\n(.*?)end interface", text, re.M | re.S):
        for line in re.findall(r"module procedure (.+)", body):
            for each in line.split(", "):
                found.setdefault(each.strip(), []).append(name)
    return found


def _words(text: str, at: int) -> str:
    """The comment above a procedure."""
    lines: list[str] = []
    for line in reversed(text[:at].splitlines()):
        if not line.strip().startswith("!"):
            break
        lines.insert(0, line.strip().lstrip("! "))
    return " ".join(lines)


def _add(offer: Offer, match: re.Match[str], words: str) -> None:
    _, offer.kind, _, inside, result, body = match.groups()
    offer.words = offer.words or words
    offer.result = result or ""
    arguments = tuple(name for name in inside.replace(" ", "").split(",") if name)
    form = offer.forms.setdefault(arguments, {})
    for kind, names in re.findall(r"^ *([^!\n]+?) :: ([^!\n]+)", body, re.MULTILINE):
        for one in re.findall(r"\w+(?:\([^()]*\))?", names):
            name = re.match(r"\w+", one)
            if name is not None and name[0] in (*arguments, result):
                declared = form.setdefault(name[0], [])
                # The attribute target of a handle is internal to the module.
                attributes = kind.replace(", target", "") if kind.startswith("type(") else kind
                line = f"{attributes} :: {one}"
                if line not in declared:
                    declared.append(line)
