# SPDX-License-Identifier: BSD-3-Clause
"""The array that goes from job to job, and what moves it beside hocket: raw copies and streams,
MPI, openssl, ADIOS2, preCICE."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .harness import Contestant, Step, UnavailableError, WrongResultError
from .store_peers import module
from .subject import hocket

if TYPE_CHECKING:
    from mpi4py import MPI


class Problem:
    """Two jobs, an array of float64 of the sending one, and its place in the other."""

    def __init__(self, comm: MPI.Intracomm, options: argparse.Namespace) -> None:
        hk = hocket()
        self.comm = comm
        self.half = comm.size // 2
        self.sends = comm.rank < self.half
        #: at which others reach this process
        self.host = socket.gethostbyname(socket.gethostname()) if options.link else "127.0.0.1"
        self.pair = comm.rank + (self.half if self.sends else -self.half)
        self.job = comm.Split(0 if self.sends else 1, comm.rank)
        self.elements = max(1, int(options.mebibytes * 2**17))
        layout = hk.Layout(self.half * self.elements, "(BLOCK)", self.half)
        self.a = hk.empty(layout, comm=self.job)
        self.wanted = np.arange(self.elements, dtype=np.float64) + self.job.rank
        self.a.local[...] = self.wanted if self.sends else 0
        made = tempfile.mkdtemp() if comm.rank == 0 else None
        self.folder = Path(comm.bcast(made))
        self.name = comm.bcast(f"bench-{os.getpid()}")

    def end(self) -> None:
        self.comm.barrier()
        if self.comm.rank == 0:
            shutil.rmtree(self.folder)

    def check(self) -> None:
        if not np.array_equal(self.a.local, self.wanted):
            raise WrongResultError("the elements received are not those sent")

    def spoil(self) -> None:
        if not self.sends:
            self.a.local.fill(np.nan)

    def step(self, run: Callable[[], object], close: Callable[[], None] = lambda: None) -> Step:
        return Step(run, self.check, self.spoil, close)


def flat_copy(problem: Problem) -> Contestant:
    """The limit on one host: the receiver copies as many bytes."""

    def prepare() -> Step:
        source = problem.wanted.copy()

        def move() -> None:
            if not problem.sends:
                np.copyto(problem.a.local, source)

        return problem.step(move)

    return Contestant("flat copy", prepare)


def mpi(problem: Problem) -> Contestant:
    """A message within one job of MPI."""

    def prepare() -> Step:
        def move() -> None:
            if problem.sends:
                problem.comm.Send(problem.a.local, problem.pair)
            else:
                problem.comm.Recv(problem.a.local, problem.pair)

        return problem.step(move)

    return Contestant("MPI in one job", prepare)


def tcp_stream(problem: Problem) -> Contestant:
    """One TCP stream a pair of processes."""

    def prepare() -> Step:
        with socket.create_server((problem.host, 0)) as listener:
            addresses = problem.comm.allgather(listener.getsockname())
            if problem.sends:
                stream = socket.create_connection(addresses[problem.pair])
            else:
                stream, _ = listener.accept()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        view = memoryview(problem.a.local).cast("B")

        def move() -> None:
            if problem.sends:
                stream.sendall(view)
                stream.recv(1)
                return
            at = 0
            while at < len(view):
                at += stream.recv_into(view[at:])
            stream.sendall(b"x")

        return problem.step(move, stream.close)

    return Contestant("TCP stream", prepare)


def adios(problem: Problem) -> Contestant:
    """ADIOS2's SST by TCP, one stream a pair; of PyPI, without MPI. It encrypts nothing."""

    def prepare() -> Step:
        adios2: Any = module("adios2")
        io = adios2.Adios().declare_io("bench")
        io.set_engine("SST")
        io.set_parameters(
            {"DataTransport": "WAN", "QueueLimit": "1", "QueueFullPolicy": "Block"}
            | {"RendezvousReaderCount": "1"}
        )
        modes, values = adios2.bindings.Mode, problem.a.local
        path = str(problem.folder / f"sst-{problem.job.rank}")
        whole = ([0], list(values.shape))
        variable = None
        if problem.sends:
            variable = io.define_variable("a", values, whole[1], *whole)
        engine = io.open(path, modes.Write if problem.sends else modes.Read)

        def move() -> None:
            engine.begin_step()
            if problem.sends:
                engine.put(variable, values, modes.Sync)
            else:
                found = io.inquire_variable("a")
                found.set_selection(whole)
                engine.get(found, values, modes.Sync)
            engine.end_step()

        return problem.step(move, engine.close)

    return Contestant("ADIOS2 SST", prepare)


#: of two participants that hand over the values at the vertices of one's mesh
PRECICE = """<precice-configuration><log enabled="0"/><profiling mode="off"/><data:scalar name="a"/>
<mesh name="mesh" dimensions="2"><use-data name="a"/></mesh>
<participant name="sender"><provide-mesh name="mesh"/><write-data name="a" mesh="mesh"/>
</participant><participant name="receiver">
<receive-mesh name="mesh" from="sender" api-access="true"/><read-data name="a" mesh="mesh"/>
</participant><m2n:sockets acceptor="sender" connector="receiver" exchange-directory="{folder}"/>
<coupling-scheme:serial-explicit><participants first="sender" second="receiver"/>
<max-time-windows value="1000000"/><time-window-size value="1"/>
<exchange data="a" mesh="mesh" from="sender" to="receiver"/></coupling-scheme:serial-explicit>
</precice-configuration>"""


def precice(problem: Problem) -> Contestant:
    """preCICE by TCP, a vertex an element, without mapping; two participants a pair. The package of
    PyPI needs preCICE's C++ library."""

    def prepare() -> Step:
        library: Any = module("precice")
        file = problem.folder / f"precice-{problem.job.rank}.xml"
        if problem.sends:
            file.write_text(PRECICE.format(folder=problem.folder / file.stem), encoding="utf-8")
        problem.comm.barrier()
        task = "sender" if problem.sends else "receiver"
        participant = library.Participant(task, str(file), 0, 1)
        vertices: Any = None

        def meet() -> Any:
            """Numbers of the vertices, in the order of the elements."""
            if not problem.sends:
                participant.set_mesh_access_region("mesh", [-1, problem.elements, -1, 1])
                participant.initialize()
                numbers, places = participant.get_mesh_vertex_ids_and_coordinates("mesh")
                return numbers[np.argsort(places[:, 0])]
            places = np.zeros((problem.elements, 2))
            places[:, 0] = np.arange(problem.elements)
            numbers = participant.set_mesh_vertices("mesh", places)
            participant.initialize()
            return numbers

        def move() -> None:
            nonlocal vertices
            first = vertices is None
            if first:  # the receiver's call returns when the first values are there
                vertices = meet()
            if problem.sends:
                participant.write_data("mesh", "a", vertices, problem.a.local)
            if problem.sends or not first:
                participant.advance(1.0)
            if not problem.sends:
                problem.a.local[...] = participant.read_data("mesh", "a", vertices, 1.0)

        return problem.step(move, participant.finalize)

    return Contestant("preCICE", prepare)


def openssl(problem: Problem) -> Contestant:
    """The time in which one core encrypts as many bytes, as `openssl speed` says."""

    def prepare() -> Step:
        program = shutil.which("openssl")
        if program is None:
            raise UnavailableError("openssl is not installed")

        def took() -> float:
            return float(problem.comm.bcast(seconds(str(program)) if problem.sends else 0.0))

        def seconds(program: str) -> float:
            words = ["speed", "-elapsed", "-seconds", "1", "-bytes", "16384", "-evp", "aes-256-gcm"]
            said = subprocess.run([program, *words], capture_output=True, text=True, check=True)
            found = re.search(r"AES-256-GCM\s+([\d.]+)k", said.stdout, re.IGNORECASE)
            if found is None:
                raise WrongResultError(f"openssl speed printed {said.stdout!r}")
            return 8 * problem.elements / (1000 * float(found[1]))

        speed = took()
        return Step(lambda: None, lambda: None, lambda: None, took=lambda: speed)

    return Contestant("openssl speed", prepare)


#: by way: contestants beside ours, the one to beat, and the limit
PEERS: dict[str, tuple[list[Callable[[Problem], Contestant]], tuple[str, ...], tuple[str, ...]]] = {
    "host": ([flat_copy, mpi], ("MPI in one job",), ("flat copy",)),
    "tcp": ([tcp_stream, adios, precice], ("TCP stream",), ("TCP stream",)),
    "tls": ([tcp_stream, openssl, adios], ("TCP stream",), ("openssl speed",)),
    "resize": ([flat_copy], (), ("flat copy",)),
}
