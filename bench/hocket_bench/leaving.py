# SPDX-License-Identifier: BSD-3-Clause
"""Cleans up a measurement's set-up when a signal ends it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


@contextmanager
def leaving_on_sigterm() -> Iterator[None]:
    """Meanwhile SIGTERM raises SystemExit, so that clean-up code runs."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set it
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
