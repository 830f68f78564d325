# SPDX-License-Identifier: BSD-3-Clause
"""The keys of what `--json` writes: programs outside this repository read them.

`tests/json_keys.txt` has a line a kind of document. A key that is taken out of it or renamed breaks
somebody's program, so it needs an entry in the changelog. New keys may come at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PINNED = {
    name: set(keys.split())
    for name, _, keys in (
        line.partition(":")
        for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    )
}


def require_keys(kind: str, document: Mapping[str, Any]) -> None:
    """Fails unless the document has every pinned key of its kind."""
    gone = sorted(PINNED[kind] - set(document))
    assert not gone, f"{kind}: no longer has {gone}; it has {sorted(document)}"
