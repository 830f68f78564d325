# SPDX-License-Identifier: BSD-3-Clause
"""Looking into a program that runs elsewhere. Needs no MPI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Optional, Union

import numpy as np

from hocket import _pure, dtypes
from hocket.arguments import as_flag, as_seconds, as_text, slices_of
from hocket.errors import Error

Value = Union[bool, int, float, str]


def key_of(key: Any) -> str:
    """The path of a key file as the library takes it; None: none. Raises `Error`."""
    if key is None:
        return ""
    try:
        path = os.fsdecode(os.fspath(key))
    except TypeError:
        raise Error(
            f"key is {type(key).__name__}; give the path of a key file, as 'run.key'"
        ) from None
    if "\0" in path:
        raise Error(f"key is {path!r}; give the path of a key file, as 'run.key'")
    return path


def value_of(value: Any, name: str) -> Value:
    """A parameter's value as the library takes it. Raises `Error`."""
    plain = (
        value.item() if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 else value
    )
    if isinstance(plain, (bool, float, str)):
        return plain
    if isinstance(plain, int) and -(2**63) <= plain < 2**63:
        return plain
    raise Error(
        f"the parameter {name!r} cannot be {value!r}; give a bool, an int of 64 bits, a float or a "
        "text"
    )


def dtype_of(name: str, itemsize: int, swapped: bool) -> np.dtype[Any]:
    """The dtype of what comes over the line. Raises `Error` for one that a line may not bring."""
    dtype = dtypes.resolve(dtypes.from_name(name))
    if dtype.itemsize != itemsize:
        raise Error(f"the program says that {dtype} has {itemsize} bytes")
    return dtype.newbyteorder("S") if swapped and name.isidentifier() else dtype


class ObservedArray:
    """An array that a program has published. Made by ``observer[name]``.

    ``observed[2:8, ::2]`` copies these elements into a NumPy array, as they are at one poll of the
    program; only they travel.

    Attributes
    ----------
    name : str
    shape : tuple of int
    dtype : numpy.dtype
        as the program has published it. Elements arrive equal in value, in this machine's byte
        order: those of ``>f8`` as ``float64``.

    Examples
    --------
    >>> port = hk.open_port("example-shape")
    >>> port.publish("t", hk.zeros(hk.Layout((3, 4), "(*, *)")))
    >>> port.poll()
    >>> port.name
    'example-shape'
    >>> port.close()
    """

    __slots__ = ("_core", "dtype", "name", "shape")

    def __init__(self, core: _pure.Observer, name: str, shape: Any, dtype: np.dtype[Any]) -> None:
        self._core = core
        self.name = name
        self.shape = tuple(shape)
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<hocket.ObservedArray {self.name!r}: {self.dtype} {self.shape}>"

    def __getitem__(self, slices: Any) -> Any:
        wanted = slices_of(slices, self.shape)
        kept = tuple(count for _, count, _, keep in wanted if keep)
        found = np.empty(kept, self.dtype)
        self._core.read(self.name, wanted, found.__array_interface__["data"][0])
        native = found.astype(self.dtype.newbyteorder("="), copy=False)
        return native if kept or all(keep for *_, keep in wanted) else native[()]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError(f"{self.name!r} is in another program, so that it has to be copied")
        return np.asarray(self[...], dtype)


class Observer:
    """A look into a program that has a port; made by `observe`. A context manager.

    ``list(o)`` are the names of all that the program has published. ``o[name]`` is an
    `ObservedArray`, or the value of a parameter. ``o[name] = value`` gives a parameter a value, and
    returns once all processes of the program have it. Any thread may use it, one at a time.

    Raises
    ------
    DeadlineError
        where the program's processes do not come to a common poll within the timeout.
    PeerLostError
        where the program is gone. An observer that has raised one of these is closed.
    EndOfStream
        once the program has closed its port.

    Examples
    --------
    A thread stands for the other program here:

    >>> import threading
    >>> port = hk.open_port("example-observer")
    >>> port.publish("t", hk.ones(hk.Layout((3, 4), "(*, *)")))
    >>> viscosity, seen = port.parameter("viscosity", 0.1), []
    >>> def look():
    ...     with hk.observe("example-observer") as o:
    ...         seen.append(list(o))
    ...         o["viscosity"] = 0.2
    >>> other = threading.Thread(target=look)
    >>> other.start()
    >>> while other.is_alive():
    ...     port.poll()
    >>> port.close()
    >>> seen, viscosity.value
    ([['t', 'viscosity']], 0.2)
    """

    __slots__ = ("_core", "_port")

    def __init__(self, core: _pure.Observer, port: str) -> None:
        self._core = core
        self._port = port

    def __repr__(self) -> str:
        return f"<hocket.Observer of {self._port!r}>"

    def __iter__(self) -> Iterator[str]:
        names = [name for name, *_ in self._core.arrays()]
        return iter(names + [name for name, _ in self._core.parameters()])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> Any:
        for found, dtype, itemsize, shape in self._core.arrays():
            if found == name:
                of = dtype_of(dtype, itemsize, self._core.swapped())
                return ObservedArray(self._core, found, shape, of)
        parameters = dict(self._core.parameters())
        if name not in parameters:
            names = ", ".join(map(repr, self)) or "nothing"
            raise Error(f"the program has published no {name!r}; it has published {names}")
        return parameters[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name in {found for found, *_ in self._core.arrays()}:
            raise Error(
                f"{name!r} is an array, which only its program changes; let the program have a "
                "parameter, or connect to it as a task"
            )
        self._core.set(as_text(name, "name", "viscosity"), value_of(value, name))

    @property
    def step(self) -> int:
        """How many polls the program had made when it last answered.

        Examples
        --------
        A thread stands for the other program here:

        >>> import threading
        >>> port = hk.open_port("example-step")
        >>> port.publish("t", hk.ones(hk.Layout((3, 4), "(*, *)")))
        >>> viscosity, seen = port.parameter("viscosity", 0.1), []
        >>> def look():
        ...     with hk.observe("example-step") as o:
        ...         elements = o["t"][0]
        ...         seen.append(o.step)
        >>> other = threading.Thread(target=look)
        >>> other.start()
        >>> while other.is_alive():
        ...     port.poll()
        >>> port.close()
        >>> 0 < seen[0] <= port.step
        True
        """
        return self._core.step()

    def close(self) -> None:
        """Ends the look. The program goes on.

        Examples
        --------
        A thread stands for the other program here:

        >>> import threading
        >>> port = hk.open_port("example-close")
        >>> port.publish("t", hk.ones(hk.Layout((3, 4), "(*, *)")))
        >>> viscosity, seen = port.parameter("viscosity", 0.1), []
        >>> def look():
        ...     with hk.observe("example-close") as o:
        ...         o.close()
        >>> other = threading.Thread(target=look)
        >>> other.start()
        >>> while other.is_alive():
        ...     port.poll()
        >>> port.close()
        """
        self._core.close()

    def __enter__(self) -> Observer:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def observe(
    name: str, *, key: Any = None, timeout: Optional[float] = None, secure: bool = True
) -> Observer:
    """Looks into a program that runs elsewhere. Needs no MPI; a notebook may do it.

    Parameters
    ----------
    name
        of a port of this user on this host; or ``"host:port"``, with a key.
    key
        path of the key file that the port has, or of one with the right to read or to steer only.
        On one host for one user none is needed.
    timeout
        seconds that each wait may take: for the port to be there, and for every answer. None: 10
        for the port, and no limit for answers.
    secure
        False: unencrypted, to a port that was opened so, too. Prints a warning.

    Returns
    -------
    Observer

    Raises
    ------
    DeadlineError
        no such port, or one that does not answer.
    PeerLostError
        a port that lets nobody in without a key, or with this one.
    Error
        a key file that others may read.

    Examples
    --------
    A thread stands for the other program here:

    >>> import threading
    >>> port = hk.open_port("example-observe")
    >>> port.publish("t", hk.ones(hk.Layout((3, 4), "(*, *)")))
    >>> viscosity, seen = port.parameter("viscosity", 0.1), []
    >>> def look():
    ...     with hk.observe("example-observe") as o:
    ...         seen.append(o["t"][1:, ::2].tolist())
    >>> other = threading.Thread(target=look)
    >>> other.start()
    >>> while other.is_alive():
    ...     port.poll()
    >>> port.close()
    >>> seen
    [[[1.0, 1.0], [1.0, 1.0]]]
    """
    where = as_text(name, "name", "simulation")
    core = _pure.Observer.open(where, key_of(key), as_seconds(timeout), as_flag(secure, "secure"))
    return Observer(core, where)
