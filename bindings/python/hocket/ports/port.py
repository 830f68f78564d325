# SPDX-License-Identifier: BSD-3-Clause
"""Ports: where programs that were started separately find this one, look into it and steer it."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from hocket import _mpi
from hocket.arguments import as_count, as_flag, as_seconds, as_text
from hocket.arrays import Array
from hocket.calls import collective
from hocket.channels import core_of
from hocket.communicators import communicator
from hocket.errors import Error
from hocket.groups import Tasks
from hocket.ports.observer import Value, key_of, value_of

if TYPE_CHECKING:
    from mpi4py import MPI


def frames_of(resume: Any) -> list[tuple[str, int]]:
    """The last frames of channels as the library takes them. Raises `Error`."""
    if resume is None:
        return []
    if not isinstance(resume, Mapping):
        raise Error(f"resume is {resume!r}; give a dictionary, as {{'frames': 17}}")
    kind, least = "the number of a frame", "the number of the last frame, or 0 for none"
    return [
        (
            as_text(name, "a channel's name", "frames"),
            as_count(last, f"resume[{name!r}]", kind, least),
        )
        for name, last in resume.items()
    ]


def seconds_again(reconnect: Any) -> float:
    """The seconds in which a lost job may come back. Raises `Error`."""
    if isinstance(reconnect, bool):
        return 60.0 if reconnect else 0.0
    seconds = as_seconds(reconnect, "reconnect", "False")
    return 0.0 if seconds is None else seconds


class Parameter:
    """A value that observers change; made by `Port.parameter`.

    All processes see a new value from the same `Port.poll` on.

    Examples
    --------
    >>> with hk.open_port("example-parameter") as port:
    ...     viscosity = port.parameter("viscosity", 0.1)
    ...     viscosity.value
    0.1
    """

    __slots__ = ("_core",)

    def __init__(self, core: _mpi.Parameter) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """As it was published.

        Examples
        --------
        >>> with hk.open_port("example-parameter") as port:
        ...     port.parameter("viscosity", 0.1).name
        'viscosity'
        """
        return self._core.name()

    @property
    def value(self) -> Value:
        """As of the last poll.

        Examples
        --------
        >>> with hk.open_port("example-parameter") as port:
        ...     port.parameter("steps", 100).value
        100
        """
        return self._core.value()

    def __repr__(self) -> str:
        return f"<hocket.Parameter {self.name!r} = {self.value!r}>"


class Port:
    """A port of this program; made by `open_port`. A context manager, which closes it.

    Its methods are collective over the communicator.

    Examples
    --------
    On two processes:

    >>> rows = hk.Layout((4, 6), "(BLOCK, *)", 2)
    >>> temperature = hk.zeros(rows)
    >>> with hk.open_port("example") as port:
    ...     port.publish("temperature", temperature)
    ...     viscosity = port.parameter("viscosity", 0.1)
    ...     for step in range(100):
    ...         temperature.local[...] += viscosity.value
    ...         port.poll()
    """

    __slots__ = ("_closed", "_comm", "_core")

    def __init__(self, core: _mpi.Port, comm: MPI.Comm) -> None:
        self._core = core
        self._comm = comm
        self._closed = False

    @property
    def name(self) -> str:
        """As it was opened.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.name
        'example'
        """
        return self._core.name()

    @property
    def address(self) -> str:
        """``"host:port"``, where it listens for other hosts; if it does not, the path of its socket
        on this host. `connect` and `observe` take either in place of the name.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.address == port.name
        False
        """
        return self._core.address()

    @property
    def key(self) -> Optional[str]:
        """Path of the key file that other hosts need; None where there is none.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.key is None
        True
        """
        return self._core.key() or None

    @property
    def step(self) -> int:
        """How many polls this process has made.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.poll()
        ...     port.step
        1
        """
        return self._core.polls()

    def __repr__(self) -> str:
        return f"<hocket.Port {self.name!r}>"

    def publish(self, name: str, a: Array, *, timeout: Optional[float] = None) -> None:
        """Lets observers see the array from the next `poll` on. The port keeps it alive.

        Parameters
        ----------
        name
            1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-". The array replaces an earlier
            one of this name.
        a
            an array of the port's communicator, of any layout.

        Raises
        ------
        MismatchError
            where processes publish different names, shapes or layouts.
        Error
            for another communicator, and a name that a parameter has.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.publish("t", hk.zeros(hk.Layout((3, 4), "(*, *)")))
        """
        with collective(self._comm, timeout) as seconds:
            given = as_text(name, "name", "temperature")
            core = core_of(a, "publish")
        self._core.publish(given, core, seconds)

    def parameter(self, name: str, value: Value, *, timeout: Optional[float] = None) -> Parameter:
        """A value that observers may change, from `poll` to `poll`.

        Parameters
        ----------
        value
            what it is at first, the same on all processes: a bool, int, float or text. Its type
            stays.

        Raises
        ------
        MismatchError
            where processes give different values.
        Error
            for a name that is taken, and a value of another type.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     port.parameter("viscosity", 0.1)
        <hocket.Parameter 'viscosity' = 0.1>
        """
        with collective(self._comm, timeout) as seconds:
            given, plain = as_text(name, "name", "viscosity"), value_of(value, name)
        return Parameter(self._core.parameter(given, plain, seconds))

    def accept(
        self, timeout: Optional[float] = None, *, resume: Optional[Mapping[str, int]] = None
    ) -> Tasks:
        """Waits for a job that connects (`connect`): it is a task of this one then.

        Parameters
        ----------
        timeout
            seconds until a job has connected. None: as long as it takes.
        resume
            of a restarted job, for each channel with kept frames: the number of the last frame
            that it has sent or received. As in `connect`.

        Returns
        -------
        Tasks
            This job is task 0, the other one task 1. All verbs of tasks work between them.

        Raises
        ------
        DeadlineError
            on every process, if no job has connected within `timeout` seconds.
        PeerLostError
            if the other job's processes do not come.

        Examples
        --------
        On two processes:

        >>> with hk.open_port("example-accept") as port:
        ...     try:
        ...         port.accept(timeout=0.1)
        ...     except hk.DeadlineError:
        ...         print("nobody came")
        nobody came
        """
        with collective(self._comm, timeout) as seconds:
            frames = frames_of(resume)
        return Tasks(self._core.accept(seconds, frames))

    def poll(self, timeout: Optional[float] = None) -> None:
        """Copies out what observers asked for, and changes parameters.

        All processes make as many polls. Processes do not wait for each other, with one
        exception: a process that comes to a poll that serves an observer waits there for
        process 0. Without observers, a poll reads a clock.

        Raises
        ------
        DeadlineError
            where process 0 does not come to that poll within `timeout` seconds.
        Error
            for a wrong timeout, and after `close`.

        Examples
        --------
        >>> with hk.open_port("example") as port:
        ...     for step in range(3):
        ...         port.poll()
        """
        self._core.poll(as_seconds(timeout))

    def close(self, timeout: Optional[float] = None) -> None:
        """Closes the port: observers get an end message, and the name is free.

        Raises
        ------
        Error
            the second time.

        Examples
        --------
        >>> port = hk.open_port("example")
        >>> port.close()
        """
        with collective(self._comm, timeout) as seconds:
            pass
        self._core.close(seconds)
        self._closed = True

    def __enter__(self) -> Port:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        # After an error the other processes may not close it.
        if error is None and not self._closed:
            self.close()


def open_port(
    name: str,
    *,
    task: Optional[str] = None,
    address: Optional[str] = None,
    comm: Optional[MPI.Comm] = None,
    key: Any = None,
    secure: bool = True,
    timeout: Optional[float] = None,
) -> Port:
    """Opens a port, by which programs that were started separately find this one. Collective.

    On this host other programs of this user find it by its name, through a file that only this user
    may read, and need no key.

    Parameters
    ----------
    name
        1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-".
    task
        the name of this program for processes that connect; None: the port's name.
    address
        ``"host:port"`` where process 0 listens for other hosts; port 0 is a free one. None: a free
        port of this host if there is a `key`, else none.
    comm
        whose processes the port belongs to; None: all.
    key
        path of a file of at least 32 bytes that only this user may read: both sides have it. None:
        with an `address` one is made, see `Port.key`.
    secure
        False: connections from other hosts are not encrypted, and need no key.

    Returns
    -------
    Port

    Raises
    ------
    Error
        on every process: a name that another program has, an address that cannot be listened at, a
        key file that others may read, and encryption where hocket was built without OpenSSL.

    Examples
    --------
    >>> with hk.open_port("example") as port:
    ...     port.publish("t", hk.zeros(hk.Layout((3, 4), "(*, *)")))
    ...     port.poll()
    """
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        given = as_text(name, "name", "simulation")
        where = "" if address is None else as_text(address, "address", "node17:0")
        called = given if task is None else as_text(task, "task", "simulation")
        path, encrypted = key_of(key), as_flag(secure, "secure")
    return Port(_mpi.Port.open(given, on.handle, called, where, path, encrypted, seconds), on)


def connect(
    name: str,
    *,
    task: str = "viewer",
    key: Any = None,
    comm: Optional[MPI.Comm] = None,
    timeout: Optional[float] = None,
    secure: bool = True,
    reconnect: Union[bool, float] = False,
    resume: Optional[Mapping[str, int]] = None,
) -> Tasks:
    """Connects to a job that has a port, and that accepts this one (`Port.accept`). Collective.

    Parameters
    ----------
    name
        of a port of this user on this host; or ``"host:port"``, with a key.
    task
        how the other job calls this one.
    key
        path of the key file that the port has. On one host for one user none is needed.
    comm
        whose processes become the task; None: all.
    timeout
        seconds until the other job has accepted. None: as long as it takes.
    secure
        False: unencrypted, to a port that was opened so, too. Prints a warning.
    reconnect
        True: if the other job or the line to it is lost, calls of channels with kept frames
        (`Tasks.channel`, ``keep=``) connect again, for a minute, or for so many seconds. Other
        calls raise `PeerLostError`.
    resume
        of a restarted job, for each channel with kept frames: the number of the last frame that it
        has sent or received, counted from 1 (`Channel.sent`, `Channel.received`). A receiver that
        is not named here takes the first frame that was not acknowledged. A sender that is not
        named begins with frame 1; the frames that the other job has are skipped.

    Returns
    -------
    Tasks
        The other job is task 0, this one task 1.

    Raises
    ------
    DeadlineError
        on every process: no such port, or one that does not accept.
    Error
        a port that lets this job not in.

    Examples
    --------
    On two processes:

    >>> try:
    ...     hk.connect("example-nowhere", timeout=0.1)
    ... except hk.DeadlineError:
    ...     print("no such port")
    no such port
    """
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        where, called = as_text(name, "name", "simulation"), as_text(task, "task", "viewer")
        path, encrypted = key_of(key), as_flag(secure, "secure")
        again, frames = seconds_again(reconnect), frames_of(resume)
    return Tasks(_mpi.connect(where, on.handle, called, path, encrypted, seconds, again, frames))
