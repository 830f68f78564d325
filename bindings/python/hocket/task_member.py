# SPDX-License-Identifier: BSD-3-Clause
"""This process in one of its tasks: checks of arguments that all verbs share."""

from __future__ import annotations

import operator
import time
from typing import Any, Callable, TypeVar, Union

from hocket import _mpi
from hocket.arguments import as_number, as_text, printable
from hocket.calls import kind_of, patience
from hocket.errors import Error

TaskId = Union[int, str]
Given = TypeVar("Given")


class TaskMember:
    """One task, whose processes call the verbs."""

    __slots__ = ("_core",)

    def __init__(self, core: _mpi.Tasks) -> None:
        self._core = core

    def _checked(self, verb: str, read: Callable[[], Given], timeout: Any = None) -> Given:
        """Checks a verb's arguments by `read`. All processes of the task raise the errors of one
        of them."""
        start = time.perf_counter()
        try:
            given = read()
        except Exception as error:
            words = printable(str(error) or repr(error))
            self._core.refuse(verb, kind_of(error), words, patience(timeout))
            raise AssertionError("a refused call has ended without its error") from error
        self._core.add_call_seconds(time.perf_counter() - start)
        return given


def id_of(task: TaskId) -> TaskId:
    if isinstance(task, str):
        return as_text(task, "task")
    try:
        return as_number(operator.index(task), "task")
    except TypeError:
        raise Error(f"{task!r} names no task; give a task's name or its index") from None
