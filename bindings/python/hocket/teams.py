# SPDX-License-Identifier: BSD-3-Clause
"""Teams: synchronous aggregate operations of any subset of processes.

The operations are those of Dietz, Chung, Mattox: "A Parallel Processing Support Library Based On
Synchronized Aggregate Communication" (PAPERS).
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arguments import as_number, printable
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.errors import Error
from hocket.team_calls import BOOL, FOLDS, INT32, OF, ONE, Calls, Op
from hocket.team_requests import TeamRequest
from hocket.team_values import check_fold, check_out, mask_of, plain, words_of

if TYPE_CHECKING:
    from mpi4py import MPI


_STARTED = ["wait", "any", "all", "rank", *(f"{way}_{fold}" for way in OF for fold in FOLDS)]


def started(name: str) -> Op:
    """The operation of that name, if a program can start it."""
    if name not in _STARTED:
        raise Error(f"{name!r} is none of {', '.join(_STARTED)}")
    found: Op = getattr(Op, name)
    return found


class Team(Calls):
    """Groups of processes that perform operations together, by shared memory within a node.

    Masks, sources, votes and results number processes as in the root team. A mask is an integer
    whose bit p stands for process p. A value is a NumPy scalar. Its dtype (bool, int8 to int64,
    uint8 to uint64, float32, float64) selects the operation, and is the dtype of the result; bool,
    int and float convert as in NumPy. ``bits=n`` uses only the low n bits of an unsigned value.

    Every operation that communicates is a barrier of the team, and all processes of the team make
    the same call. Teams that share two processes or more call their operations in the same order.
    All take ``timeout``, in seconds, which ends the wait, not the operation.

    Scans and `putget` take ``barrier=False``: if all of the team share memory, a process waits only
    for those whose values it takes, and may be 16 calls ahead of those that take its own. An error
    of such a call breaks the root team. Over several nodes they stay barriers.

    Parameters
    ----------
    comm
        an mpi4py communicator, whose processes are the root team; None: COMM_WORLD. Collective.
    timeout
        seconds, or None

    Raises
    ------
    MismatchError
        by operations, if processes call different ones, or pass different types.
    Error
        for wrong arguments: on all processes of the team, naming the one; and if an awaited process
        has left.
    DeadlineError, PeerLostError
        if the timeout passes; if an awaited process has ended.

    Examples
    --------
    On two processes:

    >>> team = hk.Team()
    >>> float(team.reduce_max(np.float32(team.process / 2)))
    0.5
    >>> team.any(team.process == 1), team.all(team.process == 1)
    (True, False)
    """

    __slots__ = ("_members",)

    def __init__(self, comm: Optional[MPI.Comm] = None, *, timeout: Optional[float] = None) -> None:
        on = communicator(comm)
        with collective(on, timeout) as seconds:
            pass
        self._core = _mpi.Team(on.handle, seconds)
        self._members: Optional[npt.NDArray[np.intp]] = None

    def __repr__(self) -> str:
        names = ", ".join(map(str, self._core.processes))
        return f"<hocket.Team {{{names}}} of {self.size}, process {self.process}>"

    def enqueue(self, mask: int) -> Team:
        """The team of the masked processes of the root team, which include this one.

        Does not communicate. Raises `Error` for an empty mask, a mask without this process, or with
        a process that does not exist.

        As `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> alone = team.enqueue(1 << team.process)
        >>> alone.population(), int(alone.reduce_add(5))
        (1, 5)
        """
        try:
            bits = operator.index(mask)
        except TypeError:
            raise Error(f"enqueue: the mask is {mask!r}; give an integer") from None
        if bits < 0:
            raise Error(f"enqueue: the mask is {bits}; a mask has no sign")
        made = object.__new__(Team)
        made._core = self._core.enqueue(words_of(bits))
        made._members = None
        return made

    @property
    def process(self) -> int:
        """This process's number in the root team.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.process == team.enumerate()  # the root team has all
        True
        """
        return self._core.process

    @property
    def size(self) -> int:
        """The number of processes of the root team.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.size
        2
        """
        return self._core.size

    @property
    def mask(self) -> int:
        """The processes of this team, as a mask.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> bin(team.mask)
        '0b11'
        """
        return mask_of(self._core.mask)

    @property
    def shares_memory(self) -> bool:
        """Whether all processes are on one node, so that operations need no MPI messages.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.shares_memory  # both on one node
        True
        """
        return self._core.shares_memory

    def population(self) -> int:
        """The number of processes of this team.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.population(), team.enqueue(1 << team.process).population()
        (2, 1)
        """
        return self._core.population()

    def enumerate(self) -> int:
        """The number of processes of this team with lower numbers than this process.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.enumerate() == team.process
        True
        """
        return self._core.enumerate()

    def select_first(self) -> int:
        """The lowest process of this team.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.select_first()
        0
        """
        return self._core.select_first()

    def select_one(self) -> int:
        """One process of this team, the same on all.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.select_one() in (0, 1)
        True
        """
        return self._core.select_one()

    def wait(self, *, timeout: Optional[float] = None) -> None:
        """A barrier.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.wait(timeout=60)
        """
        self._core.run(Op.wait, BOOL, b"", 0, 0, self._seconds(Op.wait, timeout))

    def any(self, f: Any, *, timeout: Optional[float] = None) -> bool:
        """Whether any process's flag is true. Any truthy value is a flag.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.any(team.process == 1)
        True
        """
        return bool(self._flag(Op.any, f, timeout))

    def all(self, f: Any, *, timeout: Optional[float] = None) -> bool:
        """Whether every process's flag is true.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.all(team.process == 1)
        False
        """
        return bool(self._flag(Op.all, f, timeout))

    def waitvec(self, f: Any, *, timeout: Optional[float] = None) -> int:
        """The mask of the processes whose flag is true.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> bin(team.waitvec(team.process == 1))
        '0b10'
        """
        seconds = self._seconds(Op.waitvec, timeout)
        one = self._read(Op.waitvec, lambda: ONE[bool(f)])
        return mask_of(self._core.run_mask(Op.waitvec, BOOL, one, 0, 0, seconds))

    def putget(
        self,
        v: Any,
        source: int,
        *,
        bits: Optional[int] = None,
        timeout: Optional[float] = None,
        barrier: bool = True,
    ) -> Any:
        """Puts `v`, and returns the value of process `source`. ``barrier=False``: see
        `Team`.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> int(team.putget(10 * team.process, 1 - team.process)) == 10 * (1 - team.process)
        True
        """
        barrier = self._barrier(Op.putget, barrier)
        process = self._read(Op.putget, lambda: as_number(source, "the source"), barrier)
        return self._one(Op.putget, v, bits, timeout, process, barrier)

    def gather(
        self,
        v: Any,
        out: Optional[npt.NDArray[Any]] = None,
        *,
        bits: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> npt.NDArray[Any]:
        """The values of all processes: an entry for each process of the root team.

        Entries of processes outside this team are 0, or keep their values in `out`: an array of
        `v`'s dtype, with `size` entries.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.gather(np.int32(10 * team.process))
        array([ 0, 10], dtype=int32)
        """
        kind, number, value, narrow, seconds = self._taken(Op.gather, v, bits, timeout)
        if out is not None:
            self._read(Op.gather, lambda: check_out(out, np.dtype(kind), self.size))
        values: npt.NDArray[Any] = np.zeros(self.size, kind)
        self._core.run_gather(number, value, values, narrow, seconds)
        if out is None:
            return values
        if self._members is None:
            self._members = np.array(self._core.processes, np.intp)
        out[self._members] = values[self._members]
        return out

    def bcast_put(
        self, v: Any, *, bits: Optional[int] = None, timeout: Optional[float] = None
    ) -> Any:
        """Broadcasts `v`. Returns the same as `bcast_get`: the bitwise or of all values that were
        put.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> value = team.bcast_put(np.int32(7)) if team.process == 0 else team.bcast_get("int32")
        >>> int(value)
        7
        """
        return self._one(Op.bcast, v, bits, timeout)

    def bcast_get(
        self, dtype: npt.DTypeLike, *, bits: Optional[int] = None, timeout: Optional[float] = None
    ) -> Any:
        """Returns the broadcast value: 0 if no process put one.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> value = team.bcast_put(1.5) if team.process == 1 else team.bcast_get("float64")
        >>> float(value)
        1.5
        """
        nothing = self._read(Op.bcast, lambda: np.zeros((), dtype))
        return self._one(Op.bcast, nothing, bits, timeout)

    def rank(self, v: Any, *, bits: Optional[int] = None, timeout: Optional[float] = None) -> int:
        """The number of processes with a lower value, or with an equal value and a lower number.
        NaN is the highest value.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.rank(-team.process) == 1 - team.process  # the higher process has the lower value
        True
        """
        return int(self._count(Op.rank, v, bits, timeout))

    def vote_count(self, p: int, *, timeout: Optional[float] = None) -> int:
        """Votes for process `p`; returns the number of votes for this process.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.vote_count(0) == (2 if team.process == 0 else 0)
        True
        """
        seconds = self._seconds(Op.vote_count, timeout)
        process = self._read(Op.vote_count, lambda: as_number(p, "the vote"))
        return int(self._core.run(Op.vote_count, INT32, b"", process, 0, seconds))

    def vote(self, p: int, *, timeout: Optional[float] = None) -> int:
        """Votes for process `p`; returns the mask of the processes that vote for this one.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.vote(1) == (0b11 if team.process == 1 else 0)
        True
        """
        seconds = self._seconds(Op.vote, timeout)
        process = self._read(Op.vote, lambda: as_number(p, "the vote"))
        return mask_of(self._core.run_mask(Op.vote, INT32, b"", process, 0, seconds))

    def match_count(
        self, v: Any, *, bits: Optional[int] = None, timeout: Optional[float] = None
    ) -> int:
        """The number of processes with the same value as this one, itself included. NaN matches
        NaN.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.match_count(5), team.match_count(team.process)
        (2, 1)
        """
        return int(self._count(Op.match_count, v, bits, timeout))

    def match(self, v: Any, *, bits: Optional[int] = None, timeout: Optional[float] = None) -> int:
        """The mask of the processes with the same value as this one.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> bin(team.match(5))
        '0b11'
        """
        _, number, value, narrow, seconds = self._taken(Op.match, v, bits, timeout)
        return mask_of(self._core.run_mask(Op.match, number, value, 0, narrow, seconds))

    def reduce(
        self, v: Any, fold: Callable[[Any, Any], Any], *, timeout: Optional[float] = None
    ) -> Any:
        """Folds the values of all processes by a function of two, from the lowest process on.

        `v` is any NumPy scalar of up to 56 bytes, structured ones included.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> complex(team.reduce(np.complex128(1 + team.process), lambda x, y: x * y))
        (2+0j)
        """
        seconds = self._seconds(Op.reduce, timeout)
        self._read(Op.reduce, lambda: check_fold(fold))
        scalar = self._read(Op.reduce, lambda: plain(v))
        everything = self._core.gather_bytes(scalar.tobytes(), seconds)
        return functools.reduce(fold, np.frombuffer(everything, scalar.dtype))

    def start(self, name: str, v: Any = None, *, bits: Optional[int] = None) -> TeamRequest:
        """Starts "wait", "any", "all", or a "reduce_…", "scan_…", "rank" of `v`.

        Operations of one team execute in the order of their starts.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> request = team.start("reduce_add", 10 * team.process)
        >>> int(request.wait())
        10
        """
        op = self._read(Op.start, lambda: started(name))
        if op in (Op.wait, Op.any, Op.all):
            one = self._read(op, lambda: ONE[bool(v)])
            return TeamRequest(self._core.start(op, BOOL, one, 0, 0), bool)
        kind, number, value, narrow, _ = self._taken(op, v, bits, None)
        made = self._core.start(op, number, value, 0, narrow)
        return TeamRequest(made, int if op == Op.rank else kind)

    def exit(self, code: int = 0) -> None:
        """Leaves the root team and all teams within it.

        Processes that wait for this process get an `Error` with the code; later calls on this
        process raise.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> if team.process == 1:
        ...     team.exit(3)
        ... else:
        ...     try:
        ...         team.wait()
        ...     except hk.Error as error:
        ...         assert "3" in str(error)
        """
        self._core.exit(as_number(code, "the exit code"))

    def error(self, message: str) -> None:
        """Prints the message, leaves, and ends the waits of all other processes of the root team.

        Raises the errors of `Team`, and Error if the message is no text.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> if team.process == 1:
        ...     team.error("the input file is missing")
        ... else:
        ...     try:
        ...         team.wait()
        ...     except hk.Error as error:
        ...         assert "the input file is missing" in str(error)
        """
        if not isinstance(message, str):
            raise Error(f"the message is {message!r}; give a text")
        self._core.error(printable(message))
