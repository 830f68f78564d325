# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the docstrings print what they say: on one process, on two, and those that start
processes themselves."""

import pytest
from lockstep import ranks

import docstrings

TEXTS = docstrings.texts()
STARTING = {name for name, text in TEXTS.items() if ">>> hk.run(" in text or "    hk.run(" in text}
TOGETHER = {name for name, text in TEXTS.items() if docstrings.TWO in text}


def test_each_kind_is_there():
    assert len(STARTING) >= 1 and len(TOGETHER) > 50 and len(set(TEXTS) - TOGETHER) > 50
    assert not STARTING & TOGETHER


@ranks(1, seconds=120)
def test_examples_of_one_process():
    failed = docstrings.failures(sorted(set(TEXTS) - TOGETHER - STARTING))
    assert not failed, failed


@pytest.mark.one_host("Team.shares_memory is shown on one node")
@ranks(2, seconds=120)
def test_examples_of_two_processes(comm):
    failed = docstrings.failures(sorted(TOGETHER), comm)
    assert not failed, failed


def test_examples_that_start_processes():
    failed = docstrings.failures(sorted(STARTING))
    assert not failed, failed
