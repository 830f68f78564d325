# SPDX-License-Identifier: BSD-3-Clause
"""Transfers: plans ready to run, which move arrays between two layouts again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import numpy.typing as npt

from hocket import _mpi, dtypes
from hocket.arguments import as_bytes, as_seconds, as_text
from hocket.arrays import Array, local_shape
from hocket.calls import collective, kind_of
from hocket.communicators import communicator
from hocket.creation import empty
from hocket.errors import Error, MismatchError
from hocket.layouts import Layout
from hocket.redistribution import as_axes, require_conversion, wire_type

if TYPE_CHECKING:
    from mpi4py import MPI


def transfer(
    src: Union[Layout, Array],
    dst: Union[Layout, Array],
    *,
    axes: Optional[Sequence[int]] = None,
    dtype: Optional[npt.DTypeLike] = None,
    strategy: str = "auto",
    comm: Optional[MPI.Comm] = None,
    timeout: Optional[float] = None,
    max_buffer: Optional[int] = None,
) -> Transfer:
    """Prepares a transfer between two layouts, for any of their arrays. Collective over `comm`.

    The processes agree on the layouts, make the plan and connect once. Each start then only moves
    data. This is init, exec and free of CDT (Foster, Kohr, Krishnaiyer and Choudhary, "A Data
    Transfer Library for Communicating Data-Parallel Tasks", section 2.1) within one program, like
    MPI's persistent collectives (MPI 4.1, section 6.13).

    Parameters
    ----------
    src, dst
        layouts, or arrays that have them; process ``r`` of either is rank ``r``. Arrays also set
        the element type; otherwise the first start sets it.
    axes
        the result is ``numpy.transpose(source, axes)``
    dtype
        dtype of the destination arrays, converted as by ``numpy.ndarray.astype``
    strategy
        as for `plan`; ``"auto"``: the fastest one by the model
    comm
        None: that of the arrays; for layouts ``MPI.COMM_WORLD``
    timeout
        seconds after which the wait for the other processes ends with `DeadlineError`
    max_buffer
        the most bytes of message buffers on this process, 2 MiB or more; None:
        ``HOCKET_MAX_BUFFER``, else 256 MiB

    Returns
    -------
    Transfer

    Raises
    ------
    LayoutError, MismatchError, Error
        on every process, if any process has wrong arguments.
    DeadlineError
        after `timeout` seconds.

    Examples
    --------
    On two processes:

    >>> rows, columns = hk.Layout((2, 4), "(BLOCK, *)", 2), hk.Layout((2, 4), "(*, BLOCK)", 2)
    >>> a = hk.from_function(lambda i, j: 10 * i + j, rows, "int64")
    >>> b = hk.empty(columns, "int64")
    >>> x = hk.transfer(a, b)
    >>> for step in range(3):
    ...     a.local[...] += 1
    ...     x(a, b)
    >>> b.local.tolist() == ([[3, 4], [13, 14]] if b.comm.rank == 0 else [[5, 6], [15, 16]])
    True
    >>> x.free()
    """
    arrays = [each for each in (src, dst) if isinstance(each, Array)]
    on = communicator(arrays[0].comm if arrays and comm is None else comm)
    with collective(on, timeout) as seconds:
        for array in arrays:
            if array.comm != on:
                raise MismatchError(
                    "the arrays of a transfer and comm= are different communicators; make all of "
                    "them on the same one"
                )
        source, destination = _layout_of(src, "src", on), _layout_of(dst, "dst", on)
        order = [] if axes is None else as_axes(axes, len(source.shape))
        wanted = None if dtype is None else dtypes.resolve(dtype)
        has = src.dtype if isinstance(src, Array) else None
        gets = dst.dtype if isinstance(dst, Array) else None
        if wanted is None and has is not None and gets is not None and has != gets:
            raise MismatchError(
                f"src holds {has}, but dst {gets}; give arrays of one type, or ask for "
                f"conversion: dtype={str(gets)!r}"
            )
        if wanted is not None and gets is not None and gets != wanted:
            raise MismatchError(f"dst holds {gets}, but dtype= asks for {wanted}; make them match")
        wire = has or gets
        if wanted is not None:
            wire = None if has is None else wire_type(has, wanted)
        named = as_text(strategy, "strategy", "direct")
        most = None if max_buffer is None else as_bytes(max_buffer, "max_buffer")
    core = _mpi.Transfer(
        source._native,
        destination._native,
        "" if wire is None else dtypes.name_of(wire),
        0 if wire is None else wire.itemsize,
        on.handle,
        order,
        named,
        seconds,
        most,
    )
    return Transfer(core, source, destination, wanted, has)


def _layout_of(given: Any, which: str, comm: MPI.Comm) -> Layout:
    layout = given.layout if isinstance(given, Array) else given
    if not isinstance(layout, Layout):
        raise Error(f"{which} is {type(given).__name__}; give a layout, or an array that has one")
    local_shape(layout, comm)
    return layout


class Transfer:
    """A plan that is ready to run; `transfer` makes it.

    Several transfers may be under way at once. Every process starts them in the same order.

    Examples
    --------
    On two processes:

    >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
    >>> x = hk.transfer(blocks, cyclic)
    >>> a, b = hk.from_function(lambda i: i, blocks, "int64"), hk.empty(cyclic, "int64")
    >>> x.start(a, b)
    >>> x.wait(timeout=60)
    >>> b.local.tolist() == ([0, 2] if b.comm.rank == 0 else [1, 3])
    True
    """

    __slots__ = ("_core", "_destination", "_from", "_moved", "_source", "_staged", "_to")

    def __init__(
        self,
        core: _mpi.Transfer,
        source: Layout,
        destination: Layout,
        to: Optional[np.dtype[Any]],
        has: Optional[np.dtype[Any]],
    ) -> None:
        self._core = core
        self._source, self._destination = source, destination
        # types of a conversion; None: no conversion, or not known yet
        self._to, self._from = to, has
        # The arrays that travel in place of converted ones, and their type.
        self._staged: Optional[tuple[np.dtype[Any], Optional[Array], Optional[Array]]] = None
        # Of the last start: the type of its source, the array that travelled, and the one that gets
        # its converted elements.
        self._moved: Optional[tuple[np.dtype[Any], Array, Array]] = None

    def start(self, a: Array, b: Array) -> None:
        """Starts to copy `a` into `b`, any arrays of the transfer's layouts and types.

        A start does not plan, allocate or agree by messages, except for the first start of a
        transfer without a type. Until `wait` returns, the program must not change `a` nor touch
        `b`; the transfer keeps both alive. Collective over the transfer's communicator.

        Raises
        ------
        MismatchError
            for an array of another layout, type or communicator. The `wait` of the receivers of
            this process raises it, too. All others finish. The program can start the transfer
            again.
        Error
            for an object that is no array, and a destination that is read-only or shares memory
            with the source; the receivers of this process raise it, too. Also if the transfer was
            freed, or is under way; then nothing starts, and other processes that have started it
            wait for this one.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> x = hk.transfer(blocks, cyclic)
        >>> a, b = hk.from_function(lambda i: i, blocks, "int64"), hk.empty(cyclic, "int64")
        >>> x.start(a, b)
        >>> x.wait()
        """
        if type(a) is type(b) is Array and (self._to is None or self._keeps_type(a, b)):
            source, destination = a, b
        else:
            try:
                source, destination = self._ends(a, b)
                if source is not a:
                    _convert(a, source)
            except Exception as error:
                self._core.refuse(kind_of(error), str(error) or repr(error))
        self._core.start(source._wrapped(), destination._wrapped())
        self._moved = (a._local.dtype, destination, b)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the program may use both arrays again on this process.

        Raises
        ------
        DeadlineError
            after `timeout` seconds. It ends the wait, not the transfer: wait again.
        MismatchError, Error
            the error of a sender to this process that could not start; names the sender. Error also
            for a transfer that this process has not started, or was freed, and a wrong timeout.
        PeerLostError
            about a second after the end of another process of the job.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> x = hk.transfer(blocks, cyclic)
        >>> x.start(hk.zeros(blocks), hk.empty(cyclic))
        >>> x.wait(timeout=60)
        """
        self._core.wait(None if timeout is None else as_seconds(timeout))
        self._finish()

    def test(self) -> bool:
        """Whether the program may use both arrays again on this process. Never waits.

        Raises
        ------
        MismatchError, Error, PeerLostError
            as `wait`.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> x = hk.transfer(blocks, cyclic)
        >>> x.start(hk.zeros(blocks), hk.empty(cyclic))
        >>> while not x.test():
        ...     pass  # something else is done meanwhile
        """
        done = self._core.test()
        if done:
            self._finish()
        return done

    def __call__(self, a: Array, b: Array, timeout: Optional[float] = None) -> None:
        """`start` and `wait`.

        Raises
        ------
        MismatchError, Error, DeadlineError, PeerLostError
            as these do.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> x = hk.transfer(blocks, cyclic)
        >>> x(hk.zeros(blocks), hk.empty(cyclic))
        """
        # One call of the C++ library and no other, because a small transfer takes as long as a few.
        if (
            timeout is None
            and self._to is None
            and type(a) is type(b) is Array
            and a._home is b._home is None
            and b._local.flags.writeable
            and self._core.run(a._core, b._core)
        ):
            return
        self.start(a, b)
        self.wait(timeout)

    def free(self) -> None:
        """Frees the plan and its buffers. Local, not collective.

        Raises
        ------
        Error
            while the transfer is under way: wait for it first; and if it was freed before.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> x = hk.transfer(blocks, cyclic)
        >>> x(hk.zeros(blocks), hk.empty(cyclic))
        >>> x.free()
        """
        self._core.free()
        self._staged = self._moved = None

    def _keeps_type(self, a: Array, b: Array) -> bool:
        """Whether dtype= is what both hold already; a common type is one object."""
        to = self._to
        return a._local.dtype is b._local.dtype is to and (self._from is None or self._from is to)

    def _ends(self, a: Any, b: Any) -> tuple[Array, Array]:
        """The arrays that travel: the given ones, or others for a conversion.

        Raises `Error` and `MismatchError`.
        """
        for array, which in ((a, "source"), (b, "destination")):
            if not isinstance(array, Array):
                raise Error(
                    f"the {which} array of a transfer's start is {type(array).__name__}: give an "
                    "array made by hk.empty, hk.wrap, …"
                )
        if self._to is None:
            return a, b
        if b.dtype != self._to or (self._from is not None and a.dtype != self._from):
            raise MismatchError(
                f"this transfer converts {self._from or 'arrays'} to {self._to}, and cannot start "
                f"with {a.dtype} and {b.dtype}; give arrays of these types"
            )
        if a.layout != self._source or b.layout != self._destination:
            return a, b  # which is refused
        if self._staged is None or self._staged[0] != a.dtype:
            require_conversion(a.dtype, self._to)
            wire = wire_type(a.dtype, self._to)
            self._staged = (
                a.dtype,
                None if wire == a.dtype else empty(self._source, wire, a.comm),
                None if wire == self._to else empty(self._destination, wire, a.comm),
            )
        _, source, landing = self._staged
        return (a if source is None else source), (b if landing is None else landing)

    def _finish(self) -> None:
        moved, self._moved = self._moved, None
        if moved is None:
            return
        has, came, into = moved
        if self._to is not None:
            self._from = has
        if came is not into:
            _convert(came, into)
        if into._home is not None:
            into._settle()

    def _insert(self, flow: Any, a: Array, b: Array, priority: int) -> None:
        """The transfer as a step of a flow: `Flow.transfer`."""
        try:
            source, destination = self._ends(a, b)
        except Error as error:
            kind, words = kind_of(error), str(error)
            flow._core.refuse(self._core, kind, words, priority)
            return
        if source is not a:
            flow.task(lambda: _convert(a, source), [a], [source], name="convert")
        flow._core.transfer(self._core, source._wrapped(), destination._wrapped(), priority)
        if destination is not b:
            flow.task(lambda: _convert(destination, b), [destination], [b], name="convert")
        if b._home is not None:
            flow.task(b._settle, [b._local], [b], name="settle")

    def __repr__(self) -> str:
        to = "" if self._to is None else f", as {self._to}"
        return f"<hocket.Transfer {self._source} to {self._destination}{to}>"


def _convert(values: Array, into: Array) -> None:
    try:
        np.copyto(into._local, values.local, casting="unsafe")
    except (TypeError, ValueError) as error:
        raise MismatchError(
            f"NumPy converts these {values.dtype} not to {into.dtype} ({error}); leave dtype= out, "
            "or give one that astype() takes"
        ) from None
