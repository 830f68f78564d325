# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers`: the claims on processes beside threads in one node. All samples are made up."""

import pytest
from hocket.papers.judge import CONTRADICTED, HOLDS, NOT_SHOWN
from test_papers_verdicts import tried


@pytest.mark.parametrize(
    ("places", "word"),
    [
        ({(1, 4): 1.0, (4, 1): 1.5}, HOLDS),
        ({(1, 4): 1.0, (4, 1): 0.5}, CONTRADICTED),
        ({(1, 2): 1.0, (2, 1): 1.5}, NOT_SHOWN),  # of a machine with fewer cores
        ({(4, 1): 1.5}, NOT_SHOWN),
    ],
)
def test_processes_are_judged_beside_threads_on_all_cores(places, word):
    tables = [
        {
            "parameters": {"processes": processes, "threads": threads, "shape": shape},
            "figures": [
                {"name": "hocket in place, hk.empty", "median": time, "minimum": time, "runs": 9}
            ],
        }
        for shape in ([128, 512, 64], [256, 1024, 16])
        for (processes, threads), time in places.items()
    ]
    assert tried("vacancy-tracking.node", {"tables": tables}, cores=4).word == word
