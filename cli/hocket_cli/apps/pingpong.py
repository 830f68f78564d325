# SPDX-License-Identifier: BSD-3-Clause
"""An N×N array of 4-byte reals between two tasks of P processes each, from (BLOCK,*) to (*,BLOCK).

Figures 6 and 7 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task
Parallelism to HPF via the Message Passing Interface": the time of one way by N and P, of plain and
persistent sends, in the paper's six steps; and its model, P·t_s + (N²/P)·t_w, fitted to it.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hocket import processes
from hocket_cli.apps import common

STEPS = ("inquiry", "call", "descriptor", "schedule", "pack", "move")
FORMS = ("plain", "persistent")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    parser.add_argument("--n", default="16,64,256,1024", help="sides N of arrays, by commas")
    parser.add_argument("--per-task", default="1", help="processes P of each task, by commas (1)")
    parser.add_argument("--repeats", type=int, default=10, help="ways there and back a run (10)")


def run(options: argparse.Namespace) -> common.Result:
    """Every P in a start of its own; then the model."""
    common.at_least(options, repeats=1, runs=1)
    sides = common.wholes(options.n, "--n")
    rows: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    for per_task in common.wholes(options.per_task, "--per-task"):
        words = {"n": sides, "repeats": options.repeats, "runs": options.runs}
        with processes.run_folder() as folder:
            facts = common.start("pingpong", 2 * per_task, words, folder, options.timeout)
        rows += [{"per_task": per_task, **table} for table in facts.pop("tables")]
    wrong = int(sum(row["wrong"] for row in rows))
    facts["ranks"] = 2 * max(row["per_task"] for row in rows)
    facts["tables"] = [
        {**row, **{form: common.statistics(row[f"{form}_s"]) for form in FORMS}} for row in rows
    ]
    facts["model"] = {form: fit(facts["tables"], form) for form in FORMS}
    verdict = f"{wrong} elements are wrong" if wrong else "every element arrived where it belongs"
    return common.Result(facts, table(facts), wrong == 0, verdict)


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
    lines = [f"{'P':>3} {'N':>6}  {'plain':>9} {'persistent':>10}   steps of the plain send"]
    for row in facts["tables"]:
        steps = row["plain_steps_s"]
        shown = "  ".join(f"{step} {common.seconds(steps[step])}" for step in STEPS)
        plain, again = (common.seconds(row[form]["median_s"]) for form in FORMS)
        lines.append(f"{row['per_task']:>3} {row['n']:>6}  {plain:>9} {again:>10}   {shown}")
    for form in FORMS:
        one = facts["model"][form]
        lines.append(
            f"{form:<11} P·t_s + (N²/P)·t_w: t_s {common.seconds(one['t_s'])}, t_w "
            f"{one['t_w'] * 1e9:.3g} ns; off by {one['error']:.0%} (median)"
        )
    return lines
