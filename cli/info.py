# SPDX-License-Identifier: BSD-3-Clause
"""`hocket info`: the installation, the MPI, the machine, and the memory paths between processes."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from hocket.cli.main import Parser

import hocket
from hocket import _pure, costs, mpiexec
from hocket.errors import Error

_PACKAGES = ("numpy", "mpi4py", "cloudpickle", "scipy", "scikit-image", "matplotlib", "rich")

# Another process of this user maps the memory of an array, as a receiver would.
_ASK_MEMORY = """
import mmap, os, sys
try:
    with open(f"/proc/{sys.argv[1]}/fd/{sys.argv[2]}", "r+b") as file:
        with mmap.mmap(file.fileno(), 0) as memory:
            print("yes" if memory.find(b"hocket was here") >= 0 else "no: other memory was found")
except OSError as problem:
    print(f"no: {problem.strerror} ({problem.filename or 'mmap'})")
"""

# Reads bytes at a given address of that process through the kernel.
_ASK_CROSSING = """
import ctypes, os, sys
class Run(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
libc = ctypes.CDLL(None, use_errno=True)
read = ctypes.create_string_buffer(15)
here = Run(ctypes.addressof(read), 15)
there = Run(int(sys.argv[2]), 15)
libc.process_vm_readv.restype = ctypes.c_ssize_t
got = libc.process_vm_readv(int(sys.argv[1]), ctypes.byref(here), ctypes.c_ulong(1),
                            ctypes.byref(there), ctypes.c_ulong(1), ctypes.c_ulong(0))
if got < 0:
    print(f"no: {os.strerror(ctypes.get_errno())} (process_vm_readv)")
else:
    print("yes" if read.raw == b"hocket was here" else "no: other memory was found")
"""

# Runs in another process, because an MPI that cannot start ends its process.
_ASK_MPI = """
import json, sys
from mpi4py import MPI
levels = {MPI.THREAD_SINGLE: "single", MPI.THREAD_FUNNELED: "funneled",
          MPI.THREAD_SERIALIZED: "serialized", MPI.THREAD_MULTIPLE: "multiple"}
maps = [line.split()[-1] for line in open("/proc/self/maps") if "libmpi" in line]
answer = {"library_version":
              " ".join(MPI.Get_library_version().strip(chr(0)).splitlines()[0].split()),
          "standard": ".".join(map(str, MPI.Get_version())),
          "library": maps[0] if maps else None,
          "thread_level": levels.get(MPI.Query_thread(), "unknown")}
try:
    import os, socket, subprocess
    from hocket import _mpi
    piece = _mpi.allocate(4096)
    piece[:15] = list(b"hocket was here")
    forbidden = os.environ.get("HOCKET_FORBID", "").split(",")
    files = [name for name in os.listdir("/proc/self/fd")
             if "memfd:hocket" in os.path.realpath("/proc/self/fd/" + name)] \
        if _mpi.memory_usage()["shareable"] else []
    said = [subprocess.run([sys.executable, "-c", sys.argv[1], str(os.getpid()), name],
                           capture_output=True, text=True).stdout.strip() for name in files]
    asked = "no: HOCKET_FORBID is " + ",".join(forbidden)
    if "memfd" in forbidden:
        one_copy = asked
    elif not files:
        one_copy = "no: memfd_create is not allowed"
    elif "proc" in forbidden:
        one_copy = asked
    else:
        one_copy = "yes" if "yes" in said else said[0]
    if one_copy.startswith("no") and files and "socket" not in forbidden:
        try:  # the owner then hands others its memory over a socket
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
                door.bind(chr(0) + f"hocket.info.{os.getpid()}")
            one_copy = "yes, by descriptors that processes hand each other" + one_copy[2:]
        except OSError:
            pass
    answer["one copy within a node"] = one_copy
    address = piece.ctypes.data
    crossing = subprocess.run([sys.executable, "-c", sys.argv[2], str(os.getpid()), str(address)],
                              capture_output=True, text=True).stdout.strip()
    answer["wrapped arrays, one copy"] = \
        "no: HOCKET_FORBID is " + ",".join(forbidden) if "process_vm" in forbidden else crossing
except Exception as problem:
    answer["hocket_problem"] = f"{type(problem).__name__}: {problem}"
print("\\n" + json.dumps(answer, default=str))
"""


def main(words: list[str]) -> int:
    """Print the facts; 1 if this installation cannot start processes."""
    parser = Parser(prog="hocket info", description="Versions, MPI, machine, copy methods.")
    parser.add_argument("store", nargs="?", help="a store, as run.zarr: what is in it, instead")
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    options = parser.parse_args(words)
    if options.store is not None:
        return _tell_of(options.store, options.json)
    facts = gather()
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        for title, section in facts.items():
            print(title)
            _show(section)
    return 0 if "problem" not in facts["launcher"] and "problem" not in facts["mpi"] else 1


def _tell_of(path: str, as_json: bool) -> int:
    """The arrays of a store, from its metadata alone."""
    store = hocket.open_store(path)
    facts: dict[str, Any] = {"attributes": store.attributes, "unfinished": store.unfinished}
    facts["arrays"] = {}
    for name in store:
        each = store[name]
        facts["arrays"][name] = {
            "shape": each.shape,
            "dtype": str(each.dtype),
            "chunks": each.chunks,
            "shards": each.shards,
            "codec": each.codec,
            "bytes": math.prod(each.shape) * each.dtype.itemsize,
            "dimension_names": each.dimension_names,
            "attributes": each.attributes,
        }
    if as_json:
        print(json.dumps(facts, indent=2))
        return 0
    print(path)
    for name, values in facts["arrays"].items():
        shards = "" if values["shards"] is None else f" in shards {values['shards']}"
        print(
            f"  {name}: {values['dtype']} {values['shape']}, chunks {values['chunks']}{shards}, "
            f"{values['codec']}, {values['bytes']:,} bytes"
        )
    if facts["attributes"]:
        print(f"  attributes: {json.dumps(facts['attributes'])}")
    return 0


def gather() -> dict[str, dict[str, Any]]:
    """All facts by section, as plain values."""
    return {
        "hocket": {"version": hocket.__version__, "python": _python(), **_versions()},
        "mpi": _mpi(),
        "launcher": _launcher(),
        "machine": {**machine(), "copies": _copies(), "passes": _passes()},
        "stores": {
            "writers_a_node": costs.writers() or "not measured (hocket calibrate --writers)"
        },
        "ports": {"encryption": _encryption()},
        "environment": _environment(),
    }


def _python() -> str:
    return f"{platform.python_version()} ({sys.executable})"


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def _mpi() -> dict[str, Any]:
    try:
        env = mpiexec.environment(mpiexec.flavour(mpiexec.find()))
    except Error:
        env = mpiexec.environment("openmpi")
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASK_MPI, _ASK_MEMORY, _ASK_CROSSING],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=env,
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        return {"problem": "MPI did not start within 60 s"}
    try:
        facts: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        lines = answer.stderr.strip().splitlines() or [f"exit status {answer.returncode}"]
        return {"problem": f"MPI cannot be used here: {lines[-1]}"}
    return facts


def _launcher() -> dict[str, Any]:
    try:
        path = mpiexec.find()
        return {"mpiexec": str(path), "kind": mpiexec.flavour(path)}
    except Error as problem:
        return {"problem": str(problem)}


def machine() -> dict[str, Any]:
    """The machine, as every measurement records it."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "cores_usable": usable,
        "processor": _processor(),
    }


def _copies() -> str:
    """The instructions of copies; without any of their own, they take a few times as long."""
    found = _pure.vector_instructions()
    lowered = ", by HOCKET_CPU" if os.environ.get("HOCKET_CPU") else ""
    if found == "none":
        return f"portable C++: hocket has no vector instructions for {platform.machine()}"
    return f"with {found}{lowered}"


def _encryption() -> str:
    """The library that encrypts ports; its version decides how fast."""
    try:
        return _pure.encryption_library() or "none: this build found no OpenSSL 3"
    except AttributeError as problem:  # the build for the demo has no ports
        return str(problem)


def _passes() -> str:
    """The costs by which arrays are permuted in place."""
    try:
        return f"costs {_pure.pass_costs_origin()}"
    except Error as problem:
        return str(problem)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _environment() -> dict[str, str]:
    prefixes = ("HOCKET_", "OMP_NUM_THREADS", "OMPI_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "HYDRA_")
    return {name: os.environ[name] for name in sorted(os.environ) if name.startswith(prefixes)}


def _show(section: dict[str, Any], indent: str = "  ") -> None:
    for name, value in section.items():
        if isinstance(value, dict):
            print(f"{indent}{name}")
            _show(value, indent + "  ")
        elif value is not None:
            print(f"{indent}{name:<16} {value}")
    if not section:
        print(f"{indent}(nothing set)")
