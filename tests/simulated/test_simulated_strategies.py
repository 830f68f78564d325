# SPDX-License-Identifier: BSD-3-Clause
"""Transfers between simulated hosts, as `hocket bench strategies --place simulated` times them."""

from __future__ import annotations

import shutil

import pytest

from hocket_bench import simulation
from hocket_bench.strategy_runs import Transfer, layouts_of


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
