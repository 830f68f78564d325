# SPDX-License-Identifier: BSD-3-Clause
"""The report of `hocket demo`: figures, tables and explanations from the answers of its
processes."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np

import hocket as hk

FORMS = {
    "pipelined": "Figure 3, two tasks",
    "flow": "the same, as a flow",
    "data-parallel": "Figure 1, transpose",
}
#: the paper's Figure 4: step → the room that implements it
STEPS = {
    "inquiry": "layout/",
    "call": "bindings/python",
    "descriptor": "task/ over comm/",
    "schedule": "plan/",
    "pack": "transfer/ by kernel/",
    "move": "transfer/ over comm/",
}


def figures(answers: dict[str, list[dict[str, Any]]], warmup: int) -> dict[str, Any]:
    """Times and verdicts of all forms.

    An image is done when the last of its processes has it. The time of an image is the difference
    from the one before. The first `warmup` images of every batch are omitted, because they fill the
    pipeline and set up data structures for later images.
    """
    everyone = answers["rows"] + answers["cols"]
    checks = [check for answer in everyone for check in answer["checks"]]
    found: dict[str, Any] = {}
    for form in FORMS:
        batches_timed: list[list[float]] = []
        batches = [answer["times"][form] for answer in everyone]
        for parts in zip(*batches):
            # Only the last of the pipeline's two tasks completes images.
            done = np.max([part[1:] for part in parts if len(part) > 1], axis=0)
            batches_timed.append([float(t) for t in np.diff(done)[max(0, warmup - 1) :]])
        verdicts = [check for check in checks if check["form"] == form]
        found[form] = {
            "images": len(verdicts),
            "right": sum(check["right"] for check in verdicts),
            "wrong_frames": [check["frame"] for check in verdicts if not check["right"]],
            "worst": max((check["worst"] for check in verdicts), default=float("nan")),
            "timed": sum(map(len, batches_timed)),
            **_statistics([batch for batch in batches_timed if batch]),
        }
    return found


def _statistics(batches: list[list[float]]) -> dict[str, float]:
    """Statistics of the times of the images of each batch.

    Images per second are those of a whole batch, because images complete in bursts.
    """
    if not batches:
        return {}
    seconds = [one for batch in batches for one in batch]
    rates = [len(batch) / sum(batch) for batch in batches]
    return {
        "median_s": float(np.median(seconds)),
        "minimum_s": float(np.min(seconds)),
        "p99_s": float(np.percentile(seconds, 99)),
        "images_per_second": float(np.median(rates)),
        "images_per_second_best": float(np.max(rates)),
        "images_per_second_least": float(np.min(rates)),
    }


def plans(size: int, rows: int, cols: int) -> dict[str, Any]:
    """The plan of one image in each form."""
    shape, everyone = (size, size), rows + cols
    sender = hk.Layout(shape, "(BLOCK,*)", rows)
    receiver = hk.Layout(shape, "(*,BLOCK)", cols)
    all_ = hk.Layout(shape, "(BLOCK,*)", everyone)
    pipeline = hk.plan(sender, receiver, itemsize=16)
    return {
        "pipelined": pipeline,
        "flow": pipeline,
        "data-parallel": hk.plan(
            all_, all_, axes=(1, 0), itemsize=16, overlap=list(range(everyone))
        ),
    }


#: by task and step, seconds an image; None where no image was timed
Steps = dict[str, dict[str, Union[float, None]]]


def profile(answers: dict[str, list[dict[str, Any]]], warmup: int) -> Steps:
    """Seconds an image in each step, by task: for each image the process with the largest time,
    and of these the median over the timed images."""
    found: Steps = {}
    for task in ("rows", "cols"):
        found[task] = {}
        for step in STEPS:
            by_process = [
                np.concatenate(
                    [
                        np.diff([profile.get(step, 0.0) for profile in batch])[warmup:]
                        for batch in answer["profiles"]
                    ]
                )
                for answer in answers[task]
            ]
            images = np.max(by_process, axis=0)
            found[task][step] = float(np.median(images)) if len(images) else None
    return found


def table(results: dict[str, Any], made: dict[str, Any], rows: int, cols: int) -> list[str]:
    """Images a second and messages of all forms, as lines."""
    everyone = rows + cols
    messages = f"P²/4 = {everyone * everyone // 4}" if rows == cols else f"{rows}·{cols}"
    formulas = {
        "pipelined": messages,
        "flow": messages,
        "data-parallel": f"P(P−1) = {everyone * (everyone - 1)}",
    }
    lines = [f"{'':<36}{'images/s':>10}{'best':>9}{'least':>9}   messages an image"]
    for form, what in FORMS.items():
        one = results[form]
        label = f"{form} ({what})"
        count = f"{made[form].message_count}   (paper: {formulas[form]})"
        if "median_s" in one:
            lines.append(
                f"{label:<36}{one['images_per_second']:>10.1f}"
                f"{one['images_per_second_best']:>9.1f}{one['images_per_second_least']:>9.1f}"
                f"   {count}"
            )
        else:
            lines.append(f"{label:<36}{'too few images to time':>28}   {count}")
    if all("median_s" in one for one in results.values()):
        ratio = (
            results["pipelined"]["images_per_second"]
            / results["data-parallel"]["images_per_second"]
        )
        lines.append(f"pipelined / data-parallel: {ratio:.2f} (images of a batch by its time)")
        flow = results["flow"]["images_per_second"] / results["pipelined"]["images_per_second"]
        lines.append(f"flow / pipelined: {flow:.2f}")
    return lines


def profile_table(steps: Steps) -> list[str]:
    """The six steps of both sides of the pipeline, as lines."""
    head = "six steps of a transfer, ms an image" + "".join(f"{step:>11}" for step in STEPS)
    labels = {"rows": "task rows, which sends", "cols": "task cols, which receives"}
    return [
        head,
        *(
            f"{labels[task]:<36}" + "".join(_milliseconds(steps[task][step]) for step in STEPS)
            for task in labels
        ),
        "(medians; move holds the wait for the other task, as the requests are persistent)",
    ]


def _milliseconds(seconds: float | None) -> str:
    return f"{'untimed':>11}" if seconds is None else f"{1e3 * seconds:>11.3f}"


def in_one_run(plan: Any, side: str, rank: int) -> bool:
    """Whether the elements that a process exchanges with any one peer are contiguous in its
    memory."""
    layout, dimension, step = (plan.source, 1, 2) if side == "src" else (plan.destination, 3, 4)
    shape = layout.local_shape(rank)
    for _, boxes in plan.boxes(side, rank):
        if len(boxes) != 1:
            return False
        run = 1
        for loop in reversed(boxes[0][2]):
            stride = loop[step] * int(np.prod(shape[loop[dimension] + 1 :], dtype=np.int64))
            if stride != run:
                return False
            run *= loop[0]
    return True


def explain(made: dict[str, Any], rows: int, cols: int, facts: Any) -> list[str]:
    """For each step the room that implements it, and the method."""
    plan = made["pipelined"]
    moved = plan.elements_moved * 16
    # transfer/ copies once for messages of 32 KiB or more within a node.
    shortest = min(n for rank in range(rows) for _, n in plan.sends(rank)) * 16
    one_copy = shortest >= 32768 and not os.environ.get("HOCKET_NODES")
    packed = not all(in_one_run(plan, "src", rank) for rank in range(rows))
    unpacked = not all(in_one_run(plan, "dst", rank) for rank in range(cols))
    methods = {
        "inquiry": f"{plan.source} and {plan.destination} are values each process already knows",
        "call": "arrays from hk.empty, used where they lie; nothing is staged",
        "descriptor": "layout, dtype and tag cross once for the stream (send_init, recv_init); "
        "a disagreement would raise on both before data moves",
        "schedule": f"strategy {plan.strategy}: {plan.message_count} messages in {plan.rounds} "
        "rounds; each process computes its own part once, when the persistent request is made",
        "pack": "nothing is packed: both ends reach the other's memory"
        if one_copy
        else f"each of the {rows} senders has a strided box for each of the {cols} receivers: "
        "kernel/ copies it into a message"
        if packed
        else "what each receiver gets lies in one run and is sent from where it is",
        "move": f"{moved} bytes an image by one strided copy each (kernel/), "
        "from the senders' arrays into the receivers', by both together, in shared memory"
        if one_copy
        else f"{moved} bytes an image by non-blocking MPI messages, "
        + ("unpacked by kernel/" if unpacked else "received where they belong, not unpacked"),
    }
    lines = ["which room served which step of the pipeline, and how:"]
    for number, (step, room) in enumerate(STEPS.items(), 1):
        lines.append(f"  {number} {step:<11}{room:<22} {methods[step]}")
    lines.append(
        "  the data-parallel form goes through layout/, plan/, kernel/ and transfer/ likewise "
        f"(redistribute with axes=(1, 0)), {made['data-parallel'].message_count} messages an image"
    )
    if facts:
        lines.append(f"  here: {facts}")
    return lines
