# SPDX-License-Identifier: BSD-3-Clause
"""Every public call says what it raises."""

from __future__ import annotations

import builtins
import inspect
import re

import pytest

import hocket as hk

#: What cannot go wrong, whatever it is given: facts about a value that is there.
QUIET = {
    *(f"Array.{name}" for name in ("local", "layout", "comm", "dtype", "core", "settle")),
    *("Array.room", "Array.remapped", "Flow.give_way"),
    *(f"Layout.{name}" for name in ("shape", "dist", "procs", "replicate", "size", "ndim")),
    *("Layout.num_elements", "Layout.draw"),
    *(f"Plan.{name}" for name in ("strategy", "axes", "rounds", "message_count")),
    *("Plan.elements_moved", "Plan.table", "Plan.explain", "Request.persistent", "Channel.name"),
    *(
        "Tasks.name",
        "Tasks.size",
        "Tasks.names",
        "Tasks.profile",
        "Request.persistent",
        "Channel.name",
    ),
    *(f"Flow.{name}" for name in ("workers", "agent", "steps", "cancel")),
    # Made by calls that say what they raise.
    *(
        "Array",
        "Channel",
        "Halo",
        "Halo.array",
        "Halo.edges",
        "Halo.local",
        "Halo.width",
        "HaloRequest",
        "Plan",
        "Request",
        "Status",
        "Tasks",
        "TeamRequest",
    ),
    *(f"Team.{name}" for name in ("process", "size", "mask", "shares_memory", "population")),
    *(f"Team.{name}" for name in ("enumerate", "select_first", "select_one")),
}


def members(thing: type) -> dict[str, object]:
    """A class's own and those of its bases in the package."""
    bases = [base for base in thing.__mro__ if base.__module__.startswith("hocket")]
    return {name: member for base in reversed(bases) for name, member in vars(base).items()}


def public() -> dict[str, object]:
    """Every public function, class, method and property, by name."""
    found: dict[str, object] = {}
    for name in hk.__all__:
        thing = getattr(hk, name)
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        found[name] = thing
        for own, member in members(thing).items() if inspect.isclass(thing) else ():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if not own.startswith("_") and inspect.isfunction(function):
                found[f"{name}.{own}"] = function
    return found


def raised(text: str) -> list[str]:
    """The errors that a "Raises" section names, in NumPy's style or Google's."""
    match = re.search(r"^Raises:?\n(?:-+\n)?((?:.+\n?)+)", text, re.MULTILINE)
    if match is None:
        return []
    lines = inspect.cleandoc(match.group(1)).splitlines()
    heads = [line.split(":")[0] for line in lines if line and not line.startswith(" ")]
    names = [name.strip() for head in heads for name in head.split(",")]
    return [name for name in names if re.fullmatch(r"[A-Z]\w*Error|Error", name)]


@pytest.mark.parametrize("name", sorted(public()))
def test_the_docstring_says_what_is_raised(name):
    text = inspect.getdoc(public()[name]) or ""
    assert text, "no docstring"
    if name in QUIET:
        return
    if re.search(r"^ *As `\w+`", text, re.MULTILINE):  # another call's docstring says it
        return
    names = raised(text)
    assert names, f"no Raises section that names errors:\n{text}"
    for each in names:
        assert hasattr(hk, each) or hasattr(builtins, each), f"there is no {each}"


def test_what_is_quiet_exists():
    assert set(public()) >= QUIET


def test_sections_are_read_in_both_styles():
    assert raised(
        "Does.\n\nRaises\n------\nError, LayoutError\n    for this.\nTypeError\n    no."
    ) == [
        "Error",
        "LayoutError",
        "TypeError",
    ]
    assert raised("Does.\n\nRaises:\n    Error: for this, or\n        that: no.\n") == ["Error"]
    assert raised("Does. Raises nothing.") == []
