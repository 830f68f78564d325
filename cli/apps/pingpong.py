# SPDX-License-Identifier: BSD-3-Clause
"""An N×N array of 4-byte reals between two tasks of P processes each, from (BLOCK,*) to (*,BLOCK).

Figures 6 and 7 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task
Parallelism to HPF via the Message Passing Interface": the time of one way by N and P, in the
paper's six steps; and its model, P·t_s + (N²/P)·t_w, fitted to it. Forms:

  plain       two tasks, sends and receives
  persistent  the same, prepared once
  data        one task: all 2P processes have both arrays, and redistribute to and fro
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from hocket.cli.apps import common

STEPS = ("inquiry", "call", "descriptor", "schedule", "pack", "move")
FORMS = ("plain", "persistent", "data")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    parser.add_argument("--n", default="16,64,256,1024", help="sides N of arrays, by commas")
    parser.add_argument("--per-task", default="1", help="processes P of each task, by commas (1)")
    parser.add_argument(
        "--procs", help="instead: processes of both tasks together, by commas; 1 has no tasks"
    )
    parser.add_argument("--forms", help=f"which of {','.join(FORMS)} (all that can be)")
    parser.add_argument("--repeats", type=int, default=10, help="ways there and back a run (10)")


def run(options: argparse.Namespace) -> common.Result:
    """Every P in its own start; then the model."""
    common.at_least(options, repeats=1, runs=1)
    sides = common.wholes(options.n, "--n")
    if options.procs is None:
        counts = [2 * each for each in common.wholes(options.per_task, "--per-task")]
    else:
        counts = common.wholes(options.procs, "--procs")
    forms = {count: forms_of(options, count) for count in counts}
    rows: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    for count in counts:
        words = {
            "n": sides,
            "repeats": options.repeats,
            "runs": options.runs,
            "forms": forms[count],
        }
        with common.run_folder() as folder:
            facts = common.start("pingpong", count, words, folder, options.timeout)
        rows += [{"procs": count, "per_task": count / 2, **table} for table in facts.pop("tables")]
    wrong = int(sum(row["wrong"] for row in rows))
    facts["ranks"] = max(counts)
    facts["tables"] = [
        {**row, **{form: common.statistics(row[f"{form}_s"]) for form in forms[row["procs"]]}}
        for row in rows
    ]
    facts["model"] = {
        form: fit([row for row in facts["tables"] if form in row], form)
        for form in FORMS
        if any(form in row for row in facts["tables"])
    }
    verdict = f"{wrong} elements are wrong" if wrong else "every element arrived where it belongs"
    return common.Result(facts, table(facts), wrong == 0, verdict)


def forms_of(options: argparse.Namespace, procs: int) -> list[str]:
    """The requested forms, else all that are possible with the processes.

    Raises:
        UsageError: an unknown form, or two tasks of one process.
    """
    return common.forms_of(options.forms, FORMS, procs, {"plain": 2, "persistent": 2})


def fit(rows: list[dict[str, Any]], form: str) -> dict[str, float]:
    """The paper's model of one way, P·t_s + (N²/P)·t_w, by least squares of relative errors.

    Returns:
        t_s and t_w in seconds (t_w a 4-byte word), and the median of |model/measured − 1|.
    """
    terms = np.array([[row["per_task"], row["n"] ** 2 / row["per_task"]] for row in rows], float)
    measured = np.array([row[form]["median_s"] for row in rows])
    found, *_ = np.linalg.lstsq(terms / measured[:, None], np.ones(len(rows)), rcond=None)
    error = np.abs(terms @ found / measured - 1)
    return {"t_s": float(found[0]), "t_w": float(found[1]), "error": float(np.median(error))}


def table(facts: dict[str, Any]) -> list[str]:
    """One way, for people."""
    lines = [f"{'P':>4} {'N':>6}" + "".join(f" {form:>10}" for form in FORMS) + "   steps"]
    for row in facts["tables"]:
        first = next(form for form in FORMS if form in row)
        steps = row[f"{first}_steps_s"]
        shown = "  ".join(f"{step} {common.seconds(steps[step])}" for step in STEPS)
        times = "".join(
            f" {common.seconds(row[form]['median_s']) if form in row else '–':>10}"
            for form in FORMS
        )
        lines.append(f"{row['per_task']:>4g} {row['n']:>6}{times}   {first}: {shown}")
    for form, one in facts["model"].items():
        lines.append(
            f"{form:<11} P·t_s + (N²/P)·t_w: t_s {common.seconds(one['t_s'])}, t_w "
            f"{one['t_w'] * 1e9:.3g} ns; off by {one['error']:.0%} (median)"
        )
    return lines
