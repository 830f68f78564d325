# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies for the oracle's layouts: they shrink to small extents and few formats."""

from __future__ import annotations

from hypothesis import strategies as st

import oracle
from oracle import Format, Index, Spec


@st.composite
def shapes(draw: st.DrawFn, most: int = 5) -> Index:
    """Shapes to `most` dimensions, small enough to ask for every element."""
    dimensions = draw(st.integers(1, most))
    side = {1: 40, 2: 12, 3: 6, 4: 4, 5: 3}[dimensions]
    return tuple(draw(st.integers(0, side)) for _ in range(dimensions))


@st.composite
def formats(draw: st.DrawFn, extent: int, processes: int) -> Format:
    kind = draw(
        st.sampled_from(
            ["BLOCK", "CYCLIC", "CYCLIC(k)", "BLOCK(m)", "BALANCED", "GEN_BLOCK", "INDIRECT"]
        )
    )
    if kind == "GEN_BLOCK":
        return oracle.gen_block(lambda a, b: draw(st.integers(a, b)), extent, processes)
    if kind == "INDIRECT":
        owners = st.lists(st.integers(0, processes - 1), min_size=extent, max_size=extent)
        return Format("INDIRECT", None, tuple(draw(owners)))
    if kind == "CYCLIC(k)":
        return Format("CYCLIC", draw(st.integers(1, extent + 2)))
    if kind == "BLOCK(m)":
        least = max(1, -(-extent // processes))
        return Format("BLOCK", draw(st.integers(least, least + 3)))
    return Format(kind)


@st.composite
def specs(draw: st.DrawFn, shape: Index | None = None, replicate: bool = True) -> Spec:
    """Any layout of up to about 30 processes."""
    shape = draw(shapes()) if shape is None else shape
    budget, procs, forms, copies = 30, [], [], []

    def add_extent() -> int:
        nonlocal budget
        extent = draw(st.integers(1, min(5, budget)))
        budget //= extent
        procs.append(extent)
        return extent

    for extent in shape:
        if replicate and draw(st.integers(0, 5)) == 5:
            copies.append(len(procs))
            add_extent()
        if draw(st.booleans()):
            forms.append(draw(formats(extent, add_extent())))
        else:
            forms.append(oracle.STAR)
    if replicate and draw(st.integers(0, 5)) == 5:
        copies.append(len(procs))
        add_extent()
    return Spec(shape, tuple(forms), tuple(procs), tuple(copies))


@st.composite
def pairs(
    draw: st.DrawFn, replicate: bool = True, transposed: bool = True
) -> tuple[Spec, Spec, Index | None]:
    """(source, destination, axes): two layouts of one array, the second perhaps transposed."""
    source = draw(specs(replicate=replicate))
    axes = None
    if transposed and draw(st.booleans()):
        axes = tuple(draw(st.permutations(range(len(source.shape)))))
    shape = source.shape if axes is None else tuple(source.shape[axis] for axis in axes)
    return source, draw(specs(shape=shape, replicate=replicate)), axes
