# SPDX-License-Identifier: BSD-3-Clause
"""The queries of a layout: owners, local shapes and indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _pure
from .arguments import integer, integers

Extents = Union[int, Iterable[int]]
Index = Union[int, Iterable[int]]


class LayoutQueries:
    """The part of `hocket.Layout` that does not make new layouts."""

    __slots__ = ("__weakref__", "_native")
    _native: _pure.Layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the global array.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.shape
        (4, 6)
        """
        return self._native.shape

    @property
    def dist(self) -> str:
        """HPF text, as ``"(BLOCK, CYCLIC(3), *)"``; for an aligned array the alignment.

        Examples
        --------
        >>> hk.Layout((4, 6), "block, *", 2).dist
        '(BLOCK, *)'
        """
        return self._native.dist

    @property
    def procs(self) -> tuple[int, ...]:
        """Extents of the processor arrangement.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.procs
        (2,)
        """
        return self._native.procs

    @property
    def replicate(self) -> tuple[int, ...]:
        """Positions in `procs` along which processes hold copies.

        Examples
        --------
        >>> hk.Layout((4,), "(BLOCK)", (2, 3), replicate=(1,)).replicate
        (1,)
        """
        return self._native.replicate

    @property
    def size(self) -> int:
        """Number of processes.

        Examples
        --------
        >>> hk.Layout((4, 6), "(BLOCK, BLOCK)", (2, 3)).size
        6
        """
        return self._native.size

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.ndim
        2
        """
        return len(self.shape)

    @property
    def num_elements(self) -> int:
        """Number of elements of the global array.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.num_elements
        24
        """
        return self._native.num_elements

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """Extents of process `rank`'s local array, which is dense and row-major.

        Raises
        ------
        LayoutError
            there is no process `rank`.

        Examples
        --------
        >>> lay = hk.Layout((5, 6), "(BLOCK, *)", 2)
        >>> lay.local_shape(0), lay.local_shape(1)
        ((3, 6), (2, 6))
        """
        return self._native.local_shape(integer(rank, "rank"))

    def local_elements(self, rank: int) -> int:
        """Number of elements of process `rank`'s local array.

        Raises
        ------
        LayoutError
            there is no process `rank`.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.local_elements(1)
        12
        """
        return self._native.local_elements(integer(rank, "rank"))

    def global_indices(self, rank: int) -> list[npt.NDArray[np.int64]]:
        """For each dimension the increasing global indices that process `rank` holds.

        Explicit segments and elements have one array of row-major numbers, in the order of the
        local array.

        Raises
        ------
        LayoutError
            there is no process `rank`.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 3), "(CYCLIC, *)", 2).global_indices(1)
        >>> rows.tolist(), columns.tolist()
        ([1, 3], [0, 1, 2])
        """
        return self._native.global_indices(integer(rank, "rank"))

    def slices(self, rank: int) -> tuple[slice, ...]:
        """The part of process `rank` as one slice a dimension: ``whole[lay.slices(rank)]`` is its
        local array.

        Raises
        ------
        LayoutError
            its indices of a dimension are not equally spaced (CYCLIC(3)), or are a list. Use
            `global_indices` for these.

        Examples
        --------
        >>> hk.Layout((8, 6), "(BLOCK, CYCLIC)", (2, 3)).slices(4)
        (slice(4, 8, None), slice(1, 5, 3))
        """
        found = []
        for first, count, step in self._native.slices(integer(rank, "rank")):
            stop = first + (count - 1) * step + 1 if count else first
            found.append(slice(first, stop) if step == 1 else slice(first, stop, step))
        return tuple(found)

    def to_boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The part of every process as a ``(start, stop)`` pair, as for `boxes`.

        Raises
        ------
        LayoutError
            the part of a process is no box (CYCLIC).

        Examples
        --------
        >>> hk.Layout((4, 6), "(*, BLOCK)", 2).to_boxes()
        [((0, 0), (4, 3)), ((0, 3), (4, 6))]
        """
        return self._native.to_boxes()

    def to_blacs(
        self, context: int = 0, *, transposed: bool = False, dtype: npt.DTypeLike = np.intc
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """ScaLAPACK's array descriptors of a matrix of this layout, and its BLACS grid.

        The matrix has the layout's shape, and the local arrays are column-major: ``hk.wrap`` takes
        ``np.empty(lay.local_shape(r), order="F")``. With `transposed` the descriptors are of the
        transpose, whose column-major local arrays are this layout's row-major ones: those of
        ``hk.empty``. ``Layout.from_blacs(*lay.to_blacs()) == lay``.

        Parameters
        ----------
        context
            the BLACS handle for ``CTXT_``; -1 for a process outside the grid.
        transposed
            the descriptors of the transpose instead.
        dtype
            of the descriptors: ``np.int64`` for a ScaLAPACK with 64-bit integers.

        Returns
        -------
        tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
            The descriptors, of shape (`size`, 9), in which ``LLD_`` is the number of local rows (1
            at least); and the processes of the grid, of shape (rows, columns), for
            ``BLACS_GRIDMAP``, the lowest at row 0 and column 0.

        Raises
        ------
        LayoutError
            a layout that ScaLAPACK cannot describe: not of two dimensions, with copies, with
            unequal blocks, or with blocks in another order than round robin; or entries too large
            for `dtype`.

        Examples
        --------
        >>> lay = hk.Layout((10, 8), "(CYCLIC(2), BLOCK)", (2, 2))
        >>> desc, grid = lay.to_blacs()
        >>> desc[2].tolist(), grid.tolist()
        ([1, 0, 10, 8, 2, 4, 0, 0, 4], [[0, 1], [2, 3]])
        >>> lay.to_blacs(transposed=True)[0][2].tolist()
        [1, 0, 8, 10, 4, 2, 0, 0, 4]
        """
        from .blacs import blacs_of

        return blacs_of(self._native, context, transposed, dtype)

    def owners(self, index: Index) -> list[int]:
        """All processes that hold the element, increasing.

        Raises
        ------
        LayoutError
            an index outside the shape, or not one a dimension.

        Examples
        --------
        >>> hk.Layout((4,), "(BLOCK)", (2, 2), replicate=(1,)).owners(3)
        [2, 3]
        """
        return self._native.owners(integers(index, "index"))

    def owner(self, index: Index) -> int:
        """The lowest of the processes that hold the element.

        Raises
        ------
        LayoutError
            an index outside the shape, or not one a dimension; an element without owner.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.owner((3, 0))
        1
        """
        return self._native.owner(integers(index, "index"))

    def local_index(self, index: Index) -> tuple[int, ...]:
        """The index of the element in the local array of ``owner(index)``.

        Raises
        ------
        LayoutError
            an index outside the shape, or not one a dimension; an element without owner.

        Examples
        --------
        >>> lay = hk.Layout((4, 6), "(BLOCK, *)", 2)
        >>> lay.local_index((3, 5))
        (1, 5)
        """
        return self._native.local_index(integers(index, "index"))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a layout does not change; make another one ({name!r} was set)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a layout does not change; {name!r} stays")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LayoutQueries):
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
        """The owners of the elements as text: one row a line, each element's lowest process.

        For more than two dimensions, the last two, at index 0 of the others. Shows a sample of long
        dimensions. Never raises.

        Examples
        --------
        >>> print(hk.Layout((2, 6), "(BLOCK, CYCLIC(2))", (2, 2)).draw())
        (2, 6) (BLOCK, CYCLIC(2)) @ (2, 2)
        0 0 1 1 0 0
        2 2 3 3 2 2
        """

        from .notebook import layout_text

        return layout_text(self)

    def plot(self, path: str) -> None:
        """Draws the owners of the elements to an image file: one colour a process.

        Raises
        ------
        Error
            matplotlib is not installed, or hocket cannot write the file.

        Examples
        --------
        >>> hk.Layout((4, 6), "(BLOCK, CYCLIC)", (2, 2)).plot("layout.png")
        """
        from . import plotting

        plotting.plot_layout(self, path)
