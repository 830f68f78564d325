# SPDX-License-Identifier: BSD-3-Clause
"""How a global array lies over processes. Needs no MPI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _pure
from .arguments import as_text, regular, segment_array, slices_of
from .arguments import integer as integer
from .arguments import integers as integers
from .errors import LayoutError

__all__ = ["Layout"]

Extents = Union[int, Iterable[int]]
Index = Union[int, Iterable[int]]


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
            as_text(dist, "dist", "(BLOCK, *)", LayoutError),
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
            _pure.Layout.aligned(
                integers(shape, "shape"),
                as_text(align, "align", "A(i) WITH T(i)", LayoutError),
                template._native,
            )
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
        if isinstance(segments, (str, bytes)) or not np.iterable(segments):
            raise LayoutError("segments: give a list of (first, length) for each process")
        lists = [segment_array(each, process) for process, each in enumerate(segments)]
        return cls._of(_pure.Layout.indexed(integers(shape, "shape"), lists))

    @classmethod
    def all_from_hpf(cls, text: str, **parameters: int) -> dict[str, Layout]:
        """Every array that a Fortran program's HPF directives distribute or align, by name.

        Understood are ``!HPF$ PROCESSORS``, ``TEMPLATE``, ``DISTRIBUTE`` and ``ALIGN``,
        declarations of arrays, and ``PARAMETER``, in free or fixed form; other lines are passed
        over. Dimensions keep Fortran's order; indices become 0-based.

        Args:
            text: the program.
            parameters: values of names that the text leaves open: ``P=4, N=512``; also of the
                inquiry ``NUMBER_OF_PROCESSORS()``.

        Raises:
            LayoutError: a malformed directive (a caret points at the character), or names that
                nothing declares.
        """
        given = [(name, integer(value, name)) for name, value in parameters.items()]
        found = _pure.Layout.from_hpf(as_text(text, "the program", kind=LayoutError), given)
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

        Raises:
            LayoutError: slices that do not fit the shape, or no process `rank`.
        """
        basic = slices_of(slices, self.shape)
        places = self._native.section_places(basic, integer(rank, "rank"))
        if self._native.is_indexed:
            return (regular(places[0]),) if len(places[0]) else None
        result: list[Any] = []
        for where, (_, _, _, keep) in zip(places, basic):
            if not keep and not len(where):
                return None
            result.append(regular(where) if keep else int(where[0]))
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

        With `shape`, the text may leave out the shape:
        ``Layout.parse("(BLOCK, *) @ 4", (12, 12))``.

        Raises:
            LayoutError: malformed text; a caret points at the character.
        """
        given = as_text(text, "the layout's text", kind=LayoutError)
        if shape is None:
            return cls._of(_pure.Layout.parse(given))
        return cls._of(_pure.Layout.parse_with(given, integers(shape, "shape")))

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the global array."""
        return self._native.shape

    @property
    def dist(self) -> str:
        """HPF text, as ``"(BLOCK, CYCLIC(3), *)"``; of an aligned array the alignment."""
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
        """Extents of process `rank`'s local array, which is dense and row-major.

        Raises:
            LayoutError: there is no process `rank`.
        """
        return self._native.local_shape(integer(rank, "rank"))

    def local_elements(self, rank: int) -> int:
        """Number of elements of process `rank`'s local array.

        Raises:
            LayoutError: there is no process `rank`.
        """
        return self._native.local_elements(integer(rank, "rank"))

    def global_indices(self, rank: int) -> list[npt.NDArray[np.int64]]:
        """For each dimension the global indices that process `rank` holds, increasing.

        Raises:
            LayoutError: there is no process `rank`.
        """
        return self._native.global_indices(integer(rank, "rank"))

    def owners(self, index: Index) -> list[int]:
        """Every process that holds the element, increasing.

        Raises:
            LayoutError: an index outside the shape, or not one a dimension.
        """
        return self._native.owners(integers(index, "index"))

    def owner(self, index: Index) -> int:
        """The lowest of the processes that hold the element.

        Raises:
            LayoutError: an index outside the shape, or not one a dimension; an element that
                nobody holds.
        """
        return self._native.owner(integers(index, "index"))

    def local_index(self, index: Index) -> tuple[int, ...]:
        """Where the element lies in an owner's local array.

        Raises:
            LayoutError: an index outside the shape, or not one a dimension; an element that
                nobody holds.
        """
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
        Never raises.
        """

        from .notebook import layout_text

        return layout_text(self)

    def plot(self, path: str) -> None:
        """Draws who holds what to an image file: one colour a process.

        Raises:
            Error: matplotlib is not installed, or the file cannot be written.
        """
        from . import plotting

        plotting.plot_layout(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Layout.parse, (str(self),))
