# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were started separately: ports, and those who look on."""

from hocket.ports.observer import ObservedArray, Observer, observe

__all__ = ["ObservedArray", "Observer", "observe"]
