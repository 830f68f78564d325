# SPDX-License-Identifier: BSD-3-Clause
"""Merges the traces of all ranks (`HOCKET_TRACE`) into one file for Perfetto."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Union

from .errors import Error

#: the prefix of the ranks' files in the folder of a run; their process ids follow
NAME = "trace"


def target(trace: Union[str, os.PathLike[str], None]) -> Optional[Path]:
    """Creates the file now, so that a wrong path fails before the run.

    Raises
    ------
    Error
        if hocket cannot write it.
    """
    if trace is None:
        return None
    try:
        path = Path(trace)
        path.write_text("[]\n", encoding="utf-8")
    except (TypeError, OSError) as problem:
        raise Error(
            f"trace is {trace!r}, which cannot be written ({problem}); give the name of a file, "
            "as trace='run.json'"
        ) from None
    return path


def merge(folder: Path, path: Path) -> int:
    """Writes the events of all ranks into one file; returns their number.

    Each line of a rank's file is one event (Google's Trace Event Format, JSON array form). The last
    line of a rank that was killed may be incomplete; this function omits it.
    """
    count = 0
    with path.open("w", encoding="utf-8") as out:
        out.write("[\n")
        for part in sorted(folder.glob(f"{NAME}.*.json")):
            with part.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.startswith('{"') and line.endswith("},\n"):
                        out.write(("" if count == 0 else ",\n") + line[:-2])
                        count += 1
        out.write("\n]\n")
    return count
