# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers [NAME] …`: tests the papers' claims here, each with a verdict on its shape."""

from __future__ import annotations

import argparse
import difflib
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hocket.bench.machine import environment
from hocket.cli.main import Parser, UsageError

from .judge import NOT_SHOWN, WORDS, Verdict
from .kept import Kept, recall
from .model import Bench, Claim, load, try_claim

_HELP = """\
Reruns the papers' experiments at a size that fits this machine, and prints the findings beside the
papers' statements, each with a verdict: holds, holds within a stated factor, direction only, not
shown here, contradicted. A verdict follows from the findings, the number of their samples and the
noise margin of the claim. The machines of the papers are gone, so that verdicts are about ratios
and counts. The figures are written, too.

  hocket papers                                all of them (some minutes)
  hocket papers --stored                       by stored reports; measure nothing
  hocket papers vacancy-tracking               one paper
  hocket papers double-standards.pack          one claim
"""


def main(words: list[str]) -> int:
    """Try the claims; 0 whatever the verdicts are."""
    parser = Parser(prog="hocket papers", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="papers, or paper.claim")
    parser.add_argument("--list", action="store_true", help="print the claims, try none")
    parser.add_argument(
        "--quick", action="store_true", help="short measurements; too few samples show nothing"
    )
    parser.add_argument(
        "--stored",
        action="store_true",
        help="judge by the reports in papers/reports.tar.xz of the sources; measure nothing",
    )
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
    folder = Path(options.keep)
    titles, claims = load()
    chosen = _choose(claims, options.names)
    bench = Kept() if options.stored else Bench(options.quick, folder, options.kernels or "")
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
        if not bench.measures and not verdict.findings:
            verdict = recall(claim) or verdict
        verdicts.append((claim, verdict))
        print(_wrap(f"  → {verdict.word}", "; ".join(filter(None, [verdict.ours, verdict.why]))))
    if verdicts:
        print(f"\n{len(verdicts)} claims: {summary(verdict.word for _, verdict in verdicts)}")
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


def summary(words: Iterable[str]) -> str:
    """How many claims have each verdict."""
    found = list(words)
    return ", ".join(f"{found.count(word)} {word}" for word in WORDS if word in found)


def _document(verdicts: list[tuple[Claim, Verdict]]) -> dict[str, Any]:
    return {
        **environment(None, None),
        "claims": [
            {
                "paper": claim.paper,
                "claim": claim.name,
                "place": claim.place,
                "text": claim.text,
                "if_false": claim.if_false,
                "expect": dict(claim.expect),
                "margin": claim.margin,
                "samples": claim.samples,
                "verdict": verdict.word,
                "ours": verdict.ours,
                "why": verdict.why,
                "source": verdict.source,
                "findings": [asdict(each) for each in verdict.findings],
            }
            for claim, verdict in verdicts
        ],
    }


def as_tables(document: Mapping[str, Any]) -> str:
    """The number of claims by verdict, and the verdicts of a run, two tables of Markdown for each
    paper: claims with a finding, and those without."""
    lines = [f"{len(document['claims'])} claims: " + summary(_words(document)) + "."]
    titles = load()[0]
    for paper in dict.fromkeys(each["paper"] for each in document["claims"]):
        own = [each for each in document["claims"] if each["paper"] == paper]
        lines += ["", f"## {titles[paper]}"]
        found = [each for each in own if each["ours"]]
        if found:
            lines += ["", "| claim | if it were false | verdict | here | from |"]
            lines += ["|---|---|---|---|---|"]
        for each in found:
            here = "; ".join(filter(None, [each["ours"], each["why"]]))
            cells = (_claim(each), each["if_false"], _verdict(each), here, each["source"])
            lines.append(_row(cells))
        missing = [each for each in own if not each["ours"]]
        if missing:
            lines += ["", f"{NOT_SHOWN.capitalize()}, because nothing is measured:", ""]
            lines += ["| claim | if it were false | reason |", "|---|---|---|"]
            lines += [_row((_claim(each), each["if_false"], each["why"])) for each in missing]
    return "\n".join(lines) + "\n"


def _words(document: Mapping[str, Any]) -> list[str]:
    return [each["verdict"] for each in document["claims"]]


def _claim(each: Mapping[str, Any]) -> str:
    return f"{each['text']} ({each['place']})"


def _verdict(each: Mapping[str, Any]) -> str:
    """The word, with the margin of noise."""
    word, margin = str(each["verdict"]), each["margin"]
    return f"{word} (margin {100 * margin:.0f} %)" if margin else word


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"
