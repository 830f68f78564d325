# SPDX-License-Identifier: BSD-3-Clause
"""The same test once more, on pretended nodes."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from lockstep import ranks

NODES = "0,1,1"  # again and again


def also_across(*counts: int) -> Callable[[Any], Any]:
    """Defines ``<test>_across_nodes`` beside the test, at these counts."""

    def decorate(test: Any) -> Any:
        name = f"{test.__name__}_across_nodes"
        again = types.FunctionType(test.__code__, test.__globals__, name, test.__defaults__)
        again.__annotations__ = test.__annotations__
        again.__qualname__ = name
        again.__module__ = test.__module__
        setattr(sys.modules[test.__module__], name, ranks(*counts, nodes=NODES)(again))
        return test

    return decorate
