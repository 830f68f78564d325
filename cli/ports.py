# SPDX-License-Identifier: BSD-3-Clause
"""`hocket ports`: programs of this user on this host that can be looked into, and keys for them."""

from __future__ import annotations

import argparse
import json

from hocket.cli.main import Parser, UsageError

from hocket import _pure

_HELP = """\
List the ports of this user on this host:

  hocket ports

Or take the key of one right out of a key file, for somebody who may not have the others. `read`:
look on; `steer`: change parameters, too; `join`: connect as a task, too.

  hocket ports --key run.key --give read --to looking.key
"""


def main(words: list[str]) -> int:
    parser = Parser(prog="hocket ports", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    parser.add_argument("--key", help="a key file")
    parser.add_argument("--give", choices=["read", "steer", "join"], help="a right of that key")
    parser.add_argument("--to", help="the new file for its key")
    options = parser.parse_args(words)
    given = [options.key, options.give, options.to]
    if any(given) and not all(given):
        raise UsageError("--key, --give and --to belong together")
    if options.key:
        _pure.give_key(options.key, options.give, options.to)
        return 0
    names = ("name", "process", "processes", "address")
    found = [dict(zip(names, port)) for port in _pure.ports()]
    if options.json:
        print(json.dumps(found))
    elif not found:
        print("no program of yours on this host has a port (hk.open_port)")
    for port in found if not options.json else []:
        where = f", at {port['address']}" if port["address"] else ""
        many = "1 process" if port["processes"] == 1 else f"{port['processes']} processes"
        print(f"{port['name']}: {many}, process id {port['process']}{where}")
    return 0
