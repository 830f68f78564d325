# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of tests over hosts meet by a name, although a name leads no further than its own host.

`over_hosts.py` puts this folder on the path of every Python that a test starts. There
`hk.open_port` of a name listens at an address that follows from the name, with a key that all hosts
see, and `hk.connect` to the name dials that address. A port at 127.0.0.1 listens for all hosts.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import zlib
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULE = "hocket.ports.port"
KEY = "LOCKSTEP_KEY"  # environment variable: the path of the key file
HOST = "LOCKSTEP_HOST"  # environment variable: the host of process 0 of every job


def address_of(name: str) -> str:
    """Of the port of this name, also of the job that is restarted."""
    return f"{os.environ[HOST]}:{10000 + zlib.crc32(name.encode()) % 20000}"


def adapt(ports: ModuleType) -> None:
    """Replaces the functions of hocket's module."""
    opens, connects = ports.open_port, ports.connect

    @functools.wraps(opens)
    def open_port(name: str, **options: Any) -> Any:
        address = options.get("address")
        if address is None and "key" not in options and isinstance(name, str):
            options |= {"address": address_of(name), "key": os.environ[KEY]}
        elif isinstance(address, str) and address.startswith("127.0.0.1:"):
            options["address"] = f"{os.environ[HOST]}:{address.rpartition(':')[2]}"
        return opens(name, **options)

    @functools.wraps(connects)
    def connect(name: str, **options: Any) -> Any:
        if options.get("secure", True) and not options.get("key") and isinstance(name, str):
            options["key"] = os.environ[KEY]
            name = name if ":" in name else address_of(name)
        return connects(name, **options)

    ports.open_port, ports.connect = open_port, connect  # type: ignore[attr-defined]


class Finder:
    """Adapts hocket's module when it is imported."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        runs = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            runs(module)
            adapt(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if KEY in os.environ:
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
