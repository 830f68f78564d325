# SPDX-License-Identifier: BSD-3-Clause
"""The decorator `step`: inside a flow, every call of a decorated function is a step."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Sequence
from typing import Any, Callable, Optional

from hocket.coroutines import run
from hocket.errors import Error
from hocket.flow_registry import current
from hocket.flow_steps import as_function

AnyFunction = Callable[..., Any]


def step(
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    inouts: Sequence[str] = (),
    priority: int = 0,
    *,
    commutes: Sequence[str] = (),
    comm: bool = False,
    name: Optional[str] = None,
    threads: Optional[int] = None,
) -> Callable[[AnyFunction], AnyFunction]:
    """Annotates a function with its accesses: every call inside a flow is then a step of the flow.

    Inside means: in a ``with hk.Flow() as f:`` block of this thread, or in a step of a flow. There
    the call returns None at once. Outside of flows it is an ordinary call, also of an ``async def``
    function.

    Parameters
    ----------
    inputs, outputs, inouts, commutes
        names of arguments. In a call, each is an array, a key, or a list of them; None accesses
        nothing. Other arguments are values.
    priority
        of its steps
    comm
        the function's steps communicate, as those of `Flow.comm`
    name
        None: the name of the function
    threads
        threads of hocket's functions in its steps, as for `Flow.task`

    Raises
    ------
    Error
        for names that are no arguments of the function.

    Examples
    --------
    >>> @hk.step(inputs=["x"], outputs=["y"])
    ... def double(x, y):
    ...     np.multiply(x, 2, out=y)
    >>> x, y = np.arange(3), np.empty(3, int)
    >>> with hk.Flow(workers=2):
    ...     double(x, y)  # a step
    ...     double(y, x)  # begins once the first has ended
    >>> x
    array([0, 4, 8])
    """
    if callable(inputs):
        raise Error("step is used without parentheses; write @hk.step() or @hk.step(inputs=[…])")
    lists = {"inputs": inputs, "outputs": outputs, "inouts": inouts, "commutes": commutes}

    def annotated(fn: AnyFunction) -> AnyFunction:
        function, waits = as_function(fn)
        signature = inspect.signature(function)
        known = list(signature.parameters)
        for word, names in lists.items():
            if not isinstance(names, (list, tuple)):
                shown = [names] if isinstance(names, str) else ["A"]
                raise Error(f"{word} is {names!r}; give a list of names, as {word}={shown}")
            for each in names:
                if not isinstance(each, str) or each not in known:
                    near = difflib.get_close_matches(str(each), known, 1)
                    hint = f" (did you mean {near[0]!r}?)" if near else ""
                    raise Error(
                        f"step {fn.__name__!r} has no argument {each!r}{hint}; {word} names some "
                        f"of {', '.join(map(repr, known))}"
                    )
        if comm and commutes:
            raise Error(f"step {fn.__name__!r} communicates; it cannot commute")

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            flow = current()
            if flow is None:
                return run(fn, *args, **kwargs) if waits else fn(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            touched = {
                word: [each for name in names for each in _listed(bound.arguments[name])]
                for word, names in lists.items()
            }
            called = functools.partial(fn, *args, **kwargs)
            accesses = touched["inputs"], touched["outputs"], touched["inouts"], priority
            its_name = name or fn.__name__
            if comm:
                flow.comm(called, *accesses, name=its_name, threads=threads)
            else:
                flow.task(
                    called,
                    *accesses,
                    commutes=touched["commutes"],
                    name=its_name,
                    threads=threads,
                )
            return None

        return call

    return annotated


def _listed(argument: Any) -> list[Any]:
    if argument is None:
        return []
    return argument if isinstance(argument, list) else [argument]
