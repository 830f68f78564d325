# SPDX-License-Identifier: BSD-3-Clause
"""One picture of all ranks: what each wrote with `HOCKET_TRACE`, in one file for Perfetto."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Union

from .errors import Error

#: in the folder of a run: what the ranks' files are called before their process ids
NAME = "trace"


def target(trace: Union[str, os.PathLike[str], None]) -> Optional[Path]:
    """The file that the picture goes to, made now, so that nothing runs in vain.

    Raises
    ------
    Error
        if it cannot be written.
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
    """Writes the events of all ranks into one file; returns how many there are.

    Each line of a rank's file is one event (Google's Trace Event Format, JSON array form). The
    last line of a rank that was ended by force may be cut, and is left out.
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
