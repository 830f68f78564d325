# SPDX-License-Identifier: BSD-3-Clause
"""Flows: graphs of steps that run as soon as the data that they read and write allow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Optional, Union

from hocket import _mpi, coroutines, flow_registry, flow_steps
from hocket.arguments import as_flag, as_number, as_path, as_seconds
from hocket.array_lists import Arrays, as_list
from hocket.arrays import Array
from hocket.errors import Error, StepError
from hocket.halos import Halo
from hocket.operations import operations_of
from hocket.reductions import Reduction
from hocket.regions import Touched, regions_of
from hocket.requests import Request
from hocket.stores import Store, together
from hocket.task_member import TaskId
from hocket.transfers import Transfer
from hocket.verbs import ANY_SOURCE, Verbs

_Kind = _mpi.AccessKind


class Flow:
    """A program of steps, inserted in sequential order and run by several threads.

    The result equals that of the steps run one after the other in the order of insertion. A step
    begins after all earlier steps that write its inputs, and after all earlier steps that read or
    write its outputs. The model is that of Marjanović, Labarta, Ayguadé and Valero, "Effective
    Communication and Computation Overlap with Hybrid MPI/SMPSs".

    Parameters
    ----------
    workers
        threads that run steps, including the one that waits; None: ``HOCKET_THREADS``, else the
        cores of this process. NumPy's functions release the interpreter's lock, so steps that call
        them run in parallel.
    window
        the largest number of unfinished steps; an insertion beyond it first helps to run steps
    agent
        the threads that start and poll communication: ``"thread"``, a separate thread; ``"steps"``,
        the workers between two steps; ``"auto"``: ``"steps"`` if the flow has as many workers as
        cores, else ``"thread"``
    check
        after every step, check whether it has written data that it only declared to read; one
        worker runs all steps then
    record
        record the steps, for `dot`, `svg` and `draw`
    threads
        threads of hocket's functions in a step, unless the caller sets a number. The further
        threads are idle workers of this flow, which join between two steps of their own. So a
        function never has more threads than the flow has workers.

    Raises
    ------
    Error
        for fewer than one worker or thread, a window of less than one step, an unknown agent, or an
        agent's thread that MPI does not allow (below ``MPI_THREAD_SERIALIZED``).

    Examples
    --------
    >>> x, y = np.arange(4.0), np.empty(4)
    >>> def double():
    ...     np.multiply(x, 2, out=y)
    >>> def add_one():
    ...     np.add(y, 1, out=y)
    >>> with hk.Flow(workers=2) as f:
    ...     f.task(double, inputs=[x], outputs=[y])
    ...     f.task(add_one, inouts=[y])
    >>> y
    array([1., 3., 5., 7.])
    """

    def __init__(
        self,
        workers: Optional[int] = None,
        *,
        window: int = 8192,
        agent: str = "auto",
        check: bool = False,
        record: bool = False,
        threads: int = 1,
    ) -> None:
        if not isinstance(agent, str) or agent not in ("auto", "thread", "steps"):
            raise Error(f"agent is {agent!r}; give 'thread', 'steps' or 'auto'")
        wanted = None if workers is None else as_number(workers, "workers")
        most, each = as_number(window, "window"), as_number(threads, "threads")
        flags = as_flag(check, "check"), as_flag(record, "record")
        self._core = _mpi.Flow(wanted, most, agent, *flags, each)
        flow_registry.add(self._core.address(), self)

    def task(
        self,
        fn: Callable[..., Any],
        inputs: Iterable[Touched] = (),
        outputs: Iterable[Touched] = (),
        inouts: Iterable[Touched] = (),
        priority: int = 0,
        *,
        commutes: Iterable[Touched] = (),
        reduces: Iterable[Touched] = (),
        op: str = "add",
        name: Optional[str] = None,
        threads: Optional[int] = None,
    ) -> None:
        """Inserts a step that computes: ``fn()``, on any worker.

        Parameters
        ----------
        fn
            the function of the step; hocket ignores its result. With `reduces` it gets one array
            for each of them. An ``async def`` function gives its worker back at each ``await`` of
            an operation (`completion`), and goes on on any worker; it neither commutes nor reduces.
        inputs, outputs, inouts
            the step's accesses: arrays (hocket's, NumPy's and views of them, any memory), or keys
            (str, bytes, int, tuple), which stand for anything else. Two views conflict if they
            share a byte.
        priority
            of steps that may run, one with the highest runs first
        commutes
            what it updates in any order with other steps that commute on the same, one at a time
        reduces
            arrays that several steps update concurrently: `fn` gets a private array for each, of
            its shape and set to the identity of `op`. hocket combines it with the real array when
            the step ends
        op
            ``"add" "mul" "min" "max" "and" "or"``
        name
            a name for errors, traces and drawings; None: that of `fn`
        threads
            threads of hocket's functions in this step, as the flow's `threads`; None: the flow's
            number

        Raises
        ------
        Error
            for fewer threads than one, for accesses that are neither memory nor a key, and for
            reductions into keys, read-only memory, elements that overlap, or elements that are no
            numbers.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> x = np.zeros(2)
        >>> f.task(lambda: x.fill(3), outputs=[x], name="fill")
        >>> f.task(lambda: np.negative(x, out=x), inouts=[x], name="negate")
        >>> f.wait()
        >>> x
        array([-3., -3.])
        """
        accesses, hold = flow_steps.accesses_of(inputs, outputs, inouts)
        for touched in flow_steps.as_names(commutes, "commutes"):
            hold.append(touched)
            accesses += [_mpi.Access(_Kind.commute, region) for region in regions_of(touched)]
        reductions = [Reduction(each, op) for each in flow_steps.as_names(reduces, "reduces")]
        accesses += [access for reduction in reductions for access in reduction.accesses()]
        function, waits = flow_steps.as_function(fn)
        self._core.task(
            flow_steps.with_parts(function, reductions) if reductions else function,
            coroutines.advance if waits else None,
            hold,
            accesses,
            as_number(priority, "priority"),
            flow_steps.name_of(name, fn),
            flow_steps.share_of(threads),
        )

    def comm(
        self,
        fn: Callable[[], Any],
        inputs: Iterable[Touched] = (),
        outputs: Iterable[Touched] = (),
        inouts: Iterable[Touched] = (),
        priority: int = 0,
        *,
        name: Optional[str] = None,
        threads: Optional[int] = None,
    ) -> None:
        """Inserts a step that communicates: ``fn()`` starts operations and does not block.

        Only one thread at a time calls these functions, and polls any number of started operations.
        So an order of sends and receives that is right for blocking calls cannot deadlock.

        Parameters
        ----------
        fn
            returns None, an operation, or a list of operations: requests of hocket and mpi4py, and
            objects whose ``poll()`` returns whether they are done. The step ends when all are done.
            Or an ``async def`` function, which awaits operations and does not block in between.
        inputs, outputs, inouts, priority, name, threads
            as for `task`; arrays to send are inputs, arrays to receive into are outputs

        Raises
        ------
        Error
            as `task`. In `wait`: for a function that blocks, inserts steps, or returns anything
            else.

        Examples
        --------
        On two processes:

        >>> from mpi4py import MPI
        >>> out, into = np.array([MPI.COMM_WORLD.rank]), np.array([-1])
        >>> other = 1 - MPI.COMM_WORLD.rank
        >>> with hk.Flow(workers=1) as f:
        ...     f.comm(lambda: MPI.COMM_WORLD.Irecv(into, other), outputs=[into], name="recv")
        ...     f.comm(lambda: MPI.COMM_WORLD.Isend(out, other), inputs=[out], name="send")
        >>> int(into[0]) == other
        True
        """
        accesses, hold = flow_steps.accesses_of(inputs, outputs, inouts)
        start, waits = flow_steps.as_function(fn)
        self._core.comm(
            start if waits else lambda: operations_of(start()),
            coroutines.advance if waits else None,
            hold,
            accesses,
            as_number(priority, "priority"),
            flow_steps.name_of(name, fn),
            flow_steps.share_of(threads),
        )

    def send(self, w: Verbs, a: Arrays, dest: TaskId, tag: int = 0, *, priority: int = 0) -> None:
        """Inserts a send between tasks, which reads `a`. Collective over the calling task, as
        `send`.

        The call takes its position among the calls of its task at insertion, so that messages keep
        the order of the program. It begins when `a` is ready.

        Raises
        ------
        LayoutError, Error
            at once for wrong arguments, as `isend`; `wait` raises later errors.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> with hk.Flow(workers=1) as f:
        ...     if world.name == "rows":
        ...         f.task(lambda: np.multiply(a.local, 2, out=a.local), inouts=[a])
        ...         f.send(world, a, "cols")
        ...     else:
        ...         f.recv(world, a, "rows")
        ...         f.task(lambda: np.add(a.local, 1, out=a.local), inouts=[a])
        >>> a.local.tolist() == ([0, 2, 4, 6] if world.name == "rows" else [1, 3, 5, 7])
        True
        """
        request = flow_steps.speaker_of(w)._isend_later(a, dest, tag)
        self._later(request, as_list(a), [], priority, f"send to {dest}")

    def recv(
        self,
        w: Verbs,
        b: Arrays,
        source: TaskId = ANY_SOURCE,
        tag: int = 0,
        *,
        priority: int = 0,
    ) -> None:
        """Inserts a receive between tasks, which writes `b`. As `send`.

        Raises
        ------
        LayoutError, Error
            as `irecv`.

        Examples
        --------
        On two processes:

        >>> world = hk.tasks({"rows": 1, "cols": 1})
        >>> a = hk.from_function(lambda i: i, hk.Layout(4, "(*)"), "int64", world.comm)
        >>> with hk.Flow(workers=1) as f:
        ...     if world.name == "rows":
        ...         f.task(lambda: np.multiply(a.local, 2, out=a.local), inouts=[a])
        ...         f.send(world, a, "cols")
        ...     else:
        ...         f.recv(world, a, "rows")
        ...         f.task(lambda: np.add(a.local, 1, out=a.local), inouts=[a])
        >>> a.local.tolist() == ([0, 2, 4, 6] if world.name == "rows" else [1, 3, 5, 7])
        True
        """
        request = flow_steps.speaker_of(w)._irecv_later(b, source, tag)
        self._later(request, [], as_list(b), priority, f"recv from {source}")

    def exchange(self, halo: Halo[Any], priority: int = 0) -> None:
        """Inserts `Halo.exchange`, which reads ``halo.array`` and writes the border.

        Steps that only read the array may run at the same time. Collective over its communicator,
        in the order of the program, at any time that the step begins.

        Raises
        ------
        Error
            if MPI's thread level does not let this thread communicate. In `wait`: as
            `Halo.exchange`.

        Examples
        --------
        On two processes:

        >>> a = hk.from_function(lambda i: i, hk.Layout(6, "(BLOCK)", 2), "int64")
        >>> halo = a.halo(1, periodic=True)
        >>> sums = np.zeros(1, int)
        >>> with hk.Flow(workers=1) as f:
        ...     f.exchange(halo)
        ...     f.task(lambda: np.sum(halo.local, keepdims=True, out=sums), [halo.local], [sums])
        >>> int(sums[0]) == (11 if a.comm.rank == 0 else 14)
        True
        """
        if not isinstance(halo, Halo):
            raise Error(f"cannot exchange {type(halo).__name__}: give what Array.halo has made")
        self._core.exchange(halo._core, as_number(priority, "priority"))

    def transfer(self, x: Transfer, a: Array, b: Array, priority: int = 0) -> None:
        """Inserts ``x(a, b)``, which reads `a` and writes `b`.

        Steps of one transfer run one after the other. Collective over its communicator, in the
        order of the program, at any time that the step begins.

        Raises
        ------
        Error
            if `x` is no `Transfer`. In `wait`: as `Transfer.start` and `Transfer.wait`.

        Examples
        --------
        On two processes:

        >>> blocks, cyclic = hk.Layout(4, "(BLOCK)", 2), hk.Layout(4, "(CYCLIC)", 2)
        >>> a, b = hk.from_function(lambda i: i, blocks, "int64"), hk.empty(cyclic, "int64")
        >>> x = hk.transfer(a, b)
        >>> with hk.Flow(workers=1) as f:
        ...     f.task(lambda: np.multiply(a.local, 2, out=a.local), inouts=[a])
        ...     f.transfer(x, a, b)
        ...     f.task(lambda: np.add(b.local, 1, out=b.local), inouts=[b])
        >>> b.local.tolist() == ([1, 5] if b.comm.rank == 0 else [3, 7])
        True
        """
        if not isinstance(x, Transfer):
            raise Error(f"{type(x).__name__} is no transfer: give what hk.transfer has made")
        x._insert(self, a, b, as_number(priority, "priority"))

    def write(
        self, s: Store, name: str, a: Array, *, region: Any = None, priority: int = 0
    ) -> None:
        """Inserts `Store.write`, which reads `a`. Collective, in the order of the program.

        Raises
        ------
        Error
            in `wait`: as `Store.write`.

        Examples
        --------
        >>> a = hk.zeros(hk.Layout(4, "(*)"))
        >>> with hk.open_store("new.zarr", "w") as s:
        ...     s.create("t", 4)
        ...     with hk.Flow(workers=1) as f:
        ...         f.task(lambda: a.local.fill(3), outputs=[a])
        ...         f.write(s, "t", a)
        ...     s["t"][...]
        array([3., 3., 3., 3.])
        """
        if not isinstance(s, Store):
            raise Error(f"{type(s).__name__} is no store: give what hk.open_store has opened")
        request = together.iwrite(s, name, a, region, None, None, False, later=True)
        self.comm(
            lambda: request, [a], [("store", s.path, name)], (), priority, name=f"write {name}"
        )

    def read(
        self, s: Store, name: str, out: Array, *, region: Any = None, axes: Any = None,
        priority: int = 0,
    ) -> None:  # fmt: skip
        """Inserts `Store.read` into `out`. Collective, in the order of the program.

        Raises
        ------
        MismatchError
            if `out` has another type, or another shape than the region.
        Error
            in `wait`: as `Store.read`.

        Examples
        --------
        >>> hk.save("run.zarr", {"t": hk.arange(hk.Layout(4, "(*)"))})
        >>> a = hk.empty(hk.Layout(4, "(*)"), int)
        >>> with hk.open_store("run.zarr") as s, hk.Flow(workers=1) as f:
        ...     f.read(s, "t", a)
        ...     f.task(lambda: np.multiply(a.local, 2, out=a.local), inouts=[a])
        >>> a.local
        array([0, 2, 4, 6])
        """
        if not isinstance(s, Store):
            raise Error(f"{type(s).__name__} is no store: give what hk.open_store has opened")
        request = together.iread(s, name, None, region, out, axes, None, None, later=True)
        self.comm(
            lambda: request, [("store", s.path, name)], [out], (), priority, name=f"read {name}"
        )

    def _later(
        self, request: Request, reads: list[Any], writes: list[Any], priority: int, name: str
    ) -> None:
        def start() -> Request:
            request.start()
            return request

        self.comm(start, reads, writes, (), priority, name=name)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until all steps so far have ended, and runs steps meanwhile. In a step: waits for
        its nested steps.

        Raises
        ------
        StepError
            for the first step, in the order of insertion, that has failed, after all others have
            ended. It also has the type of the step's own error, which is its ``__cause__``. Steps
            that depend on the failed one have not run. The flow can be used again.
        DeadlineError
            after `timeout` seconds; the steps go on.
        Error
            in a step of another flow for whose end steps of this flow wait, because none of them
            could end.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> f.task(lambda: print("a step"))
        >>> f.wait(timeout=60)
        a step
        """
        flow_steps.raise_thrown(self._core.wait(as_seconds(timeout)))

    def wait_on(self, region: Touched, timeout: Optional[float] = None) -> None:
        """Waits until all steps so far that touch the region have ended; the program may then
        change it.

        Raises
        ------
        StepError
            if one of them has failed or was stopped; `wait` raises it again.
        DeadlineError
            after `timeout` seconds.
        Error
            inside a step, where this call waits for nested steps only, if earlier steps outside of
            it still change the region: they may wait for this very step. A step that declares to
            read the region begins after them. Error also as for `wait`.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> x = np.zeros(2)
        >>> f.task(lambda: x.fill(3), outputs=[x])
        >>> f.wait_on(x)
        >>> x
        array([3., 3.])
        >>> f.wait()
        """
        seconds = as_seconds(timeout)
        for each in regions_of(region):
            flow_steps.raise_thrown(self._core.wait_on(each, seconds))

    def cancel(self) -> None:
        """Stops all steps that have not begun; `wait` then returns once the running steps have
        ended.

        Later waits complete the operations under way, whose memory must live until then.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> f.cancel()
        >>> f.wait()
        """
        self._core.cancel()

    def give_way(self) -> None:
        """For steps that compute for long: lets urgent steps go first.

        Communication progresses, and ready steps of a higher priority may run before this call
        returns. These steps must not block on a result of the calling step.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> def long_step():
        ...     for part in range(4):
        ...         ...  # computes
        ...         f.give_way()
        >>> f.task(long_step)
        >>> f.wait()
        """
        self._core.give_way()

    @property
    def workers(self) -> int:
        """The number of threads that run steps.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> f.workers
        2
        """
        return self._core.workers

    @property
    def agent(self) -> str:
        """The threads that start and poll communication: ``"thread"`` or ``"steps"``.

        Examples
        --------
        >>> hk.Flow(workers=2, agent="steps").agent
        'steps'
        """
        return "thread" if self._core.agent_thread else "steps"

    @property
    def steps(self) -> int:
        """The number of steps inserted so far, including nested ones.

        Examples
        --------
        >>> f = hk.Flow(workers=2)
        >>> f.task(lambda: None)
        >>> f.steps
        1
        >>> f.wait()
        """
        return self._core.steps

    def dot(self) -> str:
        """The graph of a recording flow, in Graphviz's language.

        Raises
        ------
        Error
            if the flow does not record.

        Examples
        --------
        >>> with hk.Flow(workers=1, record=True) as f:
        ...     f.task(lambda: None, outputs=["x"], name="first")
        ...     f.task(lambda: None, inputs=["x"], name="second")
        >>> print(f.dot())
        digraph ...
        """
        return self._core.dot()

    def svg(self) -> str:
        """A picture of the steps of each worker over time, with dependences.

        Raises
        ------
        Error
            if the flow does not record.

        Examples
        --------
        >>> with hk.Flow(workers=1, record=True) as f:
        ...     f.task(lambda: None, outputs=["x"], name="first")
        ...     f.task(lambda: None, inputs=["x"], name="second")
        >>> f.svg().startswith("<svg")
        True
        """
        return self._core.svg()

    def draw(self, path: Union[str, Path]) -> None:
        """Writes `svg`, or `dot` for a path that ends in ``.dot``.

        Raises
        ------
        Error
            if the flow does not record.

        Examples
        --------
        >>> with hk.Flow(workers=1, record=True) as f:
        ...     f.task(lambda: None, outputs=["x"], name="first")
        ...     f.task(lambda: None, inputs=["x"], name="second")
        >>> f.draw("flow.svg")
        """
        file = as_path(path, "path", "flow.svg")
        file.write_text(self.dot() if file.suffix == ".dot" else self.svg(), encoding="utf-8")

    def __enter__(self) -> Flow:
        self._core.enter()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._core.leave()
        if error is not None:
            self._drop()  # `error` is more important
            return
        try:
            self.wait()
        except StepError:
            raise
        except BaseException:  # Ctrl-C, a lost process
            self._drop()
            raise

    def _drop(self) -> None:
        """Ends the flow without the steps that have not begun, because running steps use memory
        that the caller is about to free."""
        self.cancel()
        self._core.wait(math.inf)  # beyond a deadline of the block, too

    def __repr__(self) -> str:
        return f"<hocket.Flow {self.workers} workers, {self.steps} steps so far>"
