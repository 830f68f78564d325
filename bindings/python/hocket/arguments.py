# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the arguments of public functions: integers, extents, slices and segments."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from .errors import Error, LayoutError

_MOST = 2**63 - 1


def integer(value: Any, what: str) -> int:
    """`value` as an int of at most 63 bits.

    Raises
    ------
    LayoutError
        for another type, and for an integer that is too large.
    """
    try:
        result = operator.index(value)
    except TypeError:
        raise LayoutError(f"{what} is {value!r:.80}; give an integer") from None
    if not -_MOST <= result <= _MOST:
        raise LayoutError(f"{what} is {result}, which needs more than 63 bits")
    return result


def integers(values: Any, what: str) -> list[int]:
    """An int, or a sequence of them, as a list of ints of at most 63 bits each."""
    if isinstance(values, (str, bytes)):
        raise LayoutError(f"{what} is {values!r}; give integers")
    try:
        items = list(values)
    except TypeError:
        return [integer(values, what)]
    return [integer(item, what) for item in items]


def as_number(value: Any, what: str) -> int:
    """`value` as C's int. Raises `Error`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{what} is {value!r}; give an integer") from None
    if not -(2**31) <= number < 2**31:
        raise Error(f"{what} is {number}; give one of at most 31 bits")
    return number


def as_bytes(value: Any, what: str) -> int:
    """`value` as a number of bytes. Raises `Error`."""
    kind, least = "a number of bytes, as 64 << 20", "a number of bytes that is not negative"
    return as_count(value, what, kind, least)


def as_count(value: Any, what: str, kind: str, least: str) -> int:
    """`value` as a number from 0 to 63 bits. `kind` and `least`: what to give instead of no number,
    and of one out of range. Raises `Error`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{what} is {value!r}; give {kind}") from None
    if not 0 <= number < 2**63:
        raise Error(f"{what} is {number}; give {least}")
    return number


def as_positive(value: Any, what: str, none: str = "None") -> int:
    """A number from 1 on; 0 for None: the library decides. Raises `Error`."""
    if value is None:
        return 0
    number = as_number(value, what)
    if number < 1:
        raise Error(f"{what} is {number}; give 1 or more, or {none}")
    return number


def as_threads(value: Any) -> int:
    """A number of threads; 0: the library decides. Raises `Error`."""
    return min(as_positive(value, "threads", "None for what the process may use"), 1024)


def as_seconds(
    timeout: Any, what: str = "timeout", none: str = "None to wait as long as it takes"
) -> Optional[float]:
    """A timeout: seconds, or None. Raises `Error`."""
    if timeout is None:
        return None
    try:  # float() takes texts, too
        seconds = None if isinstance(timeout, (str, bytes, bytearray)) else float(timeout)
    except (TypeError, ValueError):
        seconds = None
    if seconds is None:
        raise Error(f"{what} is {timeout!r}; give seconds, or {none}")
    if not seconds >= 0:
        raise Error(f"{what} is {timeout!r}; give seconds that are not negative, or {none}")
    return seconds


def as_text(value: Any, what: str, example: str = "", kind: type[Error] = Error) -> str:
    """`value` as a text that UTF-8 can encode. Raises `kind`."""
    if not isinstance(value, str):
        raise kind(f"{what} is {value!r}; give a text{', as ' + repr(example) if example else ''}")
    if printable(value) != value:
        raise kind(f"{what} is {value!r}, which is not valid Unicode: it has half a surrogate pair")
    return value


def printable(text: str) -> str:
    """`text` with a question mark for each half of a surrogate pair, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def as_path(value: Any, what: str, example: str) -> Path:
    """`value` as a path. Raises `Error`."""
    try:
        return Path(value)
    except TypeError:
        raise Error(f"{what} is {value!r}; give the path of a file, as {example!r}") from None


def as_flag(value: Any, what: str) -> bool:
    """`value` as a bool. Raises `Error`."""
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{what} is {value!r}; give True or False")
    return bool(value)


def slices_of(given: Any, shape: tuple[int, ...]) -> list[tuple[int, int, int, bool]]:
    """NumPy's basic index as (first, count, step, keep) for each dimension.

    Raises
    ------
    LayoutError
        for too many indices, an integer outside the shape, step 0, or an index that is no integer,
        slice or Ellipsis.
    """
    items = list(given) if isinstance(given, tuple) else [given]
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise LayoutError("a section takes one '...'; write ':' for the other dimensions")
    missing = len(shape) - len(items) + len(dots)
    if missing < 0:
        raise LayoutError(
            f"{len(items) - len(dots)} slices for the {len(shape)} dimensions of shape {shape}; "
            f"give one a dimension at most"
        )
    place = dots[0] if dots else len(items)
    items[place : place + len(dots)] = [slice(None)] * missing
    result = []
    for dimension, (item, extent) in enumerate(zip(items, shape)):
        if isinstance(item, slice):
            try:
                first, stop, step = item.indices(extent)
            except (TypeError, ValueError) as error:
                raise LayoutError(f"slice {item} of dimension {dimension}: {error}") from None
            count = len(range(first, stop, step))
            result.append((first, count, step, True) if count else (0, 0, 1, True))
            continue
        if item is None or isinstance(item, (bool, np.bool_)):
            raise LayoutError(
                f"{item!r} is no index of dimension {dimension}; give a slice or an integer"
            )
        index = integer(item, f"the index of dimension {dimension}")
        if not -extent <= index < extent:
            raise LayoutError(
                f"index {index} lies outside the shape {shape} in dimension {dimension}"
            )
        result.append((index % extent, 1, 1, False))
    return result


def segment_array(given: Any, process: int) -> npt.NDArray[np.int64]:
    """(first, length) pairs as an array of shape (n, 2)."""
    what = f"the segments of process {process}"
    try:
        array = np.asarray(given if isinstance(given, np.ndarray) else list(given))
    except (TypeError, ValueError, OverflowError):
        raise LayoutError(f"{what} are no list of (first, length)") from None
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise LayoutError(f"{what} have shape {array.shape}; give (first, length) pairs")
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max() > _MOST):
        raise LayoutError(f"{what} are {array.dtype}; give integers of at most 63 bits")
    return np.ascontiguousarray(array, dtype=np.int64)


def integer_array(given: Any, what: str) -> npt.NDArray[np.int64]:
    """Integers as an array of one dimension. Raises `LayoutError`."""
    try:
        array = np.asarray(given if isinstance(given, np.ndarray) else list(given))
    except (TypeError, ValueError, OverflowError):
        raise LayoutError(f"{what} are {given!r}; give a list of integers") from None
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise LayoutError(f"{what} have shape {array.shape}; give a list of one dimension")
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max() > _MOST):
        raise LayoutError(f"{what} are {array.dtype}; give integers of at most 63 bits")
    return np.ascontiguousarray(array, dtype=np.int64)


def index_box(given: Any, process: int) -> tuple[list[int], list[int]]:
    """A (start, stop) pair, each an int or one a dimension. Raises `LayoutError`."""
    what = f"the box of process {process}"
    try:
        start, stop = given
    except (TypeError, ValueError):
        raise LayoutError(f"{what} is {given!r}; give a (start, stop) pair") from None
    return integers(start, f"the start of {what}"), integers(stop, f"the stop of {what}")


def index_boxes(given: Iterable[Any]) -> Any:
    """A (start, stop) pair for each process, or an int64 array of them of shape (processes, 2,
    dimensions). Raises `LayoutError`."""
    boxes = given if isinstance(given, np.ndarray) else list(given)
    array = boxes if isinstance(boxes, np.ndarray) else _as_one_array(boxes)
    if array is not None and array.dtype == np.int64 and array.ndim in (2, 3) and array.size:
        if array.shape[1] == 2:
            return np.ascontiguousarray(array.reshape(len(array), 2, -1))
        raise LayoutError(
            f"boxes have the shape {array.shape}; give (processes, 2, dimensions): the starts and "
            "the stops"
        )
    return [index_box(each, process) for process, each in enumerate(boxes)]


def _as_one_array(boxes: list[Any]) -> Optional[npt.NDArray[np.int64]]:
    """Pairs of tuples or lists of ints as an array; None for others. NumPy takes ten times as
    long to find the shape and the type of nested tuples."""
    flat = chain.from_iterable
    try:
        if set(map(len, boxes)) != {2} or not set(map(type, flat(boxes))) <= {tuple, list}:
            return None
        lengths = set(map(len, flat(boxes)))
        if len(lengths) != 1 or set(map(type, flat(flat(boxes)))) != {int}:
            return None
        found = np.fromiter(flat(flat(boxes)), np.int64)
    except (TypeError, OverflowError):
        return None
    return found.reshape(len(boxes), 2, lengths.pop())


def regular(places: npt.NDArray[np.int64]) -> Any:
    """Equally spaced positions as a slice, others unchanged."""
    if len(places) < 2:
        first = int(places[0]) if len(places) else 0
        return slice(first, first + len(places), 1)
    steps = np.diff(places)
    step = int(steps[0])
    if not (steps == step).all():
        return places
    stop = int(places[-1]) + (1 if step > 0 else -1)
    return slice(int(places[0]), stop if stop >= 0 else None, step)
