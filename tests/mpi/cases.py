# SPDX-License-Identifier: BSD-3-Clause
"""What the multi-process tests share: arrays from the oracle's layouts, errors on every rank."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from guarded import DTYPES, Guarded, filled

import hocket as hk
import oracle
from holdings import Holding
from oracle import Spec


def whole(shape: tuple[int, ...], dtype: Any, salt: int = 0) -> np.ndarray:
    """The global array: every element says where it belongs; `salt` tells arrays apart."""
    places = np.asarray(oracle.values(shape, np.int64) + 1000 * salt)
    # Without dimensions NumPy makes scalars, which forget the byte order.
    return np.asarray(filled(places, np.dtype(dtype)), np.dtype(dtype)).reshape(shape)


def source_of(
    spec: Spec | Holding, array: np.ndarray, comm: Any, rng: np.random.Generator
) -> tuple:
    """(hk array, its guarded memory) of this rank's part of `array`."""
    local = spec.local(array, comm.rank)
    memory = Guarded(local.shape, array.dtype, rng)
    memory.set(local)
    return hk.wrap(memory.view, spec.layout(hk), comm=comm), memory


def target_of(spec: Spec | Holding, dtype: Any, comm: Any, rng: np.random.Generator) -> tuple:
    """(hk array, its guarded memory) with room for this rank's part, full of guard bytes."""
    shape = spec.local(np.empty(spec.shape, dtype=np.int8), comm.rank).shape
    memory = Guarded(shape, dtype, rng)
    return hk.wrap(memory.view, spec.layout(hk), comm=comm), memory


def move(
    comm: Any,
    source: Any,
    destination: Any,
    axes: tuple[int, ...] | None,
    dtype: Any,
    own: np.random.Generator,
    salt: int = 0,
    fresh: bool = False,
    convert: Any = None,
) -> None:
    """Redistributes the oracle's array and checks every byte on this rank. `source` and
    `destination`: a Spec or a Holding."""
    options = {} if convert is None else {"dtype": convert}
    array = whole(source.shape, dtype, salt)
    a, memory = source_of(source, array, comm, own)
    turned = array if axes is None else array.transpose(axes)
    target = np.dtype(convert or dtype)
    expected = destination.local(turned.astype(target), comm.rank)
    what = f"{source} -> {destination}, axes {axes}, {dtype} -> {target}"
    if fresh:
        b = hk.redistribute(a, destination.layout(hk), axes=axes, **options)
        np.testing.assert_array_equal(b.local.reshape(expected.shape), expected, err_msg=what)
    else:
        out, room = target_of(destination, target, comm, own)
        b = hk.redistribute(a, destination.layout(hk), axes=axes, out=out, **options)
        assert b is out
        room.check(expected, what)
    assert b.dtype == target and b.layout == destination.layout(hk)
    memory.check_untouched(f"the source of {what}")


def random_shape(rng: np.random.Generator) -> tuple[int, ...]:
    return oracle.random_shape(rng, int(rng.integers(1, 6)))


def random_dtype(rng: np.random.Generator) -> np.dtype:
    return DTYPES[int(rng.integers(len(DTYPES)))]


def private(comm: Any, *seed: int) -> np.random.Generator:
    """Random choices that differ from rank to rank: where local memory lies."""
    return np.random.default_rng([comm.rank + 1, *seed])


def raises_everywhere(
    comm: Any, error: type[BaseException], call: Callable[[], Any], *words: str
) -> str:
    """Checks that `call` raises on every rank of `comm`, with all the words in its message
    (case apart); returns this rank's message. Whoever hangs instead is shown by the runner."""
    message = None
    try:
        call()
    except error as caught:
        message = str(caught)
    messages = comm.allgather(message)
    silent = [rank for rank, text in enumerate(messages) if text is None]
    assert not silent, f"no {error.__name__} on rank {silent}; the others said {messages}"
    for rank, text in enumerate(messages):
        for word in words:
            assert word.lower() in text.lower(), f"rank {rank} does not say {word!r}: {text}"
    assert message is not None
    return message


def check_still_works(comm: Any) -> None:
    """A small redistribution on `comm` gives the right result: nothing was left behind."""
    shape = (2 * comm.size + 1, 5)
    rows = Spec(shape, (oracle.BLOCK, oracle.STAR), (comm.size,))
    columns = Spec(shape, (oracle.STAR, oracle.CYCLIC), (comm.size,))
    array = whole(shape, "i8", salt=7)
    a, _ = source_of(rows, array, comm, private(comm))
    b = hk.redistribute(a, columns.layout(hk))
    np.testing.assert_array_equal(b.local, columns.local(array, comm.rank))


PERIOD = 3 * 251  # of fill_pattern in local elements, for every layout that the tests use it with


def _tile(places_of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """16 MB of the pattern: uint8 places * 31 mod 251, which no power of 2 divides evenly."""
    period = (places_of(np.arange(PERIOD, dtype=np.int64)) * 31 % 251).astype(np.uint8)
    return np.tile(period, 1 << 14)


def fill_pattern(local: np.ndarray, places_of: Callable[[np.ndarray], np.ndarray]) -> None:
    """local[k] becomes the pattern at the global place places_of(k): for arrays of gigabytes, whose
    places would not fit. places_of(k + PERIOD) - places_of(k) must be a multiple of 251."""
    tile = _tile(places_of)
    for first in range(0, local.size, tile.size):
        local[first : first + tile.size] = tile[: local.size - first]


def check_pattern(local: np.ndarray, places_of: Callable[[np.ndarray], np.ndarray]) -> None:
    """local[k] is the pattern at the global place places_of(k)."""
    tile = _tile(places_of)
    for first in range(0, local.size, tile.size):
        same = np.array_equal(local[first : first + tile.size], tile[: local.size - first])
        assert same, f"wrong between the local elements {first} and {first + tile.size}"
