# SPDX-License-Identifier: BSD-3-Clause
"""Machines that are simulated: the papers' own, and one of today.

A machine is nodes of some processors behind a crossbar, or on one shared wire. The cost of its
messages comes from the papers, or from an assumption, which ``source`` names. Its speed is that of
kernels on the simulating machine (`kernels`), times ``slowness``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
{zone}
</platform>
"""

_INSIDE_LATENCY = 1e-6  # seconds, between processors of one node


@dataclass(frozen=True)
class Platform:
    """Times in seconds, bandwidths in bytes a second."""

    name: str
    title: str
    nodes: int
    processors: int  #: of each node
    bandwidth: float  #: of a node's link, in each direction; or of the wire
    latency: float  #: from node to node
    overhead: float  #: of a processor, for each message that it sends or receives
    slowness: float  #: of a processor, in multiples of the simulating one
    source: str
    shared: bool = False  #: one wire for all
    inside: float = 1e9  #: bandwidth between processors of one node

    @property
    def size(self) -> int:
        """Processors in all."""
        return self.nodes * self.processors

    def costs(self) -> dict[str, float]:
        """The cost of messages as a model of plans; see `node`."""
        return {
            "message": self.overhead,
            "byte": 1 / self.inside,
            "copy": 0.0,
            "relay": self.overhead + _INSIDE_LATENCY,
            "far_message": self.overhead,
            "far_byte": 1 / self.bandwidth,
            "far_relay": self.overhead + self.latency,
        }

    def node(self, rank: int) -> int:
        """Of a process, one a processor."""
        return rank // self.processors

    def scaled(self, bandwidth: float, inside: float = 1) -> Platform:
        """The machine with links of `scale` times the bandwidth, also within nodes if
        ``inside``."""
        speeds = {"bandwidth": self.bandwidth * bandwidth, "inside": self.inside * inside}
        return Platform(**{**vars(self), **speeds})

    def write(self, folder: Path, processes: int, each: int = 1) -> list[str]:
        """Writes its files to the folder; returns options of `smpirun`. ``each``: processors of
        a process."""
        per_node = max(1, self.processors // each)
        if processes > self.nodes * per_node:
            raise ValueError(
                f"{processes} processes of {each} processor(s) are more than {self.name} has: "
                f"{self.nodes} nodes of {self.processors}"
            )
        used = -(-processes // per_node)
        wire = (
            f'bb_bw="{self.bandwidth}Bps" bb_lat="{self.latency}s" bb_sharing_policy="SHARED" '
            if self.shared
            else ""
        )
        latency = 0.0 if self.shared else self.latency / 2
        zone = (
            f'  <cluster id="c" prefix="n-" suffix="" radical="0-{used - 1}" speed="1Gf" '
            f'core="{self.processors}" bw="{self.bandwidth}Bps" lat="{latency}s" {wire}'
            f'loopback_bw="{self.inside}Bps" loopback_lat="{_INSIDE_LATENCY}s"/>'
        )
        (folder / "platform.xml").write_text(_PLATFORM.format(zone=zone), encoding="utf-8")
        hosts = [f"n-{rank // per_node}" for rank in range(processes)]
        return told(folder, hosts, self.overhead)


def told(folder: Path, hosts: Sequence[str], overhead: float, fitted: bool = False) -> list[str]:
    """Options of `smpirun` for ``platform.xml`` in the folder: a process on each of these hosts,
    without measuring computing by the simulating machine's clock. ``fitted``: with SMPI's
    factors for short messages and latencies, which were fitted to a cluster of 1 Gbit/s;
    otherwise links are as in the platform."""
    (folder / "hosts").write_text("\n".join(hosts) + "\n", encoding="utf-8")
    plain = [] if fitted else [f"--cfg=smpi/{factor}-factor:0:1.0" for factor in ("bw", "lat")]
    return [
        *("-np", str(len(hosts)), "-platform", str(folder / "platform.xml")),
        *("-hostfile", str(folder / "hosts"), "--log=root.thres:warning"),
        *("--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:1Gf"),
        *("--cfg=smpi/cpu-threshold:0", "--cfg=smpi/grow-injected-times:no"),
        # A poll takes no time: in SMPI it would take longer with every failed poll of any process.
        # Time passes in the sleep between two polls (`base::Backoff`).
        *("--cfg=smpi/test:0", "--cfg=smpi/iprobe:0"),
        *(f"--cfg=smpi/{cost}:0:{overhead}:0" for cost in ("os", "ois", "or")),
        *plain,
    ]


_CDT = "Avalani et al., section 3"
PLATFORMS = {
    each.name: each
    for each in (
        Platform(
            "sp1",
            "IBM SP1, 128 x 1, crossbar",
            *(128, 1, 6e6, 10e-6, 140e-6, 100.0),
            f"6 MB/s and 288 us a message: {_CDT}; slowness assumed",
        ),
        Platform(
            "ethernet",
            "IBM SP1, 128 x 1, shared Ethernet",
            *(128, 1, 1.25e6, 50e-6, 600e-6, 100.0),
            f"1230 us a message: {_CDT}; 10 Mbit/s and slowness assumed",
            shared=True,
        ),
        Platform(
            "sp2",
            "SP2 switch, 128 x 1",
            *(128, 1, 30e6, 10e-6, 20e-6, 100.0),
            "30 MB/s: Foster et al., section 5; message costs and slowness assumed",
        ),
        Platform(
            "sp",
            "IBM SP, 8 x 16",
            *(8, 16, 350e6, 10e-6, 10e-6, 10.0),
            "8 nodes of 16: He and Ding, section 4; speeds assumed",
        ),
        Platform(
            "js21",
            "IBM JS21 and Myrinet, 128 x 4",
            *(128, 4, 250e6, 4e-6, 1e-6, 8.0),
            "128 nodes of 4: Marjanovic et al., section 3; speeds assumed",
        ),
        Platform(
            "cluster",
            "a cluster of today, 128 x 8",
            *(128, 8, 12.5e9, 1.5e-6, 0.3e-6, 1.0),
            "100 Gbit/s; assumed",
            inside=8e9,
        ),
    )
}
