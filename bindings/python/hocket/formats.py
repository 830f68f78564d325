# SPDX-License-Identifier: BSD-3-Clause
"""Formats: distributions of one dimension, for those that are long lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

from . import _pure
from .arguments import as_text, integer_array
from .errors import LayoutError

Dist = Union[str, Iterable[Any]]


class Format:
    """The distribution of one dimension: HPF text, as ``"BLOCK"``, or the result of `indirect` or
    `gen_block`. An immutable value; layouts share the memory of its list.

    Parameters
    ----------
    text
        ``"BLOCK"``, ``"BLOCK(n)"``, ``"CYCLIC"``, ``"CYCLIC(n)"``, ``"GEN_BLOCK(n, n)"``,
        ``"BALANCED"``, ``"INDIRECT(p, p)"`` or ``"*"``, in any case.

    Raises
    ------
    LayoutError
        malformed text (a caret points at the character).

    Examples
    --------
    >>> hk.Layout((6, 4), (hk.Format("CYCLIC"), "*"), 3).local_shape(0)
    (2, 4)
    """

    __slots__ = ("_native",)
    _native: _pure.Format

    def __init__(self, text: str) -> None:
        self._native = _pure.Format(as_text(text, "the format", "BLOCK", LayoutError))

    @classmethod
    def _of(cls, native: _pure.Format) -> Format:
        self = cls.__new__(cls)
        self._native = native
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        text = str(self)
        return f"Format({text[:60] + '...' if len(text) > 80 else text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Format, (str(self),))


def indirect(owners: Any) -> Format:
    """INDIRECT (HPF 2.0, section 8.3): process ``owners[i]`` holds index `i` of a dimension.

    Layouts with the same format object share its memory, 24 bytes for each run of equal owners.

    Parameters
    ----------
    owners
        integers, one an index: a list or a one-dimensional array.

    Raises
    ------
    LayoutError
        owners that are not integers of 0 or more.

    Examples
    --------
    >>> lay = hk.Layout((6, 4), (hk.indirect([0, 1, 1, 0, 2, 2]), "*"), 3)
    >>> lay.local_shape(2)
    (2, 4)
    """
    return Format._of(_pure.Format.indirect(integer_array(owners, "the owners")))


def gen_block(extents: Any) -> Format:
    """GEN_BLOCK (HPF 2.0, section 8.3): process `k` holds the next ``extents[k]`` indices.

    Equal to the text ``"GEN_BLOCK(3, 3, 2)"``, for lists that a program computes.

    Raises
    ------
    LayoutError
        extents that are not integers of 0 or more.

    Examples
    --------
    >>> hk.Layout(8, [hk.gen_block([3, 3, 2])], 3).local_shape(2)
    (2,)
    """
    return Format._of(_pure.Format.gen_block(integer_array(extents, "the extents")))


def formats_of(dist: Dist) -> list[_pure.Format] | str:
    """Converts a user's distribution: one text, with or without its parentheses, or one format a
    dimension."""
    if isinstance(dist, str):
        text = as_text(dist, "dist", "(BLOCK, *)", LayoutError).strip()
        balanced = text.count("(") == text.count(")")
        return f"({text})" if text and text[0] != "(" and balanced else text
    try:
        items = list(dist)
    except TypeError:
        raise LayoutError(
            f"dist is {dist!r}; give HPF text as '(BLOCK, *)', or a list with a format a dimension"
        ) from None
    return [
        each._native
        if isinstance(each, Format)
        else _pure.Format(as_text(each, f"the format dist[{k}]", "BLOCK", LayoutError))
        for k, each in enumerate(items)
    ]
