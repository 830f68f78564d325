# SPDX-License-Identifier: BSD-3-Clause
"""The index sets that the baselines are built from, against HPF's definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hocket.bench import formats

import hocket as hk


def owners(extent: int, form: str, parts: int) -> list[int]:
    """HPF 1.0, chapter 3, element by element."""
    if form == "*":
        return [0] * extent
    if form == "GEN_BLOCK":  # a share of r + 1 each
        ends = [extent * r * (r + 1) // (parts * (parts + 1)) for r in range(parts + 1)]
        return [r for r in range(parts) for _ in range(ends[r], ends[r + 1])]
    if form == "BALANCED":
        return [r for r, own in enumerate(np.array_split(range(extent), parts)) for _ in own]
    name, _, argument = form.partition("(")
    size = int(argument[:-1]) if argument else (1 if name == "CYCLIC" else -(-extent // parts))
    return [g // size if name == "BLOCK" else g // size % parts for g in range(extent)]


FORMATS = ("*", "BLOCK", "BLOCK(9)", "CYCLIC", "CYCLIC(3)", "GEN_BLOCK", "BALANCED")


@pytest.mark.parametrize("extent", [0, 1, 7, 23])
def test_the_baselines_index_sets_are_hpfs(extent: int) -> None:
    for form, parts in itertools.product(FORMATS, (1, 3, 4)):
        if form == "BLOCK(9)" and 9 * parts < extent:
            with pytest.raises(ValueError, match="holds 9"):
                formats.spread(extent, form, parts)
            continue
        spread = formats.spread(extent, form, parts)
        expected = owners(extent, form, parts)
        everything = np.arange(extent)
        assert spread.owner(everything).tolist() == expected
        for part in range(parts):
            owned = spread.owned(part) if form != "*" or part == 0 else np.arange(0)
            assert owned.tolist() == [g for g in range(extent) if expected[g] == part]
            assert spread.place(owned).tolist() == list(range(len(owned)))


@pytest.mark.parametrize("pair", list(itertools.product(FORMATS, FORMATS)))
def test_what_two_processes_share(pair: tuple[str, str]) -> None:
    extent, parts = 23, 3
    source, target = (formats.spread(extent, form, parts) for form in pair)
    for sender, receiver in itertools.product(range(source.parts), range(target.parts)):
        here, there = source.owned(sender).tolist(), target.owned(receiver).tolist()
        shared = [g for g in here if g in there]
        found = formats.common(source, sender, target, receiver)
        assert found.count == len(shared)
        for places, held in ((found.source, here), (found.target, there)):
            assert [held[p] for p in formats.list_places(places)] == shared
            assert np.array(held)[formats.index(places)].tolist() == shared
        pairs = formats.stretches(found)
        assert [here[p] for mine, _ in pairs for p in mine.places()] == shared
        assert [there[p] for _, theirs in pairs for p in theirs.places()] == shared
        assert len(pairs) <= 3, "a head, a middle, a tail"


@pytest.mark.parametrize("text", ["BLOCK", "(BLOK)", "(BLOCK,)", "(CYCLIC(x))"])
def test_malformed_distributions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write a distribution|a format is"):
        formats.parse(text)


def test_lists_and_kinds() -> None:
    """hocket gets the same parts as the baselines."""
    lay = formats.lay((7, 5), "(INDIRECT, GEN_BLOCK) on 2x3 as boxes", 6)
    assert (lay.kind, lay.dist, lay.procs) == ("boxes", "(INDIRECT,GEN_BLOCK)", (2, 3))
    told = hk.Layout(lay.shape, lay.text, lay.procs)
    for rank in range(6):
        for ours, theirs in zip(told.global_indices(rank), lay.indices(rank)):
            assert ours.tolist() == theirs.tolist()
    with pytest.raises(ValueError, match="as boxes or elements"):
        formats.lay((7,), "(BLOCK) as bricks", 2)
    with pytest.raises(ValueError, match="1048576 at most"):
        formats.spread(2**21, "INDIRECT", 2)
