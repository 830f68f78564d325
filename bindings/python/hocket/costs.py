# SPDX-License-Identifier: BSD-3-Clause
"""The linear cost model of messages: plans predict by it, and `hocket calibrate` measures it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from . import _pure
from .errors import LayoutError

#: the default costs by name, in seconds
DEFAULT: dict[str, float] = _pure.default_model()

#: the meaning of each cost
MEANING = {
    "message": "a message, at each of its ends",
    "byte": "a byte under way",
    "copy": "a byte that is copied in order to be passed on",
    "relay": "the wait for a message that is to be passed on",
    "far_message": "a message between nodes (0: as within one)",
    "far_byte": "a byte between nodes, on the link that all of a node share (0: as within one)",
    "far_relay": "the wait for a message from another node (0: as within one)",
}


def model() -> dict[str, float]:
    """The costs of messages that plans predict by: seconds by name, as for `plan(model=)`.

    Reads them once from the file that ``HOCKET_MODEL`` names, else from the file of `hocket
    calibrate`. Without a file, and with ``HOCKET_MODEL=default``, they are hocket's default costs.

    Raises
    ------
    Error
        if hocket cannot read the file, or the file is no model.

    Examples
    --------
    >>> sorted(hk.model())[:3]
    ['byte', 'copy', 'far_byte']
    """
    return _pure.kept_model()


def path() -> str:
    """The path of the model: ``HOCKET_MODEL``, else in the user's configuration."""
    return _pure.kept_model_path()


def writers() -> int:
    """The number of writers on a node that `hocket calibrate --writers` has measured; 0: none."""
    if path() == "default":
        return 0
    try:
        return int(Path(f"{path()}.writers").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0


def text_of(costs: Mapping[str, float]) -> str:
    """The model as the text of that file."""
    return _pure.model_text(checked(costs))


def parse(text: str) -> dict[str, float]:
    """The model that a text describes.

    Raises
    ------
    Error
        a line with an unknown cost, or without a number of seconds.
    """
    return _pure.parse_model(text)


def checked(costs: Mapping[str, float] | None) -> dict[str, float]:
    """A model with the given costs; the others have their defaults.

    Raises
    ------
    LayoutError
        unknown costs, or values that are no seconds.
    """
    try:
        given = dict(costs or {})
    except (TypeError, ValueError):
        raise LayoutError(f"model is {costs!r}; give a dict, as {DEFAULT}") from None
    unknown = sorted(map(str, set(given) - set(DEFAULT)))
    if unknown:
        raise LayoutError(f"model has no {unknown[0]!r}; it has {sorted(DEFAULT)}")
    values = {**DEFAULT, **given}
    for name, value in values.items():
        try:
            values[name] = float(value)
        except (TypeError, ValueError, OverflowError):
            values[name] = math.nan
        if not 0 <= values[name] < math.inf:
            raise LayoutError(
                f"model has {value!r} for {name!r}; give the seconds that one costs, as "
                f"{DEFAULT[name]}"
            )
    return values
