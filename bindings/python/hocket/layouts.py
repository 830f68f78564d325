# SPDX-License-Identifier: BSD-3-Clause
"""How a global array lies over processes. Needs no MPI."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _pure
from .errors import LayoutError

__all__ = ["Layout"]

Extents = Union[int, Iterable[int]]
Index = Union[int, Iterable[int]]

_MOST = 2**63 - 1


def integer(value: Any, what: str) -> int:
    """`value` as an int of at most 63 bits.

    Raises:
        LayoutError: it is no integer, or too large.
    """
    try:
        result = operator.index(value)
    except TypeError:
        raise LayoutError(f"{what} is {value!r}; give an integer") from None
    if not -_MOST <= result <= _MOST:
        raise LayoutError(f"{what} is {result}, which needs more than 63 bits")
    return result


def integers(values: Any, what: str) -> list[int]:
    """An int, or a sequence of them, as a list of ints of at most 63 bits each."""
    if isinstance(values, (str, bytes)):
        raise LayoutError(f"{what} is {values!r}; give integers")
    if hasattr(values, "__index__"):
        return [integer(values, what)]
    try:
        items = list(values)
    except TypeError:
        raise LayoutError(f"{what} is {values!r}; give an integer or several") from None
    return [integer(item, what) for item in items]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"{what} is {value!r}; give a text")
    return value.encode("utf-8", "replace").decode("utf-8")


def slices_of(
    given: Any, shape: tuple[int, ...]
) -> list[tuple[int, int, int, bool]]:
    """NumPy's basic index as (first, count, step, keep) for each dimension.

    Raises:
        LayoutError: too many of them, an integer outside the shape, step 0, or an index that is
            not an integer, a slice or an Ellipsis.
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


def _segment_array(given: Any, process: int) -> npt.NDArray[np.int64]:
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


def _regular(places: npt.NDArray[np.int64]) -> Any:
    """Equally spaced places as a slice, others as they are."""
    if len(places) < 2:
        first = int(places[0]) if len(places) else 0
        return slice(first, first + len(places), 1)
    steps = np.diff(places)
    step = int(steps[0])
    if not (steps == step).all():
        return places
    stop = int(places[-1]) + (1 if step > 0 else -1)
    return slice(int(places[0]), stop if stop >= 0 else None, step)


class Layout:
    """How a global N-d array lies over processes (HPF 1.0, chapter 3). An immutable value.

    Two layouts are equal when their shape, their size and every process's index sets are, however
    they were written. `Layout.parse(str(layout)) == layout`.

    Args:
        shape: extents of the global array; an int for one dimension.
        dist: HPF text with one format a dimension, any case: ``"(BLOCK, CYCLIC(3), *)"``.
        procs: one extent for each dimension that is not ``*``, in order, and one at each position
            named in `replicate`. Process ``r`` sits at row-major position ``r``.
        replicate: positions in `procs` that belong to no dimension and hold copies.

    Raises:
        LayoutError: malformed text (a caret points at the character), or extents that do not fit.
    """

    __slots__ = ("_native",)
    _native: _pure.Layout

    def __init__(
        self, shape: Extents, dist: str, procs: Extents = (), *, replicate: Extents = ()
    ) -> None:
        native = _pure.Layout(
            integers(shape, "shape"),
            _text(dist, "dist"),
            integers(procs, "procs"),
            integers(replicate, "replicate"),
        )
        object.__setattr__(self, "_native", native)

    @classmethod
    def _of(cls, native: _pure.Layout) -> Layout:
        """The layout around what `_pure` and `_mpi` give."""
        self = cls.__new__(cls)
        object.__setattr__(self, "_native", native)
        return self

    @classmethod
    def aligned(cls, shape: Extents, align: str, template: Layout) -> Layout:
        """An array aligned with a template (HPF 1.0, section 3.4).

        Args:
            shape: extents of the array.
            align: HPF text ``"A(i,j) WITH T(2*j+1, i, *)"``, indices from 0. A subscript is
                ``a*i+b`` in one dummy, a constant (the other processes hold nothing), or ``*`` in
                the template (copies along that dimension) or in the array (that dimension is not
                distributed). Negative strides are legal.
            template: the layout that it is aligned with.

        Raises:
            LayoutError: malformed text (a caret points at the character), or a subscript that
                leaves the template.
        """
        if not isinstance(template, Layout):
            raise LayoutError(f"template is {template!r}; give a Layout")
        return cls._of(
            _pure.Layout.aligned(integers(shape, "shape"), _text(align, "align"), template._native)
        )

    @classmethod
    def indexed(cls, shape: Extents, segments: Iterable[Any]) -> Layout:
        """Explicit segments of the row-major flattened array.

        Args:
            shape: extents of the array.
            segments: for each process its ``(first, length)`` pairs, in any order: a list, or an
                integer array of shape (n, 2). Its local array has one dimension, and holds the
                elements in increasing order. Gaps belong to nobody.

        Raises:
            LayoutError: segments that overlap, are negative, or leave the array.
        """
        if isinstance(segments, (str, bytes)) or not isinstance(segments, Iterable):
            raise LayoutError("segments: give a list of (first, length) for each process")
        lists = [_segment_array(each, process) for process, each in enumerate(segments)]
        return cls._of(_pure.Layout.indexed(integers(shape, "shape"), lists))

    @classmethod
    def all_from_hpf(cls, text: str, **parameters: int) -> dict[str, Layout]:
        """Every array that a Fortran program's HPF directives distribute or align, by name.

        Understood are ``!HPF$ PROCESSORS``, ``TEMPLATE``, ``DISTRIBUTE`` and ``ALIGN``,
        declarations of arrays, and ``PARAMETER``; other lines are passed over. Dimensions keep
        Fortran's order; indices become 0-based.

        Args:
            text: the program.
            parameters: values of names that the text leaves open: ``P=4, N=512``.

        Raises:
            LayoutError: a malformed directive (a caret points at the character), or names that
                nothing declares.
        """
        given = [(name, integer(value, name)) for name, value in parameters.items()]
        found = _pure.Layout.from_hpf(_text(text, "the program"), given)
        return {name: cls._of(native) for name, native in found}

    @classmethod
    def from_hpf(cls, text: str, name: str | None = None, **parameters: int) -> Layout:
        """The layout of an array of a Fortran program with HPF directives; see `all_from_hpf`.

        `name` chooses one (in any case), where directives map several arrays.

        Raises:
            LayoutError: also where there are several arrays and no name, or none of that name.
        """
        found = cls.all_from_hpf(text, **parameters)
        if name is None:
            if len(found) > 1:
                raise LayoutError(f"the program maps {', '.join(found)}; name one of them")
            return next(iter(found.values()))
        for each, layout in found.items():
            if each.upper() == name.upper():
                return layout
        raise LayoutError(f"the program maps no array {name!r}; it maps {', '.join(found)}")

    def section(self, slices: Any) -> Layout:
        """The layout of ``a[slices]``: HPF's ``A(1:n:2, :)``.

        A section is an array of its own: its elements are numbered from 0 in the order of the
        slices.

        Args:
            slices: NumPy's basic index: integers (which drop their dimension), slices with any
                steps, ``...``.

        Raises:
            LayoutError: what `slices` cannot be, or an integer outside the shape.
        """
        return Layout._of(self._native.section(slices_of(slices, self.shape)))

    def local_section(self, slices: Any, rank: int) -> tuple[Any, ...] | None:
        """Where a section lies in process `rank`'s local array.

        Returns:
            An index for the local array: slices and integers where steps are regular, so that it
            gives a view, else arrays of integers, one a dimension (`numpy.ix_` combines them).
            None where the process holds nothing of it.
        """
        basic = slices_of(slices, self.shape)
        places = self._native.section_places(basic, integer(rank, "rank"))
        if self._native.is_indexed:
            return (_regular(places[0]),) if len(places[0]) else None
        result: list[Any] = []
        for where, (_, _, _, keep) in zip(places, basic):
            if not keep and not len(where):
                return None
            result.append(_regular(where) if keep else int(where[0]))
        return tuple(result)

    def relabeled(self, ranks: Iterable[int], size: int | None = None) -> Layout:
        """The same parts held by other processes: process ``ranks[r]`` holds what `r` held.

        Args:
            ranks: one process for each of this layout's; see `hocket.relabel`.
            size: number of processes; those not named hold nothing. None: up to the highest named.

        Raises:
            LayoutError: not one process for each, or one twice.
        """
        new_size = 0 if size is None else integer(size, "size")
        if size is not None and new_size < 1:
            raise LayoutError(f"size is {size}; a layout has 1 process or more")
        return Layout._of(self._native.relabeled(integers(ranks, "ranks"), new_size))

    @classmethod
    def parse(cls, text: str, shape: Extents | None = None) -> Layout:
        """The layout whose ``str`` this is.

        With `shape`, the text may leave out the shape: ``Layout.parse("(BLOCK, *) @ 4", (12, 12))``.

        Raises:
            LayoutError: malformed text; a caret points at the character.
        """
        text = _text(text, "the layout's text")
        if shape is None:
            return cls._of(_pure.Layout.parse(text))
        return cls._of(_pure.Layout.parse_with(text, integers(shape, "shape")))

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the global array."""
        return self._native.shape

    @property
    def dist(self) -> str:
        """HPF text, as ``"(BLOCK, CYCLIC(3), *)"``; of an aligned array or a section the alignment."""
        return self._native.dist

    @property
    def procs(self) -> tuple[int, ...]:
        """Extents of the processor arrangement."""
        return self._native.procs

    @property
    def replicate(self) -> tuple[int, ...]:
        """Positions in `procs` along which copies lie."""
        return self._native.replicate

    @property
    def size(self) -> int:
        """Number of processes."""
        return self._native.size

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> int:
        """Number of elements of the global array."""
        return self._native.elements

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """Extents of process `rank`'s local array, which is dense and row-major."""
        return self._native.local_shape(integer(rank, "rank"))

    def local_elements(self, rank: int) -> int:
        """Number of elements of process `rank`'s local array."""
        return self._native.local_elements(integer(rank, "rank"))

    def global_indices(self, rank: int) -> list[npt.NDArray[np.int64]]:
        """For each dimension the global indices that process `rank` holds, increasing."""
        return self._native.global_indices(integer(rank, "rank"))

    def owners(self, index: Index) -> list[int]:
        """Every process that holds the element, increasing."""
        return self._native.owners(integers(index, "index"))

    def owner(self, index: Index) -> int:
        """The lowest of the processes that hold the element."""
        return self._native.owner(integers(index, "index"))

    def local_index(self, index: Index) -> tuple[int, ...]:
        """Where the element lies in an owner's local array."""
        return self._native.local_index(integers(index, "index"))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a layout does not change; make another one ({name!r} was set)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a layout does not change; {name!r} stays")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self._native.equals(other._native)

    def __hash__(self) -> int:
        return hash(self._native.hash())

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        text = str(self)
        if len(text) > 500:
            return f"<Layout {text[:400]}... of {len(text)} characters>"
        return f"Layout.parse({text!r})"

    def _repr_html_(self) -> str:
        from .notebook import layout_html

        return layout_html(self)

    def draw(self) -> str:
        """Who holds what, as text: one row a line, each element's lowest process.

        Of more than two dimensions the last two, at index 0 of the others; long ones thinned out.
        """
        from .notebook import layout_text

        return layout_text(self)

    def plot(self, path: str) -> None:
        """Draws who holds what to an image file: one colour a process."""
        from . import plotting

        plotting.plot_layout(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Layout.parse, (str(self),))
