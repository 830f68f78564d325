# SPDX-License-Identifier: BSD-3-Clause
"""``hocket bench``: starts the processes, collects, prints and stores their measurements."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hocket.errors import Error

from . import native, overview, registry
from .beside import TURNS, Beside, Tables, joined, pooled
from .harness import UnavailableError
from .launch import start
from .machine import environment
from .options import all_options, effort, listing, native_effort, parse
from .record import answer, as_json, method
from .shaped_link import ShapedLink
from .table import render


def main(argv: Sequence[str] | None = None) -> int:
    """0: measured and right; 1: a contestant was wrong or a process failed; 2: bad arguments."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "--list"):
        print(listing())
        return 0 if arguments else 2
    if arguments[0] == "--all":
        return _all(arguments[1:])
    try:
        case, options = parse(arguments)
        target = None if options.json is None else _writable(options.json)
    except (ValueError, OSError) as error:
        print(f"hocket bench: {error}", file=sys.stderr)
        return 2
    try:
        document = _measure(arguments, case, options)
    except (OSError, ValueError, RuntimeError, Error) as error:
        print(f"hocket bench: {error}", file=sys.stderr)
        return 1
    if target is not None:
        target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        print(f"written: {target}")
    wrong = [
        f"{entry.get('name', entry.get('program'))}: {entry['error']}"
        for entry in [*(f for t in document["tables"] for f in t["figures"]), *document["native"]]
        if "error" in entry
    ]
    for text in wrong:
        print(f"hocket bench: {text}", file=sys.stderr)
    return 1 if wrong else 0


def _all(arguments: Sequence[str]) -> int:
    """Every benchmark, and the page of their figures. One that fails does not end the others."""
    try:
        options, words = all_options(arguments)
        target = _writable(options.page, "--page")
        folder = None if options.reports is None else Path(options.reports)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as error:
        print(f"hocket bench: {error}", file=sys.stderr)
        return 2
    documents, failed = [], {}
    for name in registry.names():
        if name in overview.LEFT_OUT:
            continue
        kept = None if folder is None else folder / f"{name}.json"
        if kept is not None and kept.exists():
            documents.append(json.loads(kept.read_text(encoding="utf-8")))
            continue
        if name not in options.only:
            failed[name] = f"not measured; hocket bench {name}"
            continue
        each = [name, *words, *overview.SHORTER.get(name, ())]
        try:
            documents.append(_measure(each, *parse(each)))
        except (OSError, ValueError, RuntimeError, Error) as error:
            print(f"hocket bench: {name}: {error}", file=sys.stderr)
            failed[name] = " ".join(str(error).split())
            continue
        if kept is not None:
            kept.write_text(json.dumps(documents[-1], indent=2) + "\n", encoding="utf-8")
    if documents:
        target.write_text(overview.page(documents, failed), encoding="utf-8")
        print(f"written: {target}")
    return 1 if failed.keys() & set(options.only) else 0


def _writable(path: str, option: str = "--json") -> Path:
    """Checked before the measurement, not after it."""
    target = Path(path)
    if target.is_dir() or not os.access(target.resolve().parent, os.W_OK):
        raise ValueError(f"{option} {path}: cannot be written; name a file in an existing folder")
    return target


def _measure(
    arguments: Sequence[str], case: registry.Case, options: argparse.Namespace
) -> dict[str, Any]:
    print(
        f"{arguments[0]}: {options.ranks or 1} process(es), warm-up {options.warmup} round(s), "
        f"then {options.min_runs} to {options.max_runs} rounds in {options.seconds:g} s",
        flush=True,
    )
    print(flush=True)
    report = _python_parts(arguments, case, options)
    mpi: dict[str, Any] = report["mpi"]
    document = {
        "benchmark": arguments[0],
        "arguments": list(arguments[1:]),
        "ranks": options.ranks,
        "threads": options.threads,
        "pinned": report["pinned"],
        **environment(mpi.get("library"), mpi.get("standard")),
        "method": method(effort(options)),
        "tables": report["tables"],
        "native": [],
    }
    for each in case.natives(options):
        _native_part(each, options, document)
    finish = getattr(case, "finish", None)  # most cases have none
    if finish is not None:
        finish(options, document)
    return document


def _python_parts(
    arguments: Sequence[str], case: registry.Case, options: argparse.Namespace
) -> dict[str, Any]:
    """One start, or several with other numbers of processes and threads: their tables joined."""
    passes = getattr(case, "passes", None)
    if passes is None:
        return _python_part(arguments, options)
    reports = []
    for each in passes(options):
        ranks, threads = each.ranks, each.threads
        chosen = argparse.Namespace(**{**vars(options), "ranks": ranks, "threads": threads})
        words = [*arguments, "--ranks", str(ranks), "--threads", str(threads), *each.words]
        reports.append(_python_part(words, chosen, each))
    tables = [table for report in reports for table in report["tables"]]
    return {**reports[0], "tables": tables}


def _python_part(
    arguments: Sequence[str], options: argparse.Namespace, each: registry.Pass | None = None
) -> dict[str, Any]:
    one = each or registry.Pass(options.ranks, options.threads)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hocket-bench-"))
        path = Path(folder) / "report.json"
        command = [sys.executable, "-m", "hocket.bench.worker", str(path), *arguments]
        link = stack.enter_context(ShapedLink(one.rate)) if one.rate else None
        status, _ = start(
            command, one.ranks, one.threads, options.timeout, link=link, more=one.more
        )
        if status != 0 or not path.exists():
            raise RuntimeError(
                f"a process ended with status {status}; what it printed above says why"
            )
        loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return loaded


def _native_part(
    each: registry.Native, options: argparse.Namespace, document: dict[str, Any]
) -> None:
    kept: list[dict[str, Any]] = document["native"]
    others: Sequence[Beside] = getattr(options, "beside", None) or ()
    try:
        program = native.program(each.program)
        programs = [native.program(each.program, [other.programs]) for other in others]
    except UnavailableError as reason:
        print(f"{each.program}: not run, {reason}\n", flush=True)
        kept.append({"program": each.program, "not_run": str(reason)})
        return
    pin = ["--pin"] if document["pinned"] else []
    share = options.seconds / (TURNS if others else 1)
    chosen = argparse.Namespace(**{**vars(options), "seconds": share})
    words = [*native_effort(chosen), *pin, *each.arguments]

    def run(path: Path, launcher: Path | None = None) -> tuple[dict[str, Any] | None, Tables]:
        command = [str(path), *words]
        rate = getattr(options, "link", None)
        with ShapedLink(rate) if rate else contextlib.nullcontext() as link:
            ended, output = start(
                command,
                options.ranks,
                options.threads,
                options.timeout,
                True,
                link=link,
                launcher=launcher,
            )
        if ended != 0:
            raise RuntimeError(f"{path} ended with status {ended}; what it printed says why")
        return native.read(output)

    try:
        about, tables = run(program)
        if others:
            sides: list[tuple[str, Path, Path | None]] = [(Path(sys.prefix).name, program, None)]
            for number, (other, path) in enumerate(zip(others, programs), 2):
                taken = other.name in [name for name, _, _ in sides]
                sides.append(
                    (f"{other.name} {number}" if taken else other.name, path, other.launcher)
                )
            turns: dict[str, list[Tables]] = {name: [] for name, _, _ in sides}
            turns[sides[0][0]].append(tables)
            for turn in range(TURNS):
                for name, path, launcher in sides[1:] if turn == 0 else sides:
                    turns[name].append(run(path, launcher)[1])
            tables = joined([(name, pooled(found)) for name, found in turns.items()])
    except (OSError, ValueError, RuntimeError) as error:
        # Earlier measurements remain valid.
        kept.append({"program": each.program, "error": str(error)})
        return
    kept.append({"arguments": list(each.arguments), **(about or {"program": each.program})})
    for question, figures in tables:
        result = answer(question, figures)
        print(f"C++, {render(result)}", end="\n\n", flush=True)
        document["tables"].append({"language": "C++", **as_json(result, options.keep_samples)})
