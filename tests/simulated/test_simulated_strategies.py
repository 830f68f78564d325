# SPDX-License-Identifier: BSD-3-Clause
"""Transfers between simulated hosts, as `hocket bench strategies --place simulated` times them."""

from __future__ import annotations

import shutil

import pytest
from hocket.bench import simulation
from hocket.bench.platforms import PLATFORMS
from hocket.bench.strategy_runs import Transfer, layouts_of

pytestmark = pytest.mark.soak


def simulated_program():
    program = simulation.program_of(None)
    return program if shutil.which("smpirun") and program.is_file() else None


@pytest.mark.skipif(simulated_program() is None, reason="the simulated program is not built")
def test_in_simulation_a_dear_message_makes_another_strategy_win():
    sides = layouts_of((32, 32), "(BLOCK,*)", "(*,BLOCK)", 16, 16)
    dear = Transfer(*sides, ([0] * 16, [1] * 16), simulation.costs(1e-4))
    names = ("direct", "multistage")
    direct, multistage = (simulation.run(dear, name, simulated_program(), 60) for name in names)
    assert direct["right"] and multistage["right"]
    assert (direct["messages"], multistage["messages"]) == (256, 80)
    assert multistage["seconds"] < 0.8 * direct["seconds"]
    seconds = [dear.predicted(name)["predicted"]["seconds"] for name in names]
    assert seconds[1] < seconds[0], "the model chooses otherwise"


@pytest.mark.skipif(simulated_program() is None, reason="the simulated program is not built")
def test_a_transfer_on_a_machine_takes_as_long_as_its_links_say():
    machine = PLATFORMS["sp1"]  # a process a node
    sides = layouts_of((256, 256), "(BLOCK,*)", "(*,BLOCK)", 4, 2)
    transfer = Transfer(*sides, ([0, 1, 2, 3], [4, 5]), machine.costs())
    found = simulation.run(transfer, "direct", simulated_program(), 60, machine=machine)
    assert found["right"] and found["messages"] == 8
    through_a_link = 8 * 256 * 256 / 2 / machine.bandwidth
    assert 1 <= found["seconds"] / through_a_link <= 1.2
    assert transfer.predicted("direct")["auto"] in ("direct", "hybrid")
