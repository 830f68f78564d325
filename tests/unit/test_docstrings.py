# SPDX-License-Identifier: BSD-3-Clause
"""Every public name says what it raises and how it is used; `dir` and `help` show these names."""

from __future__ import annotations

import builtins
import doctest
import inspect
import pydoc
import re

import pytest

import docstrings
import hocket as hk

#: Names that cannot raise: properties of a valid object.
QUIET = {
    *(name for name in hk.__all__ if name.endswith(("Error", "EndOfStream"))),
    *(f"Array.{name}" for name in ("local", "layout", "comm", "dtype", "room")),
    *(f"Array.{name}" for name in ("shape", "ndim", "size", "itemsize", "nbytes")),
    *(f"Array.{name}" for name in ("T", "real", "imag")),
    "Flow.give_way",
    *(f"Layout.{name}" for name in ("shape", "dist", "procs", "replicate", "size", "ndim")),
    *("Layout.num_elements", "Layout.draw"),
    *(f"Plan.{name}" for name in ("strategy", "axes", "rounds", "message_count")),
    *(
        "Plan.elements_moved",
        "Plan.table",
        "Plan.explain",
        "Request.persistent",
        "ArrayRequest.persistent",
        "Channel.name",
    ),
    *(f"Tasks.{name}" for name in ("name", "size", "names", "profile")),
    *(f"Flow.{name}" for name in ("workers", "agent", "steps", "cancel")),
    # Made by calls that say what they raise.
    *(
        "Array",
        "ArrayRequest",
        "Channel",
        "Halo",
        "Halo.array",
        "Halo.edges",
        "Halo.local",
        "Halo.width",
        "HaloRequest",
        "Plan",
        "Checkpoint",
        "Random",
        "Request",
        "Status",
        "ObservedArray",
        "Parameter",
        "Port",
        "Store",
        "StoreRequest",
        "StoredArray",
        "Tasks",
        "TeamRequest",
        "Transfer",
    ),
    *(f"Team.{name}" for name in ("process", "size", "mask", "shares_memory", "population")),
    *("Channel.received", "Channel.sent"),
    *("Observer.close", "Observer.step", "Parameter.name", "Parameter.value"),
    *(f"Port.{name}" for name in ("address", "key", "name", "step")),
    *(f"Store.{name}" for name in ("attributes", "mode", "path", "unfinished")),
    *(f"StoredArray.{name}" for name in ("name", "shape", "ndim", "dtype", "chunks", "shards")),
    *(f"StoredArray.{name}" for name in ("attributes", "codec", "fill")),
    *(f"StoredArray.{name}" for name in ("dimension_names", "zarr_format")),
    *(f"Team.{name}" for name in ("enumerate", "select_first", "select_one")),
}

PUBLIC = docstrings.public()


def raised(text: str) -> list[str]:
    """The errors that a "Raises" section names."""
    match = re.search(r"^Raises\n-+\n((?:.+\n?)+)", text, re.MULTILINE)
    if match is None:
        return []
    heads = [line for line in match.group(1).splitlines() if not line.startswith(" ")]
    names = [name.strip() for head in heads for name in head.split(",")]
    return [name for name in names if re.fullmatch(r"[A-Z]\w*Error|Error", name)]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_the_docstring_says_what_is_raised(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text, "no docstring"
    if name in QUIET:
        return
    if re.search(
        r"(^ *As|Raises the errors of) `\w+`", text, re.MULTILINE
    ):  # another call's docstring says it
        return
    names = raised(text)
    assert names, f"no Raises section that names errors:\n{text}"
    for each in names:
        assert hasattr(hk, each) or hasattr(builtins, each), f"there is no {each}"


def test_what_is_quiet_exists():
    assert set(PUBLIC) >= QUIET


def test_sections_are_read():
    text = "Does.\n\nRaises\n------\nError, LayoutError\n    for this.\nTypeError\n    no."
    assert raised(text) == ["Error", "LayoutError", "TypeError"]
    assert raised("Does. Raises nothing.") == []


@pytest.mark.parametrize("name", sorted(docstrings.texts()))
def test_the_docstring_has_an_example_in_numpys_style(name):
    """tests/mpi/test_docstring_examples.py runs them all."""
    text = docstrings.texts()[name]
    section = re.search(r"^Examples\n-{8}\n(.+)\Z", text, re.MULTILINE | re.DOTALL)
    assert section, f"no Examples section at the end:\n{text}"
    assert doctest.DocTestParser().get_examples(section[1]), f"no >>> in it:\n{text}"
    other = re.search(r"^(Args|Returns|Raises|Example|Examples):$|^```", text, re.MULTILINE)
    assert other is None, f"{other and other[0]!r} is of another style than NumPy's"


def test_dir_shows_the_public_names_only():
    shown = dir(hk)
    assert [name for name in shown if not re.fullmatch(r"__\w+__", name)] == sorted(hk.__all__)
    assert {"__doc__", "__file__", "__version__"} <= set(shown)
    assert all(hasattr(hk, name) for name in shown)


def test_help_is_one_page_that_names_them_all():
    page = pydoc.plain(pydoc.render_doc(hk))
    assert page.count("\n") < 66 and max(map(len, page.splitlines())) <= 100
    absent = [name for name in hk.__all__ if not re.search(rf"`{name}`", page)]
    assert not absent, f"the package's docstring does not name {absent}"
    of_one = pydoc.plain(pydoc.render_doc(hk.Layout))
    assert "local_shape(self, rank" in of_one
