# SPDX-License-Identifier: BSD-3-Clause
# The extension module hocket._mpi: bindings/python/mpi_module.cpp and mpi_tasks.cpp.
import enum
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from hocket import _pure

TaskId = Union[int, str]

class Local:
    @staticmethod
    def wrap(
        address: int,
        layout: _pure.Layout,
        dtype: str,
        itemsize: int,
        comm: int,
        strides: Sequence[int],
        owner: Any,
        writable: bool,
    ) -> Local: ...

class Verb(enum.Enum):
    send = 0
    recv = 1
    isend = 2
    irecv = 3
    sendrecv = 4
    probe = 5
    iprobe = 6
    send_init = 7
    recv_init = 8

class Status:
    source: int
    source_name: str
    tag: int
    layout: _pure.Layout
    dtype: str

class Request:
    def wait(self, timeout: Optional[float]) -> Status: ...
    def test(self) -> bool: ...
    def status(self) -> Status: ...
    def start(self, array: Local = ...) -> None: ...
    def free(self) -> None: ...
    persistent: bool

class Channel:
    name: str
    def send(self, array: Local, timeout: Optional[float]) -> None: ...
    def recv(self, array: Local, timeout: Optional[float]) -> Status: ...
    def close(self, timeout: Optional[float]) -> None: ...
    def refuse(self, sending: bool, kind: str, message: str, timeout: Optional[float]) -> None: ...

class Tasks:
    name: Optional[str]
    rank: int
    size: int
    names: list[str]
    comm: int
    @staticmethod
    def make(
        names: Sequence[str], processes: Sequence[Union[int, list[int]]], comm: int
    ) -> Tasks: ...
    @staticmethod
    def from_launcher(comm: int) -> Tasks: ...
    def task(self, id: TaskId) -> Tasks: ...
    def send(
        self, array: Local, destination: TaskId, tag: int, timeout: Optional[float]
    ) -> None: ...
    def recv(self, array: Local, source: TaskId, tag: int, timeout: Optional[float]) -> Status: ...
    def isend(self, array: Local, destination: TaskId, tag: int) -> Request: ...
    def irecv(self, array: Local, source: TaskId, tag: int) -> Request: ...
    def sendrecv(
        self,
        sent: Local,
        destination: TaskId,
        received: Local,
        source: TaskId,
        send_tag: int,
        receive_tag: int,
        timeout: Optional[float],
    ) -> Status: ...
    def send_init(
        self,
        array: Union[Local, _pure.Layout],
        destination: TaskId,
        tag: int,
        count: Optional[int],
        strategy: str,
    ) -> Request: ...
    def recv_init(
        self,
        array: Union[Local, _pure.Layout],
        source: TaskId,
        tag: int,
        count: Optional[int],
        strategy: str,
    ) -> Request: ...
    def channel(self, name: str, other: TaskId) -> Channel: ...
    def probe(self, source: TaskId, tag: int, timeout: Optional[float]) -> Status: ...
    def iprobe(self, source: TaskId, tag: int) -> Optional[Status]: ...
    def refuse(self, verb: Verb, kind: str, message: str, timeout: Optional[float]) -> None: ...
    def profile(self) -> dict[str, float]: ...
    def add_call_seconds(self, seconds: float) -> None: ...

def allocate(bytes: int) -> npt.NDArray[np.uint8]: ...
def redistribute(
    source: Local,
    destination: Local,
    axes: Sequence[int],
    strategy: str,
    timeout: Optional[float],
) -> None: ...
def scatter(
    whole: int, destination: Local, root: int, owner: Any, timeout: Optional[float]
) -> None: ...
def gather(source: Local, whole: int, root: int, owner: Any, timeout: Optional[float]) -> None: ...
def refuse(comm: int, kind: str, message: str, timeout: Optional[float]) -> None: ...
def tell(comm: int, text: str, root: int, timeout: Optional[float]) -> str: ...
def wait_any(requests: Sequence[Request], timeout: Optional[float]) -> int: ...
def pending_waits() -> str: ...
def mpi_library() -> str: ...
def plan_cache_counts() -> tuple[int, int, int]: ...
def descriptor_counts() -> tuple[int, int]: ...
def memory_usage() -> dict[str, int]: ...
