# SPDX-License-Identifier: BSD-3-Clause
# The extension module hocket._mpi: bindings/python/mpi_module.cpp, mpi_tasks.cpp, mpi_team.cpp and
# mpi_flow.cpp.
import enum
from collections.abc import Sequence
from typing import Any, Callable, NoReturn, Optional, Union

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
        room: int,
    ) -> Local: ...
    def layout(self) -> _pure.Layout: ...
    def room(self) -> int: ...

class Halo:
    def __init__(self, array: Local, width: Sequence[int], periodic: Sequence[bool]) -> None: ...
    def local_shape(self) -> list[int]: ...
    def memory(self) -> npt.NDArray[np.uint8]: ...
    def edges(self) -> tuple[tuple[bool, bool], ...]: ...
    def exchange(self, timeout: Optional[float]) -> None: ...
    def iexchange(self) -> Operation: ...

class Transfer:
    def __init__(
        self,
        source: _pure.Layout,
        destination: _pure.Layout,
        dtype: str,
        itemsize: int,
        comm: int,
        axes: Sequence[int],
        strategy: str,
        timeout: Optional[float],
        max_buffer: Optional[int],
    ) -> None: ...
    def start(self, source: Local, destination: Local) -> None: ...
    def refuse(self, kind: str, message: str) -> NoReturn: ...
    def wait(self, timeout: Optional[float]) -> None: ...
    def test(self) -> bool: ...
    def free(self) -> None: ...
    def operation(self) -> Operation: ...

class Operation:
    def text(self) -> str: ...
    def test(self) -> bool: ...
    def wait(self, timeout: Optional[float]) -> None: ...

_Region = Optional[tuple[Sequence[int], Sequence[int]]]

class Store:
    @staticmethod
    def open(path: str, mode: str, comm: int, timeout: Optional[float]) -> Store: ...
    def files(self) -> _pure.StoreFiles: ...
    def mode(self) -> str: ...
    def create(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str,
        itemsize: int,
        chunks: Sequence[int],
        shards: Sequence[int],
        codec: str,
        fill: str,
        dimension_names: Sequence[str],
        attributes: str,
        timeout: Optional[float],
    ) -> None: ...
    def set_attributes(self, json: str, timeout: Optional[float]) -> None: ...
    def iwrite(
        self,
        name: str,
        array: Local,
        region: _Region,
        writers: int,
        max_buffer: Optional[int],
        copy: bool,
        later: bool,
    ) -> Operation: ...
    def iread(
        self,
        name: str,
        array: Local,
        region: _Region,
        writers: int,
        max_buffer: Optional[int],
        axes: Sequence[int],
        later: bool,
    ) -> Operation: ...
    def append(
        self,
        name: str,
        array: Local,
        writers: int,
        max_buffer: Optional[int],
        timeout: Optional[float],
    ) -> None: ...
    def close(self, timeout: Optional[float]) -> None: ...
    def leave(self) -> None: ...

def save(
    path: str,
    arrays: Sequence[tuple[str, Local]],
    attributes: str,
    codec: str,
    keep: int,
    max_buffer: Optional[int],
    timeout: Optional[float],
) -> None: ...
def checkpoint_path(path: str, comm: int, timeout: Optional[float]) -> str: ...
def store_counts() -> dict[str, int]: ...

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
    collective = 9

class Status:
    source: int
    source_name: str
    tag: int
    layout: _pure.Layout
    dtype: str
    further: list[tuple[_pure.Layout, str]]

class Request:
    def wait(self, timeout: Optional[float]) -> Status: ...
    def pieces(self, timeout: Optional[float]) -> int: ...
    def wait_piece(self, piece: int, timeout: Optional[float]) -> tuple[int, int, int]: ...
    def test(self) -> bool: ...
    def status(self) -> Status: ...
    def start(self, array: Local = ...) -> None: ...
    def free(self) -> None: ...
    def operation(self) -> Operation: ...
    persistent: bool

class Channel:
    name: str
    def send(self, array: Local, timeout: Optional[float]) -> None: ...
    def recv(self, array: Local, timeout: Optional[float]) -> Status: ...
    def close(self, timeout: Optional[float]) -> None: ...
    def refuse(self, sending: bool, kind: str, message: str, timeout: Optional[float]) -> None: ...

class MessageOptions:
    def __init__(
        self, strategy: str = "auto", stages: int = 0, pieces: int = 0, later: bool = False
    ) -> None: ...

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
        self,
        arrays: Sequence[Local],
        destination: TaskId,
        tag: int,
        timeout: Optional[float],
        options: MessageOptions,
    ) -> None: ...
    def recv(
        self,
        arrays: Sequence[Local],
        source: TaskId,
        tag: int,
        timeout: Optional[float],
        options: MessageOptions,
    ) -> Status: ...
    def isend(
        self, arrays: Sequence[Local], destination: TaskId, tag: int, options: MessageOptions
    ) -> Request: ...
    def irecv(
        self, arrays: Sequence[Local], source: TaskId, tag: int, options: MessageOptions
    ) -> Request: ...
    def sendrecv(
        self,
        sent: Sequence[Local],
        destination: TaskId,
        received: Sequence[Local],
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
        stages: int,
    ) -> Request: ...
    def recv_init(
        self,
        array: Union[Local, _pure.Layout],
        source: TaskId,
        tag: int,
        count: Optional[int],
        strategy: str,
        stages: int,
    ) -> Request: ...
    def channel(self, name: str, other: TaskId) -> Channel: ...
    def probe(self, source: TaskId, tag: int, timeout: Optional[float]) -> Status: ...
    def iprobe(self, source: TaskId, tag: int) -> Optional[Status]: ...
    def refuse(self, verb: str, kind: str, message: str, timeout: Optional[float]) -> None: ...
    def bcast(self, array: Local, root: TaskId, timeout: Optional[float]) -> None: ...
    def reduce(
        self,
        array: Local,
        result: Optional[Local],
        op: str,
        root: TaskId,
        timeout: Optional[float],
    ) -> None: ...
    def allreduce(self, array: Local, result: Local, op: str, timeout: Optional[float]) -> None: ...
    def gather(
        self, array: Local, results: Sequence[Local], root: TaskId, timeout: Optional[float]
    ) -> None: ...
    def barrier(self, timeout: Optional[float]) -> None: ...
    def profile(self) -> dict[str, float]: ...
    def add_call_seconds(self, seconds: float) -> None: ...

class TeamOp(enum.Enum):
    wait = 0
    waitvec = 1
    any = 2
    all = 3
    putget = 4
    gather = 5
    bcast = 6
    reduce_add = 7
    reduce_mul = 8
    reduce_min = 9
    reduce_max = 10
    reduce_and = 11
    reduce_or = 12
    scan_add = 13
    scan_mul = 14
    scan_min = 15
    scan_max = 16
    scan_and = 17
    scan_or = 18
    rank = 19
    vote_count = 20
    vote = 21
    match_count = 22
    match = 23
    reduce = 24
    start = 25

class TeamStarted:
    def operation(self) -> Operation: ...
    def wait(self, timeout: Optional[float]) -> None: ...
    def test(self) -> bool: ...
    def value(self) -> Union[bool, int, bytes]: ...

class Team:
    process: int
    size: int
    mask: list[int]
    processes: list[int]
    shares_memory: bool
    def __init__(self, comm: int, timeout: Optional[float]) -> None: ...
    def enqueue(self, mask: Sequence[int]) -> Team: ...
    def population(self) -> int: ...
    def enumerate(self) -> int: ...
    def select_first(self) -> int: ...
    def select_one(self) -> int: ...
    def run(
        self,
        op: TeamOp,
        type: int,
        value: bytes,
        process: int,
        narrow: int,
        timeout: Optional[float],
    ) -> Union[bool, int, bytes]: ...
    def run_mask(
        self,
        op: TeamOp,
        type: int,
        value: bytes,
        process: int,
        narrow: int,
        timeout: Optional[float],
    ) -> list[int]: ...
    def run_gather(
        self,
        type: int,
        value: bytes,
        values: npt.NDArray[Any],
        narrow: int,
        timeout: Optional[float],
    ) -> None: ...
    def gather_bytes(self, value: bytes, timeout: Optional[float]) -> bytes: ...
    def start(
        self, op: TeamOp, type: int, value: bytes, process: int, narrow: int
    ) -> TeamStarted: ...
    def exit(self, code: int) -> None: ...
    def error(self, message: str) -> None: ...
    def refuse(self, op: TeamOp, message: str) -> NoReturn: ...

class AccessKind(enum.Enum):
    read = 0
    write = 1
    update = 2
    commute = 3
    reduce = 4

class Region:
    @staticmethod
    def of(object: Any) -> Region: ...
    @staticmethod
    def key(name: bytes) -> Region: ...
    def overlaps(self, other: Region) -> bool: ...
    def text(self) -> str: ...
    def size(self) -> int: ...
    def is_key(self) -> bool: ...

class Access:
    def __init__(self, kind: AccessKind, region: Region) -> None: ...
    @staticmethod
    def reduction(
        region: Region,
        name: str,
        fill: Callable[[int], None],
        combine: Callable[[int], None],
    ) -> Access: ...

class Thrown:
    where: str
    step: str
    def raise_again(self) -> None: ...

class Flow:
    workers: int
    agent_thread: bool
    steps: int
    def __init__(
        self,
        workers: Optional[int],
        window: int,
        agent: str,
        check: bool,
        record: bool,
        threads: int,
    ) -> None: ...
    def task(
        self,
        function: Callable[..., Any],
        hold: Any,
        accesses: Sequence[Access],
        priority: int,
        name: str,
        threads: int,
    ) -> None: ...
    def comm(
        self,
        function: Callable[[], Sequence[Operation]],
        hold: Any,
        accesses: Sequence[Access],
        priority: int,
        name: str,
        threads: int,
    ) -> None: ...
    def exchange(self, halo: Halo, priority: int) -> None: ...
    def transfer(
        self, transfer: Transfer, source: Local, destination: Local, priority: int
    ) -> None: ...
    def refuse(self, transfer: Transfer, kind: str, message: str, priority: int) -> None: ...
    def wait(self, timeout: Optional[float]) -> Optional[Thrown]: ...
    def wait_on(self, region: Region, timeout: Optional[float]) -> Optional[Thrown]: ...
    def close(self) -> None: ...
    def cancel(self) -> None: ...
    def give_way(self) -> None: ...
    def enter(self) -> None: ...
    def leave(self) -> None: ...
    def address(self) -> int: ...
    def dot(self) -> str: ...
    def svg(self) -> str: ...

def current_flow() -> int: ...
def end_given_up() -> None: ...
def polled(poll: Callable[[], Any], text: str) -> Operation: ...
def then(first: Operation, then: Callable[[], Any]) -> Operation: ...
def watched(handle: int) -> Operation: ...
def rank_and_size(comm: int) -> tuple[int, int]: ...
def set_log(from_: int) -> None: ...
def allocate(bytes: int, room: int = 0) -> npt.NDArray[np.uint8]: ...
def redistribute(
    source: Local,
    destination: Local,
    axes: Sequence[int],
    strategy: str,
    timeout: Optional[float],
    max_buffer: Optional[int],
) -> None: ...
def iredistribute(
    source: Local,
    destination: Local,
    axes: Sequence[int],
    strategy: str,
    max_buffer: Optional[int],
) -> Operation: ...
def scatter(
    whole: int, destination: Local, root: int, owner: Any, timeout: Optional[float]
) -> None: ...
def gather(source: Local, whole: int, root: int, owner: Any, timeout: Optional[float]) -> None: ...
def refuse(comm: int, kind: str, message: str, timeout: Optional[float]) -> None: ...
def tell(comm: int, text: str, root: int, timeout: Optional[float]) -> str: ...
def room_of(layout: _pure.Layout, itemsize: int, rank: int) -> int: ...
def layout_of_box(
    comm: int,
    start: Sequence[int],
    stop: Sequence[int],
    shape: Sequence[int],
    timeout: Optional[float],
) -> _pure.Layout: ...
def layout_of_elements(
    comm: int, elements: Sequence[int], shape: Sequence[int], timeout: Optional[float]
) -> _pure.Layout: ...
def remap_layout(layout: _pure.Layout, axes: Sequence[int]) -> _pure.Layout: ...
def remap_room(layout: _pure.Layout, axes: Sequence[int], rank: int) -> int: ...
def remap_inplace(
    array: Local, axes: Sequence[int], threads: int, timeout: Optional[float]
) -> Local: ...
def wait_any(requests: Sequence[Request], timeout: Optional[float]) -> int: ...
def pending_waits() -> str: ...
def mpi_library() -> str: ...
def mpi_built_with() -> str: ...
def plan_cache_counts() -> tuple[int, int, int]: ...
def descriptor_counts() -> tuple[int, int]: ...
def transfer_counts() -> tuple[int, int]: ...
def memory_usage() -> dict[str, int]: ...
