# SPDX-License-Identifier: BSD-3-Clause
"""The flows of this process: which one a thread is in, and their end with the program."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Any, Optional, Protocol

from hocket import _mpi
from hocket.errors import Error, StepError


class Flow(Protocol):
    """What is here of `hocket.flows.Flow`, whose module knows this one."""

    _core: _mpi.Flow

    def wait(self) -> None: ...
    def cancel(self) -> Any: ...
    def task(self, fn: Any, *accesses: Any, **options: Any) -> None: ...
    def comm(self, fn: Any, *accesses: Any, **options: Any) -> None: ...


_flows: weakref.WeakValueDictionary[int, Flow] = weakref.WeakValueDictionary()


# A forked child has none of their threads.
os.register_at_fork(after_in_child=_flows.clear)


def add(address: int, flow: Flow) -> None:
    """A flow, by the address that C++ knows it by."""
    _flows[address] = flow


def current() -> Optional[Flow]:
    """The flow that this thread is in: of the step that it runs, or of its ``with`` block."""
    address = _mpi.current_flow()
    return _flows.get(address) if address else None


@atexit.register
def _end_all() -> None:
    """Ends what nobody has waited for while there is an interpreter left to run it.

    A program that ends by an exception leaves out what has not begun, as a ``with`` block does; and
    so does Ctrl-C from then on, or a step that ends the program, of all flows. ``sys.exit`` in the
    program itself is an end in good order.
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
            except Error as error:  # a lost process: what runs has not ended
                _tell(error)
                stopped = True
                continue
            except (KeyboardInterrupt, SystemExit) as error:
                stopped, ended_by = True, error
                continue
            break
        flow._core.close()  # its threads: they need the interpreter for what is still under way
    _mpi.end_given_up()
    if ended_by is not None:
        raise ended_by


def _tell(error: Error) -> None:
    print(f"hocket: a flow ended with an error nobody waited for: {error}", file=sys.stderr)
