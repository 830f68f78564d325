# SPDX-License-Identifier: BSD-3-Clause
"""`hocket bench NAME …`: the harness and its cases are a package of their own, `hocket_bench`."""

from __future__ import annotations

import importlib

from hocket_cli.main import UsageError


def main(words: list[str]) -> int:
    """Hand the command line to the harness."""
    try:
        bench = importlib.import_module("hocket_bench")
    except ModuleNotFoundError as problem:
        if problem.name != "hocket_bench":
            raise
        raise UsageError(
            "the package hocket_bench is not installed; run `make bench` in a checkout of hocket"
        ) from problem
    return int(bench.main(words) or 0)
