# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers [NAME] …`: tests the papers' claims here, each with a verdict on its shape."""

from __future__ import annotations

import argparse
import difflib
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hocket_bench.machine import environment
from hocket_cli.main import Parser, UsageError

from .model import FACTOR, HOLDS, Bench, Claim, Verdict, load, try_claim

_HELP = """\
Reruns the papers' experiments at a size that fits this machine, and prints what was found beside
what the papers state, each with a verdict: holds, holds with another factor, does not hold, cannot
be tested here. The machines of the papers are gone; verdicts are about shapes. The figures are
written, too.

  hocket papers                                all of them (some minutes)
  hocket papers vacancy-tracking               one paper
  hocket papers double-standards.messages      one claim
"""


def main(words: list[str]) -> int:
    """Try the claims; 0 whatever the verdicts are."""
    parser = Parser(prog="hocket papers", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="papers, or paper.claim")
    parser.add_argument("--list", action="store_true", help="print the claims, try none")
    parser.add_argument("--quick", action="store_true", help="short, noisier measurements")
    parser.add_argument(
        "--kernels",
        metavar="FILE",
        help="seconds of kernels for simulations, of an earlier report of `hocket bench simulate` "
        "(default: timed now)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the verdicts there")
    parser.add_argument("--table", metavar="FILE", help="write them there as tables of Markdown")
    parser.add_argument(
        "--keep",
        metavar="DIR",
        default="papers-output",
        help="where the figures and the JSON of each command that is run are kept (papers-output)",
    )
    options = parser.parse_args(words)
    for option in ("json", "table", "keep"):
        place = getattr(options, option)
        if place is not None and not Path(place).resolve().parent.is_dir():
            raise UsageError(f"--{option} {place}: there is no folder for it; make it first")
    if Path(options.keep).exists() and not Path(options.keep).is_dir():
        raise UsageError(f"--keep {options.keep}: that is a file; name a folder")
    if options.kernels is not None and not Path(options.kernels).is_file():
        raise UsageError(f"--kernels {options.kernels}: there is no such file")
    titles, claims = load()
    chosen = _choose(claims, options.names)
    bench = Bench(options.quick, Path(options.keep), options.kernels or "")
    verdicts: list[tuple[Claim, Verdict]] = []
    paper = ""
    for claim in chosen:
        if claim.paper != paper:
            paper = claim.paper
            print(("\n" if verdicts else "") + f"{paper} · {titles[paper]}")
        print()
        print(_wrap(f"{claim.name} ({claim.place})", claim.text))
        if options.list:
            continue
        verdict = try_claim(claim, bench)
        verdicts.append((claim, verdict))
        print(_wrap(f"  → {verdict.word}", "; ".join(filter(None, [verdict.ours, verdict.why]))))
    if verdicts:
        kept = sum(verdict.word in (HOLDS, FACTOR) for _, verdict in verdicts)
        print(f"\n{kept} of {len(verdicts)} claims hold in shape")
    if bench.ran:
        print(f"figures and reports: {options.keep}")
    document = _document(verdicts)
    for path, text in (
        (options.json, json.dumps(document, indent=2) + "\n"),
        (options.table, as_tables(document)),
    ):
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
            print(f"written: {path}")
    return 0


def _choose(claims: list[Claim], names: list[str]) -> list[Claim]:
    known = {claim.paper for claim in claims} | {f"{one.paper}.{one.name}" for one in claims}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            papers = ", ".join(dict.fromkeys(claim.paper for claim in claims))
            hint = f"did you mean '{near[0]}'?" if near else f"there are {papers}"
            raise UsageError(f"there is no paper or claim '{name}'; {hint}")
    return [
        claim
        for claim in claims
        if not names or claim.paper in names or f"{claim.paper}.{claim.name}" in names
    ]


def _wrap(head: str, text: str) -> str:
    return textwrap.fill(f"{head}: {text}", 100, subsequent_indent="    ")


def _document(verdicts: list[tuple[Claim, Verdict]]) -> dict[str, Any]:
    return {
        **environment(None, None),
        "claims": [
            {
                "paper": claim.paper,
                "claim": claim.name,
                "place": claim.place,
                "text": claim.text,
                "numbers": dict(claim.numbers),
                "verdict": verdict.word,
                "ours": verdict.ours,
                "why": verdict.why,
            }
            for claim, verdict in verdicts
        ],
    }


def as_tables(document: Mapping[str, Any]) -> str:
    """The verdicts of a run, a table of Markdown for each paper."""
    lines: list[str] = []
    paper = ""
    for each in document["claims"]:
        if each["paper"] != paper:
            paper = each["paper"]
            lines += [
                "",
                f"## {load()[0][paper]}",
                "",
                "| claim | verdict | here |",
                "|---|---|---|",
            ]
        here = "; ".join(filter(None, [each["ours"], each["why"]])).replace("|", "/")
        lines.append(f"| {each['text']} ({each['place']}) | {each['verdict']} | {here} |")
    return "\n".join(lines[1:]) + "\n"
