# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of each task, for `hk.run` and `hocket run`, checked before any process starts."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from .errors import Error

#: a task's number of processes, or its ranks
Count = Union[int, Sequence[int]]
#: (task, process in it) by rank
RankMap = list[tuple[Union[str, None], int]]

#: the least memory of a Python process with NumPy and MPI, in bytes
_SMALLEST_PROCESS = 20 << 20


def most_processes() -> int:
    """The number of processes that this machine can start at once, limited by its memory, and by
    open files: the parent needs two a process."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _SMALLEST_PROCESS
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    by_files = memory if files == resource.RLIM_INFINITY else (files - 64) // 2
    return max(1, min(memory, by_files))


def check_name(name: object) -> None:
    """Checks a task's name for `HOCKET_TASKS` and command lines. Raises `Error`."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\s=,:'\"]+", name):
        raise Error(
            f"{name!r} is no name for a task; use text without spaces, quotes, '=', ',' and ':'"
        )


def check_total(count: int) -> None:
    """Refuses more processes than this machine can start. Raises `Error`."""
    most = most_processes()
    if count > most:
        raise Error(
            f"{count} processes are asked for, but this machine has memory and open files for "
            f"{most} at most; ask for fewer"
        )


def whole(what: str, count: Any) -> int:
    """A number of processes. Raises `Error`."""
    try:
        number = int(count.__index__())
    except (AttributeError, TypeError):
        number = 0
    if isinstance(count, bool) or number < 1:
        raise Error(f"{what} asks for {count!r} processes; give a whole number of at least 1")
    check_total(number)
    return number


def _ranks(name: str, given: Any) -> list[int]:
    """A task's list of ranks."""
    listed = []
    for rank in given:
        try:
            listed.append(int(rank.__index__()))
        except (AttributeError, TypeError):
            raise Error(f"task '{name}' names rank {rank!r}; ranks are whole numbers") from None
        if listed[-1] < 0:
            raise Error(f"task '{name}' names rank {rank}; ranks count from 0")
        check_total(len(listed))
    if not listed:
        raise Error(f"task '{name}' has no processes; a task needs at least 1")
    if len(set(listed)) < len(listed):
        twice = next(rank for place, rank in enumerate(listed) if rank in listed[:place])
        raise Error(f"task '{name}' names rank {twice} twice; name each rank once")
    return listed


def tasks_of(tasks: Any) -> dict[str, int | list[int]]:
    """The tasks as integers and lists.

    Raises
    ------
    Error
        no tasks, an invalid name, counts below 1, invalid or repeated ranks, counts beside lists.
    """
    if not isinstance(tasks, Mapping) or not tasks:
        raise Error(
            f"tasks is {tasks!r}; it must be a dict of task names and numbers of processes, as "
            '{"rows": 2, "cols": 2}'
        )
    result: dict[str, int | list[int]] = {}
    for name, count in tasks.items():
        check_name(name)
        listed = isinstance(count, Iterable) and not isinstance(count, (str, bytes, Mapping))
        result[name] = _ranks(name, count) if listed else whole(f"task '{name}'", count)
    if len({type(count) for count in result.values()}) > 1:
        raise Error(f"tasks={tasks!r} mixes counts and lists of ranks; use one or the other")
    return result


def groups_of(tasks: Mapping[str, int | list[int]]) -> dict[str, list[int]]:
    """The ranks of every task."""
    groups: dict[str, list[int]] = {}
    following = 0
    for name, count in tasks.items():
        if isinstance(count, int):
            check_total(following + count)
            groups[name] = list(range(following, following + count))
            following += count
        else:
            groups[name] = count
    return groups


def rank_map_of(groups: Mapping[str, Sequence[int]]) -> RankMap:
    """For each rank its task and its number there; for a rank in several tasks, the first task.

    Raises
    ------
    Error
        a rank that is in no task.
    """
    first: dict[int, tuple[str, int]] = {}
    for name, group in groups.items():
        for process, rank in enumerate(group):
            first.setdefault(rank, (name, process))
    # Every rank up to the highest needs a task, so there are no more ranks than entries.
    for rank in range(max(first) + 1):
        if rank not in first:
            raise Error(
                f"every rank must be in a task, but rank {rank} of 0 to {max(first)} is in none"
            )
    return [first[rank] for rank in range(len(first))]
