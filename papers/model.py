# SPDX-License-Identifier: BSD-3-Clause
"""A claim, its trial, and the bench for trials."""

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

from hocket.bench.machine import environment

from .judge import FIELDS, HOLDS, NOT_SHOWN, Finding, Verdict, judge

#: seconds for one simulated start, so that every trial ends
_LIMIT = "600"
#: the fewest runs of a measured figure, more than a verdict takes
_RUNS = "9"
_CLAIMS = Path(__file__).with_name("claims.toml")
COUNTED = "counted, on any machine"


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, with one number at most."""

    paper: str
    name: str
    place: str
    text: str
    if_false: str  #: the result that a trial would have if the statement were false
    test: str = ""  #: the function of the trial
    why: str = ""  #: the reason why there is no trial
    expect: Mapping[str, Any] = field(default_factory=dict)  #: see `judge`
    margin: float = 0.0  #: relative noise of a finding beside that of its samples
    samples: int = 7  #: the fewest of a measured finding
    cores: int = 1  #: the fewest with which a trial can have another result
    numbers: Mapping[str, Any] = field(default_factory=dict)  #: for the trial
    no_trial: str = ""  #: the reason why the trial could not have had another result
    because: str = ""  #: the known reason of a result that differs from the paper's


class NotHereError(Exception):
    """A trial needs a missing part; the text names it."""


class Bench:
    """Runs hocket's own commands, each once, and keeps their results; with a ``folder`` (made
    for the first of them), also as files there, with the figures of commands that draw."""

    measures = True  #: false for a bench that reads reports and starts nothing

    def __init__(self, quick: bool = False, folder: Path | None = None, kernels: str = "") -> None:
        self.quick = quick
        self.cores = len(os.sched_getaffinity(0))
        self._folder = folder
        self._found: dict[tuple[str, ...], dict[str, Any]] = {}
        self._kernels = kernels  #: kernels' times for simulations; "": they measure them

    def bench(self, *words: str) -> dict[str, Any]:
        """The JSON document of `hocket bench …`.

        Raises:
            NotHereError: it fails, or its compiled part is missing.
        """
        effort = ["--seconds", "0.05", "--min-runs", "3"] if self.quick else ["--seconds", "1"]
        if not self.quick and "simulate" not in words and "simulated" not in words:
            effort += ["--min-runs", _RUNS]
        with tempfile.TemporaryDirectory() as spare:
            target = (self._folder or Path(spare)) / f"{_name(words)}.json"
            draws = {"simulate", "strategies", "--figure", "--table"} & set(words)
            if self._folder is not None and draws and importlib.util.find_spec("matplotlib"):
                effort += ["--plot", str(target.with_suffix(".png"))]
            found = self._once(["bench", *words, *effort, "--json", str(target)], words, target)
        for program in found.get("native") or ():
            if "not_run" in program:
                raise NotHereError(f"`hocket bench {words[0]}`: {program['not_run']}")
        return found

    @property
    def here(self) -> str:
        """The machine and the date, for findings of programs of a trial's own."""
        return source(environment(None, None))

    def start_programs(self) -> None:
        """Called before a trial measures with programs of its own."""

    @property
    def ran(self) -> bool:
        """Whether any command was run."""
        return bool(self._found)

    def simulated(self, *words: str, kernels: str = "") -> dict[str, Any]:
        """The JSON document of `hocket bench simulate …`.

        Args:
            kernels: seconds of kernels for this command alone, with commas.

        Raises:
            NotHereError: some of it could not run.
        """
        own = ("--kernels", kernels) if kernels else ()
        common = ("--kernels", self._kernels) if self._kernels and not kernels else ()
        document = self.bench("simulate", *words, *own, "--limit", _LIMIT, *common)
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
        effort = () if self.quick else ("--runs", _RUNS)
        return self._once(["app", *words, *effort, "--json"], ("app", *words), None)

    def _once(
        self, command: list[str], key: tuple[str, ...], target: Path | None
    ) -> dict[str, Any]:
        if key not in self._found:
            print(f"  hocket {' '.join(command)}", file=sys.stderr, flush=True)
            if self._folder is not None:
                self._folder.mkdir(exist_ok=True)
            line = [sys.executable, "-m", "hocket", *command]
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
            if not fields.get("if_false"):
                raise ValueError(f"{paper}.{name}: write `if_false`, the result of a false claim")
            claim = Claim(paper, name, **fields)
            if bool(claim.test) == bool(claim.why):
                raise ValueError(f"{paper}.{name}: give either `test` or `why`")
            if claim.test and not {"is", "least", "most"} & set(claim.expect):
                raise ValueError(f"{paper}.{name}: `expect` needs `is`, `least` or `most`")
            unknown = sorted(set(claim.expect) - set(FIELDS))
            if unknown:
                raise ValueError(f"{paper}.{name}: `expect` has no field {', '.join(unknown)}")
            claims.append(claim)
    return papers, claims


def try_claim(claim: Claim, bench: Bench) -> Verdict:
    """Try one claim here. The verdict follows from the trial's findings alone."""
    if claim.why:
        return Verdict(NOT_SHOWN, claim.why)
    if bench.measures and bench.cores < claim.cores:
        return Verdict(NOT_SHOWN, f"it takes {claim.cores} cores, and there are {bench.cores}")
    name = f"hocket.papers.{claim.paper.replace('-', '_')}"
    test = getattr(importlib.import_module(name), claim.test)
    try:
        findings: list[Finding] = test(claim.numbers, bench)
    except NotHereError as missing:
        more = f"; it takes {claim.cores} cores" if claim.cores > bench.cores else ""
        return Verdict(NOT_SHOWN, str(missing) + more)
    return conclude(claim, findings)


def conclude(claim: Claim, findings: list[Finding]) -> Verdict:
    """The verdict that follows from the findings of a trial, new or stored."""
    if claim.no_trial:
        return Verdict(NOT_SHOWN, f"no trial: {claim.no_trial}", findings)
    verdict = judge(findings, claim.expect, claim.margin, claim.samples)
    if claim.because and verdict.word not in (HOLDS, NOT_SHOWN):
        return Verdict(verdict.word, f"{verdict.why}; {claim.because}", findings)
    return verdict


def source(document: Mapping[str, Any]) -> str:
    """The machine and the date of a report."""
    date, machine = str(document.get("date", ""))[:10], document.get("machine", {})
    at = (
        f"{machine.get('cores_allowed', '?')} cores of {machine.get('cpu', 'an unknown processor')}"
    )
    kind = "simulated on " if document.get("benchmark") == "simulate" else ""
    return f"{kind}{at}, {date}"


def figures(table: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By contestant: the figures of one table of a benchmark that have a median."""
    return {each["name"]: each for each in table["figures"] if each.get("median")}


def medians(table: Mapping[str, Any]) -> dict[str, float]:
    """Seconds by contestant of one table of a benchmark."""
    return {name: float(each["median"]) for name, each in figures(table).items()}
