# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark on one page, the worst figure first: where this machine shows hocket behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .table import seconds

#: further options of benchmarks whose defaults take many minutes
SHORTER: dict[str, tuple[str, ...]] = {
    "linpack": ("--n", "1000,2000"),
    "permute": ("--threads", "1"),
    "port": tuple(f"--way={way}" for way in ("host", "tcp", "tls", "connect", "resize")),
    "redistribute": tuple(f"--size={side}" for side in (1, 256, 4096)),
}
#: benchmarks without peers, or that need an option
LEFT_OUT = {
    "plan": "it has no peer; hocket bench plan",
    "simulate": "simulated machines have their own clock; hocket bench simulate CURVE",
}


@dataclass(frozen=True)
class Line:
    """One of hocket's figures. The ratios are above 1 where hocket takes less time."""

    benchmark: str
    parameters: str
    name: str
    median: float
    peer: str | None
    beside_peer: float | None
    limit: str | None
    of_limit: float | None


def _spelled(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {'x'.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"
        for name, value in parameters.items()
    )


def lines(documents: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """hocket's figures in these reports, of those with a peer or a limit."""
    for document in documents:
        for table in document["tables"]:
            for figure in table["figures"]:
                ratios = figure.get("speedup"), figure.get("of_limit")
                if not figure["name"].startswith("hocket") or ratios == (None, None):
                    continue
                language = f" ({table['language']})" if "language" in table else ""
                yield Line(
                    document["benchmark"] + language,
                    _spelled(table["parameters"]),
                    figure["name"],
                    figure["median"],
                    table["baseline"],
                    ratios[0],
                    table["limit"],
                    ratios[1],
                )


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _table(found: Sequence[Line], ratio: str, other: str, title: str) -> list[str]:
    """Those that have the ratio, the smallest first."""
    rows = sorted(
        (line for line in found if getattr(line, ratio) is not None),
        key=lambda line: float(getattr(line, ratio)),
    )
    if not rows:
        return []
    head = [f"| ratio | benchmark | of hocket | takes | {title} |", "|---|---|---|---|---|"]
    return head + [
        f"| {_ratio(getattr(line, ratio))} | {line.benchmark}: {line.parameters} | {line.name} | "
        f"{seconds(line.median)} | {getattr(line, other)} |"
        for line in rows
    ]


def _command(document: Mapping[str, Any]) -> str:
    """The command of this report, without options that change no figure."""
    words = ["hocket", "bench", document["benchmark"]]
    rest = iter(document["arguments"])
    for word in rest:
        if word in ("--json", "--timeout"):
            next(rest)
        else:
            words.append(Path(word).name if "/" in word else word)
    return " ".join(words)


def page(documents: Sequence[Mapping[str, Any]], failed: Mapping[str, str]) -> str:
    """The page, in Markdown. `failed`: benchmarks that ended with an error, and the error."""
    found = list(lines(documents))
    about = documents[0]
    machine, mpi = about["machine"], about.get("mpi") or {}
    library = str(mpi.get("library", "no MPI")).split(",")[0]
    fastest: dict[tuple[str, str], float] = {}  # of hocket's figures in each table
    for line in found:
        if line.beside_peer is not None:
            table = line.benchmark, line.parameters
            fastest[table] = max(fastest.get(table, 0.0), line.beside_peer)
    behind = sum(line.beside_peer is not None and line.beside_peer < 1 for line in found)
    peers = sum(line.beside_peer is not None for line in found)
    tables_behind = sum(ratio < 1 for ratio in fastest.values())
    text = [
        f"# All benchmarks: {machine['cpu']}, {machine['cores_allowed']} cores",
        "",
        f"{about['date'][:10]}, {machine['system']}, {library}. Medians; contestants take turns "
        f"in one run. hocket is behind the best peer in {behind} of {peers} figures, and its "
        f"fastest way in {tables_behind} of {len(fastest)} tables.",
        "",
        "## Beside the best peer",
        "",
        "The ratio is the peer's time over hocket's: below 1, hocket is slower.",
        "",
        *_table(found, "beside_peer", "peer", "best peer"),
        "",
        "## Beside the limit",
        "",
        "The ratio is the limit's time over hocket's. The limit does the least work possible, such "
        "as a flat copy of the same bytes.",
        "",
        *_table(found, "of_limit", "limit", "limit"),
        "",
    ]
    text += ["## Commands", "", *(f"- `{_command(each)}`" for each in documents), ""]
    absent = {**LEFT_OUT, **failed}
    text += ["## Not here", "", *(f"- `{name}`: {why}" for name, why in sorted(absent.items())), ""]
    return "\n".join(text)
