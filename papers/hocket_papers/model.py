# SPDX-License-Identifier: BSD-3-Clause
"""A claim, its result, and the bench for trials."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOLDS = "holds"
FACTOR = "holds with another factor"
FAILS = "does not hold"
UNTESTED = "cannot be tested here"
#: seconds for one simulated start, so that every trial ends
_LIMIT = "600"
_CLAIMS = Path(__file__).with_name("claims.toml")


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper."""

    paper: str
    name: str
    place: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    test: str = ""
    why: str = ""  #: the reason why it is not tested


@dataclass(frozen=True)
class Verdict:
    """The result of testing a claim: its shape, because no machine of the papers is here."""

    word: str  #: HOLDS, FACTOR, FAILS or UNTESTED
    ours: str  #: the result, with its numbers
    why: str = ""


class NotHereError(Exception):
    """A trial needs a missing part; the text names it."""


class Bench:
    """Runs hocket's own commands, each once, and keeps their results; with a ``folder`` (made
    for the first of them), also as files there, with the figures of commands that draw."""

    def __init__(self, quick: bool = False, folder: Path | None = None, kernels: str = "") -> None:
        self.quick = quick
        self.cores = len(os.sched_getaffinity(0))
        self._folder = folder
        self._found: dict[tuple[str, ...], dict[str, Any]] = {}
        self._kernels = kernels  #: kernels' times for simulations; "": they measure them

    def bench(self, *words: str) -> dict[str, Any]:
        """The JSON document of `hocket bench …`."""
        effort = ["--seconds", "0.05", "--min-runs", "3"] if self.quick else ["--seconds", "1"]
        with tempfile.TemporaryDirectory() as spare:
            target = (self._folder or Path(spare)) / f"{_name(words)}.json"
            draws = {"simulate", "strategies", "--figure", "--table"} & set(words)
            if self._folder is not None and draws and importlib.util.find_spec("matplotlib"):
                effort += ["--plot", str(target.with_suffix(".png"))]
            return self._once(["bench", *words, *effort, "--json", str(target)], words, target)

    @property
    def ran(self) -> bool:
        """Whether any command was run."""
        return bool(self._found)

    def simulated(self, *words: str) -> dict[str, Any]:
        """The JSON document of `hocket bench simulate …`.

        Raises:
            NotHereError: some of it could not run.
        """
        kernels = ("--kernels", self._kernels) if self._kernels else ()  # timed once
        document = self.bench("simulate", *words, "--limit", _LIMIT, *kernels)
        self._kernels = self._kernels or ",".join(
            repr(each) for each in document.get("kernels", {}).values()
        )
        for table in document["tables"]:
            for figure in table["figures"]:
                if "not_run" in figure:
                    raise NotHereError(f"`hocket bench simulate {words[0]}`: {figure['not_run']}")
        return document

    def app(self, *words: str) -> dict[str, Any]:
        """The JSON of `hocket app …`."""
        return self._once(["app", *words, "--json"], ("app", *words), None)

    def _once(
        self, command: list[str], key: tuple[str, ...], target: Path | None
    ) -> dict[str, Any]:
        if key not in self._found:
            print(f"  hocket {' '.join(command)}", file=sys.stderr, flush=True)
            if self._folder is not None:
                self._folder.mkdir(exist_ok=True)
            line = [sys.executable, "-m", "hocket_cli", *command]
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode != 0:
                said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
                raise NotHereError(f"`hocket {' '.join(command)}` says: {said}")
            text = done.stdout.splitlines()[-1] if target is None else target.read_text("utf-8")
            self._found[key] = json.loads(text)
            if self._folder is not None and target is None:
                (self._folder / f"{_name(key)}.json").write_text(text + "\n", encoding="utf-8")
        return self._found[key]


def _name(words: Sequence[str]) -> str:
    # the following words are no question
    kept = itertools.takewhile(lambda word: word != "--limit", words)
    return "-".join(re.sub(r"[^\w.]+", "_", word.strip("-")) for word in kept)


def load(path: Path | None = None) -> tuple[dict[str, str], list[Claim]]:
    """The papers, each with its authors and title, and all their claims.

    Raises:
        ValueError: an entry that is no claim.
    """
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found = toml.loads((path or _CLAIMS).read_text(encoding="utf-8"))
    papers, claims = {}, []
    for paper, entry in found.items():
        papers[paper] = f"{entry['authors']}: {entry['title']}"
        for name, fields in entry["claims"].items():
            claim = Claim(paper, name, **fields)
            if bool(claim.test) == bool(claim.why):
                raise ValueError(f"{paper}.{name}: give either `test` or `why`")
            claims.append(claim)
    return papers, claims


def try_claim(claim: Claim, bench: Bench) -> Verdict:
    """Try one claim here."""
    if claim.why:
        return Verdict(UNTESTED, "", claim.why)
    name = f"hocket_papers.{claim.paper.replace('-', '_')}"
    test = getattr(importlib.import_module(name), claim.test)
    try:
        verdict: Verdict = test(claim.numbers, bench)
    except NotHereError as missing:
        return Verdict(UNTESTED, "", str(missing))
    return verdict


def percent(part: float) -> str:
    """0.123 as "12 %"."""
    return f"{100 * part:.0f} %"


def medians(table: Mapping[str, Any]) -> dict[str, float]:
    """Seconds by contestant of one table of a benchmark."""
    return {each["name"]: each["median"] for each in table["figures"] if each.get("median")}
