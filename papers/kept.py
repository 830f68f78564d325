# SPDX-License-Identifier: BSD-3-Clause
"""The stored reports of earlier runs, ``papers/reports.tar.xz`` of the sources."""

from __future__ import annotations

import json
import tarfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from .judge import Finding, Verdict
from .model import Bench, Claim, NotHereError, conclude

#: of the machine of the stored reports
_CORES = 2
_ARCHIVE = Path(__file__).with_name("reports.tar.xz")
#: the stored report that the command of a trial made, by the words of the command
_REPORTS = {
    ("fft", "sp1"): "fft-sp1",
    ("convolution", "sp1"): "convolution-sp1",
    ("multiblock", "sp2"): "multiblock-sp2",
    ("remap", "sp"): "remap-sp",
    ("linpack", "js21"): "linpack-bandwidth",
    ("team", "cluster"): "team-cluster",
}


@lru_cache(maxsize=1)
def _reports() -> dict[str, Any]:
    """All stored reports by name; empty without the sources."""
    if not _ARCHIVE.is_file():
        return {}
    with tarfile.open(_ARCHIVE) as packed:
        found = {}
        for each in packed.getmembers():
            file = packed.extractfile(each)
            if file is not None:
                found[Path(each.name).stem] = json.load(file)
        return found


def report(name: str) -> dict[str, Any] | None:
    """One stored report."""
    found: dict[str, Any] | None = _reports().get(name)
    return found


class Kept(Bench):
    """A bench that reads the stored reports, and measures nothing."""

    measures = False

    def __init__(self) -> None:
        super().__init__()
        self.cores = _CORES

    def bench(self, *words: str) -> dict[str, Any]:
        """Native measurements are stored as findings: see `recall`."""
        raise NotHereError("not measured yet")

    app = bench

    def start_programs(self) -> None:
        """No program starts."""
        raise NotHereError("not measured yet")

    def simulated(self, *words: str, kernels: str = "") -> dict[str, Any]:
        """The stored report of this curve on this platform."""
        name = _REPORTS.get((words[0], words[words.index("--platform") + 1]), "")
        found = None if kernels else report(name)
        if found is None:
            raise NotHereError("not measured yet")
        return found


def recall(claim: Claim) -> Verdict | None:
    """The verdict by the stored findings of a run, made anew; None without them."""
    for each in (report("verdicts") or {"claims": ()})["claims"]:
        if (each["paper"], each["claim"]) == (claim.paper, claim.name) and each["findings"]:
            return conclude(claim, [Finding(**one) for one in each["findings"]])
    return None
