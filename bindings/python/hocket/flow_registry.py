# SPDX-License-Identifier: BSD-3-Clause
"""The flows of this process: the current flow of each thread, and their end with the program."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Any, Optional, Protocol

from hocket import _mpi
from hocket.errors import Error, StepError


class Flow(Protocol):
    """The attributes of `hocket.flows.Flow` that this module uses. (That module imports this
    one.)"""

    _core: _mpi.Flow

    def wait(self) -> None: ...
    def cancel(self) -> Any: ...
    def task(self, fn: Any, *accesses: Any, **options: Any) -> None: ...
    def comm(self, fn: Any, *accesses: Any, **options: Any) -> None: ...


_flows: weakref.WeakValueDictionary[int, Flow] = weakref.WeakValueDictionary()


# A forked child has none of the flows' threads.
os.register_at_fork(after_in_child=_flows.clear)


def add(address: int, flow: Flow) -> None:
    """A flow, by its address in C++."""
    _flows[address] = flow


def current() -> Optional[Flow]:
    """The current flow of this thread: of the step that it runs, or of its ``with`` block."""
    address = _mpi.current_flow()
    return _flows.get(address) if address else None


@atexit.register
def _end_all() -> None:
    """Ends flows that no `wait` has ended, while there is still an interpreter to run their steps.

    If the program ends by an exception, steps that have not begun do not run, as at the end of a
    ``with`` block. The same holds for all flows after Ctrl-C, or a step that ends the program.
    ``sys.exit`` in the program itself is a regular end.
    """
    stopped = hasattr(sys, "last_value")
    ended_by: Optional[BaseException] = None
    for flow in list(_flows.values()):
        while True:
            if stopped:
                flow.cancel()
            try:
                flow.wait()
            except StepError as error:
                _tell(error)
            except Error as error:  # a lost process: running steps have not ended
                _tell(error)
                stopped = True
                continue
            except (KeyboardInterrupt, SystemExit) as error:
                stopped, ended_by = True, error
                continue
            break
        flow._core.close()  # ends its threads, which need the interpreter for operations under way
    _mpi.end_given_up()
    if ended_by is not None:
        raise ended_by


def _tell(error: Error) -> None:
    print(f"hocket: a flow ended with an error nobody waited for: {error}", file=sys.stderr)
