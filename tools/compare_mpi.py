# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI serves a newcomer best: start-up, and MPI's own blocking calls, on this machine.

    python3 tools/compare_mpi.py [rounds]

Needs the environments (`make which MPI=…` makes each). The two take turns; medians and minima.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

import environment

PROGRAM = """
import json, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
def timed(call, limit=0.3):
    times = []
    began = time.perf_counter()
    while len(times) < 20:
        start = time.perf_counter()
        for _ in range(10):
            call()
        times.append((time.perf_counter() - start) / 10)
        if world.bcast(time.perf_counter() - began > limit, 0):
            break
    return sorted(times)[len(times) // 2] * 1e6
timed(world.Barrier)
found = {"barrier, us": timed(world.Barrier),
         "allreduce 8 B, us": timed(lambda: world.allreduce(1))}
if world.rank == 0:
    print(json.dumps(found))
"""


def measure(mpi: str, ranks: int) -> dict[str, float]:
    """One start with that many ranks."""
    folder = environment.prefix_of(mpi) / "bin"
    command = [str(folder / "mpiexec"), "-n", str(ranks), str(folder / "python"), "-c"]
    began = time.perf_counter()
    subprocess.run([*command, "from mpi4py import MPI"], check=True, stdout=subprocess.DEVNULL)
    start = time.perf_counter() - began
    output = subprocess.run([*command, PROGRAM], check=True, capture_output=True, text=True)
    noise = len(output.stderr.splitlines())
    return {"start to end, s": start, "lines of noise": noise, **json.loads(output.stdout)}


def main() -> None:
    """Prints the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    mpis = [mpi for mpi in environment.MPIS if (environment.prefix_of(mpi) / "bin/python").exists()]
    for ranks in (2, 4):
        found: dict[str, list[dict[str, float]]] = {mpi: [] for mpi in mpis}
        for _ in range(rounds):
            for mpi in mpis:
                found[mpi].append(measure(mpi, ranks))
        for what in found[mpis[0]][0]:
            for mpi in mpis:
                values = [one[what] for one in found[mpi]]
                middle, least = statistics.median(values), min(values)
                print(
                    f"{ranks} ranks  {what:<20} {mpi:<8} median {middle:<10.4g} least {least:.4g}"
                )


if __name__ == "__main__":
    main()
