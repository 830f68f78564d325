# SPDX-License-Identifier: BSD-3-Clause
"""What messages cost: the linear model that plans predict by, and `hocket calibrate` measures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from . import _pure
from .errors import LayoutError

#: the costs by name, in seconds, where nothing was measured
DEFAULT: dict[str, float] = _pure.default_model()

#: what each cost is of
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
    """The costs of messages that plans predict by: seconds by name, as `plan(model=)` takes them.

    Those that `hocket calibrate` keeps, or the file that ``HOCKET_MODEL`` names; else, and with
    ``HOCKET_MODEL=default``, those that the library was built with. Read once.

    Raises
    ------
    Error
        the file cannot be read, or is no model.

    Examples
    --------
    >>> sorted(hk.model())[:3]
    ['byte', 'copy', 'far_byte']
    """
    return _pure.kept_model()


def path() -> str:
    """The file that the model is kept in: ``HOCKET_MODEL``, else in the user's configuration."""
    return _pure.kept_model_path()


def text_of(costs: Mapping[str, float]) -> str:
    """The model as the text of that file."""
    return _pure.model_text(checked(costs))


def parse(text: str) -> dict[str, float]:
    """The model that such a text describes.

    Raises
    ------
    Error
        a line that names no cost, or no number of seconds.
    """
    return _pure.parse_model(text)


def checked(costs: Mapping[str, float] | None) -> dict[str, float]:
    """All costs of a model of which some are given; the others have their default.

    Raises
    ------
    LayoutError
        names that are no costs, or values that are no seconds.
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
