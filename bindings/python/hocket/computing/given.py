# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of a call of NumPy's function, as our function takes them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np

ABSENT = getattr(np, "_NoValue", None)


def name_of(function: Any) -> str:
    home = getattr(function, "__module__", None) or "numpy"
    return f"{home.replace('numpy', 'np', 1)}.{function.__name__}"


def by_name(
    function: Any, args: Sequence[Any], options: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments as ours take them: required ones by position, whatever their names, and others
    by NumPy's names, whatever their places. Other defaults of NumPy's are left out."""
    names, required, defaults = positions(function)
    if len(args) < required:
        options = dict(options)
        args = [*args, *(options.pop(n) for n in names[len(args) : required] if n in options)]
    elif names and len(args) > required:
        options = {**dict(zip(names[required:], args[required:])), **options}
        args = args[:required]
    return args, {n: x for n, x in options.items() if n not in defaults or defaults[n] is not x}


@functools.lru_cache(maxsize=1024)
def is_plain(function: Any, ours: Callable[..., Any], count: int, *names: str) -> bool:
    """Whether `by_name` and `options_of` leave `count` arguments by position and options of these
    names as they are, unless one is `ABSENT`."""
    places, required, defaults = positions(function)
    in_place = count == required or (count > required and not places)
    signature = parameters(ours)
    known = signature is None or set(names) <= set(signature)
    return in_place and known and not set(names) & set(defaults)


@functools.cache
def positions(function: Any) -> tuple[tuple[str, ...], int, dict[str, Any]]:
    """The names of a function of NumPy's for arguments by position, the number of required ones,
    and the defaults that are names. No names for a function that takes any number of arguments,
    and for one in C that does not tell them."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except ValueError:
        return (), 0, {}
    if any(each.kind is each.VAR_POSITIONAL for each in found):
        return (), 0, {}
    by_place = [
        each for each in found if each.kind in (each.POSITIONAL_OR_KEYWORD, each.POSITIONAL_ONLY)
    ]
    required = sum(each.default is each.empty for each in by_place)
    defaults = {each.name: each.default for each in found if isinstance(each.default, (str, bool))}
    return tuple(each.name for each in by_place), required, defaults


def options_of(function: Any, ours: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options without defaults. Raises `TypeError` for unknown ones."""
    if not options:
        return options
    signature = parameters(ours)
    if signature is None:
        return options
    for name, value in options.items():
        if name not in signature and value is not None and value is not ABSENT:
            raise TypeError(
                f"{name_of(function)} of distributed arrays takes no {name}=; it takes "
                f"{', '.join(signature)}"
            )
    return {n: x for n, x in options.items() if n in signature and x is not ABSENT}


@functools.cache
def parameters(ours: Callable[..., Any]) -> Optional[tuple[str, ...]]:
    """The names of the parameters; None for a function that takes any."""
    found = inspect.signature(ours).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in found.values())
    return None if takes_any else tuple(found)
