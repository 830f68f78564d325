# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks of examples/: their cells run in turn within one event loop, as Jupyter runs them,
and a test moves a slider."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "mpi"))

from test_ports import runtime  # noqa: F401

import hocket as hk

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def cells(notebook: str) -> list[str]:
    """The code of a notebook."""
    found = json.loads((EXAMPLES / notebook).read_text(encoding="utf-8"))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert all(cell.get("outputs", []) == [] for cell in found["cells"]), "clear its outputs"
    return ["".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "code"]


async def run(cell: str, names: dict[str, Any]) -> None:
    """One cell, which may await."""
    code = compile(cell, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        await result
    await asyncio.sleep(0)


async def until(condition: Any) -> None:
    """Lets the notebook's tasks go on until it is so."""
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit
        await asyncio.sleep(0.02)


async def play() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    *first, last = cells("steering.ipynb")
    try:
        for cell in first:
            await run(cell, names)
        picture, label, viscosity = names["picture"], names["label"], names["viscosity"]
        await until(lambda: bytes(picture.value[:4]) == b"\x89PNG" and "step" in label.value)
        before = bytes(picture.value)
        viscosity.value = 0.0625  # as a person moves the slider
        names["sources"].value = "9,11"
        with hk.observe("duct", timeout=30) as other:
            assert (other["viscosity"], other["sources"]) == (0.0625, "9,11")
            assert other["smoke"][9, 11] == 1.0
        await until(lambda: bytes(picture.value) != before)
        await run(last, names)
        assert names["solver"].returncode == 0
    finally:
        if "solver" in names and names["solver"].poll() is None:
            names["solver"].terminate()
            names["solver"].wait(30)


async def compute(names: dict[str, Any]) -> None:
    for cell in cells("computing.ipynb"):
        await run(cell, names)


def test_the_notebook_computes_the_same_bits_on_any_number_of_processes(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    asyncio.run(compute(names))
    assert list(names["sums"]) == [1, 2, 3] and len(set(names["sums"].values())) == 1
    start, _, end = names["pictures"].values()
    assert start.max() == 100 and 0 < end[32, 48] < 100 and 0 < end[32, 66] < end[32, 48]
    assert names["figure"].axes[2].images[0].get_array().tolist() == end.tolist()
    rows, columns = names["hk"].random(1), names["hk"].random(2)
    layout = names["hk"].Layout((names["N"],) * 2, "(BLOCK, *)", 1)
    both = rows.normal(layout).local + columns.normal(layout).local
    assert names["norm"] == pytest.approx((both**2).sum() ** 0.5, rel=1e-14)
    pyplot.close(names["figure"])


def test_the_notebook_draws_and_its_slider_steers(runtime, monkeypatch, tmp_path):  # noqa: F811
    pytest.importorskip("ipywidgets")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    asyncio.run(play())
