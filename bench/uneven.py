# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions with unequal blocks, for any extent, as explicit lists of owners.

``GEN_BLOCK`` gives process r a share of r + 1, ``BALANCED`` is `numpy.array_split`'s rule, and
``INDIRECT`` assigns indices at random, with a fixed seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
FORMATS = ("GEN_BLOCK", "BALANCED", "INDIRECT")
_MOST = 1 << 20  # owners that a text can list


class Uneven:
    """One dimension with a list of owners; the methods are those of `formats.Spread`."""

    def __init__(self, extent: int, form: str, parts: int) -> None:
        if form == "INDIRECT" and extent > _MOST:
            raise ValueError(f"INDIRECT of {extent} indices: its text lists {_MOST} at most")
        self.extent, self.parts = extent, parts
        shares = np.arange(1, parts + 1)
        if form == "INDIRECT":
            self._owners = np.random.default_rng(0).integers(parts, size=extent)
        elif form == "GEN_BLOCK":
            ends = extent * np.cumsum(shares) // shares.sum()
            self._owners = np.repeat(np.arange(parts), np.diff(ends, prepend=0))
        else:
            lengths = extent // parts + (np.arange(parts) < extent % parts)
            self._owners = np.repeat(np.arange(parts), lengths)
        self._places = np.empty(extent, np.int64)
        for part in range(parts):
            own = self.owned(part)
            self._places[own] = np.arange(len(own))
        self.text = form
        if form == "GEN_BLOCK":
            self.text += f"({','.join(map(str, np.bincount(self._owners, minlength=parts)))})"
        elif form == "INDIRECT":
            self.text += f"({','.join(map(str, self._owners))})"

    def owned(self, part: int) -> Indices:
        """The increasing global indices that ``part`` owns."""
        return np.flatnonzero(self._owners == part)

    def owner(self, indices: Indices) -> Indices:
        """The owners of these indices."""
        return self._owners[indices]

    def place(self, indices: Indices) -> Indices:
        """The local indices of these at their owners."""
        return self._places[indices]
