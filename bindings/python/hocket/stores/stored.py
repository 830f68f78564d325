# SPDX-License-Identifier: BSD-3-Clause
"""One array of a store, which any process may read by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _pure
from hocket.arguments import slices_of
from hocket.errors import Error, LayoutError


def _plain(value: Any) -> Any:
    """A NumPy number or array as numbers and lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def as_json(value: Optional[Mapping[str, Any]], what: str) -> str:
    """Attributes as a text. Raises `Error` for values that JSON cannot express."""
    try:
        return json.dumps({} if value is None else dict(value), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise Error(
            f"{what} cannot be written as JSON: {error}; give a dict of texts, numbers and lists"
        ) from None


def dtype_from(name: str) -> np.dtype[Any]:
    """The dtype of a stored array, by the library's name for it."""
    return np.dtype(name.strip("'"))


def region_of(region: Any, shape: tuple[int, ...]) -> Optional[tuple[list[int], list[int]]]:
    """A box of a stored array, from slices of step 1. None: all of it.

    Raises `LayoutError`.
    """
    if region is None:
        return None
    start, stop = [], []
    for dimension, (first, count, step, keep) in enumerate(slices_of(region, shape)):
        if not keep or (step != 1 and count > 1):
            raise LayoutError(
                f"region={region!r} is no box in dimension {dimension}; give slices without steps, "
                "as np.s_[2:8, :]"
            )
        start.append(first)
        stop.append(first + count)
    return start, stop


class StoredArray:
    """An array of a store, as stored in files; ``store[name]`` makes it.

    ``stored[2:8, ::2]`` reads these elements into a NumPy array, on this process alone.

    Attributes
    ----------
    name : str
    shape : tuple of int
    dtype : numpy.dtype
    chunks : tuple of int
        extents of a chunk, what is compressed as one
    shards : tuple of int or None
        extents of a shard, one file; None: every chunk is a file
    codec : str
        ``"zstd"``, ``"gzip"``, ``"blosc"`` or ``"none"``
    fill
        value of elements that were never written
    dimension_names : tuple of str or None
    attributes : dict
    zarr_format : int

    Examples
    --------
    >>> a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((3, 4), "(*, *)"), "int64")
    >>> hk.save("run.zarr", {"t": a})
    >>> stored = hk.open_store("run.zarr")["t"]
    >>> stored.shape, stored.dtype, stored.chunks, stored.shards
    ((3, 4), dtype('int64'), (3, 4), None)
    >>> stored[1:, ::2]
    array([[10, 12],
           [20, 22]])
    """

    __slots__ = ("_facts", "_files")

    def __init__(self, files: _pure.StoreFiles, name: str) -> None:
        self._files = files
        self._facts = files.array(name)

    @property
    def name(self) -> str:
        """The name in the store, with the groups above it: ``"run/t"``.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].name
        't'
        """
        return str(self._facts["name"])

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].shape
        (4,)
        """
        return tuple(self._facts["shape"])

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].ndim
        1
        """
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"), "int32")})
        >>> hk.open_store("run.zarr")["t"].dtype
        dtype('int32')
        """
        return dtype_from(self._facts["dtype"])

    @property
    def chunks(self) -> tuple[int, ...]:
        """Extents of a chunk, the unit of compression.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].chunks
        (4,)
        """
        return tuple(self._facts["chunks"])

    @property
    def shards(self) -> Optional[tuple[int, ...]]:
        """Extents of a shard, one file with several chunks; None if every chunk is a file.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].shards is None
        True
        """
        return tuple(self._facts["shards"]) or None

    @property
    def codec(self) -> str:
        """The name of the codec that compresses chunks.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))}, codec="none")
        >>> hk.open_store("run.zarr")["t"].codec
        'none'
        """
        return str(self._facts["codec"])

    @property
    def fill(self) -> Any:
        """The value of elements that no call has written, as JSON.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"), "int32")})
        >>> hk.open_store("run.zarr")["t"].fill
        0
        """
        return json.loads(self._facts["fill"])

    @property
    def dimension_names(self) -> tuple[Optional[str], ...]:
        """One name a dimension; None for a dimension without one.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout((4, 2), "(*, *)"))})
        >>> hk.open_store("run.zarr")["t"].dimension_names
        ('dim_0', 'dim_1')
        """
        return tuple(name or None for name in self._facts["dimension_names"])

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the user's attributes of the array.

        Examples
        --------
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("t", 4, "float64", attributes={"unit": "K"})
        ...     print(s["t"].attributes)
        {'unit': 'K'}
        """
        return dict(json.loads(self._facts["attributes"]))

    @property
    def zarr_format(self) -> int:
        """3, or 2, which is read-only.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.zeros(hk.Layout(4, "(*)"))})
        >>> hk.open_store("run.zarr")["t"].zarr_format
        3
        """
        return int(self._facts["zarr_format"])

    def __getitem__(self, index: Any) -> Any:
        """Reads these elements on this process: NumPy's basic index.

        Raises
        ------
        LayoutError
            for an index that does not fit the shape.
        Error
            for files that are damaged, or have disappeared.
        """
        slices = slices_of(index, self.shape)
        start = [min(first, first + (count - 1) * step) for first, count, step, _ in slices]
        stop = [
            max(first, first + (count - 1) * step) + 1 if count else low
            for (first, count, step, _), low in zip(slices, start)
        ]
        start = [min(low, high) for low, high in zip(start, stop)]
        found: npt.NDArray[Any] = np.empty([b - a for a, b in zip(start, stop)], self.dtype)
        if found.size:
            address = found.__array_interface__["data"][0]
            self._files.read(self.name, start, stop, address, list(found.strides))
        view: Any = found[
            tuple((slice(None, None, step) if keep else 0) for _, _, step, keep in slices)
        ]
        return view.copy() if isinstance(view, np.ndarray) and view.size < found.size else view

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        if copy is False:
            raise Error("elements in files are always copied; leave copy=False out")
        return np.asarray(self[...], dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<hocket.StoredArray {self.name!r} {self.dtype} {self.shape}, chunks {self.chunks}>"
