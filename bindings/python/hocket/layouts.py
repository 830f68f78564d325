# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: distributions of a global array over processes. Needs no MPI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _pure
from .arguments import as_text, index_boxes, integer_array, segment_array, slices_of
from .arguments import integer as integer
from .arguments import integers as integers
from .errors import LayoutError
from .formats import Dist, formats_of
from .layout_queries import Extents, LayoutQueries

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Layout"]


class Layout(LayoutQueries):
    """The distribution of a global N-d array over processes. An immutable value.

    Two layouts are equal if their shapes, their sizes and the index sets of every process are
    equal, however they were written. Elements and explicit segments equal only layouts of their
    own kind, and elements only with the same order of the local arrays.
    `Layout.parse(str(layout)) == layout`.

    The formats are those of HPF 1.0, chapter 3, and HPF 2.0, section 8: ``BLOCK``, ``BLOCK(n)``,
    ``CYCLIC``, ``CYCLIC(n)``, ``GEN_BLOCK(n, n, ...)`` (these extents, in order), ``INDIRECT(p, p,
    ...)`` (the owner of each index; ``3*0`` is process 0 three times), and ``*`` (not distributed);
    and ``BALANCED``, as `numpy.array_split` splits.

    Parameters
    ----------
    shape
        extents of the global array; an int for one dimension.
    dist
        HPF text with one format a dimension, any case: ``"(BLOCK, CYCLIC(3), *)"``, with or without
        its parentheses; or a list or tuple of texts and of results of `hocket.indirect` and
        `hocket.gen_block`: ``["BLOCK", "CYCLIC(3)", "*"]``.
    procs
        one extent for each dimension that is not ``*``, in order, and one at each position named in
        `replicate`. Process ``r`` is at row-major position ``r``.
    replicate
        positions in `procs` that belong to no dimension; processes along them hold copies.

    Raises
    ------
    LayoutError
        malformed text (a caret points at the character), extents that do not fit or do not add up,
        or an owner that does not exist.

    Examples
    --------
    >>> lay = hk.Layout((4, 6), "(BLOCK, CYCLIC(2))", (2, 2))
    >>> lay.local_shape(0)
    (2, 4)
    >>> lay == hk.Layout((4, 6), ["BLOCK", "CYCLIC(2)"], (2, 2)) == hk.Layout.parse(str(lay))
    True
    >>> hk.Layout((10, 8), "(GEN_BLOCK(3, 3, 2, 2), BALANCED)", (4, 2)).local_shape(0)
    (3, 4)
    """

    __slots__ = ()

    def __init__(
        self, shape: Extents, dist: Dist, procs: Extents = (), *, replicate: Extents = ()
    ) -> None:
        native = _pure.Layout(
            integers(shape, "shape"),
            formats_of(dist),
            integers(procs, "procs"),
            integers(replicate, "replicate"),
        )
        object.__setattr__(self, "_native", native)

    @classmethod
    def _of(cls, native: _pure.Layout) -> Layout:
        """The layout for a layout of `_pure` or `_mpi`."""
        self = cls.__new__(cls)
        object.__setattr__(self, "_native", native)
        return self

    @classmethod
    def aligned(cls, shape: Extents, align: str, template: Layout) -> Layout:
        """An array aligned with a template (HPF 1.0, section 3.4).

        Parameters
        ----------
        shape
            extents of the array.
        align
            HPF text ``"A(i,j) WITH T(2*j+1, i, *)"``, indices from 0. A subscript is ``a*i+b`` in
            one dummy, a constant (the other processes hold nothing), or ``*`` in the template
            (copies along that dimension) or in the array (that dimension is not distributed).
            Negative strides are legal.
        template
            the layout with which the array is aligned.

        Raises
        ------
        LayoutError
            malformed text (a caret points at the character), or a subscript that
            leaves the template.

        Examples
        --------
        >>> template = hk.Layout((9, 4), "(BLOCK, *)", 3)
        >>> lay = hk.Layout.aligned((4,), "A(i) WITH T(2*i+1, 0)", template)
        >>> [lay.owner(i) for i in range(4)]
        [0, 1, 1, 2]
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

        Parameters
        ----------
        shape
            extents of the array.
        segments
            for each process its ``(first, length)`` pairs, in any order: a list, or an integer
            array of shape (n, 2). Its local array has one dimension, and holds the elements in
            increasing order. Elements in gaps have no owner.

        Raises
        ------
        LayoutError
            segments that overlap, are negative, or leave the array.

        Examples
        --------
        >>> lay = hk.Layout.indexed((8,), [[(0, 3), (6, 2)], [(3, 2)]])
        >>> lay.global_indices(0)[0].tolist(), lay.global_indices(1)[0].tolist()
        ([0, 1, 2, 6, 7], [3, 4])
        """
        if isinstance(segments, (str, bytes)) or not np.iterable(segments):
            raise LayoutError("segments: give a list of (first, length) for each process")
        lists = [segment_array(each, process) for process, each in enumerate(segments)]
        return cls._of(_pure.Layout.indexed(integers(shape, "shape"), lists))

    @classmethod
    def boxes(cls, shape: Extents, boxes: Iterable[Any]) -> Layout:
        """One box of indices for each process: bricks of any number of dimensions.

        Boxes may leave gaps, whose elements have no owner; overlapping boxes hold copies. Making
        the layout of P boxes takes O(P log P) time.

        Parameters
        ----------
        shape
            extents of the array.
        boxes
            for each process a pair ``(start, stop)``: its indices are ``start[d] <= i <
            stop[d]``. Its local array has the shape ``stop - start``.

        Raises
        ------
        LayoutError
            a box that leaves the shape, or stops before it starts.

        Examples
        --------
        >>> lay = hk.Layout.boxes((4, 6), [((0, 0), (4, 3)), ((0, 3), (4, 6))])
        >>> lay.owner((1, 4)), lay.local_index((1, 4))
        (1, (1, 1))
        """
        if isinstance(boxes, (str, bytes)) or not np.iterable(boxes):
            raise LayoutError("boxes: give a (start, stop) pair for each process")
        pairs = index_boxes(boxes)
        return cls._of(_pure.Layout.boxes(integers(shape, "shape"), pairs))

    @classmethod
    def elements(cls, shape: Extents, lists: Iterable[Any]) -> Layout:
        """Listed elements, by their row-major numbers.

        Tpetra's maps and PETSc's index sets are layouts of this kind. An element in several lists
        has copies; an element in no list has no owner.

        Parameters
        ----------
        shape
            extents of the array.
        lists
            for each process its elements' numbers, in the order of its local array, which
            has one dimension: a list, or an integer array.

        Raises
        ------
        LayoutError
            a number outside the array, or one that a process lists twice.

        Examples
        --------
        >>> lay = hk.Layout.elements(6, [[5, 0, 2], [1, 3, 4]])
        >>> lay.local_index(2)
        (2,)
        """
        if isinstance(lists, (str, bytes)) or not np.iterable(lists):
            raise LayoutError("elements: give a list of element numbers for each process")
        arrays = [
            integer_array(each, f"the elements of process {process}")
            for process, each in enumerate(lists)
        ]
        return cls._of(_pure.Layout.elements(integers(shape, "shape"), arrays))

    @classmethod
    def from_local(
        cls,
        comm: Optional[MPI.Comm],
        part: Any,
        shape: Extents | None = None,
        *,
        timeout: Optional[float] = None,
    ) -> Layout:
        """The layout of which each process gives its own part. Collective; needs MPI.

        Rank r of `comm` is process r. Every process gets all parts.

        Parameters
        ----------
        comm
            an mpi4py communicator; None: ``MPI.COMM_WORLD``.
        part
            this process's part: a tuple ``(start, stop)``, a box as for `boxes`; the same box as
            slices, one a dimension, as `slices` gives them; or a list or an integer array of
            element numbers, as for `elements`.
        shape
            extents of the array, the same on all processes. None: the smallest that hold all parts;
            for elements, of one dimension.
        timeout
            seconds; None for no limit.

        Raises
        ------
        LayoutError
            on every process, for parts of different kinds, parts that `boxes` or `elements`
            refuses, or different shapes.
        Error
            on every process, for a wrong timeout.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> from mpi4py import MPI
        >>> r = MPI.COMM_WORLD.rank
        >>> hk.Layout.from_local(MPI.COMM_WORLD, ((r, 0), (r + 1, 3))).local_shape(r)
        (1, 3)
        """
        from .from_local import layout_from_local

        return cls._of(layout_from_local(comm, part, shape, timeout))

    @classmethod
    def from_blacs(
        cls, desc: Any, grid: Any, *, transposed: bool = False, rank: Optional[int] = None
    ) -> Layout:
        """The layout of a ScaLAPACK matrix, from its array descriptor.

        ScaLAPACK's local arrays are column-major, with ``LLD_`` elements from one column to the
        next. The layout has the matrix's shape ``(M_, N_)``; a process wraps its memory as
        ``np.ndarray((LLD_, columns), dtype, memory, order="F")[:rows]``. With `transposed` it has
        the shape ``(N_, M_)``: the same memory is the row-major local array of the transpose.
        Neither copies. See the ScaLAPACK Users' Guide (Blackford et al., SIAM 1997), section 4.3.

        Parameters
        ----------
        desc
            the 9 integers of a descriptor of a dense matrix (``DTYPE_`` 1); or an array of shape
            (processes, 9), one descriptor a process.
        grid
            the BLACS grid: ``(rows, columns)`` numbers processes row by row, as ``BLACS_GRIDINIT``
            with ``'R'``; an array has the process at each grid position, as for ``BLACS_GRIDMAP``.
            ``np.arange(6).reshape((2, 3), order="F")`` is ``'C'``.
        transposed
            the layout of the transpose instead.
        rank
            the process of the descriptor `desc`, for a check of ``LLD_``. None: no check.

        Raises
        ------
        LayoutError
            another ``DTYPE_``; a source process outside the grid, or descriptors that differ, as of
            another grid; an ``LLD_`` less than the local rows; a process that is twice in the grid.

        Examples
        --------
        >>> desc = [1, 0, 10, 8, 2, 4, 1, 0, 6]  # 10 by 8 in blocks of 2 by 4, from process row 1
        >>> lay = hk.Layout.from_blacs(desc, (2, 2), rank=2)
        >>> lay.owner((0, 0)), lay.local_shape(2)
        (2, (6, 4))
        >>> hk.Layout.from_blacs(desc, (2, 2), transposed=True).local_shape(2)
        (4, 6)
        """
        from .blacs import layout_from_blacs

        return cls._of(layout_from_blacs(desc, grid, transposed, rank))

    @classmethod
    def all_from_hpf(cls, text: str, **parameters: int) -> dict[str, Layout]:
        """Every array that a Fortran program's HPF directives distribute or align, by name.

        Reads ``!HPF$ PROCESSORS``, ``TEMPLATE``, ``DISTRIBUTE`` and ``ALIGN``, declarations of
        arrays, and ``PARAMETER``, in free or fixed form; skips other lines. Dimensions keep
        Fortran's order; indices become 0-based.

        Parameters
        ----------
        text
            the program.
        parameters
            values of names that the text does not define: ``P=4, N=512``; also of the inquiry
            ``NUMBER_OF_PROCESSORS()``.

        Raises
        ------
        LayoutError
            a malformed directive (a caret points at the character), or names without a declaration.

        Examples
        --------
        >>> program = '''
        ...       REAL A(8, N), B(8)
        ... !HPF$ PROCESSORS P(2)
        ... !HPF$ DISTRIBUTE A(BLOCK, *) ONTO P
        ... !HPF$ ALIGN B(I) WITH A(I, 1)
        ... '''
        >>> {name: lay.local_shape(0) for name, lay in hk.Layout.all_from_hpf(program, N=3).items()}
        {'A': (4, 3), 'B': (4,)}
        """
        given = [(name, integer(value, name)) for name, value in parameters.items()]
        found = _pure.Layout.from_hpf(as_text(text, "the program", kind=LayoutError), given)
        return {name: cls._of(native) for name, native in found}

    @classmethod
    def from_hpf(cls, text: str, name: str | None = None, **parameters: int) -> Layout:
        """The layout of an array of a Fortran program with HPF directives; see `all_from_hpf`.

        `name` selects one (in any case) if directives map several arrays.

        Raises
        ------
        LayoutError
            also if there are several arrays and no name, or no array of that name.

        Examples
        --------
        >>> program = '''
        ...       REAL A(8, 8)
        ... !HPF$ PROCESSORS P(2)
        ... !HPF$ DISTRIBUTE A(BLOCK, *) ONTO P
        ... '''
        >>> str(hk.Layout.from_hpf(program))
        '(8, 8) (BLOCK, *) @ (2)'
        """
        found = cls.all_from_hpf(text, **parameters)
        if name is None:
            if len(found) > 1:
                raise LayoutError(f"the program maps {', '.join(found)}; name one of them")
            return next(iter(found.values()))
        for each, layout in found.items():
            if each.upper() == as_text(name, "name", "A", LayoutError).upper():
                return layout
        raise LayoutError(f"the program maps no array {name!r}; it maps {', '.join(found)}")

    @classmethod
    def from_petsc(
        cls,
        given: Any,
        *,
        shape: Extents | None = None,
        timeout: Optional[float] = None,
    ) -> Layout:
        """The layout of an object of PETSc, by the methods of petsc4py.

        The shape of a DMDA is ``(z, y, x)``, followed by its degrees of freedom if there are
        several, because x is the fastest index of its vectors. A process wraps
        ``vec.getArray().reshape(lay.local_shape(rank))`` without a copy. A Vec has one dimension; a
        Mat has blocks of rows. An IS or an LGMap gives `elements` in its own order, by a collective
        call over its communicator.

        Parameters
        ----------
        given
            a DMDA, Vec, Mat, IS or LGMap of petsc4py; or ownership ranges, as ``[0, 3, 6, 8]``: 0,
            and the end of each process's rows.
        shape
            for an IS or LGMap: extents of the array that it numbers. None: up to its largest
            number.
        timeout
            for an IS or LGMap: seconds; None for no limit.

        Raises
        ------
        LayoutError
            another object; ranges that do not begin with 0 or decrease; an index outside the shape,
            or twice on a process.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> hk.Layout.from_petsc([0, 3, 6, 8]).local_shape(2)
        (2,)
        """
        from .neighbours import layout_from_petsc

        return cls._of(layout_from_petsc(given, shape, timeout))

    @classmethod
    def from_mpi4py_fft(
        cls, darray: Any, comm: Optional[MPI.Comm] = None, *, timeout: Optional[float] = None
    ) -> Layout:
        """The layout of an array of mpi4py-fft: each process's box. Collective; needs MPI.

        Parameters
        ----------
        darray
            a ``DistArray``, which `hocket.wrap` accepts as local array without a copy; or a
            ``Pencil``, as ``fft.pencil[True]`` of a ``PFFT``.
        comm
            the communicator of its grid; None: ``MPI.COMM_WORLD``.
        timeout
            seconds; None for no limit.

        Raises
        ------
        LayoutError
            on every process: another object, or shapes that differ.
        DeadlineError
            after `timeout` seconds. It ends the wait, not the operation.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> from mpi4py import MPI
        >>> pencil = SimpleNamespace(shape=(4, 6), subshape=(4, 6), substart=(0, 0))
        >>> hk.Layout.from_mpi4py_fft(pencil, MPI.COMM_SELF).local_shape(0)
        (4, 6)
        """
        from .neighbours import layout_from_mpi4py_fft

        return cls._of(layout_from_mpi4py_fft(darray, comm, timeout))

    @classmethod
    def from_sharding(cls, mesh: Any, spec: Any, shape: Extents | None = None) -> Layout:
        """The layout of a sharded tensor of PyTorch or JAX.

        PyTorch's shards have the sizes of ``torch.chunk``, HPF's BLOCK. If several mesh dimensions
        shard one dimension of the tensor, each divides the shards of the one before. JAX's shards
        are even. Processes along mesh dimensions that shard nothing hold copies.

        Parameters
        ----------
        mesh
            torch's ``DeviceMesh``, whose ranks are the processes; or an array of ranks, or extents.
            JAX's ``Mesh``, whose devices are processes in row-major order, or a dict of its axes
            and their extents.
        spec
            torch's placements, one a mesh dimension (``Shard``, ``_StridedShard``, ``Replicate``),
            or a ``DTensor``; JAX's ``PartitionSpec`` or ``NamedSharding``, or an array of JAX.
        shape
            extents of the tensor; None if `spec` has them.

        Raises
        ------
        LayoutError
            placements that do not fit the mesh or the shape; ``Partial``; uneven shards of JAX.

        Examples
        --------
        >>> lay = hk.Layout.from_sharding({"x": 2, "y": 2}, ("y", None), (6, 4))
        >>> lay.owners((5, 0)), lay.local_shape(1)
        ([1, 3], (3, 4))
        """
        from .shardings import layout_from_sharding

        return cls._of(layout_from_sharding(mesh, spec, shape))

    def section(self, slices: Any) -> Layout:
        """The layout of ``a[slices]``: HPF's ``A(1:n:2, :)``.

        A section numbers its own elements from 0, in the order of the slices.

        Parameters
        ----------
        slices
            NumPy's basic index: integers (which drop their dimension), slices with any steps,
            ``...``.

        Raises
        ------
        LayoutError
            invalid `slices`, or an integer outside the shape.

        Examples
        --------
        >>> lay = hk.Layout((8, 4), "(BLOCK, *)", 2)
        >>> every_other_row = lay.section((slice(None, None, 2), 0))
        >>> every_other_row.shape, every_other_row.local_shape(1)
        ((4,), (2,))
        """
        return Layout._of(self._native.section(slices_of(slices, self.shape)))

    def local_section(self, slices: Any, rank: int) -> tuple[Any, ...] | None:
        """The index of a section in process `rank`'s local array.

        Returns
        -------
        tuple[Any, ...] | None
            An index for the local array: slices and integers if steps are regular, so that it gives
            a view, else arrays of integers, one a dimension (`numpy.ix_` combines them). None if
            the process holds no element of the section.

        Raises
        ------
        LayoutError
            slices that do not fit the shape, or no process `rank`.

        Examples
        --------
        >>> lay = hk.Layout((8, 4), "(BLOCK, *)", 2)
        >>> lay.local_section((slice(3, 6), 0), rank=1)  # rows 4 and 5 are its first two
        (slice(0, 2, 1), 0)
        """
        found: tuple[Any, ...] | None = self._native.local_section(
            slices_of(slices, self.shape), integer(rank, "rank")
        )
        return found

    def relabeled(self, ranks: Iterable[int], size: int | None = None) -> Layout:
        """The same parts on other processes: process ``ranks[r]`` holds the part of process `r`.

        Parameters
        ----------
        ranks
            one process for each of this layout's; see `hocket.relabel`.
        size
            number of processes; processes not in `ranks` hold nothing. None: the highest in `ranks`
            plus 1.

        Raises
        ------
        LayoutError
            not one process for each part, or one process twice.

        Examples
        --------
        >>> lay = hk.Layout((6,), "(BLOCK)", 3)
        >>> lay.relabeled([2, 0, 1]).owner(0)
        2
        """
        new_size = 0 if size is None else integer(size, "size")
        if size is not None and new_size < 1:
            raise LayoutError(f"size is {size}; a layout has 1 process or more")
        return Layout._of(self._native.relabeled(integers(ranks, "ranks"), new_size))

    @classmethod
    def parse(cls, text: str, shape: Extents | None = None) -> Layout:
        """The layout that the text describes, as ``str(layout)`` gives it.

        With `shape`, the text may omit the shape: ``Layout.parse("(BLOCK, *) @ 4", (12, 12))``.

        Raises
        ------
        LayoutError
            malformed text; a caret points at the character.

        Examples
        --------
        >>> hk.Layout.parse("(8, 8) (BLOCK, *) @ (2)") == hk.Layout((8, 8), "(BLOCK, *)", 2)
        True
        """
        given = as_text(text, "the layout's text", kind=LayoutError)
        if shape is None:
            return cls._of(_pure.Layout.parse(given))
        return cls._of(_pure.Layout.parse_with(given, integers(shape, "shape")))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Layout.parse, (str(self),))
