# SPDX-License-Identifier: BSD-3-Clause
"""Assignments of processes to the parts of a layout that move the fewest elements."""

from __future__ import annotations

from collections.abc import Iterable

from . import _pure
from .arguments import integers
from .errors import LayoutError
from .layouts import Layout

__all__ = ["Relabeling", "relabel"]


class Relabeling(list[int]):
    """A permutation: entry r is the process that takes the destination's part r.

    Attributes
    ----------
    moved
        elements that move between processes with this assignment.
    moved_without
        elements that move if process r takes part r.
    source_size
        number of processes of the source; higher entries are processes beyond it.
    """

    def __init__(
        self, ranks: Iterable[int], moved: int, moved_without: int, source_size: int
    ) -> None:
        super().__init__(ranks)
        self.moved = moved
        self.moved_without = moved_without
        self.source_size = source_size

    @property
    def saving(self) -> float:
        """The fraction of the elements that this assignment saves from moving, 0 to 1."""
        if self.moved_without == 0:
            return 0.0
        return 1.0 - self.moved / self.moved_without

    def __str__(self) -> str:
        return (
            f"{list(self)}: {self.moved} elements move instead of {self.moved_without} "
            f"({100 * self.saving:.1f} % fewer)"
        )


def relabel(src: Layout, dst: Layout, *, axes: Iterable[int] | None = None) -> Relabeling:
    """Assigns processes to the destination's parts so that the fewest elements move.

    Exact, by shortest augmenting paths over the pairs of processes that share elements (Jonker and
    Volgenant, Computing 38, 1987). Process r keeps part r if a change gains nothing. (COSTA's
    process relabeling, Kabic et al. 2021, is a greedy one.)

    Parameters
    ----------
    src
        the source layout.
    dst
        the destination layout.
    axes
        as in `hocket.plan`.

    Returns
    -------
    Relabeling
        ``perm``, a list: process ``perm[r]`` of the source takes part r of the destination. Use it
        as ``overlap=`` of `hocket.plan`, and ``dst.relabeled(perm)`` as the layout of a
        redistribution or a new array. If the destination has more processes than the source,
        entries may name processes beyond the source.

    Raises
    ------
    LayoutError
        shapes that do not match.

    Examples
    --------
    >>> old = hk.Layout(8, "(BLOCK)", 4)
    >>> new = old.relabeled([1, 2, 3, 0])  # process 1 has the first part now
    >>> perm = hk.relabel(old, new)
    >>> list(perm), perm.moved, perm.moved_without
    ([3, 0, 1, 2], 0, 8)
    >>> new.relabeled(perm) == old
    True
    """
    for layout, name in ((src, "src"), (dst, "dst")):
        if not isinstance(layout, Layout):
            raise LayoutError(f"{name} is {layout!r}; give a Layout")
    given = [] if axes is None else integers(axes, "axes")
    ranks, moved, moved_without = _pure.relabel(src._native, dst._native, given)
    return Relabeling(ranks, moved, moved_without, src.size)
