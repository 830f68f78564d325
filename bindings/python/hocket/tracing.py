# SPDX-License-Identifier: BSD-3-Clause
"""Merges the traces of all ranks (`HOCKET_TRACE`) into one file for Perfetto."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Optional, Union

from .errors import Error

#: the prefix of the ranks' files in the folder of a run; their hosts and process ids follow
NAME = "trace"
#: no process has such an id (Linux, PID_MAX_LIMIT)
_FIRST_FREE = 1 << 22
_TIME = re.compile(r',"ts":(\d+\.\d+)')


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
    line of a rank that was killed may be incomplete; this function omits it. Processes of several
    hosts may have the same id: all but the first get others. Times of other hosts are moved to the
    clock of the first one, as exactly as the hosts agree on the time of day.
    """
    count = 0
    begins: dict[str, int] = {}  # when each host's clock began, as its first process says
    processes: set[int] = set()
    free = itertools.count(_FIRST_FREE)
    with path.open("w", encoding="utf-8") as out:
        out.write("[\n")
        for part in sorted(folder.glob(f"{NAME}.*.json")):
            lines = _events_of(part)
            clock = json.loads(next(lines, "{}"))
            if not clock:
                continue
            process = clock["pid"]
            number = process if process not in processes else next(free)
            processes.add(number)
            host = clock["args"]["host"]
            begin = begins.setdefault(host, clock["args"]["begin"])
            later = begin - next(iter(begins.values()))
            before, after = f'{{"pid":{process},', f'{{"pid":{number},'
            for line in lines:
                if number != process and line.startswith(before):
                    line = after + line[len(before) :]
                if later and (at := _TIME.search(line)):
                    moved = f"{float(at[1]) + later:.3f}"
                    line = line[: at.start(1)] + moved + line[at.end(1) :]
                out.write(("" if count == 0 else ",\n") + line)
                count += 1
        out.write("\n]\n")
    return count


def _events_of(part: Path) -> Iterator[str]:
    """The complete events of a rank's file, of which the first tells its clock."""
    with part.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith('{"') and line.endswith("},\n"):
                yield line[:-2]
