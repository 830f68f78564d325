# SPDX-License-Identifier: BSD-3-Clause
"""`hk.run`: calls a function on several processes, without `mpiexec`."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

from . import hosts as run_hosts
from . import mpiexec, processes, tracing
from .arguments import as_seconds
from .errors import DeadlineError, Error, PeerLostError
from .pipes import OnLine
from .rank import describe
from .task_ranks import Count, RankMap, groups_of, rank_map_of, tasks_of, whole

# The ranks search the caller's module path, but do not run the caller's main program.
_START = (
    "import json, sys; sys.path[:] = json.load(open(sys.argv.pop(1))); "
    "from hocket.rank import call; call()"
)


def run(
    fn: Callable[..., Any],
    tasks: Mapping[str, Count] | None = None,
    args: Sequence[Any] = (),
    timeout: float | None = None,
    *,
    ranks: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    on_line: OnLine | None = None,
    hosts: run_hosts.Given = None,
) -> Any:
    """Calls `fn` on several new processes, and returns their results.

    Parameters
    ----------
    fn
        any function: of a module, a script, a notebook, a lambda. With `tasks` hocket calls it as
        `fn(world, *args)`, where `world` is the result of `hk.tasks(tasks)`, or as `fn(*args)` if
        it takes no further argument. With `ranks` hocket calls it as `fn(*args)`, or as
        `fn(MPI.COMM_WORLD, *args)` if it takes one further argument.
    tasks
        task name → number of processes, or its list of ranks; see `hk.tasks`.
    args
        arguments for every process; sent by value.
    timeout
        seconds after which hocket ends all processes; None for no limit.
    ranks
        the number of processes, for a run without tasks.
    trace
        a file for a trace of all processes: open it in https://ui.perfetto.dev.
    on_line
        function for printed lines: hocket calls `on_line(rank, "out" or "err", line)` for every
        line that a rank prints (rank None: `mpiexec` itself), instead of printing it here.
    hosts
        the hosts on which the processes run, with the number of processes of each: "n1:2,n2:2", a
        list ["n1:2", "n2:2"], or the name of a host file with lines as `n1 slots=2`; a file comes
        before a host of the same name. Without numbers, the hosts share the processes evenly. A
        host that is repeated without a number has a place for each mention, as in PBS's node
        files. Default: `HOCKET_HOSTS`, else the hosts of the Slurm allocation, else this host
        alone.

    Returns
    -------
    Any
        with `tasks` a dict, task name → list of the results of `fn`, by process; with `ranks` a
        list by rank. A distributed array cannot be a result: return the process's part, `a.local`,
        or the whole, `a.gather()`.

    Raises
    ------
    Error
        an exception on a rank; hocket prints it once, with rank, task and traceback, and ends all
        other processes. The text of this error is the exception. Also: a wrong argument, before any
        process starts.
    PeerLostError
        a process ended without a report (a crash, a kill).
    DeadlineError
        `timeout` passed; the text names the position of every rank.

    Examples
    --------
    >>> def program(comm):
    ...     return 10 * comm.rank
    >>> hk.run(program, ranks=2)
    [0, 10]
    >>> hk.run(lambda world: world.name, tasks={"rows": 1, "cols": 1})
    {'rows': ['rows'], 'cols': ['cols']}
    """
    if (tasks is None) == (ranks is None):
        raise Error(
            "hk.run needs either tasks or ranks, and got "
            + ("both" if ranks is not None else "neither")
            + '; write tasks={"rows": 2, "cols": 2} or ranks=4'
        )
    asked = None if tasks is None else tasks_of(tasks)
    groups = {} if asked is None else groups_of(asked)
    seats: RankMap = (
        rank_map_of(groups) if groups else [(None, r) for r in range(whole("ranks", ranks))]
    )
    seconds = as_seconds(timeout)
    values = _values(args)
    if on_line is not None and not callable(on_line):
        raise Error(f"on_line is {on_line!r}; give a function of (rank, stream, line), or None")
    first = _first_argument(fn, values, tasks is not None)
    _refuse_inside_a_run()
    picture = tracing.target(trace)
    by_count = asked is not None and all(isinstance(count, int) for count in asked.values())
    text = ",".join(f"{name}={len(group)}" for name, group in groups.items()) if by_count else ""
    call = _pickled(fn, values, asked, first)
    found = run_hosts.find(hosts)
    with processes.run_folder(found) as folder:
        (folder / "call").write_bytes(call)
        (folder / "path").write_text(json.dumps(sys.path))
        argv = [sys.executable, "-c", _START, str(folder / "path")]
        outcome = processes.supervise(
            [(len(seats), argv)],
            folder,
            on_line=on_line or _print_line,
            tasks=text,
            timeout=seconds,
            trace=picture,
            hosts=found,
        )
        problem = _problem(outcome, seats, folder, seconds)
        if problem is not None:
            show_once(problem)
            raise problem
        pickle: Any = importlib.import_module("pickle")
        results = [
            pickle.loads((folder / f"{rank}.result").read_bytes()) for rank in range(len(seats))
        ]
    if tasks is None:
        return results
    return {name: [results[rank] for rank in group] for name, group in groups.items()}


def _values(args: Any) -> tuple[Any, ...]:
    """`args` as a tuple; iterating over a text would give its characters."""
    try:
        if isinstance(args, (str, bytes)):
            raise TypeError
        return tuple(args)
    except TypeError:
        raise Error(f"args is {args!r}; give a sequence of values, as args=(7,)") from None


def _first_argument(fn: object, args: tuple[Any, ...], with_tasks: bool) -> str | None:
    """The argument that `fn` gets before `args`: "world", "comm", or none."""
    if not callable(fn):
        raise Error(f"hk.run needs a function to run, not {fn!r}")
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return "world" if with_tasks else None

    def takes(count: int) -> bool:
        try:
            signature.bind(*(None,) * count)
        except TypeError:
            return False
        return True

    alone, preceded = takes(len(args)), takes(len(args) + 1)
    if preceded and (with_tasks or not alone):
        return "world" if with_tasks else "comm"
    if alone:
        return None
    name = getattr(fn, "__name__", repr(fn))
    before = "the world" if with_tasks else "the communicator"
    raise Error(
        f"{name}{signature} cannot be called with the {len(args)} values of args, nor with "
        f"{before} before them; match args to the function"
    )


def _refuse_inside_a_run() -> None:
    """Refuses a start from within a started process: each of them would start as many again."""
    if os.environ.get("HOCKET_RUN") is None and mpiexec.world_rank() is None:
        return
    rank, size = mpiexec.world_rank(), mpiexec.world_size()
    raise Error(
        f"hk.run was called in a process that is itself rank {rank} of {size}; call the function "
        "directly here, or start this program without mpiexec (and keep hk.run out of modules "
        "that the function imports, or below `if __name__ == '__main__':`)"
    )


def _pickled(fn: object, args: tuple[Any, ...], tasks: object, first: str | None) -> bytes:
    try:
        pickle: Any = importlib.import_module("cloudpickle")
    except ImportError as problem:
        raise Error(
            "hk.run needs the package cloudpickle to send the function to its processes; install "
            f"it: {sys.executable} -m pip install cloudpickle"
        ) from problem
    try:
        content: bytes = pickle.dumps((fn, args, tasks, first))
    except Exception as problem:
        raise Error(
            f"{getattr(fn, '__name__', fn)} or its args cannot be sent to other processes: "
            f"{problem}; open files, locks and communicators must be made inside the function"
        ) from problem
    return content


def _print_line(rank: int | None, stream: str, line: str) -> None:
    # The error includes the messages of mpiexec itself.
    if rank is not None:
        print(line, file=sys.stdout if stream == "out" else sys.stderr, flush=True)


def _problem(
    outcome: processes.Outcome, seats: RankMap, folder: Path, timeout: float | None
) -> Error | None:
    """The error for a run's outcome; None if it succeeded."""
    if outcome.failures:
        # Other ranks may have seen a rank end before this process did.
        gone = all(failure.of_another for failure in outcome.failures)
        return (PeerLostError if gone else Error)(explain(outcome.failures, seats))
    if outcome.timed_out:
        stood = [
            f"{describe(rank, seats)} stood here:\n{outcome.stacks[rank]}"
            if rank in outcome.stacks
            else f"{describe(rank, seats)} had not started its Python yet"
            for rank in range(len(seats))
        ]
        who = "1 process" if len(seats) == 1 else f"{len(seats)} processes"
        return DeadlineError(
            f"hk.run: {who} had not ended after {timeout:g} s; give a larger timeout=, or see "
            "where they stood when they were ended\n" + "\n".join(stood)
        )
    silent = [rank for rank in range(len(seats)) if not (folder / f"{rank}.result").exists()]
    if silent:
        return PeerLostError(lost(outcome, folder, silent, seats))
    if outcome.code != 0:
        return PeerLostError(lost(outcome, folder, [], seats))
    return None


def explain(failures: Sequence[processes.Failure], seats: RankMap) -> str:
    """The rank, task and traceback of the first failure, and a line for each other failure."""
    first, others = failures[0], failures[1:]
    lines = [f"{describe(first.rank, seats)} {first.brief}", *filter(None, [first.text])]
    for other in sorted(others, key=lambda one: one.rank):
        same = other.brief == first.brief
        lines.append(f"{describe(other.rank, seats)} {'did the same' if same else other.brief}")
    return "\n".join(lines)


def lost(outcome: processes.Outcome, folder: Path, silent: Sequence[int], seats: RankMap) -> str:
    """The processes that ended without a report, and mpiexec's explanation."""
    # Open MPI's launcher names the first process that ended; it may have ended others before this
    # process could see the first.
    known = processes.first_to_go(outcome.said)
    if known.candidates:
        first = known.candidates
    elif known.rank is not None:
        first = [known.rank]
    elif outcome.dead:
        first = outcome.dead
    else:
        files = (*folder.glob("*.pid"), *folder.glob("*.far"))
        # A launcher may name a host with its domain or without.
        pids = {path.read_text().partition(".")[0]: int(path.stem) for path in files}
        named = (known.pid, f"{known.pid} {known.host.partition('.')[0]}")
        first = [pids[name] for name in named if name in pids]
    join = " or " if known.candidates else ", "
    who = join.join(describe(rank, seats) for rank in first or silent) or "a process"
    if outcome.hosts:
        return (
            f"the processes of a host ended without a word; it does not answer: {outcome.hosts}; "
            "start it again, or leave it out"
        )
    if not first and outcome.noticed:
        who = describe(min(outcome.noticed), seats)
    if known.noticed or known.rank in outcome.noticed or (not first and outcome.noticed):
        return (
            f"a process ended without a word; {who} was the first to notice, and Open MPI ended "
            "it; the cause is a crash, a kill, or an end from inside a library of another process"
        )
    # These two facts replace mpiexec's long text; any other text becomes part of the error.
    how = known.how or f"mpiexec's exit status: {outcome.code}"
    said = f"; mpiexec said:\n{outcome.said}" if outcome.said and not (first and known.how) else ""
    return (
        f"{who} ended without a word ({how}): a crash, a kill, or an end from inside a "
        f"library{said}"
    )


def show_once(error: Error) -> None:
    """Prints an error now, and only its first line if it ends the program."""
    print(error, file=sys.stderr, flush=True)
    error._shown = True  # type: ignore[attr-defined]
    if getattr(sys.excepthook, "_of_hocket", False):
        return
    before = sys.excepthook

    def hook(kind: Any, value: Any, trace: Any) -> None:
        if getattr(value, "_shown", False):
            value = kind(str(value).splitlines()[0] + " (in full above)")
        before(kind, value, trace)

    hook._of_hocket = True  # type: ignore[attr-defined]
    sys.excepthook = hook
