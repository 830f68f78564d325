# SPDX-License-Identifier: BSD-3-Clause
"""The stubs of the extension modules, written by hand for their types, declare what the modules
have: nanobind writes its own stubs of them, and names, parameters and defaults are compared."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

stubgen = pytest.importorskip("nanobind.stubgen")

STUBS = Path(__file__).resolve().parents[2] / "bindings/python/hocket"
# Names that Python gives every class, or every module.
OWN = {"__init__", "__repr__", "__str__", "__hash__", "__eq__", "__int__", "__index__", "name"}


def parameters(function: ast.FunctionDef) -> str:
    """Names in order, "=" behind those that have a default."""
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    plain = len(names) - len(given.defaults) - len([d for d in given.kw_defaults if d])
    shown = [name + "=" * (at >= plain) for at, name in enumerate(names)]
    return ", ".join("?" if name.startswith("arg") else name for name in shown if name != "self")


def declared(text: str) -> dict[str, set[str]]:
    """Every class, method, property and function, with the parameters of each overload."""
    found: dict[str, set[str]] = {}

    def visit(body: list[ast.stmt], inside: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[inside + node.name] = set()
                visit(node.body, f"{inside}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                marks = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
                shown = "" if "property" in marks else parameters(node)
                found.setdefault(inside + node.name, set()).add(shown)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and inside:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                found.update({inside + name: {""} for name in names})

    visit(ast.parse(text).body, "")
    return {name: forms for name, forms in found.items() if name.split(".")[-1] not in OWN}


def fits(said: str, there: str) -> bool:
    """The same parameters, where the module names them."""
    pairs = list(zip(said.split(", "), there.split(", ")))
    same = all(b in (a, "?") for a, b in pairs)
    return same and said.count(",") == there.count(",")


@pytest.mark.parametrize("name", ["_pure", "_mpi"])
def test_a_stub_declares_what_the_module_has(name: str) -> None:
    module = importlib.import_module(f"hocket.{name}")
    writer = stubgen.StubGen(module)
    writer.put(module)
    there = declared(writer.get())
    said = declared((STUBS / f"{name}.pyi").read_text(encoding="utf-8"))
    assert len(there) > 50
    assert sorted(said.keys() ^ there.keys()) == []
    # Of overloads a stub has one form with a union of types.
    single = [each for each, forms in there.items() if len(forms) == 1]
    wrong = {each for each in single if not fits(*said[each], *there[each])}
    assert not wrong, {each: (said[each], there[each]) for each in wrong}
