# SPDX-License-Identifier: BSD-3-Clause
"""The measured library, imported only if a contestant needs it."""

from __future__ import annotations

import importlib
from typing import Any

from .harness import UnavailableError


def hocket() -> Any:
    """The package `hocket`. Raises `UnavailableError` if its import fails."""
    try:
        return importlib.import_module("hocket")
    except ImportError as error:
        raise UnavailableError(f"hocket does not import: {error}") from error
