# SPDX-License-Identifier: BSD-3-Clause
"""Plans: the elements that each process sends to each other process. Needs no MPI."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _pure, costs
from .arguments import as_text, integer, integers
from .errors import LayoutError
from .layouts import Layout
from .logs import logger
from .relabeling import Relabeling, relabel

if TYPE_CHECKING:
    from mpi4py import MPI

    Alltoallw = tuple[
        list[int], list[int], list[MPI.Datatype], list[int], list[int], list[MPI.Datatype]
    ]

__all__ = ["Plan", "plan", "relabel"]

Overlap = Union[Mapping[int, int], Iterable[int], None]
Traffic = list[tuple[int, int]]
Nodes = Union[tuple[Iterable[int], Iterable[int]], None]
Step = tuple[int, str, tuple[str, int], int]

_SOURCE = {"src", "source"}
_DESTINATION = {"dst", "destination"}


def _overlap_list(overlap: Overlap, size: int) -> list[int]:
    """For each process of the destination the source process that is the same process, or -1."""
    if overlap is None:
        return []
    if isinstance(overlap, Relabeling):
        return [there if there < overlap.source_size else -1 for there in overlap]
    if not isinstance(overlap, Mapping):
        if isinstance(overlap, (str, bytes)) or not np.iterable(overlap):
            raise LayoutError(
                f"overlap is {overlap!r}; give for each destination process the source process "
                "that is the same one, as {0: 0, 1: 1}"
            )
        return [-1 if item is None else integer(item, "overlap") for item in overlap]
    result = [-1] * size
    for key, value in overlap.items():
        here, there = integer(key, "overlap"), integer(value, "overlap")
        if not 0 <= here < size:
            raise LayoutError(
                f"overlap names destination process {here}, but the destination's processes are "
                f"0 to {size - 1}"
            )
        if there < 0:
            raise LayoutError(
                f"overlap says that destination process {here} is source process {there}; leave "
                f"out the processes that are none"
            )
        result[here] = there
    return result


def _nodes(nodes: Nodes) -> tuple[list[int], list[int]]:
    """The nodes of the processes of both sides, empty where none are given."""
    if nodes is None:
        return [], []
    try:
        source, destination = nodes
    except (TypeError, ValueError):
        raise LayoutError(
            f"nodes is {nodes!r}; give a list for each side, the node of each process, as "
            "([0, 0], [1, 1])"
        ) from None
    return integers(source, "nodes"), integers(destination, "nodes")


class Plan:
    """The plan of a transfer from a source layout to a destination layout. `plan` makes plans.

    Examples
    --------
    >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
    >>> p = hk.plan(rows, columns)
    >>> p.strategy, p.rounds, p.message_count, p.elements_moved
    ('direct', 2, 4, 16)
    """

    __slots__ = ("_native", "destination", "itemsize", "source")

    def __init__(
        self,
        source: Layout,
        destination: Layout,
        native: _pure.Plan,
        itemsize: int,
    ) -> None:
        self.source = source
        self.destination = destination
        self.itemsize = itemsize
        self._native = native

    @property
    def strategy(self) -> str:
        """The chosen strategy, never ``"auto"``.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="staged").strategy
        'staged'
        """
        return self._native.strategy

    @property
    def axes(self) -> tuple[int, ...]:
        """The destination is the source transposed by these axes, as in `numpy.transpose`.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, axes=(1, 0)).axes
        (1, 0)
        """
        return self._native.axes

    def sends(self, rank: int) -> Traffic:
        """The receivers of source process `rank` and their numbers of elements, whatever the
        strategy.

        Sorted by process, without zeros, including the process itself.

        Raises
        ------
        LayoutError
            there is no process `rank` of the source.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns).sends(1)
        [(0, 4), (1, 4)]
        """
        return self._native.sends(integer(rank, "rank"))

    def recvs(self, rank: int) -> Traffic:
        """The senders to destination process `rank` and their numbers of elements; as `sends`.

        Raises
        ------
        LayoutError
            there is no process `rank` of the destination.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns).recvs(0)
        [(0, 4), (1, 4)]
        """
        return self._native.recvs(integer(rank, "rank"))

    def common(self, side: str, rank: int) -> Traffic:
        """The number of elements that process `rank` of `side` and each process of the other side
        both hold.

        Sorted, without zeros. Counts every copy of the source, although only one is sent.

        Raises
        ------
        LayoutError
            there is no such side or process.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns).common("src", 0)
        [(0, 4), (1, 4)]
        """
        return self._native.common(self._is_source(side), integer(rank, "rank"))

    def steps(self, side: str, rank: int) -> list[Step]:
        """The messages in which process `rank` of `side` (``"src"`` or ``"dst"``) takes part.

        Returns
        -------
        list[Step]
            ``[(round, "send" or "recv", (side, rank) of the peer, elements), …]`` in the order of
            rounds. Elements that stay on their process are no message.

        Raises
        ------
        LayoutError
            there is no such side or process.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="direct").steps("src", 0)
        [(0, 'send', ('dst', 0), 4), (1, 'send', ('dst', 1), 4)]
        """
        return self._native.steps(self._is_source(side), integer(rank, "rank"))

    def cargo(self, side: str, rank: int) -> list[list[tuple[int, int, int]]]:
        """The contents of each message of `steps`, in the order in which the message stores them.

        Returns
        -------
        list[list[tuple[int, int, int]]]
            ``[[(source process, destination process, elements), …], …]``, one list for each of
            ``steps(side, rank)``.

        Raises
        ------
        LayoutError
            there is no such side or process.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="direct").cargo("src", 0)
        [[(0, 0, 4)], [(0, 1, 4)]]
        """
        return self._native.cargo(self._is_source(side), integer(rank, "rank"))

    def boxes(self, side: str, rank: int) -> list[tuple[int, list[Any]]]:
        """The elements that process `rank` of `side` exchanges, as strided boxes of the two local
        arrays.

        Returns
        -------
        list[tuple[int, list[Any]]]
            ``[(peer, [(first in the source's local array, first in the destination's, loops), …]),
            …]`` with loops ``(extent, source dimension, source step, destination dimension,
            destination step)``, outermost first: the order of elements in the message.

        Raises
        ------
        LayoutError
            there is no such side or process.

        Examples
        --------
        >>> p = hk.plan(hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(*)"))
        >>> p.boxes("src", 1)  # its two elements go to places 2 and 3
        [(0, [((0,), (2,), [(2, 0, 1, 0, 1)])])]
        """
        return self._native.boxes(self._is_source(side), integer(rank, "rank"))

    def alltoallw(self, rank: int, comm_size: Optional[int] = None) -> Alltoallw:
        """The arguments for ``comm.Alltoallw`` on process `rank`, which move the array with MPI
        alone.

        Process ``r`` of both layouts is rank ``r``. The strategy does not matter: every process
        sends its elements to every other process in one message.

        Parameters
        ----------
        rank
            rank in the communicator; a process beyond a layout sends or receives nothing there
        comm_size
            size of the communicator; None: that of the larger layout

        Returns
        -------
        tuple
            ``(sendcounts, sdispls, sendtypes, recvcounts, rdispls, recvtypes)``, each with an entry
            a process. Counts are 1, or 0 for peers without elements. Displacements are 0, because
            ``Alltoallw`` limits them to 2 GiB; the datatypes contain 64-bit displacements instead.
            The types are committed and count from the first element of a dense local array (C
            order) of `itemsize` bytes an element. The caller frees all of them with ``Free()``.

        Raises
        ------
        LayoutError
            there is no such process, or `comm_size` is smaller than a layout's number of processes.
        Error
            `comm_size` is no integer.

        Examples
        --------
        On two processes:

        >>> from mpi4py import MPI
        >>> comm = MPI.COMM_WORLD
        >>> rows, columns = hk.Layout((2, 4), "(BLOCK, *)", 2), hk.Layout((2, 4), "(*, BLOCK)", 2)
        >>> a = hk.from_function(lambda i, j: 10.0 * i + j, rows)
        >>> b = np.empty(columns.local_shape(comm.rank))
        >>> p = hk.plan(rows, columns, itemsize=8)
        >>> counts, places, types, *receives = p.alltoallw(comm.rank)
        >>> comm.Alltoallw([a.local, counts, places, types], [b, *receives])
        >>> b.tolist() == ([[0, 1], [10, 11]] if comm.rank == 0 else [[2, 3], [12, 13]])
        True
        >>> for each in types + receives[2]:
        ...     each.Free()
        """
        from . import datatypes

        processes = datatypes.processes_of(self, comm_size)
        sends, receives = datatypes.ends_of(self, integer(rank, "rank"), processes)
        return (*sends, *receives)

    @staticmethod
    def _is_source(side: str) -> bool:
        if isinstance(side, str) and side in _SOURCE | _DESTINATION:
            return side in _SOURCE
        raise LayoutError(f"there is no side {side!r}; name 'src' or 'dst'")

    @property
    def rounds(self) -> int:
        """The number of rounds. In a round, each process sends at most one message and receives at
        most one.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="direct").rounds
        2
        """
        return self._native.rounds

    @property
    def message_count(self) -> int:
        """Messages between different processes.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="direct").message_count
        4
        """
        return self._native.message_count

    @property
    def elements_moved(self) -> int:
        """The number of elements in all messages together.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns, strategy="direct").elements_moved
        16
        """
        return self._native.elements_moved

    def predict(self, model: Mapping[str, float] | None = None) -> dict[str, float]:
        """The predicted seconds of each strategy, by a linear cost model.

        A stage of a strategy takes as long as its slowest process, whose sends and receives
        overlap. `model` gives costs by name, as `model()` does; None: the plan's model. For more
        than 65536 direct messages, the model uses the sums of each process instead of its messages
        (Avalani et al., section 2.2).

        Raises
        ------
        LayoutError
            the model has unknown names, or values that are no seconds.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> seconds = hk.plan(rows, columns).predict({"message": 1e-3})
        >>> seconds["direct"] < seconds["multistage"]
        True
        """
        if model is None:
            return self._native.predict_by_own()
        return self._native.predict(costs.checked(model))

    def table(self) -> str:
        """The strategies with their predicted seconds, the chosen one marked.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> print(hk.plan(rows, columns).table())
          strategy     predicted
        * direct       ... s
        ...
        """
        rows = [
            f"{'*' if name == self.strategy else ' '} {name:<12} {seconds:.3g} s"
            for name, seconds in sorted(self.predict().items(), key=lambda item: item[1])
        ]
        return "\n".join(["  strategy     predicted", *rows])

    def explain(self) -> str:
        """The plan as text: the layouts, the totals, and the first processes' traffic.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> print(hk.plan(rows, columns, strategy="direct").explain())
        source       (4, 4) (BLOCK, *) @ (2)
        destination  (4, 4) (*, BLOCK) @ (2)
        strategy     direct: 2 rounds, 4 messages, 16 elements (128 bytes) move
        <BLANKLINE>
        process 0 sends 4 to 0, 4 to 1
        process 1 sends 4 to 0, 4 to 1
        ...
        """
        lines = [
            f"source       {self.source}",
            f"destination  {self.destination}",
        ]
        if self.axes != tuple(range(len(self.axes))):
            lines.append(f"axes         {self.axes}")
        totals = ""
        with contextlib.suppress(LayoutError):  # too many messages to count
            totals = (
                f", {self.message_count} messages, {self.elements_moved} elements "
                f"({self.elements_moved * self.itemsize} bytes) move"
            )
        lines += [f"strategy     {self.strategy}: {self.rounds} rounds{totals}", ""]
        shown = min(self.source.size, 16)
        for rank in range(shown):
            peers = self.sends(rank)
            parts = [f"{elements} to {process}" for process, elements in peers[:12]]
            if len(peers) > 12:
                parts.append(f"… and to {len(peers) - 12} more")
            lines.append(f"process {rank} sends {', '.join(parts) if parts else 'nothing'}")
        if shown < self.source.size:
            lines.append(f"… and {self.source.size - shown} more processes")
        return "\n".join([*lines, "", self.table()])

    def plot(self, path: str) -> None:
        """Draws both layouts, and the traffic between each two processes, to an image file.

        Raises
        ------
        Error
            matplotlib is not installed, or hocket cannot write the file.

        Examples
        --------
        >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
        >>> hk.plan(rows, columns).plot("plan.png")
        """
        from . import plotting

        plotting.plot_plan(self, path)

    def _repr_html_(self) -> str:
        from .notebook import plan_html

        return plan_html(self)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<Plan {self.source} -> {self.destination}, {self.strategy}>"


def plan(
    src: Layout,
    dst: Layout,
    *,
    axes: Iterable[int] | None = None,
    itemsize: int = 8,
    strategy: str = "auto",
    stages: int | None = None,
    overlap: Overlap = None,
    model: Mapping[str, float] | None = None,
    nodes: Nodes = None,
) -> Plan:
    """Plans the move of an array from one layout to another. Pure: needs no MPI, moves no element.

    Parameters
    ----------
    src
        the source layout.
    dst
        the destination layout: of the same shape, or of `src`'s transposed by `axes`.
    axes
        as in `numpy.transpose`.
    itemsize
        bytes of one element.
    strategy
        ``"direct"``, ``"centralized"``, ``"staged"``, ``"multistage"``, ``"hybrid"``; ``"auto"``:
        the fastest one by the model. For more than 65536 pairs of processes, only strategies
        whose messages each process can find by itself: between grids all five, but multistage and
        hybrid only if the source has no copies, and hybrid only if each side is on one node; direct
        if a layout has boxes or lists.
    stages
        for staged and centralized: the number of collecting processes of the larger side, from 1
        (gather, one message, scatter). None: as many as the smaller side has processes; for
        centralized one, which sends to all.
    overlap
        destination process -> the source process that is the same process (a mapping, or one entry
        a process, -1 for none; or the result of `relabel`). None: the sides are disjoint.
    model
        costs of messages, as `model()` gives them; missing ones have their defaults. None:
        `model()`.
    nodes
        for each side the node of each process, as arbitrary numbers. None: one node for all; or one
        node a side, if the sides are disjoint and the model has costs between nodes.

    Raises
    ------
    LayoutError
        shapes that do not match, axes that are no permutation, an overlap that is not one-to-one,
        an unknown strategy, a strategy without stages, or stages out of range.

    Examples
    --------
    >>> rows, columns = hk.Layout((4, 4), "(BLOCK, *)", 2), hk.Layout((4, 4), "(*, BLOCK)", 2)
    >>> p = hk.plan(rows, columns)
    >>> p.sends(0)  # process 0 has two rows, of which each process gets two columns
    [(0, 4), (1, 4)]
    >>> hk.plan(rows, columns, overlap=[0, 1]).elements_moved  # the same two processes
    8
    """
    for layout, name in ((src, "src"), (dst, "dst")):
        if not isinstance(layout, Layout):
            raise LayoutError(f"{name} is {layout!r}; give a Layout")
    size = integer(itemsize, "itemsize")
    given_axes = [] if axes is None else integers(axes, "axes")
    if axes is not None and not given_axes and src.ndim > 0:
        raise LayoutError(f"axes () do not fit the shape {src.shape}; name each dimension once")
    staged = 0
    if stages is not None:
        staged = integer(stages, "stages")
        if staged < 1:
            raise LayoutError(f"stages is {stages!r}; traffic passes through 1 process or more")
    source_nodes, destination_nodes = _nodes(nodes)
    native = _pure.Plan(
        src._native,
        dst._native,
        given_axes,
        size,
        as_text(strategy, "strategy", "direct", LayoutError),
        _overlap_list(overlap, dst.size),
        staged,
        None if model is None else costs.checked(model),
        source_nodes,
        destination_nodes,
    )
    made = Plan(src, dst, native, size)
    if strategy == "auto" and logger.isEnabledFor(logging.DEBUG):
        logger.debug("strategy %s for %s to %s:\n%s", made.strategy, src, dst, made.table())
    return made
