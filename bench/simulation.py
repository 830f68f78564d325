# SPDX-License-Identifier: BSD-3-Clause
"""Programs on simulated processes, and the one of transfers between two clusters of one process a
host, joined by one link.

SimGrid's SMPI runs the library's own sources in simulated time. For transfers it counts messages
only, no computing and no copying: that favours strategies with relays.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

from . import launch
from .harness import Contestant, Step, UnavailableError, WrongResultError
from .platforms import Platform, told
from .strategy_runs import STRATEGIES, Transfer

#: `make test` builds simulated programs here
BUILT = Path(sys.prefix).parent.parent / "build" / "simulated"
#: of a host's own link, and of the link between the clusters
NEAR_LATENCY, FAR_LATENCY = 5e-6, 50e-6
BANDWIDTH = 1.25e9  # bytes a second, of each of them
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
{clusters}
  <link id="between" bandwidth="{bandwidth}Bps" latency="{latency}s"/>
  <zoneRoute src="a" dst="b" gw_src="a-router" gw_dst="b-router">
    <link_ctn id="between"/></zoneRoute>
</zone></platform>
"""
_CLUSTER = """  <cluster id="{name}" prefix="{name}-" suffix="" radical="0-{last}" speed="1Gf"
    bw="{bandwidth}Bps" lat="{latency}s" router_id="{name}-router"/>"""


def costs(overhead: float) -> dict[str, float]:
    """The platform as a model of plans, in which each side is a node with one link."""
    return {
        "message": overhead,
        "byte": 1 / BANDWIDTH,
        "copy": 0.0,
        "relay": overhead + 2 * NEAR_LATENCY,
        "far_message": overhead,
        "far_byte": 1 / BANDWIDTH,
        "far_relay": overhead + 2 * NEAR_LATENCY + FAR_LATENCY,
    }


def program_of(given: str | None) -> Path:
    """The simulated program: the named one, else the one that the tests build."""
    return Path(given) if given else BUILT / "tests/simulated/simulated_strategies"


def check(given: str | None) -> None:
    """Raises ValueError if the named program does not exist."""
    if given and not Path(given).is_file():
        raise ValueError(f"--program {given}: there is no such file")


def _platform(folder: Path, overhead: float, fitted: bool, sides: tuple[int, int]) -> list[str]:
    """Writes its files to the folder; returns options of `smpirun`."""
    named = tuple(zip("ab", sides))
    clusters = "\n".join(
        _CLUSTER.format(name=name, last=count - 1, bandwidth=BANDWIDTH, latency=NEAR_LATENCY)
        for name, count in named
    )
    text = _PLATFORM.format(clusters=clusters, bandwidth=BANDWIDTH, latency=FAR_LATENCY)
    (folder / "platform.xml").write_text(text, encoding="utf-8")
    hosts = [f"{name}-{k}" for name, count in named for k in range(count)]
    (folder / "hosts").write_text("\n".join(hosts) + "\n", encoding="utf-8")
    return told(folder, hosts, overhead, fitted)


def output(
    program: Path,
    settings: Sequence[str],
    words: Sequence[str],
    timeout: float | None,
    *,
    folder: Path | None = None,
    more: Mapping[str, str] | None = None,
) -> str:
    """The output of a program that runs in ``folder`` with ``more`` in its environment. Raises
    UnavailableError, or RuntimeError if it fails."""
    if shutil.which("smpirun") is None:
        raise UnavailableError("there is no smpirun; install Debian's libsimgrid-dev")
    if not program.is_file():
        raise UnavailableError(f"{program} is not built; `make test` builds it")
    command = ["smpirun", *settings, str(program), *words]
    # Nothing is computed, so BLAS's threads would only spin beside the simulator.
    env = {"OPENBLAS_NUM_THREADS": "1", **(more or {})}
    try:
        status, said = launch.start(
            command, 0, 1, timeout, True, errors=True, folder=folder, more=env
        )
    except TimeoutError as error:
        raise UnavailableError(f"it had not ended after {timeout:g} s") from error
    if status != 0:
        raise RuntimeError(f"{program.name} ended with {status}: {said[-500:]}")
    return said


def start(
    program: Path, settings: Sequence[str], words: Sequence[str], timeout: float | None
) -> dict[str, Any]:
    """A program's last line that is JSON. Raises as `output`."""
    said = output(program, settings, words, timeout)
    lines = [line for line in said.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"{program.name} said no results: {said[-500:]}")
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def step(
    seconds: float, extras: Mapping[str, Any], verify: Callable[[], None] = lambda: None
) -> Step:
    """The simulated times, for the harness. They have no noise: one run is enough."""
    asked = [0]

    def again() -> None:
        asked[0] += 1

    def took() -> float:
        times, asked[0] = asked[0], 0
        return times * seconds

    return Step(again, verify, lambda: None, extras=lambda: extras, took=took)


def run(
    transfer: Transfer,
    strategy: str,
    program: Path,
    timeout: float | None,
    fitted: bool = False,
    machine: Platform | None = None,
) -> dict[str, Any]:
    """One simulated transfer: its "seconds" (simulated), its "messages" and whether each element
    arrived ("right"). `fitted`: see `platforms`. `machine`: in place of the two clusters, the
    senders first. Raises RuntimeError if the program fails."""
    sides = transfer.source, transfer.destination
    sizes = sides[0].size, sides[1].size
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as name:
        folder = Path(name)
        if machine is not None:
            settings = machine.write(folder, sum(sizes))
        else:
            settings = _platform(folder, transfer.costs["message"], fitted, sizes)
        (folder / "what").write_text("\n".join([*map(str, sides), strategy, ""]), encoding="utf-8")
        return start(program, settings, [str(folder / "what")], timeout)


def transfers(
    transfer: Transfer,
    given: str | None,
    timeout: float | None,
    fitted: bool,
    machine: Platform | None = None,
) -> list[Contestant]:
    """A contestant a strategy."""

    def contestant(strategy: str) -> Contestant:
        def prepare() -> Step:
            said = run(transfer, strategy, program_of(given), timeout, fitted, machine)
            extras = transfer.predicted(strategy)

            def verify() -> None:
                if not said["right"]:
                    raise WrongResultError("elements are not where they belong")
                if said["messages"] != extras["messages"]:
                    raise WrongResultError(
                        f"{said['messages']} messages, but the plan has {extras['messages']}"
                    )

            return step(float(said["seconds"]), extras, verify)

        return Contestant(strategy, prepare)

    return [contestant(name) for name in STRATEGIES]
