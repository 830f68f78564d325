# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of one process's trace: the time of moving data, and its fraction hidden behind
computing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Spans = list[tuple[float, float]]  # in order, none touching the next; microseconds


def union(spans: Iterable[tuple[float, float]]) -> Spans:
    """The union of the times."""
    found: Spans = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def common(a: Spans, b: Spans) -> Spans:
    """The intersection of two unions."""
    found: Spans = []
    i = j = 0
    while i < len(a) and j < len(b):
        begin, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if begin < end:
            found.append((begin, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


def without(a: Spans, b: Spans) -> Spans:
    """Times in `a` only."""
    edges = [-float("inf"), *(edge for span in b for edge in span), float("inf")]
    return common(a, list(zip(edges[::2], edges[1::2])))


def seconds(spans: Spans) -> float:
    """Their total length."""
    return sum(end - begin for begin, end in spans) * 1e-6


def _steps_of_transfers(events: list[dict[str, Any]]) -> Spans:
    """While data moved: the last of a transfer's six steps, after both sides have begun."""
    open_at: dict[Any, float] = {}
    found = []
    for event in events:
        if event.get("name") != "move":
            continue
        track = (event.get("pid"), json.dumps(event.get("id2")))
        if event["ph"] == "b":
            open_at[track] = event["ts"]
        elif event["ph"] == "e" and track in open_at:
            found.append((open_at.pop(track), event["ts"]))
    return union(found)


def _spans(events: list[dict[str, Any]], name: str) -> Spans:
    return union(
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if str(event.get("name", "")).startswith(name) and "dur" in event
    )


def hiding(trace: Path) -> dict[str, float]:
    """Seconds in which data moved to and from a process, and in which it waited.

    `moving`: some message was under way after both sides had begun. `waiting`: the process waited,
    counting nested waits once; for a flow, also the time between its steps. `hidden`: the fraction
    of `moving` in which it did not wait; 1 if nothing moved. Communication that is not hidden
    counts as waiting, and so does a wait for a late process.
    """
    events = json.loads(trace.read_text())
    waits = _spans(events, "wait")
    if steps := _spans(events, "step "):
        waits = union([*waits, *without([(steps[0][0], steps[-1][1])], steps)])
    moving = _steps_of_transfers(events)
    exposed = seconds(common(moving, waits))
    total = seconds(moving)
    return {
        "moving": total,
        "waiting": seconds(waits),
        "hidden": 1.0 if total == 0 else 1 - exposed / total,
    }
